"""Nothing at all, launched: what a call costs before it has done any work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from harness.problems.base import Array, Verification

Geometry = tuple[tuple[int, ...], tuple[int, ...]]
"""Number of work-groups and work-group size of one launch, each with one or two dimensions."""


@dataclass(frozen=True, slots=True)
class Empty:
    """The launches of another case, each of its geometry, with an empty kernel in place of the work."""

    geometry: tuple[Geometry, ...]
    kind: ClassVar[str] = "empty"

    @property
    def label(self) -> str:
        launches = ", ".join(
            f"{'x'.join(map(str, n))} groups of {'x'.join(map(str, g))}" for n, g in self.geometry
        )
        return f"empty {launches}"

    @property
    def source_bytes(self) -> int:
        return 4

    @property
    def bytes_moved(self) -> int:
        return 0

    def make_source(self, seed: int) -> Array:
        return np.array([seed + 1], np.uint32)

    def pack(self, array: Array) -> Array:
        return array

    def reference(self, array: Array) -> Any:
        return None

    def finish(self, raw: Array) -> Any:
        return None

    def tolerance(self, array: Array) -> float:
        return 0.0

    def verify(self, actual: Any, array: Array) -> Verification:
        return Verification(True, 0.0, 0.0)

"""Nothing at all, launched: what a call costs before it has done any work."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar

import numpy as np

from harness.problems.base import Array, Verification

Geometry = tuple[tuple[int, ...], tuple[int, ...]]
"""Number of work-groups and work-group size of one launch, each with one or two dimensions."""


_MAX_SIDE = 2**32 - 1


def _is_side(side: object) -> bool:
    return (
        isinstance(side, tuple)
        and 1 <= len(side) <= 3
        and all(type(size) is int and 1 <= size <= _MAX_SIDE for size in side)
    )


def _written(geometry: Geometry) -> str:
    groups, size = ("x".join(map(str, side)) for side in geometry)
    return f"{groups} groups of {size}"


@dataclass(frozen=True, slots=True)
class Empty:
    """The launches of another case, each of its geometry, with an empty kernel in place of the work."""

    geometry: tuple[Geometry, ...]
    kind: ClassVar[str] = "empty"

    def __post_init__(self) -> None:
        launches = self.geometry
        if not (isinstance(launches, tuple) and launches) or not all(
            isinstance(launch, tuple) and len(launch) == 2 and all(map(_is_side, launch))
            for launch in launches
        ):
            raise ValueError(
                f"geometry {launches!r}: each launch has a number of groups and a group size, each of "
                "integers from 1, at most 3 of them"
            )

    @property
    def label(self) -> str:
        runs = [(_written(one), len(list(same))) for one, same in groupby(self.geometry)]
        return "empty " + ", ".join(f"{count} times {one}" if count > 1 else one for one, count in runs)

    @property
    def source_bytes(self) -> int:
        return 4

    @property
    def source_key(self) -> Hashable:
        return self

    @property
    def bytes_moved(self) -> int:
        return 0

    @property
    def accumulator(self) -> str:
        return ""

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

"""Nothing at all, launched: what a call costs before it has done any work."""

from __future__ import annotations

from dataclasses import field
from itertools import groupby
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from harness.checked import Whole, checked
from harness.problems.base import Array, ProblemBase

Side = Annotated[tuple[Annotated[Whole, Field(ge=1, lt=2**32)], ...], Field(min_length=1, max_length=3)]
Geometry = tuple[Side, Side]
"""Number of work-groups and work-group size of one launch, each with one to three dimensions."""


def _written(geometry: Geometry) -> str:
    groups, size = ("x".join(map(str, side)) for side in geometry)
    return f"{groups} groups of {size}"


@checked
class Empty(ProblemBase):
    """The launches of another case, each of its geometry, with an empty kernel in place of the work."""

    kind: Literal["empty"] = field(default="empty", kw_only=True, repr=False)
    geometry: Annotated[tuple[Geometry, ...], Field(min_length=1)]

    @property
    def label(self) -> str:
        runs = [(_written(one), len(list(same))) for one, same in groupby(self.geometry)]
        return "empty " + ", ".join(f"{count} times {one}" if count > 1 else one for one, count in runs)

    @property
    def source_bytes(self) -> int:
        return 4

    @property
    def bytes_moved(self) -> int:
        return 0

    def make_source(self, seed: int) -> Array:
        return np.array([seed + 1], np.uint32)

    def reference(self, array: Array) -> Any:
        return None

    def finish(self, raw: Array) -> Any:
        return None

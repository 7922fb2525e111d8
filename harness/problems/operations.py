"""The reduction operations: what a kernel hands on for each, how partial results merge, what is returned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from harness.dtypes import Dtype
from harness.problems.base import Array


@dataclass(frozen=True, slots=True)
class Op:
    """One reduction operation.

    ``fields`` are the components of a partial result with the type each has: ``"element"`` (the array's own),
    ``"total"`` (its int64, uint64 or float64), ``"count"`` or ``"place"`` (uint64); a kernel's ``partial_t``
    has the same fields in the same order. ``combine`` names the ufunc that merges two partials of a field; a
    field among ``places`` says where the value of the field that is named there was first met.
    ``reference`` is the plain NumPy definition; ``answer`` makes what is returned of one value a field and
    the number of elements.
    """

    name: str
    fields: dict[str, str]
    combine: dict[str, np.ufunc]
    reference: Callable[[Array, Dtype], Any]
    answer: Callable[[list[Any], int], Any] = lambda values, _: values[0]
    kernel: str = ""
    """The operation whose pieces of kernel this one takes; its own name where empty."""
    places: dict[str, str] = field(default_factory=dict)
    of_nothing: bool = False
    """Whether the operation has a value for an empty array (sum and count_nonzero: 0)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", self.kernel or self.name)


class MinMaxLoc(NamedTuple):
    """The extremes of an array and the flat index, in C order, at which each is first met.

    As ``min``, ``max``, ``argmin`` and ``argmax`` of NumPy: the first NaN is the minimum and the maximum.
    """

    min: Any
    max: Any
    min_index: int
    max_index: int


def _sum(array: Array, dtype: Dtype) -> Any:
    if dtype.is_float:
        # longdouble: the reference must be nearer the truth than what it judges.
        return np.float64(np.sum(array, dtype=np.longdouble))
    return np.sum(array, dtype=np.dtype(dtype.total))


def _mean(values: list[Any], size: int) -> Any:
    with np.errstate(invalid="ignore"):
        return np.float64(values[0]) / size


def _norm_inf(values: list[Any], _: int) -> Any:
    """The largest magnitude, which for the lowest signed integer is none of its type."""
    if values[0].dtype.kind == "f":
        return np.float64(np.maximum(abs(values[0]), abs(values[1])))
    return max(abs(int(value)) for value in values)


OPS: dict[str, Op] = {
    op.name: op
    for op in (
        Op("min", {"lowest": "element"}, {"lowest": np.minimum}, lambda a, _: a.min()),
        Op("max", {"highest": "element"}, {"highest": np.maximum}, lambda a, _: a.max()),
        Op(
            "minmax",
            {"lowest": "element", "highest": "element"},
            {"lowest": np.minimum, "highest": np.maximum},
            lambda a, _: (a.min(), a.max()),
            answer=lambda values, _: tuple(values),
        ),
        Op(
            "minmaxloc",
            {"lowest": "element", "highest": "element", "lowest_at": "place", "highest_at": "place"},
            {"lowest": np.minimum, "highest": np.maximum},
            lambda a, _: MinMaxLoc(a.min(), a.max(), int(a.argmin()), int(a.argmax())),
            answer=lambda values, _: MinMaxLoc(*values),
            places={"lowest_at": "lowest", "highest_at": "highest"},
        ),
        Op("sum", {"total": "total"}, {"total": np.add}, _sum, of_nothing=True),
        Op(
            "count_nonzero",
            {"count": "count"},
            {"count": np.add},
            lambda a, _: int(np.count_nonzero(a)),
            of_nothing=True,
        ),
        Op(
            "mean",
            {"total": "total"},
            {"total": np.add},
            lambda a, dtype: _mean([_sum(a, dtype)], a.size),
            answer=_mean,
            kernel="sum",
        ),
        Op(
            "norm_inf",
            {"lowest": "element", "highest": "element"},
            {"lowest": np.minimum, "highest": np.maximum},
            lambda a, _: _norm_inf([a.min(), a.max()], a.size),
            answer=_norm_inf,
            kernel="minmax",
        ),
    )
}

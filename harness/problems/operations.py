"""The reduction operations: what a kernel hands on for each, how partial results merge, what is returned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from harness.problems.base import Array
from harness.problems.dtypes import Dtype, dtype_of, integer_range
from harness.problems.sources import of_factors, with_extremes, with_zeros
from harness.problems.stripes import by_stripes


@dataclass(frozen=True, slots=True)
class Op:
    """One reduction operation.

    ``fields`` are the components of a result with the type each has: ``"element"`` (the array's own),
    ``"total"`` (its int64, uint64 or float64), ``"count"`` (uint64) or ``"place"``; a kernel's ``partial_t``
    has the same fields in the same order, or keys of a value and its place
    (:mod:`harness.problems.packed_key`). ``combine`` names the ufunc that merges two partials of a field; a
    field among ``places`` says where the value of the field that is named there was first met. ``reference``
    is the plain NumPy definition; ``answer`` makes what is returned of one value a field and the number of
    elements.
    """

    name: str
    fields: dict[str, str]
    combine: dict[str, np.ufunc]
    reference: Callable[[Array, Dtype], Any]
    answer: Callable[[list[Any], int], Any] = lambda values, _: values[0]
    kernel: str = ""
    """The operation whose pieces of kernel this one takes; its own name where empty."""
    term: str = ""
    """Of a sum, what it adds of each element: the piece of kernel, one of :data:`TERMS`."""
    places: dict[str, str] = field(default_factory=dict)
    of_nothing: int | None = None
    """The total or count of an empty array, of which no order of combining takes note (a sum's is 0)."""
    source: Callable[[np.random.Generator, Dtype, int], Array] = with_extremes
    """Makes a random source of so many elements."""
    magnitude: Callable[[Array], float] | None = None
    """Of float64 totals, that by which the rounding errors of each step are relative."""
    roundings: int = 0
    """Rounding errors beside those of the steps: of a term, and of what is made of the total."""
    wraps: bool = False
    """Whether a total of integers that its 64 bits do not hold wraps, as NumPy's."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", self.kernel or self.name)

    @property
    def adds_others(self) -> bool:
        """Whether this is a sum of something else than the elements themselves."""
        return self.term not in ("", "plain")

    def total_of(self, dtype: Dtype, size: int) -> str:
        """The type of the sum of ``size`` terms: int64, uint64 or float64.

        Integers are added in float64 where 64 bits might not hold their sum, but those that wrap.
        """
        if dtype.is_float or self.wraps or not self.term:
            return dtype.total
        power = 2 if self.term == "square" else 1
        greatest = max(map(abs, integer_range(dtype.name))) ** power
        is_narrow = power * dtype.itemsize < np.dtype(dtype.total).itemsize
        return dtype.total if is_narrow and size * greatest <= integer_range(dtype.total)[1] else "float64"


class MinMaxLoc(NamedTuple):
    """The extremes of an array and the flat index, in C order, at which each is first met.

    As ``min``, ``max``, ``argmin`` and ``argmax`` of NumPy: the first NaN is the minimum and the maximum.
    """

    min: Any
    max: Any
    min_index: int
    max_index: int


TERMS: dict[str, Callable[[Array], Array]] = {
    "plain": lambda part: part,
    "magnitude": np.abs,
    "square": np.square,
}
"""What a sum may add of each element, by name."""
_STRIPE = 2**16
"""Elements that are made wider at a time."""


def sum_of(array: Array, total_name: str, term: str) -> Any:
    """The sum of a term of each element, by NumPy: float64 by way of longdouble, as a reference must be
    nearer the truth than what it judges.
    """
    total = np.dtype(total_name)
    wide = np.dtype(np.longdouble) if total.kind == "f" else total
    return total.type(_added(array, wide, TERMS[term]))


def magnitude_of(array: Array, term: str) -> Any:
    """About the sum of the magnitudes of such terms, in float64."""
    return _added(array, np.dtype(np.float64), lambda part: np.abs(TERMS[term](part)))


def _added(array: Array, wide: np.dtype[Any], term: Callable[[Array], Array]) -> Any:
    flat = array.reshape(-1)

    def added(start: int, end: int) -> Any:
        return np.sum(term(flat[start:end].astype(wide, copy=False)))

    with np.errstate(over="ignore"):
        return sum(by_stripes(added, flat.size, _STRIPE), start=wide.type(0))


def _sum(name: str, term: str, answer: Callable[[Any, int], Any] = lambda total, _: total) -> Op:
    """The operation that makes an answer of a sum and the number of elements."""

    def reference(array: Array, dtype: Dtype) -> Any:
        return answer(sum_of(array, OPS[name].total_of(dtype, array.size), term), array.size)

    return Op(
        name,
        {"total": "total"},
        {"total": np.add},
        reference,
        answer=lambda values, size: answer(values[0], size),
        kernel="sum",
        term=term,
        # A mean of nothing is none.
        of_nothing=None if name == "mean" else 0,
        source=with_extremes if name == "mean" else with_zeros,
        magnitude=lambda array: magnitude_of(array, term),
        roundings=0 if name == "sum" else 2,
        wraps=name == "sum",
    )


def product_of(array: Array, dtype: Dtype) -> Any:
    """The product of the elements, as :func:`sum_of`."""
    total = np.dtype(dtype.total)
    with np.errstate(over="ignore", under="ignore"):
        return total.type(np.prod(array, dtype=np.longdouble if dtype.is_float else total))


def _mean(total: Any, size: int) -> Any:
    with np.errstate(invalid="ignore"):
        return np.float64(total) / size


def _root(total: Any, _: int) -> Any:
    return np.sqrt(np.float64(total))


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
        _sum("sum", "plain"),
        Op(
            "product",
            {"product": "total"},
            {"product": np.multiply},
            product_of,
            of_nothing=1,
            source=of_factors,
            magnitude=lambda array: abs(product_of(array, dtype_of(array))),
            wraps=True,
        ),
        Op(
            "count_nonzero",
            {"count": "count"},
            {"count": np.add},
            lambda a, _: int(np.count_nonzero(a)),
            of_nothing=0,
            source=with_zeros,
        ),
        _sum("mean", "plain", _mean),
        _sum("sum_squares", "square"),
        _sum("norm_l1", "magnitude"),
        _sum("norm_l2", "square", _root),
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

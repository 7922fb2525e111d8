"""The parallel reduction: many values to one, by operation and element type."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from harness.dtypes import DTYPES, Dtype
from harness.problems.base import Array, Verification, compare


@dataclass(frozen=True, slots=True)
class Op:
    """One reduction operation.

    ``fields`` are the components of a partial result with the type each has: ``"element"`` (the array's own),
    ``"total"`` (its int64, uint64 or float64), ``"count"`` or ``"place"`` (uint64); a kernel's ``partial_t``
    has the same fields in the same order. ``combine`` names the ufunc that merges two partials of a field; a
    field among ``places`` says where the value of the field that is named there was first met.
    ``reference`` is the plain NumPy definition; ``answer`` makes what is returned of one value a field.
    """

    name: str
    fields: dict[str, str]
    combine: dict[str, np.ufunc]
    reference: Callable[[Array, Dtype], Any]
    answer: Callable[[list[Any]], Any] = operator.itemgetter(0)
    places: dict[str, str] = field(default_factory=dict)
    of_nothing: bool = False
    """Whether the operation has a value for an empty array (sum and count_nonzero: 0)."""


class MinMaxLoc(NamedTuple):
    """The extremes of an array and the flat index, in C order, at which each is first met.

    As ``min``, ``max``, ``argmin`` and ``argmax`` of NumPy: the first NaN is the minimum and the maximum.
    """

    min: Any
    max: Any
    min_index: int
    max_index: int


def _first(candidates: Array, value: Any, places: Array) -> Any:
    """The lowest of the places whose candidate is the value; if any is NaN, the value is."""
    return places[(candidates == value) | np.isnan(candidates)].min()


def _sum(array: Array, dtype: Dtype) -> Any:
    if dtype.is_float:
        # longdouble: the reference must be nearer the truth than what it judges.
        return np.float64(np.sum(array, dtype=np.longdouble))
    return np.sum(array, dtype=np.dtype(dtype.total))


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
            answer=tuple,
        ),
        Op(
            "minmaxloc",
            {"lowest": "element", "highest": "element", "lowest_at": "place", "highest_at": "place"},
            {"lowest": np.minimum, "highest": np.maximum},
            lambda a, _: MinMaxLoc(a.min(), a.max(), int(a.argmin()), int(a.argmax())),
            answer=MinMaxLoc._make,
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
    )
}


def _range(dtype: str) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


@dataclass(frozen=True, slots=True)
class Reduction:
    """``op`` over all elements of an array of ``dtype`` and ``shape``.

    Returns min and max in the array's dtype, minmax as a pair of these, minmaxloc as :class:`MinMaxLoc`, sum
    as int64, uint64 or float64, count_nonzero as int. NaN propagates through min and max as in NumPy; -0.0
    equals 0.0.
    """

    op: str
    dtype: str
    shape: tuple[int, ...]
    kind: ClassVar[str] = "reduction"
    parts: Op = field(init=False, repr=False, compare=False)
    element: Dtype = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.op not in OPS:
            raise ValueError(f"op {self.op!r} is unknown; known are {', '.join(OPS)}")
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype {self.dtype!r} is unknown; known are {', '.join(DTYPES)}")
        object.__setattr__(self, "parts", OPS[self.op])
        object.__setattr__(self, "element", DTYPES[self.dtype])

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def label(self) -> str:
        return f"{self.op} {self.dtype} {'x'.join(map(str, self.shape))}"

    @property
    def source_bytes(self) -> int:
        return self.size * self.element.itemsize

    @property
    def bytes_moved(self) -> int:
        return self.source_bytes

    @property
    def partial_dtype(self) -> np.dtype[np.void]:
        """The structured NumPy dtype of a kernel's ``partial_t``."""
        types = {
            "element": self.element.kernel_numpy,
            "total": np.dtype(self.element.total),
            "count": np.dtype(np.uint64),
            "place": np.dtype(np.uint64),
        }
        return np.dtype([(name, types[what]) for name, what in self.parts.fields.items()], align=True)

    def make_source(self, seed: int) -> Array:
        """Random values over the type's range.

        For min and max the two extremes stand once each, at random places, so that an element left out can
        show. For the others one value in sixteen is zero. Floats lie on a grid so fine that they look random
        and so coarse that a float64 sum of all of them is exact in any order: the check of a sum is then
        exact too.
        """
        rng = np.random.default_rng(seed)
        array = self._random_floats(rng) if self.element.is_float else self._random_integers(rng)
        if self.parts.of_nothing:
            array[rng.integers(0, self.size, max(1, self.size // 16))] = 0
        else:
            lowest, highest = (-32, 32) if self.element.is_float else _range(self.dtype)
            place = int(rng.integers(0, self.size))
            array[place] = lowest
            # Elsewhere, where there is an elsewhere.
            array[(place + int(rng.integers(1, max(2, self.size)))) % self.size] = highest
        return array.reshape(self.shape)

    def _random_integers(self, rng: np.random.Generator) -> Array:
        lowest, highest = _range(self.dtype)
        return rng.integers(lowest + 1, highest - 1, self.size, dtype=self.dtype, endpoint=True)

    def _random_floats(self, rng: np.random.Generator) -> Array:
        bits = min(np.finfo(self.dtype).nmant, 52 - max(self.size - 1, 1).bit_length())
        integers = rng.integers(-(2**bits), 2**bits, self.size, dtype=np.int64, endpoint=True)
        return np.ldexp(integers.astype(np.float64), 4 - bits).astype(self.dtype)

    def pack(self, array: Array) -> Array:
        return np.ascontiguousarray(array).reshape(-1)

    def reference(self, array: Array) -> Any:
        return self.parts.reference(array, self.element)

    def finish(self, raw: Array) -> Any:
        """Merges ``raw``, partial results in an array of :attr:`partial_dtype`, into the answer."""
        merged = {name: ufunc.reduce(raw[name]) for name, ufunc in self.parts.combine.items()}
        for place, name in self.parts.places.items():
            merged[place] = _first(raw[name], merged[name], raw[place])
        return self.answer([merged[name] for name in self.parts.fields])

    def answer(self, values: list[Any]) -> Any:
        """The documented return value from one merged value per field."""
        cast: dict[str, Callable[[Any], Any]] = {
            "element": self.element.numpy.type,
            "total": np.dtype(self.element.total).type,
            "count": int,
            "place": int,
        }
        typed = [cast[what](value) for value, what in zip(values, self.parts.fields.values(), strict=True)]
        return self.parts.answer(typed)

    def tolerance(self, array: Array) -> float:
        """Largest allowed absolute error: 0, but for float sums the bound of any order of float64 additions.

        That bound is n * eps/2 * sum(|x|) (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
        """
        if self.op != "sum" or not self.element.is_float:
            return 0.0
        with np.errstate(over="ignore"):
            magnitude = np.sum(np.abs(array), dtype=np.float64)
        bound = array.size * np.finfo(np.float64).eps / 2 * magnitude
        return float(bound) if np.isfinite(bound) else 0.0

    def verify(self, actual: Any, array: Array) -> Verification:
        expected = self.reference(array)
        if isinstance(expected, MinMaxLoc):
            # Apart, for no one type holds all values and all places.
            values, places = (compare(actual[part], expected[part], 0) for part in (slice(2), slice(2, 4)))
            return places if values.ok else values
        return compare(actual, expected, self.tolerance(array))

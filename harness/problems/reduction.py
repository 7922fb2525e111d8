"""The parallel reduction: many values to one, by operation and element type."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import field
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, FailFast, Field

from harness.checked import Text, Whole, checked, one_of
from harness.problems import packed_key as keys
from harness.problems.base import Array, DtypeName, ProblemBase, fitting
from harness.problems.dtypes import DTYPES, Dtype, integer_range
from harness.problems.operations import OPS, Op

_NARROW_BYTES = 4
"""Of the widest element whose sums may be narrower than 64 bits."""

OpName = Annotated[Text, one_of("op", OPS)]


def _first(candidates: Array, value: Any, places: Array) -> Any:
    """The lowest of the places whose candidate is the value; if any is NaN, the value is."""
    return places[(candidates == value) | np.isnan(candidates)].min()


@checked
class Reduction(ProblemBase):
    """``op`` over all elements of an array of ``dtype`` and ``shape``.

    Returns min and max in the array's dtype, minmax as a pair of these, minmaxloc as :class:`MinMaxLoc`, sum
    and product as int64, uint64 (which wrap, as NumPy's) or float64, count_nonzero as int, mean as float64.
    Norms: norm_inf, the largest magnitude, as float64 or, of integers, int; norm_l1, the sum of magnitudes,
    as a sum, and sum_squares likewise; norm_l2, its root, as float64. Nothing else wraps: what 64 bits might
    not hold is added in float64 (means and norm_l1 of 64 bits, squares of 32 bits and more, and more than
    2^32 narrower ones). NaN propagates as in NumPy; -0.0 equals 0.0. In which order floats multiply, and so
    whether some product of them overflows or comes to 0, is left open.
    """

    kind: Literal["reduction"] = field(default="reduction", kw_only=True, repr=False)
    op: OpName
    dtype: DtypeName
    shape: Annotated[tuple[Annotated[Whole, Field(ge=0)], ...], FailFast(), AfterValidator(fitting)]

    @property
    def parts(self) -> Op:
        """The row of the operation."""
        return OPS[self.op]

    @property
    def element(self) -> Dtype:
        """The row of the element type."""
        return DTYPES[self.dtype]

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def needs_float64(self) -> bool:
        """Whether elements or partial results are float64."""
        return self.dtype == "float64" or self.adds_floats

    @property
    def total(self) -> str:
        """The type of a sum of the operation's terms: int64, uint64 or float64."""
        return self.parts.total_of(self.element, self.size)

    @property
    def adds_floats(self) -> bool:
        """Whether partial results are sums in floating point."""
        return "total" in self.parts.fields.values() and self.total == "float64"

    @property
    def label(self) -> str:
        return f"{self.op} {self.dtype} {'x'.join(map(str, self.shape))}"

    @property
    def source_bytes(self) -> int:
        return self.size * self.element.itemsize

    @property
    def source_key(self) -> Hashable:
        return self.kind, self.dtype, self.shape, self.parts.source.__name__

    @property
    def bytes_moved(self) -> int:
        return self.source_bytes

    @property
    def is_keyed(self) -> bool:
        """Whether the kernels hand on values with their places, as keys."""
        return (
            bool(self.parts.places) and self.element.itemsize <= keys.MAX_BYTES and self.size <= keys.MAX_SIZE
        )

    @property
    def place(self) -> Dtype:
        """The type of an element's place."""
        return DTYPES["uint32" if self.size <= keys.MAX_SIZE else "uint64"]

    @property
    def ordered(self) -> Dtype:
        """What the kernels hand on where the operation has an element: that, or its key."""
        return DTYPES["uint64"] if self.is_keyed else self.element

    @property
    def partial_fields(self) -> dict[str, str]:
        """The fields of a kernel's ``partial_t``, as :attr:`Op.fields`, without the places that keys hold."""
        in_keys = self.parts.places if self.is_keyed else {}
        return {name: what for name, what in self.parts.fields.items() if name not in in_keys}

    @property
    def partial_dtype(self) -> np.dtype[np.void]:
        """The structured NumPy dtype of a kernel's ``partial_t``."""
        types = {
            "element": self.ordered.kept_numpy,
            "total": np.dtype(self.total),
            "count": np.dtype(np.uint64),
            "place": self.place.numpy,
        }
        return np.dtype([(name, types[what]) for name, what in self.partial_fields.items()], align=True)

    @property
    def accumulator(self) -> str:
        """Of extremes the type of the elements."""
        kinds = self.parts.fields
        types = (
            self.element.kernel_numpy if kinds[name] == "element" else self.partial_dtype[name]
            for name in self.parts.combine
        )
        return ", ".join(dict.fromkeys(dtype.name for dtype in types))

    def make_source(self, seed: int) -> Array:
        """Random values of which none can be left out unseen: see :mod:`harness.problems.sources`."""
        return self.parts.source(np.random.default_rng(seed), self.element, self.size).reshape(self.shape)

    def unlike(self, array: Array) -> Array:
        """A source like ``array``, which :meth:`make_source` made, with another answer.

        Of totals and counts half of it adds nothing. For extremes half of it, and the least and the greatest,
        lie in the middle of the type's range. So what a call on ``array`` leaves behind shows in a call on
        this one: it is added, or it is more extreme.
        """
        other = array.copy().reshape(-1)
        half = other[: (other.size + 1) // 2]
        nothing = self.parts.of_nothing
        if nothing is not None:
            half[...] = nothing if (half != nothing).any() else nothing + 1
        else:
            lowest, highest = (0, 0) if self.element.is_float else integer_range(self.dtype)
            extremes = [other.argmin(), other.argmax()]
            half[...] = other[extremes] = (lowest + highest) // 2
        return other.reshape(self.shape)

    def reference(self, array: Array) -> Any:
        return self.parts.reference(array, self.element)

    def finish(self, raw: Array) -> Any:
        """Merges ``raw``, partial results in an array of :attr:`partial_dtype`, into the answer."""
        # What overflows tells by its value.
        with np.errstate(over="ignore", invalid="ignore"):
            merged = {name: ufunc.reduce(raw[name]) for name, ufunc in self.parts.combine.items()}
        for place, name in self.parts.places.items():
            if self.is_keyed:
                is_highest = self.parts.combine[name] is np.maximum
                merged[name], merged[place] = keys.from_key(merged[name], self.element.kept_numpy, is_highest)
            else:
                merged[place] = _first(raw[name], merged[name], raw[place])
        return self.answer([merged[name] for name in self.parts.fields])

    def answer(self, values: list[Any]) -> Any:
        """The documented return value from one merged value per field."""
        cast: dict[str, Callable[[Any], Any]] = {
            "element": self.element.numpy.type,
            "total": np.dtype(self.total).type,
            "count": int,
            "place": int,
        }
        typed = [cast[what](value) for value, what in zip(values, self.parts.fields.values(), strict=True)]
        return self.parts.answer(typed, self.size)

    def tolerance(self, array: Array) -> float:
        """Largest allowed absolute error: 0, but for totals in float64 the bound of any order of its steps.

        That bound is n * eps/2 * sum(|x|) for sums (Higham, Accuracy and Stability of Numerical Algorithms,
        4.2). A term may be rounded once itself, and so may what is made of the sum: a quotient, or a root,
        whose relative error is half the sum's.
        """
        if self.parts.magnitude is None or self.total != "float64":
            return 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            magnitude = self.parts.answer([self.parts.magnitude(array)], array.size)
        bound = (array.size + self.parts.roundings) * np.finfo(np.float64).eps / 2 * magnitude
        return float(bound) if np.isfinite(bound) else 0.0

    @property
    def narrower_accumulator(self) -> str:
        """The type that a program may add in which does not widen: of float32 that, of integers of at most 32
        bits 32 bits, as in C. Empty where there is none.
        """
        if self.op != "sum" or self.element.itemsize > _NARROW_BYTES:
            return ""
        if self.element.is_float:
            return self.dtype if self.element.itemsize == _NARROW_BYTES else ""
        return "uint32" if self.dtype.startswith("u") else "int32"

    def narrower(self, expected: Any, tolerance: float) -> tuple[Any, float]:
        """The answer and the tolerance for sums in :attr:`narrower_accumulator`, from those for wide ones:
        integers wrap, and are exact otherwise.
        """
        if self.element.is_float:
            return expected, self.narrower_tolerance(tolerance)
        wrapped = np.array(expected).astype(self.narrower_accumulator)
        return np.dtype(self.total).type(wrapped), 0.0

    def narrower_tolerance(self, tolerance: float) -> float:
        """The tolerance for sums of float32 in float32, from that for sums in float64.

        The bound of pairwise addition, (1 + log2 n) * eps/2 * sum(|x|) (Higham, 4.2): that of any order would
        let every answer to many elements pass.
        """
        size = max(1, self.size)
        ratio = float(np.finfo(self.dtype).eps / np.finfo(np.float64).eps)
        return tolerance / size * ratio * (1 + math.log2(size))

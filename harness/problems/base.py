"""What every problem offers: its data, its reference, its bytes, its tolerance."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from harness.checked import Text, Whole, one_of
from harness.problems.dtypes import DTYPES

Array = npt.NDArray[Any]


MAX_ELEMENTS = 2**56
"""More than any memory holds, and few enough that their bytes are counted in 64 bits."""

MAX_AXES = 64 if int(np.__version__.partition(".")[0]) >= 2 else 32
"""That an array of NumPy has."""


S = TypeVar("S", bound=Sequence[int])


def fitting(sizes: S) -> S:
    """The sizes of an array's axes.

    Raises:
        ValueError: if they are of more axes or elements than there can be.
    """
    if len(sizes) > MAX_AXES:
        raise ValueError(f"shape {sizes!r}: {len(sizes)} axes; NumPy has at most {MAX_AXES}")
    # An axis of no elements makes no other one smaller.
    if math.prod(size for size in sizes if size) > MAX_ELEMENTS:
        raise ValueError(f"shape {sizes!r}: more than {MAX_ELEMENTS} elements")
    return sizes


Positive = Annotated[Whole, Field(ge=1)]
DtypeName = Annotated[Text, one_of("dtype", DTYPES)]


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome of comparing one result with the reference.

    ``error`` is the largest absolute difference (0 for an exact match, inf where a NaN or shape differs),
    ``tolerance`` the largest allowed one; ``message`` says what differs and is empty when ``ok``.
    """

    ok: bool
    error: float
    tolerance: float
    message: str = ""


class ProblemBase(ABC):
    """What is computed. Frozen dataclasses, told apart by ``kind``; equal problems are equal objects."""

    __slots__ = ()

    @property
    @abstractmethod
    def label(self) -> str:
        """Short and unique, as shown in tables: ``minmax int32 2560x2560``."""

    @property
    @abstractmethod
    def source_bytes(self) -> int:
        """Bytes of one source."""

    @property
    def source_key(self) -> Hashable:
        """Problems with equal keys have equal sources for a seed, packed alike: one copy serves them all."""
        return self

    @property
    @abstractmethod
    def bytes_moved(self) -> int:
        """The fewest bytes that must cross the memory interface: each input read once, each output written
        once.
        """

    @property
    def accumulator(self) -> str:
        """The NumPy name of the type in which our kernels compute: part of what a ratio compares. Several
        names are joined; empty where there is no arithmetic.
        """
        return ""

    @abstractmethod
    def make_source(self, seed: int) -> Array:
        """A random source for this problem; the same for the same seed. Never zeros."""

    def pack(self, array: Array) -> Array:
        """The source as it is laid out on the device: contiguous, padded where the problem says so."""
        return np.ascontiguousarray(array).reshape(-1)

    @abstractmethod
    def reference(self, array: Array) -> Any:
        """The right answer for the unpacked source ``array``, computed on the host in wider types."""

    @abstractmethod
    def finish(self, raw: Array) -> Any:
        """The answer from what a device left in its result buffer: the last, serial step on the host."""

    def tolerance(self, array: Array) -> float:
        """Largest allowed absolute error of an answer for ``array``: 0 where nothing is rounded."""
        return 0.0

    def verify(self, actual: Any, array: Array) -> Verification:
        """Compares an answer with the reference for ``array``."""
        return compare(actual, self.reference(array), self.tolerance(array))


_AT_ONCE = 2**20
"""Bytes of large arrays that are compared at a time: what is made of these stays in the cache."""

_LONG = 8
"""Bytes of the numbers whose differences float64 does not hold exactly."""


def compare(actual: Any, expected: Any, tolerance: float) -> Verification:
    """Compares two scalars or arrays of one shape element by element; NaN equals NaN.

    Integers are compared exactly (``tolerance`` 0 means equality); floats within ``tolerance``. The values of
    a tuple are compared one by one, each in its own type.
    """
    if isinstance(expected, tuple):
        return _compare_values(actual, expected, tolerance)
    left, right = np.asarray(actual), np.asarray(expected)
    if left.shape != right.shape:
        return Verification(
            False, float("inf"), tolerance, f"shape {left.shape} where {right.shape} is expected"
        )
    if _are_identical(left, right):
        return Verification(True, 0.0, tolerance)
    same = np.asarray(left == right)
    if left.dtype.kind == "f" or right.dtype.kind == "f":
        same |= np.isnan(left) & np.isnan(right)
    if same.all():
        return Verification(True, 0.0, tolerance)
    # longdouble holds every 64-bit integer and float64 exactly on x86-64, but is slow.
    wide = np.float64 if max(left.itemsize, right.itemsize) < _LONG else np.longdouble
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.asarray(np.abs(left.astype(wide) - right))
    difference[same] = 0
    difference[np.isnan(difference)] = np.inf
    error = float(difference.max())
    # Where nothing may differ, a difference too small for the wide type is one, too.
    wrong = np.asarray(difference > tolerance if tolerance else ~same)
    if not wrong.any():
        return Verification(True, error, tolerance)
    first = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    where = f" at {first}" if first else ""
    count = f"{int(wrong.sum())} of {wrong.size} values differ; first" if wrong.ndim else "result"
    return Verification(
        False,
        error,
        tolerance,
        f"{count}{where}: got {left[first]!r}, expected {right[first]!r} (tolerance {tolerance:g})",
    )


def _are_identical(left: Array, right: Array) -> bool:
    """Whether two large arrays of one shape are the same byte for byte, as they are where nothing is wrong.
    Told in a third of the time that comparing elements takes, and without another array.
    """
    whole = left.flags.c_contiguous and right.flags.c_contiguous
    if left.nbytes < _AT_ONCE or left.dtype != right.dtype or not whole:
        return False
    a, b = left.reshape(-1).view(np.uint8), right.reshape(-1).view(np.uint8)
    return all(_is_same_part(a[i : i + _AT_ONCE], b[i : i + _AT_ONCE]) for i in range(0, a.size, _AT_ONCE))


def _is_same_part(left: Array, right: Array) -> bool:
    """Whether some bytes are the same; compared in words, as bytes one by one take longer."""
    kind = np.uint8 if left.size % _LONG else np.uint64
    return bool((left.view(kind) == right.view(kind)).all())


def _compare_values(actual: Any, expected: tuple[Any, ...], tolerance: float) -> Verification:
    """As :func:`compare`, of values that no one type may hold."""
    shape = (len(actual),) if isinstance(actual, tuple) else np.shape(actual)
    if shape != (len(expected),):
        said = f"shape {shape} where {(len(expected),)} is expected"
        return Verification(False, float("inf"), tolerance, said)
    found = [compare(left, right, tolerance) for left, right in zip(actual, expected, strict=True)]
    error = max(one.error for one in found)
    wrong = [place for place, one in enumerate(found) if not one.ok]
    if not wrong:
        return Verification(True, error, tolerance)
    what = found[wrong[0]].message.removeprefix("result: ")
    count = f"{len(wrong)} of {len(found)} values differ; first at {(wrong[0],)}: {what}"
    return Verification(False, error, tolerance, count)

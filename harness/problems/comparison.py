"""Whether an answer is the reference's: scalars and arrays, compared element by element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.problems.stripes import STRIPE_BYTES, by_stripes

_Array = npt.NDArray[Any]

_LONG = 8
"""Bytes of the numbers whose differences float64 does not hold exactly."""


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


def compare(actual: Any, expected: Any, tolerance: float) -> Verification:
    """Compares two scalars or arrays of one shape element by element; NaN equals NaN.

    Integers are compared exactly (``tolerance`` 0 means equality); floats within ``tolerance``. The values of
    a tuple are compared one by one, each in its own type. None, of what has no answer, equals None alone.
    """
    if expected is None:
        told = "" if actual is None else f"got {actual!r} where nothing is expected"
        return Verification(actual is None, float("inf") if told else 0.0, tolerance, told)
    if isinstance(expected, tuple):
        return _compare_values(actual, expected, tolerance)
    left, right = np.asarray(actual), np.asarray(expected)
    if left.shape != right.shape:
        return Verification(
            False, float("inf"), tolerance, f"shape {left.shape} where {right.shape} is expected"
        )
    found = _unlike_parts(np.ravel(left), np.ravel(right), tolerance)
    error, count = max((part.error for part in found), default=0.0), sum(part.wrong for part in found)
    if not count:
        return Verification(True, error, tolerance)
    first = tuple(map(int, np.unravel_index(next(part.first for part in found if part.wrong), left.shape)))
    where = f" at {first}" if first else ""
    told = f"{count} of {left.size} values differ; first" if left.ndim else "result"
    return Verification(
        False,
        error,
        tolerance,
        f"{told}{where}: got {left[first]!r}, expected {right[first]!r} (tolerance {tolerance:g})",
    )


class _Part(NamedTuple):
    """Of a part of two arrays the largest difference, how many are beyond the tolerance, and the place in the
    whole of the first of these.
    """

    error: float
    wrong: int
    first: int


def _unlike_parts(left: _Array, right: _Array, tolerance: float) -> list[_Part]:
    """The parts of two arrays of one axis that are not the same byte for byte."""

    def part(start: int, end: int) -> _Part | None:
        a, b = left[start:end], right[start:end]
        if _are_identical(a, b):
            return None
        found = _compared(a, b, tolerance)
        return found._replace(first=start + found.first)

    step = max(1, STRIPE_BYTES // max(left.itemsize, right.itemsize))
    with np.errstate(invalid="ignore", over="ignore"):
        return [found for found in by_stripes(part, left.size, step) if found]


def _are_identical(left: _Array, right: _Array) -> bool:
    """Whether two arrays are the same byte for byte, as they are where nothing is wrong or rounded. Told in a
    third of the time that comparing elements takes, of words, as bytes one by one take longer.
    """
    if left.dtype != right.dtype:
        return False
    a, b = left.view(np.uint8), right.view(np.uint8)
    kind = np.uint8 if a.size % _LONG else np.uint64
    return bool((a.view(kind) == b.view(kind)).all())


def _compared(left: _Array, right: _Array, tolerance: float) -> _Part:
    # longdouble holds every 64-bit integer and float64 exactly on x86-64, but is slow.
    is_long = max(left.itemsize, right.itemsize) >= _LONG
    difference: _Array = left.astype(np.longdouble if is_long else np.float64)
    np.subtract(difference, right, out=difference)
    np.abs(difference, out=difference)
    error = float(difference.max())
    # Not so where a NaN is; and in 64 bits a difference too small for the wide type is one, too.
    if error <= tolerance and (tolerance or not is_long):
        return _Part(error, 0, 0)
    same = left == right
    if left.dtype.kind == "f" or right.dtype.kind == "f":
        same |= np.isnan(left) & np.isnan(right)
    difference[same] = 0
    difference[np.isnan(difference)] = np.inf
    wrong = np.greater(difference, tolerance) if tolerance else ~same
    return _Part(float(difference.max()), int(np.count_nonzero(wrong)), int(np.argmax(wrong)))


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

"""Random sources of reductions, each such that an element left out shows in the answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.problems.base import Array
from harness.problems.dtypes import Dtype, integer_range
from harness.problems.stripes import by_stripes

Fill = Callable[[np.random.Generator, Array], None]
"""Writes random values into a part of an array."""

_PART = 2**16
"""Elements made at a time: they, and what lies between, stay in a processor's cache."""
_STRIPE = 16 * _PART
"""Elements that one random generator makes."""


def with_extremes(rng: np.random.Generator, dtype: Dtype, size: int) -> Array:
    """Values over the type's range, of which the two extremes, of different magnitudes, stand once each."""
    array = filled(rng, np.empty(size, dtype.name), _spread(dtype, size))
    lowest, highest = (-32, 31) if dtype.is_float else integer_range(dtype.name)
    place = int(rng.integers(0, size))
    array[place] = lowest
    # Elsewhere, where there is an elsewhere.
    array[(place + int(rng.integers(1, max(2, size)))) % size] = highest
    return array


def with_zeros(rng: np.random.Generator, dtype: Dtype, size: int) -> Array:
    """Values over the type's range; one in sixteen is zero."""
    spread = _spread(dtype, size)

    def fill(own: np.random.Generator, part: Array) -> None:
        spread(own, part)
        part[own.integers(0, part.size, part.size // 16)] = 0

    array = filled(rng, np.empty(size, dtype.name), fill)
    if size < 16:
        array[rng.integers(0, size)] = 0
    return array


def of_factors(rng: np.random.Generator, dtype: Dtype, size: int) -> Array:
    """Values whose product keeps something of each: odd integers, as of these a product that wraps loses
    none, and floats of either sign about 1, so near to it that no product of many of them is 0 or infinite.
    """
    if not dtype.is_float:
        return filled(rng, np.empty(size, dtype.name), _spread(dtype, size)) | 1
    # The logarithm of a product goes astray as the root of their number; some must differ in their last bits.
    far = max(min(0.5, 16 / size**0.5), 4 * float(np.finfo(dtype.name).eps))

    def fill(own: np.random.Generator, part: Array) -> None:
        part[:] = np.exp(own.uniform(-far, far, part.size)) * own.choice((-1, 1), part.size)

    return filled(rng, np.empty(size, dtype.name), fill)


def filled(rng: np.random.Generator, array: Array, fill: Fill) -> Array:
    """``array``, flat, once ``fill`` has written each part of it. By stripes, each with a random generator of
    its own, so that the values are the same however many threads there are.
    """
    generators = rng.spawn(-(-array.size // _STRIPE))

    def work(start: int, end: int) -> None:
        for at in range(start, end, _PART):
            fill(generators[start // _STRIPE], array[at : min(at + _PART, end)])

    by_stripes(work, array.size, _STRIPE)
    return array


def _spread(dtype: Dtype, size: int) -> Fill:
    """Fills with values over the type's range, without the extremes of integers.

    Floats lie on a grid so fine that they look random and so coarse that a float64 sum of all ``size`` of
    them is exact in any order: the check of a sum is then exact too.
    """
    if not dtype.is_float:
        lowest, highest = integer_range(dtype.name)

        def integers(own: np.random.Generator, part: Array) -> None:
            part[:] = own.integers(lowest + 1, highest - 1, part.size, dtype=dtype.name, endpoint=True)

        return integers
    bits = min(np.finfo(dtype.name).nmant, 52 - max(size - 1, 1).bit_length())
    grid = np.int32 if bits < 31 else np.int64

    def floats(own: np.random.Generator, part: Array) -> None:
        part[:] = own.integers(-(2**bits), 2**bits, part.size, grid, endpoint=True) * 2.0 ** (4 - bits)

    return floats

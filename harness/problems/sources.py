"""Random sources of reductions, each such that an element left out shows in the answer."""

from __future__ import annotations

import numpy as np

from harness.problems.base import Array
from harness.problems.dtypes import Dtype, integer_range

_PART = 2**16
"""Elements made at a time: they, and what lies between, stay in a processor's cache."""


def with_extremes(rng: np.random.Generator, dtype: Dtype, size: int) -> Array:
    """Values over the type's range, of which the two extremes, of different magnitudes, stand once each."""
    array = _spread(rng, dtype, size)
    lowest, highest = (-32, 31) if dtype.is_float else integer_range(dtype.name)
    place = int(rng.integers(0, size))
    array[place] = lowest
    # Elsewhere, where there is an elsewhere.
    array[(place + int(rng.integers(1, max(2, size)))) % size] = highest
    return array


def with_zeros(rng: np.random.Generator, dtype: Dtype, size: int) -> Array:
    """Values over the type's range; one in sixteen is zero."""
    array = _spread(rng, dtype, size)
    array[rng.integers(0, size, max(1, size // 16))] = 0
    return array


def of_factors(rng: np.random.Generator, dtype: Dtype, size: int) -> Array:
    """Values whose product keeps something of each: odd integers, as of these a product that wraps loses
    none, and floats of either sign about 1, so near to it that no product of many of them is 0 or infinite.
    """
    if not dtype.is_float:
        return _spread(rng, dtype, size) | 1
    # The logarithm of a product goes astray as the root of their number; some must differ in their last bits.
    far = max(min(0.5, 16 / size**0.5), 4 * float(np.finfo(dtype.name).eps))
    array = np.empty(size, dtype.name)
    for start in range(0, size, _PART):
        part = array[start : start + _PART]
        part[:] = np.exp(rng.uniform(-far, far, part.size)) * rng.choice((-1, 1), part.size)
    return array


def _spread(rng: np.random.Generator, dtype: Dtype, size: int) -> Array:
    """Floats lie on a grid so fine that they look random and so coarse that a float64 sum of all of them is
    exact in any order: the check of a sum is then exact too.
    """
    if not dtype.is_float:
        lowest, highest = integer_range(dtype.name)
        return rng.integers(lowest + 1, highest - 1, size, dtype=dtype.name, endpoint=True)
    bits = min(np.finfo(dtype.name).nmant, 52 - max(size - 1, 1).bit_length())
    grid = np.int32 if bits < 31 else np.int64
    array = np.empty(size, dtype.name)
    for start in range(0, size, _PART):
        part = array[start : start + _PART]
        part[:] = rng.integers(-(2**bits), 2**bits, part.size, grid, endpoint=True) * 2.0 ** (4 - bits)
    return array

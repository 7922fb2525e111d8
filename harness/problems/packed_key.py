"""Keys: a value and its place as one number of 64 bits, as the kernels hand them on (ops/minmaxloc).

The high word is the value as an unsigned number in the order of the values, the low word its place, counted
down where the greatest is looked for: the least key is the lowest value where it was first met, the greatest
the highest. NaN is beyond all numbers at that end; -0.0 is 0.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MAX_BYTES = 4
"""Of an element whose value leaves half a key to its place."""
MAX_SIZE = 2**32
"""Elements that so many bits tell apart."""

_SIGN = np.uint32(2**31)
_WORD = np.uint32(2**32 - 1)


def from_key(key: np.uint64, kept: np.dtype[Any], is_highest: bool) -> tuple[Any, int]:
    """The value, of the type ``kept`` of 32 bits, and the place that a key holds."""
    word, counted = np.uint32(key >> np.uint64(32)), int(key & np.uint64(_WORD))
    place = int(_WORD) - counted if is_highest else counted
    if kept.kind == "u":
        return word, place
    if kept.kind == "i":
        return (word ^ _SIGN).view(np.int32), place
    if word == (_WORD if is_highest else 0):
        return np.float32(np.nan), place
    return (word ^ _SIGN if word & _SIGN else ~word).view(np.float32), place

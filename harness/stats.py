"""Statistics of samples: pure functions on plain numbers.

Medians, quartiles and geometric means now; bootstrap intervals of a ratio and verdicts belong here next.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Quartiles:
    """The 25th percentile, the median and the 75th percentile, in the unit of the samples."""

    p25: float
    median: float
    p75: float


def usable(samples: Iterable[float]) -> list[float]:
    """The samples that can be times: finite and above zero."""
    return [value for value in samples if math.isfinite(value) and value > 0]


def quartiles(samples: Iterable[float]) -> Quartiles:
    """Quartiles by linear interpolation between order statistics (Hyndman and Fan's type 7, NumPy's default).

    Raises:
        ValueError: if there is no sample, or one is not finite.
    """
    values = np.asarray(list(samples), dtype=np.float64)
    if values.size == 0:
        raise ValueError("quartiles of no samples")
    if not np.isfinite(values).all():
        raise ValueError(f"quartiles of {values.tolist()}: every sample must be finite")
    p25, median, p75 = np.percentile(values, (25, 50, 75))
    return Quartiles(float(p25), float(median), float(p75))


def geometric_mean(ratios: Iterable[float]) -> float:
    """The geometric mean: the one mean for which the mean of 1/r is one over the mean of r.

    Raises:
        ValueError: if there is no value, or one is not finite and above zero.
    """
    values = list(ratios)
    if not values:
        raise ValueError("geometric mean of no values")
    if len(usable(values)) < len(values):
        raise ValueError(f"geometric mean of {values}: every value must be finite and above zero")
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def speed_ratio(first_seconds: float, second_seconds: float) -> float:
    """Speed of the first over speed of the second: ``second_seconds / first_seconds``.

    Above 1 the first is faster. Both must be of one clock. NaN where a time is not finite and above zero:
    there is no such ratio.
    """
    if len(usable((first_seconds, second_seconds))) < 2:
        return math.nan
    return second_seconds / first_seconds

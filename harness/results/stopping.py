"""When there are samples enough, or blocks: once the interval of what they tell is narrow."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import cache

import numpy as np

CONFIDENCE = 0.95
"""Of the interval, were it looked at once; looked at after every sample it holds the median a little less
often, which is why a verdict rests on an interval of its own."""

NARROW = 0.01
"""Share of the median below which its interval is narrow enough to stop."""

NARROW_RATIO = 0.005
"""The same of a ratio near an edge of the equivalence band, where its verdict hangs on so little."""

CLEAR = 3
"""Standard errors between a ratio and the nearest edge of the band that settle on which side it lies."""
_FAR_OUT = 5
"""Times the root of a count, which is ten standard deviations of the number of samples below the median."""
_DOZEN = 12
"""Values that the errors are then known from; of fewer it takes more of them, by Student's distribution."""


@cache
def median_ranks(count: int, confidence: float = CONFIDENCE) -> tuple[int, int] | None:
    """The indices of the order statistics of ``count`` samples between which the median lies.

    Whatever the distribution: the number of samples below the median is binomial (David and Nagaraja, Order
    Statistics, section 7.1). None where even the smallest and the largest are not enough: below 6 samples at
    95 %.
    """
    if not count:
        return None
    # Ranks so low that the chance of them is nothing are passed over, and each other chance follows from the
    # one before: a binomial of its own for each would take seconds of ten thousand samples.
    rank = max(0, count // 2 - math.ceil(_FAR_OUT * math.sqrt(count)))
    log_ways = math.lgamma(count + 1) - math.lgamma(rank + 1) - math.lgamma(count - rank + 1)
    chance = math.exp(log_ways - count * math.log(2))
    outside = 0.0
    while rank < count // 2:
        outside += chance
        if 2 * outside > 1 - confidence:
            break
        chance *= (count - rank) / (rank + 1)
        rank += 1
    return (rank - 1, count - rank) if rank else None


def median_interval(samples: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """The interval of the median in the unit of the samples, or None of too few."""
    ranks = median_ranks(len(samples), confidence)
    if ranks is None:
        return None
    ordered = sorted(samples)
    return ordered[ranks[0]], ordered[ranks[1]]


def is_narrow(samples: Sequence[float], width: float) -> bool:
    """Whether the interval of the median is narrower than ``width`` times the interval's middle."""
    interval = median_interval(samples)
    if interval is None:
        return False
    low, high = interval
    return high - low < width * (low + high) / 2


def ratio_is_told(
    first: Sequence[float], second: Sequence[float], band: float, errors: tuple[float, float] = (0.0, 0.0)
) -> bool:
    """Whether more values of either side would hardly change the verdict on the ratio of their means.

    Either both edges of the equivalence band are :data:`CLEAR` standard errors away, of less than a dozen
    values as many more as these take, or the interval is narrower than :data:`NARROW_RATIO`. False where a
    side has fewer than two values. Values of a side are independent of each other and of the other's, but
    for the standard ``errors`` that those of a side share.
    """
    if min(len(first), len(second)) < 2:
        return False
    own = (_relative_error(side) for side in (first, second))
    shared = (error / statistics.fmean(side) for side, error in zip((first, second), errors, strict=True))
    error, degrees = math.hypot(*own, *shared), min(len(first), len(second)) - 1
    ratio = math.log(statistics.fmean(second) / statistics.fmean(first))
    from_edge = abs(abs(ratio) - math.log1p(band))
    return from_edge > _clear(degrees) * error or 2 * _student(degrees) * error < NARROW_RATIO


def is_slower(times: Sequence[float], fastest: Sequence[float], band: float) -> bool:
    """Whether times are clearly longer than those of another, taken one by one in the same rounds: in the
    mean beyond the band, and by :data:`CLEAR` standard errors, or as many more as few rounds take.
    """
    ratios = [math.log(one / best) for one, best in zip(times, fastest, strict=True)]
    slower = statistics.fmean(ratios)
    if slower <= math.log1p(band):
        return False
    error = float(np.std(ratios, ddof=1)) / math.sqrt(len(ratios))
    return slower > _student(len(ratios) - 1, statistics.NormalDist().cdf(-CLEAR)) * error


def _relative_error(values: Sequence[float]) -> float:
    """The standard error of a mean of independent values, over that mean."""
    mean = statistics.fmean(values)
    # Not statistics.stdev: it adds in fractions, which takes several times as long.
    return float(np.std(values, ddof=1)) / math.sqrt(len(values)) / mean


def mean_is_narrow(values: Sequence[float], width: float) -> bool:
    """Whether the interval of the mean of independent values is narrower than ``width`` times the mean.

    Student's; False of fewer than two.
    """
    if len(values) < 2:
        return False
    return 2 * _student(len(values) - 1) * _relative_error(values) < width


@cache
def _clear(degrees: int) -> float:
    """Standard errors that are as sure as CLEAR of them are with a dozen values; not fewer than CLEAR."""
    from scipy import special

    return max(CLEAR, _student(degrees, float(special.stdtr(_DOZEN - 1, -CLEAR))))


@cache
def _student(degrees: int, tail: float = (1 - CONFIDENCE) / 2) -> float:
    from scipy import special

    return float(-special.stdtrit(degrees, tail))

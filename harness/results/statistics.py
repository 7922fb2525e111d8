"""Statistics of samples: medians, intervals, ratios, verdicts. Pure functions on plain numbers.

A side of a ratio is its samples in blocks, each of a fresh context of the device: samples of one context
share its memory layout, clocks and luck, and are no independent witnesses of the next. See :func:`centre` and
:func:`ratio_interval`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Blocks = Sequence[Sequence[float]]
"""Samples of one clock by block; a single one where it is not known which block they are of."""

Verdict = Literal["same", "faster", "slower", "ambiguous"]
VERDICTS: tuple[Verdict, ...] = ("same", "faster", "slower", "ambiguous")
"""same: the interval lies within the equivalence band. faster, slower: it lies outside, above or below.
ambiguous: it reaches over an edge of the band, or there are too few samples for an interval."""

BAND = 0.02
"""Equivalence band: ratios from 1 / (1 + BAND) to 1 + BAND are the same speed for all that anybody cares."""
CONFIDENCE = 0.95
"""Confidence level of an interval."""

FEWEST_SAMPLES = 3
"""Of a side that has an interval: what differs by chance cannot be told from less."""

FEWEST_PAIRS = 8
"""Blocks a side that are drawn in pairs: of fewer, pairs tell their own spread worse than sides do."""

_RESAMPLES = 2000
_SEED = 20110913
"""Any number, but always the same: one run file has one report."""


@dataclass(frozen=True, slots=True)
class Quartiles:
    """The 25th percentile, the median and the 75th percentile, in the unit of the samples."""

    p25: float
    median: float
    p75: float


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a ratio of speeds; both ends NaN where there are too few samples."""

    low: float
    high: float

    @property
    def known(self) -> bool:
        """Whether there is one."""
        return not (math.isnan(self.low) or math.isnan(self.high))


UNKNOWN = Interval(math.nan, math.nan)
"""What stands for the interval that cannot be given."""


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


def by_block(seconds: Sequence[float], ids: Sequence[int] = ()) -> dict[int, list[float]]:
    """The usable samples by the block that each is of, in the order of first appearance.

    ``ids`` names the block of each sample; without one for each all samples are of block 0.
    """
    if len(ids) != len(seconds):
        ids = [0] * len(seconds)
    found: dict[int, list[float]] = {}
    for value, block in zip(seconds, ids, strict=True):
        found.setdefault(block, []).extend(usable([value]))
    return {block: samples for block, samples in found.items() if samples}


def blocks(seconds: Sequence[float], ids: Sequence[int] = ()) -> list[list[float]]:
    """As :func:`by_block`, without the blocks' names."""
    return list(by_block(seconds, ids).values())


def centre(side: Blocks) -> float:
    """What a side takes: the median of each block, averaged over the blocks; NaN without a sample.

    The median because a sample may have been interrupted. The mean because contexts do not only scatter: on
    an H200 one launches in 1.4 us, the next in 1.6, and the median of some is one or the other.
    """
    medians = [np.median(block) for block in side]
    return float(np.mean(medians)) if medians else math.nan


def many_samples(confidence: float = CONFIDENCE) -> int:
    """The fewest samples between whose ends the median lies with this confidence: 6 for 95 %.

    The median lies outside all of n samples with the probability 2 / 2**n, whatever their distribution.
    """
    return math.ceil(1 - math.log2(1 - confidence))


def ratio_interval(
    first: Blocks,
    second: Blocks,
    confidence: float = CONFIDENCE,
    paired: bool = False,
    errors: Sequence[float] = (),
) -> Interval:
    """Bootstrap percentile interval of the first's speed over the second's, the ratio of their centres.

    Samples of one block a side are resampled one by one. Where there are more, whole blocks are resampled, so
    that what differs from context to context is in the interval. Where blocks, or samples fewer than
    :func:`many_samples`, are resampled, it is widened for their small number: by t over z, and by the part of
    the variance that resampling few loses (Davison and Hinkley, Bootstrap Methods, 3.8; Hesterberg, What
    Teachers Should Know about the Bootstrap, 2015). A side of less than FEWEST_SAMPLES has no interval. The
    same samples always give the same interval.

    ``paired`` says that the sides' first blocks were taken at the same time, and so their second: as many of
    both, and at least FEWEST_PAIRS, are drawn in pairs, so that what slows both at a time slows no ratio.

    ``errors`` are standard errors of the sides that all their blocks share
    (:class:`harness.results.launch_correction.Corrected`); none when left out.

    Raises:
        ValueError: if the confidence is not between 0 and 1.
    """
    return _interval((first, second), lambda a, b: b / a, confidence, paired, errors)


def net_ratio_interval(
    first: Blocks,
    first_launch: Blocks,
    second: Blocks,
    second_launch: Blocks,
    confidence: float = CONFIDENCE,
    paired: bool = False,
    errors: Sequence[float] = (),
) -> Interval:
    """As :func:`ratio_interval`, of the ratio net of launch: centres less those of the launch clock.

    Unknown where a resampled difference is none: there launching may well be all of a side's time.
    ``errors`` are those of the two differences.
    """
    sides = (first, second, first_launch, second_launch)
    return _interval(
        sides, lambda a, b, a_launch, b_launch: (b - b_launch) / (a - a_launch), confidence, paired, errors
    )


def check_band(band: float) -> None:
    """Refuses what is no equivalence band.

    Raises:
        ValueError: if it is below zero or not finite.
    """
    if not (math.isfinite(band) and band >= 0):
        raise ValueError(f"equivalence band {band!r}: it must be a share of one, such as 0.02 for 2 %")


def verdict(interval: Interval, band: float = BAND) -> Verdict:
    """What an interval of a ratio says of the first side, given the equivalence band; see :data:`VERDICTS`.

    The band is symmetric in the logarithm, so that exchanging the sides exchanges faster and slower.

    Raises:
        ValueError: if the band is below zero or not finite.
    """
    check_band(band)
    if not interval.known:
        return "ambiguous"
    if interval.low > 1 + band:
        return "faster"
    if interval.high < 1 / (1 + band):
        return "slower"
    return "same" if 1 / (1 + band) <= interval.low and interval.high <= 1 + band else "ambiguous"


_Floats = npt.NDArray[np.float64]


def _interval(
    sides: Sequence[Blocks],
    ratio: Callable[..., Any],
    confidence: float,
    paired: bool,
    errors: Sequence[float],
) -> Interval:
    """The interval of ``ratio`` of the sides' centres; the first two sides are those that are compared, and
    the errors are theirs.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence!r}: it must lie between 0 and 1, such as 0.95")
    if min(sum(map(len, side)) for side in sides) < FEWEST_SAMPLES:
        return UNKNOWN
    first, second = sides[:2]
    draws = 1 if paired and len(first) == len(second) >= FEWEST_PAIRS else 2
    with np.errstate(all="ignore"):
        # What launching costs differs from context to context, and with it a case's time there: the two are
        # drawn together.
        centres = [_resampled_centres(side, place % draws) for place, side in enumerate(sides)]
        for place, error in enumerate(errors):
            centres[place] = centres[place] + error * _normal(place)
        replicates = ratio(*centres)
        estimate = float(ratio(*map(centre, sides)))
    if not (np.isfinite(replicates).all() and (replicates > 0).all() and usable([estimate])):
        return UNKNOWN
    tail = (1 - confidence) / 2
    # Deviations from the estimate are widened as logarithms: a ratio and its reciprocal are treated alike.
    widening = _widening(sides[:draws], confidence)
    deviations = widening * np.quantile(np.log(replicates / estimate), (tail, 1 - tail))
    low, high = estimate * np.exp(deviations)
    return Interval(float(low), float(high))


def _widening(sides: Sequence[Blocks], confidence: float) -> float:
    """The factor on the deviations for having resampled blocks or a few samples; 1 where samples enough."""
    from scipy import stats

    counts = [len(side) for side in sides if len(side) > 1]
    counts += [len(side[0]) for side in sides if len(side) == 1 and len(side[0]) < many_samples(confidence)]
    if not counts:
        return 1.0
    tail = (1 - confidence) / 2
    fewest, degrees = min(counts), sum(counts) - len(counts)
    return float(stats.t.isf(tail, degrees) / stats.norm.isf(tail) * math.sqrt(fewest / (fewest - 1)))


def _resampled_centres(side: Blocks, place: int) -> _Floats:
    """Centres of the side resampled with replacement: of its blocks, or of the samples of its only one."""
    if len(side) > 1:
        medians = np.array([np.median(block) for block in side])
        means: _Floats = _drawn(len(side), place) @ medians / len(side)
        return means
    values = np.sort(np.asarray(side[0], dtype=np.float64))
    # A sample enters the median as often as it is drawn. A running total then finds the middle, or the middle
    # two, without writing out any resample.
    ends = np.cumsum(_drawn(values.size, place), axis=1)
    lower = values[np.argmax(ends > (values.size - 1) // 2, axis=1)]
    upper = values[np.argmax(ends > values.size // 2, axis=1)]
    middle: _Floats = (lower + upper) / 2
    return middle


@lru_cache(maxsize=16)
def _drawn(count: int, place: int) -> npt.NDArray[np.int64]:
    """How often each of ``count`` units is drawn in each resample; another draw for another ``place``."""
    rng = np.random.default_rng((_SEED, place))
    return rng.multinomial(count, np.full(count, 1 / count), size=_RESAMPLES)


@lru_cache(maxsize=2)
def _normal(place: int) -> _Floats:
    """A standard normal number for each resample, independent of what is drawn; other ones for another
    ``place``.
    """
    return np.random.default_rng((_SEED, place, 1)).standard_normal(_RESAMPLES)

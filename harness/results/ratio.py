"""What two sides' samples say: the ratio of their speeds, its interval and the verdict. The only place that
computes them: reports, comparisons, the terminal's table, controls and the self-test all ask here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from harness.results.statistics import CONFIDENCE, FEWEST_SAMPLES, Blocks, centre, many_samples, usable

Verdict = Literal["same", "faster", "slower", "ambiguous"]
VERDICTS: tuple[Verdict, ...] = ("same", "faster", "slower", "ambiguous")
"""same: the interval lies within the equivalence band. faster, slower: it lies outside, above or below.
ambiguous: it reaches over an edge of the band, or there are too few samples for an interval."""

BAND = 0.02
"""Equivalence band: ratios from 1 / (1 + BAND) to 1 + BAND are the same speed for all that anybody cares."""

FEWEST_PAIRS = 8
"""Blocks a side that are drawn in pairs: of fewer, pairs tell their own spread worse than sides do."""

FEWEST_TO_CHOOSE = 8
"""Blocks of which one half chooses the fastest variant that the other judges: of fewer the choice would be
chance."""

_RESAMPLES = 2000
_SEED = 20110913
"""Any number, but always the same: one run file has one report."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a ratio of speeds; both ends NaN where there are too few samples."""

    low: float
    high: float

    @property
    def known(self) -> bool:
        """Whether there is one."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    def scaled(self, by: float) -> Interval:
        """The interval of the ratio times a number above zero."""
        return Interval(self.low * by, self.high * by)


UNKNOWN = Interval(math.nan, math.nan)
"""What stands for the interval that cannot be given."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a ratio: a clock's samples by block, in seconds a call; those of its empty kernel, where
    the ratio is to be net of launching.

    error: the standard error, in seconds, that all blocks share
    (:class:`harness.results.launch_correction.Corrected`); of a net ratio that of the difference.
    """

    blocks: Blocks
    error: float = 0.0
    launch: Blocks = ()

    @property
    def seconds(self) -> float:
        """What the side takes, less launching where that is given; NaN without a sample."""
        return centre(self.blocks) - (centre(self.launch) if self.launch else 0.0)


@dataclass(frozen=True, slots=True)
class Ratio:
    """Speed of the first side over the second's: above 1 the first is faster; NaN where there is none."""

    value: float
    interval: Interval
    verdict: Verdict


def compare(first: Side, second: Side, band: float = BAND, paired: bool = False) -> Ratio:
    """The ratio of two sides of one clock, net of launching where both sides have their launch samples.

    ``paired`` says that the sides' first blocks were taken at the same time, and so their second
    (:func:`ratio_interval`).

    Raises:
        ValueError: if the band is below zero or not finite.
    """
    errors = (first.error, second.error)
    if first.launch and second.launch:
        interval = net_ratio_interval(
            first.blocks, first.launch, second.blocks, second.launch, paired=paired, errors=errors
        )
    else:
        interval = ratio_interval(first.blocks, second.blocks, paired=paired, errors=errors)
    return Ratio(speed_ratio(first.seconds, second.seconds), interval, verdict(interval, band))


def more_to_decide(found: Ratio, blocks: int, band: float = BAND) -> float:
    """About how many more blocks than these of each side would decide an ambiguous verdict: the interval
    narrows with the square root of their number, until no edge of the band lies within.

    0 of a verdict that is no more ambiguous; infinite where the ratio lies on an edge, or has no interval.
    """
    if found.verdict != "ambiguous":
        return 0
    if not found.interval.known:
        return math.inf
    ratio, low, high = (math.log(each) for each in (found.value, found.interval.low, found.interval.high))
    edge = math.log1p(band)
    if abs(ratio) <= edge:
        reaches = [(high - ratio, edge - ratio), (ratio - low, edge + ratio)]
    else:
        reaches = [(ratio - low if ratio > 0 else high - ratio, abs(ratio) - edge)]
    times = max(half / room if room > 0 else math.inf for half, room in reaches) ** 2
    return math.ceil(blocks * (times - 1)) if math.isfinite(times) else math.inf


def chosen_on_the_other_half(rivals: Sequence[Blocks]) -> list[int]:
    """For each block the rival that is the fastest in the other half of the blocks: the even ones have the
    one of the odd blocks, and the odd ones that of the even. Fewer than FEWEST_TO_CHOOSE blocks all choose.

    What is chosen and judged on the same samples looks faster than it is, the more so the more rivals there
    are: the fastest of equal ones is the one that chance favoured. All rivals must have equally many blocks.
    """
    if len(rivals[0]) < FEWEST_TO_CHOOSE:
        return [min(range(len(rivals)), key=lambda at: centre(rivals[at]))] * len(rivals[0])
    of_other_half = [
        min(range(len(rivals)), key=lambda at: centre(rivals[at][1 - half :: 2])) for half in (0, 1)
    ]
    return [of_other_half[block % 2] for block in range(len(rivals[0]))]


def speed_ratio(first_seconds: float, second_seconds: float) -> float:
    """Speed of the first over speed of the second: ``second_seconds / first_seconds``.

    Above 1 the first is faster. Both must be of one clock. NaN where a time is not finite and above zero:
    there is no such ratio.
    """
    if len(usable((first_seconds, second_seconds))) < 2:
        return math.nan
    return second_seconds / first_seconds


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
    # scipy.stats has the same functions, and takes more than a second to import.
    from scipy import special

    counts = [len(side) for side in sides if len(side) > 1]
    counts += [len(side[0]) for side in sides if len(side) == 1 and len(side[0]) < many_samples(confidence)]
    if not counts:
        return 1.0
    tail = (1 - confidence) / 2
    fewest, degrees = min(counts), sum(counts) - len(counts)
    return float(special.stdtrit(degrees, tail) / special.ndtri(tail) * math.sqrt(fewest / (fewest - 1)))


def _resampled_centres(side: Blocks, place: int) -> _Floats:
    """Centres of the side resampled with replacement: of its blocks, or of the samples of its only one."""
    if len(side) > 1:
        medians = np.array([median(block) for block in side])
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


@lru_cache(maxsize=64)
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

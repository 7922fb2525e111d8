"""What two sides' samples say: the ratio of their speeds, its interval and the verdict. The only place that
computes them: reports, comparisons, the terminal's table, controls and the self-test all ask here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.results.bootstrap import resampled_ends
from harness.results.statistics import CONFIDENCE, FEWEST_SAMPLES, Blocks, centre, usable

Verdict = Literal["same", "faster", "slower", "ambiguous"]
VERDICTS: tuple[Verdict, ...] = ("same", "faster", "slower", "ambiguous")
"""same: the interval lies within the equivalence band. faster, slower: it lies outside, above or below.
ambiguous: it reaches over an edge of the band, or there are too few samples for an interval."""

BAND = 0.02
"""Equivalence band: ratios from 1 / (1 + BAND) to 1 + BAND are the same speed for all that anybody cares."""
MOST_BAND = 0.5
"""The widest that is one: whoever gives 2 means 2 %."""

FEWEST_TO_CHOOSE = 8
"""Blocks of which one half chooses the fastest variant that the other judges: of fewer the choice would be
chance."""


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
    (:class:`harness.results.launch_correction.Corrected`); of a net ratio that of the difference. scatter:
    the standard deviation from block to block as a share of the mean, by which another side is judged that
    has one block only; 0 where the blocks themselves tell it.
    """

    blocks: Blocks
    error: float = 0.0
    launch: Blocks = ()
    scatter: float = 0.0

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
    errors, scatters = (first.error, second.error), (first.scatter, second.scatter)
    if first.launch and second.launch:
        interval = net_ratio_interval(
            first.blocks,
            first.launch,
            second.blocks,
            second.launch,
            paired=paired,
            errors=errors,
            scatters=scatters,
        )
    else:
        interval = ratio_interval(
            first.blocks, second.blocks, paired=paired, errors=errors, scatters=scatters
        )
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
    scatters: Sequence[float] = (),
) -> Interval:
    """Bootstrap percentile interval of the first's speed over the second's, the ratio of their centres.

    Samples of one block a side are resampled one by one. Where there are more, whole blocks are resampled, so
    that what differs from context to context is in the interval. Where blocks, or samples fewer than
    :func:`many_samples`, are resampled, it is widened for their small number: by the part of each side's
    variance that resampling few loses, and by t over z (Davison and Hinkley, Bootstrap Methods, 3.8;
    Hesterberg, What Teachers Should Know about the Bootstrap, 2015), with the degrees of freedom by Welch and
    Satterthwaite, at most those of sides that scatter alike: the side that is less sure counts. A side of
    less than FEWEST_SAMPLES has no interval. The same samples always give the same interval.

    A side of one block beside one of several does not tell how much it would differ in another. It is taken
    to do so as the other does: by the other's of ``scatters``, or as its blocks say.

    ``paired`` says that the sides' first blocks were taken at the same time, and so their second: as many of
    both, and at least FEWEST_PAIRS, are drawn in pairs, so that what slows both at a time slows no ratio.

    ``errors`` are standard errors of the sides that all their blocks share
    (:class:`harness.results.launch_correction.Corrected`); none when left out.

    Raises:
        ValueError: if the confidence is not between 0 and 1.
    """
    return _interval((first, second), lambda a, b: b / a, confidence, paired, errors, scatters)


def net_ratio_interval(
    first: Blocks,
    first_launch: Blocks,
    second: Blocks,
    second_launch: Blocks,
    confidence: float = CONFIDENCE,
    paired: bool = False,
    errors: Sequence[float] = (),
    scatters: Sequence[float] = (),
) -> Interval:
    """As :func:`ratio_interval`, of the ratio net of launch: centres less those of the launch clock.

    Unknown where a resampled difference is none: there launching may well be all of a side's time.
    ``errors`` are those of the two differences.
    """
    sides = (first, second, first_launch, second_launch)
    return _interval(
        sides,
        lambda a, b, a_launch, b_launch: (b - b_launch) / (a - a_launch),
        confidence,
        paired,
        errors,
        scatters,
    )


def check_band(band: float) -> None:
    """Refuses what is no equivalence band.

    Raises:
        ValueError: if it is no number from 0 to MOST_BAND.
    """
    if not 0 <= band <= MOST_BAND:
        raise ValueError(f"equivalence band {band!r}: give a share from 0 to {MOST_BAND}, as 0.02 for 2 %")


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


def _interval(
    sides: Sequence[Blocks],
    ratio: Callable[..., Any],
    confidence: float,
    paired: bool,
    errors: Sequence[float],
    scatters: Sequence[float],
) -> Interval:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence!r}: it must lie between 0 and 1, such as 0.95")
    if min(sum(map(len, side)) for side in sides) < FEWEST_SAMPLES:
        return UNKNOWN
    ends = resampled_ends(sides, ratio, confidence, paired, errors, scatters)
    return Interval(*ends) if ends else UNKNOWN

"""Statistics of samples: quartiles, means, samples by block. Pure functions on plain numbers.

Samples are kept in blocks, each of a fresh context of the device: samples of one context share its memory
layout, clocks and luck, and are no independent witnesses of the next. See :func:`centre`, and
:mod:`harness.results.ratio` for what two sides' samples say of their speeds.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Blocks = Sequence[Sequence[float]]
"""Samples of one clock by block; a single one where it is not known which block they are of."""

CONFIDENCE = 0.95
"""Confidence level of an interval."""

FEWEST_SAMPLES = 3
"""Of a side that has an interval: what differs by chance cannot be told from less."""


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


def by_block(seconds: Sequence[float], ids: Sequence[int] = ()) -> dict[int, list[float]]:
    """The usable samples by the block that each is of, in the order of first appearance.

    ``ids`` names the block of each sample; without one for each all samples are of block 0.
    """
    if len(ids) != len(seconds):
        ids = [0] * len(seconds)
    found: dict[int, list[float]] = {}
    for value, block in zip(seconds, ids, strict=True):
        found.setdefault(block, []).append(value)
    return {block: kept for block, samples in found.items() if (kept := usable(samples))}


def blocks(seconds: Sequence[float], ids: Sequence[int] = ()) -> list[list[float]]:
    """As :func:`by_block`, without the blocks' names."""
    return list(by_block(seconds, ids).values())


def centre(side: Blocks) -> float:
    """What a side takes: the median of each block, averaged over the blocks; NaN without a sample.

    The median because a sample may have been interrupted. The mean because contexts do not only scatter: on
    an H200 one launches faster than the next, by one of two times (reports/examples, h200-quick), and the
    median of some is one or the other.
    """
    medians = [statistics.median(block) for block in side]
    return float(np.mean(medians)) if medians else math.nan


def scatter_of(side: Blocks) -> float:
    """The standard deviation of a side's blocks, by their medians, as a share of their mean; 0 of a single
    block, and where what a file holds are no times of this world.
    """
    medians = [statistics.median(block) for block in side]
    if len(medians) < 2:
        return 0.0
    with np.errstate(all="ignore"):
        scatter = float(np.std(medians, ddof=1) / np.mean(medians))
    return scatter if math.isfinite(scatter) else 0.0


def many_samples(confidence: float = CONFIDENCE) -> int:
    """The fewest samples between whose ends the median lies with this confidence: 6 for 95 %.

    The median lies outside all of n samples with the probability 2 / 2**n, whatever their distribution.
    """
    return math.ceil(1 - math.log2(1 - confidence))

"""The interval of a ratio of two sides, by resampling what they are of: blocks, or the samples of one.

What a few values tell of their spread is too little, and it is widened for that: by the part of each side's
variance that resampling few loses, and by Student's t in place of the normal distribution (Davison and
Hinkley, Bootstrap Methods, 3.8; Hesterberg, What Teachers Should Know about the Bootstrap, 2015), of as many
degrees of freedom as Welch and Satterthwaite have for two sides, the less sure one counting for most, and no
more than they have for sides of the same spread: where three blocks happen to be alike, their share of the
variance is small by chance, and Welch's degrees are those of the other side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import median
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.results.statistics import Blocks, centre, many_samples, scatter_of, usable

FEWEST_PAIRS = 8
"""Blocks a side that are drawn in pairs: of fewer, pairs tell their own spread worse than sides do."""

_RESAMPLES = 2000
_SEED = 20110913
"""Any number, but always the same: one run file has one report."""

_Floats = npt.NDArray[np.float64]


class _Sure(NamedTuple):
    """How sure a side's spread is: the factor that its variance lacks, and its degrees of freedom."""

    factor: float = 1.0
    degrees: float = math.inf


def resampled_ends(
    sides: Sequence[Blocks],
    ratio: Callable[..., Any],
    confidence: float,
    paired: bool,
    errors: Sequence[float] = (),
    scatters: Sequence[float] = (),
) -> tuple[float, float] | None:
    """The ends of the interval of ``ratio`` of the sides' centres; None where some resample has none.

    The first two sides are those that are compared, and the errors and scatters are theirs; sides behind
    them are taken off these, and drawn with them: what launching costs differs from context to context, and
    with it a case's time there. The rest as in :func:`harness.results.ratio.ratio_interval`.
    """
    first, second = sides[:2]
    in_pairs = paired and len(first) == len(second) >= FEWEST_PAIRS
    middle = [centre(side) for side in sides]
    borrowed = _borrowed_scatters(first, second, scatters)
    with np.errstate(all="ignore"):
        drawn = [_resampled_centres(side, place, in_pairs) for place, side in enumerate(sides)]
        for place, scatter in enumerate(borrowed):
            drawn[place] = drawn[place] * np.exp(scatter * _normal(place, "scatter"))
        centres = list(drawn)
        for place, error in enumerate(errors):
            centres[place] = centres[place] + error * _normal(place, "error")
        replicates = ratio(*centres)
        estimate = float(ratio(*middle))
    if not (np.isfinite(replicates).all() and (replicates > 0).all() and usable([estimate])):
        return None
    tail = (1 - confidence) / 2
    if in_pairs:
        widening = _of_pairs(len(first), tail)
    else:
        of_both = zip((first, second), borrowed, strict=True)
        sure = [_Sure() if scatter else _sure_of(side, confidence) for side, scatter in of_both]
        # Where one side's spread is borrowed, both are the same few values'.
        most = max(len(first), len(second)) - 1 if any(borrowed) else _most_degrees(first, second)
        own = [_own_variance(place, drawn, middle, ratio) for place in range(2)]
        widening = _widening(own, sure, float(np.var(np.log(replicates))), tail, most)
    # Deviations from the estimate are widened as logarithms: a ratio and its reciprocal are treated alike.
    deviations = widening * np.quantile(np.log(replicates / estimate), (tail, 1 - tail))
    low, high = estimate * np.exp(deviations)
    return float(low), float(high)


def _own_variance(
    place: int, drawn: Sequence[_Floats], middle: Sequence[float], ratio: Callable[..., Any]
) -> float:
    """How much of the logarithm's variance the side of that place brings, with what is taken off it."""
    alone = [drawn[at] if at % 2 == place else middle[at] for at in range(len(drawn))]
    with np.errstate(all="ignore"):
        return float(np.var(np.log(ratio(*alone))))


def _borrowed_scatters(first: Blocks, second: Blocks, scatters: Sequence[float]) -> list[float]:
    """For both sides the scatter of the other, where it has several blocks and this one a single one."""
    known = list(scatters) or [0.0, 0.0]
    return [
        known[1 - place] or scatter_of(other) if len(side) == 1 < len(other) else 0.0
        for place, (side, other) in enumerate(((first, second), (second, first)))
    ]


def _sure_of(side: Blocks, confidence: float) -> _Sure:
    count = len(side) if len(side) > 1 else len(side[0])
    if len(side) == 1 and count >= many_samples(confidence):
        return _Sure()
    return _Sure(count / (count - 1), count - 1)


def _most_degrees(first: Blocks, second: Blocks) -> float:
    """The degrees of freedom of two sides whose blocks scatter alike; infinite for a side of one block."""
    counts = [len(first), len(second)]
    if min(counts) == 1:
        return math.inf
    return math.fsum(1 / n for n in counts) ** 2 / math.fsum(1 / (n * n * (n - 1)) for n in counts)


def _of_pairs(count: int, tail: float) -> float:
    """The factor on the deviations for having resampled so many pairs."""
    return _student(count - 1, tail) * math.sqrt(count / (count - 1))


def _widening(
    own: Sequence[float], sure: Sequence[_Sure], variance: float, tail: float, most: float
) -> float:
    """The factor on the deviations for having resampled few values a side; 1 where nothing varies.

    own: the variance that each side brings. variance: of the ratio, with what all blocks of a side share.
    most: degrees of freedom that there are at most.
    """
    whole = [brought * each.factor for brought, each in zip(own, sure, strict=True)]
    total = variance - math.fsum(own) + math.fsum(whole)
    if not (total > 0 and variance > 0):
        return 1.0
    unsure = math.fsum(brought**2 / each.degrees for brought, each in zip(whole, sure, strict=True))
    degrees = min(most, total**2 / unsure if unsure else math.inf)
    return _student(degrees, tail) * math.sqrt(total / variance)


def _student(degrees: float, tail: float) -> float:
    """Student's t over the normal distribution's, of one tail."""
    # scipy.stats has the same functions, and takes more than a second to import.
    from scipy import special

    return float(special.stdtrit(degrees, tail) / special.ndtri(tail)) if math.isfinite(degrees) else 1.0


def _resampled_centres(side: Blocks, place: int, in_pairs: bool) -> _Floats:
    """Centres of the side resampled with replacement: of its blocks, or of the samples of its only one.

    A case's blocks and those of what is taken off it are of the same contexts, and drawn alike. Samples of
    two clocks, in one context, have nothing to do with each other.
    """
    if len(side) > 1:
        medians = np.array([median(block) for block in side])
        means: _Floats = _drawn(len(side), 0 if in_pairs else place % 2) @ medians / len(side)
        return means
    values = np.sort(np.asarray(side[0], dtype=np.float64))
    lower, upper = _middle(values.size, place)
    middles: _Floats = (values[lower] + values[upper]) / 2
    return middles


@lru_cache(maxsize=64)
def _drawn(count: int, place: int) -> npt.NDArray[np.int64]:
    """How often each of ``count`` units is drawn in each resample; another draw for another ``place``."""
    rng = np.random.default_rng((_SEED, place))
    return rng.multinomial(count, np.full(count, 1 / count), size=_RESAMPLES)


@lru_cache(maxsize=64)
def _middle(count: int, place: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Which of ``count`` values in order are the middle two of each resample; the same twice of an odd count.

    To draw a value is to draw a uniform number: the middle ones in order are distributed as Beta (David and
    Nagaraja, Order Statistics, 2.3), so that no resample need be written out.
    """
    rng = np.random.default_rng((_SEED, place))
    rank = (count + 1) // 2
    lower = rng.beta(rank, count - rank + 1, _RESAMPLES)
    upper = lower if count % 2 else lower + (1 - lower) * rng.beta(1, count - rank, _RESAMPLES)
    first, second = (np.minimum((count * each).astype(np.int64), count - 1) for each in (lower, upper))
    return first, second


@lru_cache(maxsize=4)
def _normal(place: int, of: Literal["error", "scatter"]) -> _Floats:
    """A standard normal number for each resample, independent of what is drawn; other ones for another
    ``place``, and for what they are ``of``.
    """
    return np.random.default_rng((_SEED, place, 1 + (of == "scatter"))).standard_normal(_RESAMPLES)

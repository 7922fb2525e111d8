"""Brings the contexts of a case to what launching costs in the mean of all contexts of its device.

On an H200 every launch of one context takes one of two times, as by the toss of a coin, and with it each case
there (reports/examples, h200-quick). A case can be measured in some tens of contexts, the empty kernel in
hundreds: that is cheap. So a case's times are regressed on what the empty kernel took in the same contexts,
and its mean is read off where the empty kernel's mean over all contexts is (double sampling with regression:
Cochran, Sampling Techniques, chapter 12).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.problems import Empty
from harness.results.record import Case, Record, Samples
from harness.results.statistics import Blocks, by_block, scatter_of, usable
from harness.variants.axes import LaunchVariant

FEWEST_CONTEXTS = 12
"""Of a case and the empty kernel together: of fewer a regression tells more of chance than of launching, and
the slope is the usual one of the device's cases."""
FEWEST_SLOPES = 5
"""Cases of a device from which its usual slope is known: their median."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Corrected:
    """A case's samples by context, at the mean cost of launching.

    ``error``: the standard error, in the unit of the samples, that the blocks share because that mean is
    known from so many contexts only, and a slope of few; 0 where nothing was corrected. Signed as the case
    follows launching. ``scatter``: the standard deviation from context to context before that, as a share of
    the mean; 0 of a single context. ``numbers``: which context each of the blocks is of.
    """

    blocks: Blocks
    error: float = 0.0
    scatter: float = 0.0
    numbers: tuple[int, ...] = ()


class Launches:
    """What the empty kernel took in each context of each device, and how far the cases of a run follow it."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._seconds: dict[str, dict[int, float]] = {}
        records = list(records)
        for record in records:
            self.add(record)
        self._slopes = self._usual_slopes(records)

    def add(self, record: Record) -> None:
        """Takes note of a record, of one block or several, if it is the empty kernel's: the control."""
        clock = record.clocks.get("queue")
        if is_control(record.case) and record.status == "ok" and clock:
            found = by_block(clock.seconds, clock.blocks)
            there = self._seconds.setdefault(record.case.device_key, {})
            there.update({block: statistics.median(samples) for block, samples in found.items()})

    def contexts(self, device_key: str) -> int:
        """In how many contexts of a device the empty kernel was measured."""
        return len(self._seconds.get(device_key, {}))

    def corrected(self, device_key: str, clock: Samples | None, name: str = "queue") -> Corrected:
        """The samples of a case's clock of that name on that device, corrected where contexts enough tell
        how: its own, or those of the run's other cases.
        """
        if clock is None:
            return Corrected([])
        found = by_block(clock.seconds, clock.blocks)
        launches = self._seconds.get(device_key, {})
        line = _line(found, launches) or _usual_line(launches, self._slopes.get((device_key, name)))
        kept = _levelled(found, launches, line) if line else found
        error, scatter = line.error if line else 0.0, scatter_of(list(found.values()))
        return Corrected(list(kept.values()), error, scatter, tuple(kept))

    def _usual_slopes(self, records: Sequence[Record]) -> dict[tuple[str, str], float]:
        """By device and clock, where cases enough have contexts enough of their own."""
        found: dict[tuple[str, str], list[float]] = {}
        for record in records:
            if record.status != "ok" or isinstance(record.case.problem, Empty):
                continue
            key = record.case.device_key
            for name in ("queue", "launch"):
                clock, launches = record.clocks.get(name), self._seconds.get(key, {})
                line = _line(by_block(clock.seconds, clock.blocks), launches) if clock else None
                if line:
                    found.setdefault((key, name), []).append(line.slope)
        return {each: statistics.median(of) for each, of in found.items() if len(of) >= FEWEST_SLOPES}


def is_control(case: Case) -> bool:
    """Whether a case is one plain launch of the empty kernel that no study has asked for."""
    problem = case.problem
    is_one_launch = isinstance(problem, Empty) and len(problem.geometry) == 1
    return is_one_launch and case.role == "control" and case.variant == LaunchVariant()


@dataclass(frozen=True, slots=True)
class _Line:
    """How a case follows launching.

    slope: its seconds a second of launching. level: the mean cost of launching. error: as of Corrected.
    """

    slope: float
    level: float
    error: float


def _line(found: Mapping[int, Sequence[float]], launches: Mapping[int, float]) -> _Line | None:
    """A case's own, of contexts enough; None of fewer, and where launching tells nothing."""
    both = [block for block in found if block in launches]
    if len(both) < FEWEST_CONTEXTS:
        return None
    cost = np.array([launches[block] for block in both])
    taken = np.array([statistics.median(found[block]) for block in both])
    count = len(both)
    with np.errstate(all="ignore"):
        away = cost - cost.mean()
        spread = float(away @ away)
        slope = float(away @ taken / spread)
        left = taken - taken.mean() - slope * away
        squares = float(left @ left)
        level = float(np.mean(list(launches.values())))
        # Of the mean that is read off the line, less what the spread of the blocks tells by itself.
        off_centre = float(np.square(level - cost.mean()) / spread)
        own = squares / (count - 2) * (1 / count + off_centre) - squares / (count * (count - 1))
    differs = float(np.ptp(cost)) > _ROUNDING * level
    return _usable_line(launches, slope, max(0.0, own)) if differs else None


def _usual_line(launches: Mapping[int, float], slope: float | None) -> _Line | None:
    return None if slope is None or len(launches) < FEWEST_CONTEXTS else _usable_line(launches, slope)


def _usable_line(launches: Mapping[int, float], slope: float, own: float = 0.0) -> _Line | None:
    """None where what a file holds are no times of this world. own: the variance of a slope's own."""
    with np.errstate(all="ignore"):
        everywhere = np.array(list(launches.values()))
        level = float(everywhere.mean())
        shared = slope * float(everywhere.std(ddof=1)) / math.sqrt(len(everywhere))
        error = math.copysign(math.hypot(shared, math.sqrt(own)), slope)
    return _Line(slope, level, error) if all(map(math.isfinite, (slope, level, error))) else None


def _levelled(
    found: Mapping[int, Sequence[float]], launches: Mapping[int, float], line: _Line
) -> dict[int, list[float]]:
    """The samples by context at the line's level of launching; none of a context that has no usable one."""
    levelled = {
        block: usable(
            sample - line.slope * (launches.get(block, line.level) - line.level) for sample in samples
        )
        for block, samples in found.items()
    }
    return {block: samples for block, samples in levelled.items() if samples}

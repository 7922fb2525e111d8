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
from harness.results.statistics import Blocks, by_block, usable
from harness.variants.axes import LaunchVariant

FEWEST_CONTEXTS = 12
"""Of a case and the empty kernel together: of fewer a regression tells more of chance than of launching."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Corrected:
    """A case's samples by context, at the mean cost of launching.

    ``error``: the standard error, in the unit of the samples, that the blocks share because that mean is
    known from so many contexts only; 0 where nothing was corrected. Signed as the case follows launching.
    """

    blocks: Blocks
    error: float = 0.0


class Launches:
    """What the empty kernel took in each context of each device."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._seconds: dict[str, dict[int, float]] = {}
        for record in records:
            self.add(record)

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

    def corrected(self, device_key: str, clock: Samples | None) -> Corrected:
        """The samples of a case's clock on that device, corrected where contexts enough tell how."""
        if clock is None:
            return Corrected([])
        return _corrected(by_block(clock.seconds, clock.blocks), self._seconds.get(device_key, {}))


def is_control(case: Case) -> bool:
    """Whether a case is one plain launch of the empty kernel that no study has asked for."""
    problem = case.problem
    is_one_launch = isinstance(problem, Empty) and len(problem.geometry) == 1
    return is_one_launch and case.role == "control" and case.variant == LaunchVariant()


def _corrected(found: Mapping[int, Sequence[float]], launches: Mapping[int, float]) -> Corrected:
    both = [block for block in found if block in launches]
    if len(both) < FEWEST_CONTEXTS:
        return Corrected(list(found.values()))
    cost = np.array([launches[block] for block in both])
    taken = np.array([statistics.median(found[block]) for block in both])
    everywhere = np.array(list(launches.values()))
    with np.errstate(all="ignore"):
        away = cost - cost.mean()
        slope = float(away @ taken / (away @ away))
        level = float(everywhere.mean())
        error = slope * float(everywhere.std(ddof=1)) / math.sqrt(len(everywhere))
    differs = float(np.ptp(cost)) > _ROUNDING * level
    if not (differs and all(map(math.isfinite, (slope, level, error)))):
        # Launching always took the same, or what a file holds are no times of this world.
        return Corrected(list(found.values()))
    blocks = [
        usable(sample - slope * (launches.get(block, level) - level) for sample in samples)
        for block, samples in found.items()
    ]
    return Corrected([block for block in blocks if block], error)

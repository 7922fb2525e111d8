"""In what order a run measures, in which process, and for how long each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import median
from typing import NamedTuple

from backends import REGISTRY
from harness.records import Case

GUESSED_OVERHEAD_S = 0.3
"""Seconds that a case costs beside its timing, until the run has shown."""
LEAST_S = 0.01


FEW_PROCESSES = 3
"""The most processes that measure a limit, which is the best of a sweep, or a baseline: a verdict on OpenCL
and CUDA needs neither."""


class Turn(NamedTuple):
    """A case in one of the processes that measure it."""

    case: Case
    process: int

    @property
    def is_lean(self) -> bool:
        """Whether only the primary clock is taken, and what the net ratio needs: a verdict rests on these,
        and on as many processes as the time allows. The first process takes all clocks.
        """
        return self.process > 0


def turns(cases: Sequence[Case], processes: int) -> Iterator[Turn]:
    """All cases in the first process, then all in the next; limits and baselines in the first few only.

    The cases of one problem follow each other, so that whatever drifts meanwhile, minutes or milliseconds
    long, meets all of them alike. Each process begins with another one of them (A B C, B C A, C A B), as it
    may matter what was measured just before.
    """
    groups = [list(group) for _, group in groupby(cases, key=lambda case: (case.problem, case.cache))]
    for process in range(processes):
        for group in groups:
            first = process % len(group)
            turned = (Turn(case, process) for case in group[first:] + group[:first])
            yield from (turn for turn in turned if process < FEW_PROCESSES or _is_a_side(turn.case))


def _is_a_side(case: Case) -> bool:
    """Whether a case is one side of the ratio of OpenCL to CUDA, or its control; so is one of no row."""
    entry = REGISTRY.get(case.backend)
    return case.role != "limit" and (entry is None or entry.role in ("opencl", "cuda"))


@dataclass
class Allotment:
    """Shares what is left of a run's time among the turns that are left.

    ends_at: on the clock that :meth:`seconds` is asked with. longest: a turn's seconds of timing at most.
    """

    ends_at: float
    longest: float
    _overheads: list[float] = field(default_factory=list)

    def seconds(self, now: float, left: int) -> float:
        """Seconds of timing for the next turn of ``left``: never none, as every case is to be measured."""
        overhead = median(self._overheads) if self._overheads else GUESSED_OVERHEAD_S
        return min(self.longest, max(LEAST_S, (self.ends_at - now) / max(left, 1) - overhead))

    def spent(self, total: float, granted: float, timed: float) -> None:
        """Takes note of a turn: its seconds in all, those granted for timing, and those that timing took.

        Timing that took more than was granted would again: it is overhead.
        """
        self._overheads.append(total - min(granted, timed))

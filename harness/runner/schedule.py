"""In what order a run measures, in which round, and for how long each.

A round is one pass over the cases in fresh contexts of the devices. Where a driver places its memory differs
from context to context, and times with it, in OpenCL as in CUDA (reports/examples, h200-quick): rounds, not
samples, are the independent observations of a verdict. A process has one round or, of a GPU, several; between
them there may be short ones, in which only the empty kernel is measured
(:mod:`harness.results.launch_correction`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby, product
from statistics import median
from typing import NamedTuple

from harness.problems import Empty, Problem
from harness.results.launch_correction import Corrected, Launches
from harness.results.merge import merged_clock
from harness.results.ratio import BAND
from harness.results.record import Case, Record, Samples
from harness.results.stopping import NARROW, mean_is_narrow, ratio_is_told

GUESSED_OVERHEAD_S = 0.3
"""Seconds that a case costs beside its timing, until the run has shown."""
LEAST_S = 0.01
FURTHER_SHARE = 0.5
"""The part of a budget that the further contexts of the processes have, where there are any."""
LEAST_ROUNDS = 4
"""Rounds of a process in which a case is always measured: a few contexts may happen to be alike."""

LIMIT_ROUNDS = 2
"""Rounds of a process in which a limit is measured: no verdict rests on it."""


class Trial(NamedTuple):
    """A case in one of the rounds that measure it, by its number in the run (``block`` in a record), and the
    process that the round is of.
    """

    case: Case
    process: int
    round: int

    @property
    def is_primary_only(self) -> bool:
        """Whether only the primary clock is taken, and what the net ratio needs: a verdict rests on these,
        and on as many rounds as the time allows. The first round takes all clocks.
        """
        return self.round > 0


def trials(
    cases: Sequence[Case], processes: int, contexts: Mapping[str, int], launches: int = 0
) -> Iterator[Trial]:
    """All cases in the first round of the first process, then all in its next, and so on.

    The cases of one problem follow each other, so that whatever drifts meanwhile, minutes or milliseconds
    long, meets all of them alike. Each round begins with another of them (A B C, B C A, C A B), as what was
    measured just before may matter.

    Args:
        cases: all of a run.
        processes: how many measure each case.
        contexts: rounds a process of the devices (by their keys) that have several; see :func:`contexts_of`.
        launches: after each of those rounds so many more, in which only the empty kernel is measured.
    """
    groups = [list(group) for _, group in groupby(cases, key=problem_of)]
    most = rounds_a_process(contexts)
    each = range(processes), range(most), range(1 + launches)
    for number, (process, context, further) in enumerate(product(*each)):
        for group in groups:
            sides = [case for case in group if context < contexts_of(case, contexts)]
            if further:
                sides = [case for case in sides if _is_measured_alone(case, contexts)]
            first = number % max(1, len(sides))
            yield from (Trial(case, process, number) for case in sides[first:] + sides[:first])


def _is_measured_alone(case: Case, contexts: Mapping[str, int]) -> bool:
    """Whether a case has contexts of its own between others: the empty kernel, where contexts are several."""
    return isinstance(case.problem, Empty) and contexts_of(case, contexts) > 1


def rounds_a_process(contexts: Mapping[str, int], launches: int = 0) -> int:
    """The most contexts that a device has in a process, those with nothing but ``launches`` among them."""
    return max([1, *contexts.values()]) * (1 + launches)


def contexts_of(case: Case, contexts: Mapping[str, int]) -> int:
    """In how many rounds of a process a case is measured: a limit, the best of a sweep, in a few."""
    contexts_there = contexts.get(case.device_key, 1)
    return min(LIMIT_ROUNDS, contexts_there) if case.role == "limit" else contexts_there


def problem_of(case: Case) -> tuple[Problem, str]:
    """What the cases that are compared with each other have in common."""
    return case.problem, case.cache


def first_rounds_end(seconds: float, rounds: int) -> float:
    """How much of ``seconds`` the first rounds of a run's processes have, of so many ``rounds`` a process."""
    return seconds * (1 - FURTHER_SHARE if rounds > 1 else 1)


def further_rounds_end(seconds: float, process: int, processes: int) -> float:
    """After how much of a run's time a process begins no further round: each has as much of ``seconds``."""
    return seconds * (process + 1) / processes


class Known:
    """What is known of each case so far: when its further rounds would tell no more.

    Of a run of so many ``rounds`` a process, with so many for ``launches`` alone after each other one.
    """

    def __init__(self, rounds: int, launches: int = 0) -> None:
        self._rounds, self._launches_after = rounds, launches
        self._clocks: dict[Case, list[Samples]] = {}
        self._launches = Launches()

    def add(self, record: Record) -> None:
        """Takes note of a record of one round."""
        self._launches.add(record)
        clock = record.clocks.get("queue")
        if clock and clock.seconds:
            self._clocks.setdefault(record.case, []).append(clock)

    def enough(self, of_round: Sequence[Trial]) -> set[Case]:
        """The cases of a round that need not be measured in it: those of problems whose verdicts of one
        device against another are settled; on one device alone, whose times are known well.

        All sides of a problem or none: each must have as many rounds as the other.
        """
        if of_round[0].round % self._rounds // (1 + self._launches_after) < LEAST_ROUNDS:
            return set()
        groups = groupby(of_round, key=lambda trial: problem_of(trial.case))
        sides = ([trial.case for trial in group] for _, group in groups)
        return {case for cases in sides if self._are_told(cases) for case in cases}

    def _are_told(self, cases: Sequence[Case]) -> bool:
        if self._launches_after and isinstance(cases[0].problem, Empty):
            # Every other time is corrected by these: more of them improve all.
            return False
        sides = {case: self._corrected(case) for case in cases}
        times = {case: [median(block) for block in side.blocks] for case, side in sides.items()}
        if len({case.device_key for case in cases}) == 1:
            return all(mean_is_narrow(each, NARROW) for each in times.values())
        return all(
            ratio_is_told(times[one], times[other], BAND, (sides[one].error, sides[other].error))
            for one, other in combinations(cases, 2)
            if one.device_key != other.device_key
        )

    def _corrected(self, case: Case) -> Corrected:
        found = self._clocks.get(case)
        return self._launches.corrected(case.device_key, merged_clock(found) if found else None)


@dataclass
class Allotment:
    """Shares what is left of the time for the first rounds of a run among its trials that are left.

    ends_at: on the clock that :meth:`seconds` is asked with. longest: a trial's seconds of timing at most.
    """

    ends_at: float
    longest: float
    _overheads: list[float] = field(default_factory=list)

    def seconds(self, now: float, left: int) -> float:
        """Seconds of timing for the next of ``left`` trials; at least LEAST_S, as every case is measured."""
        overhead = median(self._overheads) if self._overheads else GUESSED_OVERHEAD_S
        return min(self.longest, max(LEAST_S, (self.ends_at - now) / max(left, 1) - overhead))

    def spent(self, total: float, granted: float, timed: float) -> None:
        """Takes note of a trial: its seconds in all, those granted for timing, and those that timing took.

        Timing beyond what was granted counts as overhead: the next trial will take it too.
        """
        self._overheads.append(total - min(granted, timed))

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
from itertools import groupby, product
from operator import itemgetter
from statistics import median
from typing import NamedTuple

from harness.problems import Empty, Problem
from harness.results.record import Case

GUESSED_OVERHEAD_S = 0.3
"""Seconds that a case costs beside its timing, until the run has shown."""
LEAST_S = 0.01
"""Seconds of timing that each trial has, however short the budget."""
LEAST_CASE_S = 0.15
"""Seconds that a case takes in all, hardly ever less in the mean of a suite (reports/examples)."""
FURTHER_SHARE = 2 / 3
"""The part of a budget that the further contexts of the processes have, where there are any: a first one, of
all clocks, is one observation of a verdict, as each of the others is.
"""
LIMIT_ROUNDS = 4
"""Rounds of a process in which a limit is measured. No verdict rests on it, but all shares of it do. Three
processes have the contexts that the launch correction takes (:mod:`harness.results.launch_correction`).
"""


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
    long, meets all of them alike. Each round begins with another of them (A B C, B C A, C A B, and then C B
    A, B A C, A C B), as what was measured just before may matter: of any two each is first as often. The
    limits are spread over the round: they are held against all cases.

    Args:
        cases: all of a run.
        processes: how many measure each case.
        contexts: rounds a process of the devices (by their keys) that have several; see :func:`contexts_of`.
        launches: after each of those rounds so many more, in which only the empty kernel is measured.
    """
    groups = _spread([list(group) for _, group in groupby(cases, key=problem_of)])
    most = rounds_a_process(contexts)
    each = range(processes), range(most), range(1 + launches)
    for number, (process, context, further) in enumerate(product(*each)):
        for group in groups:
            sides = [case for case in group if context < contexts_of(case, contexts)]
            if further:
                sides = [case for case in sides if _is_measured_alone(case, contexts)]
            yield from (Trial(case, process, number) for case in _in_turn(sides, context + process))


def _in_turn(sides: list[Case], turn: int) -> list[Case]:
    """The sides in the order of that turn; backwards every other time that all have been first, so that it
    is even for those that are left when some have been given up.
    """
    times, first = divmod(turn, max(1, len(sides)))
    ordered = sides[::-1] if times % 2 else sides
    return ordered[first:] + ordered[:first]


def _spread(groups: Sequence[list[Case]]) -> list[list[Case]]:
    """The groups in their order, those of limits evenly among the others; what is first of these stays so."""
    limits = [group for group in groups if group[0].role == "limit"]
    others = [group for group in groups if group[0].role != "limit"]
    places = [(number + 1) / (len(limits) + 1) for number in range(len(limits))]
    places += [number / len(others) for number in range(len(others))]
    return [group for _, group in sorted(zip(places, [*limits, *others], strict=True), key=itemgetter(0))]


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


def further_rounds_end(seconds: float, now: float, processes_left: int, owed: float = 0.0) -> float:
    """After how much of a run's time a process begins no further round, which has done its first ``now``:
    what is left of ``seconds`` is shared evenly with the processes after it, but for what is ``owed`` to the
    first rounds of these.
    """
    return now + max(0.0, seconds - now - owed) / processes_left


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

    def owed(self, now: float) -> float:
        """Seconds that are left to the first rounds."""
        return max(0.0, self.ends_at - now)

    def put_off(self, seconds: float) -> None:
        """Further rounds took so long, before another process begins its first one."""
        self.ends_at += seconds

    def spent(self, total: float, granted: float, timed: float) -> None:
        """Takes note of a trial: its seconds in all, those granted for timing, and those that timing took.

        Timing beyond what was granted counts as overhead: the next trial will take it too.
        """
        self._overheads.append(total - min(granted, timed))

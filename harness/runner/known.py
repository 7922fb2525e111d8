"""What is known of each verdict while a run measures, and so what its further rounds leave out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations, product
from statistics import fmean, median

from harness.problems import Empty, Problem
from harness.results.launch_correction import FEWEST_CONTEXTS, Corrected, Launches
from harness.results.merge import merged_clock
from harness.results.ratio import BAND, chosen_on_the_other_half
from harness.results.record import Case, Record, Samples
from harness.results.statistics import centre
from harness.results.stopping import NARROW, is_slower, mean_is_narrow, ratio_is_told
from harness.runner.schedule import Trial, problem_of
from harness.runner.sides import are_compared, is_baseline, is_compared, is_ours_beside, sides_of, twin_of
from harness.runner.worth import RoundSeconds, Spread, launches_pay, spread_of

LEAST_ROUNDS = 4
"""Rounds of the first process in which what may be the fastest is always measured, and rounds before a
variant is given up: a few contexts may happen to be alike."""

FAR_OFF = 1.25
"""Times our kernels' time from which on a baseline is measured in the first process only: on a GPU that has
several contexts it differs from process to process by far less.
"""
FAR_OFF_ALONE = 8.0
"""The same where no device has several contexts: times on a shared processor differ by a multiple."""


class Known:
    """What is known of each case so far: when its further rounds would tell no more.

    Of a run of so many ``rounds`` a process, with so many for ``launches`` alone after each other one, whose
    devices are these ``physical`` ones, by their keys; one and the same when left out. Verdicts are of this
    ``band``.
    """

    def __init__(
        self,
        rounds: int,
        launches: int = 0,
        physical: Mapping[str, str] | None = None,
        band: float = BAND,
    ) -> None:
        self._rounds, self._launches_after, self._band = rounds, launches, band
        self._physical = physical or {}
        self._clocks: dict[Case, list[Samples]] = {}
        self._medians: dict[Case, dict[int, float]] = {}
        self._in_parts: set[Case] = set()
        self._slow: set[Case] = set()
        self._gone: set[Case] = set()
        # Until the next record of the problem: finding out takes milliseconds, of which a run has thousands.
        self._open: dict[tuple[Problem, str, str], frozenset[Case]] = {}
        self._spreads: dict[Case, Spread | None] = {}
        self._launches = Launches()
        self._round_seconds = RoundSeconds()

    def add(self, record: Record) -> None:
        """Takes note of a record of one round."""
        self._launches.add(record)
        if record.block % self._rounds:
            wall_s = record.provenance.get("wall_seconds", 0.0)
            self._round_seconds.add(self._is_of_launches(record.block), record.block, wall_s)
        self._open.pop(self._problem_of(record.case), None)
        self._spreads.pop(record.case, None)
        clock = record.clocks.get("queue")
        if record.status != "ok":
            self._gone.add(record.case)
        elif clock and clock.seconds:
            self._clocks.setdefault(record.case, []).append(clock)
            self._medians.setdefault(record.case, {})[record.block] = median(clock.seconds)
            # A processor that finishes a result is the device itself.
            is_elsewhere = self._physical.get(record.case.device_key) != "cpu"
            if is_elsewhere and record.provenance.get("result_location") == "parts":
                self._in_parts.add(record.case)

    def _problem_of(self, case: Case) -> tuple[Problem, str, str]:
        """What the cases have in common that are compared: nothing is with one on another physical device."""
        return *problem_of(case), self._physical.get(case.device_key, "")

    def _by_problem(self, cases: Iterable[Case]) -> list[list[Case]]:
        """The cases by problem, cache state and physical device, without those that could not be measured."""
        groups: dict[tuple[Problem, str, str], list[Case]] = {}
        for case in cases:
            if case not in self._gone:
                groups.setdefault(self._problem_of(case), []).append(case)
        return list(groups.values())

    def enough(self, of_round: Sequence[Trial]) -> set[Case]:
        """The cases of a round that need not be measured in it: variants that are clearly not the fastest of
        their side, and sides whose verdicts are settled. What is left of a problem has its rounds together.

        The first process measures LEAST_ROUNDS in any case; each later one its first, which may contradict.
        """
        first = of_round[0]
        context = first.round % self._rounds // (1 + self._launches_after)
        least = 1 if first.process else LEAST_ROUNDS
        left_out: set[Case] = set()
        for cases in self._by_problem(trial.case for trial in of_round):
            left_out |= self._slow_of(cases)
            if context >= least:
                left_out |= set(cases) - self._still_open(cases)
        empties = {trial.case for trial in of_round if isinstance(trial.case.problem, Empty)}
        others = {trial.case for trial in of_round} - empties
        # Without another case nothing is left that the empty kernel would level.
        return left_out | empties if others and others <= left_out | self._gone else left_out

    def settled(self, of_round: Sequence[Trial]) -> set[Case]:
        """The cases of a process, beyond those in which all are measured, on which no verdict hangs. While
        there are others, the fastest candidates for the limits are measured beside them.
        """
        left_out: set[Case] = set()
        limits: set[Case] = set()
        for cases in self._by_problem(trial.case for trial in of_round):
            slow = self._slow_of(cases)
            left_out |= slow | set(cases) - (self._still_open(cases) if is_compared(cases) else frozenset())
            limits |= self._fastest_limit(cases)
        is_over = left_out >= {trial.case for trial in of_round} - self._gone
        return left_out if is_over else left_out - limits

    def _fastest_limit(self, cases: Sequence[Case]) -> set[Case]:
        """The fastest of the candidates for a limit in the most rounds, if its time is not known well."""
        limits = [case for case in cases if case.role == "limit" and case in self._medians]
        most = max((len(self._medians[case]) for case in limits), default=0)
        fastest = min((c for c in limits if len(self._medians[c]) == most), key=self._speed, default=None)
        return {fastest} & self._still_open(cases) if fastest else set()

    def far_off(self, of_round: Sequence[Trial]) -> set[Case]:
        """The baselines of a later process's first round each sample of which took at least FAR_OFF times as
        long as our kernels (or FAR_OFF_ALONE), and their controls: another process would not change what is
        said of them.
        """
        left_out: set[Case] = set()
        for cases in self._by_problem(trial.case for trial in of_round):
            left_out |= self._far_off_of(cases)
        return left_out | {trial.case for trial in of_round if twin_of(trial.case) in left_out}

    def _far_off_of(self, cases: Sequence[Case]) -> set[Case]:
        """The baselines among the cases of one problem that are far off."""
        times = FAR_OFF if self._rounds > 1 else FAR_OFF_ALONE
        sides = list(sides_of([case for case in cases if case in self._medians]).values())
        far_off: set[Case] = set()
        for baseline in (side for side in sides if is_baseline(side[0])):
            ours = [each for each in sides if is_ours_beside(each[0], baseline[0])]
            best = [min(self._speed(case)[1] for case in side) for side in ours]
            if best:
                far_off |= {case for case in baseline if self._least(case) >= times * max(best)}
        return far_off

    def _least(self, case: Case) -> float:
        return min(min(clock.seconds) for clock in self._clocks[case])

    def undecided(self, cases: Sequence[Case]) -> tuple[int, int]:
        """How many problems of these cases have no settled verdict yet, and how many there are; without those
        that no device could measure. ``cases`` are those that further rounds measure, in the run's order.
        """
        problems = self._compared(cases)
        return sum(bool(self._still_open(group)) for group in problems), len(problems)

    def are_launches_enough(self, cases: Sequence[Case], number: int) -> bool:
        """Whether the round of that number measures the empty kernel alone, and one of all the ``cases`` that
        are open would tell more for the time it takes. ``cases`` are as in :meth:`undecided`.
        """
        if not self._is_of_launches(number):
            return False
        still_open = [case for group in self._compared(cases) for case in self._still_open(group)]
        if not still_open:
            return True
        # Before that nobody knows what launching adds.
        spreads = map(self._spread, still_open)
        told = [spread for spread in spreads if spread and spread.contexts >= FEWEST_CONTEXTS]
        launch_s, round_s = self._round_seconds.of(True), self._round_seconds.of(False)
        if not (told and launch_s and round_s):
            return False
        return not launches_pay(told, launch_s, round_s)

    def _spread(self, case: Case) -> Spread | None:
        launches = self._launches.contexts(case.device_key)
        if case not in self._spreads:
            self._spreads[case] = spread_of(self._corrected(case), launches)
        known = self._spreads[case]
        return known and known._replace(launches=launches)

    def _is_of_launches(self, number: int) -> bool:
        """Whether the round of that number measures the empty kernel alone."""
        return number % (1 + self._launches_after) > 0

    def _compared(self, cases: Sequence[Case]) -> list[list[Case]]:
        """The cases that are compared, by problem, without those that no device could measure."""
        compared = (case for case in cases if case.role != "limit" and not isinstance(case.problem, Empty))
        groups = self._by_problem(compared)
        return [group for group in groups if any(case.role == "compare" for case in group)]

    def _rivals(self, cases: Sequence[Case]) -> list[Case]:
        return [case for case in cases if case not in self._slow]

    def _still_open(self, cases: Sequence[Case]) -> frozenset[Case]:
        """The cases of one problem on sides of which a verdict is not settled, and their controls."""
        if not cases:
            return frozenset()
        problem = self._problem_of(cases[0])
        if problem not in self._open:
            self._open[problem] = self._not_told(self._rivals(cases))
        return self._open[problem]

    def _slow_of(self, cases: Sequence[Case]) -> set[Case]:
        """The variants that are not the fastest of their side whatever comes, and their controls. What has
        been given up stays so: the others have had rounds that it lacks.
        """
        for side in sides_of(cases).values():
            rivals = [case for case in side if case in self._medians and case not in self._slow]
            if rivals and not isinstance(rivals[0].problem, Empty):
                fastest = min(rivals, key=self._speed)
                self._slow |= {case for case in rivals if self._is_slower(case, fastest)}
        return {case for case in cases if case in self._slow or twin_of(case) in self._slow}

    def _speed(self, case: Case) -> tuple[bool, float]:
        """What orders the variants of a side: all that is whole comes before what the host has to finish."""
        return case in self._in_parts, fmean(self._medians[case].values())

    def _is_slower(self, case: Case, fastest: Case) -> bool:
        mine, best = self._medians[case], self._medians[fastest]
        both = [number for number in mine if number in best]
        if case is fastest or len(both) < LEAST_ROUNDS:
            return False
        if self._speed(case)[0] != self._speed(fastest)[0]:
            return True
        return is_slower([mine[each] for each in both], [best[each] for each in both], self._band)

    def _not_told(self, cases: Sequence[Case]) -> frozenset[Case]:
        """The cases on sides of which a verdict is not settled: of one device against another, on the fastest
        of each, and on each variant that both have; of one device alone and of a limit, which has no verdict,
        all unless all times are known well. Nothing hangs on a baseline that is far off.
        """
        if not cases or (self._launches_after and isinstance(cases[0].problem, Empty)):
            # All other times are corrected by the empty kernel's: more of them improve all.
            return frozenset(cases)
        found = {case: self._corrected(case) for case in cases}
        if len({case.device_key for case in cases}) == 1 or cases[0].role == "limit":
            known = all(mean_is_narrow(_medians_of(side), NARROW) for side in _lasting(found.values()))
            return frozenset() if known else frozenset(cases)
        not_told: set[Case] = set()
        far_off = self._far_off_of(cases)
        sides = sides_of([case for case in cases if case not in far_off]).values()
        for one, other in combinations(sides, 2):
            if are_compared(one[0], other[0]) and not self._is_side_told(one, other, found):
                not_told |= {*one, *other}
        return frozenset(case for case in cases if case in not_told or twin_of(case) in not_told)

    def _is_side_told(
        self, one: Sequence[Case], other: Sequence[Case], found: Mapping[Case, Corrected]
    ) -> bool:
        """Whether the verdicts of one side against another are settled."""
        return self._is_told(
            _fastest([found[case] for case in one]), _fastest([found[case] for case in other])
        ) and all(self._is_told(found[a], found[b]) for a, b in product(one, other) if a.variant == b.variant)

    def _is_told(self, one: Corrected, other: Corrected) -> bool:
        return ratio_is_told(_medians_of(one), _medians_of(other), self._band, (one.error, other.error))

    def _corrected(self, case: Case) -> Corrected:
        found = self._clocks.get(case)
        return self._launches.corrected(case.device_key, merged_clock(found) if found else None)


def _fastest(side: Sequence[Corrected]) -> Corrected:
    """The fastest of a side, chosen and judged as the report does."""
    rivals = sorted(_lasting(side), key=lambda each: centre(each.blocks))
    chosen = chosen_on_the_other_half([each.blocks for each in rivals])
    return Corrected([rivals[at].blocks[block] for block, at in enumerate(chosen)], rivals[0].error)


def _lasting(measured: Collection[Corrected]) -> list[Corrected]:
    """What is in the most blocks: the rest was given up."""
    most = max(len(each.blocks) for each in measured)
    return [each for each in measured if len(each.blocks) == most]


def _medians_of(side: Corrected) -> list[float]:
    return [median(block) for block in side.blocks]

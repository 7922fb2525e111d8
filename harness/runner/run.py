"""Runs cases in worker processes (:mod:`harness.runner.pool`), of which one measures at a time, and writes a
record for each, whatever happens.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from harness.measure.budget import brief, informed
from harness.measure.source_cache import shared_folder
from harness.results.record import Case, Record
from harness.results.run_writer import Writer
from harness.runner.compiling import compile_ahead
from harness.runner.known import Known
from harness.runner.plan import RunPlan
from harness.runner.pool import Pool
from harness.runner.schedule import (
    Allotment,
    Trial,
    contexts_of,
    first_rounds_end,
    further_rounds_end,
    problem_of,
    rounds_a_process,
    trials,
)
from harness.runner.screening import Screening
from harness.runner.telemetry import Snapshot, watched

LIMIT_SHARE = 4
"""The most that a budget grants the timing of a case is its limit divided by this."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is, told between two measurements.

    ``done`` of ``total`` trials (a case in the first round of a process) are over; further rounds, of which
    most are never needed, are not counted. ``last`` is the latest record (None before the first), ``next``
    the case that comes now (None at the end). ``undecided`` of ``problems`` had no settled verdict when the
    round began; both are 0 in the first. ``left_s``: seconds in which further rounds of the process may still
    begin; 0 in a first round, and where nothing but verdicts ends them. Before the first measurement
    ``compiled`` of ``to_compile`` cases have their kernels; both are 0 later.
    """

    done: int
    total: int
    last: Record | None
    next: Case | None
    undecided: int = 0
    problems: int = 0
    left_s: float = 0.0
    compiled: int = 0
    to_compile: int = 0


def run_cases(
    plan: RunPlan,
    writer: Writer,
    progress: Callable[[Progress], None] = lambda _: None,
    finished: Sequence[Record] = (),
    look: Callable[[Case, float], Snapshot] = lambda *_: {},
) -> int:
    """Measures the cases of a plan, in as many rounds as it says, and writes a record for each as soon as it
    is there.

    Every backend's device has a live worker, so that cases of one problem follow each other on all of them,
    but only one measures at a time. A case that fails in one round is not tried in the next, and one that is
    known well enough is left out of a process's last rounds. Ctrl-C ends the workers; what was measured is in
    the file.

    Args:
        plan: see there; its cases have every backend of a problem beside the others.
        writer: where the records go.
        progress: called between measurements only, and once at the end.
        finished: records that are there already, one a case and round.
        look: returns the state of a case's device, seen less than so many seconds ago or now; called before
            and after each measurement.

    Returns:
        How many records were written.
    """
    there = {Trial(record.case, record.process, record.block) for record in finished}
    begun = {trial.round for trial in there}
    left: list[Trial] = []
    whole: dict[int, list[Trial]] = {}
    for trial in trials(plan.cases, plan.processes, plan.contexts, plan.launch_contexts):
        if trial not in there:
            left.append(trial)
        if trial.round in begun:
            whole.setdefault(trial.round, []).append(trial)
    run = _Run(plan, writer, look, whole)
    for record in finished:
        run.note(record)
    run.measure(left, progress)
    return run.written


class _Run:
    """The trials of a run. ``whole``: those of each round that was begun before, with what is left of it."""

    def __init__(
        self,
        plan: RunPlan,
        writer: Writer,
        look: Callable[[Case, float], Snapshot],
        whole: Mapping[int, Sequence[Trial]],
    ) -> None:
        self._plan, self._writer, self._look, self._whole = plan, writer, look, whole
        self.written = 0
        self._measure, self._budget = plan.suite.measure, plan.request.budget
        # The cases that need no other trial.
        self._over: set[Case] = set()
        # Where a device has several contexts, further rounds measure nothing else.
        self._in_rounds = [case for case in plan.cases if contexts_of(case, plan.contexts) > 1] or plan.cases
        self._rounds = rounds_a_process(plan.contexts, plan.launch_contexts)
        physical = {device.key: device.physical for device in plan.devices}
        self._known = Known(self._rounds, plan.launch_contexts, physical, plan.request.band)
        self._screening = Screening(plan.cases, plan.devices, plan.suite.limits.anew)
        self._first: dict[Case, Record] = {}
        self._began_at = math.inf
        # By process, the time at which no further round of it begins.
        self._ends: dict[int, float] = {}
        self._allotment: Allotment | None = None
        # When the further rounds of this process began.
        self._further_since: float | None = None
        self._to_measure = 0
        # Seconds of preparation, divided among the cases of the problem.
        self._prepared: dict[Case, float] = {}

    def note(self, record: Record) -> None:
        """Takes note of what a record of one round means for the rounds to come."""
        if record.status != "ok":
            self._over.add(record.case)
        self._known.add(record)
        self._screening.add(record)
        self._first.setdefault(record.case, record)

    def measure(self, left: Sequence[Trial], progress: Callable[[Progress], None]) -> None:
        """Measures every trial: each process has its own workers, and each round its own contexts."""
        self._began_at = time.monotonic()
        if self._budget:
            several = max(self._rounds, 1 + self._plan.processes - self._plan.promised)
            ends_at = self._began_at + first_rounds_end(self._budget, several)
            self._allotment = Allotment(ends_at, self._measure.limit_s / LIMIT_SHARE)
        self._to_measure = sum(self._is_to_measure(trial) for trial in left)
        try:
            self._compile(left, progress)
            self._measure_each(left, progress)
        finally:
            # What is known of the device stays known where the run is interrupted, or fails.
            self._screening.remember()

    def _compile(self, left: Sequence[Trial], progress: Callable[[Progress], None]) -> None:
        total = self._to_count(left)

        def tell(compiled: int, to_compile: int) -> None:
            progress(Progress(0, total, None, left[0].case, compiled=compiled, to_compile=to_compile))

        compile_ahead(self._plan, (trial.case for trial in left if not self._is_over(trial.case)), tell)

    def _measure_each(self, left: Sequence[Trial], progress: Callable[[Progress], None]) -> None:
        last: Record | None = None
        done, total = 0, self._to_count(left)
        known, left_s = (0, 0), 0.0
        with shared_folder() as shared:
            for _, of_process in groupby(left, key=lambda trial: trial.process):
                self._put_off()
                with Pool(self._plan, shared) as pool:
                    for _, trials_of_round in groupby(of_process, key=lambda trial: trial.round):
                        of_round = list(trials_of_round)
                        enough = self._enough(of_round)
                        if all(trial.case in enough for trial in of_round):
                            continue
                        if not self._is_promised(of_round[0]):
                            self._further_since = self._further_since or time.monotonic()
                        if of_round[0].round:
                            known = self._known.undecided(self._in_rounds)
                        left_s = self._left_s(of_round[0])
                        for _, beside in groupby(of_round, key=lambda trial: problem_of(trial.case)):
                            of_problem = list(beside)
                            for trial in of_problem:
                                progress(Progress(done, total, last, trial.case, *known, left_s))
                                if trial is of_problem[0]:
                                    self._prepare(pool, [t for t in of_problem if t.case not in enough])
                                last = self._try(pool, trial, trial.case in enough) or last
                                done += self._is_promised(trial)
        if known[1]:
            known = self._known.undecided(self._in_rounds)
        progress(Progress(total, total, last, None, *known))

    def _put_off(self) -> None:
        """Leaves the first rounds of the processes to come the time that they had before further rounds."""
        if self._allotment and self._further_since:
            self._allotment.put_off(time.monotonic() - self._further_since)
        self._further_since = None

    def _to_count(self, left: Sequence[Trial]) -> int:
        """Trials that are measured whatever verdicts there are."""
        return sum(map(self._is_promised, left))

    def _left_s(self, trial: Trial) -> float:
        """Seconds in which further rounds of a trial's process may begin; see :class:`Progress`."""
        end = self._ends.get(trial.process, math.inf)
        now = time.monotonic() - self._began_at
        return 0.0 if self._is_promised(trial) or not math.isfinite(end) else max(0.0, end - now)

    def _prepare(self, pool: Pool, of_problem: Sequence[Trial]) -> None:
        """Prepares a problem the first time that a process comes to it."""
        wanted = [
            trial
            for trial in of_problem
            if self._begins_process(trial)
            and trial.case not in self._plan.skipped
            and not self._is_over(trial.case)
        ]
        if wanted:
            start = time.monotonic()
            pool.prepare(wanted)
            each = (time.monotonic() - start) / len(wanted)
            self._prepared |= dict.fromkeys((trial.case for trial in wanted), each)

    def _enough(self, of_round: Sequence[Trial]) -> set[Case]:
        """The cases of a round that are known well enough; all cases of a further round once time is over.

        Of a round that an earlier run began, all cases tell: what is left of a problem may be one side alone.
        """
        first = of_round[0]
        of_round = self._whole.get(first.round, of_round)
        if self._is_promised(first):
            return self._known.far_off(of_round) if first.process else set()
        now = time.monotonic() - self._began_at
        is_further_process = self._begins_process(first)
        if first.process not in self._ends:
            measure = self._measure
            granted = measure.further_processes_s if is_further_process else measure.gpu_contexts_s
            within = self._budget or granted or math.inf
            left = 1 if is_further_process else self._plan.promised - first.process
            owed = self._allotment.owed(self._began_at + now) if self._allotment and left > 1 else 0.0
            self._ends[first.process] = further_rounds_end(within, now, left, owed)
        if now >= self._ends[first.process]:
            return {trial.case for trial in of_round}
        if is_further_process:
            return self._known.settled(of_round)
        if self._known.are_launches_enough(self._in_rounds, first.round):
            return {trial.case for trial in of_round}
        return self._known.enough(of_round)

    def _begins_process(self, trial: Trial) -> bool:
        return trial.round % self._rounds == 0

    def _is_promised(self, trial: Trial) -> bool:
        """Whether a trial is measured whatever verdicts there are."""
        return self._begins_process(trial) and trial.process < self._plan.promised

    def _is_to_measure(self, trial: Trial) -> bool:
        """Whether a trial has a part of the budget's time: further rounds take what the suite grants, and
        most candidates for limits are out after the first process.
        """
        is_measured = trial.case not in self._plan.skipped and not self._screening.is_out(trial.case)
        return self._is_promised(trial) and is_measured and (trial.process == 0 or trial.case.role != "limit")

    def _is_over(self, case: Case) -> bool:
        return case in self._over or self._screening.is_out(case)

    def _try(self, pool: Pool, trial: Trial, is_enough: bool) -> Record | None:
        """Writes and returns the record of a trial; None where the case is over, or known well enough."""
        case = trial.case
        self._to_measure -= self._is_to_measure(trial)
        if self._is_over(case) or is_enough:
            return None
        if case in self._plan.skipped:
            record = Record(case, "skipped", self._plan.skipped[case])
        else:
            record = self._measured(pool, trial)
        record = record.in_block(trial.process, trial.round)
        self.note(record)
        self._writer.write(record)
        self.written += 1
        return record

    def _measured(self, pool: Pool, trial: Trial) -> Record:
        start = time.monotonic()
        granted = None
        if self._allotment and self._is_promised(trial):
            granted = self._allotment.seconds(start, 1 + self._to_measure)
        share = self._plan.share(trial.case, trial.is_primary_only, granted)
        if self._screening.is_brief(trial.case):
            share = brief(share)
        if trial.case in self._first:
            share = informed(share, self._first[trial.case].clocks)
        record = watched(lambda: pool.measure(trial, share), partial(self._look, trial.case))
        wall = time.monotonic() - start + self._prepared.pop(trial.case, 0.0)
        if self._allotment and granted:
            self._allotment.spent(wall, granted, record.provenance.get("timing_seconds", 0.0))
        told = self._screening.told(trial.case)
        return replace(record, provenance={**record.provenance, **told, "wall_seconds": wall})

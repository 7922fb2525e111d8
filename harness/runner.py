"""Runs cases in worker processes, one busy at a time, and writes a record for each, whatever happens.

A worker that crashes, hangs or loses its device costs the case it was at: that is recorded as failed with the
reason, and a fresh worker takes the next.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from harness.measure import Share
from harness.problems import Empty, Laplace
from harness.records import Case, Record
from harness.runs import RunWriter
from harness.schedule import (
    Allotment,
    Known,
    Turn,
    blocks_a_process,
    contexts_of,
    first_blocks_end,
    further_blocks_end,
    problem_of,
    turns,
)
from harness.watch import Snapshot, watched
from harness.workers import Worker, WorkerFailed

STARTS = 2
"""Starts in a row that may fail before a device is given up."""
LAUNCH_SAMPLES = 3
"""Of the empty kernel in a context: with it every other time there is compared, so that none may be bad."""
LIMIT_SHARE = 4
"""The most that a budget grants the timing of a case is its limit divided by this."""

_Key = tuple[str, int]
"""A backend's name and its device's number."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is measured.

    seed: of the random sources. samples, case_seconds: the most a clock's samples and a case's timing may be,
    shared by the blocks that measure it. processes: how many fresh ones measure each case. contexts: how many
    fresh contexts of a device, by its key, each of these has in turn; one where not given. launch_contexts:
    after each of several, so many more in which only the empty kernel is measured. contexts_s: seconds of the
    run within which they may begin another; without it at any time. budget: seconds for the whole run, those
    of contexts among them, in place of case_seconds. limit_s: seconds after which a case without an answer is
    ended; start_limit_s: the same for a worker's start. image: the photograph for Laplace problems.
    classes: ``module:Class`` of backends that are not in the registry, by name.
    """

    seed: int = 1
    samples: int = 15
    case_seconds: float = 2.0
    processes: int = 1
    contexts: Mapping[str, int] = field(default_factory=dict)
    launch_contexts: int = 0
    contexts_s: float | None = None
    budget: float | None = None
    limit_s: float = 60.0
    start_limit_s: float = 120.0
    image: Path | None = None
    classes: Mapping[str, str] = field(default_factory=dict)

    def for_worker(self, shared: str | None = None, key: str = "") -> dict[str, Any]:
        """What one of the processes, on the device of that key, needs of it, as plain data
        (:class:`harness.measure.Options`).
        """
        return {
            "shifts": self.has_several(key),
            "seed": self.seed,
            "image": str(self.image.resolve()) if self.image else None,
            "shared": shared,
        }

    def has_several(self, key: str) -> bool:
        """Whether the device of that key has several contexts in a process: one in each block."""
        return self.contexts.get(key, 1) > 1

    def share(self, case: Case, lean: bool) -> Share:
        """What one of the blocks that measure a case has to do; a lean one shares it with all contexts."""
        if lean and isinstance(case.problem, Empty):
            return Share(LAUNCH_SAMPLES, self.case_seconds / self.processes, lean, self.samples)
        blocks = self.processes * (contexts_of(case, self.contexts) if lean else 1)
        return Share(-(-self.samples // blocks), self.case_seconds / blocks, lean, self.samples)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is, told between two measurements.

    ``done`` of ``total`` turns (a case in one block) are over; ``last`` is the latest record (None before
    the first), ``next`` the case that comes now (None at the end).
    """

    done: int
    total: int
    last: Record | None
    next: Case | None


def run_cases(
    cases: Sequence[Case],
    writer: RunWriter,
    options: RunOptions,
    progress: Callable[[Progress], None] = lambda _: None,
    skipped: Mapping[Case, str] | None = None,
    finished: Sequence[Record] = (),
    look: Callable[[Case], Snapshot] = lambda _: {},
) -> None:
    """Measures the cases, in as many blocks as the options say, and writes a record for each as soon as it
    is there.

    Every backend's device has a live worker, so that cases of one problem follow each other on all of them,
    but only one measures at a time. A case that is not right in one block is not tried in the next, and
    one that is known well enough is left out of a process's last blocks. Ctrl-C ends the workers; what was
    measured is in the file.

    Args:
        cases: what to measure; every backend of a problem beside the others.
        writer: where the records go.
        options: see there.
        progress: called between measurements only, and once at the end.
        skipped: cases that are not to be measured, with the skip reason that is recorded.
        finished: records that are there already, one a case and block.
        look: at the state of a case's device, before and after it is measured.
    """
    there = {Turn(record.case, record.process, record.block) for record in finished}
    every = turns(cases, options.processes, options.contexts, options.launch_contexts)
    left = [turn for turn in every if turn not in there]
    run = _Run(writer, options, look, skipped or {})
    for record in finished:
        run.note(record)
    run.measure(left, progress)


class _Run:
    """The turns of a run. ``over`` are the cases that need no other turn."""

    def __init__(
        self,
        writer: RunWriter,
        options: RunOptions,
        look: Callable[[Case], Snapshot],
        reasons: Mapping[Case, str],
    ) -> None:
        self._writer, self._options, self._look, self._reasons = writer, options, look, reasons
        self._over: set[Case] = set()
        self._blocks = blocks_a_process(options.contexts, options.launch_contexts)
        self._known = Known(self._blocks, options.launch_contexts)
        self._first: dict[Case, Record] = {}
        self._pictured: set[str] = set()
        self._began_at = math.inf
        self._allotment: Allotment | None = None
        self._to_measure = 0
        # Seconds, a case's part of what its problem's preparation took.
        self._prepared: dict[Case, float] = {}

    def note(self, record: Record) -> None:
        """Takes note of what a record of one block means for the blocks to come."""
        if record.status != "ok":
            self._over.add(record.case)
        self._known.add(record)
        self._first.setdefault(record.case, record)

    def measure(self, left: Sequence[Turn], progress: Callable[[Progress], None]) -> None:
        """Every turn, the ones of a process in workers of their own, the ones of a block in contexts of
        theirs.
        """
        self._began_at = time.monotonic()
        if self._options.budget:
            ends_at = self._began_at + first_blocks_end(self._options.budget, self._blocks)
            self._allotment = Allotment(ends_at, self._options.limit_s / LIMIT_SHARE)
        self._to_measure = sum(self._is_to_measure(turn) for turn in left)
        last: Record | None = None
        done = 0
        with tempfile.TemporaryDirectory(prefix="opencl-cuda-harness-") as shared:
            for _, of_process in groupby(left, key=lambda turn: turn.process):
                with _Workers(self._options, shared, self._pictured) as workers:
                    for _, turns_of_block in groupby(of_process, key=lambda turn: turn.block):
                        of_block = list(turns_of_block)
                        enough = self._enough(of_block)
                        for _, beside in groupby(of_block, key=lambda turn: problem_of(turn.case)):
                            of_problem = list(beside)
                            for turn in of_problem:
                                progress(Progress(done, len(left), last, turn.case))
                                if turn is of_problem[0]:
                                    self._prepare(workers, of_problem)
                                last = self._turn(workers, turn, turn.case in enough) or last
                                done += 1
        progress(Progress(len(left), len(left), last, None))

    def _prepare(self, workers: _Workers, of_problem: Sequence[Turn]) -> None:
        """Prepares for a problem where a process meets it first: then nobody has compiled anything yet."""
        cases = [
            turn.case for turn in of_problem if self._is_to_measure(turn) and turn.case not in self._over
        ]
        if cases:
            start = time.monotonic()
            workers.prepare(cases)
            self._prepared |= dict.fromkeys(cases, (time.monotonic() - start) / len(cases))

    def _enough(self, of_block: Sequence[Turn]) -> set[Case]:
        """The cases of a block that are known well enough; all of a further one for which time is over."""
        first = of_block[0]
        within = self._options.budget or self._options.contexts_s or math.inf
        ends = further_blocks_end(within, first.process, self._options.processes)
        if time.monotonic() - self._began_at >= ends and not self._begins_process(first):
            return {turn.case for turn in of_block}
        return self._known.enough(of_block)

    def _begins_process(self, turn: Turn) -> bool:
        return turn.block % self._blocks == 0

    def _is_to_measure(self, turn: Turn) -> bool:
        """Whether a turn has a share of the budget's time: further blocks take what a suite grants them."""
        return self._begins_process(turn) and turn.case not in self._reasons

    def _turn(self, workers: _Workers, turn: Turn, is_enough: bool) -> Record | None:
        """The record of a turn, written; None of a case that is over, or known well enough."""
        case = turn.case
        self._to_measure -= self._is_to_measure(turn)
        if case in self._over or is_enough:
            return None
        if case in self._reasons:
            record = Record(case, "skipped", self._reasons[case])
        else:
            record = self._measured(workers, turn)
        record = record.in_block(turn.process, turn.block)
        self.note(record)
        self._writer.write(record)
        return record

    def _measured(self, workers: _Workers, turn: Turn) -> Record:
        start = time.monotonic()
        granted = None
        if self._allotment and self._begins_process(turn):
            granted = self._allotment.seconds(start, 1 + self._to_measure)
        share = self._options.share(turn.case, turn.is_lean)
        if turn.case in self._first:
            share = share.after(self._first[turn.case].clocks)
        if granted:
            share = replace(share, seconds=granted)

        def once() -> Record:
            record, images = workers.measure(turn, share)
            for image in images:
                self._writer.write_image(image)
            return record

        record = watched(once, lambda: self._look(turn.case))
        wall = time.monotonic() - start + self._prepared.pop(turn.case, 0.0)
        if self._allotment and granted:
            self._allotment.spent(wall, granted, record.ledger.get("timing_seconds", 0.0))
        return replace(record, ledger={**record.ledger, "wall_seconds": wall})


def _key_of(case: Case) -> _Key:
    return case.backend, case.device


class _Workers:
    """The live worker of each backend's device. A context manager: none outlives it.

    ``shared`` is the folder of sources and answers, ``pictured`` the titles of the pictures there are.
    ``failed`` are the cases that did so while they were prepared.
    """

    def __init__(self, options: RunOptions, shared: str, pictured: set[str]) -> None:
        self._options, self._shared, self._pictured = options, shared, pictured
        self._live: dict[_Key, Worker] = {}
        self._block: dict[_Key, int] = {}
        self._given_up: dict[_Key, str] = {}
        self._failed: dict[Case, Record] = {}

    def prepare(self, cases: Sequence[Case]) -> None:
        """Has the workers of the cases of a problem start, make sources and compile, all at the same time:
        no one measures meanwhile. Of what fails, the measurement tells.
        """
        of_key = {key: list(group) for key, group in groupby(sorted(cases, key=_key_of), key=_key_of)}
        if len(of_key) == 1:
            return
        self._open(of_key)
        for at_a_time in zip_longest(*of_key.values()):
            asked = [case for case in at_a_time if case and _key_of(case) in self._live]
            for case in asked:
                self._live[_key_of(case)].tell({"prepare": case.to_json()})
            for case in asked:
                record, _ = self._answered(case)
                if _key_of(case) not in self._live:
                    # It has ended its worker, and would again.
                    self._failed[case] = record

    def measure(self, turn: Turn, share: Share) -> tuple[Record, list[dict[str, Any]]]:
        """The record of a turn and the pictures that came with it."""
        case = turn.case
        if case in self._failed:
            return self._failed.pop(case), []
        try:
            worker = self._worker(_key_of(case), turn.block)
        except WorkerFailed as error:
            return Record(case, "failed", str(error)), []
        worker.tell({"case": case.to_json(), "crop": self._wants_crop(case), "share": asdict(share)})
        return self._answered(case)

    def _answered(self, case: Case) -> tuple[Record, list[dict[str, Any]]]:
        """What the worker that was asked for a case answers; one that does not, or must not go on, is
        ended.
        """
        key = _key_of(case)
        try:
            answer = self._live[key].answer(self._options.limit_s)
            if answer["last"]:
                self._retire(key)
            return Record.from_json(answer["record"]), self._pictures(case, answer["crops"])
        except WorkerFailed as error:
            reason = str(error)
        except (KeyError, TypeError, ValueError) as error:
            reason = f"the worker's answer cannot be read: {error!r}"
        self._retire(key)
        return Record(case, "failed", reason), []

    def _worker(self, key: _Key, block: int) -> Worker:
        """The worker of a device, which was in no block but this with the context that it is in.

        Raises:
            WorkerFailed: if the device was given up.
        """
        if self._block.setdefault(key, block) != block:
            self._block[key] = block
            self._renew(key, block)
        self._open([key])
        if key in self._given_up:
            raise WorkerFailed(self._given_up[key])
        return self._live[key]

    def _renew(self, key: _Key, block: int) -> None:
        """Has the live worker begin with a fresh context, and at the same time all others that will need one
        in this block: a context takes longer to open than the empty kernel to measure in it. A worker that
        cannot is ended, as a fresh process will do.
        """
        renewed = {
            each: worker
            for each, worker in self._live.items()
            if each == key
            or (self._block[each] != block and self._options.has_several(f"{each[0]}:{each[1]}"))
        }
        for worker in renewed.values():
            worker.tell({"renew": True})
        for each, worker in renewed.items():
            self._block[each] = block
            try:
                worker.wait_until_open(self._options.start_limit_s)
            except WorkerFailed:
                self._retire(each)

    def _open(self, keys: Iterable[_Key]) -> None:
        """Starts a worker for each device that has none, all at the same time; gives up those that cannot be
        started.
        """
        reasons = {key: "" for key in keys if key not in self._live and key not in self._given_up}
        for _ in range(STARTS):
            for backend, device in reasons:
                name = self._options.classes.get(backend, backend)
                options = self._options.for_worker(self._shared, f"{backend}:{device}")
                self._live[backend, device] = Worker(name, device, options)
            reasons = {key: reason for key in reasons if (reason := self._failure_of_start(key))}
        self._given_up |= reasons

    def _failure_of_start(self, key: _Key) -> str:
        """Waits for a worker that was just started; why it did not, where it did not."""
        try:
            self._live[key].wait_until_open(self._options.start_limit_s)
        except WorkerFailed as error:
            self._retire(key)
            backend, device = key
            return f"{backend}:{device} cannot be started, tried {STARTS} times: {error}"
        return ""

    def _retire(self, key: _Key) -> None:
        worker = self._live.pop(key, None)
        if worker:
            worker.kill()

    def _wants_crop(self, case: Case) -> bool:
        """One picture of each output of the filter is enough."""
        return isinstance(case.problem, Laplace) and case.problem.output not in self._pictured

    def _pictures(self, case: Case, crops: Mapping[str, str]) -> list[dict[str, Any]]:
        fresh = {title: png for title, png in crops.items() if title not in self._pictured}
        self._pictured.update(fresh)
        about = {"backend": case.backend, "device": case.device_key, "caption": case.problem.label}
        return [{"title": title, **about, "png": png} for title, png in fresh.items()]

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for worker in self._live.values():
            if kind is None:
                worker.finish()
            else:
                worker.kill()

"""The live workers of one process of a run: one for each backend's device, started when it is needed.

A worker that crashes, hangs or loses its device costs the case it was at: that is recorded as failed with the
reason, and a fresh worker takes the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, zip_longest

from harness.measure.budget import Share, plain
from harness.results.record import Case, Record
from harness.runner.plan import RunPlan
from harness.runner.schedule import Trial
from harness.runner.worker_process import Worker, WorkerFailed, finish_all

STARTS = 2
"""Starts in a row that may fail before a device is given up."""

_Key = tuple[str, int]
"""A backend's name and its device's number."""


def _key_of(case: Case) -> _Key:
    return case.backend, case.device


class Pool:
    """The live worker of each backend's device. A context manager: none outlives it.

    ``shared`` is the folder of sources and answers.
    """

    def __init__(self, plan: RunPlan, shared: str) -> None:
        self._plan, self._shared = plan, shared
        self._live: dict[_Key, Worker] = {}
        self._round: dict[_Key, int] = {}
        self._given_up: dict[_Key, str] = {}
        # While they were prepared.
        self._failed: dict[Case, Record] = {}

    def prepare(self, trials: Sequence[Trial]) -> None:
        """Starts the workers of a problem's trials and has them make sources and compile, all at once:
        nothing is measured meanwhile. What fails here fails again, and is reported, when it is measured.
        """
        cases, primary_only = [trial.case for trial in trials], trials[0].is_primary_only
        of_key = {key: list(group) for key, group in groupby(sorted(cases, key=_key_of), key=_key_of)}
        if len(of_key) == 1:
            return
        self._open(of_key)
        for at_a_time in zip_longest(*of_key.values()):
            asked = [case for case in at_a_time if case and _key_of(case) in self._live]
            for case in asked:
                request = {"prepare": True, "primary_only": primary_only, "case": case.to_json()}
                self._live[_key_of(case)].tell(request)
            for case in asked:
                record = self._answered(case)
                if _key_of(case) not in self._live:
                    # It ended its worker, and would end the next one too.
                    self._failed[case] = record

    def measure(self, trial: Trial, share: Share) -> Record:
        """The record of a trial."""
        case = trial.case
        if case in self._failed:
            return self._failed.pop(case)
        try:
            worker = self._worker(_key_of(case), trial.round)
        except WorkerFailed as error:
            return Record(case, "failed", str(error))
        worker.tell({"case": case.to_json(), "share": plain(share)})
        return self._answered(case)

    def _answered(self, case: Case) -> Record:
        """The answer of the worker that was asked for a case. A worker that does not answer, or must not go
        on, is ended.
        """
        key = _key_of(case)
        try:
            answer = self._live[key].answer(self._plan.suite.measure.limit_s)
            if answer["last"]:
                self._retire(key)
            return Record.from_json(answer["record"])
        except WorkerFailed as error:
            reason = str(error)
        except (KeyError, TypeError, ValueError) as error:
            reason = f"the worker's answer cannot be read: {error!r}"
        self._retire(key)
        return Record(case, "failed", reason)

    def _worker(self, key: _Key, number: int) -> Worker:
        """The worker of a device, whose context was in no round but the one of this number.

        Raises:
            WorkerFailed: if the device was given up.
        """
        if self._round.setdefault(key, number) != number:
            self._round[key] = number
            self._renew(key, number)
        self._open([key])
        if key in self._given_up:
            raise WorkerFailed(self._given_up[key])
        return self._live[key]

    def _renew(self, key: _Key, number: int) -> None:
        """Has the live worker open a fresh context, and at the same time all others that need one in this
        round: opening a context takes longer than measuring the empty kernel in it. A worker that cannot is
        ended; a fresh process takes its place.
        """
        renewed = {
            each: worker
            for each, worker in self._live.items()
            if each == key or (self._round[each] != number and self._plan.has_several(f"{each[0]}:{each[1]}"))
        }
        for worker in renewed.values():
            worker.tell({"renew": True})
        for each, worker in renewed.items():
            self._round[each] = number
            try:
                worker.wait_until_open()
            except WorkerFailed:
                self._retire(each)

    def _open(self, keys: Iterable[_Key]) -> None:
        """Starts a worker for each device that has none, all at the same time, and gives up the devices whose
        worker cannot be started.
        """
        reasons = {key: "" for key in keys if key not in self._live and key not in self._given_up}
        for _ in range(STARTS):
            failures = {key: self._failure(key, self._start) for key in reasons}
            failures |= {
                key: self._failure(key, self._wait) for key, failure in failures.items() if not failure
            }
            reasons = {key: failure for key, failure in failures.items() if failure}
        self._given_up |= reasons

    def _failure(self, key: _Key, step: Callable[[_Key], None]) -> str:
        """Why a step of a worker's start failed, of which nothing is left then; empty where it did not."""
        try:
            step(key)
        except WorkerFailed as error:
            self._retire(key)
            backend, device = key
            return f"{backend}:{device} cannot be started, tried {STARTS} times: {error}"
        return ""

    def _start(self, key: _Key) -> None:
        backend, device = key
        name = self._plan.classes.get(backend, backend)
        settings = self._plan.for_worker(self._shared, f"{backend}:{device}")
        self._live[key] = Worker(name, device, settings, self._plan.held)

    def _wait(self, key: _Key) -> None:
        self._live[key].wait_until_open()

    def _retire(self, key: _Key) -> None:
        worker = self._live.pop(key, None)
        if worker:
            worker.kill()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            finish_all(self._live.values())
        else:
            for worker in self._live.values():
                worker.kill()

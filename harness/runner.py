"""Runs cases in worker processes, one busy at a time, and writes a record for each, whatever happens.

A worker that crashes, hangs or loses its device costs the case it was at: that is recorded as failed with the
reason, and a fresh worker takes the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.problems import Laplace
from harness.records import Case, Record
from harness.runs import RunWriter
from harness.workers import Worker, WorkerFailed

STARTS = 2
"""Starts in a row that may fail before a device is given up."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is measured.

    seed: of the random sources. samples, case_seconds: the most a clock's samples and a case's timing may be.
    limit_s: seconds after which a case without an answer is ended; start_limit_s: the same for a worker's
    start. image: the photograph for Laplace problems. classes: ``module:Class`` of backends that are not in
    the registry, by name.
    """

    seed: int = 1
    samples: int = 15
    case_seconds: float = 2.0
    limit_s: float = 60.0
    start_limit_s: float = 120.0
    image: Path | None = None
    classes: Mapping[str, str] = field(default_factory=dict)

    def for_worker(self) -> dict[str, Any]:
        """What a worker needs of it, as plain data (:class:`harness.measure.Options`)."""
        image = str(self.image.resolve()) if self.image else None
        return {"seed": self.seed, "samples": self.samples, "case_seconds": self.case_seconds, "image": image}


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is, told between two measurements.

    ``done`` of ``total`` cases have a record; ``last`` is the latest (None before the first), ``next`` the
    case that comes now (None at the end).
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
) -> None:
    """Measures the cases in their order and writes a record for each as soon as it is there.

    Every backend's device has a live worker, so that cases of one problem follow each other on all of them,
    but only one worker is busy at a time. Ctrl-C ends the workers; what was measured is in the file.

    Args:
        cases: what to measure; every backend of a problem beside the others.
        writer: where the records go.
        options: see there.
        progress: called between measurements only, and once at the end.
        skipped: cases that are not to be measured, with the skip reason that is recorded.
    """
    reasons = skipped or {}
    with _Workers(options) as workers:
        last: Record | None = None
        for done, case in enumerate(cases):
            progress(Progress(done, len(cases), last, case))
            if case in reasons:
                last = Record(case, "skipped", reasons[case])
            else:
                last, images = workers.measure(case)
                for image in images:
                    writer.write_image(image)
            writer.write(last)
        progress(Progress(len(cases), len(cases), last, None))


class _Workers:
    """The live worker of each backend's device. A context manager: none outlives it."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._live: dict[tuple[str, int], Worker] = {}
        self._given_up: dict[tuple[str, int], str] = {}
        self._pictured: set[str] = set()

    def measure(self, case: Case) -> tuple[Record, list[dict[str, Any]]]:
        """The record of a case and the pictures that came with it."""
        key = case.backend, case.device
        try:
            worker = self._live.get(key) or self._start(key)
            answer = worker.ask(
                {"case": case.to_json(), "crop": self._wants_crop(case)}, self._options.limit_s
            )
            if answer["last"]:
                self._retire(key)
            return Record.from_json(answer["record"]), self._pictures(case, answer["crops"])
        except WorkerFailed as error:
            self._retire(key)
            return Record(case, "failed", str(error)), []
        except (KeyError, TypeError, ValueError) as error:
            self._retire(key)
            return Record(case, "failed", f"the worker's answer cannot be read: {error!r}"), []

    def _start(self, key: tuple[str, int]) -> Worker:
        if key in self._given_up:
            raise WorkerFailed(self._given_up[key])
        backend, device = key
        name = self._options.classes.get(backend, backend)
        for _ in range(STARTS):
            try:
                worker = Worker(name, device, self._options.for_worker(), self._options.start_limit_s)
            except WorkerFailed as error:
                reason = f"{backend}:{device} cannot be started, tried {STARTS} times: {error}"
            else:
                self._live[key] = worker
                return worker
        self._given_up[key] = reason
        raise WorkerFailed(reason)

    def _retire(self, key: tuple[str, int]) -> None:
        worker = self._live.pop(key, None)
        if worker:
            worker.kill()

    def _wants_crop(self, case: Case) -> bool:
        """One picture of each output of the filter is enough."""
        return isinstance(case.problem, Laplace) and case.problem.output not in self._pictured

    def _pictures(self, case: Case, crops: Mapping[str, str]) -> list[dict[str, Any]]:
        fresh = {title: png for title, png in crops.items() if title not in self._pictured}
        self._pictured.update(fresh)
        device = f"{case.backend}:{case.device}"
        about = {"backend": case.backend, "device": device, "caption": case.problem.label}
        return [{"title": title, **about, "png": png} for title, png in fresh.items()]

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for worker in self._live.values():
            if kind is None:
                worker.finish()
            else:
                worker.kill()

"""What a person asks for of a run, and what the run is going to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from harness.devices import DeviceInfo
from harness.measure.budget import Share, every_clock, primary_clock
from harness.measure.photograph import image_size
from harness.problems import Empty
from harness.results.ratio import BAND
from harness.results.record import Case
from harness.results.schema import check_request
from harness.runner.schedule import contexts_of
from harness.suites.adhoc import Problems, adhoc_suite
from harness.suites.schema import Suite

LAUNCH_SAMPLES = 3
"""Samples of the empty kernel in a context: every other time there is corrected by it, so none may be bad."""
BUDGET_SAMPLES = 100
"""The most samples of a clock where a budget of time is given: the time is to end it, not their number."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asks for; a run file keeps it, so that the run can be resumed.

    ``samples``, ``processes`` and ``contexts`` None mean the suite's number; ``budget`` is seconds for the
    whole run; empty ``backends`` and ``devices`` mean all. ``text`` is the suite's where it has no file.
    ``band``: the equivalence band of the verdicts that further contexts and processes are to settle.

    Raises:
        ValueError: if no run file may hold it; names every mistake.
    """

    suite: str = "quick"
    backends: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    image: str | None = None
    samples: int | None = None
    seed: int = 1
    processes: int | None = None
    contexts: int | None = None
    budget: float | None = None
    text: str | None = None
    band: float = BAND

    def __post_init__(self) -> None:
        check_request({**asdict(self), "backends": list(self.backends), "devices": list(self.devices)})

    @property
    def photograph(self) -> Path | None:
        """The file for Laplace problems; None means the default one."""
        return Path(self.image) if self.image else None

    def of_problems(self, problems: Problems) -> Self:
        """The request with these problems in place of its suite.

        Raises:
            ValueError: if they are not valid, or the image is no photograph.
        """
        name, text = adhoc_suite(problems, image_size(self.photograph) if self.photograph else None)
        return replace(self, suite=name, text=text)

    def applied_to(self, suite: Suite) -> Suite:
        """The suite, measured in the samples, processes and contexts that are asked for."""
        most = max(suite.measure.samples, BUDGET_SAMPLES) if self.budget else None
        asked = {
            "samples": self.samples or most,
            "processes": self.processes,
            "gpu_processes": self.processes,
            # Who says how many means no more than these.
            "further_processes": None if self.processes is None else 0,
            "gpu_contexts": self.contexts,
        }
        told = {name: value for name, value in asked.items() if value is not None}
        measure = suite.measure.model_copy(update=told)
        return suite.model_copy(update={"measure": measure})


@dataclass(frozen=True)
class RunPlan:
    """What a run is going to do, before anything is measured.

    ``suite`` is measured as its own :class:`harness.suites.schema.Measure` says, in which is what the request
    asks for; ``text`` is the suite's as it was read. ``cases`` are all, in order; ``skipped`` those that do
    not run, and why. ``contexts``: how many a process has of a device, by its key, one after the other; one
    where not given. ``devices`` are all that were found; ``missing`` is why a backend is not available, by
    its name; ``notes`` are for the person who asked. ``classes``: ``module:Class`` of backends that are not
    in the registry, by name. ``held``: open files that the workers keep open
    (:func:`harness.runner.device_lock.locked`).
    """

    request: Request
    suite: Suite
    cases: Sequence[Case]
    skipped: Mapping[Case, str] = field(default_factory=dict)
    contexts: Mapping[str, int] = field(default_factory=dict)
    text: str = ""
    devices: Sequence[DeviceInfo] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    classes: Mapping[str, str] = field(default_factory=dict)
    held: tuple[int, ...] = ()

    @property
    def launch_contexts(self) -> int:
        """After each of several contexts so many more, in which only the empty kernel is measured."""
        measure = self.suite.measure
        return measure.gpu_launch_contexts if self.contexts and measure.controls else 0

    @property
    def promised(self) -> int:
        """Fresh processes in which every case is measured, whatever verdicts there are."""
        measure = self.suite.measure
        most = measure.gpu_processes if self.contexts else 0
        return min(measure.processes, most or measure.processes)

    @property
    def processes(self) -> int:
        """Fresh processes at most: those promised, and those for what is not settled then."""
        return self.promised + (0 if self.contexts else self.suite.measure.further_processes)

    def for_worker(self, shared: str | None = None, key: str = "") -> dict[str, Any]:
        """What a worker, on the device of that key, needs of it, as plain data
        (:class:`harness.measure.measurer.Measurer`).
        """
        photograph = self.request.photograph
        return {
            "shifts": self.has_several(key),
            "seed": self.request.seed,
            "image": str(photograph.resolve()) if photograph else None,
            "shared": shared,
        }

    def has_several(self, key: str) -> bool:
        """Whether the device of that key has several contexts in a process: one in each round."""
        return self.contexts.get(key, 1) > 1

    def share(self, case: Case, primary_only: bool, seconds: float | None = None) -> Share:
        """What one trial of a case may take; a primary-only one shares it with all contexts.

        ``seconds``: of timing, in place of the suite's.
        """
        measure = self.suite.measure
        if primary_only and isinstance(case.problem, Empty):
            return primary_clock(LAUNCH_SAMPLES, seconds or measure.case_seconds / measure.processes)
        rounds = measure.processes * (contexts_of(case, self.contexts) if primary_only else 1)
        samples, seconds = -(-measure.samples // rounds), seconds or measure.case_seconds / rounds
        if primary_only:
            return primary_clock(samples, seconds)
        return every_clock(samples, seconds, measure.samples)

"""Measures one case after the other on an open backend: prepare, verify, time, verify.

This is all of a measurement that happens in one process; :mod:`harness.worker` puts a process around it.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backends.base import Backend, Prepared
from backends.devices import DeviceArray, KernelTimes, Launch
from backends.errors import BackendError, BuildError, DeviceLost, Unsupported
from harness import bias, clocks, ledgers
from harness.clocks import Budget, Timer
from harness.problems import Array, Laplace, Problem, Reduction, Verification
from harness.problems.base import compare
from harness.records import Case, Clock, Record
from harness.shared import Shared

CACHES_PASSED = 4
"""A cold case's sources together are this many times the last-level cache."""
ASSUMED_CACHE_BYTES = 64 * 2**20
"""Last-level cache of a device that does not tell."""
MAX_SOURCES = 1024
MEMORY_SHARE = 0.25
"""The part of the device's memory that sources may take; results may need as much again."""
KEPT_SHARE = 1 / 32
"""The part of the device's memory that sources may keep between cases: other workers need it too."""
_LOG_LINES = 4


@dataclass(frozen=True, slots=True)
class Options:
    """How a case is measured.

    seed: of its random source. samples: the most a clock takes. case_seconds: for all clocks together. image:
    the photograph that Laplace problems take; the default one when None. shared: the folder of sources and
    answers that the workers of a run share; each makes its own when None.
    """

    seed: int = 1
    samples: int = 15
    case_seconds: float = 2.0
    image: Path | None = None
    shared: Path | None = None


@dataclass(frozen=True, slots=True)
class HostData:
    """A problem's source as made and as packed, and the answer expected, within a tolerance."""

    source: Array
    packed: Array
    expected: Any
    tolerance: float


@dataclass(slots=True)
class Source:
    """What problems of one ``key`` work on: as made, as packed, and the copies ``uploaded`` so far."""

    key: Hashable
    array: Array
    packed: Array
    uploaded: tuple[DeviceArray, ...] = ()


class WrongAnswer(Exception):
    """A result that differs from the reference; the message says when and where."""

    def __init__(self, verification: Verification, when: str) -> None:
        super().__init__(f"{when}: {verification.message}")
        self.verification = verification


@dataclass(frozen=True, slots=True)
class Ready:
    """A case prepared on the device, its ``sources`` uploaded."""

    prepared: Prepared
    data: HostData
    sources: tuple[DeviceArray, ...]

    def verify(self, when: str) -> Verification:
        """Poisons the results, calls once on every source and compares the last answer with the reference.

        Raises:
            WrongAnswer: if it differs; the message begins with ``when``.
        """
        self.prepared.poison()
        for i in range(len(self.sources)):
            self.prepared.enqueue(i)
        verification = compare(self.prepared.result(), self.data.expected, self.data.tolerance)
        if not verification.ok:
            raise WrongAnswer(verification, when)
        return verification


class Measurer:
    """Measures cases on one open backend.

    Keeps the last source, here and on the device, and the last problem's answer, as making and moving them is
    slow and the cases that share them follow each other; and the launch costs measured so far.
    """

    def __init__(self, backend: Backend, options: Options, timer: Timer = time.perf_counter) -> None:
        self.backend, self.options, self._timer = backend, options, timer
        self._shared = Shared(options.shared) if options.shared else None
        self._source: Source | None = None
        self._data: tuple[Problem, HostData] | None = None
        self._launch: dict[tuple[Launch, ...], dict[str, Clock]] = {}

    def measure(self, case: Case, lean: bool = False) -> Record:
        """The record of a case: a wrong answer is not timed; what the backend could not do has its reason.

        Args:
            case: what to measure.
            lean: take the primary clock and its launch cost, and leave out the other clocks.

        Raises:
            DeviceLost: when only a new process helps. Any error that is no BackendError passes too: nobody
                knows in what state it left the device.
        """
        reason = self.backend.unsupported(case.problem, case.variant)
        if reason:
            return Record(case, "skipped", reason)
        try:
            return self._measured(case, lean)
        except WrongAnswer as wrong:
            return Record(case, "wrong", str(wrong), wrong.verification.error, wrong.verification.tolerance)
        except Unsupported as error:
            return Record(case, "skipped", str(error))
        except DeviceLost:
            raise
        except BackendError as error:
            return Record(case, "failed", reason_of(error))

    def _measured(self, case: Case, lean: bool) -> Record:
        with self.ready(case) as ready:
            ready.verify("before timing")
            start = self._timer()
            measured, profiled = self._clocks(case, ready.prepared, lean)
            seconds = self._timer() - start
            found = ready.verify("after timing")
            ledger = self._ledger(case, ready) | ledgers.profile(measured, profiled)
            ledger["timing_seconds"] = seconds
        return Record(case, "ok", "", found.error, found.tolerance, measured, ledger)

    @contextmanager
    def ready(self, case: Case) -> Iterator[Ready]:
        """The case prepared, with as many sources as its cache state asks for.

        Raises:
            BackendError: what uploading and preparing raise.
        """
        data, sources = self.data(case.problem), self._uploaded(case)
        try:
            with self.backend.prepare(case.problem, case.variant, sources) as prepared:
                yield Ready(prepared, data, sources)
        finally:
            if sum(source.nbytes for source in sources) > KEPT_SHARE * self.backend.device.memory_bytes:
                self._source_of(case.problem).uploaded = ()

    def data(self, problem: Problem) -> HostData:
        """The source of a problem and its reference."""
        if self._data is None or self._data[0] != problem:
            self._data = problem, self._make_data(problem)
        return self._data[1]

    def answer(self, case: Case) -> Any:
        """What the case's backend answers: one call, not timed."""
        with self.backend.prepare(case.problem, case.variant, self._uploaded(case)) as prepared:
            prepared.enqueue(0)
            return prepared.result()

    def _clocks(
        self, case: Case, prepared: Prepared, lean: bool
    ) -> tuple[dict[str, Clock], KernelTimes | None]:
        """Every clock that the backend has, or is wanted, and what its profiler saw beside the time."""
        # Half of a case's time is the primary clock's.
        budget = Budget(self.options.samples, self.options.case_seconds / 2)
        other = replace(budget, seconds=budget.seconds / 2)
        found: dict[str, Clock | None] = {
            "queue": clocks.queue_seconds(self.backend, prepared, budget, self._timer),
            **self._launch_clocks(prepared.launches, other, lean),
        }
        if lean:
            return {name: clock for name, clock in found.items() if clock is not None}, None
        found["event"] = clocks.event_seconds(prepared, other, self._timer)
        if case.role == "compare":
            # Of a limit the transfer of its answer is of no interest, and for a copy it is long.
            found["round_trip"] = clocks.round_trip_seconds(self.backend, prepared, other, self._timer)
        # Last, as no other clock must run in the profiler's wake.
        found["kernel"], profiled = bias.kernel_seconds(prepared, found["queue"], other)
        return {name: clock for name, clock in found.items() if clock is not None}, profiled

    def _launch_clocks(self, launches: tuple[Launch, ...], budget: Budget, lean: bool) -> dict[str, Clock]:
        geometry = tuple(Launch("empty", launch.num_groups, launch.group_size) for launch in launches)
        if geometry not in self._launch:
            self._launch[geometry] = bias.launch_clocks(self.backend, geometry, budget, self._timer, lean)
        return self._launch[geometry]

    def _ledger(self, case: Case, ready: Ready) -> dict[str, Any]:
        return {
            **ledgers.prepared(case.problem, ready.prepared, self._cold_note(case, len(ready.sources))),
            "sources": len(ready.sources),
            "verified_after": True,
        }

    def _make_data(self, problem: Problem) -> HostData:
        source = self._source_of(problem)
        expected, tolerance = self._answer(problem, source.array)
        return HostData(source.array, source.packed, expected, tolerance)

    def _source_of(self, problem: Problem) -> Source:
        if self._source is None or self._source.key != problem.source_key:
            # The old one goes first: two at a time may not fit.
            self._source = self._data = None
            array = self._source_array(problem)
            self._source = Source(problem.source_key, array, problem.pack(array))
        return self._source

    def _uploaded(self, case: Case) -> tuple[DeviceArray, ...]:
        """The sources of a case on the device; kernels leave them as they are, so cases can share them."""
        source, wanted = self._source_of(case.problem), self._count(case)
        source.uploaded = source.uploaded[:wanted]
        while len(source.uploaded) < wanted:
            source.uploaded += (self.backend.upload(source.packed),)
        return source.uploaded

    def _answer(self, problem: Problem, source: Array) -> tuple[Any, float]:
        """The reference and the tolerance; once in a run, as they are slow and every worker needs them."""

        def computed() -> tuple[Any, float]:
            return problem.reference(source), problem.tolerance(source)

        if self._shared is None or not isinstance(problem, (Reduction, Laplace)):
            return computed()
        found: tuple[Any, float] = self._shared.answer(problem, computed)
        return found

    def _source_array(self, problem: Problem) -> Array:
        def made() -> Array:
            if isinstance(problem, Laplace):
                from harness.images import source_image

                return source_image(problem, self.options.image)
            return problem.make_source(self.options.seed)

        return self._shared.source(problem.source_key, made) if self._shared else made()

    def _count(self, case: Case) -> int:
        """Sources that the calls rotate over: one if hot, else enough to pass the cache if memory allows."""
        if case.cache == "hot":
            return 1
        nbytes = self.data(case.problem).packed.nbytes
        device = self.backend.device
        wanted = -(-CACHES_PASSED * (device.cache_bytes or ASSUMED_CACHE_BYTES) // nbytes)
        fitting = int(MEMORY_SHARE * device.memory_bytes) // nbytes if device.memory_bytes else MAX_SOURCES
        return max(2, min(wanted, fitting, MAX_SOURCES))

    def _cold_note(self, case: Case, sources: int) -> str:
        if case.cache == "hot":
            return ""
        covered = sources * self.data(case.problem).packed.nbytes
        cache = self.backend.device.cache_bytes
        if not cache:
            return f"cold: the device does not tell its cache; {covered / 1e6:.0f} MB of sources"
        passed = covered / cache
        return "" if passed >= CACHES_PASSED else f"cold: the sources are only {passed:.2g} times the cache"


def reason_of(error: BaseException) -> str:
    """The class and message of an error, of a compiler's log its beginning only, of the source nothing."""
    if isinstance(error, BuildError):
        log = error.log.strip().splitlines()[:_LOG_LINES]
        return "\n".join([f"BuildError: {error.args[0]}", *log])
    return f"{type(error).__name__}: {error}"

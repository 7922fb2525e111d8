"""Measures one case after the other on an open backend: prepare, verify, time, verify.

This is all of a measurement that happens in one process; :mod:`harness.runner.worker_main` puts a process
around it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from backends.base import Backend, HostMemory, Prepared
from backends.errors import BackendError, BuildError, DeviceLost, Unsupported
from harness.devices import DeviceArray, KernelTimes, Launch
from harness.measure import clocks, empty_kernel, placement, provenance
from harness.measure.budget import WARM_UP, Budget, Share, is_primary_only
from harness.measure.clocks import Timer
from harness.measure.inputs import KEPT_SHARE, HostData, Inputs, Unlike
from harness.measure.rotation import Rotation
from harness.problems import Empty, Reduction, Verification
from harness.problems.comparison import compare
from harness.results.record import Case, Record, Samples
from harness.variants.axes import LibraryVariant

_LOG_LINES = 4


_Expected = TypeVar("_Expected", HostData, Unlike)


def _tolerated(case: Case, expected: _Expected) -> _Expected:
    """What is expected of a case, in the type that a library adds in and with its tolerance."""
    problem, variant = case.problem, case.variant
    is_narrow = isinstance(variant, LibraryVariant) and variant.accumulator == "element"
    if not (is_narrow and isinstance(problem, Reduction)):
        return expected
    answer, tolerance = problem.narrower(expected.expected, expected.tolerance)
    return replace(expected, expected=answer, tolerance=tolerance)


class WrongAnswer(Exception):
    """A result that differs from the reference; the message says when and where."""

    def __init__(self, verification: Verification, when: str) -> None:
        super().__init__(f"{when}: {verification.message}")
        self.verification = verification


@dataclass(frozen=True, slots=True)
class Ready:
    """A case prepared on the device, on its ``sources`` and, after these, on the one ``unlike`` them. Answers
    that are compared are fetched into ``memory``.
    """

    prepared: Prepared
    data: HostData
    sources: tuple[DeviceArray, ...]
    unlike: Unlike | None
    memory: HostMemory

    def verify(self, when: str) -> Verification:
        """Poisons the results, calls once on every source and compares the last answer with the reference.

        Raises:
            WrongAnswer: if it differs; the message begins with ``when``.
        """
        self.prepared.poison()
        for i in range(len(self.sources)):
            self.prepared.enqueue(i)
        return self._compared(self.data, when)

    def verify_as_left(self) -> None:
        """Compares answers of calls that find what the timed calls left: nothing is restored before.

        First the answer that timing itself left; then, where there is a source with another answer, those of
        calls on it until each place of an answer has been written twice, and one on a source as before.

        Raises:
            WrongAnswer: if one differs.
        """
        self._compared(self.data, "as timing left it")
        if self.unlike is None:
            return
        for call in range(self.prepared.answers + 1):
            self.prepared.enqueue(len(self.sources))
            self._compared(self.unlike, f"after timing, in call {call + 1} on another source")
        self.prepared.enqueue(0)
        self._compared(self.data, "after calls on another source")

    def _compared(self, expected: HostData | Unlike, when: str) -> Verification:
        verification = compare(self.prepared.result(self.memory), expected.expected, expected.tolerance)
        if not verification.ok:
            raise WrongAnswer(verification, when)
        return verification


class Measurer:
    """Measures cases on one open backend.

    Keeps its ``inputs`` from one case to the next, and the launch costs measured so far.

    seed: of the random sources. image: the photograph that Laplace problems take; the default one when None.
    shared: the folder of sources and answers that the workers of a run share; each makes its own when None.
    shifts: whether sources lie elsewhere in each context (:mod:`harness.measure.placement`).
    """

    def __init__(
        self,
        backend: Backend,
        timer: Timer = time.perf_counter,
        *,
        seed: int = 1,
        image: Path | None = None,
        shared: Path | None = None,
        shifts: bool = False,
    ) -> None:
        self.backend, self._timer = backend, timer
        # Allocated first, and of a random size, so that no two contexts are alike.
        self._padding = placement.padding(backend, np.random.default_rng()) if shifts else None
        self.inputs = Inputs(backend, seed, image, shared)
        self._launch: dict[tuple[tuple[Launch, ...], bool], dict[str, Samples]] = {}
        self._memory = HostMemory()
        self._is_warm = False

    def measure(self, case: Case, share: Share) -> Record:
        """The record of a case: a wrong answer is not timed; what the backend could not do has its reason.

        Raises:
            DeviceLost: when only a new process helps. Any error that is no BackendError passes too: nobody
                knows in what state it left the device.
        """
        reason = self.backend.unsupported(case.problem, case.variant)
        if reason:
            return Record(case, "skipped", reason)
        try:
            return self._measured(case, share)
        except WrongAnswer as wrong:
            return Record(case, "wrong", str(wrong), wrong.verification.error, wrong.verification.tolerance)
        except Unsupported as error:
            return Record(case, "skipped", str(error))
        except DeviceLost:
            raise
        except BackendError as error:
            return Record(case, "failed", reason_of(error))

    def prepare(self, case: Case, primary_only: bool = False) -> None:
        """Does what a case needs done once: its source and answer, and all that is compiled for it.

        Of one source, for a cold case too, and of none so large that it may not stay: other workers prepare
        for the same problem at this moment, on the same device. What a backend cannot do, the measurement
        tells. primary_only: of what is to be measured then, which needs no source with another answer.

        Raises:
            DeviceLost, or what is no BackendError: see :meth:`measure`.
        """
        most = KEPT_SHARE * self.backend.device.memory_bytes
        if self.backend.unsupported(case.problem, case.variant) or case.problem.source_bytes > most:
            return
        hot = replace(case, cache="hot")
        with _left_to_the_measurement(), self.ready(hot, beside_unlike=not primary_only) as ready:
            ready.prepared.enqueue(0)
            self.backend.synchronize()

    def compile(self, case: Case) -> None:
        """Compiles what a case needs, into the caches that other processes read, too. What a backend cannot
        do, the measurement tells.

        Raises:
            DeviceLost, or what is no BackendError: see :meth:`measure`.
        """
        with _left_to_the_measurement():
            self.backend.compile(case.problem, case.variant)

    def _measured(self, case: Case, share: Share) -> Record:
        primary_only = is_primary_only(share)
        with self.ready(case, beside_unlike=not primary_only) as ready:
            if primary_only:
                # Memory that a call is the first to write is still to be mapped: that is no part of its time.
                ready.prepared.poison()
            else:
                # The first trial verifies before it spends time on timing; brief and later ones once, after.
                ready.verify("before timing")
            start = self._timer()
            measured, profiled = self._clocks(case, Rotation(ready.prepared, len(ready.sources)), share)
            seconds = self._timer() - start
            if isinstance(case.problem, Reduction):
                # Other problems leave nothing to the next call, and comparing a whole image takes long.
                ready.verify_as_left()
            found = ready.verify("after timing")
            # What was timed is the same in each trial: the first tells it.
            told = {} if primary_only else self._told(case, ready) | provenance.profile(measured, profiled)
            is_held = clocks.HOST_BOUND not in measured["queue"].note
            if self._padding:
                told["padding_bytes"] = self._padding.nbytes
            told |= {"timing_seconds": seconds, "gate": self.backend.gate_kind if is_held else ""}
        return Record(case, "ok", "", found.error, found.tolerance, measured, told)

    @contextmanager
    def ready(self, case: Case, beside_unlike: bool = False) -> Iterator[Ready]:
        """The case prepared, with as many sources as its cache state asks for, and on the one unlike them.

        Raises:
            BackendError: what uploading and preparing raise.
        """
        data, sources = self.inputs.data(case.problem), self.inputs.uploaded(case)
        unlike = self.inputs.unlike(case.problem) if beside_unlike else None
        every = (*sources, unlike.uploaded) if unlike else sources
        try:
            with self.backend.prepare(case.problem, case.variant, every) as prepared:
                other = unlike and _tolerated(case, unlike)
                yield Ready(prepared, _tolerated(case, data), sources, other, self._memory)
        finally:
            self.inputs.thin_out()

    def _clocks(
        self, case: Case, rotation: Rotation, share: Share
    ) -> tuple[dict[str, Samples], KernelTimes | None]:
        """Every clock that the backend has, or is wanted, and what its profiler saw beside the time."""
        if not self._is_warm:
            # What is first in a fresh context finds the device idle.
            share = {name: replace(budget, warm_up=WARM_UP) for name, budget in share.items()}
        self._is_warm, primary_only = True, is_primary_only(share)
        found: dict[str, Samples | None] = {
            "queue": clocks.queue_seconds(self.backend, rotation, share["queue"], self._timer),
        }
        if not (primary_only and isinstance(case.problem, Empty)):
            # For the empty kernel this would be the same measurement again.
            found |= self._launch_clocks(rotation.launches, share["launch"], primary_only)
        if primary_only:
            return {name: clock for name, clock in found.items() if clock is not None}, None
        found["event"] = clocks.event_seconds(rotation, share["event"], self._timer)
        if case.role == "compare":
            # For a limit the transfer of the answer does not matter, and for a copy it takes long.
            found["round_trip"] = clocks.round_trip_seconds(
                self.backend, rotation, share["round_trip"], self._timer
            )
        # Last, as the profiler may slow down what runs after it.
        found["kernel"], profiled = empty_kernel.kernel_seconds(rotation, found["queue"], share["kernel"])
        return {name: clock for name, clock in found.items() if clock is not None}, profiled

    def _launch_clocks(
        self, launches: tuple[Launch, ...], budget: Budget, primary_only: bool
    ) -> dict[str, Samples]:
        geometry = tuple(Launch("empty", launch.num_groups, launch.group_size) for launch in launches)
        # One that took the primary clock alone has not the others.
        key = geometry, primary_only
        if key not in self._launch:
            self._launch[key] = empty_kernel.launch_clocks(
                self.backend, geometry, budget, self._timer, primary_only
            )
        return self._launch[key]

    def _told(self, case: Case, ready: Ready) -> dict[str, Any]:
        return {
            **provenance.prepared(
                case.problem, ready.prepared, self.inputs.cold_note(case, len(ready.sources))
            ),
            "sources": len(ready.sources),
            "verified_after": True,
            "verified_on_another_source": ready.unlike is not None,
        }


@contextmanager
def _left_to_the_measurement() -> Iterator[None]:
    """Around what a measurement does once more: what a backend cannot do, that tells; a lost device cannot
    wait.
    """
    try:
        yield
    except DeviceLost:
        raise
    except BackendError:
        return


def reason_of(error: BaseException) -> str:
    """The class and message of an error, of a compiler's log its beginning only, of the source nothing."""
    if isinstance(error, BuildError):
        log = error.log.strip().splitlines()[:_LOG_LINES]
        return "\n".join([f"BuildError: {error.args[0]}", *log])
    return f"{type(error).__name__}: {error}"

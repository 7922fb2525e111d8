"""A complete backend without hardware: right answers from the reference, a device clock that is exact, faults
on demand.

The device works through its queue one call after the other, each as long as :class:`FakeClock` says; what
passes on the host is told the clock too. With a simulated clock nothing takes time; in a worker process the
clock is the real one. A fault is chosen by the reduction's op, in the environment: ``FAKE_FAULTS={"min":
"hang"}``; ``start`` is a fault of opening.
"""

# ruff: noqa: ARG003 - the interface passes more than a fake needs
from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from backends import errors
from backends.base import Backend, Gate, HostMemory, Prepared
from harness.devices import Array, DeviceArray, DeviceInfo, Launch
from harness.measure.rotation import Rotation
from harness.problems import Empty, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

ENVIRONMENT = "FAKE_FAULTS"
DIARY = "FAKE_DIARY"
"""Names a file that every opening, and every child process, is written to."""
EARLY = "early "
"""In front of a fault: of each call, not of its result."""
COMPILING = "compiling "
"""In front of a fault: of compiling alone."""
UNTIL = "until "
"""In front of the path of a file: a result is not fetched until it is there."""
SHORT_QUEUE = 128
"""Launches that the queue of a fake in a worker process holds."""
DEVICE = DeviceInfo(
    backend="fake", index=0, name="fake", platform="fake", vendor="fake", driver="1", kind="gpu",
    compute_units=4, memory_bytes=2**30, max_allocation_bytes=2**28, local_memory_bytes=2**15,
    max_group_size=1024, cache_bytes=2**12, sub_group_width=32, float64=True, physical="0000:00:00.0",
)  # fmt: skip


@dataclass
class FakeClock:
    """Seconds: a call on the device, an empty call, an enqueue on the host, and what every batch costs
    once."""

    call: float = 20e-6
    empty: float = 1e-6
    enqueue: float = 0.0
    fixed: float = 30e-6
    simulated: bool = True
    now: float = 0.0
    jitter: list[float] = field(default_factory=list)
    """Added to the fixed costs of the next batches, one each."""

    def time(self) -> float:
        """The host's clock."""
        return self.now if self.simulated else time.perf_counter()

    def wait(self, until: float) -> None:
        """The host sleeps until a moment."""
        if self.simulated:
            self.now = max(self.now, until)
        # Asleep, so that other tests have the core.
        while (left := until - self.time()) > 0:
            time.sleep(left)


class FakeBackend(Backend):
    """See the module."""

    name: ClassVar[str] = "fake"
    device = DEVICE

    def __init__(
        self,
        clock: FakeClock,
        gated: bool = True,
        launches: int = 1,
        synchronous: bool = False,
        fitting: int = Backend.max_gated_launches,
    ) -> None:
        self.clock, self.gated, self.launches = clock, gated, launches
        # A device's queue may be shorter than assumed: enqueueing one more then waits for the gate to open.
        self.fitting = fitting
        # A synchronous library waits for the device in each call, and so for the gate.
        self.synchronous = synchronous
        self.gates = 0
        self.lost = False
        self.batches: list[int] = []
        self.order: list[int] = []
        self._waiting = 0
        self._closed = False
        self._opens_at = 0.0
        self._behind_gate = 0.0
        self._idle_at = 0.0

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [DEVICE]

    @classmethod
    def forget(cls) -> None:
        _note("forgotten")
        if "keeps context" in json.loads(os.environ.get(ENVIRONMENT, "{}")):
            raise errors.BackendError("something holds the context")

    @classmethod
    def open(cls, index: int) -> Self:
        _note("opened")
        fault = json.loads(os.environ.get(ENVIRONMENT, "{}")).get("start")
        if fault:
            _fail(fault)
        opened = cls(FakeClock(simulated=False))
        # Nobody reads these times: the batches of a short queue take less of the real clock.
        opened.max_gated_launches = SHORT_QUEUE
        return opened

    def unsupported(self, problem: Problem, variant: Variant) -> str | None:
        return "the fake cannot" if fault_of(problem) == "unsupported" else None

    def default_variant(self, problem: Problem) -> Variant:
        return LibraryVariant()

    def upload(self, host: Array) -> DeviceArray:
        if self.lost:
            raise errors.OutOfDeviceMemory("a lost device refuses everything")
        return DeviceArray(host.copy(), host.dtype, host.shape)

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> FakePrepared:
        if fault_of(problem) == "BuildError":
            raise errors.BuildError(
                "the kernel does not compile", "int x\n" * 99, "error: expected ';'\n" + "more\n" * 99
            )
        return FakePrepared(self, problem, sources)

    def _compile(self, problem: Problem, variant: Variant) -> None:
        _note(f"compiled {getattr(problem, 'op', problem.kind)}")
        fault = fault_of(problem) or ""
        if fault == "BuildError":
            raise errors.BuildError("the kernel does not compile", "int x\n", "error: expected ';'\n")
        if fault.startswith(COMPILING):
            _fail(fault.removeprefix(COMPILING))

    def gate(self, prepared: Prepared, seconds: float) -> Gate | None:
        if not self.gated:
            return None
        assert not self._waiting, "a gate was closed on work that has not ended"
        assert not self._closed, "a gate was closed behind another"
        self._closed = True
        self._opens_at = self.clock.time() + seconds
        self.gates += 1
        return Gate(submit=self._submit, open=self._open)

    def synchronize(self) -> None:
        assert not self._closed, "deadlock: waiting for work behind a closed gate"
        extra = self.clock.jitter.pop(0) if self._waiting and self.clock.jitter else 0.0
        self.clock.wait(self._idle_at + (self.clock.fixed + extra) * bool(self._waiting))
        if self._waiting:
            self.batches.append(self._waiting)
        self._waiting = 0

    def _close(self) -> None:
        self._closed = False

    def submit(self, seconds: float, source: int) -> None:
        """Enqueues one call."""
        self.order.append(source)
        self._waiting += 1
        if self._closed and (self.synchronous or self._waiting * self.launches > self.fitting):
            self.clock.wait(self._opens_at)
            self._open()
        full = self._waiting * self.launches > self.max_gated_launches
        assert not (self._closed and full), "deadlock: the queue behind the gate is full"
        self.clock.wait(self.clock.time() + self.clock.enqueue)
        self._behind_gate += seconds
        if not self._closed:
            self._start()

    def _submit(self) -> None:
        if self.clock.time() >= self._opens_at:
            raise errors.GateExpired("the gate opened before all was enqueued")
        self.clock.wait(self._opens_at)

    def _open(self) -> None:
        if self._closed:
            self._closed = False
            self._start()

    def _start(self) -> None:
        self._idle_at = max(self._idle_at, self.clock.time()) + self._behind_gate
        self._behind_gate = 0.0


class FakePrepared(Prepared):
    """Answers with the reference's answer for the last source, unless a fault says otherwise."""

    def __init__(self, backend: FakeBackend, problem: Problem, sources: Sequence[DeviceArray]) -> None:
        self.backend, self.problem, self.sources = backend, problem, sources
        self.launches = tuple(Launch("fake", (4,), (64,)) for _ in range(backend.launches))
        self.source_hash = "0" * 64
        self._answer: Any = None
        self._calls = 0
        self._before: dict[int, int] = {}

    def enqueue(self, i: int) -> None:
        fault = fault_of(self.problem) or ""
        if fault.startswith(EARLY):
            _fail(fault.removeprefix(EARLY))
        clock = self.backend.clock
        seconds = clock.empty if isinstance(self.problem, Empty) else clock.call
        self.backend.submit(seconds, i % len(self.sources))
        self._calls += 1
        if fault_of(self.problem) != "writes once" or self._calls == 1:
            self._answer = i
        if fault_of(self.problem) == "keeps the first" and self._calls > self.answers:
            # The place of the answer was not emptied: what stood there first is still in it.
            self._answer = self._before.setdefault(self._calls % self.answers, i)

    def result(self, into: HostMemory | None = None) -> Any:
        self.backend.synchronize()
        fault = fault_of(self.problem)
        self.backend.lost = fault == "DeviceLost"
        if fault and fault.startswith(UNTIL):
            while not Path(fault.removeprefix(UNTIL)).exists():
                time.sleep(0.02)
        if fault == "noise":
            os.write(1, b"a library prints\n")
            print("and so does Python")
        elif fault and (fault.startswith("hang") or fault in ("kill", "exit") or fault in FAULTS):
            _fail(fault)
        if self._answer is None or fault == "wrong" or (fault == "wrong later" and self._calls > 3):
            return np.int8(99)
        source = self.sources[self._answer % len(self.sources)].handle
        return self.problem.reference(
            self.problem.finish(source) if self.problem.kind == "laplace" else source
        )

    def poison(self) -> None:
        self._answer = None
        self._before.clear()

    def event_seconds(self, i: int) -> float | None:
        clock = self.backend.clock
        self.backend.order.append(i % len(self.sources))
        return clock.empty if isinstance(self.problem, Empty) else clock.call


def rotation_on(backend: FakeBackend, sources: int = 1, op: str = "min") -> Rotation:
    """Calls of a reduction on so many sources in turn."""
    problem = Reduction(op, "int32", (100,))
    source = backend.upload(problem.pack(problem.make_source(1)))
    return Rotation(FakePrepared(backend, problem, [source] * sources), sources)


FAULTS: dict[str, Any] = {
    "DeviceLost": partial(errors.DeviceLost, "an illegal address"),
    "OutOfDeviceMemory": partial(errors.OutOfDeviceMemory, "8 TB do not fit"),
    "BackendUnavailable": partial(errors.BackendUnavailable, "install the fake"),
    "ZeroDivisionError": partial(ZeroDivisionError, "nobody gave this a type"),
}


def fault_of(problem: Problem) -> str | None:
    """The fault that the environment asks of a problem."""
    faults: dict[str, str] = json.loads(os.environ.get(ENVIRONMENT, "{}"))
    return faults.get(getattr(problem, "op", ""))


def _note(line: str) -> None:
    if DIARY in os.environ:
        with Path(os.environ[DIARY]).open("a") as diary:
            diary.write(line + "\n")


def _fail(fault: str) -> NoReturn:
    if fault in ("hang with child", "hang natively with child"):
        _note(str(subprocess.Popen(["sleep", "3600"]).pid))
    if fault.startswith("hang natively"):
        # With the interpreter's lock held, as by a driver's function: no thread of Python's runs meanwhile.
        ctypes.PyDLL(None).sleep(3600)
    if fault.startswith("hang"):
        time.sleep(3600)
    if fault == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "exit":
        os.write(2, b"the driver says goodbye\n")
        os._exit(7)
    raise FAULTS[fault]()

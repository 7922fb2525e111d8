"""How OpenCL's queues are held back, with PoCL in the place of a device that runs the blocking kernel."""

from __future__ import annotations

import logging
import time
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from backends import available, open_backend
from backends.base import Gate
from backends.common.blocking_kernel import HEAD_START_NS
from backends.common.kernel_backend import OwnKernelBackend
from backends.opencl import gate as opencl_gate
from harness.variants.axes import LaunchVariant

if TYPE_CHECKING:
    import pyopencl as cl

    from backends.opencl.backend import OpenClBackend
else:
    cl = pytest.importorskip("pyopencl")
    from backends.opencl.backend import OpenClBackend

# The blocking kernel without PTX: it counts rounds where the original takes the time. A round is a chain of
# twelve operations that each need the one before, so that it lasts two nanoseconds or more on any processor.
ROUNDS = """
__kernel void blocking_kernel(const ulong nanoseconds) {
  ulong word = nanoseconds + 1;
  for (ulong round = 0; round < nanoseconds; round++) {
    for (int twice = 0; twice < 2; twice++) {
      word ^= word << 13;
      word ^= word >> 7;
      word ^= word << 17;
    }
  }
  volatile ulong kept = word;
}
"""
COUNT = "__kernel void count(__global uint *counter) { counter[0] += 1; }"


class Held:
    """A queue to hold back, and work for it."""

    def __init__(self, out_of_order: bool = False) -> None:
        device = next(
            device
            for platform in cl.get_platforms()
            for device in platform.get_devices()
            if device.type & cl.device_type.CPU
        )
        self.context = cl.Context([device])
        order = out_of_order * cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        self.queue = cl.CommandQueue(self.context, device, properties=order)  # type: ignore[arg-type]
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        self.counter = cl.Buffer(self.context, flags, hostbuf=np.zeros(1, np.uint32))
        self.kernel = cl.Kernel(cl.Program(self.context, COUNT).build(), "count")

    def count(self) -> None:
        self.kernel.set_args(self.counter)
        cl.enqueue_nd_range_kernel(self.queue, self.kernel, (1,), (1,))

    def counted(self) -> int:
        host = np.empty(1, np.uint32)
        cl.enqueue_copy(cl.CommandQueue(self.context), host, self.counter)
        return int(host[0])


def test_an_event_clock_spans_every_launch_of_a_call() -> None:
    """From the start of the first launch to the end of the last, whatever lies between."""
    launches = [
        SimpleNamespace(wait=lambda: None, profile=SimpleNamespace(start=start, end=end))
        for start, end in ((1000, 3000), (4000, 4500), (7000, 9000))
    ]
    with open_backend("opencl") as backend:
        assert isinstance(backend, OwnKernelBackend)
        calls = [partial(getattr, SimpleNamespace(event=launch), "event") for launch in launches]
        assert backend._elapsed(calls) == pytest.approx(8000e-9)
        assert backend._elapsed(calls[1:2]) == pytest.approx(500e-9)


@pytest.fixture(autouse=True)
def _needed() -> None:
    devices = available()["opencl"]
    if isinstance(devices, str):
        pytest.skip(devices)
    if not any(device.kind == "cpu" and device.compute_units > 1 for device in devices):
        pytest.skip("no processor of two cores: one spins, the other looks")


def test_an_event_clock_begins_with_a_head_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device spins on the queue of the timed calls, before the first of them is enqueued."""
    spun: list[tuple[cl.CommandQueue, int]] = []

    class Spinning(opencl_gate.BlockingKernels):
        def spin(self, queue: cl.CommandQueue, nanoseconds: np.uint64) -> None:
            spun.append((queue, int(nanoseconds)))
            super().spin(queue, nanoseconds)

    monkeypatch.setattr(opencl_gate, "blocking_kernel_source", lambda _: ROUNDS)
    with open_backend("opencl") as backend:
        assert isinstance(backend, OpenClBackend)
        backend._gates = Spinning(backend._context)
        timed = backend._queue_of(LaunchVariant(events="profiled"))
        already: list[int] = []

        def call() -> cl.Event:
            already.append(len(spun))
            return cl.enqueue_marker(timed)

        backend._elapsed([call, call])
        assert spun == [(timed, HEAD_START_NS)]
        assert already == [1, 1]


def test_an_event_clock_starts_when_all_is_enqueued() -> None:
    """Where a user event holds the queue back: no call has run when the last is enqueued."""
    with open_backend("opencl") as backend:
        assert isinstance(backend, OpenClBackend)
        backend._gates = opencl_gate.UserEvents(backend._context)
        timed = backend._queue_of(LaunchVariant(events="profiled"))
        events: list[cl.Event] = []
        ran: list[bool] = []

        def call() -> cl.Event:
            timed.flush()
            time.sleep(0.05)
            complete = cl.command_execution_status.COMPLETE
            ran.extend(event.command_execution_status == complete for event in events)
            events.append(cl.enqueue_marker(timed))
            return events[-1]

        backend._elapsed([call, call, call])
        assert ran == 3 * [False]


def test_a_call_that_fails_leaves_the_queue_open() -> None:
    with open_backend("opencl") as backend:
        assert isinstance(backend, OpenClBackend)
        gates = backend._gates = opencl_gate.UserEvents(backend._context)
        opened: list[bool] = []
        shut = gates.shut

        def noted(queue: cl.CommandQueue, seconds: float) -> Gate:
            gate = shut(queue, seconds)

            def open_it() -> None:
                gate.open()
                opened.append(True)

            return Gate(gate.submit, open_it)

        gates.shut = noted  # type: ignore[method-assign]
        with pytest.raises(ZeroDivisionError):
            backend._elapsed([lambda: 1 // 0])
        assert opened
        backend.synchronize()


@pytest.mark.parametrize("out_of_order", [False, True])
def test_a_kernel_holds_a_queue_for_a_time(monkeypatch: pytest.MonkeyPatch, out_of_order: bool) -> None:
    monkeypatch.setattr(opencl_gate, "blocking_kernel_source", lambda _: ROUNDS)
    held = Held(out_of_order)
    gates = opencl_gate.BlockingKernels(held.context)
    for expected in (1, 2):
        start = time.perf_counter()
        gate = gates.shut(held.queue, 0.5)
        held.count()
        seen = held.counted()
        # On a machine with much else to do the look may come after the time.
        assert seen == expected - 1 or time.perf_counter() - start > 0.5
        gate.submit()
        assert time.perf_counter() - start >= 0.5
        gate.open()
        held.queue.finish()
        assert held.counted() == expected


def test_a_kernel_that_works_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencl_gate, "blocking_kernel_source", lambda _: ROUNDS)
    assert isinstance(opencl_gate.gates(Held().queue, by_kernel=True), opencl_gate.BlockingKernels)


def test_that_a_kernel_works_is_seen_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[float] = []

    class Looked(opencl_gate.BlockingKernels):
        def _held(self, queue: cl.CommandQueue) -> float:
            looked.append(super()._held(queue))
            return looked[-1]

    monkeypatch.setattr(opencl_gate, "blocking_kernel_source", lambda _: f"// another\n{ROUNDS}")
    monkeypatch.setattr(opencl_gate, "BlockingKernels", Looked)
    for _ in range(2):
        assert isinstance(opencl_gate.gates(Held().queue, by_kernel=True), Looked)
    assert 0 < len(looked) <= opencl_gate._TRIALS


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        # PoCL does not take the PTX of the original.
        (None, "BUILD_PROGRAM_FAILURE"),
        (
            "__kernel void blocking_kernel(const ulong nanoseconds) {}",
            "does not take the time that it is given",
        ),
    ],
)
def test_a_user_event_holds_the_queue_where_a_kernel_cannot(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, source: str | None, reason: str
) -> None:
    if source:
        monkeypatch.setattr(opencl_gate, "blocking_kernel_source", lambda _: source)
    held = Held()
    with caplog.at_level(logging.WARNING):
        gates = opencl_gate.gates(held.queue, by_kernel=True)
    assert isinstance(gates, opencl_gate.UserEvents)
    assert "a user event does" in caplog.text
    assert reason in caplog.text
    gate = gates.shut(held.queue, 0.0)
    held.count()
    gate.submit()
    time.sleep(0.05)
    assert held.counted() == 0
    gate.open()
    held.queue.finish()
    assert held.counted() == 1

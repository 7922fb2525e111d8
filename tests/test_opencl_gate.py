"""How OpenCL's queues are held back, with PoCL in the place of a device that has a gate kernel."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from backends import available, opencl_gate
from backends.errors import GateExpired
from backends.gates import KernelGates

if TYPE_CHECKING:
    import pyopencl as cl
else:
    cl = pytest.importorskip("pyopencl")

# The gate's kernel without PTX: it counts its rounds where the original asks for the time.
ROUNDS = """
__kernel void wait_for_ticket(volatile __global uint *words, const uint ticket, const ulong limit) {
  ulong round = 0;
  while ((int)(words[0] - ticket) < 0) {
    if (round++ > 10 * limit) {
      words[1] = ticket;
      return;
    }
  }
}
__kernel void count(__global uint *counter) { counter[0] += 1; }
"""


class Queues:
    """A context with queues to hold back, and work for them."""

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
        self.kernel = cl.Kernel(cl.Program(self.context, ROUNDS).build(), "count")

    def all(self) -> Sequence[cl.CommandQueue]:
        return [self.queue]

    def count(self) -> None:
        self.kernel.set_args(self.counter)
        cl.enqueue_nd_range_kernel(self.queue, self.kernel, (1,), (1,))

    def counted(self) -> int:
        host = np.empty(1, np.uint32)
        cl.enqueue_copy(cl.CommandQueue(self.context), host, self.counter)
        return int(host[0])


@pytest.fixture(autouse=True)
def _needed() -> None:
    devices = available()["opencl"]
    if isinstance(devices, str):
        pytest.skip(devices)
    if not any(device.kind == "cpu" and device.compute_units > 1 for device in devices):
        pytest.skip("no processor of two cores: one spins, the other opens")


@pytest.mark.parametrize("out_of_order", [False, True])
def test_a_kernel_holds_a_queue_until_another_opens_it(
    monkeypatch: pytest.MonkeyPatch, out_of_order: bool
) -> None:
    monkeypatch.setattr(opencl_gate, "gate_source", lambda _: ROUNDS)
    held = Queues(out_of_order)
    gates = opencl_gate.kernel_gates(held.context, held.all)
    for expected in (1, 2):
        gate = gates.shut()
        held.count()
        gate.submit()
        time.sleep(0.05)
        assert held.counted() == expected - 1
        gate.open()
        held.queue.finish()
        gates.check()
        assert held.counted() == expected


def test_a_gate_that_nobody_opens_ends_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencl_gate, "gate_source", lambda _: ROUNDS.replace("> 10 * limit", "> 1000"))
    held = Queues()
    gates = opencl_gate.kernel_gates(held.context, held.all)
    start = time.perf_counter()
    gates._timer = lambda: start + (time.perf_counter() - start) * 1e6
    gates.shut()
    held.queue.finish()
    with pytest.raises(GateExpired):
        gates.check()
    gates.check()


def test_a_kernel_that_works_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencl_gate, "gate_source", lambda _: ROUNDS)
    held = Queues()
    assert isinstance(opencl_gate.gates(held.context, held.all, by_kernel=True), KernelGates)


@pytest.mark.parametrize("fault", ["PTX", "does not open"])
def test_a_user_event_holds_the_queue_where_a_kernel_cannot(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    # PoCL does not take the PTX of the original.
    if fault == "does not open":
        monkeypatch.setattr(opencl_gate, "gate_source", lambda _: ROUNDS)
        monkeypatch.setattr(KernelGates, "works", lambda *_: False)
    held = Queues()
    with caplog.at_level(logging.WARNING):
        gates = opencl_gate.gates(held.context, held.all, by_kernel=True)
    assert isinstance(gates, opencl_gate.EventGates)
    assert "a user event does" in caplog.text
    gate = gates.shut()
    held.count()
    gate.submit()
    threading.Timer(0.05, gate.open).start()
    held.queue.finish()
    assert held.counted() == 1

"""How OpenCL's queues are held back: by a user event, on NVIDIA's devices by a kernel."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pyopencl as cl

from backends.base import Gate
from backends.gates import GATE_KERNEL, KernelGates, gate_source

_log = logging.getLogger(__name__)

Queues = Callable[[], Sequence[cl.CommandQueue]]
"""The queues to hold back."""


def submit(queues: Sequence[cl.CommandQueue]) -> None:
    """Hands to the device what was enqueued."""
    for queue in queues:
        queue.flush()


class EventGates:
    """Gates of user events: the specification's own means. A driver may keep on the host what waits."""

    def __init__(self, context: cl.Context, queues: Queues) -> None:
        self._context, self._queues = context, queues

    def shut(self) -> Gate:
        """What is enqueued from now on waits until the gate returned is opened."""
        event = cl.UserEvent(self._context)
        queues = self._queues()
        for queue in queues:
            cl.enqueue_barrier(queue, wait_for=[event])
        opened = partial(event.set_status, cl.command_execution_status.COMPLETE)
        return Gate(open=opened, submit=partial(submit, queues))

    def check(self) -> None:
        """Nothing ends a user event but its opening."""


def gates(context: cl.Context, queues: Queues, by_kernel: bool) -> KernelGates | EventGates:
    """The gates of the queues of a context.

    Args:
        context, queues: those to hold back; empty now.
        by_kernel: whether a kernel shall do it, which is NVIDIA's alone; if it turns out that it cannot, a
            user event does.
    """
    if by_kernel:
        try:
            found = kernel_gates(context, queues)

            def synchronize() -> None:
                for queue in queues():
                    queue.finish()

            # The first one also waits for what a driver does once, such as loading the kernel.
            found.works(synchronize)
            if found.works(synchronize):
                return found
            reason = "what is to open the gate waits behind it"
        except (cl.RuntimeError, cl.LogicError, cl.MemoryError) as error:
            reason = str(error)
        name = context.devices[0].name
        _log.warning("%s: no kernel can hold its queues back, a user event does: %s", name, reason)
    return EventGates(context, queues)


def kernel_gates(context: cl.Context, queues: Queues) -> KernelGates:
    """Gates of a kernel that spins on memory of the device; another queue writes it to open them."""
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    words = cl.Buffer(context, flags, hostbuf=np.zeros(2, np.uint32))
    program = cl.Program(context, gate_source("cl"))
    with warnings.catch_warnings():
        # pyopencl warns whenever a compiler has said anything at all.
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program.build(cache_dir=False)  # type: ignore[arg-type]
    kernel = cl.Kernel(program, GATE_KERNEL)
    opener = cl.CommandQueue(context)

    def launch(ticket: np.uint32, limit: np.uint64) -> None:
        kernel.set_args(words, ticket, limit)
        for queue in queues():
            cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,))
            if queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
                cl.enqueue_barrier(queue)

    def write(ticket: np.uint32) -> None:
        cl.enqueue_fill_buffer(opener, words, np.array(ticket), 0, ticket.nbytes)
        opener.flush()

    def take_expired() -> int:
        expired = np.empty(1, np.uint32)
        cl.enqueue_copy(opener, expired, words, src_offset=expired.nbytes)
        cl.enqueue_fill_buffer(opener, words, np.zeros(1, np.uint32), expired.nbytes, expired.nbytes)
        opener.finish()
        return int(expired[0])

    return KernelGates(launch, write, take_expired, lambda: submit(queues()))

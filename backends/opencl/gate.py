"""How OpenCL's queues are held back: by a user event, on NVIDIA's devices by a blocking kernel."""

from __future__ import annotations

import logging
import time
import warnings
from functools import partial

import numpy as np
import pyopencl as cl

from backends.base import Gate
from backends.common.blocking_kernel import (
    BLOCKING_KERNEL,
    HEAD_START_NS,
    blocking_kernel_source,
    timed_gate,
)
from backends.opencl.launch import can_go_without_event, without_event

_log = logging.getLogger(__name__)

_TRIALS = 5
_TRIAL_SECONDS = 5e-3
_MOST_TRIAL_SECONDS = 1.0
_working: set[tuple[int, str]] = set()
"""Devices, and the blocking kernels that have taken their time on them: to see it takes 25 ms, and a process
may have a hundred contexts.
"""


class UserEvents:
    """Gates that are user events: the specification's own means. A driver may keep on the host what waits."""

    def __init__(self, context: cl.Context) -> None:
        self._context = context

    def shut(self, queue: cl.CommandQueue, seconds: float) -> Gate:
        """What is enqueued from now on waits until the gate returned is opened."""
        event = cl.UserEvent(self._context)
        cl.enqueue_barrier(queue, wait_for=[event])
        opened = partial(event.set_status, cl.command_execution_status.COMPLETE)
        return Gate(submit=queue.flush, open=opened)

    def head_start(self, queue: cl.CommandQueue) -> Gate:
        """What is enqueued from now on, for events to time it, waits until the gate returned is opened."""
        return self.shut(queue, 0.0)


class BlockingKernels:
    """Gates that are blocking kernels, see :mod:`backends.common.blocking_kernel`.

    Raises:
        cl.RuntimeError: if the device's compiler does not take the kernel.
    """

    def __init__(self, context: cl.Context) -> None:
        source = blocking_kernel_source("cl")
        self._identity = context.devices[0].int_ptr, source
        program = cl.Program(context, source)
        with warnings.catch_warnings():
            # pyopencl warns whenever a compiler has said anything at all.
            warnings.simplefilter("ignore", cl.CompilerWarning)
            program.build(cache_dir=False)  # type: ignore[arg-type]
        self._kernel = cl.Kernel(program, BLOCKING_KERNEL)

    def shut(self, queue: cl.CommandQueue, seconds: float) -> Gate:
        """What is enqueued from now on waits for so many seconds."""
        return timed_gate(partial(self.spin, queue), seconds, queue.flush)

    def head_start(self, queue: cl.CommandQueue) -> Gate:
        """What is enqueued from now on, for events to time it, waits for as long as CUDA's does."""
        self.spin(queue, np.uint64(HEAD_START_NS))
        return Gate()

    def spin(self, queue: cl.CommandQueue, nanoseconds: np.uint64) -> None:
        """Has the device spin before what is enqueued from now on."""
        self._kernel.set_args(nanoseconds)
        if can_go_without_event():
            without_event(queue, self._kernel, (1,), (1,))()
        else:
            cl.enqueue_nd_range_kernel(queue, self._kernel, (1,), (1,))
        if queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
            cl.enqueue_barrier(queue)

    def works(self, queue: cl.CommandQueue) -> bool:
        """Whether the kernel takes the time that it is given; the queue must be empty."""
        # The first launch may load its code.
        self.shut(queue, 0.0)
        queue.finish()
        if self._identity in _working:
            return True
        # The shortest, as on a busy host any launch may take that long.
        shortest = min(self._held(queue) for _ in range(_TRIALS))
        works = _TRIAL_SECONDS <= shortest < _MOST_TRIAL_SECONDS
        if works:
            _working.add(self._identity)
        return works

    def _held(self, queue: cl.CommandQueue) -> float:
        """Seconds for which the kernel holds an empty queue in a trial."""
        start = time.perf_counter()
        self.shut(queue, _TRIAL_SECONDS)
        queue.finish()
        return time.perf_counter() - start


def gates(queue: cl.CommandQueue, by_kernel: bool) -> BlockingKernels | UserEvents:
    """The gates of a queue's context.

    Args:
        queue: one of it, empty now.
        by_kernel: whether a kernel shall do it, which is NVIDIA's alone; if it turns out that it cannot, a
            user event does.
    """
    context = queue.context
    if by_kernel:
        try:
            found = BlockingKernels(context)
            if found.works(queue):
                return found
            reason = "it does not take the time that it is given"
        except (cl.RuntimeError, cl.LogicError, cl.MemoryError) as error:
            reason = str(error)
        name = context.devices[0].name
        _log.warning("%s: no kernel can hold its queues back, a user event does: %s", name, reason)
    return UserEvents(context)

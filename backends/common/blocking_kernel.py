"""The blocking kernel: it spins for a time, the gate of a device that runs ahead of its host.

What is enqueued behind it has reached the device when the time is over, and starts then. CUDA needs that,
having no other means to hold a stream back. NVIDIA's OpenCL needs it as well: what waits for a user event
stays on the host, and is handed to the device launch by launch once the event is set, so that the host's cost
of doing so is timed. A kernel that a second queue ends is no way out: once two queues of an OpenCL context
have been busy at the same time, every launch of that context takes longer (reports/examples,
h200-quick-second-queue).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from backends.base import Gate
from backends.errors import GateExpired
from harness.kernels.source import Dialect, assemble

BLOCKING_KERNEL = "blocking_kernel"
"""Its one argument: for how many nanoseconds (uint64)."""
LATEST = 0.95
"""The share of a gate's time within which all must have been enqueued."""
HEAD_START_NS = 100_000
"""Nanoseconds for which the device spins before what an API's events time: the host enqueues that meanwhile,
else its time for it would lie between the events."""
_WAKING_UP = 1e-3
"""Seconds by which a sleeping host may oversleep: it spins for the last of them."""

Spin = Callable[[np.uint64], Any]
"""Enqueues the kernel for so many nanoseconds."""


def blocking_kernel_source(dialect: Dialect) -> str:
    """The source of :data:`BLOCKING_KERNEL`."""
    return assemble(dialect, ("language", "blocking_kernel"), {})


def timed_gate(
    spin: Spin,
    seconds: float,
    submit: Callable[[], None] = lambda: None,
    timer: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> Gate:
    """A gate that opens by itself after so many seconds; the stream or queue must be empty.

    The kernel cannot start before it is enqueued, so that what the host has enqueued by the end of the time,
    on its own clock, is there in time. :attr:`Gate.submit` raises GateExpired where enqueueing has taken
    longer, and else waits for the end, counted from when the kernel had been submitted: that is nearest to
    its start, and what enqueueing it takes differs by microseconds from time to time, or by more where the
    host loses its core meanwhile (:attr:`Gate.unsure`). That end, :attr:`Gate.opens`, is when the calls
    start: a host that sleeps too long, or loses its core, sees it late.

    Args:
        spin: enqueues the kernel.
        seconds: how long the gate holds.
        submit: hands to the device what was enqueued, where an API keeps it back.
        timer, sleep: the host's clock, in seconds.
    """
    before = timer()
    spin(np.uint64(seconds * 1e9))
    submit()
    submitted = timer()
    opens = submitted + seconds

    def wait() -> None:
        submit()
        taken = timer() - before
        if taken > LATEST * seconds:
            raise GateExpired(
                f"enqueueing took {taken * 1e3:.3g} ms, and the gate holds for {seconds * 1e3:.3g} ms: "
                "what is timed behind it is void; hold it for longer, or enqueue less"
            )
        left = opens - timer()
        if left > 2 * _WAKING_UP:
            sleep(left - _WAKING_UP)
        while timer() < opens:
            pass

    return Gate(submit=wait, opens=opens, unsure=submitted - before)

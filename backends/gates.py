"""The gate of a device that runs ahead of its host: a kernel that spins until the host has opened it.

Work behind it has reached the device when the gate opens. CUDA needs that, having no other means to hold a
stream back. NVIDIA's OpenCL needs it as well: what waits for a user event stays on the host, and is handed to
the device launch by launch once the event is set, so that the host's cost of doing so is timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from backends.base import Gate
from backends.errors import GateExpired
from harness.sources import Dialect, assemble

GATE_KERNEL = "wait_for_ticket"
"""Its arguments: memory of the last ticket opened, its own ticket, both uint32; a limit in ns, a uint64."""
GATE_LIMIT_SECONDS = 2.0
"""A gate that stays shut for longer ends by itself, and what was timed behind it is void."""
_DEVICE_LIMIT = np.uint64(1.01 * GATE_LIMIT_SECONDS * 1e9)
"""Nanoseconds, a little more: the device's timer may be the faster one, and the host says what is void."""
_TRIAL_SECONDS = 0.25
"""Long against what it takes to open a gate, short for who waits for one that does not open."""


def gate_source(dialect: Dialect) -> str:
    """The source of :data:`GATE_KERNEL`."""
    return assemble(dialect, ("dialect", "gate"), {})


class KernelGates:
    """The gates of one stream or queue. Each has a ticket, one higher than the last, and is open once the
    last ticket opened, in memory that the kernel sees, has reached its own.
    """

    def __init__(
        self,
        launch: Callable[[np.uint32, np.uint64], Any],
        write: Callable[[np.uint32], Any],
        submit: Callable[[], None] = lambda: None,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        """The last ticket opened is 0 in the kernel's memory.

        Args:
            launch: enqueues the kernel for a ticket and a limit in nanoseconds.
            write: makes a ticket the last one opened; waits for nothing that was enqueued.
            submit: hands to the device what was enqueued, where an API keeps it back.
            timer: the host's clock, in seconds.
        """
        self._launch, self._write, self._submit, self._timer = launch, write, submit, timer
        self._ticket = 0
        self._shut_at = 0.0
        self._expired = False

    def shut(self) -> Gate:
        """Enqueues the kernel: what follows waits until the gate returned is opened."""
        self._ticket += 1
        self._shut_at = self._timer()
        self._launch(np.uint32(self._ticket), _DEVICE_LIMIT)
        return Gate(open=partial(self._open, self._ticket), submit=self._submit)

    def works(self, synchronize: Callable[[], None]) -> bool:
        """Whether a gate opens when it should: a driver may keep what is to open it behind the kernel that
        waits for it, and then every gate would end by itself, unnoticed.

        Args:
            synchronize: waits until the stream is empty, as it is now.
        """
        self._ticket += 1
        self._launch(np.uint32(self._ticket), np.uint64(_TRIAL_SECONDS * 1e9))
        self._submit()
        opened_at = self._timer()
        self.release()
        synchronize()
        return self._timer() - opened_at < _TRIAL_SECONDS / 2

    def _open(self, ticket: int) -> None:
        self._expired |= self._timer() - self._shut_at > GATE_LIMIT_SECONDS
        self._write(np.uint32(ticket))

    def release(self) -> None:
        """Opens every gate."""
        self._write(np.uint32(self._ticket))

    def check(self) -> None:
        """To be called when the stream is empty.

        Raises:
            GateExpired: if a gate was opened too late since the last check.
        """
        if self._expired:
            self._expired = False
            raise GateExpired(
                f"a gate was not opened within {GATE_LIMIT_SECONDS:g} s, and the work behind it ran: "
                "its times are void; enqueue fewer calls behind a gate"
            )

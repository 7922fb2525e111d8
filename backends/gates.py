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
import numpy.typing as npt

from backends.base import Gate
from backends.errors import GateExpired
from harness.sources import Dialect, assemble

GATE_KERNEL = "wait_for_ticket"
"""Its arguments: memory of two uint32, its ticket (uint32), and a limit in nanoseconds (uint64). The words
are the last ticket opened, and one that nobody opened within the limit; both start as 0.
"""
GATE_LIMIT_SECONDS = 2.0
"""A gate that stays shut for longer ends by itself, and what was timed behind it is void."""
_TRIAL_SECONDS = 0.25
"""Long against what it takes to open a gate, short for who waits for one that does not open."""
_SURELY_SPINNING_SECONDS = 0.02


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
        take_expired: Callable[[], int],
        submit: Callable[[], None] = lambda: None,
        timer: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """What an API does for it.

        Args:
            launch: enqueues the kernel for a ticket and a limit in nanoseconds.
            write: makes a ticket the last one opened; waits for nothing that was enqueued.
            take_expired: the second word, which is 0 from then on; called while the stream is empty.
            submit: hands to the device what was enqueued, where an API keeps it back.
            timer, sleep: the host's clock, in seconds.
        """
        self._launch, self._write, self._take_expired = launch, write, take_expired
        self._submit, self._timer, self._sleep = submit, timer, sleep
        self._ticket = 0
        self._shut_at: float | None = None

    def shut(self) -> Gate:
        """Enqueues the kernel: what follows waits until the gate returned is opened."""
        if self._shut_at is None:
            self._shut_at = self._timer()
        self._enqueue(GATE_LIMIT_SECONDS)
        return Gate(open=partial(self._write, np.uint32(self._ticket)), submit=self._submit)

    def works(self, synchronize: Callable[[], None]) -> bool:
        """Whether a gate opens when it should: a driver may keep what is to open it behind the kernel that
        waits for it.

        Args:
            synchronize: waits until the stream is empty, as it is now.
        """
        self._enqueue(_TRIAL_SECONDS)
        # Opened before it spins, it would tell nothing.
        self._sleep(_SURELY_SPINNING_SECONDS)
        self.release()
        synchronize()
        return not self._take_expired()

    def release(self) -> None:
        """Opens every gate."""
        self._write(np.uint32(self._ticket))

    def check(self) -> None:
        """To be called when the stream is empty.

        Raises:
            GateExpired: if a gate ended by itself since the last check.
        """
        if self._shut_at is None:
            return
        # The kernel started after it was enqueued: before the limit has passed there is nothing to ask for.
        may_have = self._timer() - self._shut_at >= GATE_LIMIT_SECONDS
        self._shut_at = None
        if may_have and self._take_expired():
            raise GateExpired(
                f"a gate was not opened within {GATE_LIMIT_SECONDS:g} s, and the work behind it ran: "
                "its times are void; enqueue fewer calls behind a gate"
            )

    def _enqueue(self, limit: float) -> None:
        self._ticket += 1
        self._launch(np.uint32(self._ticket), np.uint64(limit * 1e9))
        self._submit()


def mapped_gates(words: npt.NDArray[np.uint32], launch: Callable[[np.uint32, np.uint64], Any]) -> KernelGates:
    """Gates whose two words are host memory that the device sees; ``launch`` as of :class:`KernelGates`."""
    words[:] = 0

    def write(ticket: np.uint32) -> None:
        words[0] = ticket

    def take_expired() -> int:
        expired, words[1] = int(words[1]), 0
        return expired

    return KernelGates(launch, write, take_expired)

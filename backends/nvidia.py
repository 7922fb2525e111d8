"""What the backends on NVIDIA's driver share: the gate, the description of a device, what a lost one says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from backends.base import DeviceInfo, Gate, GateExpired
from harness.sources import assemble

GATE_KERNEL = "wait_for_ticket"
GATE_LIMIT_SECONDS = 5.0
"""A gate that stays shut for longer ends by itself, and what was timed behind it is void."""

LOST = frozenset({4, 46, 214, 220, 700, 702, 709, 710, *range(714, 720), 999})
"""Error codes, the same in CUDA's driver and runtime, after which a context is of no further use:
deinitialised, device unavailable, uncorrectable ECC or NVLink error, illegal address, launch timeout, context
destroyed, assert, traps, unknown."""


class HostGate:
    """The gates of one stream: a kernel that spins on ``words``, two uint32 of mapped host memory.

    Each gate has a ticket, one higher than the last. The kernel waits until ``words[0]``, the last ticket
    opened, has reached its own; after :data:`GATE_LIMIT_SECONDS` it leaves its ticket in ``words[1]``.
    """

    def __init__(self, words: npt.NDArray[np.uint32], launch: Callable[[np.uint32, np.uint64], Any]) -> None:
        """``launch`` enqueues the kernel for a ticket and a limit in nanoseconds."""
        words[:] = 0
        self._words, self._launch = words, launch
        self._limit = np.uint64(GATE_LIMIT_SECONDS * 1e9)
        self._ticket = 0

    @staticmethod
    def source() -> str:
        """CUDA C++ of the kernel :data:`GATE_KERNEL`; its arguments are words, ticket and limit."""
        return assemble("cu", ("gate",), {})

    def shut(self) -> Gate:
        """Enqueues the kernel: what follows on the stream waits until the gate returned is opened."""
        self._ticket += 1
        self._launch(np.uint32(self._ticket), self._limit)
        return Gate(open=partial(self._open, self._ticket))

    def _open(self, ticket: int) -> None:
        self._words[0] = ticket

    def release(self) -> None:
        """Opens every gate."""
        self._open(self._ticket)

    def check(self) -> None:
        """To be called when the stream is empty.

        Raises:
            GateExpired: if a gate ended by itself since the last check.
        """
        if self._words[1]:
            self._words[1] = 0
            raise GateExpired(
                f"a gate was not opened within {GATE_LIMIT_SECONDS:g} s, and the work behind it ran: "
                "its times are void; enqueue fewer calls behind a gate"
            )


def version_text(number: int) -> str:
    """CUDA's version from its number: 13000 is 13.0."""
    return f"{number // 1000}.{number % 1000 // 10}"


@cache
def driver_version(cuda: int) -> str:
    """NVIDIA's driver as OpenCL names it too (580.95.05); the newest CUDA it knows where NVML is absent."""
    try:
        import pynvml
    except ImportError:
        return f"CUDA {version_text(cuda)}"
    try:
        pynvml.nvmlInit()
        try:
            return str(pynvml.nvmlSystemGetDriverVersion())
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError:
        return f"CUDA {version_text(cuda)}"


def device_info(
    backend: str, index: int, *, pci: str, cuda: int, capability: tuple[int, int], traits: Mapping[str, Any]
) -> DeviceInfo:
    """The description of an NVIDIA GPU.

    Args:
        backend: its name.
        index: number of the device.
        pci: its address as CUDA writes it (``0000:3B:00.0``).
        cuda: the newest CUDA that the driver knows, as a number.
        capability: its compute capability.
        traits: the fields of DeviceInfo that differ from GPU to GPU.
    """
    return DeviceInfo(
        backend=backend,
        index=index,
        platform="CUDA",
        vendor="NVIDIA Corporation",
        driver=driver_version(cuda),
        kind="gpu",
        max_allocation_bytes=traits["memory_bytes"],
        float64=True,
        orders_groups=True,
        compute_capability=10 * capability[0] + capability[1],
        physical=pci.lower(),
        details={"compute_capability": f"{capability[0]}.{capability[1]}", "driver_cuda": version_text(cuda)},
        **traits,
    )

"""What the backends on NVIDIA's driver share: devices, gates, waiting, what a lost device says."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, cached_property
from typing import Any, Self

import numpy as np

from backends.base import Backend, Gate, Prepared
from backends.common.blocking_kernel import HEAD_START_NS, Spin, timed_gate
from backends.cuda import cupti, nvrtc
from backends.errors import BackendUnavailable, no_such_device
from harness.devices import DeviceInfo, KernelTimes
from harness.nvidia import NvmlUnavailable, open_nvml

NO_DEVICE = ("the driver finds no device", "see nvidia-smi and CUDA_VISIBLE_DEVICES")

LOST = frozenset({4, 46, 214, 220, 700, 702, 709, 710, *range(714, 720), 999})
"""Error codes, the same in CUDA's driver and runtime, after which a context is of no further use:
deinitialised, device unavailable, uncorrectable ECC or NVLink error, illegal address, launch timeout, context
destroyed, assert, traps, unknown."""


class NvidiaBackend(Backend):
    """A backend whose calls go to one stream of one CUDA device. To be named before other bases."""

    def __init__(self, info: DeviceInfo) -> None:
        super().__init__()
        self.device = info

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [cls._describe(index) for index in range(cls._device_count())]

    @classmethod
    def open(cls, index: int) -> Self:
        count = cls._device_count()
        if not 0 <= index < count:
            raise no_such_device(index, count)
        with cls._typed_errors(f"opening device {index}"):
            return cls(cls._describe(index))

    def gate(self, prepared: Prepared, seconds: float) -> Gate:
        with self._typed_errors("shutting a gate"):
            self._activate()
            self.gate_kind = "kernel"
            return timed_gate(self._spin, seconds)

    def synchronize(self) -> None:
        with self._typed_errors("waiting for the stream"):
            self._wait()

    @cached_property
    def _spin(self) -> Spin:
        """The blocking kernel, ready to be launched."""
        spin = self._new_spin()
        # The first launch may load its code: a gate would hold for that much less.
        spin(np.uint64(0))
        self._wait()
        return spin

    def _elapsed(self, calls: Sequence[Callable[[], Any]]) -> float:
        """Seconds from before the first of these calls to after the last, by CUDA's events."""
        with self._typed_errors("waiting for an event"):
            self._activate()
            self._wait()
            self._spin(np.uint64(HEAD_START_NS))
            self._record_start()
            for call in calls:
                call()
            return self._seconds_since_start()

    def _kernel_times(self, prepared: Prepared, sources: Sequence[int]) -> KernelTimes | None:
        """See :meth:`backends.base.Prepared.kernel_times`."""
        return cupti.kernel_times(prepared.enqueue, self.synchronize, sources)

    # --- what each API implements ---

    @classmethod
    @abstractmethod
    def _device_count(cls) -> int:
        """How many devices there are; at least one.

        Raises:
            BackendUnavailable: when there is none, or what it takes to use one is missing.
        """

    @classmethod
    @abstractmethod
    def _describe(cls, index: int) -> DeviceInfo:
        """The description of one of them, by :func:`device_info`."""

    @staticmethod
    @abstractmethod
    def _typed_errors(doing: str) -> AbstractContextManager[None]:
        """Turns the API's errors into ours."""

    @abstractmethod
    def _activate(self) -> None:
        """Makes our device (and stream, where an API has such a notion) the current one."""

    @abstractmethod
    def _record_start(self) -> None:
        """Records an event on our stream."""

    @abstractmethod
    def _seconds_since_start(self) -> float:
        """Records another, waits for it and tells the seconds between the two."""

    @abstractmethod
    def _new_spin(self) -> Spin:
        """The blocking kernel on our stream."""

    @abstractmethod
    def _wait(self) -> None:
        """Waits for all work on our stream."""


def version_text(number: int) -> str:
    """CUDA's version from its number: 13000 is 13.0."""
    return f"{number // 1000}.{number % 1000 // 10}"


def require_compiler(cuda: int) -> None:
    """Refuses an NVRTC whose code the driver, which knows CUDA up to the number ``cuda``, does not load.

    Raises:
        BackendUnavailable: when it is too new, or missing.
    """
    major, minor = nvrtc.version()
    known = cuda // 1000
    if major > known:
        raise BackendUnavailable(
            f"NVRTC {major}.{minor} is too new for the driver, which knows CUDA up to {version_text(cuda)}",
            f"update the driver, or: pip install 'nvidia-cuda-nvrtc-cu{known}'",
        )


@cache
def driver_version(cuda: int) -> str:
    """NVIDIA's driver as OpenCL names it too (580.95.05); the newest CUDA it knows where NVML is absent."""
    try:
        with open_nvml() as pynvml:
            return str(pynvml.nvmlSystemGetDriverVersion())
    except NvmlUnavailable:
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
        awaits_groups=True,
        shuffles=True,
        atomics64=True,
        nontemporal=True,
        compute_capability=10 * capability[0] + capability[1],
        physical=pci.lower(),
        details={"compute_capability": f"{capability[0]}.{capability[1]}", "driver_cuda": version_text(cuda)},
        **traits,
    )

"""The CUDA backend: our kernels in CUDA C++ through pycuda, compiled by NVRTC: no nvcc is needed."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from backends import cupti, nvrtc
from backends.base import (
    Array,
    BackendUnavailable,
    DeviceArray,
    DeviceInfo,
    Gate,
    KernelTimes,
    Launch,
    Prepared,
    Unsupported,
)
from backends.nvidia import GATE_KERNEL, HostGate, device_info, version_text
from backends.own_kernels import Bound, OwnKernelBackend
from backends.pycuda_driver import contexts, drv, typed_errors
from harness.plans import PlannedLaunch, Submission
from harness.sources import Dialect

_STREAM_NON_BLOCKING = 1
"""CU_STREAM_NON_BLOCKING: the stream does not wait for what others do on the legacy default stream."""


class CudaBackend(OwnKernelBackend):
    """One CUDA device, its primary context, one stream.

    The primary context is the one that CUDA's runtime, and so CuPy, uses too: both can be open in one
    process. Several devices can be used in turn: uploading, preparing and shutting a gate make a backend's
    device the current one.
    """

    name: ClassVar[str] = "cuda"
    dialect: ClassVar[Dialect] = "cu"

    def __init__(self, info: DeviceInfo) -> None:
        super().__init__()
        self.device = info
        self._capability = drv.Device(info.index).compute_capability()
        contexts.enter(info.index)
        self._closed = False
        self._gates: HostGate | None = None
        self._stream = drv.Stream(_STREAM_NON_BLOCKING)
        self._start, self._end = drv.Event(), drv.Event()

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [_describe(index) for index in range(_device_count())]

    @classmethod
    def open(cls, index: int) -> Self:
        count = _device_count()
        if not 0 <= index < count:
            raise BackendUnavailable(f"cuda has no device {index}; its devices are 0 to {count - 1}")
        with typed_errors(f"opening device {index}"):
            return cls(_describe(index))

    def upload(self, host: Array) -> DeviceArray:
        with typed_errors(f"uploading {host.nbytes} bytes"):
            handle = self._allocate(host.nbytes)
            # A copy on the default stream may return before the data have arrived; our stream would not wait.
            drv.memcpy_htod_async(handle, _bytes_of(host), self._stream)
            self._stream.synchronize()
        return DeviceArray(handle, host.dtype, host.shape)

    def gate(self) -> Gate:
        with typed_errors("shutting a gate"):
            contexts.switch(self.device.index)
            if self._gates is None:
                self._gates = self._new_gates()
            return self._gates.shut()

    def synchronize(self) -> None:
        with typed_errors("waiting for the stream"):
            self._stream.synchronize()
        if self._gates:
            self._gates.check()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._gates:
            self._gates.release()
        self._programs.clear()
        contexts.leave()

    @property
    def build_options(self) -> tuple[str, ...]:
        return nvrtc.options(self._capability)

    def _kernel_times(self, prepared: Prepared, calls: int) -> KernelTimes | None:
        return cupti.kernel_times(prepared.enqueue, self.synchronize, calls)

    def _new_gates(self) -> HostGate:
        words = drv.pagelocked_empty(2, np.uint32, mem_flags=drv.host_alloc_flags.DEVICEMAP)
        pointer = np.uint64(words.base.get_device_pointer())
        kernel = self._build(HostGate.source()).get_function(GATE_KERNEL)

        def launch(ticket: np.uint32, limit: np.uint64) -> None:
            kernel._launch_kernel((1,), (1,), _packed((pointer, ticket, limit)), 0, self._stream)

        return HostGate(words, launch)

    def _build(self, source: str) -> Any:
        cubin = nvrtc.compile_cubin(source, self._capability)
        with typed_errors("loading a kernel"):
            contexts.switch(self.device.index)
            return drv.module_from_buffer(cubin)

    def _kernel(self, program: Any, launch: PlannedLaunch) -> tuple[Any, Launch]:
        with typed_errors(f"loading kernel {launch.kernel}"):
            kernel = program.get_function(launch.kernel)
            # Asked for its attributes the driver loads the kernel now; loading it behind a gate could hang.
            registers, most = kernel.num_regs, kernel.max_threads_per_block
            spills, local = kernel.local_size_bytes, kernel.shared_size_bytes
        items = math.prod(launch.group_size)
        if items > most:
            raise Unsupported(
                f"{self.device.key}: kernel {launch.kernel} has {registers} registers a work-item (thread), "
                f"so its groups have at most {most} work-items, not {items}"
            )
        return kernel, Launch(launch.kernel, launch.num_groups, launch.group_size, local, registers, spills)

    def _bind(
        self, kernel: Any, launch: PlannedLaunch, arguments: Sequence[Any], submission: Submission | None
    ) -> Bound:
        # pycuda's public calls pack the arguments each time; this is what they call in the end.
        packed = _packed(arguments)
        bound = partial(kernel._launch_kernel, launch.num_groups, launch.group_size, packed, 0, self._stream)
        if submission is None or submission.events == "off":
            return bound
        flags = drv.event_flags.DEFAULT if submission.events == "profiled" else drv.event_flags.DISABLE_TIMING
        event = drv.Event(flags)

        def with_event() -> None:
            bound()
            event.record(self._stream)

        return with_event

    def _elapsed(self, calls: Sequence[Bound]) -> float:
        self.synchronize()
        with typed_errors("waiting for an event"):
            self._start.record(self._stream)
            for call in calls:
                call()
            self._end.record(self._stream)
            self._end.synchronize()
            return float(self._end.time_since(self._start)) * 1e-3

    def _allocate(self, nbytes: int) -> Any:
        with typed_errors(f"allocating {nbytes} bytes"):
            contexts.switch(self.device.index)
            return drv.mem_alloc(max(1, nbytes))

    def _fill(self, handle: Any, nbytes: int, byte: int) -> None:
        with typed_errors(f"filling {nbytes} bytes"):
            drv.memset_d8_async(handle, byte, nbytes, self._stream)

    def _download(self, handle: Any, host: Array) -> None:
        with typed_errors("fetching the result"):
            drv.memcpy_dtoh_async(_bytes_of(host), handle, self._stream)
            self._stream.synchronize()

    def _free(self, handle: Any) -> None:
        handle.free()


def _bytes_of(array: Array) -> Array:
    """The same memory as plain bytes: pycuda's buffers need no element type."""
    return array.reshape(-1).view(np.uint8)


def _packed(arguments: Sequence[Any]) -> bytes:
    """A kernel's arguments as C lays them out: device memory as pointers, NumPy scalars by their type."""
    layout = "".join(a.dtype.char if isinstance(a, np.generic) else "P" for a in arguments)
    return struct.pack(f"@{layout}", *map(int, arguments))


def _device_count() -> int:
    """How many devices there are; at least one.

    Raises:
        BackendUnavailable: when there is none, or NVRTC is missing or too new for the driver.
    """
    compiler = nvrtc.version()
    try:
        drv.init()
        count = int(drv.Device.count())
    except drv.Error as error:
        raise BackendUnavailable(f"cuda: no device can be used ({error}); see nvidia-smi") from error
    if not count:
        raise BackendUnavailable("cuda: the driver finds no device; see nvidia-smi and CUDA_VISIBLE_DEVICES")
    known = drv.get_driver_version() // 1000
    if compiler[0] > known:
        raise BackendUnavailable(
            f"cuda: NVRTC {compiler[0]}.{compiler[1]} is too new for the driver, which knows CUDA up to "
            f"{version_text(drv.get_driver_version())}; update the driver, or: "
            f"pip install 'nvidia-cuda-nvrtc-cu{known}'"
        )
    return count


def _describe(index: int) -> DeviceInfo:
    device = drv.Device(index)
    traits = {
        "name": device.name(),
        "compute_units": device.multiprocessor_count,
        "memory_bytes": device.total_memory(),
        "local_memory_bytes": device.max_shared_memory_per_block,
        "max_group_size": device.max_threads_per_block,
        "cache_bytes": device.l2_cache_size,
        "wave_width": device.warp_size,
    }
    return device_info(
        "cuda",
        index,
        pci=device.pci_bus_id(),
        cuda=drv.get_driver_version(),
        capability=device.compute_capability(),
        traits=traits,
    )

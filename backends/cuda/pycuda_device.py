"""One CUDA device through pycuda: what the backends on pycuda share."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from backends.common.blocking_kernel import BLOCKING_KERNEL, Spin, blocking_kernel_source
from backends.cuda import nvrtc
from backends.cuda.nvidia import NO_DEVICE, NvidiaBackend, device_info, require_compiler
from backends.cuda.pycuda_context import contexts, drv, typed_errors
from backends.errors import BackendUnavailable
from harness.devices import Array, DeviceArray, DeviceInfo

_STREAM_NON_BLOCKING = 1
"""CU_STREAM_NON_BLOCKING: the stream does not wait for what others do on the legacy default stream."""


class PycudaBackend(NvidiaBackend):
    """One CUDA device, its primary context, one stream.

    The primary context is the one that CUDA's runtime, and so every other library, uses too: all can be open
    in one process. Several devices can be used in turn: uploading, preparing and shutting a gate make a
    backend's device the current one.
    """

    _typed_errors = staticmethod(typed_errors)

    def __init__(self, info: DeviceInfo) -> None:
        super().__init__(info)
        self._capability = drv.Device(info.index).compute_capability()
        contexts.enter(info.index)
        self._stream = drv.Stream(_STREAM_NON_BLOCKING)
        self._start, self._end = drv.Event(), drv.Event()

    @classmethod
    def _device_count(cls) -> int:
        try:
            drv.init()
            count = int(drv.Device.count())
        except drv.Error as error:
            raise BackendUnavailable(f"no device can be used ({error})", "see nvidia-smi") from error
        if not count:
            raise BackendUnavailable(*NO_DEVICE)
        require_compiler(drv.get_driver_version())
        return count

    @classmethod
    def _describe(cls, index: int) -> DeviceInfo:
        device = drv.Device(index)
        traits = {
            "name": device.name(),
            "compute_units": device.multiprocessor_count,
            "memory_bytes": device.total_memory(),
            "local_memory_bytes": device.max_shared_memory_per_block,
            "max_group_size": device.max_threads_per_block,
            "cache_bytes": device.l2_cache_size,
            "sub_group_width": device.warp_size,
            "max_texels": device.maximum_texture1d_linear_width,
            "image_sides": (device.maximum_texture2d_linear_width, device.maximum_texture2d_linear_height),
            "image_row_bytes": device.maximum_texture2d_linear_pitch,
        }
        return device_info(
            cls.name,
            index,
            pci=device.pci_bus_id(),
            cuda=drv.get_driver_version(),
            capability=device.compute_capability(),
            traits=traits,
        )

    def upload(self, host: Array) -> DeviceArray:
        with typed_errors(f"uploading {host.nbytes} bytes"):
            handle = self._allocate(host.nbytes)
            # A copy on the default stream may return before the data have arrived; our stream would not wait.
            drv.memcpy_htod_async(handle, bytes_of(host), self._stream)
            self._stream.synchronize()
        return DeviceArray(handle, host.dtype, host.shape)

    def _close(self) -> None:
        self._free_all()
        contexts.leave()

    @classmethod
    def forget(cls) -> None:
        contexts.forget()

    def _free_all(self) -> None:
        """Frees what a backend holds beside its sources."""

    def _record_start(self) -> None:
        self._start.record(self._stream)

    def _seconds_since_start(self) -> float:
        self._end.record(self._stream)
        self._end.synchronize()
        return float(self._end.time_since(self._start)) * 1e-3

    def _allocate(self, nbytes: int) -> Any:
        """Device memory; raises OutOfDeviceMemory."""
        with typed_errors(f"allocating {nbytes} bytes"):
            contexts.switch(self.device.index)
            return drv.mem_alloc(max(1, nbytes))

    def _module(self, source: str) -> Any:
        """CUDA C++ as a loaded module; raises BuildError."""
        cubin = nvrtc.compile_cubin(source, self._capability)
        with typed_errors("loading a kernel"):
            contexts.switch(self.device.index)
            return drv.module_from_buffer(cubin)

    def _activate(self) -> None:
        contexts.switch(self.device.index)

    def _wait(self) -> None:
        self._stream.synchronize()

    def _new_spin(self) -> Spin:
        kernel = self._module(blocking_kernel_source("cu")).get_function(BLOCKING_KERNEL)

        def spin(nanoseconds: np.uint64) -> None:
            kernel._launch_kernel((1,), (1,), packed((nanoseconds,)), 0, self._stream)

        return spin


def bytes_of(array: Array) -> Array:
    """The same memory as plain bytes: pycuda's buffers need no element type."""
    return array.reshape(-1).view(np.uint8)


def packed(arguments: Sequence[Any]) -> bytes:
    """A kernel's arguments as C lays them out: device memory as pointers, NumPy scalars by their type."""
    layout = "".join(a.dtype.char if isinstance(a, np.generic) else "P" for a in arguments)
    return struct.pack(f"@{layout}", *map(int, arguments))

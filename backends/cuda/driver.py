"""One CUDA device through cuda-bindings' driver interface: for backends that only call a library."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from cuda.bindings import driver

from backends.base import POISON
from backends.common.blocking_kernel import BLOCKING_KERNEL, Spin, blocking_kernel_source
from backends.common.library_backend import LibraryBackend
from backends.cuda import nvrtc
from backends.cuda.nvidia import (
    LOST,
    NO_DEVICE,
    NvidiaBackend,
    device_info,
    require_compiler,
)
from backends.errors import BackendError, BackendUnavailable, DeviceLost, OutOfDeviceMemory
from harness.devices import Array, DeviceArray, DeviceInfo

_OUT_OF_MEMORY = 2
"""CUDA_ERROR_OUT_OF_MEMORY."""
_NON_BLOCKING = 1
"""CU_STREAM_NON_BLOCKING: the stream does not wait for what others do on the legacy default stream."""
_NAME_BYTES, _PCI_BYTES = 256, 16

_ATTRIBUTES = {
    "compute_units": "MULTIPROCESSOR_COUNT",
    "local_memory_bytes": "MAX_SHARED_MEMORY_PER_BLOCK",
    "max_group_size": "MAX_THREADS_PER_BLOCK",
    "cache_bytes": "L2_CACHE_SIZE",
    "sub_group_width": "WARP_SIZE",
}


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of the driver answers beside its status: nothing, a value or several.

    Raises:
        OutOfDeviceMemory, DeviceLost, BackendError: by the status.
    """
    status, *values = function(*arguments)
    code = int(status)
    if code:
        kinds: dict[int, type[BackendError]] = {_OUT_OF_MEMORY: OutOfDeviceMemory}
        kind = kinds.get(code, DeviceLost if code in LOST else BackendError)
        raise kind(f"CUDA, {function.__name__}: {getattr(status, 'name', code)}")
    return values[0] if len(values) == 1 else tuple(values)


@dataclass(frozen=True, slots=True)
class DeviceView:
    """Memory of the device as an array: contiguous, in C order. ``owner`` keeps it allocated."""

    pointer: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    owner: object = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.size * self.dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "data": (self.pointer, False),
            "strides": None,
            "version": 3,
        }


class Memory:
    """Device memory, freed with this object. The device must be the current one."""

    def __init__(self, nbytes: int) -> None:
        self.pointer = int(call(driver.cuMemAlloc, max(1, nbytes)))
        weakref.finalize(self, driver.cuMemFree, self.pointer)


class Stream:
    """A stream of the current device, as other libraries take one (``__cuda_stream__``): a new one, or that
    of a handle.
    """

    def __init__(self, handle: Any = None) -> None:
        self.handle = call(driver.cuStreamCreate, _NON_BLOCKING) if handle is None else handle

    def __int__(self) -> int:
        return int(self.handle)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, int(self)


class DriverBackend(NvidiaBackend, LibraryBackend):
    """One CUDA device, its primary context, one stream; memory that any library can be pointed at."""

    def __init__(self, info: DeviceInfo) -> None:
        super().__init__(info)
        self._device = call(driver.cuDeviceGet, info.index)
        self._context = call(driver.cuDevicePrimaryCtxRetain, self._device)
        self._activate()
        self._stream = self._work_stream()
        self._start, self._end = (call(driver.cuEventCreate, 0) for _ in range(2))

    @staticmethod
    def _work_stream() -> Stream:
        """The stream that the library works on: its calls are held back and timed there."""
        return Stream()

    @classmethod
    def _device_count(cls) -> int:
        try:
            call(driver.cuInit, 0)
            count = int(call(driver.cuDeviceGetCount))
            known = int(call(driver.cuDriverGetVersion))
        except (BackendError, RuntimeError) as error:
            # cuda-bindings raises a RuntimeError where there is no driver at all.
            raise BackendUnavailable(f"no device can be used ({error})", "see nvidia-smi") from error
        if not count:
            raise BackendUnavailable(*NO_DEVICE)
        require_compiler(known)
        return count

    @classmethod
    def _describe(cls, index: int) -> DeviceInfo:
        device = call(driver.cuDeviceGet, index)
        traits = {name: _attribute(device, attribute) for name, attribute in _ATTRIBUTES.items()}
        return device_info(
            cls.name,
            index,
            pci=_text(call(driver.cuDeviceGetPCIBusId, _PCI_BYTES, device)),
            cuda=int(call(driver.cuDriverGetVersion)),
            capability=_capability(device),
            traits={
                "name": _text(call(driver.cuDeviceGetName, _NAME_BYTES, device)),
                "memory_bytes": int(call(driver.cuDeviceTotalMem, device)),
                **traits,
            },
        )

    @staticmethod
    def _typed_errors(doing: str) -> AbstractContextManager[None]:
        """Nothing to turn: every call of the driver raises our errors by itself."""
        return nullcontext()

    def upload(self, host: Array) -> DeviceArray:
        view = self._new(host.shape, host.dtype)
        flat = np.ascontiguousarray(host)
        call(driver.cuMemcpyHtoDAsync, view.pointer, flat.ctypes.data, flat.nbytes, self._stream.handle)
        self._wait()
        return DeviceArray(view, host.dtype, host.shape)

    def _close(self) -> None:
        """Nothing to free: memory goes with its arrays, and the primary context is every library's."""

    def _new(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> DeviceView:
        """New memory of the device; raises OutOfDeviceMemory."""
        self._activate()
        memory = Memory(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
        return DeviceView(memory.pointer, dtype, shape, memory)

    def _fetch(self, handle: DeviceView) -> Array:
        host = np.empty(handle.shape, handle.dtype)
        call(driver.cuMemcpyDtoHAsync, host.ctypes.data, handle.pointer, host.nbytes, self._stream.handle)
        self._wait()
        return host

    def _spoiled(self, handle: DeviceView) -> DeviceView:
        call(driver.cuMemsetD8Async, handle.pointer, POISON, handle.nbytes, self._stream.handle)
        self._wait()
        return handle

    def _record_start(self) -> None:
        call(driver.cuEventRecord, self._start, self._stream.handle)

    def _seconds_since_start(self) -> float:
        call(driver.cuEventRecord, self._end, self._stream.handle)
        call(driver.cuEventSynchronize, self._end)
        return float(call(driver.cuEventElapsedTime, self._start, self._end)) * 1e-3

    def _activate(self) -> None:
        call(driver.cuCtxSetCurrent, self._context)

    def _wait(self) -> None:
        call(driver.cuStreamSynchronize, self._stream.handle)

    def _new_spin(self) -> Spin:
        # The module stays for as long as the process.
        cubin = nvrtc.compile_cubin(blocking_kernel_source("cu"), _capability(self._device))
        module = call(driver.cuModuleLoadData, cubin)
        kernel = call(driver.cuModuleGetFunction, module, BLOCKING_KERNEL.encode())

        def spin(nanoseconds: np.uint64) -> None:
            arguments = ((int(nanoseconds),), (ctypes.c_uint64,))
            call(driver.cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, self._stream.handle, arguments, 0)

        return spin


def _attribute(device: Any, name: str) -> int:
    attribute = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(call(driver.cuDeviceGetAttribute, attribute, device))


def _capability(device: Any) -> tuple[int, int]:
    return (
        _attribute(device, "COMPUTE_CAPABILITY_MAJOR"),
        _attribute(device, "COMPUTE_CAPABILITY_MINOR"),
    )


def _text(raw: bytes) -> str:
    """The driver's text, which ends at the first zero byte."""
    return raw.split(b"\0")[0].decode()

"""One CUDA device through CuPy: what the backends on CuPy share, and CuPy's errors as ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import cupy
import numpy as np
from cupy.cuda import driver, runtime

from backends.base import POISON, Prepared
from backends.common.blocking_kernel import BLOCKING_KERNEL, Spin, blocking_kernel_source
from backends.common.library_backend import Calls, LibraryBackend, PreparedCalls, joined
from backends.cuda.nvidia import LOST, NO_DEVICE, NvidiaBackend, device_info
from backends.errors import BackendError, BackendUnavailable, DeviceLost, OutOfDeviceMemory
from backends.libraries import cupy_calls
from harness.devices import Array, DeviceArray, DeviceInfo, KnownDeviation
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

_OUT_OF_MEMORY = 2
"""cudaErrorMemoryAllocation."""


@contextmanager
def typed_errors(doing: str) -> Iterator[None]:
    """Turns CuPy's errors into ours by type and status."""
    try:
        yield
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise OutOfDeviceMemory(f"CuPy, {doing}: {error}") from error
    except (runtime.CUDARuntimeError, driver.CUDADriverError) as error:
        known = {_OUT_OF_MEMORY: OutOfDeviceMemory, **dict.fromkeys(LOST, DeviceLost)}
        raise known.get(error.status, BackendError)(f"CuPy, {doing}: {error}") from error


class CupyLibrary(NvidiaBackend, LibraryBackend):
    """One CUDA device through CuPy, one stream."""

    narrow_sums: ClassVar[tuple[str, ...]] = ("float32",)
    accelerators: ClassVar[tuple[str, ...]]
    """The libraries that CuPy's reductions may use; the setting is the process's, made before each use."""

    _typed_errors = staticmethod(typed_errors)

    def __init__(self, info: DeviceInfo) -> None:
        super().__init__(info)
        self._activate()
        self._start, self._end = cupy.cuda.Event(), cupy.cuda.Event()

    @classmethod
    def _device_count(cls) -> int:
        try:
            count = int(runtime.getDeviceCount())
        except runtime.CUDARuntimeError as error:
            raise BackendUnavailable(f"no device can be used ({error})", "see nvidia-smi") from error
        if not count:
            raise BackendUnavailable(*NO_DEVICE)
        return count

    @classmethod
    def _describe(cls, index: int) -> DeviceInfo:
        properties = runtime.getDeviceProperties(index)
        traits = {
            "name": properties["name"].decode(),
            "compute_units": properties["multiProcessorCount"],
            "memory_bytes": properties["totalGlobalMem"],
            "local_memory_bytes": properties["sharedMemPerBlock"],
            "max_group_size": properties["maxThreadsPerBlock"],
            "cache_bytes": properties["l2CacheSize"],
            "sub_group_width": properties["warpSize"],
        }
        return device_info(
            cls.name,
            index,
            pci=runtime.deviceGetPCIBusId(index),
            cuda=runtime.driverGetVersion(),
            capability=(properties["major"], properties["minor"]),
            traits=traits,
        )

    def known_deviations(self, problem: Problem) -> frozenset[KnownDeviation]:
        # CuPy compiles its kernels with --ftz=true, which concerns float32 alone.
        flushes = isinstance(problem, Reduction) and problem.dtype == "float32"
        return frozenset({"subnormal"}) if flushes else frozenset()

    def upload(self, host: Array) -> DeviceArray:
        with typed_errors(f"uploading {host.nbytes} bytes"):
            self._activate()
            array = cupy.empty(host.shape, host.dtype)
            array.set(host, stream=self._stream)
            self._stream.synchronize()
        return DeviceArray(array, host.dtype, host.shape)

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        arrays = [source.handle for source in sources]
        with typed_errors(f"preparing {problem.label}"):
            self._activate()
            if isinstance(problem, Reduction) and isinstance(variant, LibraryVariant):
                return PreparedCalls(self, problem, self._reductions(problem, variant, arrays))
            assert isinstance(problem, Laplace)
            return PreparedCalls(self, problem, cupy_calls.filters(problem, arrays))

    def _reductions(self, problem: Reduction, variant: LibraryVariant, arrays: Sequence[Any]) -> Calls:
        calls = cupy_calls.reductions(problem, variant, arrays)
        return replace(
            calls, note=joined(calls.note, f"accelerators: {', '.join(self.accelerators) or 'none'}")
        )

    def give_back_memory(self) -> None:
        # CuPy keeps freed memory for itself; another backend on this device may want it.
        cupy.get_default_memory_pool().free_all_blocks()

    def _close(self) -> None:
        self.give_back_memory()

    def _fetch(self, handle: Any) -> Array:
        with typed_errors("fetching the result"):
            return np.asarray(handle.get(stream=self._stream))

    def _spoiled(self, handle: Any) -> Any:
        with typed_errors("filling the results"):
            handle.reshape(-1).view(np.uint8).fill(POISON)
            self._stream.synchronize()
            return handle

    def _record_start(self) -> None:
        self._start.record(self._stream)

    def _seconds_since_start(self) -> float:
        self._end.record(self._stream)
        self._end.synchronize()
        return float(cupy.cuda.get_elapsed_time(self._start, self._end)) * 1e-3

    @property
    def _stream(self) -> Any:
        return _stream_of(self.device.index)

    def _activate(self) -> None:
        cupy.cuda.Device(self.device.index).use()
        self._stream.use()
        cupy._core.set_routine_accelerators(self.accelerators)
        cupy._core.set_reduction_accelerators(self.accelerators)

    def _wait(self) -> None:
        self._stream.synchronize()

    def _new_spin(self) -> Spin:
        kernel = cupy.RawModule(code=blocking_kernel_source("cu")).get_function(BLOCKING_KERNEL)

        def spin(nanoseconds: np.uint64) -> None:
            kernel((1,), (1,), (nanoseconds,))

        return spin


@cache
def _stream_of(index: int) -> Any:
    """The one stream of a device: CuPy's current stream belongs to the thread, not to a backend."""
    with cupy.cuda.Device(index):
        return cupy.cuda.Stream(non_blocking=True)

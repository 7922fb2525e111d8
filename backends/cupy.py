"""The CuPy backend, a library baseline: its own reductions and SciPy's correlate, no kernel of ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, Self

import cupy
import numpy as np
from cupy.cuda import runtime

from backends.base import Array, Backend, BackendUnavailable, DeviceArray, DeviceInfo, Gate, Prepared
from backends.cupy_calls import PreparedLaplace, PreparedReduction, typed_errors
from backends.nvidia import GATE_KERNEL, HostGate, device_info
from harness.problems import Laplace, Problem, Reduction
from harness.variants import Plain, Variant


class CupyBackend(Backend):
    """One CUDA device through CuPy, one stream, CuPy's accelerators as the environment has them."""

    name: ClassVar[str] = "cupy"

    def __init__(self, info: DeviceInfo) -> None:
        self.device = info
        self._gates: HostGate | None = None
        self._activate()

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [_describe(index) for index in range(_device_count())]

    @classmethod
    def open(cls, index: int) -> Self:
        count = _device_count()
        if not 0 <= index < count:
            raise BackendUnavailable(f"cupy has no device {index}; its devices are 0 to {count - 1}")
        with typed_errors(f"opening device {index}"):
            return cls(_describe(index))

    def unsupported(self, problem: Problem, variant: Variant) -> str | None:
        if not isinstance(problem, (Reduction, Laplace)):
            return "a library measures no limits here"
        limit = self.device.max_allocation_bytes
        if problem.source_bytes > limit:
            return f"a source of {problem.source_bytes} bytes is over the device's limit of {limit}"
        return None if isinstance(variant, Plain) else "a library has no variants"

    def default_variant(self, problem: Problem) -> Variant:
        return Plain()

    def upload(self, host: Array) -> DeviceArray:
        with typed_errors(f"uploading {host.nbytes} bytes"):
            self._activate()
            array = cupy.empty(host.shape, host.dtype)
            array.set(host, stream=self._stream)
            self._stream.synchronize()
        return DeviceArray(array, host.dtype, host.shape)

    def prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        self.require(problem, variant)
        arrays = [source.handle for source in sources]
        with typed_errors(f"preparing {problem.label}"):
            self._activate()
            if isinstance(problem, Reduction):
                return PreparedReduction(self._stream, problem, arrays)
            assert isinstance(problem, Laplace)
            return PreparedLaplace(self._stream, problem, arrays)

    def gate(self) -> Gate:
        with typed_errors("shutting a gate"):
            self._activate()
            if self._gates is None:
                self._gates = self._new_gates()
            return self._gates.shut()

    def synchronize(self) -> None:
        with typed_errors("waiting for the stream"):
            self._stream.synchronize()
        if self._gates:
            self._gates.check()

    def close(self) -> None:
        if self._gates:
            self._gates.release()
        # CuPy keeps freed memory for itself; another backend on this device may want it.
        cupy.get_default_memory_pool().free_all_blocks()

    @property
    def _stream(self) -> Any:
        return _stream_of(self.device.index)

    def _activate(self) -> None:
        """Makes our device and stream the current ones, which all calls of CuPy use."""
        cupy.cuda.Device(self.device.index).use()
        self._stream.use()

    def _new_gates(self) -> HostGate:
        memory = cupy.cuda.alloc_pinned_memory(2 * np.dtype(np.uint32).itemsize)
        # Pinned memory has the same address on the device: unified addressing, on all 64-bit systems.
        pointer = np.uint64(memory.ptr)
        kernel = cupy.RawModule(code=HostGate.source()).get_function(GATE_KERNEL)

        def launch(ticket: np.uint32, limit: np.uint64) -> None:
            kernel((1,), (1,), (pointer, ticket, limit))

        return HostGate(np.frombuffer(memory, np.uint32, 2), launch)


@cache
def _stream_of(index: int) -> Any:
    """The one stream of a device: CuPy's current stream belongs to the thread, not to a backend."""
    with cupy.cuda.Device(index):
        return cupy.cuda.Stream(non_blocking=True)


def _device_count() -> int:
    """How many devices there are; at least one.

    Raises:
        BackendUnavailable: when there is none.
    """
    try:
        count = int(runtime.getDeviceCount())
    except runtime.CUDARuntimeError as error:
        raise BackendUnavailable(f"cupy: no device can be used ({error}); see nvidia-smi") from error
    if not count:
        raise BackendUnavailable("cupy: the driver finds no device; see nvidia-smi and CUDA_VISIBLE_DEVICES")
    return count


def _describe(index: int) -> DeviceInfo:
    properties = runtime.getDeviceProperties(index)
    traits = {
        "name": properties["name"].decode(),
        "compute_units": properties["multiProcessorCount"],
        "memory_bytes": properties["totalGlobalMem"],
        "local_memory_bytes": properties["sharedMemPerBlock"],
        "max_group_size": properties["maxThreadsPerBlock"],
        "cache_bytes": properties["l2CacheSize"],
        "wave_width": properties["warpSize"],
    }
    return device_info(
        "cupy",
        index,
        pci=runtime.deviceGetPCIBusId(index),
        cuda=runtime.driverGetVersion(),
        capability=(properties["major"], properties["minor"]),
        traits=traits,
    )

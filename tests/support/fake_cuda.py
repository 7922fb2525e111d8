"""CUDA's driver interface and NPP on host memory, as much of them as the backends call."""

# ruff: noqa: N802, N815 - the names are CUDA's and NPP's.

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np

from harness.problems import Array

_ATTRIBUTES = {
    "MULTIPROCESSOR_COUNT": 132,
    "MAX_SHARED_MEMORY_PER_BLOCK": 49152,
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_THREADS_PER_MULTIPROCESSOR": 2048,
    "L2_CACHE_SIZE": 2**25,
    "WARP_SIZE": 32,
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
}


class FakeDriver:
    """``cuda.bindings.driver``: every function answers a status and its values. ``fails`` gives a function's
    status; ``launched`` and ``recorded`` are the kernels' arguments and the events' streams.
    """

    def __init__(self, **fails: int) -> None:
        self._fails = fails
        self._memory: dict[int, Any] = {}
        self.launched: list[tuple[Any, ...]] = []
        self.recorded: list[Any] = []
        self.CU_STREAM_LEGACY, self.CUstream = 1, int
        self.called: list[str] = []
        self.CUdevice_attribute = SimpleNamespace(
            **{f"CU_DEVICE_ATTRIBUTE_{name}": name for name in _ATTRIBUTES}
        )

    def __getattr__(self, name: str) -> Any:
        answers: dict[str, Any] = {
            "cuInit": lambda _: (),
            "cuDeviceGetCount": lambda: (1,),
            "cuDriverGetVersion": lambda: (14000,),
            "cuDeviceGet": lambda index: (index,),
            "cuDeviceGetName": lambda *_: (b"a fake GPU\0\0",),
            "cuDeviceGetPCIBusId": lambda *_: (b"0000:3B:00.0\0",),
            "cuDeviceTotalMem": lambda _: (2**36,),
            "cuDeviceGetAttribute": lambda attribute, _: (_ATTRIBUTES[attribute],),
            "cuDevicePrimaryCtxRetain": lambda _: (66,),
            "cuCtxSetCurrent": lambda _: (),
            "cuStreamCreate": lambda _: (77,),
            "cuStreamGetFlags": lambda _: (1,),
            "cuStreamSynchronize": lambda _: (),
            "cuEventCreate": lambda _: ("event",),
            "cuEventRecord": self._record,
            "cuEventSynchronize": lambda _: (),
            "cuEventElapsedTime": lambda *_: (2.5,),
            "cuMemAlloc": lambda nbytes: (self._allocate(nbytes),),
            "cuMemFree": lambda pointer: (self._memory.pop(pointer, None),)[:0],
            "cuMemcpyHtoDAsync": lambda to, source, nbytes, _: (ctypes.memmove(to, source, nbytes),)[:0],
            "cuMemcpyDtoHAsync": lambda to, source, nbytes, _: (ctypes.memmove(to, source, nbytes),)[:0],
            "cuMemsetD8Async": lambda to, byte, nbytes, _: (ctypes.memset(to, byte, nbytes),)[:0],
            "cuModuleLoadData": lambda _: ("module",),
            "cuModuleGetFunction": lambda *_: ("kernel",),
            "cuLaunchKernel": self._launch,
        }

        def function(*arguments: Any) -> tuple[Any, ...]:
            self.called.append(name)
            status = self._fails.get(name, 0)
            return (status,) if status else (0, *answers[name](*arguments))

        function.__name__ = name
        return function

    def _launch(self, *arguments: Any) -> tuple[Any, ...]:
        self.launched.append(arguments)
        return ()

    def _record(self, event: Any, stream: Any) -> tuple[Any, ...]:
        self.recorded.append(stream)
        return ()

    def _allocate(self, nbytes: int) -> int:
        block = (ctypes.c_char * nbytes)()
        self._memory[ctypes.addressof(block)] = block
        return ctypes.addressof(block)


def seen(pointer: int, dtype: str, shape: tuple[int, ...]) -> Array:
    """Memory of the fake device as an array."""
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(pointer))
    return raw.view(dtype).reshape(shape)


class FakeNpp:
    """The functions of NPP that the tests call, with the arguments in the order of NPP's headers."""

    SCRATCH = 640

    def _scratch(self, *arguments: Any) -> int:
        arguments[-2]._obj.value = self.SCRATCH
        return 0

    nppsMinMaxGetBufferSize_16s_Ctx = _scratch
    nppiMinGetBufferHostSize_16s_C1R_Ctx = _scratch
    nppsMaxGetBufferSize_64f_Ctx = _scratch
    nppiCountInRangeGetBufferHostSize_8u_C1R_Ctx = _scratch

    def nppsMinMax_16s_Ctx(
        self, source: Any, length: Any, low: Any, high: Any, scratch: Any, context: Any
    ) -> int:
        """A signal's extremes."""
        signal = seen(source.value, "int16", (length.value,))
        assert context.stream == 77
        seen(low.value, "int16", (1,))[0], seen(high.value, "int16", (1,))[0] = signal.min(), signal.max()
        seen(scratch.value, "uint8", (self.SCRATCH,))[:] = 1
        return 0

    def nppiMin_16s_C1R_Ctx(
        self, source: Any, step: Any, size: Any, scratch: Any, low: Any, context: Any
    ) -> int:
        """An image's minimum; the rows must be contiguous."""
        assert step.value == 2 * size.width
        seen(scratch.value, "uint8", (self.SCRATCH,))[:] = 1
        seen(low.value, "int16", (1,))[0] = seen(source.value, "int16", (size.height, size.width)).min()
        return 0

    def nppsMax_64f_Ctx(self, source: Any, length: Any, high: Any, scratch: Any, context: Any) -> int:
        """A signal's maximum."""
        seen(high.value, "float64", (1,))[0] = seen(source.value, "float64", (length.value,)).max()
        return 0

    def nppiCountInRange_8u_C1R_Ctx(
        self, source: Any, step: Any, size: Any, count: Any, low: Any, high: Any, scratch: Any, context: Any
    ) -> int:
        """How many values of an image lie between two."""
        image = seen(source.value, "uint8", (size.height, size.width))
        inside = (image >= low.value) & (image <= high.value)
        seen(count.value, "int32", (1,))[0] = inside.sum()
        return 0

    def nppiFilterLaplaceBorder_8u_C3R_Ctx(self, *arguments: Any) -> int:
        """Refuses."""
        return -17

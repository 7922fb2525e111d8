"""The pycuda.gpuarray backend, a library baseline: the reductions that pycuda generates, built by nvcc."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from pycuda import gpuarray
from pycuda.tools import DeviceMemoryPool

from backends.base import POISON, Prepared
from backends.common.library_backend import (
    Calls,
    LibraryBackend,
    PreparedCalls,
    each,
    field_types,
    nan_in_extremes,
)
from backends.cuda.pycuda_context import drv, typed_errors
from backends.cuda.pycuda_device import PycudaBackend, bytes_of
from backends.errors import BackendUnavailable
from harness.devices import Array, DeviceArray, DeviceInfo, KnownDeviation
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

_MAX_SIZE = 2**32 - 1
"""The generated kernels count in unsigned int."""


class PycudaArrayBackend(PycudaBackend, LibraryBackend):
    """One CUDA device; what calls allocate comes from pycuda's memory pool, which reuses it."""

    name: ClassVar[str] = "pycuda_array"

    def __init__(self, info: DeviceInfo) -> None:
        super().__init__(info)
        self._pool = DeviceMemoryPool()

    @classmethod
    def _device_count(cls) -> int:
        if shutil.which("nvcc") is None:
            raise BackendUnavailable(
                "pycuda builds its reductions with nvcc, which is not on the PATH",
                "install the CUDA toolkit and put the folder of its nvcc on the PATH",
            )
        return super()._device_count()

    def known_deviations(self, problem: Problem) -> frozenset[KnownDeviation]:
        return nan_in_extremes(problem)

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        assert isinstance(problem, Reduction)
        total = np.dtype(problem.total)
        functions: dict[str, Callable[[Any], Any]] = {
            "lowest": partial(gpuarray.min, stream=self._stream),
            "highest": partial(gpuarray.max, stream=self._stream),
            "total": partial(gpuarray.sum, dtype=total, stream=self._stream),
        }
        chosen = [functions[name] for name in problem.parts.fields]
        with typed_errors(f"preparing {problem.label}"):
            self._activate()
            arrays = [self._array(source) for source in sources]
            calls = Calls(
                [partial(each, chosen, array) for array in arrays],
                accumulator=field_types(problem, total=total.name),
                note="two calls, min and max" if len(chosen) > 1 else "",
                calls_per_result=len(chosen),
            )
            # The first call builds the kernels.
            calls.each[0]()
            self._wait()
        return PreparedCalls(self, problem, calls)

    def _array(self, source: DeviceArray) -> Any:
        return gpuarray.GPUArray(
            source.shape, source.dtype, allocator=self._pool.allocate, gpudata=source.handle
        )

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        if not {"lowest", "highest", "total"} >= problem.parts.fields.keys():
            return f"pycuda.gpuarray has no {problem.op}"
        if problem.dtype == "float16":
            return "pycuda.gpuarray generates no reductions of float16"
        if problem.size > _MAX_SIZE:
            return f"pycuda's reductions count to {_MAX_SIZE}, not to {problem.size}"
        return None

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        return "pycuda.gpuarray has no filters"

    def _fetch(self, handle: Any) -> Array:
        host = np.empty(handle.shape, handle.dtype)
        with typed_errors("fetching the result"):
            drv.memcpy_dtoh_async(bytes_of(host), handle.gpudata, self._stream)
            self._stream.synchronize()
        return host

    def _spoiled(self, handle: Any) -> Any:
        with typed_errors("filling the results"):
            drv.memset_d8_async(handle.gpudata, POISON, handle.nbytes, self._stream)
            self._stream.synchronize()
        return handle

    def _free_all(self) -> None:
        self._pool.stop_holding()

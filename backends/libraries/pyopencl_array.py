"""The pyopencl.array backend, a library baseline: the reductions that pyopencl generates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import mako  # noqa: F401  # pyopencl's generated kernels need it, and say so only when one is made.
import numpy as np
import pyopencl as cl
from pyopencl import array as cl_array
from pyopencl.tools import ImmediateAllocator, MemoryPool

from backends.base import POISON, Prepared
from backends.common.library_backend import Calls, LibraryBackend, PreparedCalls, each, field_types
from backends.opencl.device import OpenClDevice, typed_errors
from harness.devices import Array, DeviceArray, DeviceInfo
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "lowest": cl_array.min,
    "highest": cl_array.max,
    "total": cl_array.sum,
}


class PyopenclArrayBackend(OpenClDevice, LibraryBackend):
    """One OpenCL device; what calls allocate comes from pyopencl's memory pool, which reuses it."""

    name: ClassVar[str] = "pyopencl_array"
    # pyopencl asks for an event with every launch, which takes more of the queue.
    max_gated_launches: int = 200

    def __init__(self, info: DeviceInfo, device: cl.Device) -> None:
        super().__init__(info, device)
        self._pool = MemoryPool(ImmediateAllocator(self._queue))

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        assert isinstance(problem, Reduction)
        total = np.dtype(problem.total)
        chosen = [
            partial(_FUNCTIONS[name], queue=self._queue, **({"dtype": total} if name == "total" else {}))
            for name in problem.parts.fields
        ]
        arrays = [self._array(source) for source in sources]
        calls = Calls(
            [partial(each, chosen, array) for array in arrays],
            accumulator=field_types(problem, total=total.name),
            note="two calls, min and max" if len(chosen) > 1 else "",
            calls_per_result=len(chosen),
        )
        with typed_errors(f"preparing {problem.label}", allocating=True):
            # The first call builds the kernels.
            calls.each[0]()
        return PreparedCalls(self, problem, calls)

    def _close(self) -> None:
        self._pool.stop_holding()

    def _array(self, source: DeviceArray) -> cl_array.Array:
        return cl_array.Array(
            self._queue, source.shape, source.dtype, allocator=self._pool, data=source.handle
        )

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        if problem.op == "count_nonzero":
            return "pyopencl.array does not count"
        if problem.dtype == "float16":
            return "pyopencl.array computes float16 in half, which not every device has"
        if not _FUNCTIONS.keys() >= problem.parts.fields.keys():
            return f"pyopencl.array has no {problem.op}"
        return None

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        return "pyopencl.array has no filters"

    def _fetch(self, handle: cl_array.Array) -> Array:
        with typed_errors("fetching the result"):
            return np.asarray(handle.get(queue=self._queue))

    def _spoiled(self, handle: cl_array.Array) -> cl_array.Array:
        with typed_errors("filling the results"):
            assert isinstance(handle.base_data, cl.MemoryObjectHolder)
            pattern = np.array(POISON, np.uint8)
            cl.enqueue_fill_buffer(self._queue, handle.base_data, pattern, handle.offset, handle.nbytes)
            return handle

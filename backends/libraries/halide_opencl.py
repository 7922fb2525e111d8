"""The Halide backend on OpenCL, a library baseline: Halide's filter on our queue, in buffers of ours.

With Halide on CUDA it is a second witness of how OpenCL and CUDA compare: one algorithm, one schedule, and no
line of our kernels.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pyopencl as cl

from backends.base import POISON, Prepared
from backends.common.library_backend import BoundCall, Calls, LibraryBackend, PreparedCalls
from backends.libraries import halide_build
from backends.libraries.halide_schedule import OF_GPUS, OF_PROCESSORS
from backends.opencl.device import OpenClDevice, typed_errors
from harness.devices import Array, DeviceArray, DeviceInfo
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant


class HalideOpenClBackend(OpenClDevice, LibraryBackend):
    """One OpenCL device through Halide's runtime, which takes our context and queue."""

    name: ClassVar[str] = "halide_opencl"

    def __init__(self, info: DeviceInfo, device: cl.Device) -> None:
        super().__init__(info, device)
        # What pyopencl is linked with has OpenCL's functions.
        opencl, handles = cl._cl.__file__.encode(), (self._context.int_ptr, self._queue.int_ptr)
        self._halide = halide_build.Device(opencl, *handles)
        self._filters: dict[ctypes.CDLL, halide_build.Filter] = {}

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        halide_build.compiler()
        return super().devices()

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        assert isinstance(problem, Laplace)
        schedule = OF_GPUS if self.device.kind == "gpu" else OF_PROCESSORS
        run = halide_build.load_filter(problem, "opencl", schedule, self._halide)
        self._filters.setdefault(run.library, run)
        shape, dtype = (problem.height, problem.pitch), np.dtype(problem.dtype)
        nbytes = problem.height * problem.pitch * dtype.itemsize
        with typed_errors(f"preparing {problem.label}", allocating=True):
            target = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, nbytes)
        values = (halide_build.Result(DeviceArray(target, dtype, shape), problem),)
        calls = [
            BoundCall(
                run.call(problem, source.handle.int_ptr, target.int_ptr), values, (source.handle, target)
            )
            for source in sources
        ]
        # The first call builds the kernel.
        calls[0]()
        self.synchronize()
        return PreparedCalls(self, problem, Calls(calls, problem.accumulator, halide_build.note()))

    def _close(self) -> None:
        for each in self._filters.values():
            each.release()

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        return "Halide is used for the filter alone here"

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        return halide_build.lacks(problem)

    def _fetch(self, handle: halide_build.Result) -> Array:
        host = np.empty(handle.memory.shape, handle.memory.dtype)
        with typed_errors("fetching the result"):
            cl.enqueue_copy(self._queue, host, handle.memory.handle)
        return handle.problem.finish(host)

    def _spoiled(self, handle: halide_build.Result) -> halide_build.Result:
        with typed_errors("filling the result"):
            pattern = np.array(POISON, np.uint8)
            cl.enqueue_fill_buffer(self._queue, handle.memory.handle, pattern, 0, handle.memory.nbytes)
            self.synchronize()
        return handle

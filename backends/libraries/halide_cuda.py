"""The Halide backend on CUDA, a library baseline: Halide's filter on our stream, in memory of ours.

The algorithm and the schedule are those of Halide on OpenCL.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from backends.base import Prepared
from backends.common.library_backend import BoundCall, Calls, PreparedCalls
from backends.cuda.driver import DriverBackend
from backends.libraries import halide_build
from backends.libraries.halide_schedule import OF_GPUS
from harness.devices import Array, DeviceArray, DeviceInfo
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant


class HalideCudaBackend(DriverBackend):
    """One CUDA device through Halide's runtime, which takes our context and stream."""

    name: ClassVar[str] = "halide_cuda"

    def __init__(self, info: DeviceInfo) -> None:
        super().__init__(info)
        self._halide = halide_build.Device(None, int(self._context), int(self._stream))
        self._filters: dict[ctypes.CDLL, halide_build.Filter] = {}

    @classmethod
    def _device_count(cls) -> int:
        halide_build.compiler()
        return super()._device_count()

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        assert isinstance(problem, Laplace)
        self._activate()
        run = halide_build.load_filter(problem, "cuda", OF_GPUS, self._halide)
        self._filters.setdefault(run.library, run)
        target = self._new((problem.height, problem.pitch), np.dtype(problem.dtype))
        values = (halide_build.Result(DeviceArray(target, target.dtype, target.shape), problem),)
        views = [source.handle for source in sources]
        calls = [
            BoundCall(run.call(problem, view.pointer, target.pointer), values, (view, target))
            for view in views
        ]
        # The first call loads the kernel.
        calls[0]()
        self._wait()
        return PreparedCalls(self, problem, Calls(calls, problem.accumulator, halide_build.note()))

    def _close(self) -> None:
        self._activate()
        for each in self._filters.values():
            each.release()

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        return "Halide is used for the filter alone here"

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        return halide_build.lacks(problem)

    def _fetch(self, handle: halide_build.Result) -> Array:  # type: ignore[override]
        return handle.problem.finish(super()._fetch(handle.memory.handle))

    def _spoiled(self, handle: halide_build.Result) -> halide_build.Result:  # type: ignore[override]
        super()._spoiled(handle.memory.handle)
        return handle

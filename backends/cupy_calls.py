"""The calls of CuPy that the CuPy backend times, and CuPy's errors as ours."""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import cupy
import numpy as np
from cupy.cuda import driver, runtime

from backends import cupti
from backends.base import Array, BackendError, DeviceLost, KernelTimes, OutOfDeviceMemory, Prepared
from backends.nvidia import LOST
from harness.problems import Laplace, Reduction

if TYPE_CHECKING:
    from collections.abc import Iterator

_OUT_OF_MEMORY = 2
"""cudaErrorMemoryAllocation."""

_POISON = 0xA5

_MODES = {
    "constant": "constant",
    "replicate": "nearest",
    "reflect": "reflect",
    "reflect_101": "mirror",
    "wrap": "wrap",
}
"""OpenCV's borders by SciPy's names. In CuPy's filters ``wrap`` means ``grid-wrap``, as here."""


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


class PreparedCupy(Prepared):
    """CuPy calls on arrays of the device. What they allocate comes from CuPy's pool, which a call reuses."""

    def __init__(self, stream: Any, calls: Sequence[Callable[[], None]]) -> None:
        self._stream, self._calls = stream, calls
        self._start, self._end = cupy.cuda.Event(), cupy.cuda.Event()

    def enqueue(self, i: int) -> None:
        self._calls[i % len(self._calls)]()

    def result(self) -> Any:
        with typed_errors("fetching the result"):
            return self._fetch()

    def poison(self) -> None:
        with typed_errors("filling the results"):
            for array in self._outputs():
                array.view(np.uint8).fill(_POISON)
            self._stream.synchronize()

    def event_seconds(self, i: int) -> float | None:
        with typed_errors("waiting for an event"):
            self._stream.synchronize()
            self._start.record(self._stream)
            self.enqueue(i)
            self._end.record(self._stream)
            self._end.synchronize()
            return float(cupy.cuda.get_elapsed_time(self._start, self._end)) * 1e-3

    def kernel_times(self, calls: int) -> KernelTimes | None:
        with typed_errors("running under the profiler"):
            return cupti.kernel_times(self.enqueue, self._stream.synchronize, calls)

    @abstractmethod
    def _fetch(self) -> Any:
        """The answer of the last call."""

    @abstractmethod
    def _outputs(self) -> Sequence[Any]:
        """The arrays that hold the results."""


class PreparedReduction(PreparedCupy):
    """CuPy's reductions. They allocate their result (an ``out`` would cost them a copy) from the pool."""

    def __init__(self, stream: Any, problem: Reduction, arrays: Sequence[Any]) -> None:
        total = np.dtype(problem.element.total)
        functions: dict[str, Callable[[Any], Any]] = {
            "lowest": cupy.min,
            "highest": cupy.max,
            "total": lambda array: cupy.sum(array, dtype=total),
            "count": cupy.count_nonzero,
        }
        self._problem = problem
        self._functions = [functions[name] for name in problem.parts.fields]
        self._results: list[Any] = []
        used = os.environ.get("CUPY_ACCELERATORS", "CuPy's default")
        self.calls_per_result = len(self._functions)
        own = {"total": total.name, "count": "int64"}
        types = (own.get(name, problem.dtype) for name in problem.parts.fields)
        self.accumulator = ", ".join(dict.fromkeys(types))
        twice = "two calls, min and max; " if self.calls_per_result > 1 else ""
        # CuPy compiles its kernels with --ftz=true, which concerns float32 alone.
        flushes = "; subnormal numbers count as zero" if problem.dtype == "float32" else ""
        self.note = f"{twice}CUPY_ACCELERATORS: {used}{flushes}"
        super().__init__(stream, [partial(self._reduce, array) for array in arrays])

    def _reduce(self, array: Any) -> None:
        self._results = [function(array) for function in self._functions]

    def _fetch(self) -> Any:
        if not self._results:
            raise BackendError("cupy: there is no result before a call")
        return self._problem.answer([result.get()[()] for result in self._results])

    def _outputs(self) -> Sequence[Any]:
        return [result.reshape(1) for result in self._results]

    def close(self) -> None:
        self._results = []


class PreparedLaplace(PreparedCupy):
    """``cupyx.scipy.ndimage.correlate``; integers into int32, then clipped and cast: three kernels."""

    def __init__(self, stream: Any, problem: Laplace, arrays: Sequence[Any]) -> None:
        from cupyx.scipy.ndimage import correlate

        self._correlate, self._mode = correlate, _MODES[problem.border]
        self._image = cupy.empty(problem.shape, problem.dtype)
        integer = not problem.element.is_float
        self._wide = cupy.empty(problem.shape, np.int32) if integer else self._image
        self._weights = cupy.asarray(_weights(problem))
        self._outside = _outside(problem)
        self.accumulator = "float32"
        self.note = "correlate into int32, clip, cast: three kernels" if integer else "correlate, one kernel"
        super().__init__(stream, [partial(self._filter, _view(problem, array)) for array in arrays])

    def _filter(self, view: Any) -> None:
        self._correlate(view, self._weights, output=self._wide, mode=self._mode, cval=self._outside)
        if self._wide is not self._image:
            info = np.iinfo(self._image.dtype)
            cupy.clip(self._wide, int(info.min), int(info.max), out=self._wide)
            cupy.copyto(self._image, self._wide, casting="unsafe")

    def _fetch(self) -> Any:
        return self._image.get()

    def _outputs(self) -> Sequence[Any]:
        return [self._image.reshape(-1), self._wide.reshape(-1)]


def _weights(problem: Laplace) -> Array:
    """The 3x3 mask, with a third axis for channels.

    In float32, in which CuPy then computes: exact for all our integers (24 bits), where integer weights would
    make it compute in float64.
    """
    centre, edge, corner = problem.coefficients
    mask = np.array([[corner, edge, corner], [edge, centre, edge], [corner, edge, corner]], np.float32)
    return mask if problem.channels == 1 else mask[:, :, np.newaxis]


def _outside(problem: Laplace) -> float:
    """The pixel outside, rounded as the image's type has it; CuPy knows NaN only as NumPy's own object."""
    if problem.border != "constant":
        return 0.0
    value = float(np.dtype(problem.dtype).type(problem.border_value))
    return np.nan if math.isnan(value) else value


def _view(problem: Laplace, packed: Any) -> Any:
    """The image in its packed rows, nothing copied."""
    row, item = packed.strides
    strides = (row, item) if problem.channels == 1 else (row, problem.channels * item, item)
    return cupy.lib.stride_tricks.as_strided(packed, problem.shape, strides)

"""The OpenCV backend on CUDA, a library baseline: the functions of ``cv2.cuda``, where cv2 was built with it.

Wheels are not; opencv_cuda_build.sh beside this file builds it. A reduction's call waits for its value on the
host, so that there is no gate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar

import cv2
import numpy as np
from cuda.bindings import driver

from backends.base import POISON, Prepared
from backends.common.library_backend import Calls, PreparedCalls, field_types, nan_in_extremes
from backends.cuda.driver import DriverBackend, Stream
from backends.errors import BackendError, BackendUnavailable
from backends.libraries import opencv_calls
from harness.devices import Array, DeviceArray, KnownDeviation
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

_cuda: Any = getattr(cv2, "cuda", None)
"""The module, whose functions OpenCV's stubs know only where it was built with CUDA."""

_TYPES = frozenset({"uint8", "int8", "uint16", "int16", "int32", "float32"})
"""Those that minMax, sum and countNonZero all document."""
_FILTER_TYPES = {"uint8": "8U", "uint16": "16U", "float32": "32F"}
_MOST = 2**31 - 1

_REDUCTIONS: dict[str, Callable[[Any], list[Any]]] = {
    "min": lambda matrix: [_cuda.minMax(matrix)[0]],
    "max": lambda matrix: [_cuda.minMax(matrix)[1]],
    "minmax": lambda matrix: list(_cuda.minMax(matrix)),
    "sum": lambda matrix: [_cuda.sum(matrix)[0]],
    "count_nonzero": lambda matrix: [_cuda.countNonZero(matrix)],
}


class OpenCvCudaBackend(DriverBackend):
    """One CUDA device through ``cv2.cuda``, on OpenCV's default stream."""

    name: ClassVar[str] = "opencv_cuda"

    @classmethod
    def _device_count(cls) -> int:
        # Without CUDA the module is there, but counts no devices.
        if not (_cuda and _cuda.getCudaEnabledDeviceCount() > 0):
            raise BackendUnavailable(
                f"OpenCV {cv2.__version__} was built without CUDA, or finds no device",
                "build it from source: backends/libraries/opencv_cuda_build.sh",
            )
        return super()._device_count()

    @staticmethod
    def _work_stream() -> Stream:
        # Its reductions take no other than the default one, with which a stream of ours is not ordered.
        return Stream(driver.CUstream(driver.CU_STREAM_LEGACY))

    def known_deviations(self, problem: Problem) -> frozenset[KnownDeviation]:
        return nan_in_extremes(problem)

    def upload(self, host: Array) -> DeviceArray:
        with self._typed_errors(f"uploading {host.nbytes} bytes"):
            self._activate()
            rows = host.reshape(1, -1) if host.ndim == 1 else host
            return DeviceArray(_matrix(rows), host.dtype, host.shape)

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        matrices = [source.handle for source in sources]
        with self._typed_errors(f"preparing {problem.label}"):
            self._activate()
            if isinstance(problem, Reduction):
                return PreparedCalls(self, problem, _reductions(problem, matrices))
            assert isinstance(problem, Laplace)
            return PreparedCalls(self, problem, _filters(problem, matrices))

    def gate(self, prepared: Prepared, seconds: float) -> None:  # type: ignore[override]
        """None: a reduction waits for its value while it is called."""

    def synchronize(self) -> None:
        with self._typed_errors("waiting for the stream"):
            _cuda.Stream_Null().waitForCompletion()

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        if problem.op not in _REDUCTIONS:
            return f"cv2.cuda's functions are not used for {problem.op} here"
        if problem.dtype not in _TYPES:
            return f"cv2.cuda has not all reductions of {problem.dtype}"
        if problem.size > _MOST:
            return f"OpenCV's matrices have at most {_MOST} columns, not {problem.size}"
        return _lacks_sum(problem) if problem.op == "sum" else None

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        if problem.dtype not in _FILTER_TYPES or problem.channels == 3:
            return "cv2.cuda's linear filter is for uint8, uint16 and float32 with one or four channels"
        return opencv_calls.lacks_laplace(problem)

    def _fetch(self, handle: Any) -> Array:
        with self._typed_errors("fetching the result"):
            return np.array(handle.download() if isinstance(handle, _cuda.GpuMat) else handle)

    def _spoiled(self, handle: Any) -> Any:
        if not isinstance(handle, _cuda.GpuMat):
            return np.full(1, POISON)
        with self._typed_errors("filling the result"):
            handle.setTo((POISON,) * 4)
            return handle

    @staticmethod
    @contextmanager
    def _typed_errors(doing: str) -> Iterator[None]:
        """Turns OpenCV's errors into ours."""
        try:
            yield
        except cv2.error as error:
            raise BackendError(f"OpenCV, {doing}: {error}") from error

    def _activate(self) -> None:
        super()._activate()
        _cuda.setDevice(self.device.index)


def _matrix(host: Array) -> Any:
    """An array on OpenCV's device."""
    matrix = _cuda.GpuMat()
    matrix.upload(host)
    return matrix


def _lacks_sum(problem: Reduction) -> str | None:
    """Integers are added in 32 bits, float32 in float32."""
    if problem.element.is_float:
        return "cv2.cuda.sum adds float32 in float32"
    info = np.iinfo(problem.dtype)
    if problem.size * max(int(info.max), -int(info.min)) > _MOST:
        return f"cv2.cuda.sum adds {problem.dtype} in 32 bits, which {problem.size} of them may overflow"
    return None


def _reductions(problem: Reduction, matrices: Sequence[Any]) -> Calls:
    return Calls(
        [partial(_REDUCTIONS[problem.op], matrix) for matrix in matrices],
        accumulator=field_types(problem, total="int32", count="int32"),
        note=f"cv2.cuda, OpenCV {cv2.__version__}",
        result_location="host",
    )


def _filters(problem: Laplace, matrices: Sequence[Any]) -> Calls:
    kind = getattr(cv2, f"CV_{_FILTER_TYPES[problem.dtype]}C{problem.channels}")
    weights = opencv_calls.weights(problem)
    border = opencv_calls.BORDERS[problem.border]
    linear = _cuda.createLinearFilter(kind, kind, weights, borderMode=border)
    whole = [packed.download() for packed in matrices]
    images = [_matrix(rows[:, : problem.row_elements].reshape(problem.shape)) for rows in whole]
    target = _matrix(np.zeros(problem.shape, problem.dtype))
    return Calls(
        [partial(_filter, linear, image, target) for image in images],
        accumulator="float32",
        note=f"cv2.cuda.createLinearFilter, OpenCV {cv2.__version__}",
    )


def _filter(linear: Any, image: Any, target: Any) -> list[Any]:
    return [linear.apply(image, target)]

"""The OpenCV backend on CUDA, a library baseline: the functions of ``cv2.cuda``, where cv2 was built with it.

Wheels are not; opencv_cuda_build.sh beside this file builds it. Its functions run on our stream and leave
their results on the device (``findMinMax``, ``calcSum``, ``countNonZero`` with a target). Those that return
a value allocate page-locked memory in each call, and on the default stream every kernel is waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar, NamedTuple

import cv2
import numpy as np

from backends.base import Prepared
from backends.common.library_backend import BoundCall, Calls, PreparedCalls, joined, nan_in_extremes
from backends.common.rows import folded
from backends.cuda.driver import DeviceView, DriverBackend
from backends.errors import BackendError, BackendUnavailable
from backends.libraries import opencv_calls
from harness.devices import DeviceArray, DeviceInfo, KnownDeviation
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

_cuda: Any = getattr(cv2, "cuda", None)
"""The module, whose functions OpenCV's stubs know only where it was built with CUDA."""

_DEPTHS = {
    "uint8": "8U",
    "int8": "8S",
    "uint16": "16U",
    "int16": "16S",
    "int32": "32S",
    "float32": "32F",
    "float64": "64F",
}
"""OpenCV's names of the types."""
_FILTER_TYPES = frozenset({"uint8", "uint16", "float32"})
_MOST = 2**31 - 1


class _Reduction(NamedTuple):
    """A function of OpenCV; ``places`` are those of our fields among the values that it writes, side by
    side.
    """

    name: str
    values: int
    places: tuple[int, ...]


_REDUCTIONS = {
    "min": _Reduction("findMinMax", 2, (0,)),
    "max": _Reduction("findMinMax", 2, (1,)),
    "minmax": _Reduction("findMinMax", 2, (0, 1)),
    "sum": _Reduction("calcSum", 1, (0,)),
    "count_nonzero": _Reduction("countNonZero", 1, (0,)),
}


class OpenCvCudaBackend(DriverBackend):
    """One CUDA device through ``cv2.cuda``, on our stream."""

    name: ClassVar[str] = "opencv_cuda"

    def __init__(self, info: DeviceInfo) -> None:
        super().__init__(info)
        self._queue = _cuda.wrapStream(int(self._stream))

    @classmethod
    def _device_count(cls) -> int:
        # Without CUDA the module is there, but counts no devices.
        if not (_cuda and _cuda.getCudaEnabledDeviceCount() > 0):
            raise BackendUnavailable(
                f"OpenCV {cv2.__version__} was built without CUDA, or finds no device",
                "build it from source: backends/libraries/opencv_cuda_build.sh",
            )
        return super()._device_count()

    def known_deviations(self, problem: Problem) -> frozenset[KnownDeviation]:
        found = nan_in_extremes(problem)
        # findMinMax begins with the type's finite limits.
        return found | {"infinity"} if found else found

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        views = [source.handle for source in sources]
        with self._typed_errors(f"preparing {problem.label}"):
            self._activate()
            if isinstance(problem, Reduction):
                return PreparedCalls(self, problem, self._reductions(problem, views))
            assert isinstance(problem, Laplace)
            return PreparedCalls(self, problem, self._filters(problem, views))

    def _reductions(self, problem: Reduction, views: Sequence[DeviceView]) -> Calls:
        how = _REDUCTIONS[problem.op]
        dtype = _written(problem)
        answer = self._new((1, how.values), np.dtype(dtype))
        target = _matrix(answer, 1, how.values, _kind(dtype))
        wanted = answer.pointer + how.places[0] * answer.dtype.itemsize
        values = (DeviceView(wanted, answer.dtype, (len(how.places),), answer),)
        run = getattr(_cuda, how.name)
        each = []
        for view in views:
            source = _matrix(view, *folded(problem), _kind(problem.dtype))
            each.append(BoundCall(self._calling(run, source, target), values, (view, answer)))
        rounds = opencv_calls.IN_FLOAT64 if _may_round(problem) else ""
        return Calls(each, dtype, joined(f"cv2.cuda.{how.name}, OpenCV {cv2.__version__}", rounds))

    def _filters(self, problem: Laplace, views: Sequence[DeviceView]) -> Calls:
        kind = _kind(problem.dtype, problem.channels)
        border = opencv_calls.BORDERS[problem.border]
        weights = opencv_calls.weights(problem)
        linear = _cuda.createLinearFilter(kind, kind, weights, borderMode=border)
        result = self._new(problem.shape, np.dtype(problem.dtype))
        size = problem.height, problem.width
        target = _matrix(result, *size, kind)
        each = []
        for view in views:
            source = _matrix(view, *size, kind)
            each.append(BoundCall(self._calling(linear.apply, source, target), (result,), (view, linear)))
        return Calls(each, "float32", f"cv2.cuda.createLinearFilter, OpenCV {cv2.__version__}")

    def _calling(self, function: Callable[..., Any], source: Any, target: Any) -> Callable[[], None]:
        """What has a function write into ``target``, on our stream."""
        run = partial(function, source, dst=target, stream=self._queue)

        def call() -> None:
            with self._typed_errors("calling"):
                run()

        return call

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        if problem.op not in _REDUCTIONS:
            return f"cv2.cuda's functions are not used for {problem.op} here"
        if problem.dtype not in _DEPTHS:
            return f"cv2.cuda has no reductions of {problem.dtype}"
        if problem.size > _MOST:
            return f"OpenCV's matrices have at most {_MOST} columns, not {problem.size}"
        return None

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        if problem.dtype not in _FILTER_TYPES or problem.channels == 3:
            return "cv2.cuda's linear filter is for uint8, uint16 and float32 with one or four channels"
        return opencv_calls.lacks_laplace(problem)

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


def _matrix(view: DeviceView, rows: int, columns: int, kind: int) -> Any:
    """Memory as OpenCV's matrix: nothing is copied."""
    return _cuda.createGpuMatFromCudaMemory(rows, columns, kind, view.pointer, view.nbytes // rows)


def _kind(dtype: str, channels: int = 1) -> int:
    """OpenCV's number of a type."""
    return int(getattr(cv2, f"CV_{_DEPTHS[dtype]}C{channels}"))


def _written(problem: Reduction) -> str:
    """The type of what OpenCV's function writes: of integers' extremes int32, of sums float64."""
    if problem.op == "sum":
        return "float64"
    return problem.dtype if problem.op != "count_nonzero" and problem.element.is_float else "int32"


def _may_round(problem: Reduction) -> bool:
    """Whether integers may add up to more than float64 holds exactly."""
    if problem.op != "sum" or problem.element.is_float:
        return False
    info = np.iinfo(problem.dtype)
    return problem.size * max(-int(info.min), int(info.max)) > 2**53

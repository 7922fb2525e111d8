"""The OpenCV backend on OpenCL, a library baseline: the functions of cv2 with UMat, OpenCV's transparent API.

OpenCV takes one OpenCL device a process, when it first needs one, and silently falls back to the processor
where it has no OpenCL kernel for a call.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

import cv2
import numpy as np
import pyopencl as cl

from backends.base import Prepared
from backends.common.library_backend import Calls, LibraryBackend, PreparedCalls, joined, nan_in_extremes
from backends.errors import BackendError, BackendUnavailable, OutOfDeviceMemory
from backends.libraries import opencv_calls
from backends.opencl.device import all_devices, describe, device_at
from harness.devices import Array, DeviceArray, DeviceInfo, KnownDeviation
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

_NO_MEMORY = -4
"""cv::Error::StsNoMem."""
_DEVICE = "OPENCV_OPENCL_DEVICE"
_RUNTIME = "OPENCV_OPENCL_RUNTIME"
_FALLBACK = "OpenCV falls back to the processor where it has no OpenCL kernel"
_KERNEL = "its OpenCL kernel"
_SMALLEST_SIDE = 3
"""Of an image that OpenCV's kernel for filter2D takes: the mask's."""
_KERNEL_TYPES = frozenset({"uint8", "int8", "uint16", "int16", "int32", "float32", "float64"})


class OpenCvOpenClBackend(LibraryBackend):
    """One OpenCL device through OpenCV's UMat. A reduction's call waits for its value: there is no gate."""

    name: ClassVar[str] = "opencv_opencl"
    _taken: ClassVar[str] = ""
    """The device that OpenCV has taken in this process."""

    def __init__(self, info: DeviceInfo) -> None:
        self.device = info

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [describe(cls.name, index, device) for index, device in enumerate(all_devices())]

    @classmethod
    def open(cls, index: int) -> Self:
        info = describe(cls.name, index, device_at(index))
        cls._take(_spelled(all_devices(), index), info)
        return cls(info)

    @classmethod
    def _take(cls, spelled: str, info: DeviceInfo) -> None:
        """Has OpenCV use the device, the first time in this process."""
        if cls._taken not in ("", spelled):
            raise BackendUnavailable(f"OpenCV holds {cls._taken}", "open another device in a new process")
        os.environ[_DEVICE] = spelled
        # OpenCV loads OpenCL itself: without this it would look for another library than pyopencl's.
        os.environ.setdefault(_RUNTIME, _loaded_opencl())
        cv2.ocl.setUseOpenCL(True)
        if not cv2.ocl.useOpenCL():
            raise BackendUnavailable(
                f"OpenCV {cv2.__version__} cannot use OpenCL's {spelled}",
                "install an OpenCV that was built with OpenCL, or measure another device",
            )
        name = cv2.ocl.Device.getDefault().name().strip()
        if name != info.name:
            raise BackendUnavailable(
                f"OpenCV has taken the OpenCL device {name}, not {info.name}", "measure another device"
            )
        cls._taken = spelled

    def known_deviations(self, problem: Problem) -> frozenset[KnownDeviation]:
        ordered = isinstance(problem, Reduction) and "element" in problem.parts.fields.values()
        return nan_in_extremes(problem) | (frozenset({"extreme"}) if ordered else frozenset())

    def upload(self, host: Array) -> DeviceArray:
        with _typed_errors(f"uploading {host.nbytes} bytes"):
            matrix = _matrix(host.reshape(1, -1) if host.ndim == 1 else host)
            cv2.ocl.finish()
            return DeviceArray(matrix, host.dtype, host.shape)

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        accumulator = opencv_calls.accumulator(problem)
        matrices = [source.handle for source in sources]
        if isinstance(problem, Reduction):
            note = joined(opencv_calls.note(problem), _FALLBACK)
            reductions = [opencv_calls.reduction(problem, row) for row in matrices]
            return PreparedCalls(self, problem, Calls(reductions, accumulator, note, result_location="host"))
        assert isinstance(problem, Laplace)
        with _typed_errors(f"preparing {problem.label}"):
            # Python cannot reshape a UMat: the image is laid out anew, without its padding.
            whole = [packed.get() for packed in matrices]
            images = [_matrix(rows[:, : problem.row_elements].reshape(problem.shape)) for rows in whole]
            target = _matrix(np.empty(problem.shape, problem.dtype))
        # cv2.Laplacian maps a UMat to the processor and filters there; cv2.filter2D has an OpenCL kernel.
        filters = [opencv_calls.laplace(problem, image, target, general=True) for image in images]
        return PreparedCalls(self, problem, Calls(filters, accumulator, _filter_note(problem)))

    def gate(self, prepared: Prepared, seconds: float) -> None:
        """None: OpenCV's queue is its own."""

    def synchronize(self) -> None:
        with _typed_errors("waiting for the queue"):
            cv2.ocl.finish()

    def _close(self) -> None:
        """Nothing to free: OpenCV keeps its device until the process ends."""

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        if problem.dtype not in _KERNEL_TYPES:
            return f"OpenCV's OpenCL kernels know no {problem.dtype}"
        if problem.op == "sum":
            return self._lacks_sum(problem)
        return opencv_calls.lacks_reduction(problem)

    def _lacks_sum(self, problem: Reduction) -> str | None:
        """A group's share is added in int32 or, of float32, in float32."""
        if problem.dtype == "float32":
            return "OpenCV's OpenCL kernel adds float32 in float32"
        if problem.element.is_float:
            return None
        share = -(-problem.size // self.device.compute_units) + self.device.max_group_size
        info = np.iinfo(problem.dtype)
        if share * max(int(info.max), -int(info.min)) > np.iinfo(np.int32).max:
            return f"OpenCV's OpenCL kernel adds {share} {problem.dtype} in int32, which may overflow"
        return None

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        return opencv_calls.lacks_laplace(problem)

    def _fetch(self, handle: Any) -> Array:
        with _typed_errors("fetching the result"):
            return np.asarray(handle.get() if isinstance(handle, cv2.UMat) else handle)

    def _spoiled(self, handle: Any) -> Any:
        if not isinstance(handle, cv2.UMat):
            return super()._spoiled(handle)
        with _typed_errors("filling the result"):
            cv2.bitwise_not(handle, handle)
            return handle


def _filter_note(problem: Laplace) -> str:
    """What a reader must know of a filter: whether OpenCV has a kernel for the image."""
    has_kernel = min(problem.height, problem.width) >= _SMALLEST_SIDE
    where = _KERNEL if has_kernel else "falls back to the processor: a side is shorter than the mask's"
    return joined(opencv_calls.note(problem, general=True), where)


def _matrix(host: Array) -> cv2.UMat:
    """An array on OpenCV's device."""
    matrix: cv2.UMat = cv2.UMat(host)  # type: ignore[call-overload]  # OpenCV's stubs lack this one.
    return matrix


@contextmanager
def _typed_errors(doing: str) -> Iterator[None]:
    """Turns OpenCV's errors into ours by code."""
    try:
        yield
    except cv2.error as error:
        kind = OutOfDeviceMemory if error.code == _NO_MEMORY else BackendError
        raise kind(f"OpenCV, {doing}: {error}") from error


def _spelled(devices: Sequence[cl.Device], index: int) -> str:
    """A device as OpenCV's environment variable names it: platform, type, number among these."""
    device = devices[index]
    kind = "GPU" if device.type & cl.device_type.GPU else "CPU"
    alike = [each for each in devices if each.platform == device.platform and each.type == device.type]
    return f"{device.platform.name}:{kind}:{alike.index(device)}"


def _loaded_opencl() -> str:
    """The OpenCL library that pyopencl has loaded; where that is not told, a common name."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text(encoding="utf-8").splitlines() if maps.exists() else []
    paths = (line.partition("/") for line in lines if "libOpenCL" in line)
    return next((slash + path for _, slash, path in paths), "libOpenCL.so.1")

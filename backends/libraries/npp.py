"""The NPP backend, a library baseline: NVIDIA's image and signal functions, called through ctypes.

Version 13, whose functions all take a context that names the stream. Scratch memory is allocated once;
results stay on the device.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
from cuda.bindings import driver
from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib

from backends.base import Prepared
from backends.common.library_backend import BoundCall, Calls, PreparedCalls, joined, nan_in_extremes
from backends.common.rows import folded
from backends.cuda.driver import DeviceView, DriverBackend, call
from backends.errors import BackendError, BackendUnavailable
from backends.libraries.npp_functions import (
    BORDERS,
    IMAGE_REDUCTIONS,
    SIGNAL_REDUCTIONS,
    Context,
    Filter,
    Function,
    Point,
    Size,
)
from harness.devices import DeviceArray, DeviceInfo, KnownDeviation
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

_VERSION = "13"
_HOW_TO_GET = "pip install nvidia-npp, or install the CUDA toolkit with its NPP"
_MASK_3X3, _REPLICATE = 200, 2
"""NPP_MASK_SIZE_3_X_3, NPP_BORDER_REPLICATE."""
_DIVISOR = 1
"""By which NPP divides the sum of the products of integers."""
_MANY, _NARROW = 2**26, 2
"""Elements from which on, and the bytes of one up to which, both extremes of an image are found faster."""
_APART = 256
"""Bytes from one result to the next: each is aligned as memory of its own is."""
_MAX_SIDE = 2**31 - 1
_MAX_SUM = 2**31 - 1
_MAX_COUNT = 2**15
_MAX_COUNT_OF_ALL = 2**27
"""Seen on an H200 with NPP 13.0: sums of longer rows wrap; of 65762 of a row's 70001 bytes it counted 1762,
of 252171353 of an image's 2^28 bytes 2^27 fewer.
"""


class NppBackend(DriverBackend):
    """One CUDA device; NPP's functions on our stream."""

    name: ClassVar[str] = "npp"
    narrow_sums: ClassVar[tuple[str, ...]] = ("float32",)

    def __init__(self, info: DeviceInfo) -> None:
        super().__init__(info)
        self._npp = _context(self._device, info.index, int(self._stream))

    @classmethod
    def _device_count(cls) -> int:
        for name in ("nppc", "nppist", "npps", "nppif", "nppidei"):
            _library(name)
        return super()._device_count()

    def known_deviations(self, problem: Problem) -> frozenset[KnownDeviation]:
        found = nan_in_extremes(problem)
        return found | {"infinity"} if found else found

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        views = [source.handle for source in sources]
        self._activate()
        if isinstance(problem, Reduction):
            return PreparedCalls(self, problem, self._reductions(problem, views))
        assert isinstance(problem, Laplace)
        return PreparedCalls(self, problem, self._filters(problem, views))

    def _reductions(self, problem: Reduction, views: Sequence[DeviceView]) -> Calls:
        function = _function(problem)
        assert function is not None
        size = (ctypes.c_size_t(problem.size),) if function.signal else _image(problem)
        scratch = self._new((self._scratch_bytes(function, size),), np.dtype(np.uint8))
        result = self._new((1,), _together(function.results))
        extra = [kind(value) for kind, value in function.extra]
        run = getattr(_library(function.library), function.name)
        each = []
        for view in views:
            source = () if function.signal else (ctypes.c_int(_row_bytes(problem)),)
            outputs = [ctypes.c_void_p(result.pointer + at * _APART) for at in range(len(function.results))]
            buffer = ctypes.c_void_p(scratch.pointer)
            tail = (*outputs, *extra, buffer) if function.scratch_last else (buffer, *outputs)
            arguments = (ctypes.c_void_p(view.pointer), *source, *size, *tail, self._npp)
            each.append(BoundCall(partial(_run, run, *arguments), (result,), (scratch, view)))
        accumulator = ", ".join(dict.fromkeys(function.results))
        return Calls(each, accumulator, note=joined(function.name, _version()))

    def _scratch_bytes(self, function: Function, size: Sequence[Any]) -> int:
        needed = ctypes.c_size_t()
        ask = getattr(_library(function.library), function.scratch_name)
        _run(ask, *size, ctypes.byref(needed), self._npp)
        return needed.value

    def _filters(self, problem: Laplace, views: Sequence[DeviceView]) -> Calls:
        how = Filter(problem)
        target = self._new(problem.shape, np.dtype(problem.dtype))
        mask = self.upload(how.mask).handle
        larger = self._new(_bordered(problem), np.dtype(problem.dtype)) if how.copy else None
        each = []
        for view in views:
            run = self._filtering(how, larger or view, target, mask)
            if larger is not None:
                run = partial(_in_turn, self._copying(how, view, larger), run)
            each.append(BoundCall(run, (target,), (view, mask, larger)))
        names = [how.copy, how.name] if how.copy else [how.name]
        note = joined(", then ".join(names), _version())
        return Calls(each, note=note, calls_per_result=len(names))

    def _copying(self, how: Filter, view: DeviceView, larger: DeviceView) -> Callable[[], None]:
        """What copies the image into one that is larger by a pixel on each side."""
        problem = how.problem
        size = Size(problem.width, problem.height)
        whole = Size(problem.width + 2, problem.height + 2)
        source = (ctypes.c_void_p(view.pointer), ctypes.c_int(_step(view)), size)
        written = (ctypes.c_void_p(larger.pointer), ctypes.c_int(_step(larger)), whole)
        value = (how.value,) if problem.border == "constant" else ()
        run = getattr(_library("nppidei"), how.copy)
        return partial(_run, run, *source, *written, ctypes.c_int(1), ctypes.c_int(1), *value, self._npp)

    def _filtering(
        self, how: Filter, source: DeviceView, target: DeviceView, mask: DeviceView
    ) -> Callable[[], None]:
        """What filters an image, which begins behind the border where one was copied around it."""
        problem = how.problem
        size = Size(problem.width, problem.height)
        outside = 1 if how.copy else 0
        first = outside * (_step(source) + problem.channels * problem.element.itemsize)
        whole = Size(problem.width + 2 * outside, problem.height + 2 * outside)
        read = (ctypes.c_void_p(source.pointer + first), ctypes.c_int(_step(source)))
        written = (ctypes.c_void_p(target.pointer), ctypes.c_int(_step(target)), size)
        weights: tuple[Any, ...] = (ctypes.c_int(_MASK_3X3),)
        if not how.has_own_mask:
            weights = (ctypes.c_void_p(mask.pointer), Size(3, 3), Point(1, 1))
            weights += () if problem.element.is_float else (ctypes.c_int(_DIVISOR),)
        border = (ctypes.c_int(_REPLICATE),) if how.takes_border else ()
        around = (whole, Point(outside, outside)) if how.takes_border else ()
        run = getattr(_library("nppif"), how.name)
        return partial(_run, run, *read, *around, *written, *weights, *border, self._npp)

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        function = _function(problem)
        if problem.parts.places:
            return "NPP's MinMaxIndx does not say which of equal extremes it names"
        if function is None:
            return f"NPP has no function for {problem.op} of {problem.dtype}"
        if not function.signal and max(_row_bytes(problem), problem.size) > _MAX_SIDE:
            return f"NPP's images have sides of at most {_MAX_SIDE}, of bytes a row and of pixels"
        if problem.op == "sum" and problem.dtype == "float32" and variant.accumulator == "wide":
            return "NPP adds float32 in float32"
        return None if function.signal else _overflow(problem)

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        if problem.border not in BORDERS:
            return f"NPP has the border {problem.border} neither in its filters nor as a copy of the image"
        return None


def _together(results: Sequence[str]) -> np.dtype[Any]:
    """A structure of what a function writes: one copy fetches all."""
    count = len(results)
    names, offsets = [f"f{at}" for at in range(count)], [at * _APART for at in range(count)]
    return np.dtype(
        {"names": names, "formats": list(results), "offsets": offsets, "itemsize": count * _APART}
    )


def _run(function: Any, *arguments: Any) -> None:
    """Calls a function of NPP.

    Raises:
        BackendError: when NPP refuses; positive codes are warnings.
    """
    status = function(*arguments)
    if status < 0:
        raise BackendError(f"NPP, {function.__name__}: status {status}")


def _in_turn(*calls: Callable[[], None]) -> None:
    for each in calls:
        each()


def _bordered(problem: Laplace) -> tuple[int, int]:
    """Shape of an image with a border of one pixel: elements, its rows as far apart as packed ones are."""
    wider = replace(problem, height=problem.height + 2, width=problem.width + 2)
    return wider.height, wider.pitch


def _step(view: DeviceView) -> int:
    """Bytes from one row to the next."""
    return view.nbytes // view.shape[0]


def _function(problem: Reduction) -> Function | None:
    """The faster of NPP's functions for a reduction, as seen on an H200: for both extremes that for signals,
    but not of many elements of one or two bytes; for others that for images, but not of one row that cannot
    be folded.
    """
    image = IMAGE_REDUCTIONS.get((problem.op, problem.dtype))
    signal = SIGNAL_REDUCTIONS.get((problem.op, problem.dtype))
    is_many = problem.size >= _MANY and problem.element.itemsize <= _NARROW
    takes_signal = (problem.op == "minmax" and not is_many) or folded(problem)[1] == problem.size
    return (signal or image) if takes_signal else (image or signal)


def _image(problem: Reduction) -> tuple[Size]:
    """The source as NPP's image."""
    rows, columns = folded(problem)
    return (Size(columns, rows),)


def _row_bytes(problem: Reduction) -> int:
    return folded(problem)[1] * problem.element.itemsize


def _overflow(problem: Reduction) -> str | None:
    """Why NPP's image function would answer wrongly, as it keeps the total of a row in a narrow type."""
    _, width = folded(problem)
    if problem.op == "count_nonzero" and width > _MAX_COUNT:
        return f"NPP miscounts in rows of more than {_MAX_COUNT} elements, such as these {width}"
    if problem.op == "count_nonzero" and problem.size > _MAX_COUNT_OF_ALL:
        return f"NPP miscounts among more than {_MAX_COUNT_OF_ALL} elements, such as these {problem.size}"
    if problem.op != "sum" or problem.element.is_float:
        return None
    if width * _largest(problem) > _MAX_SUM:
        return f"NPP adds the {width} {problem.dtype} of a row in 32 bits, which may overflow"
    return None


def _largest(problem: Reduction) -> int:
    """The largest magnitude of an element."""
    info = np.iinfo(problem.dtype)
    return max(-int(info.min), int(info.max))


def _context(device: Any, index: int, stream: int) -> Context:
    """NPP's description of the device and the stream."""

    def attribute(name: str) -> int:
        which = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(call(driver.cuDeviceGetAttribute, which, device))

    return Context(
        stream,
        index,
        attribute("MULTIPROCESSOR_COUNT"),
        attribute("MAX_THREADS_PER_MULTIPROCESSOR"),
        attribute("MAX_THREADS_PER_BLOCK"),
        attribute("MAX_SHARED_MEMORY_PER_BLOCK"),
        attribute("COMPUTE_CAPABILITY_MAJOR"),
        attribute("COMPUTE_CAPABILITY_MINOR"),
        int(call(driver.cuStreamGetFlags, stream)),
        0,
    )


@cache
def _version() -> str:
    """NPP's: a toolkit's is in no package that a run records."""
    ask = _library("nppc").nppGetLibVersion
    ask.restype = ctypes.POINTER(ctypes.c_int * 3)
    return "NPP {}.{}.{}".format(*ask().contents)


@cache
def _library(name: str) -> ctypes.CDLL:
    """One of NPP's libraries: the wheel's, the toolkit's or the system's.

    Raises:
        BackendUnavailable: when it is missing or of another version.
    """
    try:
        path = load_nvidia_dynamic_lib(name).abs_path
    except DynamicLibNotFoundError as error:
        raise BackendUnavailable(f"NPP is missing ({name})", _HOW_TO_GET) from error
    if f".so.{_VERSION}" not in path:
        raise BackendUnavailable(f"{path} is not of NPP {_VERSION}", _HOW_TO_GET)
    return ctypes.CDLL(path)

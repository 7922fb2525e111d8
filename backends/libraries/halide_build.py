"""Halide's filters as functions that run on a device of ours: compiled once, linked, kept on disk.

Halide compiles an object file; the host's C compiler links it with Halide's runtime and halide_device.c, by
which the runtime takes our context and our queue or stream.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from platformdirs import user_cache_path

from backends.common.built_library import built_library
from backends.errors import BackendError, BackendUnavailable, BuildError
from backends.libraries import halide_schedule
from backends.libraries.halide_schedule import FUNCTION, Api, Schedule
from harness.devices import DeviceArray
from harness.files import replacing
from harness.problems import Laplace

DEVICE = Path(__file__).with_name("halide_device.c")
_COMPILERS = ("cc", "gcc", "clang")
_HOW_TO_GET = "install a C compiler, such as gcc"
_TIMEOUT_S = 300
_WORD = 4
_MAX_BYTES = 2**31 - 1
"""Halide counts the bytes of a buffer in 32 bits."""
_UNSIGNED = 1
"""halide_type_uint."""
_WRAPS = {"opencl": "halide_opencl_wrap_cl_mem", "cuda": "halide_cuda_wrap_device_ptr"}
_RELEASES = {"opencl": "halide_opencl_device_release", "cuda": "halide_cuda_device_release"}


class Device(ctypes.Structure):
    """``struct device`` of halide_device.c."""

    _fields_ = (
        ("opencl", ctypes.c_char_p),
        ("context", ctypes.c_void_p),
        ("queue", ctypes.c_void_p),
        ("said", ctypes.c_char * 1024),
    )


class _Dimension(ctypes.Structure):
    """halide_dimension_t."""

    _fields_ = (
        ("min", ctypes.c_int32),
        ("extent", ctypes.c_int32),
        ("stride", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
    )


class _Type(ctypes.Structure):
    """halide_type_t."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Buffer(ctypes.Structure):
    """halide_buffer_t."""

    _fields_ = (
        ("device", ctypes.c_uint64),
        ("interface", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("type", _Type),
        ("dimensions", ctypes.c_int32),
        ("dim", ctypes.POINTER(_Dimension)),
        ("padding", ctypes.c_void_p),
    )


@dataclass(frozen=True, slots=True)
class Result:
    """A filtered image in packed rows."""

    memory: DeviceArray
    problem: Laplace


def lacks(problem: Laplace) -> str | None:
    """Why Halide cannot run this filter; None when it can."""
    nbytes = problem.height * problem.pitch * problem.element.itemsize
    return f"Halide's buffers have at most {_MAX_BYTES} bytes" if nbytes > _MAX_BYTES else None


def note() -> str:
    """What a record says of it."""
    return f"Halide {version('halide')}, one schedule for OpenCL and CUDA"


@cache
def compiler() -> str:
    """The C compiler that links.

    Raises:
        BackendUnavailable: if there is none, or it is not Linux's.
    """
    if sys.platform != "linux":
        raise BackendUnavailable(f"Halide's filter is linked for Linux, not for {sys.platform}", "use Linux")
    found = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if found is None:
        raise BackendUnavailable("no C compiler is found, which links what Halide compiles", _HOW_TO_GET)
    return found


class Filter:
    """A compiled filter on a device; see :func:`load_filter`."""

    def __init__(self, library: ctypes.CDLL, api: Api, device: Device) -> None:
        self.library, self._api, self._device = library, api, device

    def call(self, problem: Laplace, source: int, target: int) -> Callable[[], None]:
        """What enqueues the filter of a packed image into memory of the same size, both by their handles."""
        buffers = [self._buffer(problem, handle) for handle in (source, target)]
        read, written = map(ctypes.byref, buffers)
        sizes = (ctypes.c_int32(problem.row_elements), ctypes.c_int32(problem.height))
        function = getattr(self.library, FUNCTION)
        arguments = (ctypes.byref(self._device), read, *sizes, written)
        return partial(self._run, function, *arguments)

    def release(self) -> None:
        """Frees the kernels that Halide has built for the device."""
        self._run(getattr(self.library, _RELEASES[self._api]), ctypes.byref(self._device))

    def _buffer(self, problem: Laplace, handle: int) -> _Buffer:
        words = problem.pitch * problem.element.itemsize // _WORD
        dimensions = (_Dimension * 2)(_Dimension(0, words, 1, 0), _Dimension(0, problem.height, words, 0))
        buffer = _Buffer(0, None, None, 0, _Type(_UNSIGNED, 8 * _WORD, 1), 2, dimensions, None)
        wrap = getattr(self.library, _WRAPS[self._api])
        self._run(wrap, ctypes.byref(self._device), ctypes.byref(buffer), ctypes.c_uint64(handle))
        return buffer

    def _run(self, function: Any, *arguments: Any) -> None:
        # Not every error says something, and what the last one said stays there.
        self._device.said = b""
        status = function(*arguments)
        if status:
            said = self._device.said.decode(errors="replace").strip()
            raise BackendError(f"Halide, {function.__name__}: status {status}: {said}")


def load_filter(problem: Laplace, api: Api, schedule: Schedule, device: Device) -> Filter:
    """The filter with the problem's mask, border, output, type and channels, of images of any size.

    Raises:
        BuildError: if it cannot be linked.
        BackendUnavailable: if there is no C compiler, or it cannot be run.
        BackendError: if what was linked cannot be loaded.
    """
    # All sizes are one function.
    return Filter(_built(replace(problem, height=1, width=1), api, schedule), api, device)


@cache
def _built(problem: Laplace, api: Api, schedule: Schedule) -> ctypes.CDLL:
    """The library of a filter, built unless it is kept."""
    sources = (Path(halide_schedule.__file__).read_text(), DEVICE.read_text())
    target = halide_schedule.target_name(api)
    path = _kept(version("halide"), target, repr(problem), repr(schedule), *sources)

    def build(built: Path) -> None:
        runtime = _runtime(api, target)
        with TemporaryDirectory() as folder:
            compiled = Path(folder, "filter.o")
            halide_schedule.compile_filter(problem, api, schedule, compiled)
            _link([str(DEVICE), str(compiled), str(runtime)], built)

    return built_library(path, build)


def _runtime(api: Api, target: str) -> Path:
    """Halide's runtime as an object file."""
    path = _kept(version("halide"), target).with_suffix(".o")
    if not path.exists():
        with TemporaryDirectory() as folder, replacing(path) as built:
            # Halide goes by the name's ending.
            compiled = Path(folder, "runtime.o")
            halide_schedule.compile_runtime(api, compiled)
            shutil.copyfile(compiled, built)
    return path


def _kept(*what: str) -> Path:
    key = hashlib.sha256(repr(what).encode()).hexdigest()
    return user_cache_path("opencl-cuda-harness") / "halide" / f"{key}.so"


def _link(files: list[str], built: Path) -> None:
    options = [
        "-shared",
        "-fPIC",
        "-O1",
        "-Wl,-Bsymbolic",
        "-o",
        str(built),
        *files,
        "-ldl",
        "-lpthread",
        "-lm",
    ]
    try:
        done = subprocess.run(
            [compiler(), *options], capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BackendUnavailable(f"{compiler()} cannot be run: {error}", _HOW_TO_GET) from error
    if done.returncode:
        raise BuildError("Halide's filter cannot be linked", " ".join([compiler(), *options]), done.stderr)

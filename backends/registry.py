"""The registry of backends: one row each, with all that is known of it; imported only when opened."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

from backends.base import Backend
from backends.common.caches import use_writable_caches
from backends.errors import BackendUnavailable
from harness.devices import DeviceInfo
from harness.explain import extra
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import Variant


class Compiling(NamedTuple):
    """What compiled code is for: ``code`` tells it of a problem and a variant, None where there is nothing to
    compile. ``seconds``: about how long one takes where all cores are at work (reports/examples,
    h100-compile-ahead).
    """

    code: Callable[[Problem, Variant], Hashable]
    seconds: float


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the registry: all that is known of a backend without importing it.

    ``name``: of its extra in ``pyproject.toml`` and of its environment of tox, too. ``path``: where its class
    is. ``role``: reference, opencl, cuda (the two sides of the ratio) or library (a baseline). ``packages``:
    those whose versions a run records; a star stands for any ending. ``by_hand``: how to get what the extra
    alone does not install.
    ``by_default``: measured where nobody names it. False where another row does the same better or as well:
    such a baseline is measured when it is named, or by a suite that asks for all.
    ``narrow_sums``: the types that its plain call adds without widening; it is measured so, too.
    ``compiles``: where the harness or the library compiles its code and keeps it on disk, so that one process
    can compile it for another; None where neither does.
    """

    name: str
    path: str
    role: str
    about: str
    packages: tuple[str, ...]
    by_hand: str = ""
    by_default: bool = True
    narrow_sums: tuple[str, ...] = ()
    compiles: Compiling | None = None

    @property
    def remedy(self) -> str:
        """How to install what it needs."""
        return self.by_hand or extra(self.name)


def _each(problem: Problem, variant: Variant) -> Hashable:
    return problem, variant


def _each_type(problem: Problem, _: Variant) -> Hashable:
    return problem.dtype if isinstance(problem, Reduction) else None


def _each_integer_filter(problem: Problem, _: Variant) -> Hashable:
    return problem if isinstance(problem, Laplace) and not problem.element.is_float else None


_BUILD_PYCUDA = f"{extra('cuda')}, then python -m backends.cuda.install_pycuda"
_POCL = ("pyopencl", "pocl-binary-distribution")
_NVRTC = ("cuda-bindings", "nvidia-cuda-nvrtc")
_CUPTI = ("cupti-python", "nvidia-cuda-cupti*")

REGISTRY: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "numpy",
            "backends.libraries.numpy:NumpyBackend",
            "reference",
            "NumPy on the host",
            packages=("numpy",),
            by_hand="comes with the harness",
        ),
        Entry(
            "opencl",
            "backends.opencl.backend:OpenClBackend",
            "opencl",
            "hand-written OpenCL C through pyopencl",
            packages=_POCL,
            compiles=Compiling(_each, 0.07),
        ),
        Entry(
            "cuda",
            "backends.cuda.backend:CudaBackend",
            "cuda",
            "hand-written CUDA C++ through pycuda",
            packages=("pycuda", *_NVRTC, *_CUPTI),
            by_hand=_BUILD_PYCUDA,
            compiles=Compiling(_each, 0.06),
        ),
        Entry(
            "cupy",
            "backends.libraries.cupy:CupyBackend",
            "library",
            "CuPy's own reductions and filters",
            packages=("cupy*", *_CUPTI),
            narrow_sums=("float32",),
            compiles=Compiling(_each, 1.0),
        ),
        Entry(
            "cupy_no_cub",
            "backends.libraries.cupy_no_cub:CupyNoCubBackend",
            "library",
            "CuPy's reductions without CUB",
            packages=("cupy*", *_CUPTI),
            by_default=False,
            narrow_sums=("float32",),
            compiles=Compiling(_each, 1.0),
        ),
        Entry(
            "pyopencl_array",
            "backends.libraries.pyopencl_array:PyopenclArrayBackend",
            "library",
            "pyopencl.array's reductions",
            packages=_POCL,
            by_default=False,
            compiles=Compiling(_each, 1.0),
        ),
        Entry(
            "pycuda_array",
            "backends.libraries.pycuda_array:PycudaArrayBackend",
            "library",
            "pycuda.gpuarray's reductions",
            packages=("pycuda", *_NVRTC, *_CUPTI),
            by_hand=_BUILD_PYCUDA,
            by_default=False,
            compiles=Compiling(_each, 1.0),
        ),
        Entry(
            "cub",
            "backends.libraries.cub:CubBackend",
            "library",
            "CUB's reductions in C++",
            packages=("nvidia-cuda-nvcc", "nvidia-cuda-cccl", *_NVRTC, *_CUPTI),
            narrow_sums=("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32"),
            compiles=Compiling(_each_type, 17.0),
        ),
        Entry(
            "cuda_compute",
            "backends.libraries.cuda_compute:CudaComputeBackend",
            "library",
            "CUB's reductions from Python (cuda.compute)",
            packages=("cuda-cccl", "cuda-core", *_NVRTC, *_CUPTI),
            by_default=False,
        ),
        Entry(
            "npp",
            "backends.libraries.npp:NppBackend",
            "library",
            "NVIDIA's NPP through ctypes",
            packages=("nvidia-npp*", *_NVRTC, *_CUPTI),
            narrow_sums=("float32",),
        ),
        Entry(
            "cvcuda",
            "backends.libraries.cvcuda:CvCudaBackend",
            "library",
            "CV-CUDA's Laplace filter",
            packages=("cvcuda*", *_NVRTC, *_CUPTI),
        ),
        Entry(
            "torch",
            "backends.libraries.torch:TorchBackend",
            "library",
            "PyTorch's reductions and filters",
            packages=("torch", *_NVRTC, *_CUPTI),
            narrow_sums=("float32",),
            compiles=Compiling(_each_integer_filter, 5.0),
        ),
        Entry(
            "opencv",
            "backends.libraries.opencv:OpenCvBackend",
            "library",
            "OpenCV's functions on the processor",
            packages=("opencv-*",),
        ),
        Entry(
            "opencv_cuda",
            "backends.libraries.opencv_cuda:OpenCvCudaBackend",
            "library",
            "OpenCV's CUDA module (cv2.cuda)",
            packages=("opencv-*", *_NVRTC, *_CUPTI),
            by_hand="build OpenCV with CUDA: backends/libraries/opencv_cuda_build.sh",
        ),
        Entry(
            "opencv_opencl",
            "backends.libraries.opencv_opencl:OpenCvOpenClBackend",
            "library",
            "OpenCV's OpenCL path (UMat)",
            packages=("opencv-*", *_POCL),
            by_default=False,
        ),
        Entry(
            "halide_opencl",
            "backends.libraries.halide_opencl:HalideOpenClBackend",
            "library",
            "Halide's filter by OpenCL: a second witness of the ratio",
            packages=("halide", *_POCL),
            by_default=False,
            compiles=Compiling(_each, 3.0),
        ),
        Entry(
            "halide_cuda",
            "backends.libraries.halide_cuda:HalideCudaBackend",
            "library",
            "Halide's filter by CUDA, of the same schedule",
            packages=("halide", *_NVRTC, *_CUPTI),
            by_default=False,
            compiles=Compiling(_each, 3.0),
        ),
    )
}


def backend_class(name: str) -> type[Backend]:
    """The class of a backend, imported now.

    Raises:
        ValueError: if the name is not in the registry.
        BackendUnavailable: if a package it needs is missing.
    """
    if name not in tuple(REGISTRY):
        raise ValueError(f"backend {name!r} is unknown; known are {', '.join(REGISTRY)}")
    with _named(name):
        return _load(REGISTRY[name])


def available() -> dict[str, list[DeviceInfo] | str]:
    """Every backend of the registry with the devices it can drive here, or with what is missing for it.

    Imports every library into this process; :mod:`harness.runner.discovery` asks in another.
    """
    return {name: devices_or_reason(name) for name in REGISTRY}


def devices_or_reason(name: str) -> list[DeviceInfo] | str:
    """The devices that a backend can drive here, or what is missing for it."""
    try:
        with _named(name):
            return _devices(REGISTRY[name])
    except BackendUnavailable as error:
        return str(error)


def _devices(entry: Entry) -> list[DeviceInfo]:
    cls = _load(entry)
    try:
        return cls.devices()
    except BackendUnavailable:
        raise
    except Exception as error:
        # Of any library and driver: one that is broken costs its own backend only.
        raise BackendUnavailable(f"it does not tell its devices: {_said(error)}", entry.remedy) from error


def open_backend(name: str, device: int = 0) -> Backend:
    """The backend ``name`` on its device number ``device`` (as ``harness devices`` lists them).

    Raises:
        ValueError: if the name is not in the registry.
        TypeError: if the device's number is no integer.
        BackendUnavailable: if a package, a driver or the device is missing; the message says what to do.
    """
    backend = backend_class(name)
    try:
        number = operator.index(device)
    except TypeError as error:
        raise TypeError(
            f"device must be an integer, its number in `harness devices`, not {device!r}"
        ) from error
    with _named(name):
        return backend.open(number)


def _load(entry: Entry) -> type[Backend]:
    use_writable_caches()
    module, _, attribute = entry.path.partition(":")
    try:
        cls: type[Backend] = getattr(import_module(module), attribute)
    except ImportError as error:
        raise BackendUnavailable(str(error), entry.remedy) from error
    except Exception as error:
        # A library of another version or architecture ends its import by whatever it comes upon.
        raise BackendUnavailable(f"it cannot be imported: {_said(error)}", entry.remedy) from error
    return cls


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Has an error say which backend is not available: what several backends share does not know."""
    try:
        yield
    except BackendUnavailable as error:
        raise BackendUnavailable(f"{name}: {error.what}", error.remedy) from error

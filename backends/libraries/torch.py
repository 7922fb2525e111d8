"""The PyTorch backend, a library baseline: its own reductions, and the filter in its operations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, ClassVar

import numpy as np

# PyTorch would start processes to compile kernels beside each other, which the harness does already.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
import torch

from backends.base import POISON, Prepared
from backends.common.library_backend import Calls, PreparedCalls, field_types
from backends.cuda.driver import DriverBackend
from backends.errors import BackendError, BackendUnavailable, DeviceLost, OutOfDeviceMemory
from backends.libraries import torch_filters
from harness.devices import Array, DeviceArray, DeviceInfo
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

_UNSIGNED = frozenset({"uint16", "uint32", "uint64"})
"""Types that PyTorch stores, but hardly computes with."""


class TorchBackend(DriverBackend):
    """One CUDA device through PyTorch, on our stream; what calls allocate comes from PyTorch's cache."""

    name: ClassVar[str] = "torch"
    narrow_sums: ClassVar[tuple[str, ...]] = ("float32",)

    def __init__(self, info: DeviceInfo) -> None:
        self._torch_stream: Any = None
        super().__init__(info)
        self._torch_stream = torch.cuda.ExternalStream(int(self._stream), device=info.index)
        self._activate()

    @classmethod
    def _device_count(cls) -> int:
        if not torch.cuda.is_available():
            raise BackendUnavailable(
                f"PyTorch {torch.__version__} finds no CUDA device, or was built without CUDA",
                "see nvidia-smi and pytorch.org for the build",
            )
        return super()._device_count()

    def upload(self, host: Array) -> DeviceArray:
        with self._typed_errors(f"uploading {host.nbytes} bytes"):
            self._activate()
            # PyTorch wants memory that can be written.
            tensor = torch.from_numpy(np.require(host, requirements="W")).to(self._where)
            self._wait()
        return DeviceArray(tensor, host.dtype, host.shape)

    def give_back_memory(self) -> None:
        # PyTorch keeps freed memory for itself; another backend on this device may want it. That a device is
        # lost shows in the next call, too, and must not hide why this case ended.
        with suppress(RuntimeError):
            torch.cuda.empty_cache()

    def _close(self) -> None:
        self.give_back_memory()

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        tensors = [source.handle for source in sources]
        with self._typed_errors(f"preparing {problem.label}"):
            self._activate()
            if isinstance(problem, Reduction):
                assert isinstance(variant, LibraryVariant)
                return PreparedCalls(self, problem, _reductions(problem, variant, tensors))
            assert isinstance(problem, Laplace)
            calls = self._filters(problem, tensors)
            # The first call compiles, or chooses an algorithm.
            calls.each[0]()
            self._wait()
            return PreparedCalls(self, problem, calls)

    def _filters(self, problem: Laplace, tensors: Sequence[Any]) -> Calls:
        # Float32 with the mantissa of TF32 would be another problem.
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        run = torch_filters.filtering(problem, self._where)
        images = [torch_filters.image_of(problem, packed) for packed in tensors]
        each = [partial(_filtered, run, image, problem.shape) for image in images]
        return Calls(each, problem.accumulator, torch_filters.note(problem))

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        if problem.op not in _FUNCTIONS:
            return f"PyTorch's functions are not used for {problem.op} here"
        if problem.dtype in _UNSIGNED:
            return f"PyTorch has no reductions of {problem.dtype}"
        return None

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        return torch_filters.lacks(problem)

    def _fetch(self, handle: Any) -> Array:
        with self._typed_errors("fetching the result"):
            self._wait()
            return np.asarray(handle.cpu().numpy())

    def _spoiled(self, handle: Any) -> Any:
        with self._typed_errors("filling the results"):
            handle.view(-1).view(torch.uint8).fill_(POISON)
            self._wait()
            return handle

    @property
    def _where(self) -> Any:
        return torch.device("cuda", self.device.index)

    def _activate(self) -> None:
        super()._activate()
        # PyTorch's current stream belongs to the thread, not to a backend.
        if self._torch_stream is not None:
            torch.cuda.set_stream(self._torch_stream)

    @staticmethod
    @contextmanager
    def _typed_errors(doing: str) -> Iterator[None]:
        """Turns PyTorch's errors into ours by type."""
        try:
            yield
        except torch.cuda.OutOfMemoryError as error:
            raise OutOfDeviceMemory(f"PyTorch, {doing}: {error}") from error
        except torch.AcceleratorError as error:
            raise DeviceLost(f"PyTorch, {doing}: {error}") from error
        except RuntimeError as error:
            raise BackendError(f"PyTorch, {doing}: {error}") from error


def _reductions(problem: Reduction, variant: LibraryVariant, tensors: Sequence[Any]) -> Calls:
    reduce = _FUNCTIONS[problem.op]
    total = "float64" if problem.element.is_float else "int64"
    if variant.accumulator == "element":
        reduce, total = _plain_sum, problem.dtype
    return Calls(
        [partial(reduce, tensor) for tensor in tensors],
        accumulator=field_types(problem, total=total, count="int64"),
        note=_note(problem, total),
        calls_per_result=3 if problem.parts.places else 1,
    )


def _note(problem: Reduction, total: str) -> str:
    """What a reader must know of a reduction whose total is of that type."""
    if problem.parts.places:
        return "three calls, aminmax, argmin and argmax"
    # PyTorch's reduction reads the type that it adds in; of a count it adds what its comparison has written.
    widens = problem.op == "count_nonzero" or (
        "total" in problem.parts.fields.values() and problem.dtype != total
    )
    return "widens the source into a copy first" if widens else ""


def _filtered(run: torch_filters.Filter, image: Any, shape: tuple[int, ...]) -> list[Any]:
    return [run(image).view(shape)]


def _sum(tensor: Any) -> list[Any]:
    return [torch.sum(tensor, dtype=_wide(tensor))]


def _product(tensor: Any) -> list[Any]:
    return [torch.prod(tensor, dtype=_wide(tensor))]


def _wide(tensor: Any) -> Any:
    return torch.float64 if tensor.is_floating_point() else torch.int64


def _plain_sum(tensor: Any) -> list[Any]:
    return [torch.sum(tensor)]


_FUNCTIONS: dict[str, Callable[[Any], Sequence[Any]]] = {
    "min": lambda tensor: [torch.amin(tensor)],
    "max": lambda tensor: [torch.amax(tensor)],
    "minmax": torch.aminmax,
    "minmaxloc": lambda tensor: [*torch.aminmax(tensor), torch.argmin(tensor), torch.argmax(tensor)],
    "sum": _sum,
    "product": _product,
    "count_nonzero": lambda tensor: [torch.count_nonzero(tensor)],
}

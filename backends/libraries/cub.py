"""The CUB backend, a library baseline: its device-wide reductions in C++, compiled by nvcc when first used.

Scratch memory is allocated once; results stay on the device. ``cuda_compute`` is the same library as Python
programs call it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from backends.base import Prepared
from backends.common.library_backend import BoundCall, Calls, PreparedCalls, count_type, nan_in_extremes
from backends.cuda import nvcc
from backends.cuda.driver import DriverBackend
from backends.errors import BackendError
from harness.devices import DeviceArray, KnownDeviation
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

SOURCE = Path(__file__).with_name("cub_reductions.cu")
_ANSWERS = {
    "min": "element",
    "max": "element",
    "minmax": "element",
    "sum": "total",
    "product": "total",
    "count_nonzero": "count",
}
"""The reductions, with the kind of value that an answer is made of."""
_NARROW_INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32")


class CubBackend(DriverBackend):
    """One CUDA device; CUB on our stream."""

    name: ClassVar[str] = "cub"
    narrow_sums: ClassVar[tuple[str, ...]] = (*_NARROW_INTEGERS, "float32")

    @classmethod
    def _device_count(cls) -> int:
        nvcc.version()
        return super()._device_count()

    def known_deviations(self, problem: Problem) -> frozenset[KnownDeviation]:
        found = nan_in_extremes(problem)
        if found and isinstance(problem, Reduction) and problem.op != "minmax":
            # DeviceReduce::Min and Max begin with the type's finite limits; our pair of both with infinities.
            found |= {"infinity"}
        return found

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        assert isinstance(problem, Reduction)
        assert isinstance(variant, LibraryVariant)
        self._activate()
        version = _version()
        library = nvcc.load_library(SOURCE, self.device.compute_capability, macros(problem), version)
        is_narrow = variant.accumulator == "element"
        total = problem.narrower_accumulator if is_narrow else problem.total
        reduce = getattr(library, _function(problem, is_narrow))
        types = {"element": problem.dtype, "total": total, "count": count_type(problem)}
        accumulator = types[_ANSWERS[problem.op]]
        answer = self._new((len(problem.parts.fields),), np.dtype(accumulator))
        length, stream = ctypes.c_ulonglong(problem.size), ctypes.c_void_p(int(self._stream))
        needed = ctypes.c_size_t()
        _run(reduce, None, ctypes.byref(needed), None, None, length, stream)
        scratch = self._new((max(1, needed.value),), np.dtype(np.uint8))
        each = []
        for source in sources:
            read, written = (ctypes.c_void_p(view.pointer) for view in (source.handle, answer))
            memory = ctypes.c_void_p(scratch.pointer)
            arguments = (memory, ctypes.byref(needed), read, written, length, stream)
            each.append(BoundCall(partial(_run, reduce, *arguments), (answer,), (scratch, source.handle)))
        return PreparedCalls(self, problem, Calls(each, accumulator, version))

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        if problem.op not in _ANSWERS:
            return f"CUB's reductions are not used for {problem.op} here"
        if problem.dtype not in nvcc.C_TYPES:
            return f"CUB is compiled here for types that C++ has, not for {problem.dtype}"
        return None

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        return "CUB has no filters"


def _version() -> str:
    """CUB's, of the headers that nvcc finds: a toolkit's are in no package that a run records."""
    number = nvcc.number("cub/version.cuh", "CUB_VERSION")
    return f"CUB {number // 100000}.{number // 100 % 1000}.{number % 100}"


def macros(problem: Reduction) -> dict[str, str]:
    """What CUB's reductions are compiled with, the same for all of a type."""
    narrow = replace(problem, op="sum").narrower_accumulator or problem.total
    types = {"ELEMENT": problem.dtype, "TOTAL": problem.total, "NARROW": narrow}
    return {name: nvcc.C_TYPES[dtype] for name, dtype in types.items()}


def _function(problem: Reduction, is_narrow: bool) -> str:
    """The name of the compiled function."""
    if is_narrow:
        return "reduce_narrow_sum"
    is_long = problem.op == "count_nonzero" and count_type(problem) == "uint64"
    return f"reduce_{'long_' if is_long else ''}{problem.op}"


def _run(function: Any, *arguments: Any) -> None:
    """Calls a function of CUB.

    Raises:
        BackendError: when it fails, with CUDA's error code.
    """
    status = function(*arguments)
    if status:
        raise BackendError(f"CUB, {function.__name__}: CUDA error {status}")

"""The cuda.compute backend, a library baseline: CUB's reduction as cuda-cccl offers it to Python.

Where it has no operators of its own (pairs, counting) they are CUDA C++, compiled to LTO-IR and linked into
CUB's kernel, as ``RawOp`` documents; so nothing else is needed to compile them. Scratch memory is allocated
once; results stay on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from cuda.core import Program, ProgramOptions

from backends.base import Prepared
from backends.common.library_backend import Calls, PreparedCalls, count_type, nan_in_extremes
from backends.cuda import nvcc
from backends.cuda.driver import DeviceView, DriverBackend
from backends.errors import BackendUnavailable
from harness.devices import DeviceArray, KnownDeviation
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

_HOW_TO_GET = "pip install 'cuda-cccl[cu13]', and NVIDIA's driver"

try:
    from cuda import compute

    if not hasattr(compute, "make_reduce_into"):
        # Without a driver the package imports, but holds nothing.
        raise BackendUnavailable("cuda.compute is empty: it finds no CUDA driver", _HOW_TO_GET)
    from cuda.compute import types
    from cuda.compute.op import RawOp
except RuntimeError as error:
    raise BackendUnavailable(f"cuda.compute lacks a library of CUDA's ({error})", _HOW_TO_GET) from error

_TYPES = """
typedef {element} element_t;
typedef {count} count_t;
struct pair_t {{ element_t lowest, highest; }};
"""

_OPERATORS = {
    "pair_of": """
extern "C" __device__ void pair_of(void* value, void* result)
{
    const element_t x = *static_cast<const element_t*>(value);
    *static_cast<pair_t*>(result) = pair_t{x, x};
}
""",
    "merge_pairs": """
extern "C" __device__ void merge_pairs(void* first, void* second, void* result)
{
    const pair_t a = *static_cast<const pair_t*>(first);
    const pair_t b = *static_cast<const pair_t*>(second);
    *static_cast<pair_t*>(result) =
        pair_t{b.lowest < a.lowest ? b.lowest : a.lowest, a.highest < b.highest ? b.highest : a.highest};
}
""",
    "one_if_nonzero": """
extern "C" __device__ void one_if_nonzero(void* value, void* result)
{
    *static_cast<count_t*>(result) = *static_cast<const element_t*>(value) != 0;
}
""",
}
"""One a piece of code: what two of them are linked from may define nothing twice."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How a reduction is put to CUB: what it reads for a source, how two of these merge, from what on."""

    read: Callable[[DeviceView], Any]
    merge: Any
    result: np.dtype[Any]
    start: Any = None
    note: str = ""


class CudaComputeBackend(DriverBackend):
    """One CUDA device; ``cuda.compute`` on our stream."""

    name: ClassVar[str] = "cuda_compute"

    def known_deviations(self, problem: Problem) -> frozenset[KnownDeviation]:
        return nan_in_extremes(problem)

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        assert isinstance(problem, Reduction)
        self._activate()
        form = _FORMS[problem.op](problem, self.device.compute_capability)
        result = self._new((1,), form.result)
        inputs = [form.read(source.handle) for source in sources]
        fixed = {
            "d_out": result,
            "num_items": problem.size,
            "op": form.merge,
            "h_init": form.start,
            "stream": self._stream,
        }
        reduce = compute.make_reduce_into(d_in=inputs[0], d_out=result, op=form.merge, h_init=form.start)
        needed = reduce(temp_storage=None, d_in=inputs[0], **fixed)
        scratch = self._new((max(1, int(needed)),), np.dtype(np.uint8))
        each = [_Bound(reduce, {"temp_storage": scratch, "d_in": read, **fixed}, result) for read in inputs]
        accumulators = (form.result[name] for name in form.result.names or ())
        accumulator = next(iter(accumulators), form.result).name
        return PreparedCalls(self, problem, Calls(each, accumulator, form.note))

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        if problem.op not in _FORMS:
            return f"cuda.compute is not used for {problem.op} here"
        if problem.dtype not in nvcc.C_TYPES:
            return f"the operators here are for types that C++ has, not for {problem.dtype}"
        return None

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        return "cuda.compute has no filters"


@dataclass(frozen=True, slots=True)
class _Bound:
    """A call of CUB's with its arguments fixed."""

    reduce: Any
    arguments: dict[str, Any]
    result: DeviceView

    def __call__(self) -> Sequence[DeviceView]:
        self.reduce(**self.arguments)
        return (self.result,)


def _extreme(kind: Any) -> Callable[[Reduction, int], _Form]:
    return lambda problem, _: _Form(lambda view: view, kind, problem.element.numpy)


def _pairs(problem: Reduction, capability: int) -> _Form:
    element = problem.element.numpy
    pair = np.dtype([("lowest", element), ("highest", element)])
    pair_of = _operator("pair_of", problem.dtype, capability)
    value_type = types.from_numpy_dtype(pair)
    return _Form(
        lambda view: compute.TransformIterator(view, pair_of, value_type),
        _operator("merge_pairs", problem.dtype, capability),
        pair,
        note="reads through a transform iterator into pairs",
    )


def _sum(problem: Reduction, _: int) -> _Form:
    total = np.dtype(problem.total)
    return _Form(lambda view: view, compute.OpKind.PLUS, total, np.zeros(1, total))


def _product(problem: Reduction, _: int) -> _Form:
    total = np.dtype(problem.total)
    return _Form(lambda view: view, compute.OpKind.MULTIPLIES, total, np.ones(1, total))


def _count(problem: Reduction, capability: int) -> _Form:
    count = np.dtype(count_type(problem))
    one_if_nonzero = _operator("one_if_nonzero", problem.dtype, capability, count.name)
    value_type = types.from_numpy_dtype(count)
    return _Form(
        lambda view: compute.TransformIterator(view, one_if_nonzero, value_type),
        compute.OpKind.PLUS,
        count,
        np.zeros(1, count),
        note="reads through a transform iterator",
    )


_FORMS: dict[str, Callable[[Reduction, int], _Form]] = {
    "min": _extreme(compute.OpKind.MINIMUM),
    "max": _extreme(compute.OpKind.MAXIMUM),
    "minmax": _pairs,
    "sum": _sum,
    "product": _product,
    "count_nonzero": _count,
}


@cache
def _operator(name: str, dtype: str, capability: int, count: str = "uint64") -> RawOp:
    """An operator for an element type and a type of counts, compiled for a device."""
    options = ProgramOptions(
        arch=f"sm_{capability}", relocatable_device_code=True, link_time_optimization=True
    )
    source = _TYPES.format(element=nvcc.C_TYPES[dtype], count=nvcc.C_TYPES[count]) + _OPERATORS[name]
    return RawOp(ltoir=bytes(Program(source, "c++", options).compile("ltoir").code), name=name)

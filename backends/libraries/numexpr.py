"""The numexpr backend, a library baseline on the host's processor: expressions that are one reduction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numexpr
from numexpr import necompiler

from backends.base import Prepared
from backends.common.library_backend import Calls, PreparedCalls, each, field_types, nan_in_extremes
from backends.libraries.host import HostBackend
from harness.devices import DeviceArray, KnownDeviation
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import Variant

_FUNCTIONS = {"lowest": "min", "highest": "max", "total": "sum"}


class NumexprBackend(HostBackend):
    """The host's processor by numexpr, whose reductions run on one thread, however many it is given."""

    name: ClassVar[str] = "numexpr"
    title: ClassVar[str] = "numexpr"
    version: ClassVar[str] = numexpr.__version__

    def known_deviations(self, problem: Problem) -> frozenset[KnownDeviation]:
        return nan_in_extremes(problem)

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        assert isinstance(problem, Reduction)
        types = {name: _computed_in(problem, name) for name in problem.parts.fields}
        chosen = [_compiled(name, computed_in) for name, computed_in in types.items()]
        calls = Calls(
            [partial(each, chosen, source.handle) for source in sources],
            accumulator=field_types(problem, **types),
            note="one thread; elements are converted block by block to what it computes in",
            calls_per_result=len(chosen),
            result_location="host",
        )
        return PreparedCalls(self, problem, calls)

    def _lacks_reduction(self, problem: Reduction) -> str | None:
        if not _FUNCTIONS.keys() >= problem.parts.fields.keys():
            return f"numexpr has no {problem.op}"
        if problem.dtype == "uint64":
            return "numexpr has no uint64"
        if problem.dtype == "int64" and "element" in problem.parts.fields.values():
            return "numexpr compares int64 as float64, which does not hold every one"
        return None

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        return "numexpr has no filters"


def _computed_in(problem: Reduction, field: str) -> str:
    """The type of numexpr's arithmetic."""
    if problem.dtype == "float64" or (field == "total" and problem.total == "float64"):
        return "float64"
    # No int32: its sums wrap in 32 bits, and its minima and maxima fail with NumPy 2.
    return "float32" if problem.element.is_float else "int64"


def _compiled(field: str, computed_in: str) -> Callable[[Any], Any]:
    told = {"int64": necompiler.long_, "float32": float, "float64": necompiler.double}[computed_in]
    function: Callable[[Any], Any] = numexpr.NumExpr(f"{_FUNCTIONS[field]}(a)", signature=[("a", told)])
    return function

"""The types in which our kernels compute: part of what a ratio compares."""

from __future__ import annotations

from harness.problems import Laplace, Problem, Reduction


def accumulator(problem: Problem) -> str:
    """The NumPy name of the type in which our kernels compute: of extremes the elements' own.

    Of a problem with several the names are joined; empty for a problem without arithmetic.
    """
    if isinstance(problem, Reduction):
        kinds = problem.parts.fields
        types = (
            problem.element.kernel_numpy if kinds[name] == "element" else problem.partial_dtype[name]
            for name in problem.parts.combine
        )
        return ", ".join(dict.fromkeys(dtype.name for dtype in types))
    if isinstance(problem, Laplace):
        return "float32" if problem.element.is_float else "int32"
    return ""

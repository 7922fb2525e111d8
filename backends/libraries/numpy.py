"""The NumPy backend: the reference, on the host. Plain and obviously right, not fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from backends.base import Prepared
from backends.common.library_backend import Call, Calls, PreparedCalls
from backends.libraries.host import HostBackend
from harness.devices import Array, DeviceArray
from harness.problems import Laplace, Problem, Reduction
from harness.problems.operations import TERMS
from harness.variants.axes import Variant


class NumpyBackend(HostBackend):
    """The host's processor, by NumPy; calls run at once."""

    name: ClassVar[str] = "numpy"
    title: ClassVar[str] = "NumPy"
    version: ClassVar[str] = np.__version__
    adds_others: ClassVar[bool] = True

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        arrays = [source.handle for source in sources]
        if isinstance(problem, Reduction):
            calls = [_reduction(problem, array) for array in arrays]
        else:
            assert isinstance(problem, Laplace)
            calls = [_laplace(problem, array) for array in arrays]
        return PreparedCalls(self, problem, Calls(calls, result_location="host"))


def _reduction(problem: Reduction, array: Array) -> Call:
    total, term = np.dtype(problem.total), problem.parts.term

    def terms() -> Any:
        with np.errstate(over="ignore"):
            return np.sum(TERMS[term](array.astype(total)), dtype=total)

    fields: dict[str, Callable[[], Any]] = {
        "lowest": lambda: np.min(array),
        "highest": lambda: np.max(array),
        "lowest_at": lambda: np.argmin(array),
        "highest_at": lambda: np.argmax(array),
        "total": terms if problem.parts.adds_others else lambda: np.sum(array, dtype=total),
        "product": lambda: np.prod(array, dtype=total),
        "count": lambda: np.count_nonzero(array),
    }
    parts = [fields[name] for name in problem.parts.fields]
    return lambda: [part() for part in parts]


def _laplace(problem: Laplace, packed: Array) -> Call:
    image = packed[:, : problem.row_elements].reshape(problem.shape)
    return lambda: [problem.reference(image)]

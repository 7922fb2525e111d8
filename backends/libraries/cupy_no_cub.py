"""The CuPy backend without CUB: the reductions that CuPy generates itself."""

from __future__ import annotations

from typing import ClassVar

from backends.libraries.cupy_device import CupyLibrary
from harness.problems import Laplace


class CupyNoCubBackend(CupyLibrary):
    """CuPy's own reduction kernels."""

    name: ClassVar[str] = "cupy_no_cub"
    accelerators: ClassVar[tuple[str, ...]] = ()

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        return "CuPy's filters do not use CUB: the backend cupy has measured them"

"""The CuPy backend, a library baseline: its own reductions and SciPy's correlate, no kernel of ours."""

from __future__ import annotations

from typing import ClassVar

from backends.libraries.cupy_device import CupyLibrary


class CupyBackend(CupyLibrary):
    """CuPy as it comes: its reductions through CUB."""

    name: ClassVar[str] = "cupy"
    accelerators: ClassVar[tuple[str, ...]] = ("cub",)

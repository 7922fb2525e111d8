"""What kernels take of a GPU that they were compiled for, and on which they did not run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ValidationError

from harness.results.file_content import content
from reports.tables import Cell, Line, Table

_HEADINGS = (
    ("problem", "the operation, type and size that a kernel is compiled for"),
    ("variant", "the default, that of portable kernels, or a rung of a ladder"),
    ("kernel", ""),
    ("registers", "of a work-item (VGPRs on AMD)"),
    ("scalar", "registers of a sub-group (SGPRs on AMD)"),
    ("spills", "registers of a work-item that went to memory (AMD), or bytes stored for them (NVIDIA)"),
    ("scalar spills", "registers of a sub-group that went to those of work-items"),
    ("stack B", "bytes of a work-item"),
    ("local B", "bytes of local (shared) memory of a work-group"),
    ("waves/SIMD", "sub-groups (warps) that a SIMD unit, a quarter of a compute unit, has room for"),
)
_TEXTS = 3
"""Columns of text; the others are numbers."""
_GIVE = "give a file that `harness compile --json` printed"
"""What to do about a file that is none."""


class Kernel(BaseModel, strict=True):
    """A kernel that was compiled (:class:`backends.common.resources.Resources`), or why it was not."""

    problem: str
    variant: str
    kernel: str
    error: str = ""
    registers: int | None = None
    scalar_registers: int | None = None
    spills: int | None = None
    scalar_spills: int | None = None
    stack_bytes: int | None = None
    local_bytes: int | None = None
    waves: int | None = None


class Target(BaseModel, strict=True):
    """What a compiler said of all kernels for one architecture, with sub-groups of ``wave`` work-items."""

    target: str
    wave: int
    compiler: str
    kernels: list[Kernel]


class _File(BaseModel, strict=True):
    targets: list[Target]


class Compiled(NamedTuple):
    """A target on the page."""

    title: str
    table: Table


def load(path: Path) -> list[Target]:
    """The targets in a file that ``harness compile --json`` printed.

    Raises:
        ValueError: if the file is none, or cannot be read; the message names it and the first fault.
    """
    try:
        return _File.model_validate_json(content(path, give=_GIVE)[0]).targets
    except ValidationError as error:
        fault = error.errors()[0]
        place = "".join(f"{name}: " for name in [".".join(map(str, fault["loc"]))] if name)
        raise ValueError(f"{path}: {place}{fault['msg']}; {_GIVE}") from error


def shown(targets: Sequence[Target]) -> list[Compiled]:
    """Each target with its kernels, as the page has them."""
    return [Compiled(_title(target), _table(target.kernels)) for target in targets]


def _title(target: Target) -> str:
    spilling = sum(bool(kernel.spills) for kernel in target.kernels)
    return f"{target.target}, waves of {target.wave}, by {target.compiler}; {spilling} with spills"


def _table(kernels: Sequence[Kernel]) -> Table:
    lines = tuple(Line(_cells(kernel), {}) for kernel in kernels)
    return Table(_HEADINGS, lines, frozenset(range(_TEXTS, len(_HEADINGS))), {})


def _cells(kernel: Kernel) -> tuple[Cell, ...]:
    texts = (Cell(kernel.problem), Cell(kernel.variant, style="variant"))
    if kernel.error:
        failed = Cell(f"{kernel.kernel}: {kernel.error}", style="failed")
        return (*texts, failed, *[Cell("-")] * (len(_HEADINGS) - _TEXTS))
    numbers = (
        *(kernel.registers, kernel.scalar_registers, kernel.spills, kernel.scalar_spills),
        *(kernel.stack_bytes, kernel.local_bytes, kernel.waves),
    )
    return (*texts, Cell(kernel.kernel), *(Cell("-" if each is None else f"{each:,}") for each in numbers))

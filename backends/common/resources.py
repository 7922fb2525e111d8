"""What a compiler says that a kernel takes of a GPU that need not be here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resources:
    """Of one kernel; None for what that vendor's compiler does not tell, or what its GPUs have not got.

    ``registers``: of a work-item (AMD's VGPRs). ``scalar_registers``: of a sub-group (AMD's SGPRs).
    ``spills``: registers that went to memory (AMD), or the bytes stored for them (NVIDIA). ``scalar_spills``:
    those that went to registers of work-items. ``stack_bytes``: of a work-item, where arrays and spilled
    registers are. ``local_bytes``: local memory of a work-group.
    ``waves``: sub-groups that one SIMD unit (a quarter of a compute unit) can hold at a time.
    """

    kernel: str
    registers: int
    scalar_registers: int | None
    spills: int
    scalar_spills: int | None
    stack_bytes: int
    local_bytes: int
    waves: int

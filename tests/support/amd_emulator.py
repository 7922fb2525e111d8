"""Runs our kernels, compiled by Clang for an AMD GPU, in tinygrad's emulator of AMD's instructions.

The emulator stands in the test folder of tinygrad's repository, which no package has: EMULATOR names a
checkout. Three things that it does not do as the hardware are mended from here, see :func:`_load`.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from struct import pack_into, unpack_from
from typing import Any, Final

import numpy as np

from backends.base import POISON
from backends.opencl import clang
from harness.kernels.plan import Buffer, KernelPlan, PlannedLaunch, Scalar, Source
from harness.kernels.planner import plan
from harness.kernels.source import assemble
from harness.kernels.targets import Target
from harness.problems import Array, Laplace, Problem
from harness.variants.axes import Variant

EMULATOR: Final = "HARNESS_TINYGRAD"
"""The environment variable that names the checkout."""
ARCHITECTURES: Final = {"gfx90a": "cdna", "gfx942": "cdna", "gfx1100": "rdna3", "gfx1201": "rdna4"}
"""The emulator's names of what it knows, each with one width of sub-groups."""
_WRONG: Final = ("MUL_HI_I32_I24", "CMPSWAP_B64", "CMPSWAP_X2")
"""Parts of the names of instructions that it gets wrong: the high word of a product of negative numbers, and
compare and swap of 64 bits, of which it takes 32.
"""
_SLACK: Final = 256
"""Bytes after each buffer, so that a stray access of the kernel is seen in the result, not in a crash."""
_NOP: Final = 0xBF800000
_CACHES: Final = {
    0xE0AC0000: 2,  # RDNA3: buffer_gl0_inv, buffer_gl1_inv
    0xE0B00000: 2,
    0xE0A40000: 2,  # CDNA: buffer_inv, buffer_wbl2
    0xE0A00000: 2,
    0xE0FC0000: 2,  # gfx90a: buffer_wbinvl1_vol
    0xEE0AC07C: 3,  # RDNA4: global_inv, global_wb
    0xEE0B007C: 3,
}
"""The instructions that invalidate and write back caches: their first word, without the bits of CDNA's scope,
and how many words they have.
"""
_SCOPE, _SCOPE_RDNA4 = 0xC000, 0xC0000
# Places in a kernel descriptor, and bits of what it asks for, by LLVM's "User Guide for AMDGPU Backend".
_LOCAL_BYTES, _PRIVATE_BYTES, _ENTRY, _RESOURCES2, _PROPERTIES = 0, 4, 16, 52, 56
_LOCAL_SHIFT, _LOCAL_MASK, _LOCAL_GRANULE = 15, 0x1FF, 512
_USER_WORDS: Final = (4, 2, 2, 2, 2, 2, 1)
"""Scalar registers of each user register that a descriptor may enable: the second is the dispatch packet, the
fourth the arguments.
"""


class Lacking(Exception):
    """The emulator cannot run an instruction of the kernel."""


@cache
def _load() -> Any:
    """The emulator, with what it lacks.

    * Lanes that are off read and write local memory, too, wherever their stale address is: they get 0.
    * A permutation's lane is not taken modulo the width of the sub-group, as AMD's manuals say.
    """
    sys.path.insert(0, os.environ[EMULATOR])
    emulator: Any = import_module("test.mockgpu.amd.emu")

    class Guarded(emulator._Ctx):  # type: ignore[misc]
        __slots__ = ()

        def rvgpr_dyn(self, register: Any, lane: Any) -> Any:
            value = super().rvgpr_dyn(register, lane)
            return emulator._lane_active(self.rexec(), lane).where(value, emulator._c(0))

    for kind, handler in list(emulator._INST_HANDLERS.items()):
        if kind.__name__.startswith("DS"):

            def guarded(instruction: Any, context: Any, handler: Any = handler) -> Any:
                context.__class__ = Guarded
                return handler(instruction, context)

            emulator._INST_HANDLERS[kind] = guarded
    told = emulator.get_pcode

    def with_wrapped_lanes(operation: Any) -> str:
        def wrapped(found: re.Match[str]) -> str:
            last = 63 if "64" in found[1] else 31
            return f"src_lane = ((VGPR[i][ADDR] + OFFSET.b32) >> 2) & {last};"

        if any(part in operation.name for part in _WRONG):
            raise Lacking(f"the emulator is wrong for {operation.name}")
        return re.sub(r"src_lane = .*OFFSET.*% *(\w+);", wrapped, str(told(operation)))

    emulator.get_pcode = with_wrapped_lanes
    return emulator


class _Program:
    """A code object in memory."""

    def __init__(self, path: Path) -> None:
        from elftools.elf.elffile import ELFFile

        with path.open("rb") as file:
            elf = ELFFile(file)
            segments = [each for each in elf.iter_segments() if each["p_type"] == "PT_LOAD"]
            size = max(each["p_vaddr"] + each["p_memsz"] for each in segments)
            self._memory = mmap.mmap(-1, size + mmap.PAGESIZE)
            for each in segments:
                self._memory[each["p_vaddr"] : each["p_vaddr"] + each["p_filesz"]] = each.data()
            symbols: Any = elf.get_section_by_name(".dynsym")
            self._places = {symbol.name: int(symbol["st_value"]) for symbol in symbols.iter_symbols()}
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        # The emulator has no caches, and does not know these instructions.
        words = np.frombuffer(self._memory, np.uint32)
        for place in np.flatnonzero(words[:-2] >> 24 >= 0xE0):
            first = int(words[place])
            length = _CACHES.get(first) or _CACHES.get(first & ~_SCOPE, 0)
            rest = words[place + 1 : place + length]
            if length and not (rest & ~np.uint32(_SCOPE_RDNA4)).any():
                words[place : place + length] = _NOP

    def run(self, launch: PlannedLaunch, handles: dict[Any, int], architecture: str) -> None:
        """One launch; ``handles`` are the addresses of the source and of the buffers, by name."""
        at = self._places[f"{launch.kernel}.kd"]
        (local,) = unpack_from("<I", self._memory, at + _LOCAL_BYTES)
        (private,) = unpack_from("<I", self._memory, at + _PRIVATE_BYTES)
        (entry,) = unpack_from("<q", self._memory, at + _ENTRY)
        resources, properties = unpack_from("<IH", self._memory, at + _RESOURCES2)
        groups, size = ((*each, 1, 1)[:3] for each in (launch.num_groups, launch.group_size))
        arguments = _arguments(launch, handles, size)
        packet = ctypes.create_string_buffer(64)
        grid = (of * items for of, items in zip(groups, size, strict=True))
        pack_into("<HHHHHHIII", packet, 0, 0, len(launch.num_groups), *size, 0, *grid)
        pointers = {1: ctypes.addressof(packet), 3: ctypes.addressof(arguments)}
        user = [
            (pointers.get(bit, 0) >> (32 * word)) & 0xFFFFFFFF
            for bit, words in enumerate(_USER_WORDS)
            if properties >> bit & 1
            for word in range(words)
        ]
        # The device's own command processor adds what a work-group takes of local memory.
        resources &= ~(_LOCAL_MASK << _LOCAL_SHIFT)
        resources |= -(-local // _LOCAL_GRANULE) << _LOCAL_SHIFT
        address = ctypes.addressof(arguments)
        code = self._base + at + entry
        try:
            _load().run_asm(code, 0, *groups, *size, address, resources, private, architecture, user)
        except RuntimeError as error:
            raise (error.__cause__ if isinstance(error.__cause__, Lacking) else error) from None


def _arguments(launch: PlannedLaunch, handles: dict[Any, int], size: tuple[int, ...]) -> Any:
    """The kernel's arguments in memory, each at a multiple of its size, and after them the implicit ones."""
    memory, at = bytearray(1024), 0
    for argument in launch.arguments:
        if isinstance(argument, Scalar):
            value, nbytes = argument.value, np.dtype(argument.dtype).itemsize
        else:
            value, nbytes = handles[argument.name if isinstance(argument, Buffer) else Source], 8
        at = -(-at // nbytes) * nbytes
        memory[at : at + nbytes] = value.to_bytes(nbytes, "little")
        at += nbytes
    at = -(-at // 8) * 8
    # The numbers of groups stay 0: where they would be libclc looks for the offset of the range, by an older
    # order of these arguments. Our kernels ask the dispatch packet for both.
    pack_into("<HHH", memory, at + 12, *size)
    return ctypes.create_string_buffer(bytes(memory), len(memory))


def emulated(problem: Problem, variant: Variant, target: Target, host: Array, folder: Path) -> Any:
    """The answer of our kernels on a source, by the emulator.

    Raises:
        BackendError: if they cannot be compiled.
        Lacking: if the emulator cannot run them.
    """
    made = plan(problem, variant, target.device)
    path = folder / "kernels.hsaco"
    clang.code_object(assemble(target.language, made.files, made.macros), target, path)
    laid = problem.pack(host) if isinstance(problem, Laplace) else host
    source = np.zeros(laid.nbytes + _SLACK, np.uint8)
    source[: laid.nbytes] = np.ascontiguousarray(laid).reshape(-1).view(np.uint8)
    buffers = {name: _filled(made, name) for name in made.buffers}
    handles: dict[Any, int] = {
        Source: source.ctypes.data,
        **{name: each.ctypes.data for name, each in buffers.items()},
    }
    program = _Program(path)
    for launch in (*made.launches, *made.readback):
        program.run(launch, handles, ARCHITECTURES[target.architecture])
    for name, each in buffers.items():
        assert (each[made.buffers[name] :] == POISON).all(), f"{name}: written past its end"
    raw = buffers[made.result][: made.result_count * made.result_dtype.itemsize]
    return problem.finish(raw.view(made.result_dtype).copy())


def _filled(made: KernelPlan, name: str) -> Array:
    """A buffer as it is before a call, and after it bytes that no kernel may write to."""
    nbytes = made.buffers[name]
    pattern = np.frombuffer(made.initial.get(name, bytes([POISON])), np.uint8)
    filled = np.full(nbytes + _SLACK, POISON, np.uint8)
    filled[:nbytes] = np.resize(pattern, nbytes)
    return filled

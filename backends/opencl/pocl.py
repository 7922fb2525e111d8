"""A repair for PoCL on processors whose name keeps its built-in functions from being inlined.

PoCL takes the name of the processor from LLVM. An LLVM older than the processor answers "generic", which
clang then refuses for x86-64 ("unknown target CPU 'generic'", pocl issue 1049): no kernel builds. Or it
answers with the name of an older relative, such as znver3 for a Zen 4: kernels are then compiled without
AVX-512 and linked with PoCL's built-in functions for AVX-512, which pass vectors in other registers: wrong
results and crashes of the compiler. Or the name is right, but LLVM inlines no function that was compiled for
haswell, as for every Zen up to the third: each min or convert of a vector becomes a call, and a minimum of
integers takes up to five times as long (reports/examples, cpu-sweep-before and cpu-sweep).

PoCL that is built for many processors (DISTRO in its version) has its built-in functions for one processor of
each class. PoCL 3.1 compiles kernels under that one's name. The PoCL that pyopencl's wheels bundle (3.0 with
LLVM 14) does not, and there is no setting for it, so the name is replaced in PoCL's device record.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Set
from functools import cache
from pathlib import Path

from harness.cpuinfo import PATH, cpuinfo

_V3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
_NAMES = (
    ("skylake-avx512", _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
    ("haswell", _V3),
    ("penryn", {"sse4_1", "ssse3", "cx16"}),
)
"""LLVM's names of the processors for which PoCL's built-in functions are compiled, the most able first, with
the features that LLVM uses of each by itself.
"""
_INLINING = {
    "skylake-avx512": {
        "skylake-avx512",
        "cascadelake",
        "cooperlake",
        "icelake-server",
        "tigerlake",
        "sapphirerapids",
    },
    "haswell": {"haswell", "broadwell", "skylake"},
}
"""The names for which LLVM 14 inlines functions that were compiled for the first of each, as its ``opt``
shows. A name that was not tried counts as one for which it does not.
"""
_RECORD_BYTES = 2048
"""PoCL's device record is searched this far for the processor's name, which follows the target triple."""


class _Span(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def _peek(address: int, length: int) -> bytes:
    """Reads this process's memory without a crash where nothing is mapped: the bytes before the first
    unmapped page.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.process_vm_readv.restype = ctypes.c_ssize_t
    buffer = ctypes.create_string_buffer(length)
    local, remote = _Span(ctypes.addressof(buffer), length), _Span(address, length)
    count = libc.process_vm_readv(os.getpid(), ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return buffer.raw[: max(0, count)]


def _text_at(address: int) -> bytes:
    page_end = 4096 - address % 4096
    text = _peek(address, min(64, page_end)) if address else b""
    return text.split(b"\0")[0]


@cache
def _kept(name: str) -> ctypes.Array[ctypes.c_char]:
    """The replacement, kept alive for as long as the process: PoCL keeps the pointer."""
    return ctypes.create_string_buffer(name.encode())


def x86_flags(path: Path = PATH) -> frozenset[str]:
    """The processor's feature flags as Linux names them; none where Linux does not tell."""
    return frozenset(cpuinfo(path).get("flags", "").split())


def known_name(flags: Set[str]) -> str:
    """The name under which kernels use most of what the feature flags cover."""
    return next((name for name, needed in _NAMES if needed <= flags), "x86-64")


def misnamed(device_version: str, platform_version: str, flags: Set[str]) -> str | None:
    """The name that a PoCL CPU device gives its processor, if kernels under it fail, or inline no function.

    Args:
        device_version: ``CL_DEVICE_VERSION``, which ends in the target triple and that name.
        platform_version: ``CL_PLATFORM_VERSION``, which says how PoCL was built.
        flags: the processor's feature flags; where none are known, only "generic" is wrong.
    """
    _, of_pocl, target = device_version.partition("PoCL")
    _, of_linux, name = target.partition("-gnu-")
    if not (of_pocl and of_linux and "x86_64" in target):
        return None
    # Built for one processor PoCL has its built-in functions under that one's own name.
    has_classes = "DISTRO" in platform_version.split(", ")
    is_inlined = name in _INLINING.get(known_name(flags), {name})
    return name if name == "generic" or (has_classes and not is_inlined) else None


def repair(device_pointer: int, device_version: str, platform_version: str) -> str | None:
    """Gives a PoCL CPU device whose processor has the wrong name that of PoCL's built-in functions for it.

    Args:
        device_pointer: the ``cl_device_id`` as an integer.
        device_version: ``CL_DEVICE_VERSION``.
        platform_version: ``CL_PLATFORM_VERSION``.

    Returns:
        The name now in force, or None where nothing had to be, or could be, repaired.
    """
    flags = x86_flags()
    wrong = misnamed(device_version, platform_version, flags)
    if wrong is None:
        return None
    record = _peek(device_pointer, _RECORD_BYTES)
    words = struct.unpack(f"<{len(record) // 8}Q", record[: len(record) // 8 * 8])
    name = known_name(flags)
    # A device that was repaired before, in this process, is told so again.
    names = (wrong.encode(), name.encode())
    for index in range(len(words) - 1):
        if _text_at(words[index]).startswith(b"x86_64") and _text_at(words[index + 1]) in names:
            slot = ctypes.c_uint64.from_address(device_pointer + 8 * (index + 1))
            slot.value = ctypes.addressof(_kept(name))
            return name
    return None

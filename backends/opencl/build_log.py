"""What NVIDIA's compiler says of a program: registers and spills of its kernels.

The driver keeps on disk what it has compiled, and says nothing of what it takes from there. So its log is
kept, too. Where there is none, the program is compiled once more for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pyopencl as cl

from backends.common.disk_cache import DiskCache

NV_VERBOSE = "-cl-nv-verbose"
NV_REGISTERS = "-cl-nv-maxrregcount"
NV_OPTIONS = "cl_nv_compiler_options"
"""The extension of NVIDIA's that knows these options."""
_SAID = "ptxas info"

_logs = DiskCache("log", "the registers of OpenCL kernels may be unknown")


def verbose_log(
    program: cl.Program,
    source: str,
    options: Sequence[str],
    build: Callable[[str, Sequence[str]], cl.Program],
) -> str:
    """The log of a program that was built from this source with :data:`NV_VERBOSE` among its options; empty
    where the compiler says nothing. ``build`` builds a source with options.
    """
    device = program.context.devices[0]
    identity = (device.name, device.driver_version, tuple(options), source)
    said = _said(program)
    if not said:
        kept = _logs.read(identity)
        if kept is not None:
            return kept.decode()
        # With a kernel of another name in it, this is a program that the driver has not seen yet.
        said = _said(build(f"{source}\n__kernel void compiled_anew_{time.time_ns()}(void) {{}}\n", options))
    _logs.write(identity, said.encode())
    return said


def _said(program: cl.Program) -> str:
    device = program.context.devices[0]
    log = program.get_build_info(device, cl.program_build_info.LOG)  # type: ignore[no-untyped-call]
    return str(log) if _SAID in str(log) else ""

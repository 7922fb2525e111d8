"""Compiles CUDA C++ to machine code (cubin) with NVRTC: needs neither nvcc nor GPU, and keeps the results."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from backends.common.disk_cache import DiskCache
from backends.errors import BackendUnavailable, BuildError

OPTIONS = ("--std=c++17",)
_DISASSEMBLERS = {"nvdisasm": ("-c",), "cuobjdump": ("-sass",)}
_HOW_TO_GET = "pip install cuda-bindings nvidia-cuda-nvrtc"


class Compiled(NamedTuple):
    """Machine code, and what the compiler said: warnings, mostly nothing."""

    cubin: bytes
    log: str


def version() -> tuple[int, int]:
    """Major and minor version of NVRTC.

    Raises:
        BackendUnavailable: if cuda-bindings or the NVRTC library is not installed.
    """
    nvrtc = _nvrtc()
    try:
        major, minor = _checked(nvrtc.nvrtcVersion())
    except (RuntimeError, OSError) as error:  # what cuda-bindings raises when it finds no libnvrtc
        raise BackendUnavailable(f"NVRTC is missing ({error})", _HOW_TO_GET) from error
    return major, minor


def compile_cubin(source: str, capability: tuple[int, int], cache: Path | None = None) -> bytes:
    """Machine code of a CUDA C++ source for a compute capability, from the disk cache where it has it.

    Args:
        source: as :func:`harness.kernels.source.assemble` gives it.
        capability: (9, 0) for sm_90.
        cache: folder of the cache; the user's cache folder when None.

    Raises:
        BackendUnavailable: if NVRTC is not installed.
        BuildError: if the source does not compile, or NVRTC does not know the capability.
    """
    flags = options(capability)
    identity = (version(), flags, source)
    kept = DiskCache("cubin", "kernels are compiled each time", cache)
    cubin = kept.read(identity)
    if cubin is None:
        cubin = compile_source(source, capability).cubin
        kept.write(identity, cubin)
    return cubin


def compile_source(source: str, capability: tuple[int, int], more: tuple[str, ...] = ()) -> Compiled:
    """As :func:`compile_cubin`, always compiling, with ``more`` options and the compiler's log."""
    return _compile(source, (*options(capability), *more), "CUBIN")


def compile_ptx(source: str, capability: tuple[int, int]) -> str:
    """The PTX of a CUDA C++ source for a compute capability. Raises as :func:`compile_cubin`."""
    flags = (f"--gpu-architecture=compute_{capability[0]}{capability[1]}", *OPTIONS)
    return _compile(source, flags, "PTX").cubin.rstrip(b"\0").decode()


def disassemble(source: str, capability: tuple[int, int]) -> str:
    """The machine code of a CUDA C++ source as text, by the toolkit's nvdisasm or cuobjdump.

    Raises:
        BackendUnavailable: if NVRTC or both disassemblers are missing.
        BuildError: if the source does not compile.
    """
    found = {tool: path for tool in _DISASSEMBLERS if (path := shutil.which(tool))}
    if not found:
        missing = " and ".join(_DISASSEMBLERS)
        raise BackendUnavailable(f"{missing} are not on PATH", "install the CUDA toolkit, or ask for --ptx")
    tool, path = next(iter(found.items()))
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernel.cubin"
        cubin.write_bytes(compile_source(source, capability).cubin)
        command = [path, *_DISASSEMBLERS[tool], str(cubin)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        raise RuntimeError(f"{tool} failed with exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def _compile(source: str, flags: tuple[str, ...], form: str) -> Compiled:
    """What NVRTC makes of a source, CUBIN or PTX, with its log."""
    version()
    nvrtc = _nvrtc()
    program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], []))
    try:
        status = nvrtc.nvrtcCompileProgram(program, len(flags), [flag.encode() for flag in flags])[0]
        size = _checked(nvrtc.nvrtcGetProgramLogSize(program))
        text = _filled(nvrtc.nvrtcGetProgramLog, program, size).rstrip(b"\0").decode(errors="replace").strip()
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            said = text or f"{status.name}; this NVRTC ({version()}) may not know the architecture"
            raise BuildError(f"NVRTC: the kernel does not compile with {' '.join(flags)}", source, said)
        size = _checked(getattr(nvrtc, f"nvrtcGet{form}Size")(program))
        code = _filled(getattr(nvrtc, f"nvrtcGet{form}"), program, size)
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return Compiled(code, text)


def options(capability: tuple[int, int]) -> tuple[str, ...]:
    """What NVRTC is told for a compute capability."""
    return (f"--gpu-architecture=sm_{capability[0]}{capability[1]}", *OPTIONS)


def _nvrtc() -> Any:
    try:
        from cuda.bindings import nvrtc
    except ImportError as error:
        raise BackendUnavailable(str(error), _HOW_TO_GET) from error
    return nvrtc


def _checked(answer: tuple[Any, ...]) -> Any:
    """The values of an answer whose first is the status; one value by itself."""
    status, *values = answer
    if int(status):
        raise RuntimeError(f"NVRTC failed: {status!r}")
    return values[0] if len(values) == 1 else tuple(values)


def _filled(get: Any, program: Any, size: int) -> bytes:
    """What an NVRTC function writes into a buffer of ``size`` bytes."""
    # cuda-bindings fills bytes in place, and Python shares those of length 1: one more makes them ours alone.
    buffer = bytes(size + 1)
    _checked(get(program, buffer))
    return buffer[:size]

"""Compiles CUDA C++ that calls a header library of CUDA's with nvcc, once: the result is kept on disk."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_path

from backends.common.built_library import built_library
from backends.errors import BackendUnavailable, BuildError

HOW_TO_GET = (
    "install the CUDA toolkit, or pip install nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-cccl; "
    "and a C++ compiler such as g++"
)
C_TYPES = {
    "uint8": "unsigned char",
    "int8": "signed char",
    "uint16": "unsigned short",
    "int16": "short",
    "uint32": "unsigned int",
    "int32": "int",
    "uint64": "unsigned long long",
    "int64": "long long",
    "float32": "float",
    "float64": "double",
}
"""The types of CUDA C++ by NumPy's names."""
_TOOLKIT = Path("/usr/local/cuda")
_TIMEOUT_S = 300
_STANDARD = "-std=c++17"
_OPTIONS = (_STANDARD, "-O3", "-shared", "-Xcompiler", "-fPIC", "-cudart", "static")


@cache
def compiler() -> Path:
    """nvcc of the toolkit that the environment names, of PATH, of the usual place, or of NVIDIA's wheels.

    A link to it is followed, as nvcc finds its headers by the path that it is called by.

    Raises:
        BackendUnavailable: if there is none.
    """
    named = (Path(os.environ[name], "bin") for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name))
    on_path = shutil.which("nvcc")
    spec = find_spec("nvidia")
    wheels = [Path(place) for place in spec.submodule_search_locations or ()] if spec else []
    candidates = [
        *(folder / "nvcc" for folder in named),
        *([Path(on_path)] if on_path else []),
        _TOOLKIT / "bin" / "nvcc",
        *(found for place in wheels for found in sorted(place.glob("cu*/bin/nvcc"), reverse=True)),
    ]
    for candidate in candidates:
        if candidate.is_file():
            # A link to ccache stays: by its name ccache knows what to run.
            resolved = candidate.resolve()
            return resolved if resolved.name == candidate.name else candidate
    raise BackendUnavailable("nvcc is missing", HOW_TO_GET)


@cache
def version() -> str:
    """What nvcc says of itself.

    Raises:
        BackendUnavailable: if there is no nvcc, or it cannot be run.
    """
    done = _run([str(compiler()), "--version"])
    if done.returncode:
        raise BackendUnavailable(f"{compiler()} --version fails: {done.stderr.strip()}", HOW_TO_GET)
    return done.stdout


@cache
def number(header: str, macro: str) -> int:
    """The number that a macro is in a header (``cub/version.cuh``), as nvcc finds it.

    Raises:
        BackendUnavailable: if there is no nvcc, or it cannot be run.
        BuildError: if there is no such header, or the macro is no number there.
    """
    text = f"#include <{header}>\n{macro}\n"
    done = _run([str(compiler()), _STANDARD, "-E", "-x", "cu", "-"], text)
    found = done.stdout.split()[-1:]
    if done.returncode or not (found and found[0].isdecimal()):
        raise BuildError(f"nvcc: {header} does not tell {macro}", text, done.stderr)
    return int(found[0])


def load_library(source: Path, capability: int, macros: dict[str, str], includes: str = "") -> ctypes.CDLL:
    """The functions of a CUDA C++ file, compiled for a compute capability (90 for 9.0) with these macros.

    ``includes``: the version of the headers that the file includes, which may change while nvcc does not.

    Raises:
        BackendUnavailable: if there is no nvcc, or it cannot be run.
        BuildError: if the file does not compile.
        BackendError: if what nvcc has made cannot be loaded.
    """
    options = (f"-arch=sm_{capability}", *_OPTIONS, *(f"-D{name}={value}" for name, value in macros.items()))
    key = hashlib.sha256(repr((version(), includes, options, source.read_text())).encode()).hexdigest()
    path = user_cache_path("opencl-cuda-harness") / "nvcc" / f"{key}.so"

    def build(built: Path) -> None:
        done = _run([str(compiler()), *options, "-o", str(built), str(source)])
        if done.returncode:
            said = f"{done.stdout}{done.stderr}"
            raise BuildError(
                f"nvcc: {source.name} does not compile with {' '.join(options)}", source.read_text(), said
            )

    return built_library(path, build)


def _run(command: list[str], given: str = "") -> subprocess.CompletedProcess[str]:
    """Runs nvcc, with what it is given to read."""
    try:
        return subprocess.run(
            command, input=given, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BackendUnavailable(f"nvcc cannot be run: {error}", HOW_TO_GET) from error

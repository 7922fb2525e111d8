"""Compiles OpenCL C for an AMD GPU that need not be here, by Clang with the built-in functions of libclc.

AMD's own compiler is a Clang with other built-in functions: what is said here is near to what it does, not
the same. libclc has no functions that read images.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from backends.common.resources import Resources
from backends.errors import BackendUnavailable, BuildError
from harness.kernels.plan import PlannedLaunch
from harness.kernels.targets import Target

HOW_TO_GET: Final = "apt-get install clang-19 libclc-19"
_OLDEST, _NEWEST = 19, 40
"""Versions of Clang: the first that knows all targets, and the last whose name is looked for."""
_TIMEOUT_S = 120
_BUILT_IN = tuple(Path(place, "amdgcn--amdhsa.bc") for place in ("/usr/lib/clc", "/usr/share/clc"))
_OPTIONS = (
    *("-x", "cl", "-cl-std=CL1.2", "-O3", "--target=amdgcn-amd-amdhsa", "-nogpulib", "-fgnu-keywords"),
    *(
        "-Xclang",
        "-finclude-default-header",
        "-Xclang",
        "-fdeclare-opencl-builtins",
        "-Xclang",
        "-cl-ext=+all",
    ),
    # As AMD's runtime compiles: every function becomes part of its kernel.
    *("-mllvm", "-amdgpu-early-inline-all=true", "-mllvm", "-amdgpu-function-calls=false"),
    # libclc names its system otherwise.
    *("-Wno-linker-warnings", "-fno-caret-diagnostics", "-Rpass-analysis=kernel-resource-usage"),
)
_TO_ASSEMBLY = ("-S", "-o", "-", "-")
_WAVES = {32: ("-mno-wavefrontsize64",), 64: ("-mwavefrontsize64",)}
_REMARK = re.compile(r"remark: +(?P<name>[^:]+): (?P<value>\S+) \[-Rpass-analysis")
_UNRESOLVED = re.compile(r"(\w+)@(?:gotpcrel32|rel32)@lo")


@cache
def compiler() -> str:
    """The newest Clang on PATH that knows the targets.

    Raises:
        BackendUnavailable: if there is none.
    """
    for version in range(_NEWEST, _OLDEST - 1, -1):
        if found := shutil.which(f"clang-{version}"):
            return found
    found = shutil.which("clang")
    if found is None:
        raise BackendUnavailable("clang is not on PATH", HOW_TO_GET)
    said = re.search(r"version (\d+)", _run([found, "--version"], "").stdout)
    if said is None or int(said[1]) < _OLDEST:
        known = f"version {said[1]}" if said else "of no known version"
        raise BackendUnavailable(f"{found} is {known}, and {_OLDEST} is needed", HOW_TO_GET)
    return found


@cache
def library() -> Path:
    """libclc's built-in functions for AMD's GPUs.

    Raises:
        BackendUnavailable: if they are not installed.
    """
    for path in _BUILT_IN:
        if path.is_file():
            return path
    raise BackendUnavailable(f"libclc is not installed ({_BUILT_IN[0]})", HOW_TO_GET)


def version() -> str:
    """What compiles, in words. Raises as :func:`compiler`."""
    return _run([compiler(), "--version"], "").stdout.partition("\n")[0]


def resources(source: str, target: Target, launches: Mapping[str, PlannedLaunch]) -> list[Resources]:
    """What each of the kernels of a source takes, by name.

    Raises:
        BackendUnavailable: if Clang or libclc is not installed.
        BuildError: if the source does not compile, or calls a function that libclc has not got.
    """
    done = _compile(source, target, *_TO_ASSEMBLY)
    if "s_swappc" in done.stdout:
        calls = ", ".join(sorted(set(_UNRESOLVED.findall(done.stdout))))
        raise BuildError(f"Clang: the kernel for {target.label} calls {calls}", source, done.stderr)
    remarks = _remarks(done.stderr)
    return [_resources(name, remarks[name]) for name in launches]


def code_object(source: str, target: Target, path: Path) -> None:
    """Writes the ELF file that AMD's runtime loads: the kernels of a source, linked by LLVM's linker.

    Raises:
        BackendUnavailable: if Clang, libclc or the linker is not installed.
        BuildError: if the source does not compile.
    """
    linker = shutil.which(Path(compiler()).name.replace("clang", "ld.lld"))
    if linker is None:
        raise BackendUnavailable("LLVM's linker is not on PATH", "apt-get install lld-19")
    _compile(source, target, f"--ld-path={linker}", "-o", str(path), "-")


def _compile(source: str, target: Target, *output: str) -> subprocess.CompletedProcess[str]:
    options = [f"-mcpu={target.architecture}", *_WAVES[target.wave]]
    options += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(library())]
    done = _run([compiler(), *options, *_OPTIONS, *output], source)
    if done.returncode:
        raise BuildError(f"Clang: the kernel does not compile for {target.label}", source, done.stderr)
    return done


def _remarks(said: str) -> dict[str, dict[str, str]]:
    """By kernel, what the compiler remarks of it."""
    found: dict[str, dict[str, str]] = {}
    of: dict[str, str] = {}
    for remark in _REMARK.finditer(said):
        if remark["name"] == "Function Name":
            of = found.setdefault(remark["value"], {})
        of[remark["name"].partition(" [")[0]] = remark["value"]
    return found


def _resources(kernel: str, of: Mapping[str, str]) -> Resources:
    def number(name: str) -> int:
        return int(of[name])

    return Resources(
        kernel,
        registers=number("VGPRs") + int(of.get("AGPRs", 0)),
        scalar_registers=number("SGPRs"),
        spills=number("VGPRs Spill"),
        scalar_spills=number("SGPRs Spill"),
        stack_bytes=number("ScratchSize"),
        local_bytes=number("LDS Size"),
        waves=number("Occupancy"),
    )


def _run(command: list[str], text: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=text, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BackendUnavailable(f"{command[0]} cannot be run: {error}", HOW_TO_GET) from error

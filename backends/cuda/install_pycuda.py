"""Builds and installs pycuda, which has no wheels: ``python -m backends.cuda.install_pycuda``.

``pip install pycuda`` stops without a CUDA toolkit, and beside one that lacks cuRAND. This needs the driver
and a C++ compiler alone: without a toolkit the headers come from NVIDIA's wheels. cuRAND, which the harness
does not use, is left out.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

from backends.cuda.nvcc import compiler
from backends.errors import BackendUnavailable
from harness.files import replacing

_DRIVER: Final = "libcuda.so.1"
_HEADERS: Final = ("cuda.h", "cudaProfiler.h")
_CONFIGURATION: Final = "siteconf.py"
"""The file that pycuda's build reads; a build without one waits ten seconds and guesses."""


def install() -> str:
    """Builds pycuda for this interpreter, and imports it in a process of its own; tells what was done.

    Raises:
        BackendUnavailable: with the remedy, if something that the build needs is missing, or it fails.
    """
    if find_spec("pycuda"):
        return "pycuda is installed already"
    _check_compiler()
    driver, version = _driver()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        of_toolkit = toolkit_headers()
        headers = of_toolkit or _headers_of_wheels(folder / "headers", version)
        source = _source(folder / "source")
        (folder / "lib").mkdir()
        # The driver brings no libcuda.so, by which the linker would find it.
        (folder / "lib" / "libcuda.so").symlink_to(driver)
        (source / _CONFIGURATION).write_text(
            f"CUDA_INC_DIR = [{str(headers)!r}]\n"
            f"CUDADRV_LIB_DIR = [{str(folder / 'lib')!r}]\n"
            "CUDA_ENABLE_CURAND = False\n"
        )
        _pip("install", str(source))
    _run(sys.executable, "-c", "import pycuda.driver")
    return f"pycuda is built with the headers of {of_toolkit or 'the wheels of NVIDIA'}"


def toolkit_headers() -> Path | None:
    """The headers of the CUDA toolkit or the wheels that nvcc is of; None where some are missing."""
    try:
        include = compiler().resolve().parents[1] / "include"
    except BackendUnavailable:
        return None
    return include if all((include / header).is_file() for header in _HEADERS) else None


def header_requirements(version: int) -> list[str]:
    """The wheels with the headers of the driver's interface, none newer than a driver of this version.

    Args:
        version: as cuDriverGetVersion tells it, 13000 for 13.0.
    """
    major, minor = version // 1000, version % 1000 // 10
    suffix = "-cu12" if major < 13 else ""
    return [
        f"{package}{suffix}>={major},<{major}.{minor + 1}"
        for package in ("nvidia-cuda-runtime", "nvidia-cuda-profiler-api")
    ]


def _check_compiler() -> None:
    if sys.platform != "linux":
        raise BackendUnavailable(
            f"pycuda is not built here on {sys.platform}", "install it as its own documentation says"
        )
    name = os.environ.get("CXX", "g++").split()[0]
    if shutil.which(name) is None:
        raise BackendUnavailable(
            f"there is no C++ compiler {name}, which builds pycuda", "install g++ (package g++ or gcc-c++)"
        )
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").is_file():
        raise BackendUnavailable(
            f"Python's headers are not in {include}", "install the package python3-dev or python3-devel"
        )


def _driver() -> tuple[Path, int]:
    """The library of NVIDIA's driver, and the version of CUDA that it is for."""
    try:
        library = ctypes.CDLL(_DRIVER)
    except OSError as error:
        raise BackendUnavailable(
            f"NVIDIA's driver is missing ({error})", "install it from your distribution or from NVIDIA"
        ) from error
    version = ctypes.c_int()
    if status := library.cuDriverGetVersion(ctypes.byref(version)):
        raise BackendUnavailable(
            f"NVIDIA's driver does not tell its version: error {status}", "see whether nvidia-smi works"
        )
    loaded = (line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text().splitlines())
    return Path(next(path for path in loaded if "/libcuda.so" in path)), version.value


def _headers_of_wheels(folder: Path, version: int) -> Path:
    _pip("install", "--no-deps", "--target", str(folder), *header_requirements(version))
    found = sorted(folder.glob("nvidia/*/include"))
    merged = folder / "include"
    for include in found:
        shutil.copytree(include, merged, dirs_exist_ok=True)
    missing = [header for header in _HEADERS if not (merged / header).is_file()]
    if missing:
        raise BackendUnavailable(
            f"NVIDIA's wheels for CUDA {version // 1000} lack {', '.join(missing)}",
            "install the CUDA toolkit",
        )
    return merged


def _source(folder: Path) -> Path:
    """The folder with pycuda's unpacked source."""
    _pip("download", "--no-deps", "--no-binary", "pycuda", "--dest", str(folder), "pycuda>=2024.1")
    (archive,) = folder.glob("pycuda-*.tar.gz")
    shutil.unpack_archive(archive, folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


def _pip(*arguments: str) -> None:
    _run(sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments)


def _run(*command: str) -> None:
    """Runs a command; what it printed is kept in a file if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 0:
        return
    log = user_cache_path("opencl-cuda-harness") / "install-pycuda.log"
    with replacing(log) as file:
        file.write_text(f"{' '.join(command)}\n{done.stdout}")
    lines = [line.strip() for line in done.stdout.splitlines() if "error" in line.lower()]
    raise BackendUnavailable(
        f"pycuda cannot be installed: {lines[0] if lines else f'exit code {done.returncode}'}",
        f"see {log}; then run python -m backends.cuda.install_pycuda again",
    )


def main() -> int:
    """The command: 0 where pycuda is there afterwards, 1 where it is not, with one line that says why."""
    try:
        print(install())
    except BackendUnavailable as error:
        print(f"CUDA backend: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

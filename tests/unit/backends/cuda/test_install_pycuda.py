"""pycuda's build: what is asked of pip, what the build is told, and one line where something is missing."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from backends.cuda import install_pycuda, nvcc
from backends.errors import BackendUnavailable


class Pip:
    """Stands in for every process: pip, which leaves the files that it would, and the import at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands: list[list[str]] = []
        self.configuration = ""
        self.headers = {"cuda.h": "", "cudaProfiler.h": ""}
        self.fails_at: str | None = None
        self.says = ""

    def __call__(self, command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """Does what the command is for."""
        self.commands.append(list(command))
        if self.fails_at in command:
            return subprocess.CompletedProcess(command, 1, self.says)
        if "--target" in command:
            include = Path(command[command.index("--target") + 1]) / "nvidia" / "cu13" / "include"
            include.mkdir(parents=True)
            for name, text in self.headers.items():
                (include / name).write_text(text)
        elif "download" in command:
            source = self.folder / "pycuda-2026.1"
            source.mkdir()
            (source / "setup.py").write_text("")
            place = Path(command[command.index("--dest") + 1])
            place.mkdir()
            with tarfile.open(place / "pycuda-2026.1.tar.gz", "w:gz") as archive:
                archive.add(source, source.name)
        elif "install" in command:
            self.configuration = (Path(command[-1]) / "siteconf.py").read_text()
            self.library = Path(self.told()["CUDADRV_LIB_DIR"][0]) / "libcuda.so"
            assert self.library.read_text() == "the driver"
            assert (Path(self.told()["CUDA_INC_DIR"][0]) / "cuda.h").is_file()
        return subprocess.CompletedProcess(command, 0, "")

    def told(self) -> dict[str, Any]:
        """What the build's configuration sets; pycuda's build executes that file, too."""
        values: dict[str, Any] = {}
        exec(self.configuration, values)
        return values


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pip:
    """A machine with a driver for CUDA 13.0 and a compiler, without pycuda and without a toolkit."""
    fake = Pip(tmp_path)
    driver = tmp_path / "libcuda.so.1"
    driver.write_text("the driver")
    (tmp_path / "Python.h").write_text("")
    monkeypatch.setattr(install_pycuda, "find_spec", lambda _: None)
    monkeypatch.setattr(install_pycuda, "_driver", lambda: (driver, 13000))
    monkeypatch.setattr(install_pycuda, "user_cache_path", lambda _: tmp_path / "cache")
    monkeypatch.setattr(install_pycuda, "compiler", no_compiler)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(subprocess, "run", fake)
    return fake


def no_compiler() -> Path:
    """A machine without nvcc."""
    raise BackendUnavailable("nvcc is missing", nvcc.HOW_TO_GET)


def toolkit(folder: Path, *headers: str) -> Callable[[], Path]:
    """nvcc of a toolkit that has these headers."""
    for name in ("bin", "include"):
        (folder / name).mkdir(parents=True)
    for header in headers:
        (folder / "include" / header).write_text("")
    return lambda: folder / "bin" / "nvcc"


def test_without_a_toolkit_the_headers_are_those_of_wheels(pip: Pip) -> None:
    assert install_pycuda.install() == "pycuda is built with the headers of the wheels of NVIDIA"
    wheels, *_, last = pip.commands
    assert wheels[-2:] == ["nvidia-cuda-runtime>=13,<13.1", "nvidia-cuda-profiler-api>=13,<13.1"]
    assert last == [sys.executable, "-c", "import pycuda.driver"]
    assert pip.told()["CUDA_ENABLE_CURAND"] is False
    assert not pip.library.exists()


def test_a_toolkit_without_curand_is_used(pip: Pip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = tmp_path / "cuda"
    monkeypatch.setattr(install_pycuda, "compiler", toolkit(cuda, "cuda.h", "cudaProfiler.h"))
    assert str(cuda / "include") in install_pycuda.install()
    assert pip.told()["CUDA_INC_DIR"] == [str(cuda / "include")]
    assert not any("--target" in command for command in pip.commands)


def test_a_toolkit_without_headers_is_not_used(
    pip: Pip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install_pycuda, "compiler", toolkit(tmp_path / "cuda", "cuda.h"))
    install_pycuda.install()
    assert any("--target" in command for command in pip.commands)


@pytest.mark.parametrize(
    ("version", "expected"),
    [(13000, "nvidia-cuda-runtime>=13,<13.1"), (12040, "nvidia-cuda-runtime-cu12>=12,<12.5")],
)
def test_headers_are_never_newer_than_the_driver(version: int, expected: str) -> None:
    assert install_pycuda.header_requirements(version)[0] == expected


def test_what_is_there_is_not_built_again(pip: Pip, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install_pycuda, "find_spec", lambda _: object())
    assert install_pycuda.install() == "pycuda is installed already"
    assert pip.commands == []


def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's library cannot be loaded."""
    monkeypatch.undo()
    monkeypatch.setattr(install_pycuda, "find_spec", lambda _: None)
    monkeypatch.setattr(install_pycuda, "_check_compiler", lambda: None)
    monkeypatch.setattr(install_pycuda, "_DRIVER", "libno-such-driver.so.1")


def no_gxx(monkeypatch: pytest.MonkeyPatch) -> None:
    """No C++ compiler is on PATH."""
    monkeypatch.setattr(shutil, "which", lambda _: None)


def no_python_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python came without its headers."""
    monkeypatch.setattr(sysconfig, "get_path", lambda _: "/no-such-folder")


def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another system than Linux."""
    monkeypatch.setattr(sys, "platform", "win32")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (no_driver, "NVIDIA's driver is missing"),
        (no_gxx, "install g++"),
        (no_python_headers, "install the package python3-dev"),
        (windows, "on win32"),
    ],
)
def test_what_is_missing_is_one_line_with_the_remedy(
    pip: Pip,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fault: Callable[[pytest.MonkeyPatch], None],
    said: str,
) -> None:
    fault(monkeypatch)
    assert install_pycuda.main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert "what to do: " in line
    assert pip.commands == []


def test_wheels_without_a_header_are_named(pip: Pip) -> None:
    del pip.headers["cudaProfiler.h"]
    with pytest.raises(
        BackendUnavailable, match=r"lack cudaProfiler\.h; what to do: install the CUDA toolkit"
    ):
        install_pycuda.install()


def test_a_build_that_fails_keeps_what_the_compiler_said(
    pip: Pip, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pip.fails_at, pip.says = "import pycuda.driver", "Traceback\nImportError: undefined symbol: cuNew\n"
    assert install_pycuda.main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "ImportError: undefined symbol: cuNew" in line
    log = tmp_path / "cache" / "install-pycuda.log"
    assert str(log) in line
    assert log.read_text().endswith(pip.says)

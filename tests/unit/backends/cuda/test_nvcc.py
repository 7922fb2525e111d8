"""Compiling with nvcc: where it is looked for, what is kept, what is said when it fails."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.cuda import nvcc
from backends.errors import BackendUnavailable, BuildError

ADDS = 'extern "C" int add(int a, int b) { return a + b + MORE; }\n'


@pytest.fixture(autouse=True)
def _afresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No compiler is remembered, none is found, and the cache is empty."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for function in (nvcc.compiler, nvcc.version, nvcc.number):
        function.cache_clear()
    yield
    for function in (nvcc.compiler, nvcc.version, nvcc.number):
        function.cache_clear()


def compiler(folder: Path, body: str) -> Path:
    """A program called nvcc in a toolkit's folder."""
    path = folder / "bin" / "nvcc"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def host_compiler(folder: Path) -> Path:
    """An nvcc that compiles C++ with the host's compiler, and counts how often."""
    host = shutil.which("g++") or shutil.which("c++")
    if host is None:
        pytest.skip("there is no C++ compiler")
    count = folder / "count"
    script = f"""case "$1" in --version) echo "release 13.9"; exit;; esac
echo >> {count}
for argument; do case "$argument" in -D*) more="$more $argument";; esac; done
case "$*" in *" -E "*) exec {host} -E -x c++ -I {folder} -;; esac
while [ "$1" != -o ]; do shift; done
exec {host} -x c++ -shared -fPIC $more -o "$2" "$3" """
    return compiler(folder, script)


def test_the_toolkit_that_the_environment_names_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path, named = compiler(tmp_path / "path", "true"), compiler(tmp_path / "named", "true")
    monkeypatch.setenv("PATH", str(on_path.parent), prepend=":")
    assert nvcc.compiler() == on_path
    nvcc.compiler.cache_clear()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "named"))
    assert nvcc.compiler() == named


def test_a_link_to_the_compiler_leads_to_the_toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """nvcc finds its headers by the path that it is called by."""
    path = compiler(tmp_path / "toolkit", 'test -d "$(dirname "$0")/../include" && echo "release 13.9"')
    (tmp_path / "toolkit/include").mkdir()
    link = tmp_path / "links" / "nvcc"
    link.parent.mkdir()
    link.symlink_to(path)
    monkeypatch.setenv("PATH", str(link.parent), prepend=":")
    assert nvcc.compiler() == path
    assert nvcc.version() == "release 13.9\n"


def test_a_link_to_a_program_that_goes_by_its_name_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ccache is the compiler by whose name it is called."""
    cache, link = tmp_path / "ccache", tmp_path / "links" / "nvcc"
    cache.write_text("#!/bin/sh\nbasename $0\n")
    cache.chmod(0o755)
    link.parent.mkdir()
    link.symlink_to(cache)
    monkeypatch.setenv("PATH", str(link.parent), prepend=":")
    assert nvcc.version() == "nvcc\n"


def test_a_missing_compiler_is_named_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "_TOOLKIT", tmp_path / "none")
    monkeypatch.setattr(nvcc, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackendUnavailable, match=r"nvcc is missing.*nvidia-cuda-nvcc"):
        nvcc.compiler()


def test_what_is_compiled_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = host_compiler(tmp_path / "toolkit")
    monkeypatch.setenv("CUDA_HOME", str(path.parents[1]))
    source = tmp_path / "adds.cu"
    source.write_text(ADDS)
    for _ in range(2):
        assert nvcc.load_library(source, 90, {"MORE": "3"}).add(1, 2) == 6
    assert nvcc.load_library(source, 90, {"MORE": "4"}).add(1, 2) == 7
    source.write_text(ADDS.replace("a + b", "a - b"))
    assert nvcc.load_library(source, 90, {"MORE": "3"}).add(1, 2) == 2
    assert (path.parents[1] / "count").read_text().count("\n") == 3


def test_a_library_is_compiled_anew_for_other_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a wheel change without nvcc."""
    path = host_compiler(tmp_path / "toolkit")
    monkeypatch.setenv("CUDA_HOME", str(path.parents[1]))
    source = tmp_path / "adds.cu"
    source.write_text(ADDS)
    for includes in ("CUB 3.0.1", "CUB 3.0.1", "CUB 3.1.0"):
        nvcc.load_library(source, 90, {"MORE": "3"}, includes)
    assert (path.parents[1] / "count").read_text().count("\n") == 2


def test_a_number_that_a_header_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = host_compiler(tmp_path / "toolkit")
    monkeypatch.setenv("CUDA_HOME", str(path.parents[1]))
    (path.parents[1] / "version.cuh").write_text("#pragma once\n#define VERSION 300001 // of this\nint x;\n")
    assert nvcc.number("version.cuh", "VERSION") == 300001
    for header, macro in (("version.cuh", "ANOTHER"), ("another.cuh", "VERSION")):
        with pytest.raises(BuildError, match=f"{header} does not tell {macro}"):
            nvcc.number(header, macro)


def test_what_does_not_compile_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = host_compiler(tmp_path / "toolkit")
    monkeypatch.setenv("CUDA_HOME", str(path.parents[1]))
    source = tmp_path / "wrong.cu"
    source.write_text("this is no C++\n")
    with pytest.raises(BuildError, match=r"wrong\.cu does not compile with -arch=sm_90") as caught:
        nvcc.load_library(source, 90, {})
    assert "error" in caught.value.log
    assert not list((tmp_path / "cache").rglob("*.so"))


def test_a_compiler_that_cannot_be_run_makes_the_backend_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = compiler(tmp_path / "toolkit", "echo no licence >&2; exit 3")
    monkeypatch.setenv("CUDA_HOME", str(path.parents[1]))
    with pytest.raises(BackendUnavailable, match="--version fails: no licence"):
        nvcc.version()
    nvcc.version.cache_clear()
    path.write_text("not a program")
    path.chmod(0o644)
    with pytest.raises(BackendUnavailable, match="nvcc cannot be run"):
        nvcc.version()

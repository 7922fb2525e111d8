"""What Clang remarks of a kernel for an AMD GPU, and what is said where Clang or libclc is missing."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.common.resources import Resources
from backends.errors import BackendUnavailable, BuildError
from backends.opencl import clang
from harness.kernels.plan import PlannedLaunch
from harness.kernels.targets import targets

REMARKS = "".join(
    f"a.cl:3:6: remark: {text} [-Rpass-analysis=kernel-resource-usage]\n"
    for kernel, registers, spills in (("reduce", 256, 7), ("merge", 8, 0))
    for text in (
        f"Function Name: {kernel}",
        "    SGPRs: 36",
        f"    VGPRs: {registers}",
        "    AGPRs: 4",
        "    ScratchSize [bytes/lane]: 32",
        "    Dynamic Stack: False",
        "    Occupancy [waves/SIMD]: 8",
        "    SGPRs Spill: 1",
        f"    VGPRs Spill: {spills}",
        "    LDS Size [bytes/block]: 64",
    )
)
LAUNCHES = {name: PlannedLaunch(name, (1,), (64,), ()) for name in ("merge", "reduce")}


@pytest.fixture(autouse=True)
def _looked_for_anew() -> Iterator[None]:
    """Nothing found before, or here, is remembered."""
    for found in (clang.compiler, clang.library):
        found.cache_clear()
    yield
    for found in (clang.compiler, clang.library):
        found.cache_clear()


def program(folder: Path, name: str, said: str, errors: str = "", code: int = 0) -> None:
    """A program that says that, whatever it is asked."""
    (folder / "errors").write_text(errors)
    path = folder / name
    path.write_text(f"#!/bin/sh\n/bin/cat <<'E'\n{said}\nE\n/bin/cat {folder}/errors >&2\nexit {code}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def here(monkeypatch: pytest.MonkeyPatch, folder: Path, has_library: bool = True) -> None:
    """Clang is what the folder holds, and libclc is there."""
    library = folder / "amdgcn--amdhsa.bc"
    if has_library:
        library.touch()
    monkeypatch.setattr(clang, "_BUILT_IN", (library,))
    monkeypatch.setenv("PATH", str(folder))


def test_each_kernel_has_what_is_remarked_of_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path, "clang-39", "s_endpgm", REMARKS)
    here(monkeypatch, tmp_path)
    [target] = targets("gfx942")
    assert clang.resources("", target, LAUNCHES) == [
        Resources("merge", 12, 36, spills=0, scalar_spills=1, stack_bytes=32, local_bytes=64, waves=8),
        Resources("reduce", 260, 36, spills=7, scalar_spills=1, stack_bytes=32, local_bytes=64, waves=8),
    ]


def test_a_call_that_stays_a_call_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = "s_add_u32 s2, s2, read_imagei@gotpcrel32@lo+4\ns_swappc_b64 s[30:31], s[2:3]"
    program(tmp_path, "clang-39", calls, REMARKS)
    here(monkeypatch, tmp_path)
    with pytest.raises(BuildError, match="gfx1100, waves of 32 calls read_imagei"):
        clang.resources("", targets("gfx1100", 32)[0], LAUNCHES)


def test_a_kernel_that_does_not_compile_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path, "clang-39", "", "a.cl:1:1: error: unknown type", code=1)
    here(monkeypatch, tmp_path)
    with pytest.raises(BuildError, match="unknown type"):
        clang.resources("", targets("gfx90a")[0], LAUNCHES)


@pytest.mark.parametrize(
    ("name", "said", "expected"),
    [
        ("", "", "clang is not on PATH"),
        ("clang", "Debian clang version 14.0.6", "is version 14, and 19 is needed"),
        ("clang", "no clang at all", "is of no known version, and 19 is needed"),
    ],
)
def test_a_missing_or_old_clang_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, said: str, expected: str
) -> None:
    if name:
        program(tmp_path, name, said)
    here(monkeypatch, tmp_path)
    with pytest.raises(BackendUnavailable, match=f"{expected}; what to do: {clang.HOW_TO_GET}"):
        clang.compiler()


def test_a_new_clang_of_that_name_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path, "clang", "clang version 21.1.0\nTarget: x86_64")
    here(monkeypatch, tmp_path)
    assert clang.compiler() == str(tmp_path / "clang")
    assert clang.version() == "clang version 21.1.0"


def test_a_missing_library_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path, "clang-39", "", REMARKS)
    here(monkeypatch, tmp_path, has_library=False)
    with pytest.raises(BackendUnavailable, match=r"libclc is not installed .*; what to do: apt-get"):
        clang.resources("", targets("gfx942")[0], LAUNCHES)

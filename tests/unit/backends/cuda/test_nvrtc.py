"""CUDA C++ without a GPU: every plan's source compiles without a warning; the cache, the gate, errors."""

from __future__ import annotations

import resource
from dataclasses import replace
from pathlib import Path

import pytest

from backends import BackendUnavailable
from backends.common.blocking_kernel import BLOCKING_KERNEL, blocking_kernel_source
from backends.cuda import nvrtc
from backends.cuda.nvidia import version_text
from backends.errors import BuildError
from harness.kernels.defaults import default_variant
from harness.kernels.planner import plan
from harness.kernels.source import assemble
from harness.kernels.targets import KERNELS
from harness.problems import (
    DIRECTIONS,
    IMAGE_DTYPES,
    Bandwidth,
    Empty,
    Laplace,
    Problem,
    Reduction,
)
from harness.problems.dtypes import DTYPES
from harness.variants.axes import LaunchVariant, Variant
from tests.support.compiling import BANDWIDTHS, LAPLACES, NVIDIA, REDUCTIONS, cases

try:
    nvrtc.version()
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

CAPABILITIES = ((8, 0), (9, 0))


def compiles(problem: Problem, variant: Variant, capability: tuple[int, int]) -> bytes:
    """Compiles the plan's source and looks at what comes out: machine code, no word from the compiler."""
    major, minor = capability
    made = plan(problem, variant, replace(NVIDIA, compute_capability=10 * major + minor))
    compiled = nvrtc.compile_source(assemble("cu", made.files, made.macros), capability)
    assert compiled.log == ""
    assert compiled.cubin[:4] == b"\x7fELF"
    for launch in (*made.launches, *made.readback, *made.release):
        assert f".text.{launch.kernel}\0".encode() in compiled.cubin
    return compiled.cubin


@pytest.mark.parametrize(("problem", "variant"), cases("reduction", **REDUCTIONS))
def test_reductions_compile(problem: Problem, variant: Variant) -> None:
    compiles(problem, variant, CAPABILITIES[1])


@pytest.mark.parametrize(
    ("problem", "variant"),
    cases("laplace", **LAPLACES),
)
def test_laplaces_compile(problem: Problem, variant: Variant) -> None:
    compiles(problem, variant, CAPABILITIES[1])


@pytest.mark.parametrize(
    ("problem", "variant"),
    cases("bandwidth", **BANDWIDTHS),
)
def test_limits_compile(problem: Problem, variant: Variant) -> None:
    compiles(problem, variant, CAPABILITIES[1])


DEFAULTS: list[Problem] = [
    *(Reduction("minmax", dtype, (2**20,)) for dtype in DTYPES),
    *(Reduction(op, "int32", (2**20,)) for op in KERNELS),
    *(Laplace("four", "reflect_101", "laplacian", dtype, 99, 101) for dtype in IMAGE_DTYPES),
    *(Bandwidth(direction, "int32", 2**20) for direction in DIRECTIONS),
]


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: f"sm_{c[0]}{c[1]}")
@pytest.mark.parametrize("problem", DEFAULTS, ids=lambda problem: problem.label)
def test_default_variants_compile_for_each_architecture(
    problem: Problem, capability: tuple[int, int]
) -> None:
    compiles(problem, default_variant(problem, NVIDIA), capability)


def test_the_empty_kernel_compiles() -> None:
    problem = Empty((((3,), (64,)), ((2, 5), (8, 4))))
    assert compiles(problem, LaunchVariant(), (8, 0)) != compiles(problem, LaunchVariant(), (9, 0))


def test_the_gate_compiles_and_reads_its_word_each_time() -> None:
    compiled = nvrtc.compile_source(blocking_kernel_source("cu"), (9, 0))
    assert compiled.log == ""
    assert f".text.{BLOCKING_KERNEL}\0".encode() in compiled.cubin


def test_a_source_that_does_not_compile_says_where() -> None:
    source = '#line 7 "kernels_cu/some.cu"\nextern "C" __global__ void f() { undefined_name(); }\n'
    with pytest.raises(BuildError, match=r"does not compile with --gpu-architecture=sm_90") as caught:
        nvrtc.compile_source(source, (9, 0))
    assert 'kernels_cu/some.cu(7): error: identifier "undefined_name" is undefined' in caught.value.log
    assert caught.value.source == source


def test_an_unknown_architecture_is_a_build_error() -> None:
    with pytest.raises(BuildError, match=r"sm_15"):
        nvrtc.compile_source('extern "C" __global__ void f() {}', (1, 5))


def test_warnings_are_in_the_log() -> None:
    compiled = nvrtc.compile_source('extern "C" __global__ void f() { int unused; }', (9, 0))
    assert "unused" in compiled.log


SOURCE = 'extern "C" __global__ void f(int *to) { *to = 5; }'


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that were really compiled, as they are."""
    seen: list[str] = []
    compile_source = nvrtc.compile_source

    def spy(source: str, capability: tuple[int, int]) -> nvrtc.Compiled:
        seen.append(source)
        return compile_source(source, capability)

    monkeypatch.setattr(nvrtc, "compile_source", spy)
    return seen


def test_the_cache_compiles_once(tmp_path: Path, compilations: list[str]) -> None:
    folder = tmp_path / "not" / "there" / "yet"
    first = nvrtc.compile_cubin(SOURCE, (9, 0), folder)
    assert nvrtc.compile_cubin(SOURCE, (9, 0), folder) == first
    assert len(compilations) == 1
    assert nvrtc.compile_cubin(SOURCE, (8, 0), folder) != first
    nvrtc.compile_cubin(SOURCE + "\n", (9, 0), folder)
    assert len(compilations) == 3
    assert len(list(folder.iterdir())) == 3, "no temporary file is left"


@pytest.mark.parametrize("damage", [b"", b"x" * 40, b"\0" * 4000])
def test_a_damaged_cache_entry_is_compiled_again(
    tmp_path: Path, compilations: list[str], damage: bytes
) -> None:
    first = nvrtc.compile_cubin(SOURCE, (9, 0), tmp_path)
    (entry,) = tmp_path.iterdir()
    entry.write_bytes(damage)
    assert nvrtc.compile_cubin(SOURCE, (9, 0), tmp_path) == first
    entry.write_bytes(entry.read_bytes()[:-1])
    assert nvrtc.compile_cubin(SOURCE, (9, 0), tmp_path) == first
    assert len(compilations) == 3


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    assert nvrtc.compile_cubin(SOURCE, (9, 0), tmp_path / "file").startswith(b"\x7fELF")
    assert "cannot be written" in caplog.text


def test_a_full_disk_leaves_no_temporary_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # As on a full disk, the write fails in its middle: Python ignores the signal that comes with this limit.
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        assert nvrtc.compile_cubin(SOURCE, (9, 0), tmp_path).startswith(b"\x7fELF")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "cannot be written" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_a_short_log_leaves_pythons_shared_bytes_alone() -> None:
    # The log of a clean compilation is one byte long, and cuda-bindings writes into the bytes it is given.
    # A slice of one byte is the object that all share; an index into a literal is computed on compilation.
    each_byte = bytes(range(256))
    shared = [each_byte[value : value + 1] for value in range(256)]
    nvrtc.compile_source(SOURCE, (9, 0))
    assert [each[0] for each in shared] == list(range(256))


def test_device_info_of_an_nvidia_gpu() -> None:
    assert NVIDIA.physical == "0000:3b:00.0"
    assert NVIDIA.max_allocation_bytes == NVIDIA.memory_bytes
    assert NVIDIA.details == {"compute_capability": "9.0", "driver_cuda": "13.0"}
    assert version_text(12090) == "12.9"

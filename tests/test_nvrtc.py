"""CUDA C++ without a GPU: every plan's source compiles without a warning; the cache, the gate, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backends import BackendUnavailable, nvrtc
from backends.errors import BuildError
from backends.gates import GATE_KERNEL, gate_source
from backends.nvidia import device_info, version_text
from harness.defaults import default_variant
from harness.dtypes import DTYPES
from harness.planning import plan
from harness.problems import (
    BORDERS,
    DIRECTIONS,
    IMAGE_DTYPES,
    MASKS,
    OUTPUTS,
    Bandwidth,
    Empty,
    Laplace,
    Problem,
    Reduction,
)
from harness.sources import assemble
from harness.variants import AXES, LaunchVariant, Variant, variant_from_json
from harness.violations import violations
from tests.checks import KERNELS, Point, pairwise, spelled

try:
    nvrtc.version()
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

CAPABILITIES = ((8, 0), (9, 0))
DEVICE = device_info(
    "cuda",
    0,
    pci="0000:3B:00.0",
    cuda=13000,
    capability=(9, 0),
    traits={
        "name": "a GPU with the usual limits",
        "compute_units": 132,
        "memory_bytes": 2**36,
        "local_memory_bytes": 48 * 2**10,
        "max_group_size": 1024,
        "cache_bytes": 2**25,
        "wave_width": 32,
        "max_texels": 2**27,
    },
)

FEWER: dict[str, tuple[Any, ...]] = {
    "groups": (8,),
    "group_size": (32, 256, 1024),
    "group_width": (1, 32),
    "group_height": (1, 8),
    "rows_per_item": (1, 2, 8),
}
"""In place of all values of an axis: the others give the same code with another number in it."""


def case_of(kind: str, point: Point) -> tuple[Problem, Variant]:
    """The problem and the variant of a point of the axes and the problem's parameters."""
    axes = {name: point[name] for name in AXES[kind]}
    rest = {name: value for name, value in point.items() if name not in axes}
    variant = variant_from_json({"kind": kind, **axes})
    if kind == "laplace":
        return Laplace(height=70, width=333, border_value=7, **rest), variant
    if kind == "bandwidth":
        return Bandwidth(size=2**20 + 3, **rest), variant
    return Reduction(shape=(2**20 + 3,), **rest), variant


def cases(kind: str, **parameters: Any) -> list[Any]:
    """A pairwise sample of the axes of ``kind`` and the problem's parameters, of what a usual GPU can run."""
    axes = {name: FEWER.get(name, values) for name, values in AXES[kind].items()}

    def runs(point: Point) -> bool:
        problem, variant = case_of(kind, point)
        return not violations(variant, problem, DEVICE)

    points = pairwise({**{name: tuple(values) for name, values in parameters.items()}, **axes}, runs)
    return [pytest.param(*case_of(kind, point), id=spelled(point)) for point in points]


def compiles(problem: Problem, variant: Variant, capability: tuple[int, int]) -> bytes:
    """Compiles the plan's source and looks at what comes out: machine code, no word from the compiler."""
    made = plan(problem, variant, DEVICE)
    compiled = nvrtc.compile_source(assemble("cu", made.files, made.macros), capability)
    assert compiled.log == ""
    assert compiled.cubin[:4] == b"\x7fELF"
    for launch in (*made.launches, *made.readback):
        assert f".text.{launch.kernel}\0".encode() in compiled.cubin
    return compiled.cubin


@pytest.mark.parametrize(("problem", "variant"), cases("reduction", op=KERNELS, dtype=DTYPES))
def test_reductions_compile(problem: Problem, variant: Variant) -> None:
    compiles(problem, variant, CAPABILITIES[1])


@pytest.mark.parametrize(
    ("problem", "variant"),
    cases("laplace", mask=MASKS, border=BORDERS, output=OUTPUTS, dtype=IMAGE_DTYPES, channels=(1, 3, 4)),
)
def test_laplaces_compile(problem: Problem, variant: Variant) -> None:
    compiles(problem, variant, CAPABILITIES[1])


@pytest.mark.parametrize(
    ("problem", "variant"),
    cases("bandwidth", direction=DIRECTIONS, dtype=("uint8", "int16", "float32", "uint64")),
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
    compiles(problem, default_variant(problem, DEVICE), capability)


def test_the_empty_kernel_compiles() -> None:
    problem = Empty((((3,), (64,)), ((2, 5), (8, 4))))
    assert compiles(problem, LaunchVariant(), (8, 0)) != compiles(problem, LaunchVariant(), (9, 0))


def test_the_gate_compiles_and_reads_its_word_each_time() -> None:
    compiled = nvrtc.compile_source(gate_source("cu"), (9, 0))
    assert compiled.log == ""
    assert f".text.{GATE_KERNEL}\0".encode() in compiled.cubin


def test_a_source_that_does_not_compile_says_where() -> None:
    source = '#line 7 "kernels_cu/some.cu"\nextern "C" __global__ void f() { undefined_name(); }\n'
    with pytest.raises(BuildError, match=r"does not compile with --gpu-architecture=sm_90") as caught:
        nvrtc.compile_source(source, (9, 0))
    assert 'kernels_cu/some.cu(7): error: identifier "undefined_name" is undefined' in caught.value.log
    assert caught.value.source == source


def test_an_unknown_architecture_is_a_build_error() -> None:
    with pytest.raises(BuildError, match=r"sm_15"):
        nvrtc.compile_source('extern "C" __global__ void f() {}', (1, 5))


def test_a_missing_macro_is_an_error() -> None:
    with pytest.raises(BuildError, match=r'"VECTOR_WIDTH is not defined"'):
        nvrtc.compile_source(assemble("cu", ("dialect", "vector"), {}), (9, 0))


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


def test_a_short_log_leaves_pythons_shared_bytes_alone() -> None:
    # The log of a clean compilation is one byte long, and cuda-bindings writes into the bytes it is given.
    nvrtc.compile_source(SOURCE, (9, 0))
    assert b" "[0] == 32


def test_device_info_of_an_nvidia_gpu() -> None:
    assert DEVICE.physical == "0000:3b:00.0"
    assert DEVICE.max_allocation_bytes == DEVICE.memory_bytes
    assert DEVICE.details == {"compute_capability": "9.0", "driver_cuda": "13.0"}
    assert version_text(12090) == "12.9"

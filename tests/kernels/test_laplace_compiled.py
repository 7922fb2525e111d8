"""What NVRTC makes of the Laplace kernels' CUDA text: no warnings, and the default in registers."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from backends.cuda.nvrtc import compile_ptx
from backends.errors import BackendUnavailable
from harness.devices import DeviceInfo
from harness.kernels.defaults import default_variant
from harness.kernels.filter_values import INTERIORS
from harness.kernels.laplace import plan
from harness.kernels.occupancy import occupancy
from harness.kernels.requirements import violations
from harness.kernels.source import assemble
from harness.problems import IMAGE_DTYPES, MASKS, OUTPUTS, Laplace
from harness.problems.laplace import BorderName, ImageDtypeName, MaskName
from harness.variants.axes import LaplaceVariant, group_items
from tests.support.checks import Point, pairwise, spelled
from tests.support.compiling import BESIDE, NVIDIA
from tests.support.laplace import GPU, IMAGE, POINTS, problem_of, variant_of
from tests.support.machines import H200

SPILLED_REGISTERS = 8
"""What ptxas may spill in the rare code for the last item of a row; an array in local memory is more."""


def compiled(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo = GPU) -> str:
    """What NVRTC's ptxas says of the kernel for sm_90: registers, spills, warnings."""
    nvrtc = pytest.importorskip(
        "cuda.bindings.nvrtc", reason="NVRTC is missing: pip install cuda-bindings[all]"
    )
    planned = plan(problem, variant, device)
    source = assemble("cu", planned.files, planned.macros)
    options = [b"--gpu-architecture=sm_90", b"--std=c++17", b"--ptxas-options=-v"]
    try:
        _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"laplace.cu", 0, [], [])
    except RuntimeError as error:  # cuda-bindings without the library itself
        pytest.skip(f"NVRTC is missing: {error}")
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    log = bytes(nvrtc.nvrtcGetProgramLogSize(program)[1])
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(program)
    text = log.decode()
    assert not int(status), text
    return text


def registers(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> int:
    """How many registers a work-item of the kernel takes."""
    used = re.search(r"Used (\d+) registers", compiled(problem, variant, device))
    assert used
    return int(used[1])


@pytest.mark.parametrize("point", POINTS[::4], ids=spelled)
def test_cuda_compiles_without_a_warning(point: Point) -> None:
    assert "warning" not in compiled(problem_of(point, 100, 100), variant_of(point))


@pytest.mark.parametrize(
    ("dtype", "mask", "side", "megabytes", "in_turn", "together"),
    [
        ("float32", "eight", 2560, 60, True, True),
        ("float32", "diagonal", 2560, 60, True, True),
        ("float32", "diagonal", 1280, 60, False, True),
        ("float32", "four", 1280, 60, False, True),
        # Past half of the cache its loads are streaming ones.
        ("float32", "eight", 2560, 50, True, False),
        ("uint8", "eight_negated", 1280, 60, False, True),
        ("uint8", "eight", 1280, 60, False, False),
        ("uint8", "eight", 2560, 60, False, True),
        ("uint8", "diagonal", 5376, 60, True, False),
        ("uint8", "diagonal", 8192, 60, False, False),
    ],
)
def test_cuda_asks_for_all_rows_together_where_its_compiler_would_ask_late(
    dtype: ImageDtypeName, mask: MaskName, side: int, megabytes: int, in_turn: bool, together: bool
) -> None:
    """By a profiler's trigger, past which ptxas moves no load."""
    device = replace(H200, platform="CUDA", cache_bytes=megabytes * 2**20)
    problem = Laplace(mask, "reflect_101", "laplacian", dtype, side, side)
    variant = default_variant(problem, device)
    assert isinstance(variant, LaplaceVariant)
    assert (variant.groups != "per_problem") == in_turn
    planned = plan(problem, variant, device)
    try:
        ptx = compile_ptx(assemble("cu", planned.files, planned.macros), (9, 0))
    except BackendUnavailable as missing:
        pytest.skip(str(missing))
    assert ("pmevent" in ptx) == together


def beside(point: Point) -> tuple[Laplace, LaplaceVariant]:
    """A filter whose neighbours come beside whole vectors."""
    parameters = {name: point[name] for name in ("dtype", "channels", "border")}
    axes = {name: point[name] for name in ("pixels", "vector_width", "scheme")}
    return replace(IMAGE, mask="diagonal", **parameters), LaplaceVariant(border_code="mapped", **axes)


def refused(point: Point) -> list[str]:
    """Why a GPU cannot run it."""
    problem, variant = beside(point)
    return violations(variant, problem, NVIDIA)


@pytest.mark.parametrize(
    "point",
    pairwise(
        {
            "pixels": BESIDE["pixels"],
            "dtype": IMAGE_DTYPES,
            "channels": (1, 3, 4),
            "border": ("constant", "reflect_101"),
            "vector_width": (1, 2, 4, 8, 16),
            "scheme": ("march", "per_pixel"),
        },
        lambda point: not refused(point),
    ),
    ids=spelled,
)
def test_what_is_beside_vectors_compiles_without_a_warning(point: Point) -> None:
    assert "warning" not in compiled(*beside(point), device=NVIDIA)


@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_the_default_on_a_gpu_stays_in_registers(dtype: str, channels: int) -> None:
    problem = Laplace("four", "replicate", "laplacian", dtype, 8192, 8192, channels)
    variant = default_variant(problem, GPU)
    assert isinstance(variant, LaplaceVariant)
    spilled = re.search(r"(\d+) bytes spill stores", compiled(problem, variant))
    assert spilled
    assert int(spilled[1]) <= 4 * SPILLED_REGISTERS


@pytest.mark.parametrize("border", ["constant", "reflect_101"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_code_of_the_interior_takes_no_more_registers(border: BorderName, channels: int) -> None:
    problem = Laplace("four", border, "laplacian", "uint8", 8192, 8192, channels)
    variant = default_variant(problem, NVIDIA)
    assert isinstance(variant, LaplaceVariant)
    taken = []
    for interior in INTERIORS:
        taken.append(registers(problem, replace(variant, interior=interior), NVIDIA))
    assert list(INTERIORS) == ["general", "specialized"]
    assert taken[1] <= taken[0]


@pytest.mark.parametrize(
    "point",
    pairwise(
        {
            "kind": (("uint8", 1), ("uint8", 3), ("uint8", 4), ("uint16", 1), ("float32", 1)),
            "mask": tuple(MASKS),
            "border": ("constant", "reflect_101"),
            "output": OUTPUTS,
        }
    ),
    ids=spelled,
)
def test_groups_that_take_tiles_in_turn_all_run_at_a_time(point: Point) -> None:
    dtype, channels = point["kind"]
    others = {name: point[name] for name in ("mask", "border", "output")}
    image = Laplace(dtype=dtype, channels=channels, height=2560, width=2560, **others)
    # 25 MiB, of which the cache keeps the source and not the result.
    problem = replace(image, width=2560 * 25 * 2**20 // image.source_bytes)
    device = replace(NVIDIA, cache_bytes=60 * 2**20)
    variant = default_variant(problem, device)
    assert isinstance(variant, LaplaceVariant)
    assert isinstance(variant.groups, int)
    taken = registers(problem, variant, device)
    held = occupancy(device.compute_capability, group_items(variant), taken, local_bytes=0)
    assert held is not None
    assert held.sub_groups * device.sub_group_width >= variant.groups * group_items(variant)

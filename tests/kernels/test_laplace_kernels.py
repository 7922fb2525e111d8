"""The Laplace kernels: their plan, every border code at awkward edges, what NVRTC makes of the CUDA text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends import Backend, DeviceInfo
from harness.devices import PORTABLE_OPENCL
from harness.kernels.defaults import default_variant
from harness.kernels.laplace import plan
from harness.kernels.plan import Buffer, Source, SourceImage2d
from harness.kernels.requirements import violations
from harness.kernels.source import assemble
from harness.kernels.values import NO_SHUFFLES
from harness.problems import BORDERS, IMAGE_DTYPES, MASKS, OUTPUTS, Laplace
from harness.problems.laplace import Channels
from harness.variants.axes import AXES, BorderCode, LaplaceVariant, Scheme, Stencil, label
from harness.variants.ladders import LADDERS
from tests.support.checks import Point, pairwise, require, spelled

GPU = DeviceInfo(
    backend="cuda", index=0, name="a GPU", platform="CUDA", vendor="NVIDIA", driver="", kind="gpu",
    compute_units=132, memory_bytes=2**37, max_allocation_bytes=2**37, local_memory_bytes=2**15,
    max_group_size=1024, cache_bytes=2**25, sub_group_width=32, float64=True, physical="",
    image_sides=(2**14, 2**13),
)  # fmt: skip

BORDER_CODES = AXES["laplace"]["border_code"]
IMAGE = Laplace("four", "replicate", "laplacian", "uint8", 33, 65)

SPILLED_REGISTERS = 8
"""What ptxas may spill in the rare code for the last item of a row; an array in local memory is more."""

PIECES = ("border_code", "pixels", "scheme", "stencil", "mask_memory")
"""The axes whose values are kernel files of the filter alone."""


def problem_of(point: Point, height: int, width: int, border_value: float = 0.0) -> Laplace:
    """The point's problem at a size."""
    parameters = {name: point[name] for name in ("mask", "border", "output", "dtype", "channels")}
    return Laplace(height=height, width=width, border_value=border_value, **parameters)


def variant_of(point: Point) -> LaplaceVariant:
    """The point's variant, in a group that is no multiple of anything in the images."""
    rows, loads = point["rows"]
    return LaplaceVariant(
        **{axis: point[axis] for axis in PIECES},
        vector_width=point["vector_width"],
        rows_per_item=rows,
        loads_in_flight=loads,
        group_width=4,
        group_height=2,
    )


def runs(point: Point) -> bool:
    """Whether a GPU can run it."""
    return not violations(variant_of(point), problem_of(point, 1, 1), GPU)


POINTS = pairwise(
    {
        **{axis: AXES["laplace"][axis] for axis in PIECES},
        "border": BORDERS,
        "dtype": IMAGE_DTYPES,
        "channels": (1, 3, 4),
        "vector_width": AXES["laplace"]["vector_width"],
        "rows": ((1, 1), (2, 2), (8, 1), (8, 4), (32, 8)),
        "mask": tuple(MASKS),
        "output": OUTPUTS,
    },
    runs,
)


def edge_sizes(width: int) -> list[tuple[int, int]]:
    """Heights and widths where the last vector of a row is full, one short, one over, and the only one."""
    widths = {1, 2, 3, width - 1, width, width + 1, 4 * width - 1, 4 * width + 2, 53}
    return [(1 + at % 4 * 3, w) for at, w in enumerate(sorted(widths - {0}))] + [(1, 1), (35, 1)]


def check(backend: Backend, problem: Laplace, variant: LaplaceVariant, image: Any) -> None:
    """The variant gives the reference's image and writes every pixel of it."""
    require(backend, problem, variant)
    with backend.prepare(problem, variant, [backend.upload(problem.pack(image))]) as prepared:
        prepared.poison()
        prepared.enqueue(0)
        outcome = problem.verify(prepared.result(), image)
    assert outcome.ok, f"{problem.label}, {variant}: {outcome.message}"


@pytest.mark.parametrize("point", POINTS, ids=spelled)
def test_edges(own_backend: Backend, point: Point) -> None:
    value = {"uint8": 200, "uint16": 40000, "int16": -32768, "float32": -0.1}[point["dtype"]]
    for height, width in edge_sizes(point["vector_width"]):
        problem = problem_of(point, height, width, value)
        check(own_backend, problem, variant_of(point), problem.make_source(seed=width))


@pytest.mark.parametrize(
    "point",
    pairwise(
        {
            "dtype": ("uint8", "uint16", "int16"),
            "vector_width": (1, 2, 4, 8, 16),
            "channels": (1, 3, 4),
            "border": BORDERS,
            "mask": ("four", "eight_negated", "diagonal"),
            "output": OUTPUTS,
        }
    ),
    ids=spelled,
)
def test_portable_words(own_backend: Backend, point: Point) -> None:
    """Elements that a portable kernel takes out of words, and results that it joins, of both signs."""
    width = point["vector_width"]
    variant = LaplaceVariant(border_code="mapped", vector_width=width, group_width=4, dialect="portable")
    for height, columns in edge_sizes(width):
        problem = problem_of(point, height, columns, 200)
        check(own_backend, problem, variant, problem.make_source(seed=columns))


@pytest.mark.parametrize(
    "point",
    pairwise(
        {
            "vector_width": (4, 8, 16, 32),
            "channels": (1, 3, 4),
            "border": BORDERS,
            "mask": tuple(MASKS),
            "output": OUTPUTS,
            "pixels": ("global", "shuffle", "aligned"),
            "dialect": ("vendor", "portable"),
            "scheme": ("march", "per_pixel"),
        }
    ),
    ids=spelled,
)
def test_pairs_of_sums(own_backend: Backend, point: Point) -> None:
    """Sums of both signs and over 255, in words whose row ends after any of their bytes."""
    width = point["vector_width"]
    axes = {name: point[name] for name in ("pixels", "dialect", "scheme", "vector_width")}
    group_width = max(4, own_backend.device.sub_group_width) if point["pixels"] == "shuffle" else 4
    variant = LaplaceVariant(border_code="mapped", stencil="paired", group_width=group_width, **axes)
    require(own_backend, problem_of(point | {"dtype": "uint8"}, 9, 9), variant)
    for height, columns in edge_sizes(width):
        problem = problem_of(point | {"dtype": "uint8"}, height, columns, 200)
        check(own_backend, problem, variant, problem.make_source(seed=columns))


@pytest.mark.parametrize(
    "point",
    pairwise(
        {
            "dtype": IMAGE_DTYPES,
            "vector_width": (4, 8, 16),
            "channels": (1, 3, 4),
            "border": BORDERS,
            "mask": ("four", "eight_negated", "diagonal"),
            "output": OUTPUTS,
            "dialect": ("vendor", "portable"),
            "scheme": ("march", "per_pixel"),
        }
    ),
    ids=spelled,
)
def test_neighbours_by_aligned_loads(own_backend: Backend, point: Point) -> None:
    """Rows that end with a vector, less than a pixel of elements after it, and inside it."""
    axes = {name: point[name] for name in ("dialect", "scheme", "vector_width")}
    variant = LaplaceVariant(border_code="mapped", pixels="aligned", group_width=4, **axes)
    for height, columns in edge_sizes(point["vector_width"]):
        problem = problem_of(point, height, columns, 200)
        check(own_backend, problem, variant, problem.make_source(seed=columns))


def test_aligned_loads_are_beside_whole_loads() -> None:
    variant = LaplaceVariant(border_code="select", pixels="aligned", vector_width=2)
    assert violations(variant, IMAGE, GPU) == [
        "pixels aligned: own elements and neighbours are read apart, as by border_code mapped, not by select",
        "pixels aligned: 2 elements do not begin and end where 4 elements do",
    ]


@pytest.mark.parametrize("rung", LADDERS["jia2012"].rungs, ids=label)
@pytest.mark.parametrize(("dtype", "channels"), [("uint8", 1), ("uint8", 4), ("int16", 3), ("float32", 1)])
def test_rungs_of_the_study(own_backend: Backend, rung: LaplaceVariant, dtype: str, channels: int) -> None:
    for height, width, border, mask, output in (
        (1, 1, "constant", "eight", "laplacian"),
        (1, 35, "wrap", "diagonal", "sharpened"),
        (35, 1, "reflect_101", "eight_negated", "sharpened"),
        (33, 70, "replicate", "four", "laplacian"),
    ):
        problem = Laplace(mask, border, output, dtype, height, width, channels, 7)
        check(own_backend, problem, rung, problem.make_source(seed=width))


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("rung", LADDERS["jia2012"].rungs[:10], ids=label)
def test_borders_on_the_rungs_of_the_study(own_backend: Backend, rung: LaplaceVariant, border: str) -> None:
    problem = Laplace("eight", border, "laplacian", "uint8", 11, 43, 3, 9)
    check(own_backend, problem, rung, problem.make_source(seed=1))


@pytest.mark.parametrize(
    "point",
    pairwise(
        {
            "kind": (
                ("uint8", "packed", 4),
                ("uint8", "packed", 16),
                ("uint8", "packed", 32),
                ("uint8", "symmetric", 32),
                ("uint16", "symmetric", 64),
                ("float32", "symmetric", 16),
            ),
            "channels": (1, 3, 4),
            "border": BORDERS,
            "mask": ("four", "eight_negated", "diagonal"),
            "output": OUTPUTS,
        }
    ),
    ids=spelled,
)
def test_ends_of_rows(own_backend: Backend, point: Point) -> None:
    """Rows of one vector and of several, that end with a vector, a pixel after it and inside it."""
    dtype, stencil, width = point["kind"]
    channels = point["channels"]
    variant = LaplaceVariant(border_code="peeled", stencil=stencil, vector_width=width, group_width=4)
    whole = -(-3 * width // channels)
    for pixels in (1, width // channels, whole, whole + 1, 2 * width - 1):
        parameters = {name: point[name] for name in ("mask", "border", "output")}
        problem = Laplace(
            dtype=dtype, height=3, width=pixels, channels=channels, border_value=7, **parameters
        )
        check(own_backend, problem, variant, problem.make_source(seed=pixels))


def test_the_study_begins_with_nine_reads_and_ends_in_the_shape_of_the_default() -> None:
    first, *_, last = LADDERS["jia2012"].rungs
    assert isinstance(first, LaplaceVariant)
    assert isinstance(last, LaplaceVariant)
    assert (first.pixels, first.stencil, first.scheme) == ("global", "nine_terms", "per_pixel")
    default = default_variant(replace(IMAGE, width=2560, height=2560), GPU)
    assert isinstance(default, LaplaceVariant)
    assert last == replace(default, group_height=last.group_height, cache_hint="none")


@pytest.mark.parametrize(
    ("border", "value", "channels", "image"),
    [
        ("replicate", 0, 1, SourceImage2d(1, 65, 33, 128, "edge")),
        ("reflect", 0, 4, SourceImage2d(4, 65, 33, 384, "edge")),
        ("constant", 0, 4, SourceImage2d(4, 65, 33, 384, "zero")),
        ("constant", 7, 1, SourceImage2d(1, 65, 33, 128)),
        ("wrap", 0, 1, SourceImage2d(1, 65, 33, 128)),
        # The next texel is an element of the same pixel.
        ("replicate", 0, 3, SourceImage2d(1, 195, 33, 256)),
    ],
)
def test_an_image_finds_by_itself_what_lies_outside_where_it_can(
    border: str, value: int, channels: int, image: SourceImage2d
) -> None:
    problem = replace(IMAGE, border=border, border_value=value, channels=channels)
    (launch,) = plan(problem, LaplaceVariant(pixels="image2d", border_code="select"), GPU).launches
    assert launch.arguments[0] == image


def test_a_device_without_images_says_so() -> None:
    variant = LaplaceVariant(pixels="image2d", border_code="select")
    found = violations(variant, IMAGE, replace(GPU, image_sides=(0, 0)))
    assert found == ["pixels image2d: the device has no images of two dimensions"]


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize(("dtype", "channels"), [("uint8", 4), ("uint16", 1), ("int16", 3), ("float32", 4)])
def test_images(own_backend: Backend, dtype: str, channels: int, border: str) -> None:
    """By march and pixel by pixel, with whole texels and parts of them, where the image's own border is used
    and where it is not.
    """
    kinds: list[tuple[Scheme, Stencil, int]]
    kinds = [("march", "symmetric", 4), ("march", "symmetric", 1), ("per_pixel", "nine_terms", 2)]
    for value, (scheme, stencil, width) in enumerate(kinds):
        variant = LaplaceVariant(
            pixels="image2d", border_code="select", scheme=scheme, stencil=stencil, vector_width=width,
            rows_per_item=2, group_width=4, group_height=2,
        )  # fmt: skip
        for height, pixels in ((1, 1), (5, 23)):
            problem = Laplace("eight", border, "sharpened", dtype, height, pixels, channels, value)
            check(own_backend, problem, variant, problem.make_source(seed=value))


def test_padding_is_part_of_the_call() -> None:
    planned = plan(replace(IMAGE, border="wrap"), LaplaceVariant(border_code="padded"), GPU)
    assert [launch.kernel for launch in planned.launches] == ["pad", "laplace"]
    assert planned.launches[0].arguments[0] == Source()
    assert planned.launches[1].arguments[0] == planned.launches[0].arguments[1] == Buffer("padded")
    assert planned.buffers["padded"] == (33 + 2) * (128 + 2 * 128)


@pytest.mark.parametrize(
    "axes",
    [
        {"mask_memory": "global", "stencil": "nine_terms"},
        {"mask_memory": "constant", "stencil": "nine_terms"},
        {"mask_memory": "inline", "stencil": "unrolled"},
        {"mask_memory": "global", "stencil": "unrolled"},
    ],
    ids=spelled,
)
@pytest.mark.parametrize("mask", ["four", "diagonal"])
def test_single_terms_leave_out_pixels_of_weight_zero(
    own_backend: Backend, mask: str, axes: dict[str, Any]
) -> None:
    problem = replace(IMAGE, mask=mask, dtype="float32")
    image = problem.make_source(seed=1)
    image[16, 32] = np.inf
    check(own_backend, problem, LaplaceVariant(border_code="select", scheme="per_pixel", **axes), image)


@pytest.mark.parametrize("border_code", BORDER_CODES)
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 1e-40, -10 / 3])
def test_float_border_values(own_backend: Backend, border_code: BorderCode, value: float) -> None:
    problem = Laplace("eight", "constant", "laplacian", "float32", 9, 21, 1, value)
    variant = LaplaceVariant(border_code=border_code, vector_width=4)
    check(own_backend, problem, variant, problem.make_source(seed=1))


@pytest.mark.parametrize("mask", ["four", "diagonal"])
def test_pixels_of_weight_zero_do_not_count(own_backend: Backend, mask: str) -> None:
    problem = replace(IMAGE, mask=mask, dtype="float32")
    image = problem.make_source(seed=1)
    image[16, 32] = np.inf
    check(own_backend, problem, LaplaceVariant(border_code="mapped", vector_width=4), image)


@pytest.mark.parametrize("border_code", BORDER_CODES)
def test_the_padding_is_never_read_as_pixels(own_backend: Backend, border_code: BorderCode) -> None:
    variant = LaplaceVariant(border_code=border_code, vector_width=16, rows_per_item=4)
    for border in BORDERS:
        problem = replace(IMAGE, border=border)
        image = problem.make_source(seed=1)
        packed = problem.pack(image)
        packed[:, problem.row_elements :] = 255
        with own_backend.prepare(problem, variant, [own_backend.upload(packed)]) as prepared:
            prepared.enqueue(0)
            assert problem.verify(prepared.result(), image).ok, border


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("uint8", 256),
        ("uint8", -1),
        ("uint8", 2.5),
        ("uint16", 65536),
        ("int16", -32769),
        ("uint8", float("nan")),
    ],
)
def test_a_border_value_must_fit_the_dtype(dtype: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"{value!r} is no integer in {dtype}'s range of -?\d+ to \d+"):
        replace(IMAGE, border="constant", dtype=dtype, border_value=value)
    replace(IMAGE, dtype=dtype, border_value=value)  # Other borders ignore it.


def test_a_finite_border_value_must_not_become_infinite() -> None:
    with pytest.raises(ValueError, match=r"1e\+39 is outside float32's range"):
        replace(IMAGE, border="constant", dtype="float32", border_value=1e39)


def test_the_plan_covers_the_image() -> None:
    problem = Laplace("four", "wrap", "laplacian", "uint16", 1000, 999, 3)
    variant = LaplaceVariant(vector_width=8, rows_per_item=4, group_width=16, group_height=2)
    planned = plan(problem, variant, GPU)
    (launch,) = planned.launches
    assert launch.num_groups == (24, 125)  # 2997 elements in 128s, 1000 rows in 8s
    assert launch.group_size == (16, 2)
    assert planned.result_count == 1000 * 3008  # rows of 5994 bytes are padded to 6016
    assert planned.buffers == {planned.result: 1000 * 6016}
    assert planned.per_source


@pytest.mark.parametrize(
    ("problem", "axes", "reason"),
    [
        (
            IMAGE,
            {"rows_per_item": 2, "loads_in_flight": 4},
            "2 rows an item are no multiple of 4 loads in flight",
        ),
        (replace(IMAGE, width=2**31), {}, "a row of 2147483648 elements"),
        (
            IMAGE,
            {"pixels": "local_tile", "vector_width": 16, "rows_per_item": 8},
            "pixels local_tile: a group's tile needs 33924 bytes of local memory, the device has 32768",
        ),
        (
            IMAGE,
            {"border_code": "mapped", "scheme": "per_pixel", "stencil": "nine_terms"},
            "border_code mapped: reads whole rows, and the stencil nine_terms each neighbour by itself",
        ),
        (
            IMAGE,
            {"mask_memory": "constant"},
            "stencil symmetric: the compiler must know the mask's weights (mask_memory inline), which are in "
            "constant memory",
        ),
        (
            IMAGE,
            {"stencil": "unrolled"},
            "scheme march: it adds up what whole rows contribute, as the stencil symmetric tells, unrolled "
            "does not",
        ),
        (
            IMAGE,
            {"scheme": "per_pixel", "rows_per_item": 2, "loads_in_flight": 2},
            "scheme per_pixel: it keeps no rows, of which 2 could be loads in flight",
        ),
        (
            IMAGE,
            {"border_code": "peeled", "scheme": "per_pixel", "stencil": "unrolled"},
            "border_code peeled: reads whole rows, and the stencil unrolled each neighbour by itself",
        ),
        (
            IMAGE,
            {"pixels": "image2d"},
            "pixels image2d: what lies outside it finds itself, or where coordinates are selected before "
            "(border_code select), not by branches",
        ),
        (
            replace(IMAGE, width=2**14 + 1),
            {"pixels": "image2d", "border_code": "select"},
            "pixels image2d: 16385x33 texels are over the device's limit of 16384x8192",
        ),
        (
            IMAGE,
            {"pixels": "image2d", "border_code": "select", "cache_hint": "streaming", "vector_width": 8},
            "pixels image2d: texels are loaded without a hint to the caches",
        ),
        (
            IMAGE,
            {"border_code": "peeled", "pixels": "local_tile"},
            "border_code peeled: a work-item reads its rows itself, not from local_tile",
        ),
        (
            replace(IMAGE, channels=4),
            {"border_code": "peeled", "vector_width": 2},
            "border_code peeled: 2 elements do not hold a pixel of 4 channels",
        ),
        (
            replace(IMAGE, dtype="int16"),
            {"border_code": "peeled", "stencil": "packed", "vector_width": 4},
            "stencil packed: only sums of uint8 fit 16 bits, not of int16",
        ),
        (
            IMAGE,
            {"border_code": "mapped", "stencil": "packed", "vector_width": 4},
            "stencil packed: it takes rows as bytes, as border_code peeled reads them, mapped does not",
        ),
        (
            IMAGE,
            {"border_code": "peeled", "stencil": "packed", "vector_width": 2},
            "stencil packed: 2 bytes do not fill a word of 32 bits",
        ),
        (IMAGE, {"vector_width": 32}, "vector_width 32: the compiler's vectors have 16 elements"),
        (
            replace(IMAGE, height=2**20, width=2**17 - 128),
            {"border_code": "padded"},
            "border_code padded: the padded image of 137573433600 bytes is over the device's limit of",
        ),
    ],
)
def test_violations(problem: Laplace, axes: dict[str, Any], reason: str) -> None:
    assert any(reason in found for found in violations(LaplaceVariant(**axes), problem, GPU))


SHUFFLING = LaplaceVariant(border_code="mapped", pixels="shuffle", vector_width=4)


@pytest.mark.parametrize(
    ("axes", "channels", "device", "reasons"),
    [
        ({}, 1, {}, []),
        # A neighbour is three work-items away.
        ({"vector_width": 1}, 3, {}, []),
        (
            {},
            1,
            {"shuffles": False},
            [NO_SHUFFLES],
        ),
        (
            {},
            1,
            {"sub_group_width": 0},
            ["how wide sub-groups are is not known before a kernel runs"],
        ),
        ({}, 1, {"sub_group_width": 64}, ["32 work-items across are no whole sub-groups of 64"]),
        ({"group_width": 16}, 1, {}, ["16 work-items across are no whole sub-groups of 32"]),
        ({"vector_width": 2}, 3, {}, ["2 elements are neither pixels of 3 channels nor a whole part of one"]),
        (
            {"border_code": "select"},
            1,
            {},
            ["own elements and neighbours are read apart, as by border_code mapped, not by select"],
        ),
    ],
)
def test_shuffles_need_whole_sub_groups(
    axes: dict[str, Any], channels: Channels, device: dict[str, Any], reasons: list[str]
) -> None:
    variant, problem = replace(SHUFFLING, **axes), replace(IMAGE, channels=channels)
    found = violations(variant, problem, replace(GPU, **{"shuffles": True} | device))
    assert found == [f"pixels shuffle: {reason}" for reason in reasons]


def test_shuffles_are_for_stencils_that_read_whole_rows() -> None:
    variant = replace(SHUFFLING, scheme="per_pixel", stencil="unrolled")
    [found] = violations(variant, IMAGE, replace(GPU, shuffles=True))
    assert found == "border_code mapped: reads whole rows, and the stencil unrolled each neighbour by itself"


@pytest.mark.parametrize(
    ("backend", "portable", "reasons"),
    [
        (
            "opencl",
            PORTABLE_OPENCL,
            [f"dialect portable: pixels shuffle: {NO_SHUFFLES}"],
        ),
        ("cuda", {}, []),
    ],
)
def test_portable_shuffles_are_cudas_alone(
    backend: str, portable: dict[str, Any], reasons: list[str]
) -> None:
    device = replace(GPU, backend=backend, shuffles=True, portable=portable)
    assert violations(replace(SHUFFLING, dialect="portable"), IMAGE, device) == reasons


def compiled(problem: Laplace, variant: LaplaceVariant) -> str:
    """What NVRTC's ptxas says of the kernel for sm_90: registers, spills, warnings."""
    nvrtc = pytest.importorskip(
        "cuda.bindings.nvrtc", reason="NVRTC is missing: pip install cuda-bindings[all]"
    )
    planned = plan(problem, variant, GPU)
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


@pytest.mark.parametrize("point", POINTS[::4], ids=spelled)
def test_cuda_compiles_without_a_warning(point: Point) -> None:
    assert "warning" not in compiled(problem_of(point, 100, 100), variant_of(point))


@pytest.mark.parametrize(
    "point",
    pairwise(
        {
            "dtype": IMAGE_DTYPES,
            "channels": (1, 3, 4),
            "border": ("constant", "reflect_101"),
            "vector_width": (1, 2, 4, 8, 16),
            "scheme": ("march", "per_pixel"),
        },
        lambda point: (point["vector_width"], point["channels"]) != (2, 3),
    ),
    ids=spelled,
)
def test_shuffles_compile_without_a_warning(point: Point) -> None:
    variant = replace(SHUFFLING, vector_width=point["vector_width"], scheme=point["scheme"])
    parameters = {name: point[name] for name in ("dtype", "channels", "border")}
    assert "warning" not in compiled(replace(IMAGE, mask="diagonal", **parameters), variant)


@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_the_default_on_a_gpu_stays_in_registers(dtype: str, channels: int) -> None:
    problem = Laplace("four", "replicate", "laplacian", dtype, 8192, 8192, channels)
    variant = default_variant(problem, GPU)
    assert isinstance(variant, LaplaceVariant)
    spilled = re.search(r"(\d+) bytes spill stores", compiled(problem, variant))
    assert spilled
    assert int(spilled[1]) <= 4 * SPILLED_REGISTERS


def test_every_piece_is_named_by_some_plan() -> None:
    folder = Path(__file__).parents[2] / "kernels_cl"
    pieces = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("laplace/**/*.cl")}
    plans = [plan(replace(IMAGE, border=border), LaplaceVariant(), GPU) for border in BORDERS]
    plans += [
        plan(IMAGE, LaplaceVariant(**{axis: value}), GPU)
        for axis in PIECES
        for value in AXES["laplace"][axis]
    ]
    named = {file for planned in plans for file in planned.files}
    assert pieces == {file for file in named if file.startswith("laplace/")}

"""The default variant of a filter on NVIDIA's GPUs, by what the sweeps found."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from harness.kernels.defaults import default_variant
from harness.kernels.requirements import violations
from harness.problems import Laplace
from harness.problems.laplace import BorderName, Channels, ImageDtypeName, MaskName
from harness.variants.axes import LaplaceVariant, group_items
from tests.support.machines import H200

H100 = replace(H200, cache_bytes=50 * 2**20)
H100_CUDA = replace(H100, platform="CUDA")
FEW_LEFT = 2720
"""Rows of 2560 pixels of four bytes beside whose result an H200's cache hardly keeps them."""


@pytest.mark.parametrize(
    ("height", "channels", "hint", "groups"),
    [
        (1280, 1, "none", "per_problem"),
        (2560, 1, "none", "per_problem"),
        (1535, 4, "none", "per_problem"),
        (1536, 4, "streaming_stores", "per_problem"),
        (1664, 4, "streaming_stores", "per_problem"),
        (2048, 4, "streaming_stores", "per_problem"),
        (2560, 4, "streaming_stores", 7),
        (2688, 4, "streaming_stores", 7),
        (2720, 4, "streaming", 7),
        (3276, 4, "streaming", 7),
        (3456, 4, "streaming", 7),
        (3712, 4, "streaming_stores", "per_problem"),
        (4096, 4, "streaming_stores", "per_problem"),
        (12287, 4, "streaming_stores", "per_problem"),
        (12288, 4, "resident", "per_problem"),
        (39321, 4, "resident", "per_problem"),
        (39322, 4, "none", "per_problem"),
    ],
)
def test_a_filter_keeps_its_source_where_its_result_would_push_it_out(
    height: int, channels: int, hint: str, groups: int | str
) -> None:
    problem = Laplace("four", "wrap", "laplacian", "uint8", height, 2560, channels)
    variant = default_variant(problem, H200)
    assert isinstance(variant, LaplaceVariant)
    assert (variant.cache_hint, variant.groups) == (hint, groups)
    assert variant.traversal == ("back_and_forth" if height >= FEW_LEFT else "forward")
    assert violations(variant, problem, H200) == []
    elsewhere = default_variant(problem, replace(H200, compute_capability=0))
    assert elsewhere == replace(
        variant,
        cache_hint="none",
        groups="per_problem",
        traversal="forward",
        interior="general" if height == 1280 else "specialized",
        stencil="paired",
        most_registers="unbounded",
        load_order="compiler",
    )


@pytest.mark.parametrize(
    ("dtype", "side", "groups", "pixels", "pixels_at_a_constant"),
    [
        ("uint8", 1280, "per_problem", "global", "global"),
        ("uint8", 3072, 6, "aligned", "aligned"),
        ("uint8", 8192, "per_problem", "aligned", "aligned"),
        ("int16", 1280, "per_problem", "global", "global"),
        ("int16", 2048, "per_problem", "aligned", "aligned"),
        ("int16", 8192, "per_problem", "async_tile", "aligned"),
        ("float32", 1280, "per_problem", "global", "global"),
        ("float32", 8192, "per_problem", "async_tile", "global"),
    ],
)
def test_three_channels_do_not_load_their_neighbours_one_by_one_past_the_cache(
    dtype: str, side: int, groups: int | str, pixels: str, pixels_at_a_constant: str
) -> None:
    problem = Laplace("eight", "wrap", "laplacian", dtype, side, side, 3)
    for border, expected in (("wrap", pixels), ("constant", pixels_at_a_constant)):
        variant = default_variant(replace(problem, border=border), H200)
        assert isinstance(variant, LaplaceVariant)
        assert (variant.groups, variant.pixels) == (groups, expected)
        assert violations(variant, problem, H200) == []
    for channels in (1, 4):
        other = default_variant(replace(problem, channels=channels), H200)
        assert isinstance(other, LaplaceVariant)
        assert other.pixels == "global"


@pytest.mark.parametrize(
    ("dtype", "border", "interior"),
    [
        ("uint8", "wrap", "specialized"),
        ("uint8", "constant", "specialized"),
        ("uint16", "wrap", "general"),
        ("uint16", "constant", "specialized"),
        ("float32", "reflect_101", "general"),
        ("float32", "constant", "specialized"),
    ],
)
def test_the_interior_of_bytes_or_within_a_constant_border_has_code_of_its_own(
    dtype: str, border: BorderName, interior: str
) -> None:
    cuda = replace(H200, platform="CUDA")
    for channels, device in itertools.product((1, 3, 4), (cuda, H200)):
        problem = Laplace("four", border, "laplacian", dtype, 2560, 2560, channels)
        variant = default_variant(problem, device)
        assert isinstance(variant, LaplaceVariant)
        assert variant.interior == interior
        assert violations(variant, problem, device) == []


@pytest.mark.parametrize(
    ("dtype", "channels", "side", "interior"),
    [
        ("uint8", 1, 256, "general"),
        ("uint8", 1, 2048, "general"),
        ("uint8", 1, 2304, "specialized"),
        ("uint8", 4, 1024, "general"),
        ("uint8", 4, 1280, "specialized"),
        ("uint16", 1, 1024, "general"),
        ("uint16", 1, 2048, "specialized"),
    ],
)
def test_a_small_image_has_one_code_for_all_of_it(
    dtype: ImageDtypeName, channels: int, side: int, interior: str
) -> None:
    for device in (H200, replace(H200, platform="CUDA")):
        variant = default_variant(
            Laplace("four", "constant", "laplacian", dtype, side, side, channels), device
        )
        assert isinstance(variant, LaplaceVariant)
        assert variant.interior == interior


@pytest.mark.parametrize(
    ("mask", "channels", "side", "height"),
    [
        ("eight", 1, 2560, 2),
        ("eight_negated", 1, 2560, 2),
        ("eight", 1, 3072, 2),
        ("eight", 1, 2048, 4),
        ("eight", 1, 3328, 4),
        ("eight", 1, 8192, 4),
        ("four", 1, 2560, 4),
        ("diagonal", 1, 2560, 4),
        ("eight", 4, 1280, 4),
        ("four", 3, 1280, 4),
        ("four", 3, 1536, 2),
        ("four_negated", 3, 2048, 2),
        ("four", 3, 2176, 4),
        ("four", 3, 2560, 4),
        ("eight", 3, 2048, 4),
        ("four", 4, 2048, 4),
    ],
)
def test_groups_are_smaller_where_the_last_of_them_would_leave_units_idle(
    mask: MaskName, channels: int, side: int, height: int
) -> None:
    for device in (H200, replace(H200, platform="CUDA")):
        problem = Laplace(mask, "reflect_101", "laplacian", "uint8", side, side, channels)
        variant = default_variant(problem, device)
        assert isinstance(variant, LaplaceVariant)
        assert variant.group_height == height
        portable = default_variant(problem, device, "portable")
        assert isinstance(portable, LaplaceVariant)
        assert portable.group_height == 4


@pytest.mark.parametrize(
    ("channels", "width", "megabytes", "interior"),
    [(1, 2560, 60, "specialized"), (4, 640, 60, "specialized"), (4, 640, 50, "general")],
)
def test_tiles_in_turn_have_code_of_their_own_in_opencl_where_it_fits(
    channels: int, width: int, megabytes: int, interior: str
) -> None:
    """Of four channels where stores alone pass the cache: half of 50 MiB streams in both directions."""
    problem = Laplace("four", "wrap", "laplacian", "uint8", 4 * 2560, width, channels)
    device = replace(H200, cache_bytes=megabytes * 2**20)
    for each, expected in ((device, interior), (replace(device, platform="CUDA"), "specialized")):
        variant = default_variant(problem, each)
        assert isinstance(variant, LaplaceVariant)
        assert (variant.groups, variant.interior) == (7, expected)


@pytest.mark.parametrize(
    ("dtype", "side", "hint"), [("uint16", 2559, "none"), ("uint16", 2560, "streaming_stores")]
)
def test_a_quarter_of_the_cache_is_large_enough_for_stores_past_it(dtype: str, side: int, hint: str) -> None:
    variant = default_variant(Laplace("four", "wrap", "laplacian", dtype, side, 2560), H100)
    assert isinstance(variant, LaplaceVariant)
    assert variant.cache_hint == hint


@pytest.mark.parametrize(
    ("mask", "channels", "side", "opencl", "cuda"),
    [
        ("four", 1, 1280, "unbounded", "unbounded"),
        ("four", 1, 2560, 64, "unbounded"),
        ("diagonal", 1, 2560, 64, "unbounded"),
        ("eight", 1, 1280, "unbounded", 72),
        ("eight", 1, 2560, "unbounded", "unbounded"),
        ("eight", 1, 4096, "unbounded", 72),
        ("eight_negated", 1, 2560, "unbounded", "unbounded"),
        ("diagonal", 3, 512, "unbounded", "unbounded"),
        ("diagonal", 3, 1792, 72, "unbounded"),
        ("four", 3, 2048, "unbounded", "unbounded"),
        ("four", 3, 2560, 80, 80),
        ("four", 3, 3072, 80, 80),
        ("four", 3, 3456, "unbounded", "unbounded"),
        ("four", 4, 2304, 72, "unbounded"),
        ("four", 4, 2560, 72, 72),
        ("eight", 4, 2304, 72, 72),
        ("eight", 4, 2560, "unbounded", 72),
    ],
)
def test_filters_of_bytes_have_a_bound_on_registers_where_they_gain(
    mask: MaskName, channels: int, side: int, opencl: int | str, cuda: int | str
) -> None:
    """Of groups that take tiles in turn, one with which all run at a time."""
    problem = Laplace(mask, "wrap", "laplacian", "uint8", side, side, channels)
    for device, most in ((H100, opencl), (H100_CUDA, cuda)):
        variant = default_variant(problem, device)
        assert isinstance(variant, LaplaceVariant)
        assert variant.most_registers == most
        assert violations(variant, problem, device) == []
        if variant.groups != "per_problem" and most != "unbounded":
            assert int(variant.groups) * group_items(variant) * int(most) <= 65536


def test_no_bound_is_told_to_other_devices_or_of_other_kernels() -> None:
    problem = Laplace("four", "wrap", "laplacian", "uint8", 2560, 2560)
    for variant in (
        default_variant(problem, H100, "portable"),
        default_variant(problem, replace(H100, compute_capability=75)),
        default_variant(problem, replace(H100, compute_capability=0)),
        default_variant(replace(problem, dtype="uint16"), H100),
    ):
        assert isinstance(variant, LaplaceVariant)
        assert variant.most_registers == "unbounded"


@pytest.mark.parametrize(
    ("dtype", "mask", "channels", "side", "opencl", "cuda"),
    [
        ("uint8", "diagonal", 1, 1024, "compiler", "compiler"),
        ("uint8", "diagonal", 1, 1280, "compiler", "fenced"),
        ("uint8", "diagonal", 1, 3072, "compiler", "fenced"),
        ("uint8", "diagonal", 1, 4096, "compiler", "compiler"),
        ("uint8", "eight_negated", 1, 2560, "compiler", "fenced"),
        ("uint8", "eight", 1, 1280, "compiler", "compiler"),
        ("uint8", "eight", 1, 2560, "compiler", "fenced"),
        ("uint8", "four", 1, 2560, "compiler", "compiler"),
        ("uint8", "diagonal", 3, 1280, "compiler", "compiler"),
        ("uint8", "diagonal", 4, 512, "compiler", "fenced"),
        ("uint8", "eight", 4, 1280, "compiler", "fenced"),
        ("uint8", "four", 4, 1280, "compiler", "compiler"),
        ("uint8", "four", 4, 2304, "fenced", "compiler"),
        ("uint8", "diagonal", 4, 2304, "fenced", "compiler"),
        ("uint16", "diagonal", 1, 1280, "compiler", "compiler"),
        ("uint16", "four", 1, 3584, "compiler", "compiler"),  # in turn
        ("float32", "four", 1, 8192, "compiler", "fenced"),
        ("float32", "diagonal", 1, 8192, "compiler", "fenced"),
        ("float32", "eight", 1, 1024, "fenced", "fenced"),
        ("float32", "eight", 1, 2304, "fenced", "fenced"),
        ("float32", "eight", 1, 2560, "fenced", "compiler"),
        ("float32", "four", 3, 1024, "compiler", "compiler"),
        ("float32", "eight", 3, 8192, "compiler", "compiler"),
        ("float32", "diagonal", 4, 512, "fenced", "fenced"),
        ("float32", "diagonal", 4, 1184, "fenced", "compiler"),
        ("float32", "diagonal", 4, 8192, "fenced", "fenced"),
        ("float32", "eight", 4, 8192, "compiler", "compiler"),
    ],
)
def test_loads_are_fenced_where_compilers_would_issue_them_late(
    dtype: ImageDtypeName, mask: MaskName, channels: int, side: int, opencl: str, cuda: str
) -> None:
    problem = Laplace(mask, "wrap", "laplacian", dtype, side, side, channels)
    for device, order in ((H100, opencl), (H100_CUDA, cuda)):
        variant = default_variant(problem, device)
        assert isinstance(variant, LaplaceVariant)
        assert variant.load_order == order
        assert violations(variant, problem, device) == []
        for other in (
            default_variant(problem, device, "portable"),
            default_variant(problem, replace(device, compute_capability=0)),
        ):
            assert isinstance(other, LaplaceVariant)
            assert other.load_order == "compiler"


@pytest.mark.parametrize(
    ("mask", "side", "opencl", "cuda"),
    [
        ("four", 4096, "unbounded", 72),
        ("diagonal", 4096, 72, 72),
        ("eight", 4096, 72, 72),
        # Loads do not stream, or there is a group for each tile.
        ("eight", 3584, "unbounded", "unbounded"),
        ("eight", 8192, "unbounded", "unbounded"),
    ],
)
def test_uint16_in_turn_has_a_bound_on_registers_where_loads_stream(
    mask: MaskName, side: int, opencl: int | str, cuda: int | str
) -> None:
    for dtype in ("uint16", "float32"):
        problem = Laplace(mask, "wrap", "laplacian", dtype, side, side)
        for device, bound in ((H200, opencl), (replace(H200, platform="CUDA"), cuda)):
            variant = default_variant(problem, device)
            assert isinstance(variant, LaplaceVariant)
            assert variant.most_registers == (bound if dtype == "uint16" else "unbounded")
            assert violations(variant, problem, device) == []


@pytest.mark.parametrize(
    ("mask", "megabytes", "groups"), [("four", 50, 7), ("diagonal", 50, "per_problem"), ("diagonal", 60, 7)]
)
def test_opencls_four_channels_take_turns_where_they_gain(
    mask: MaskName, megabytes: int, groups: int | str
) -> None:
    problem = Laplace(mask, "wrap", "laplacian", "uint8", 2560, 2560, 4)
    variant = default_variant(problem, replace(H200, cache_bytes=megabytes * 2**20))
    assert isinstance(variant, LaplaceVariant)
    assert variant.groups == groups


@pytest.mark.parametrize(
    ("dtype", "channels", "width", "height", "rows"),
    [
        # Groups of four rows by the 132 units of an H200, and what the busiest has by four rows and by three.
        ("uint8", 1, 1280, 720, 3),  # 1.0: 8 and 6
        ("uint8", 1, 1280, 1280, 4),  # 1.8: 8 and 9
        ("uint8", 1, 1408, 1408, 4),  # 2.0: 8 and 9
        ("uint8", 1, 1536, 1536, 3),  # 2.2: 12 and 9
        ("uint8", 1, 1600, 1200, 4),  # 2.3: 12 and 12
        ("uint8", 1, 1920, 1080, 3),  # 2.1: 12 and 9
        ("uint8", 1, 1792, 1792, 4),  # 3.4: 16 and 15, but several turns
        ("uint8", 1, 2304, 2304, 4),  # 5.5: 24 and 24
        ("uint8", 3, 800, 600, 3),  # 1.4: 8 and 6
        ("uint8", 4, 768, 768, 3),  # 2.2: 12 and 9
        ("uint16", 1, 1024, 768, 3),  # 1.5: 8 and 6
        ("int16", 1, 1280, 720, 4),  # 1.7: 8 and 9
        ("float32", 1, 800, 600, 4),  # 2.0: 12 and 9, but wide elements
        ("uint8", 1, 1024, 1024, 2),  # fewer than one by four rows
    ],
)
def test_small_images_have_rows_that_leave_no_unit_with_more_to_do(
    dtype: ImageDtypeName, channels: Channels, width: int, height: int, rows: int
) -> None:
    for mask in ("four", "diagonal", "eight"):
        problem = Laplace(mask, "reflect_101", "laplacian", dtype, height, width, channels)
        for device in (H200, replace(H200, platform="CUDA")):
            variant = default_variant(problem, device)
            assert isinstance(variant, LaplaceVariant)
            assert (variant.rows_per_item, variant.loads_in_flight) == (rows, rows)
            assert violations(variant, problem, device) == []


def test_rows_that_leave_no_unit_with_more_to_do_change_nothing_else() -> None:
    # Those of 1440x1440 were swept with the fence and the bound that four rows have.
    problem = Laplace("diagonal", "reflect_101", "laplacian", "uint8", 1440, 1440)
    opencl, cuda = (default_variant(problem, each) for each in (H200, replace(H200, platform="CUDA")))
    assert isinstance(opencl, LaplaceVariant)
    assert isinstance(cuda, LaplaceVariant)
    assert (opencl.rows_per_item, opencl.most_registers, opencl.load_order) == (3, 64, "compiler")
    assert (cuda.rows_per_item, cuda.most_registers, cuda.load_order) == (3, "unbounded", "fenced")


@pytest.mark.parametrize(
    ("mask", "channels", "side", "rows"),
    [
        ("eight", 1, 2560, 5),  # 6.1 groups a compute unit
        ("eight_negated", 1, 8192, 5),
        ("eight", 1, 2304, 4),  # 5.5
        ("four", 1, 2560, 4),
        ("diagonal", 1, 2560, 4),
        ("eight", 3, 2560, 4),
    ],
)
def test_opencl_has_a_row_more_where_all_neighbours_weigh(
    mask: str, channels: Channels, side: int, rows: int
) -> None:
    problem = Laplace(mask, "reflect_101", "laplacian", "uint8", side, side, channels)
    for device, expected in ((H200, rows), (replace(H200, platform="CUDA"), 4)):
        variant = default_variant(problem, device)
        assert isinstance(variant, LaplaceVariant)
        assert (variant.rows_per_item, variant.loads_in_flight) == (expected, expected)
        assert violations(variant, problem, device) == []

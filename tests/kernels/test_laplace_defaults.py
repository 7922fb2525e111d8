"""The variant of a filter when nobody names one: what a device can run, and what processors gain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.devices import DeviceInfo
from harness.kernels.defaults import default_variant
from harness.kernels.requirements import violations
from harness.problems import IMAGE_DTYPES, Laplace
from harness.variants.axes import Dialect, LaplaceVariant, variant_from_json, variant_to_json
from tests.support.machines import CPU, GPU, H200, SMALL_GPU


@pytest.mark.parametrize("height", [524_280, 524_281, 1_048_561, 2**24, 2**26])
@pytest.mark.parametrize(
    "device",
    [GPU, SMALL_GPU, CPU, *(replace(each, compute_capability=90) for each in (GPU, SMALL_GPU))],
    ids=["gpu", "small gpu", "cpu", "nvidia", "small nvidia"],
)
def test_a_default_fits_tall_images(device: DeviceInfo, height: int) -> None:
    device = replace(device, max_allocation_bytes=2**40)
    for dtype in IMAGE_DTYPES:
        problem = Laplace("four", "wrap", "laplacian", dtype, height, 3)
        variant = default_variant(problem, device)
        assert variant_from_json(variant_to_json(variant)) == variant, "a default is a point on the axes"
        assert violations(variant, problem, device) == []


@pytest.mark.parametrize(
    ("dtype", "elements", "stencil", "width"),
    [
        ("uint8", 16, "packed", 16),
        ("uint8", 64, "packed", 64),
        ("uint16", 64, "symmetric", 32),
        ("float32", 64, "symmetric", 16),
    ],
)
def test_a_processor_has_vectors_of_a_line_where_its_compiler_can(
    dtype: str, elements: int, stencil: str, width: int
) -> None:
    device = replace(CPU, vector_elements=elements)
    variant = default_variant(Laplace("four", "wrap", "laplacian", dtype, 9, 9), device)
    assert isinstance(variant, LaplaceVariant)
    assert (variant.border_code, variant.stencil, variant.vector_width) == ("peeled", stencil, width)


def test_a_processor_stores_past_its_caches_where_its_compiler_can() -> None:
    problem = Laplace("four", "wrap", "laplacian", "float32", 9, 9)
    for device, hint in ((CPU, "none"), (replace(CPU, nontemporal=True), "streaming_stores")):
        variant = default_variant(problem, device)
        assert isinstance(variant, LaplaceVariant)
        assert variant.cache_hint == hint


@pytest.mark.parametrize(
    ("dtype", "elements", "width", "hint", "rows"),
    [
        ("uint8", 64, 4096, "streaming_stores", 8),
        ("uint16", 64, 4096, "streaming_stores", 8),
        ("float32", 16, 1200, "streaming_stores", 8),
        # Half a line, and rows that all begin at the same place of a page.
        ("uint16", 16, 4096, "none", 8),
        ("float32", 16, 1024, "none", 4),
        ("float32", 16, 5120, "none", 4),
    ],
)
def test_a_processor_stores_whole_lines_past_its_caches(
    dtype: str, elements: int, width: int, hint: str, rows: int
) -> None:
    device = replace(CPU, nontemporal=True, vector_elements=elements)
    variant = default_variant(Laplace("four", "wrap", "laplacian", dtype, 9, width), device)
    assert isinstance(variant, LaplaceVariant)
    assert (variant.cache_hint, variant.rows_per_item) == (hint, rows)


def test_intels_processors_store_past_their_caches_wherever_rows_begin() -> None:
    device = replace(CPU, nontemporal=True, vendor="GenuineIntel")
    variant = default_variant(Laplace("four", "wrap", "laplacian", "float32", 9, 5120), device)
    assert isinstance(variant, LaplaceVariant)
    assert (variant.cache_hint, variant.rows_per_item) == ("streaming_stores", 8)


def test_only_what_does_not_fit_changes_a_default() -> None:
    def default(height: int, device: DeviceInfo) -> LaplaceVariant:
        variant = default_variant(Laplace("four", "wrap", "laplacian", "uint8", height, 3), device)
        assert isinstance(variant, LaplaceVariant)
        # A tall image is a large source, too.
        return replace(variant, cache_hint="none", traversal="forward")

    nvidia = replace(GPU, compute_capability=90)
    usual = default(2**16, nvidia)
    assert default(16 * 65535, nvidia) == usual
    assert default(16 * 65535 + 1, nvidia) == replace(usual, rows_per_item=8)
    assert default(128 * 65535 + 1, nvidia) == replace(usual, rows_per_item=32, group_height=8)
    for device in (CPU, GPU):
        assert default(2**26, device) == default(2**16, device), "this limit is not OpenCL's"


@pytest.mark.parametrize(
    ("side", "channels", "rows"), [(256, 1, 1), (512, 1, 1), (512, 4, 2), (1280, 1, 4), (2560, 4, 4)]
)
@pytest.mark.parametrize("dialect", ["vendor", "portable"])
def test_a_small_image_has_more_groups_of_fewer_rows(
    side: int, channels: int, rows: int, dialect: Dialect
) -> None:
    variant = default_variant(
        Laplace("four", "wrap", "laplacian", "uint8", side, side, channels), H200, dialect
    )
    assert isinstance(variant, LaplaceVariant)
    assert (variant.rows_per_item, variant.loads_in_flight) == (rows, rows)


@pytest.mark.parametrize(("dtype", "stencil"), [("uint8", "paired"), ("int16", "symmetric")])
def test_a_gpu_adds_bytes_in_pairs(dtype: str, stencil: str) -> None:
    variant = default_variant(Laplace("four", "wrap", "laplacian", dtype, 999, 999), GPU)
    assert isinstance(variant, LaplaceVariant)
    assert (variant.border_code, variant.stencil) == ("mapped", stencil)


def test_a_tile_that_a_tall_group_cannot_have_is_read_without() -> None:
    problem = Laplace("eight", "wrap", "laplacian", "float32", 2**26, 1, 3)
    variant = default_variant(problem, H200)
    assert isinstance(variant, LaplaceVariant)
    assert (variant.pixels, variant.loads_in_flight) == ("global", 1)
    assert violations(variant, problem, H200) == []


def test_portable_kernels_cannot_keep_a_source_and_change_later() -> None:
    problem = Laplace("four", "wrap", "laplacian", "uint8", 2560, 2560, 3)
    found = [
        default_variant(replace(problem, height=side, width=side), H200, "portable") for side in (2560, 8192)
    ]
    assert [variant.pixels for variant in found if isinstance(variant, LaplaceVariant)] == [
        "global",
        "aligned",
    ]

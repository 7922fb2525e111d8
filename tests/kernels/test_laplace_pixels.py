"""Where the Laplace kernels' pixels come from: portable words, aligned loads, tiles, images, shuffles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from backends import Backend
from harness.devices import PORTABLE_OPENCL
from harness.kernels.laplace import plan
from harness.kernels.plan import SourceImage2d
from harness.kernels.requirements import violations
from harness.kernels.values import NO_SHUFFLES
from harness.problems import BORDERS, IMAGE_DTYPES, OUTPUTS, Laplace
from harness.problems.laplace import Channels
from harness.variants.axes import LaplaceVariant, Scheme, Stencil
from tests.support.checks import Point, pairwise, spelled
from tests.support.laplace import GPU, IMAGE, SHUFFLING, check, edge_sizes, problem_of


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


def beside(point: Point) -> LaplaceVariant:
    """A variant whose neighbours come beside whole vectors, in groups of four by two."""
    rows, loads = point["rows"]
    axes = {name: point[name] for name in ("dialect", "pixels", "scheme", "vector_width")}
    return LaplaceVariant(
        border_code="mapped", rows_per_item=rows, loads_in_flight=loads, group_width=4, group_height=2, **axes
    )


@pytest.mark.parametrize(
    "point",
    pairwise(
        {
            "pixels": ("aligned", "async_tile"),
            "dtype": IMAGE_DTYPES,
            "vector_width": (4, 8, 16),
            "channels": (1, 3, 4),
            "border": BORDERS,
            "mask": ("four", "eight_negated", "diagonal"),
            "output": OUTPUTS,
            "dialect": ("vendor", "portable"),
            "scheme": ("march", "per_pixel"),
            "rows": ((1, 1), (2, 1), (4, 2)),
        },
        lambda point: not violations(beside(point), problem_of(point, 1, 1), GPU),
    ),
    ids=spelled,
)
def test_neighbours_beside_whole_vectors(own_backend: Backend, point: Point) -> None:
    """Rows that end with a vector, less than a pixel of elements after it, and inside it."""
    for height, columns in edge_sizes(point["vector_width"]):
        problem = problem_of(point, height, columns, 200)
        check(own_backend, problem, beside(point), problem.make_source(seed=columns))


@pytest.mark.parametrize(
    ("axes", "reasons"),
    [
        (
            {"border_code": "select", "pixels": "aligned", "vector_width": 2},
            [
                "pixels aligned: own elements and neighbours are read apart, as by border_code mapped, "
                "not by select",
                "pixels aligned: 2 elements do not begin and end where 4 elements do",
            ],
        ),
        (
            {"pixels": "async_tile", "vector_width": 16, "rows_per_item": 8, "group_height": 16},
            ["pixels async_tile: a group's tile needs 74880 bytes of local memory, the device has 32768"],
        ),
        (
            {"pixels": "async_tile", "vector_width": 16, "cache_hint": "streaming", "groups": 4},
            [
                "cache_hint streaming: no way is known to tell this device's compiler",
                "pixels async_tile: a group fills local memory once, not for each of several tiles (4/unit)",
                "pixels async_tile: copies into local memory carry no hint to the caches",
            ],
        ),
    ],
)
def test_whole_vectors_need(axes: Mapping[str, Any], reasons: list[str]) -> None:
    variant = LaplaceVariant(**{"border_code": "mapped", **axes})
    assert sorted(violations(variant, IMAGE, GPU)) == sorted(reasons)


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


@pytest.mark.parametrize(
    ("most", "why"), [(0, ""), (256, ""), (255, "rows of 256 bytes are over the device's limit of 255")]
)
def test_an_image_whose_rows_are_too_far_apart_says_so(most: int, why: str) -> None:
    variant = LaplaceVariant(pixels="image2d", border_code="select")
    found = violations(variant, replace(IMAGE, channels=3), replace(GPU, image_row_bytes=most))
    assert found == ([f"pixels image2d: {why}"] if why else [])


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

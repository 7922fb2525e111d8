"""The Laplace kernels' sums: in pairs, without pixels of weight zero, and on every rung of a study."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from backends import Backend
from harness.kernels.defaults import default_variant
from harness.problems import BORDERS, MASKS, OUTPUTS, Laplace
from harness.variants.axes import LaplaceVariant, Stencil, label
from harness.variants.ladders import LADDERS
from tests.support.checks import Point, pairwise, require, spelled
from tests.support.compiling import NVIDIA
from tests.support.laplace import IMAGE, check, edge_sizes, problem_of


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
            "stencil": ("paired", "floats", "halves", "matrix"),
        },
        lambda point: point["stencil"] in ("paired", "floats") or point["dialect"] == "vendor",
    ),
    ids=spelled,
)
def test_pairs_of_sums(own_backend: Backend, point: Point) -> None:
    """Sums of both signs and over 255, in words whose row ends after any of their bytes."""
    width = point["vector_width"]
    axes = {name: point[name] for name in ("pixels", "dialect", "scheme", "stencil", "vector_width")}
    together = point["pixels"] == "shuffle" or point["stencil"] == "matrix"
    group_width = max(4, own_backend.device.sub_group_width) if together else 4
    variant = LaplaceVariant(border_code="mapped", group_width=group_width, **axes)
    require(own_backend, problem_of(point | {"dtype": "uint8"}, 9, 9), variant)
    for height, columns in edge_sizes(width):
        problem = problem_of(point | {"dtype": "uint8"}, height, columns, 200)
        check(own_backend, problem, variant, problem.make_source(seed=columns))


@pytest.mark.parametrize("stencil", ["paired", "floats", "halves", "matrix"])
@pytest.mark.parametrize("mask", ["eight_negated", "diagonal"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_pairs_at_the_corners_of_a_constant_border(
    own_backend: Backend, channels: int, mask: str, stencil: Stencil
) -> None:
    """Above and below the image all bytes of a word are the border's, of which a neighbour is one."""
    variant = LaplaceVariant(border_code="mapped", stencil=stencil, vector_width=16, group_width=32)
    for output in OUTPUTS:
        problem = Laplace(mask, "constant", output, "uint8", 2, 35, channels, 200)
        check(own_backend, problem, variant, problem.make_source(seed=channels))


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


@pytest.mark.parametrize("mask", ["four", "diagonal"])
def test_pixels_of_weight_zero_do_not_count(own_backend: Backend, mask: str) -> None:
    problem = replace(IMAGE, mask=mask, dtype="float32")
    image = problem.make_source(seed=1)
    image[16, 32] = np.inf
    check(own_backend, problem, LaplaceVariant(border_code="mapped", vector_width=4), image)


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


def test_the_study_begins_with_nine_reads_and_ends_in_the_shape_of_the_default() -> None:
    first, *_, last = LADDERS["jia2012"].rungs
    assert isinstance(first, LaplaceVariant)
    assert isinstance(last, LaplaceVariant)
    assert (first.pixels, first.stencil, first.scheme) == ("global", "nine_terms", "per_pixel")
    default = default_variant(replace(IMAGE, width=2560, height=2560), NVIDIA)
    assert isinstance(default, LaplaceVariant)
    assert last == replace(default, group_height=last.group_height, cache_hint="none")

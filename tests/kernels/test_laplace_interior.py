"""Tiles that meet no border, compiled for themselves, beside those that do: on each backend."""

from __future__ import annotations

import pytest

from backends.base import Backend
from harness.kernels.requirements import violations
from harness.problems import BORDERS, IMAGE_DTYPES, Laplace
from harness.variants.axes import AXES, LaplaceVariant
from tests.support.checks import Point, pairwise, spelled
from tests.support.laplace import check
from tests.support.samples import LEAST

ACROSS, DOWN, ROWS = 2, 2, 2
"""Work-items of a group across and down, and rows of each: small, so that small images have many tiles."""


def variant_of(point: Point) -> LaplaceVariant:
    axes = {name: point[name] for name in AXES["laplace"] if name in point}
    return LaplaceVariant(
        interior="specialized",
        rows_per_item=ROWS,
        group_width=32 if point["pixels"] == "shuffle" else ACROSS,
        group_height=DOWN,
        **axes,
    )


def problem_of(point: Point, tiles: int, elements: int, rows: int) -> Laplace:
    """An image of so many tiles each way, and so many elements and rows more; its rows are whole pixels."""
    variant, channels = variant_of(point), point["channels"]
    wide = tiles * variant.group_width * variant.vector_width + elements
    height = tiles * DOWN * ROWS + rows
    return Laplace(
        point["mask"],
        point["border"],
        point["output"],
        point["dtype"],
        height,
        -(-wide // channels),
        channels,
    )


@pytest.mark.parametrize(
    "point",
    pairwise(
        {
            "border_code": AXES["laplace"]["border_code"],
            "pixels": AXES["laplace"]["pixels"],
            "scheme": AXES["laplace"]["scheme"],
            "stencil": AXES["laplace"]["stencil"],
            "groups": ("per_problem", 1),
            "border": BORDERS,
            "dtype": IMAGE_DTYPES,
            "channels": (1, 3, 4),
            "mask": ("four", "eight_negated"),
            "output": ("laplacian", "sharpened"),
            "vector_width": (1, 4, 16),
        },
        lambda point: not violations(variant_of(point), problem_of(point, 1, 0, 0), LEAST),
    ),
    ids=spelled,
)
def test_an_image_with_an_interior_is_one_image(own_backend: Backend, point: Point) -> None:
    """Images that end with a tile, within a pixel of one, and inside one: the last may be interior."""
    for tiles, elements, rows in ((3, 0, 0), (3, 1, 1), (3, point["channels"], 2), (2, 5, 3), (1, 0, 0)):
        problem = problem_of(point, tiles, elements, rows)
        check(own_backend, problem, variant_of(point), problem.make_source(seed=tiles + elements))

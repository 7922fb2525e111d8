"""The Laplace filter on every backend and device: parameters, sizes down to one pixel, layouts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from backends import REGISTRY, Backend
from harness.problems import BORDERS, IMAGE_DTYPES, MASKS, OUTPUTS, Laplace
from tests.support.checks import Point, check_laplace, pairwise, require, runs, spelled

SIZES = ((1, 1), (1, 2), (2, 1), (2, 2), (3, 3), (5, 1), (1, 7), (17, 33), (64, 130), (33, 64))
"""Height and width."""

PARAMETERS = pairwise(
    {"mask": list(MASKS), "border": BORDERS, "output": OUTPUTS, "dtype": IMAGE_DTYPES, "channels": (1, 3, 4)}
)
"""Each pair of parameters at least once."""

_BORDER_VALUES = {"uint8": 200, "uint16": 40000, "int16": -1234, "float32": -0.375}


def laplace(point: Point, height: int, width: int) -> Laplace:
    """The problem of a point of :data:`PARAMETERS` and a size, with a border value that shows."""
    value = _BORDER_VALUES[point["dtype"]] if point["border"] == "constant" else 0
    return Laplace(height=height, width=width, border_value=value, **point)


@pytest.mark.parametrize("point", PARAMETERS, ids=spelled)
def test_parameters_and_sizes(any_backend: Backend, point: Point) -> None:
    # OpenCV builds a kernel for each size: of libraries a sample is tried.
    sizes = SIZES[:: 1 if REGISTRY[any_backend.name].role != "library" else 7]
    for height, width in sizes:
        problem = laplace(point, height, width)
        check_laplace(any_backend, problem, problem.make_source(seed=height))


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
def test_results_saturate(any_backend: Backend, dtype: str, border: str) -> None:
    limits = (-1, 1) if dtype == "float32" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    checkered = np.where(np.indices((19, 37)).sum(axis=0) % 2, *limits).astype(dtype)
    masks = list(MASKS)[:: 1 if REGISTRY[any_backend.name].role != "library" else 3]
    for mask in masks:
        for image in (checkered, checkered[:, ::-1]):
            check_laplace(any_backend, Laplace(mask, border, "laplacian", dtype, 19, 37), image)


def test_a_flat_image_has_no_laplacian(any_backend: Backend) -> None:
    image = np.full((9, 21), 77, np.uint8)
    flat = {"laplacian": 0, "sharpened": 77}
    for border, output in itertools.product(("replicate", "reflect", "reflect_101", "wrap"), flat):
        if runs(any_backend, Laplace("four", border, output, "uint8", 9, 21)):
            assert (any_backend.laplace(image, border=border, output=output) == flat[output]).all()


def test_four_by_hand(any_backend: Backend) -> None:
    require(any_backend, Laplace("four", "constant", "laplacian", "int16", 3, 3))
    image = np.array([[0, 0, 0], [0, 10, 0], [0, 0, 0]], np.int16)
    expected = [[0, 10, 0], [10, -40, 10], [0, 10, 0]]
    assert any_backend.laplace(image, mask="four", border="constant").tolist() == expected
    assert any_backend.laplace(image.astype(np.uint8), mask="four", border="constant").tolist() == [
        [0, 10, 0],
        [10, 0, 10],
        [0, 10, 0],
    ]


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_layouts(any_backend: Backend, channels: int) -> None:
    problem = Laplace("eight", "reflect_101", "laplacian", "uint8", 17, 33, channels)
    wide = Laplace("eight", "reflect_101", "laplacian", "uint8", 34, 70, 4).make_source(seed=5)
    rows = wide[::2, :33, :channels]
    for view in (rows, rows[::-1, ::-1], np.asfortranarray(rows), wide[:17, 1:67:2, 4 - channels :]):
        check_laplace(any_backend, problem, view)
    if channels == 1:
        check_laplace(any_backend, problem, wide[:17, :33, 2])


@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@pytest.mark.parametrize("channels", [1, 3])
def test_a_region_of_a_larger_image(any_backend: Backend, channels: int, dtype: str) -> None:
    """At any offset: its border is the region's, not what surrounds it, and nothing is written there."""
    problem = Laplace("eight", "replicate", "sharpened", dtype, 13, 37, channels)
    require(any_backend, problem)
    whole = Laplace("eight", "replicate", "sharpened", dtype, 31, 71, channels).make_source(seed=9)
    before = whole.copy()
    for top, left, down, along in ((0, 0, 1, 1), (1, 3, 1, 1), (17, 34, 1, 1), (5, 0, 2, 1), (18, 1, 1, 1)):
        region = whole[top : top + 13 * down : down, left : left + 37 * along : along]
        answer = any_backend.laplace(region, "eight", "replicate", "sharpened")
        assert problem.verify(answer, region).ok, (top, left)
        assert not np.shares_memory(answer, whole)
    np.testing.assert_array_equal(whole, before)


def test_more_rows_than_65535_groups_of_16(own_backend: Backend) -> None:
    problem = Laplace("eight", "wrap", "laplacian", "uint8", 2**20 + 3, 5)
    check_laplace(own_backend, problem, problem.make_source(seed=10))


def test_channels_do_not_mix(any_backend: Backend) -> None:
    image = Laplace("eight", "wrap", "laplacian", "uint16", 20, 31, 4).make_source(seed=6)
    require(any_backend, Laplace("eight", "wrap", "laplacian", "uint16", 20, 31, 4))
    whole = any_backend.laplace(image, mask="eight", border="wrap")
    for channel in range(4):
        alone = any_backend.laplace(image[..., channel], mask="eight", border="wrap")
        np.testing.assert_array_equal(whole[..., channel], alone)


@pytest.mark.parametrize("border", BORDERS)
def test_special_floats(any_backend: Backend, border: str) -> None:
    for special in (np.nan, np.inf, -np.inf):
        image = Laplace("eight", border, "laplacian", "float32", 9, 35).make_source(seed=7)
        image[4, 17] = special
        check_laplace(any_backend, Laplace("eight", border, "laplacian", "float32", 9, 35), image)


@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
def test_byte_order_does_not_matter(any_backend: Backend, dtype: str) -> None:
    problem = Laplace("eight_negated", "replicate", "laplacian", dtype, 9, 21)
    require(any_backend, problem)
    image = problem.make_source(seed=9)
    answer = any_backend.laplace(image.astype(image.dtype.newbyteorder(">")), "eight_negated", "replicate")
    assert answer.dtype == image.dtype
    assert problem.verify(answer, image).ok


@pytest.mark.parametrize("value", [0, 255])
def test_border_values(any_backend: Backend, value: int) -> None:
    problem = Laplace("diagonal", "constant", "sharpened", "uint8", 5, 18, border_value=value)
    check_laplace(any_backend, problem, problem.make_source(seed=8))

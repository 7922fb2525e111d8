"""The report's pictures: what the reference makes of the middle of a photograph."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from harness.measure import pictures
from harness.measure.photograph import source_image
from harness.problems import Laplace, Reduction
from harness.problems.base import Array


def pixels(png: str) -> Array:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(png))))


@pytest.mark.parametrize(
    "shape", [(300, 700), (300, 700, 1), (300, 700, 3), (300, 700, 4), (1, 1), (256, 3, 3)]
)
def test_a_picture_is_the_middle(shape: tuple[int, ...]) -> None:
    image = np.random.default_rng(1).integers(0, 255, shape, np.uint8)
    top, left = max(0, (shape[0] - 256) // 2), max(0, (shape[1] - 256) // 2)
    expected = image[top : top + 256, left : left + 256]
    expected = (
        expected[:, :, :3].squeeze(2) if shape[2:] == (1,) else expected[..., :3] if shape[2:] else expected
    )
    assert (pixels(pictures.png(image)) == expected).all()


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("uint16", (0, 65535)),
        ("int16", (-32768, 32767)),
        ("float32", (0, 1)),
        ("float32", (-9, 9)),
        ("float32", (np.nan, 2)),
    ],
)
def test_a_picture_spans_the_range_of_its_type(dtype: str, values: tuple[float, float]) -> None:
    assert pixels(pictures.png(np.array([values], dtype))).tolist() == [[0, 255]]


def test_one_picture_of_each_output_and_of_the_original() -> None:
    problems = [
        Laplace(mask, "reflect_101", output, "uint8", 300, 280, 3)
        for output in ("laplacian", "sharpened")
        for mask in ("four", "eight")
    ]
    found = pictures.pictures([Reduction("min", "int8", (9,)), *problems], None)
    assert [picture["title"] for picture in found] == ["original", "laplacian", "sharpened"]
    first = problems[0]
    assert [picture["caption"] for picture in found] == [first.label, first.label, problems[2].label]
    source = source_image(first)
    for picture, whole in zip(
        found, (source, first.reference(source), problems[2].reference(source)), strict=True
    ):
        assert (pixels(picture["png"]) == whole[22:278, 12:268]).all()


def test_a_picture_of_a_small_image_is_all_of_it() -> None:
    problem = Laplace("four", "wrap", "laplacian", "uint8", 5, 7)
    original, filtered, _ = pictures.pictures([problem], None)
    source = source_image(problem)
    assert (pixels(original["png"]) == source).all()
    assert (pixels(filtered["png"]) == problem.reference(source)).all()


def test_a_filter_of_one_output_is_seen_with_the_other() -> None:
    problem = Laplace("eight", "wrap", "sharpened", "uint8", 30, 20)
    *_, laplacian, sharpened = pictures.pictures([problem], None)
    source = source_image(problem)
    other = Laplace("eight", "wrap", "laplacian", "uint8", 30, 20)
    assert (laplacian["caption"], sharpened["caption"]) == (other.label, problem.label)
    assert (pixels(laplacian["png"]) == other.reference(source)).all()
    assert (pixels(sharpened["png"]) == problem.reference(source)).all()


def test_without_a_filter_there_is_no_picture() -> None:
    assert pictures.pictures([Reduction("min", "int8", (9,))], None) == []

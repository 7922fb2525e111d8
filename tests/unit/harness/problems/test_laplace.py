"""The Laplace problem: its reference against SciPy, OpenCV and numbers by hand; packing, verification."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
from pydantic import TypeAdapter

from harness.problems import (
    BORDERS,
    IMAGE_DTYPES,
    MASKS,
    OUTPUTS,
    Array,
    Laplace,
    Problem,
    laplace,
)
from harness.problems.laplace import PITCH_ALIGNMENT
from harness.results.run_lines import strict_json
from tests.support.checks import pairwise, spelled

PLAIN: TypeAdapter[Problem] = TypeAdapter(Problem)
_SCIPY_MODES = {
    "constant": "constant",
    "replicate": "nearest",
    "reflect": "reflect",
    "reflect_101": "mirror",
    "wrap": "grid-wrap",
}
_LAPLACES = pairwise(
    {
        "mask": list(MASKS),
        "border": BORDERS,
        "output": OUTPUTS,
        "dtype": IMAGE_DTYPES,
        "channels": (1, 3, 4),
        "size": ((1, 1), (1, 6), (2, 1), (3, 3), (17, 33), (40, 23)),
    }
)


def scipy_laplace(problem: Laplace, image: Array) -> Array:
    """The same filter by SciPy: correlate with the mask, sharpen, saturate, in that order."""
    centre, edge, corner = MASKS[problem.mask]
    weights = np.array([[corner, edge, corner], [edge, centre, edge], [corner, edge, corner]], np.float64)
    wide = image.astype(np.float64).reshape(problem.height, problem.width, problem.channels)
    mode = _SCIPY_MODES[problem.border]
    result = scipy.ndimage.correlate(wide, weights[..., None], mode=mode, cval=problem.border_value)
    if problem.output == "sharpened":
        result = wide - result if centre < 0 else wide + result
    if problem.dtype != "float32":
        info = np.iinfo(problem.dtype)
        result = np.clip(result, info.min, info.max)
    return np.asarray(result.astype(problem.dtype).reshape(problem.shape))


@pytest.mark.parametrize("point", _LAPLACES, ids=spelled)
def test_the_laplace_reference_is_scipys(point: dict[str, Any]) -> None:
    height, width = point.pop("size")
    value = 3.0 if point["border"] == "constant" else 0.0
    problem = Laplace(height=height, width=width, border_value=value, **point)
    image = problem.make_source(seed=7)
    expected = scipy_laplace(problem, image)
    assert problem.reference(image).dtype == image.dtype
    outcome = problem.verify(expected, image)
    assert outcome.ok, outcome.message


@pytest.mark.parametrize(("mask", "ksize"), [("four", 1), ("diagonal", 3)])
@pytest.mark.parametrize("border", ["constant", "replicate", "reflect", "reflect_101"])
def test_the_laplace_reference_is_opencvs(mask: str, ksize: int, border: str) -> None:
    cv2 = pytest.importorskip("cv2", reason="opencv-python-headless is not installed")
    problem = Laplace(mask, border, "laplacian", "uint8", 37, 53)
    image = problem.make_source(seed=8)
    border_type = getattr(cv2, f"BORDER_{border.upper()}")
    expected = cv2.Laplacian(image, cv2.CV_8U, ksize=ksize, borderType=border_type)
    np.testing.assert_array_equal(problem.reference(image), expected)


def test_sharpening_by_hand() -> None:
    image = np.array([[10, 10, 10], [10, 20, 10], [10, 10, 10]], np.uint8)
    for mask in ("four", "four_negated"):
        sharpened = Laplace(mask, "replicate", "sharpened", "uint8", 3, 3).reference(image)
        assert sharpened.tolist() == [[10, 0, 10], [0, 60, 0], [10, 0, 10]]


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@pytest.mark.parametrize("width", [1, 31, 32, 33])
def test_packed_rows(dtype: str, channels: int, width: int) -> None:
    problem = Laplace("four", "wrap", "laplacian", dtype, 5, width, channels)
    image = problem.make_source(seed=9)
    packed = problem.pack(image[::-1])
    assert packed.shape == (5, problem.pitch)
    assert packed.strides[0] % PITCH_ALIGNMENT == 0
    assert packed.flags.c_contiguous
    assert problem.pitch - problem.row_elements < PITCH_ALIGNMENT // packed.itemsize
    np.testing.assert_array_equal(problem.finish(packed.reshape(-1)), image[::-1])
    assert problem.source_bytes == image.nbytes
    assert problem.bytes_moved == 2 * image.nbytes


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize(("dtype", "sum_bytes"), [("uint8", 2), ("int16", 4), ("float32", 8)])
def test_stripes_of_the_reference_are_one_image(
    dtype: str, sum_bytes: int, border: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Laplace("eight", border, "laplacian", dtype, 37, 5, 3, 7)
    image = problem.make_source(seed=4)
    whole = problem.reference(image)
    for rows in (1, 4, 36):
        monkeypatch.setattr(laplace, "STRIPE_BYTES", rows * problem.row_elements * sum_bytes)
        np.testing.assert_array_equal(problem.reference(image), whole)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("mask", MASKS)
def test_sums_of_bytes_fit_where_they_are_farthest_from_zero(mask: str, output: str) -> None:
    for around, within in ((0, 255), (255, 0)):
        problem = Laplace(mask, "constant", output, "uint8", 1, 1, 1, around)
        centre, edge, corner = problem.coefficients
        total = centre * within + 4 * (edge + corner) * around
        assert problem.reference(np.full((1, 1), within, np.uint8)) == [[min(max(total, 0), 255)]]


def test_what_the_caller_makes_of_bad_operations_counts_in_the_references_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(laplace, "STRIPE_BYTES", 1)
    problem = Laplace("four", "wrap", "laplacian", "float32", 2, 2)
    image = np.full((2, 2), np.inf, np.float32)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        problem.reference(image)


def test_a_wrong_pixel_is_found() -> None:
    problem = Laplace("eight", "reflect", "sharpened", "float32", 9, 9)
    image = problem.make_source(seed=10)
    answer = problem.reference(image)
    answer[4, 5] += 2 * problem.tolerance(image)
    assert problem.verify(answer, image).message.startswith("1 of 81 values differ; first at (4, 5)")


@pytest.mark.parametrize(
    ("mask", "output", "border_value", "weights"),
    [
        ("four", "laplacian", 0.0, 8 * 2),
        ("eight", "laplacian", 0.0, 16 * 2),
        ("diagonal", "sharpened", 0.0, 17 * 2),
        ("four", "laplacian", -3.0, 8 * 3),
        ("four", "laplacian", float("inf"), 8 * 2),
    ],
)
def test_the_tolerance_of_floats_is_nine_roundings_of_the_largest_sum(
    mask: str, output: str, border_value: float, weights: float
) -> None:
    image = np.array([[0.5, -2.0], [np.nan, np.inf]], np.float32)
    problem = Laplace(mask, "constant", output, "float32", 2, 2, border_value=border_value)
    assert problem.tolerance(image) == 9 * 2.0**-23 * weights
    assert Laplace(mask, "wrap", output, "int16", 2, 2).tolerance(np.ones((2, 2), np.int16)) == 0


@pytest.mark.parametrize("value", [-1, 256, 0.5, float("nan")])
def test_a_border_value_that_the_dtype_cannot_hold_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="border_value"):
        Laplace("four", "constant", "laplacian", "uint8", 3, 3, border_value=value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 300, -1, 0.5, 1e39, 10**309])
@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
def test_a_border_value_that_the_border_ignores_does_nothing(dtype: str, value: float) -> None:
    ignoring = Laplace("four", "replicate", "laplacian", dtype, 4, 5, border_value=value)
    plain = Laplace("four", "replicate", "laplacian", dtype, 4, 5)
    assert ignoring == plain
    assert hash(ignoring) == hash(plain)
    assert PLAIN.dump_python(ignoring) == PLAIN.dump_python(plain)
    image = plain.make_source(seed=11)
    np.testing.assert_array_equal(ignoring.reference(image), plain.reference(image))
    assert math.isfinite(ignoring.tolerance(image))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.0, 0.1, 7, np.float32(0.1)])
def test_a_border_value_comes_through_a_run_file(value: float) -> None:
    problem = Laplace("four", "constant", "laplacian", "float32", 4, 5, border_value=value)
    read = PLAIN.validate_python(json.loads(strict_json(PLAIN.dump_python(problem))))
    assert read == problem
    assert {problem: "found"}[read] == "found"
    np.testing.assert_array_equal(read.border_value, problem.border_value)


@pytest.mark.parametrize("value", ["7", None, [7], True, 1j, "nan"])
@pytest.mark.parametrize("border", ["constant", "wrap"])
def test_a_border_value_that_is_no_number_is_refused(border: str, value: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"border_value {value!r} is no number")):
        Laplace("four", border, "laplacian", "float32", 3, 3, border_value=value)


@pytest.mark.parametrize("value", [1e39, -1e39, 10**309])
def test_a_border_value_that_float32_cannot_hold_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="is outside float32's range"):
        Laplace("four", "constant", "laplacian", "float32", 3, 3, border_value=value)


@pytest.mark.parametrize("channels", [1.0, True, "1", [1]])
def test_channels_are_a_whole_number(channels: Any) -> None:
    with pytest.raises(ValueError, match="channels"):
        Laplace("four", "wrap", "laplacian", "uint8", 3, 3, channels)

"""The reference itself, against SciPy, OpenCV and NumPy where their semantics coincide with ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_arrays
from scipy import ndimage

from backends import Backend, BackendUnavailable, Unsupported, open_backend
from backends.errors import BackendError
from harness.problems import (
    BORDERS,
    IMAGE_DTYPES,
    MASKS,
    OPS,
    OUTPUTS,
    Array,
    Bandwidth,
    Empty,
    Laplace,
    Problem,
    Reduction,
)
from harness.problems.dtypes import DTYPES
from harness.variants.axes import BandwidthVariant, LibraryVariant, ReductionVariant
from tests.support.checks import has_one_answer

cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed: pip install opencv-python-headless")

SCIPY_MODES = {
    "constant": "constant",
    "replicate": "nearest",
    "reflect": "reflect",
    "reflect_101": "mirror",
    "wrap": "grid-wrap",
}
CV2_BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "replicate": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT,
    "reflect_101": cv2.BORDER_REFLECT_101,
}
SIDES = (1, 2, 3, 17)

all_borders = pytest.mark.parametrize("border", BORDERS)
image_dtypes = pytest.mark.parametrize("dtype", IMAGE_DTYPES)


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    """The NumPy backend."""
    with open_backend("numpy") as opened:
        yield opened


def random_image(dtype: str, shape: tuple[int, ...]) -> Array:
    """Random pixels over the whole range of the type; floats are multiples of 2**-8: their sums are exact."""
    rng = np.random.default_rng(list(shape))
    if dtype == "float32":
        return (rng.integers(-256, 256, shape) / 256).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def saturated(values: Array, dtype: str) -> Array:
    """Values in a type, those beyond its range at its ends."""
    if dtype == "float32":
        return values.astype(dtype)
    info = np.iinfo(dtype)
    return np.clip(values, info.min, info.max).astype(dtype)


def mask_array(mask: str) -> Array:
    """The 3x3 mask as an array."""
    centre, edge, corner = MASKS[mask]
    return np.array([[corner, edge, corner], [edge, centre, edge], [corner, edge, corner]], np.float64)


@all_borders
@image_dtypes
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_laplace_is_scipys_correlate(
    backend: Backend, mask: str, border: str, dtype: str, output: str
) -> None:
    weights = mask_array(mask)
    for height in SIDES:
        for width in SIDES:
            image = random_image(dtype, (height, width))
            filtered = ndimage.correlate(image.astype(np.float64), weights, mode=SCIPY_MODES[border], cval=7)
            if output == "sharpened":
                filtered = image - np.copysign(1, -weights[1, 1]) * filtered
            answer = backend.laplace(image, mask, border, output, border_value=7)
            assert answer.dtype == image.dtype
            np.testing.assert_array_equal(answer, saturated(filtered, dtype), f"{height}x{width}")


@all_borders
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_channels_are_filtered_by_themselves(backend: Backend, border: str, channels: int) -> None:
    image = random_image("uint8", (9, 11, channels))
    answer = backend.laplace(image, "eight", border)
    assert answer.shape == image.shape
    for channel in range(channels):
        alone = backend.laplace(image[:, :, channel], "eight", border)
        np.testing.assert_array_equal(answer[:, :, channel], alone)


@all_borders
def test_laplace_is_scipys_laplace(backend: Backend, border: str) -> None:
    image = random_image("float32", (23, 31))
    expected = ndimage.laplace(image, mode=SCIPY_MODES[border], cval=0)
    np.testing.assert_array_equal(backend.laplace(image, "four", border), expected)


@pytest.mark.parametrize("border", CV2_BORDERS)
@pytest.mark.parametrize("mask", ["four", "diagonal"])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_laplace_is_opencvs(backend: Backend, border: str, mask: str, dtype: str, channels: int) -> None:
    ksize = {"four": 1, "diagonal": 3}[mask]
    for height, width in ((2, 2), (3, 17), (64, 33), (480, 37)):
        shape = (height, width) if channels == 1 else (height, width, channels)
        image = random_image(dtype, shape)
        depth = cv2.CV_8U if dtype == "uint8" else cv2.CV_32F
        expected = cv2.Laplacian(image, depth, ksize=ksize, borderType=CV2_BORDERS[border])
        np.testing.assert_array_equal(backend.laplace(image, mask, border), expected, f"{height}x{width}")


def test_laplace_by_hand(backend: Backend) -> None:
    image = np.array([[10, 20], [30, 200]], np.uint8)
    # Top left: the neighbours right and below, 20 + 30, and what the border gives left and above.
    assert backend.laplace(image, "four", "constant")[0, 0] == 20 + 30 - 40
    assert backend.laplace(image, "four", "replicate")[0, 0] == 20 + 30 + 10 + 10 - 40
    assert backend.laplace(image, "four", "reflect_101")[0, 0] == 2 * (20 + 30) - 40
    assert backend.laplace(image, "four", "wrap")[0, 0] == 2 * (20 + 30) - 40
    assert backend.laplace(image, "four", "constant")[1, 1] == 0, "saturated below"
    assert backend.laplace(image, "four_negated", "constant")[1, 1] == 255, "saturated above"
    assert backend.laplace(image, "four", "constant", "sharpened")[1, 1] == 255
    assert backend.laplace(image, "four", "constant", border_value=5)[0, 0] == 20 + 30 + 5 + 5 - 40


def test_one_pixel(backend: Backend) -> None:
    pixel = np.array([[7]], np.int16)
    for border in BORDERS:
        outside = 0 if border == "constant" else 7
        assert backend.laplace(pixel, "eight", border)[0, 0] == 8 * outside - 8 * 7
        assert backend.laplace(pixel, "eight", border, "sharpened")[0, 0] == 9 * 7 - 8 * outside


def test_strided_rows(backend: Backend) -> None:
    image = random_image("uint16", (20, 40))
    for view in (image[::2, 3:37], image[:, ::-2], image.T):
        np.testing.assert_array_equal(backend.laplace(view), backend.laplace(view.copy()))


def test_nan_spreads_to_its_neighbours_only(backend: Backend) -> None:
    image = np.zeros((5, 5), np.float32)
    image[2, 2] = np.nan
    assert np.isnan(backend.laplace(image, "four")).sum() == 5
    assert np.isnan(backend.laplace(image, "eight")).sum() == 9


def plain(op: str, array: Array) -> Any:
    """The operation in NumPy's own words, sums in wide types."""
    wide = {"i": np.int64, "u": np.uint64, "f": np.float64}[array.dtype.kind]
    square = wide if array.dtype.itemsize < 4 and wide != np.float64 else np.longdouble

    def summed(squares: Array) -> Any:
        return np.sum(squares) if square == wide else np.float64(np.sum(squares))

    operations: dict[str, Callable[[], Any]] = {
        "min": lambda: np.amin(array),
        "max": lambda: np.amax(array),
        "minmax": lambda: (np.amin(array), np.amax(array)),
        "minmaxloc": lambda: (np.amin(array), np.amax(array), np.argmin(array), np.argmax(array)),
        "sum": lambda: np.add.reduce(array.astype(wide).ravel()),
        "product": lambda: np.multiply.reduce(array.astype(wide).ravel()),
        "count_nonzero": lambda: np.count_nonzero(array != 0),
        "mean": lambda: np.mean(array, dtype=np.float64),
        "norm_inf": lambda: np.abs(array.astype(np.longdouble)).max(),
        "sum_squares": lambda: summed(array.astype(square) ** 2),
        "norm_l1": lambda: np.abs(array.astype(np.longdouble if array.itemsize == 8 else wide)).sum(),
        "norm_l2": lambda: np.sqrt(np.float64(summed(array.astype(square) ** 2))),
    }
    return operations[op]()


arrays = st.sampled_from(list(DTYPES)).flatmap(
    lambda dtype: numpy_arrays.arrays(dtype, numpy_arrays.array_shapes(max_dims=4, max_side=9))
)


@given(array=arrays, op=st.sampled_from(list(OPS)))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions_are_numpys(array: Array, op: str) -> None:
    assume(has_one_answer(op, array))
    with open_backend("numpy") as backend:
        answer = backend.reduce(op, array)
    tolerance = Reduction(op, array.dtype.name, array.shape).tolerance(array)
    np.testing.assert_allclose(answer, plain(op, array), rtol=0, atol=tolerance)


@given(array=arrays, op=st.sampled_from([op for op, row in OPS.items() if not row.places]))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_layout_does_not_matter(array: Array, op: str) -> None:
    assume(has_one_answer(op, np.repeat(array, 2)))
    wide = np.repeat(array, 2, axis=-1)
    with open_backend("numpy") as backend:
        answers = [backend.reduce(op, a) for a in (array, array.T, array[..., ::-1], wide[..., ::2])]
    tolerance = Reduction(op, array.dtype.name, array.shape).tolerance(array)
    for answer in answers[1:]:
        np.testing.assert_allclose(answer, answers[0], rtol=0, atol=2 * tolerance)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int32", "float32", "float64"])
def test_minmax_is_opencvs(backend: Backend, dtype: str) -> None:
    array = Reduction("minmax", dtype, (37, 53)).make_source(seed=5)
    lowest, highest, *_ = cv2.minMaxLoc(array)
    assert backend.reduce("minmax", array) == (lowest, highest)


@pytest.mark.parametrize("dtype", DTYPES)
def test_answers_have_the_documented_types(backend: Backend, dtype: str) -> None:
    array = np.array([[3, 0], [1, 2]], dtype)
    element, total = np.dtype(dtype).type, np.dtype(DTYPES[dtype].total).type
    for op, expected in (("min", element(0)), ("max", element(3)), ("sum", total(6)), ("count_nonzero", 3)):
        answer = backend.reduce(op, array)
        assert (type(answer), answer) == (type(expected), expected)
    assert list(map(type, backend.reduce("minmax", array))) == [element, element]


@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing(backend: Backend, dtype: str) -> None:
    nothing = np.empty((3, 0), dtype)
    assert backend.reduce("sum", nothing) == 0
    assert backend.reduce("count_nonzero", nothing) == 0
    for op in ("min", "max", "minmax"):
        with pytest.raises(ValueError, match=rf"zero-size array to reduction operation {op}"):
            backend.reduce(op, nothing)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan(backend: Backend, dtype: str) -> None:
    array = np.array([1, np.nan, 2, 0], dtype)
    for op in ("min", "max", "sum"):
        assert np.isnan(backend.reduce(op, array))
    assert np.isnan(backend.reduce("minmax", array)).all()
    assert backend.reduce("count_nonzero", array) == 3


def test_wide_sums(backend: Backend) -> None:
    assert backend.reduce("sum", np.full(1000, 255, np.uint8)) == 255_000
    assert backend.reduce("sum", np.full(3, 2**31 - 1, np.int32)) == 3 * (2**31 - 1)
    assert backend.reduce("sum", np.full(3, 60000, np.float16)) == 3 * np.float64(np.float16(60000))
    assert backend.reduce("sum", np.array([2**24, 1], np.float32)) == 2**24 + 1


def test_upload_is_a_copy(backend: Backend) -> None:
    host = np.arange(5)
    problem = Reduction("max", "int64", (5,))
    uploaded = backend.upload(problem.pack(host))
    host[:] = 99
    with backend.prepare(problem, LibraryVariant(), [uploaded]) as prepared:
        with pytest.raises(BackendError, match=r"no result before a call"):
            prepared.result()
        prepared.enqueue(7)
        assert prepared.result() == 4
        assert prepared.result_location == "host"
        assert prepared.event_seconds(0) is None
        assert backend.gate(prepared, 1.0) is None


@pytest.mark.parametrize(
    ("problem", "variant", "reason"),
    [
        (Bandwidth("read", "int32", 5), BandwidthVariant(), "measures no limits"),
        (Empty((((1,), (1,)),)), LibraryVariant(), "measures no limits"),
        (Reduction("min", "int32", (5,)), ReductionVariant(), "has no variants"),
    ],
)
def test_what_it_does_not_do(backend: Backend, problem: Problem, variant: Any, reason: str) -> None:
    said = backend.unsupported(problem, variant)
    assert said is not None
    assert reason in said
    with pytest.raises(Unsupported, match=reason):
        backend.prepare(problem, variant, [])


def test_its_one_device(backend: Backend) -> None:
    assert backend.device.key == "numpy:0"
    assert backend.device.physical == backend.device.kind == "cpu"
    assert backend.device.driver == np.__version__
    with pytest.raises(BackendUnavailable, match=r"no device 1"):
        open_backend("numpy", 1)


def test_large_image_by_stripes(backend: Backend) -> None:
    """The reference works by stripes of rows: seams must not show."""
    problem = Laplace("eight", "wrap", "laplacian", "int16", 700, 1500)
    image = problem.make_source(seed=1)
    expected = ndimage.correlate(
        image.astype(np.int64), mask_array("eight").astype(np.int64), mode="grid-wrap"
    )
    np.testing.assert_array_equal(backend.laplace(image, "eight", "wrap"), saturated(expected, "int16"))

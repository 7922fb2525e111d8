"""Reductions on every backend and device: sizes, shapes, layouts, extremes, special values, types, errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from backends import REGISTRY, Backend
from harness.problems import OPS, Array, Reduction
from harness.problems.comparison import compare
from harness.problems.dtypes import DTYPES
from harness.variants.axes import LibraryVariant
from tests.support.checks import check_reduction, expected_types, require, skipping, types_of

SIZES = (1, 2, 3, 15, 16, 17, 255, 256, 257, 1000, 4097, 70001)
FLOATS = tuple(name for name, dtype in DTYPES.items() if dtype.is_float)
INTEGERS = tuple(name for name, dtype in DTYPES.items() if not dtype.is_float)
ORDERED = tuple(op for op, row in OPS.items() if row.of_nothing is None)
COUNTED = tuple(op for op, row in OPS.items() if row.of_nothing is not None)

all_ops = pytest.mark.parametrize("op", OPS)
all_dtypes = pytest.mark.parametrize("dtype", DTYPES)
float_dtypes = pytest.mark.parametrize("dtype", FLOATS)


@all_ops
@all_dtypes
def test_sizes(any_backend: Backend, op: str, dtype: str) -> None:
    for size in SIZES:
        check_reduction(any_backend, op, Reduction(op, dtype, (size,)).make_source(seed=size))


@all_ops
@pytest.mark.parametrize("shape", [(), (1, 1, 1), (7, 11), (3, 5, 7), (2, 3, 4, 5), (1, 4097)], ids=str)
def test_shapes(any_backend: Backend, op: str, shape: tuple[int, ...]) -> None:
    check_reduction(any_backend, op, Reduction(op, "int32", shape).make_source(seed=1))


@pytest.mark.parametrize("size", [1, 1000, 70001, 2**20 + 1])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "uint32", "float32"])
def test_narrow_sums(any_backend: Backend, dtype: str, size: int) -> None:
    problem, narrow = Reduction("sum", dtype, (size,)), LibraryVariant(accumulator="element")
    require(any_backend, problem, narrow)
    host = problem.make_source(seed=size)
    with any_backend.prepare(problem, narrow, [any_backend.upload(problem.pack(host))]) as prepared:
        prepared.enqueue(0)
        expected = problem.narrower(problem.reference(host), problem.tolerance(host))
        assert compare(prepared.result(), *expected).ok


@pytest.mark.parametrize("op", ["min", "max", "minmax", "minmaxloc"])
@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
def test_a_low_word_is_that_of_the_extreme(any_backend: Backend, op: str, dtype: str) -> None:
    """The elements of the most extreme high words have low words that others exceed either way."""
    rng = np.random.default_rng(8)
    high = rng.integers(0x1000, 0x2000, 4097, dtype=np.int64)
    low = rng.integers(0, 2**32, high.size, dtype=np.int64)
    low[(high == high.min()) | (high == high.max())] >>= 8
    low[(high == high.min()) | (high == high.max())] += 2**30
    words = high << 32 | low
    check_reduction(any_backend, op, words.view(dtype) if dtype == "float64" else words.astype(dtype))


def layouts() -> dict[str, Array]:
    """Views of one array that are not contiguous, or not in C order."""
    base = Reduction("minmax", "int16", (37, 18, 6)).make_source(seed=2)
    read_only = base.copy()
    read_only.setflags(write=False)
    return {
        "fortran": np.asfortranarray(base),
        "transposed": base.transpose(2, 0, 1),
        "reversed": base[::-1, :, ::-1],
        "strided": base[::3, 1::2, ::5],
        "column": base[:, 3, 2],
        "broadcast": np.broadcast_to(base[0], (4, 18, 6)),
        "unaligned": np.frombuffer(b"x" + base.tobytes(), np.int16, offset=1),
        "read-only": read_only,
    }


@all_ops
@pytest.mark.parametrize("layout", layouts())
def test_layouts(any_backend: Backend, op: str, layout: str) -> None:
    check_reduction(any_backend, op, layouts()[layout])


@pytest.mark.parametrize(
    ("op", "values", "expected"),
    [("minmax", [3, 1, 2], (1, 3)), ("sum", [[0.5, 0.25]], 0.75), ("count_nonzero", np.int8(5), 1)],
)
def test_anything_that_numpy_takes(any_backend: Backend, op: str, values: Any, expected: Any) -> None:
    require(any_backend, Reduction(op, np.asarray(values).dtype.name, np.shape(values)))
    assert any_backend.reduce(op, values) == expected


@all_dtypes
@pytest.mark.parametrize("op", COUNTED)
def test_nothing_has_a_total(any_backend: Backend, op: str, dtype: str) -> None:
    for shape in ((0,), (3, 0, 2)):
        require(any_backend, Reduction(op, dtype, shape))
        check_reduction(any_backend, op, np.empty(shape, dtype))


@pytest.mark.parametrize("op", ORDERED)
def test_nothing_has_no_extreme(any_backend: Backend, op: str) -> None:
    with pytest.raises(ValueError, match=rf"zero-size array to reduction operation {op}"):
        any_backend.reduce(op, np.empty((0, 4), np.float32))


@all_dtypes
def test_an_extreme_is_found_at_every_position(any_backend: Backend, dtype: str) -> None:
    for size in (3, 67):
        for position in range(size):
            array = np.full(size, 5, dtype)
            array[position] = 9
            array[size - 1 - position] = 2 if 2 * position + 1 != size else 9
            require(any_backend, Reduction("minmax", dtype, (size,)))
            assert any_backend.reduce("minmax", array) == (array.min(), array.max()), (size, position)


@all_dtypes
@pytest.mark.parametrize("size", [1001, 70001])
def test_an_extreme_is_found_at_the_ends(any_backend: Backend, dtype: str, size: int) -> None:
    element = DTYPES[dtype].numpy
    least, greatest = (-np.inf, np.inf) if element.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for ends in ((0, -1), (-1, 0)):
        array = np.full(size, 5, dtype)
        array[list(ends)] = least, greatest
        require(any_backend, Reduction("min", dtype, (size,)))
        assert any_backend.reduce("min", array) == least
        assert any_backend.reduce("max", array) == greatest


@float_dtypes
@pytest.mark.parametrize("op", [*ORDERED, "sum"])
def test_a_nan_anywhere_is_the_answer(any_backend: Backend, op: str, dtype: str) -> None:
    places = ((1, 0), (17, 0), (17, 16), (1001, 500), (70001, 0), (70001, 33333), (70001, 70000))
    if "nan" in any_backend.known_deviations(Reduction(op, dtype, (1,))):
        pytest.skip(f"{any_backend.name} may pass a NaN over; its records say so")
    for size, position in places:
        array = Reduction(op, dtype, (size,)).make_source(seed=3)
        array[position] = np.nan
        require(any_backend, Reduction(op, dtype, (size,)))
        answer = any_backend.reduce(op, array)
        values = answer if isinstance(answer, tuple) else (answer,)
        assert all(map(math.isnan, values[:2])), (size, position, answer)
        assert set(values[2:]) <= {position}, (size, position, answer)


@float_dtypes
def test_a_nan_counts_anywhere(any_backend: Backend, dtype: str) -> None:
    for size in (1, 17, 1001):
        array = np.zeros(size, dtype)
        array[[0, size // 2, size - 1]] = np.nan
        check_reduction(any_backend, "count_nonzero", array)
        check_reduction(any_backend, "count_nonzero", np.full(size, np.nan, dtype))


@float_dtypes
@all_ops
def test_special_values(any_backend: Backend, op: str, dtype: str) -> None:
    for values in (
        [-0.0],
        [0.0, -0.0, 0.0],
        [np.inf, 1.0],
        [-np.inf, 1.0, -0.0],
        [np.nan, np.nan],
        [np.finfo(dtype).max, np.finfo(dtype).min],
    ):
        check_reduction(any_backend, op, np.array(values, dtype))


@float_dtypes
@all_ops
def test_subnormals_are_numbers(any_backend: Backend, op: str, dtype: str) -> None:
    tiny = np.finfo(dtype).smallest_subnormal
    for values in ([tiny, 0.0], [-tiny, 1.0], [tiny]):
        array = np.array(values, dtype)
        require(any_backend, Reduction(op, dtype, array.shape))
        allowed = [Reduction(op, dtype, array.shape).reference(array)]
        if REGISTRY[any_backend.name].role == "library":
            # A library may be built to flush them to zero, as CuPy is for float32; its record says so.
            flushed = np.where(np.abs(array) == tiny, array.dtype.type(0), array)
            allowed.append(Reduction(op, dtype, array.shape).reference(flushed))
        assert any_backend.reduce(op, array) in allowed


@float_dtypes
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_infinities_cancel_to_nan(any_backend: Backend, dtype: str) -> None:
    require(any_backend, Reduction("sum", dtype, (3,)))
    assert math.isnan(any_backend.reduce("sum", np.array([np.inf, 1, -np.inf], dtype)))
    assert any_backend.reduce("sum", np.array([np.inf, 1], dtype)) == np.inf


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sums_do_not_overflow_the_element_type(any_backend: Backend, dtype: str) -> None:
    info = np.iinfo(dtype)
    for extreme in (info.min, info.max):
        check_reduction(any_backend, "sum", np.full(70001, extreme, dtype))
    if info.bits < 64:
        require(any_backend, Reduction("sum", dtype, (70001,)))
        assert any_backend.reduce("sum", np.full(70001, info.max, dtype)) == 70001 * info.max


@pytest.mark.parametrize("op", ["mean", "norm_l1"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_means_and_norms_do_not_overflow(any_backend: Backend, op: str, dtype: str) -> None:
    info = np.iinfo(dtype)
    require(any_backend, Reduction(op, dtype, (10,)))
    for size in (1, 10, 70001):
        for extreme in (info.min, info.max):
            array = np.full(size, extreme, dtype)
            check_reduction(any_backend, op, array)
            expected = float(extreme) if op == "mean" else abs(float(extreme)) * size
            assert any_backend.reduce(op, array) == pytest.approx(expected, rel=1e-10), (size, extreme)


def test_sums_of_float32_are_accumulated_in_float64(any_backend: Backend) -> None:
    array = np.full(2**12 + 1, 1, np.float32)
    array[0] = 2**24
    require(any_backend, Reduction("sum", "float32", array.shape))
    assert any_backend.reduce("sum", array) == 2**24 + 2**12


def test_an_unknown_op_is_refused(any_backend: Backend) -> None:
    with pytest.raises(ValueError, match=r"op 'median' is unknown; allowed are min, max"):
        any_backend.reduce("median", np.ones(3))


@pytest.mark.parametrize("dtype", ["complex64", "bool", "datetime64[s]", "U3", "object", ">c8"])
def test_an_unsupported_dtype_is_refused(any_backend: Backend, dtype: str) -> None:
    with pytest.raises(TypeError, match=r"is not supported; supported are uint8"):
        any_backend.reduce("min", np.zeros(3, np.dtype(dtype)))


@pytest.mark.parametrize("op", [["min"], None, 3])
def test_an_op_that_is_no_name_is_refused(any_backend: Backend, op: Any) -> None:
    with pytest.raises(ValueError, match=r"op .* is unknown; allowed are min, max"):
        any_backend.reduce(op, np.ones(3))


@all_ops
@all_dtypes
def test_byte_order_does_not_matter(any_backend: Backend, op: str, dtype: str) -> None:
    array = Reduction(op, dtype, (37,)).make_source(seed=4)
    problem = Reduction(op, dtype, array.shape)
    require(any_backend, problem)
    swapped = array.astype(array.dtype.newbyteorder(">"))
    with skipping():
        answer = any_backend.reduce(op, swapped)
    assert problem.verify(answer, array).ok
    assert types_of(answer) == expected_types(problem)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
def test_what_is_zero_in_its_lower_half_counts(any_backend: Backend, dtype: str) -> None:
    check_reduction(any_backend, "count_nonzero", np.full(37, 2**32, dtype))

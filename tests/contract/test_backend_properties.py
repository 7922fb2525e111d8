"""Every backend on inputs that Hypothesis makes up: whatever the input, the answer is NumPy's."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as arrays_of
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from backends import REGISTRY, Backend
from harness.problems import BORDERS, IMAGE_DTYPES, OPS, Array, Laplace, Reduction
from harness.problems.dtypes import DTYPES
from tests.support.checks import check_laplace, check_reduction, has_one_answer, runs

_SHAPES = arrays_of.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=9)


def _elements(dtype: np.dtype[Any]) -> st.SearchStrategy[Any]:
    """Values of a type; floats so small that no order of adding them overflows, or not finite."""
    if dtype.kind != "f":
        return arrays_of.from_dtype(dtype)
    if dtype.itemsize < 8:
        return arrays_of.from_dtype(dtype)
    largest = float(np.finfo(dtype).max) / 2**16
    return st.one_of(st.floats(-largest, largest), st.sampled_from([np.nan, np.inf, -np.inf]))


@st.composite
def views(draw: st.DrawFn, dtypes: list[str]) -> Array:
    """An array of one of these types, or a view of one by steps and indices."""
    dtype = DTYPES[draw(st.sampled_from(dtypes))].numpy
    array: Array = draw(arrays_of.arrays(dtype, _SHAPES, elements=_elements(dtype), fill=_elements(dtype)))
    if draw(st.booleans()):
        array = np.asarray(array[draw(arrays_of.basic_indices(array.shape, allow_newaxis=False))])
    return array.T if draw(st.booleans()) else array


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("op", OPS)
@given(data=st.data())
def test_reductions(any_backend: Backend, op: str, data: st.DataObject) -> None:
    dtypes = [dtype for dtype in DTYPES if runs(any_backend, Reduction(op, dtype, (1,)))]
    if not dtypes:
        pytest.skip(f"{any_backend.device.key} has no {op}")
    array = data.draw(views(dtypes))
    if array.size == 0 and OPS[op].of_nothing is None:
        with pytest.raises(ValueError, match="zero-size array"):
            any_backend.reduce(op, array)
    else:
        problem = Reduction(op, array.dtype.name, array.shape)
        assume(has_one_answer(op, array))
        assume(runs(any_backend, problem))
        check_reduction(any_backend, op, array)


@st.composite
def images(draw: st.DrawFn, dtype: str) -> Array:
    """An image of 1, 3 or 4 channels, whole or a view of every other row or column."""
    height, width = draw(st.integers(1, 20)), draw(st.integers(1, 70))
    channels = draw(st.sampled_from([(), (1,), (3,), (4,)]))
    row_step, column_step = draw(st.sampled_from([1, 2, -1])), draw(st.sampled_from([1, -2]))
    bounds: dict[str, Any] = {"min_value": -1e4, "max_value": 1e4} if dtype == "float32" else {}
    elements = arrays_of.from_dtype(np.dtype(dtype), **bounds)
    whole = (height * abs(row_step), width * abs(column_step), *channels)
    array: Array = draw(arrays_of.arrays(dtype, whole, elements=elements, fill=elements))
    return array[::row_step, ::column_step]


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@given(data=st.data())
def test_laplace(any_backend: Backend, dtype: str, border: str, data: st.DataObject) -> None:
    if REGISTRY[any_backend.name].role == "library" and BORDERS.index(border) != IMAGE_DTYPES.index(dtype):
        pytest.skip("of libraries a sample: OpenCV builds a kernel for each size")
    image = data.draw(images(dtype))
    channels = image.shape[2] if image.ndim == 3 else 1
    # One mask and output a border: each further pair would be one more kernel to compile.
    few = {"wrap": ("eight", "sharpened"), "reflect": ("diagonal", "laplacian")}
    mask, output = few.get(border, ("four", "laplacian"))
    problem = Laplace(mask, border, output, dtype, image.shape[0], image.shape[1], channels)
    check_laplace(any_backend, problem, image)

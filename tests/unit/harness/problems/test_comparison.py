"""Answers against the reference: scalars, tuples and arrays, in parts."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.problems import MinMaxLoc, comparison, stripes
from harness.problems.comparison import compare


def test_compare_scalars() -> None:
    assert compare(3, 3, 0.0).ok
    assert compare(np.nan, np.nan, 0.0).ok
    assert compare(-0.0, 0.0, 0.0).ok
    assert not compare(np.nan, 1.0, 10.0).ok
    assert compare(1.25, 1.0, 0.5).error == 0.25
    assert compare(2**63 + 1, np.uint64(2**63), 0.0).error == 1
    wrong = compare(np.int32(3), 5, 0.0)
    assert (wrong.ok, wrong.error) == (False, 2)
    assert "result: got np.int32(3), expected" in wrong.message


def test_what_has_no_answer_is_compared_with_none() -> None:
    assert compare(None, None, 0.0).ok
    wrong = compare(3, None, 0.0)
    assert (wrong.ok, wrong.error) == (False, float("inf"))
    assert wrong.message == "got 3 where nothing is expected"


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("field", range(4))
def test_values_and_places_of_64_bits_are_compared_exactly(dtype: str, field: int) -> None:
    highest = np.iinfo(dtype).max
    expected = MinMaxLoc(highest - np.array(5, dtype), np.array(highest, dtype)[()], 2**60, 2**60 + 1)
    assert compare(expected, expected, 0.0).ok
    off_by_one = list(expected)
    off_by_one[field] = off_by_one[field] - 1
    wrong = compare(MinMaxLoc(*off_by_one), expected, 0.0)
    assert not wrong.ok
    assert wrong.message.startswith(f"1 of 4 values differ; first at ({field},): got ")


def test_compare_a_pair_with_what_is_none() -> None:
    assert "shape () where (2,) is expected" in compare(3, (3, 3), 0.0).message
    assert "shape (1,) where (2,) is expected" in compare((3,), (3, 3), 0.0).message


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "float64"])
@pytest.mark.parametrize("elements", [2**20, 2**20 + 3])
def test_large_arrays_are_compared_to_the_last_byte(dtype: str, elements: int) -> None:
    expected = np.random.default_rng(2).integers(1, 9, elements).astype(dtype)
    assert compare(expected.copy(), expected, 0.0).ok
    for place in (0, 2**19 - 1, 2**19, elements - 1):
        actual = expected.copy()
        actual[place] += 1
        wrong = compare(actual, expected, 0.0)
        assert (wrong.ok, wrong.error) == (False, 1)
        assert f"1 of {elements} values differ; first at ({place},)" in wrong.message
        assert compare(actual, expected, 1.0).error == 1
    assert compare(expected[::-1], expected[::-1].copy(), 0.0).ok
    assert not compare(expected[::-1], expected, 0.0).ok


def test_large_arrays_of_the_same_bytes_differ_by_their_types() -> None:
    octets = np.full(2**20, 255, np.uint8)
    assert not compare(octets.view(np.int8), octets, 0.0).ok
    zeros = np.zeros(2**20, np.float32)
    assert compare(-zeros, zeros, 0.0).ok
    assert compare(zeros + np.float32(np.nan), zeros - np.float32(np.nan), 0.0).ok
    assert "shape" in compare(zeros.reshape(2, -1), zeros, 0.0).message


def test_large_arrays_that_are_the_same_are_compared_without_a_copy() -> None:
    expected = np.arange(2**24, dtype=np.uint32)
    actual = expected.copy()
    tracemalloc.start()
    try:
        assert compare(actual, expected, 0.0).ok
        assert tracemalloc.get_traced_memory()[1] < expected.nbytes / 16
    finally:
        tracemalloc.stop()


_FLOATS = st.floats(width=32) | st.sampled_from([0.0, -0.0, 1.0, float("inf"), float("-inf"), float("nan")])


@given(
    st.lists(st.tuples(_FLOATS, _FLOATS) | _FLOATS.map(lambda x: (x, x))), st.sampled_from([0.0, 0.5, 9.0])
)
def test_arrays_are_compared_in_parts_as_their_values_are(
    pairs: list[tuple[float, float]], tolerance: float
) -> None:
    """Parts of four elements; a value against itself is right whatever it is, NaN too."""
    actual, expected = (np.array([pair[side] for pair in pairs], np.float32) for side in (0, 1))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(comparison, "STRIPE_BYTES", 16)
        found = compare(actual, expected, tolerance)
    each = [compare(left, right, tolerance) for left, right in zip(actual, expected, strict=True)]
    assert (found.ok, found.error) == (
        all(one.ok for one in each),
        max((one.error for one in each), default=0),
    )
    wrong = [place for place, one in enumerate(each) if not one.ok]
    if wrong:
        assert found.message.startswith(
            f"{len(wrong)} of {len(pairs)} values differ; first at ({wrong[0]},): got"
        )


def test_large_images_that_are_rounded_are_compared_without_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stripes, "usable_cores", lambda: 2)
    expected = np.linspace(0, 1, 2**23, dtype=np.float32).reshape(2**11, -1)
    actual = np.nextafter(expected, np.float32(2))
    tracemalloc.start()
    try:
        assert 0 < compare(actual, expected, 1e-6).error < 1e-6
        assert tracemalloc.get_traced_memory()[1] < expected.nbytes / 4
    finally:
        tracemalloc.stop()
    actual[-1, 3] += 1
    assert "1 of 8388608 values differ; first at (2047, 3)" in compare(actual, expected, 1e-6).message


def test_compare_arrays() -> None:
    expected = np.arange(12).reshape(3, 4)
    actual = expected.copy()
    actual[1, 2] += 5
    actual[2, 3] -= 9
    wrong = compare(actual, expected, 0.0)
    assert (wrong.ok, wrong.error) == (False, 9)
    assert wrong.message.startswith(
        "2 of 12 values differ; first at (1, 2): got np.int64(11), expected np.int64(6)"
    )
    assert "shape (3,) where (3, 4) is expected" in compare(actual[:, 0], expected, 0.0).message
    assert compare((1, 3), (1, 2), 0.0).message.startswith("1 of 2 values differ; first at (1,)")
    assert compare(actual, expected, 9.0).ok

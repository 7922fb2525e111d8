"""Keys of a value and a place: in the order of both, and back again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.problems import Reduction
from harness.problems import packed_key as keys
from harness.problems.dtypes import DTYPES
from tests.support.checks import key_of

KEPT = {"int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1)}


@st.composite
def values(draw: st.DrawFn) -> list[Any]:
    """Two of one type that is kept in 32 bits."""
    name = draw(st.sampled_from([*KEPT, "float32"]))
    numbers = st.integers(*KEPT[name]) if name in KEPT else st.floats(width=32)
    return [np.dtype(name).type(draw(numbers)) for _ in range(2)]


places = st.integers(0, keys.MAX_SIZE - 1)


def goes_before(a: Any, b: Any, is_highest: bool) -> bool:
    """Whether NumPy would take a for the extreme, were b not as good: NaN is."""
    if np.isnan(a) or np.isnan(b):
        return bool(np.isnan(a)) and not np.isnan(b)
    return bool(a > b if is_highest else a < b)


@given(pair=values(), at=st.tuples(places, places), is_highest=st.booleans())
def test_keys_are_in_the_order_of_values_then_of_places(
    pair: list[Any], at: tuple[int, int], is_highest: bool
) -> None:
    first, second = (key_of(value, place, is_highest) for value, place in zip(pair, at, strict=True))
    left, right = pair
    is_tied = not (goes_before(left, right, is_highest) or goes_before(right, left, is_highest))
    if goes_before(right, left, is_highest) or (is_tied and at[1] < at[0]):
        first, second = second, first
    assert first >= second if is_highest else first <= second


@given(pair=values(), place=places, is_highest=st.booleans())
def test_a_key_holds_value_and_place(pair: list[Any], place: int, is_highest: bool) -> None:
    value, at = keys.from_key(key_of(pair[0], place, is_highest), pair[0].dtype, is_highest)
    assert at == place
    assert value == pair[0] or (math.isnan(value) and math.isnan(pair[0]))
    assert value.dtype == pair[0].dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_leaves_no_room_for_a_place_has_no_key(dtype: str) -> None:
    narrow = DTYPES[dtype].itemsize <= keys.MAX_BYTES
    assert Reduction("minmaxloc", dtype, (2**16, 2**16)).is_keyed is narrow
    assert not Reduction("minmaxloc", dtype, (2**16 + 1, 2**16)).is_keyed
    assert not Reduction("minmax", dtype, (9,)).is_keyed

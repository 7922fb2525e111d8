"""Groups reduced by atomics on words of local memory: keys of extremes, and sums in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from backends import Backend
from harness.kernels.requirements import violations
from harness.problems import Reduction
from harness.variants.axes import Finish, ReductionVariant
from tests.support.checks import check_reduction
from tests.support.compiling import NVIDIA

VALUES: dict[str, list[Any]] = {
    "uint8": [0, 1, 127, 128, 255],
    "int8": [-128, -1, 0, 1, 127],
    "int16": [-(2**15), -1, 0, 2**15 - 1],
    "uint32": [0, 1, 2**31 - 1, 2**31, 2**32 - 1],
    "int32": [-(2**31), -1, 0, 1, 2**31 - 1],
    "float16": [-np.inf, -1.5, -0.0, 0.0, 2.0**-24, np.inf],
    "float32": [-np.inf, -3.5, -(2.0**-149), -0.0, 0.0, 2.0**-149, 1.0, np.inf],
}
"""The ends of each type's range, and values next to where the order of bits changes."""


def variant_of(group_size: int, finish: Finish = "alternating", dialect: Any = "vendor") -> ReductionVariant:
    return ReductionVariant(
        tree="local_atomics", group_size=group_size, finish=finish, groups=2, dialect=dialect
    )


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("op", ["min", "max", "minmax"])
def test_extremes_of_every_order(own_backend: Backend, op: str, dtype: str) -> None:
    values = VALUES[dtype]
    for lowest in values:
        for highest in values:
            if lowest > highest:
                continue
            array = np.full(300, lowest, dtype)
            array[::7] = highest
            check_reduction(own_backend, op, array, variant_of(64))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("beside", [-np.inf, 0.0, np.inf])
@pytest.mark.parametrize("sign", [1, -1])
def test_nan_is_beyond_all_numbers(own_backend: Backend, dtype: str, beside: float, sign: int) -> None:
    array = np.full(300, beside, dtype)
    array[123] = np.copysign(np.nan, sign)
    for op in ("min", "max", "minmax"):
        check_reduction(own_backend, op, array, variant_of(64))


@pytest.mark.parametrize("dialect", ["vendor", "portable"])
@pytest.mark.parametrize("finish", ["relaunch", "host", "last_group", "flagged", "alternating", "atomic"])
@pytest.mark.parametrize("group_size", [1, 8, 256, 1024])
def test_groups_and_finishes(own_backend: Backend, group_size: int, finish: Finish, dialect: str) -> None:
    """A second group's worth of results is reduced in the same words where one group finishes."""
    for op, dtype in (("minmax", "int16"), ("count_nonzero", "float64"), ("sum", "int64")):
        array = Reduction(op, dtype, (5003,)).make_source(group_size)
        check_reduction(own_backend, op, array, variant_of(group_size, finish, dialect))


@pytest.mark.parametrize("value", [-(2**63), -1, 2**22 - 1, 2**44 - 1, 2**62, 2**63 - 1])
def test_sums_wrap_as_all_do(own_backend: Backend, value: int) -> None:
    for dtype in ("int64", "uint64"):
        array = np.full(3000, value, "int64").view(dtype)
        check_reduction(own_backend, "sum", array, variant_of(1024))


@pytest.mark.parametrize(
    ("op", "dtype"),
    [("min", "int64"), ("max", "float64"), ("minmaxloc", "uint8"), ("sum", "float32"), ("product", "int32")],
)
def test_what_words_do_not_hold_says_so(op: str, dtype: str) -> None:
    found = violations(variant_of(256, "host"), Reduction(op, dtype, (2**10,)), NVIDIA)
    assert found == [
        f"tree local_atomics: no atomics on 32 bits combine the partial results of {op} on {dtype}"
    ]

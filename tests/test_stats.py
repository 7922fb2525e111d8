"""The statistics, against literal numbers."""

from __future__ import annotations

import math

import pytest

from harness.stats import Quartiles, geometric_mean, quartiles, speed_ratio, usable


def test_quartiles_interpolate() -> None:
    assert quartiles([4.0, 1.0, 3.0, 2.0]) == Quartiles(1.75, 2.5, 3.25)


def test_quartiles_of_one_sample() -> None:
    assert quartiles([7.5]) == Quartiles(7.5, 7.5, 7.5)


@pytest.mark.parametrize("samples", [[], [1.0, math.nan], [math.inf]])
def test_quartiles_refuse_what_has_none(samples: list[float]) -> None:
    with pytest.raises(ValueError, match="quartiles of"):
        quartiles(samples)


def test_geometric_mean() -> None:
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    assert geometric_mean([1.0, 10.0, 100.0]) == pytest.approx(10.0)


def test_geometric_mean_neither_overflows_nor_underflows() -> None:
    assert geometric_mean([1e300, 1e300, 1e-300, 1e-300]) == pytest.approx(1.0)


@pytest.mark.parametrize("values", [[], [1.0, 0.0], [-1.0], [math.nan], [math.inf]])
def test_geometric_mean_refuses_what_has_none(values: list[float]) -> None:
    with pytest.raises(ValueError, match="geometric mean of"):
        geometric_mean(values)


def test_speed_ratio_is_the_second_time_over_the_first() -> None:
    # design.md, 2560x2560 by the gated queue: OpenCL 8.55 us, CUDA 6.26 us.
    assert speed_ratio(8.55e-6, 6.26e-6) == pytest.approx(0.732, abs=5e-4)


@pytest.mark.parametrize(("first", "second"), [(0.0, 1.0), (1.0, -1.0), (math.nan, 1.0), (1.0, math.inf)])
def test_speed_ratio_of_no_time_is_nan(first: float, second: float) -> None:
    assert math.isnan(speed_ratio(first, second))


def test_usable_keeps_order_and_drops_what_is_no_time() -> None:
    assert usable([3.0, 0.0, math.nan, 1.0, -2.0, math.inf]) == [3.0, 1.0]

"""The statistics, against literal numbers."""

from __future__ import annotations

import math

import pytest

from harness.results.statistics import (
    Quartiles,
    blocks,
    centre,
    geometric_mean,
    many_samples,
    quartiles,
    usable,
)


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


def test_usable_keeps_order_and_drops_what_is_no_time() -> None:
    assert usable([3.0, 0.0, math.nan, 1.0, -2.0, math.inf]) == [3.0, 1.0]


def test_blocks_are_by_id_in_order_without_what_is_no_time() -> None:
    assert blocks([1.0, 2.0, 3.0, math.nan, 4.0], [7, 8, 7, 9, 8]) == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.parametrize("ids", [(), (1, 2)])
def test_samples_without_an_id_each_are_one_block(ids: tuple[int, ...]) -> None:
    assert blocks([1.0, 0.0, 3.0], ids) == [[1.0, 3.0]]
    assert blocks([], ids) == []


@pytest.mark.parametrize(("confidence", "count"), [(0.9, 5), (0.95, 6), (0.99, 8)])
def test_many_samples_have_the_median_between_their_ends(confidence: float, count: int) -> None:
    assert many_samples(confidence) == count
    assert 2 / 2**count <= 1 - confidence < 2 / 2 ** (count - 1)


def test_centre_is_the_mean_of_the_blocks_medians() -> None:
    assert centre([[1.0, 2.0, 90.0]]) == 2.0
    assert centre([[1.0, 2.0, 90.0], [4.0] * 50]) == 3.0
    assert math.isnan(centre([]))

"""When sampling ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from harness.measure.budget import FAR, PATIENCE, Budget, Stop
from harness.measure.clocks import event_seconds, queue_seconds
from harness.results.stopping import is_narrow, mean_is_narrow, median_interval, median_ranks, ratio_is_told
from tests.support.fake_backend import FakeBackend, FakeClock, rotation_on
from tests.support.sequential import FROM_AN_EDGE, simulated


@pytest.mark.parametrize(
    ("count", "ranks"),
    # Conover, Practical Nonparametric Statistics: the 95 % intervals of a median, counted from 0 here.
    [(0, None), (1, None), (5, None), (6, (0, 5)), (9, (1, 7)), (12, (2, 9)), (15, (3, 11)), (20, (5, 14))],
)
def test_the_ranks_are_those_of_the_tables(count: int, ranks: tuple[int, int] | None) -> None:
    assert median_ranks(count) == ranks


def test_the_ranks_of_a_million_samples_are_found() -> None:
    # Half of them, and 1.96 standard deviations of 500 each.
    assert median_ranks(1_000_000) == pytest.approx((500_000 - 980, 500_000 + 980), abs=2)


@pytest.mark.parametrize("count", [*range(6, 100, 7), 1000, 1001, 5000])
def test_the_interval_is_the_narrowest_that_holds_the_median(count: int) -> None:
    ranks = median_ranks(count)
    assert ranks is not None
    low, high = ranks
    assert low + high == count - 1
    assert 2 * binom.cdf(low, count, 0.5) <= 0.05 < 2 * binom.cdf(low + 1, count, 0.5)


def test_coverage_of_a_skewed_distribution() -> None:
    generator = np.random.default_rng(3)
    intervals = [median_interval(generator.exponential(size=25).tolist()) for _ in range(2000)]
    covered = sum(i is not None and i[0] <= np.log(2) <= i[1] for i in intervals)
    assert 0.94 < covered / 2000 < 0.98


def test_narrow_is_relative_to_the_median() -> None:
    samples = [100.0, 100.1, 100.2, 100.3, 100.4, 100.9]
    assert is_narrow(samples, 0.01)
    assert not is_narrow([*samples[:5], 101.1], 0.01)
    assert not is_narrow(samples[:5], 0.01)
    assert not is_narrow([0.0] * 9, 0.01)


def test_a_narrow_mean_covers_as_students_interval_does() -> None:
    assert not mean_is_narrow([1.0], 1.0)
    # The interval of 1, 2, 3 reaches 4.303 / sqrt(3) either way of 2 (Student's t of two degrees).
    assert mean_is_narrow([1.0, 2.0, 3.0], 2.485)
    assert not mean_is_narrow([1.0, 2.0, 3.0], 2.483)
    assert mean_is_narrow([1e-6, 2e-6, 3e-6], 2.485), "it is relative"


def test_looking_at_a_verdict_again_and_again_seldom_makes_it_wrong() -> None:
    """Three standard errors above what is asked of a verdict that is looked at once."""
    for from_edge in FROM_AN_EDGE:
        found = simulated(from_edge)
        assert found.wrong <= 0.025 + 0.02, from_edge
        assert found.covering >= 0.87, from_edge
    assert simulated(max(FROM_AN_EDGE)).contexts < 16 < simulated(0).contexts, "it stops where all is clear"
    assert simulated(max(FROM_AN_EDGE)).undecided <= 0.002


EXPECTING = Budget(samples=1, seconds=1.0, least=1, expected=1.0)


@pytest.mark.parametrize(
    ("taken", "stop"),
    [
        ([], None),
        ([1 + FAR / 2], Stop.SAMPLES),
        ([1 + 2 * FAR], None),
        ([1 - 2 * FAR, 1.0], None),
        ([1 + 2 * FAR, 1.0, 1.0], Stop.SAMPLES),
    ],
)
def test_a_sample_far_from_what_is_expected_does_not_count_alone(
    taken: list[float], stop: Stop | None
) -> None:
    assert EXPECTING.stop(taken, 0.1) == stop
    assert replace(EXPECTING, expected=None).stop(taken, 0.1) == (Stop.SAMPLES if taken else None)


@pytest.mark.parametrize(
    ("taken", "spent", "stop"),
    [
        # The limit of an H200's memory is 233 us: each of these samples was interrupted somewhere.
        ([135.5, 202.6, 243.0], 1.1, None),
        ([135.5, 202.6, 243.0], 1.1 * PATIENCE, Stop.SECONDS),
        ([135.5, 202.6, 243.0, 233.1], 1.1, None),
        ([135.5, 202.6, 243.0, 233.1, 233.4], 1.1, Stop.SECONDS),
        ([135.5, 202.6, 202.7], 1.1, Stop.SECONDS),
        ([135.5, 202.6], 1.1, Stop.SECONDS),
        # Six have an interval, and more of them might go on for ever.
        ([1.0, 2.0, 4.0, 8.0, 16.0], 1.1, None),
        ([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], 1.1, Stop.SECONDS),
    ],
)
def test_a_median_that_most_samples_are_far_from_is_not_known(
    taken: list[float], spent: float, stop: Stop | None
) -> None:
    assert Budget(9, 1.0, least=2).stop(taken, spent) == stop
    at_their_number = Stop.SAMPLES if spent < 2 and stop else stop
    assert Budget(len(taken), 1.0, least=2).stop(taken, spent) == at_their_number
    assert Budget(1, 100.0, least=1).stop([], 1.1) is None


def test_an_interrupted_sample_is_outvoted() -> None:
    backend = FakeBackend(FakeClock(call=20e-6))
    # Before the first sample one call that loads the kernel, and the warm-up's.
    budget = replace(EXPECTING, expected=20e-6, calls=100, warm_up=1e-3)
    # Too little for the sample to be taken anew at once.
    backend.clock.jitter = [0.0] * 3 + [0.4e-3]
    clock = queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    assert backend.batches == [1, 64] + 3 * [25, 125]
    assert clock.seconds == pytest.approx([24e-6, 20e-6, 20e-6])


@pytest.mark.parametrize(
    ("ratio", "spread", "count", "is_told"),
    [
        # Values lie `spread` from their mean: the error of the ratio is about 1.4 spread / sqrt(count).
        (1.0, 0.02, 32, True),
        (1.0, 0.02, 12, False),
        (1.1, 0.02, 12, True),
        # 3.6 standard errors from the edge: enough of many values, not of four.
        (1.08, 0.02, 4, False),
        (1.08, 0.04, 16, True),
        (1.02, 0.02, 200, False),
        (1.02, 0.005, 200, True),
        (1.0, 0.02, 1, False),
    ],
)
def test_a_verdict_is_settled_far_from_the_edges_or_where_the_ratio_is_known_well(
    ratio: float, spread: float, count: int, is_told: bool
) -> None:
    values = [1 - spread, 1 + spread] * (count // 2) or [1.0]
    others = [value * ratio for value in values]
    assert ratio_is_told(values, others, 0.02) == is_told
    assert ratio_is_told(others, values, 0.02) == is_told, "whichever side is first"


def test_a_steady_clock_ends_by_its_interval() -> None:
    backend = FakeBackend(FakeClock())
    clock = queue_seconds(backend, rotation_on(backend), Budget(50, 100.0), backend.clock.time)
    assert (len(clock.seconds), clock.stopped) == (6, Stop.INTERVAL)


@pytest.mark.parametrize(
    ("budget", "stopped"), [(Budget(4, 100.0), Stop.SAMPLES), (Budget(50, 1e-3), Stop.SECONDS)]
)
def test_the_budget_ends_what_its_interval_does_not(budget: Budget, stopped: Stop) -> None:
    backend = FakeBackend(FakeClock())
    assert queue_seconds(backend, rotation_on(backend), budget, backend.clock.time).stopped == stopped


def test_a_noisy_clock_goes_on_to_the_end_of_its_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = FakeBackend(FakeClock())
    rotation = rotation_on(backend)
    times = iter(np.random.default_rng(1).uniform(1, 2, 100).tolist())
    monkeypatch.setattr(rotation.prepared, "event_seconds", lambda _: next(times))
    clock = event_seconds(rotation, Budget(20, 100.0), backend.clock.time)
    assert clock is not None
    assert (len(clock.seconds), clock.stopped) == (20, Stop.SAMPLES)

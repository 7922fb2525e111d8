"""Ratios, their intervals and verdicts, against literal numbers and against simulated noise."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.results.bootstrap import FEWEST_PAIRS
from harness.results.ratio import (
    BAND,
    UNKNOWN,
    VERDICTS,
    Interval,
    Ratio,
    Side,
    Verdict,
    chosen_on_the_other_half,
    compare,
    more_to_decide,
    net_ratio_interval,
    ratio_interval,
    speed_ratio,
    verdict,
)

pytestmark = pytest.mark.smoke


def test_speed_ratio_is_the_second_time_over_the_first() -> None:
    # design.md, 2560x2560 by the gated queue: OpenCL 8.55 us, CUDA 6.26 us.
    assert speed_ratio(8.55e-6, 6.26e-6) == pytest.approx(0.732, abs=5e-4)


@pytest.mark.parametrize(("first", "second"), [(0.0, 1.0), (1.0, -1.0), (math.nan, 1.0), (1.0, math.inf)])
def test_speed_ratio_of_no_time_is_nan(first: float, second: float) -> None:
    assert math.isnan(speed_ratio(first, second))


def ends(interval: Interval) -> tuple[float, float]:
    """Both ends of an interval."""
    return interval.low, interval.high


def test_interval_of_samples_without_noise_is_the_ratio() -> None:
    assert ratio_interval([[2.0] * 6], [[3.0] * 6]) == Interval(1.5, 1.5)
    assert ratio_interval([[2.0] * 3] * 3, [[3.0] * 3] * 3) == Interval(1.5, 1.5)


def test_interval_of_a_few_samples_against_a_constant() -> None:
    # The median of 9 samples drawn from 1..9 is 1 in 0.1 % and at most 2 in 3 % of all cases: the 2.5 and
    # 97.5 % quantiles are 2 and 8.
    interval = ratio_interval([[float(value) for value in range(1, 10)]], [[10.0] * 9])
    assert ends(interval) == pytest.approx((10 / 8, 10 / 2))


def test_interval_of_three_blocks_is_widened_by_t_with_two_degrees() -> None:
    # The mean of three blocks drawn from 1, 2 and 4 is 1 or 4 in one of 27 cases each, that of all 7 / 3: the
    # deviations from 6 / 7 are raised to the power of 4.3027 / 1.9600 * sqrt(3 / 2) = 2.6886.
    # The other side, which is sure, has no part in the degrees.
    interval = ratio_interval([[1.0] * 5, [2.0] * 5, [4.0] * 5], [[2.0] * 5] * 3)
    assert ends(interval) == pytest.approx((6 / 7 * (7 / 12) ** 2.6886, 6 / 7 * (7 / 3) ** 2.6886), rel=1e-4)


def test_few_samples_are_widened_as_few_blocks_are() -> None:
    # The median of three samples drawn from 1, 2 and 4 is 1 or 4 in 7 of 27 cases each.
    interval = ratio_interval([[1.0, 2.0, 4.0]], [[2.0] * 15])
    assert ends(interval) == pytest.approx((2**-2.6886, 2**2.6886), rel=1e-4)


def test_interval_is_that_of_scipy() -> None:
    from scipy.stats import bootstrap

    rng = np.random.default_rng(3)
    first, second = np.exp(rng.normal(0, 0.02, 40)), 1.05 * np.exp(rng.normal(0, 0.01, 25))
    expected = bootstrap(
        (first, second), lambda a, b, axis: np.median(b, axis=axis) / np.median(a, axis=axis),
        vectorized=True, method="percentile", n_resamples=20_000, random_state=np.random.default_rng(4),
    ).confidence_interval  # fmt: skip
    interval = ratio_interval([first.tolist()], [second.tolist()])
    assert ends(interval) == pytest.approx((expected.low, expected.high), abs=2e-3)


def test_each_block_counts_once_however_long() -> None:
    interval = ratio_interval([[1.0] * 6] * 2, [[1.0] * 90, [3.0]])
    assert interval.low < 1
    assert interval.high > 3
    assert interval == ratio_interval([[1.0] * 6] * 2, [[1.0], [3.0] * 90])


@pytest.mark.parametrize("short", [[], [[]], [[1.0] * 2], [[1.0], [1.0]]])
def test_too_few_samples_have_no_interval(short: list[list[float]]) -> None:
    enough = [[1.0] * 3]
    assert not ratio_interval(short, enough).known
    assert not ratio_interval(enough, short).known
    assert ratio_interval(enough, enough).known


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, -1.0, math.nan])
def test_confidence_that_is_none_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        ratio_interval([[1.0] * 6], [[1.0] * 6], confidence)


def test_blocks_taken_at_the_same_time_are_drawn_in_pairs() -> None:
    slow = np.random.default_rng(1).uniform(1, 2, 12)
    first, second = [[float(value)] for value in slow], [[float(1.5 * value)] for value in slow]
    # What slows both slows no ratio.
    assert ends(ratio_interval(first, second, paired=True)) == pytest.approx((1.5, 1.5))
    low, high = ends(ratio_interval(first, second))
    assert low < 1.35
    assert high > 1.65
    launch = [[0.1]] * 12
    net = net_ratio_interval(first, launch, second, launch, paired=True)
    assert net.high - net.low < 0.02


@pytest.mark.parametrize(("one", "other"), [(FEWEST_PAIRS - 1, FEWEST_PAIRS - 1), (9, 12)])
def test_too_few_blocks_or_not_as_many_are_no_pairs(one: int, other: int) -> None:
    values = np.random.default_rng(1).uniform(1, 2, 12)
    first, second = [[float(value)] for value in values[:one]], [[float(value)] for value in values[:other]]
    assert ratio_interval(first, second, paired=True) == ratio_interval(first, second)


def test_net_interval_takes_off_each_sides_launch() -> None:
    # design.md, 2560x2560: 8.55 and 6.26 us, launches of 4.1 and 1.43 us.
    opencl, opencl_launch, cuda, cuda_launch = ([[value] * 9] for value in (8.55, 4.1, 6.26, 1.43))
    interval = net_ratio_interval(opencl, opencl_launch, cuda, cuda_launch)
    assert ends(interval) == pytest.approx((4.83 / 4.45, 4.83 / 4.45))


def test_the_two_clocks_of_one_context_have_nothing_to_do_with_each_other() -> None:
    """Drawn together, their spreads would cancel: as many samples of both would cover 7 of 10 ratios."""
    rng = np.random.default_rng(6)

    def covers() -> bool:
        queue, launch = rng.normal(10, 0.3, (2, 9)).tolist(), rng.normal(4, 0.3, (2, 9)).tolist()
        net = net_ratio_interval(queue[:1], launch[:1], queue[1:], launch[1:])
        return net.low <= 1 <= net.high

    assert sum(covers() for _ in range(200)) >= 185


def test_any_number_of_samples_has_an_interval() -> None:
    """At once: every resample written out would take gigabytes."""
    values = np.random.default_rng(7).normal(1, 0.1, 1_000_000)
    interval = ratio_interval([values.tolist()], [[1.0] * 9])
    # The standard error of a median is 1.2533 of that of a mean.
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * 1.2533 * 0.1 / 1e3, rel=0.1)


def test_net_interval_is_unknown_where_launch_may_be_all() -> None:
    noisy = [[4.0, 4.1, 4.2, 4.3, 4.4, 4.5, 4.6]]
    assert not net_ratio_interval(noisy, [[4.2] * 7], [[6.0] * 7], [[1.0] * 7]).known


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (Interval(0.99, 1.01), "same"),
        (Interval(1 / 1.02, 1.02), "same"),
        (Interval(1.021, 1.5), "faster"),
        (Interval(0.5, 0.98), "slower"),
        (Interval(1.019, 1.03), "ambiguous"),
        (Interval(0.97, 0.99), "ambiguous"),
        (Interval(0.9, 1.1), "ambiguous"),
        (Interval(1.02, 1.03), "ambiguous"),
        (UNKNOWN, "ambiguous"),
    ],
)
def test_verdict(interval: Interval, expected: Verdict) -> None:
    assert verdict(interval) == expected


def test_verdict_depends_on_the_band() -> None:
    interval = Interval(1.03, 1.04)
    assert [verdict(interval, band) for band in (0.0, 0.02, 0.035, 0.05)] == [
        "faster", "faster", "ambiguous", "same",
    ]  # fmt: skip


@pytest.mark.parametrize("band", [-0.01, 0.51, math.nan, math.inf])
def test_band_that_is_none_is_refused(band: float) -> None:
    with pytest.raises(ValueError, match="equivalence band"):
        verdict(Interval(1.0, 1.0), band)


TIMES = st.lists(st.floats(1e-7, 1e-2), min_size=6, max_size=30)


@given(TIMES, TIMES, st.sampled_from([1, 3]))
def test_interval_is_ordered_and_repeatable(first: list[float], second: list[float], parts: int) -> None:
    one, other = ([side[place::parts] for place in range(parts)] for side in (first, second))
    interval = ratio_interval(one, other)
    assert interval == ratio_interval(one, other)
    assert 0 < interval.low <= interval.high
    assert verdict(interval) in VERDICTS


@given(TIMES, TIMES, st.floats(1e-3, 1e3))
def test_interval_does_not_depend_on_the_unit(first: list[float], second: list[float], unit: float) -> None:
    interval = ratio_interval([first], [second])
    scaled = ratio_interval([[unit * value for value in first]], [[unit * value for value in second]])
    assert ends(scaled) == pytest.approx(ends(interval))


@given(st.floats(0.2, 5), st.floats(0, 0.2))
def test_verdict_is_exchanged_with_the_sides(ratio: float, half: float) -> None:
    here = verdict(Interval(ratio, ratio * (1 + half)))
    there = verdict(Interval(1 / (ratio * (1 + half)), 1 / ratio))
    assert there == {"faster": "slower", "slower": "faster"}.get(here, here)


COMPARISONS = 400
"""Simulated comparisons of one kind of noise: the standard error of a 95 % coverage is 1.1 points."""


@cache
def simulated(
    processes: int, samples: int, between: float, within: float, speed: float = 1.0, others: int = 0
) -> list[Interval]:
    """Intervals of COMPARISONS simulated pairs whose true ratio is ``speed``.

    Log-normal noise with a slow tail, as timings have: of relative size ``between`` from process to process
    and ``within`` from sample to sample. The second side is of so many ``others`` where they are not as many.
    """
    rng = np.random.default_rng(5)

    def side(seconds: float, processes: int) -> list[list[float]]:
        process = rng.normal(0, between, (processes, 1))
        noise = rng.normal(0, within, (processes, samples))
        slow = rng.exponential(within, (processes, samples))
        block: list[list[float]] = (seconds * np.exp(process + noise + slow)).tolist()
        return block

    return [
        ratio_interval(side(1e-5, processes), side(1e-5 * speed, others or processes), paired=True)
        for _ in range(COMPARISONS)
    ]


NOISES = [
    pytest.param(1, 3, 0.0, 0.01, id="three samples of one process"),
    pytest.param(1, 9, 0.0, 0.005, id="nine samples of one process"),
    pytest.param(1, 30, 0.0, 0.05, id="a noisy processor"),
    pytest.param(3, 5, 0.0, 0.01, id="three like processes"),
    pytest.param(3, 10, 0.003, 0.003, id="three processes that differ"),
    pytest.param(3, 10, 0.05, 0.01, id="three processes that differ much"),
    pytest.param(5, 6, 0.02, 0.02, id="five processes"),
    pytest.param(7, 3, 0.02, 0.004, id="seven processes"),
    pytest.param(8, 3, 0.02, 0.004, id="eight processes, in pairs"),
    pytest.param(16, 3, 0.02, 0.004, id="sixteen processes, in pairs"),
]


@pytest.mark.parametrize(("processes", "samples", "between", "within"), NOISES)
def test_intervals_cover_the_true_ratio(processes: int, samples: int, between: float, within: float) -> None:
    intervals = simulated(processes, samples, between, within)
    covering = sum(interval.low <= 1 <= interval.high for interval in intervals)
    # Three standard errors below the 95 % that they claim.
    assert covering / COMPARISONS >= 0.917


@pytest.mark.parametrize(("processes", "samples", "between", "within"), NOISES)
def test_equal_sides_are_called_different_in_at_most_five_per_cent(
    processes: int, samples: int, between: float, within: float
) -> None:
    verdicts = [verdict(interval) for interval in simulated(processes, samples, between, within)]
    false = verdicts.count("faster") + verdicts.count("slower")
    assert false / COMPARISONS <= 0.05


@pytest.mark.parametrize(
    ("few", "many"), [(1, 3), (1, 40), (2, 60), (3, 40), (3, 60), (4, 12), (6, 40), (11, 12), (12, 40)]
)
def test_the_side_of_fewer_contexts_decides_how_sure_a_ratio_is(few: int, many: int) -> None:
    intervals = simulated(few, 7, 0.02, 0.002, others=many)
    covering = sum(interval.low <= 1 <= interval.high for interval in intervals)
    assert covering / COMPARISONS >= 0.917


def test_a_side_of_one_context_differs_as_the_other_did_before_it_was_corrected() -> None:
    one, several = Side([[1.0, 1.001, 1.0]]), Side([[1.0], [1.001], [1.0], [0.999]])
    raw = replace(several, scatter=0.05)
    for first, second in ((one, raw), (raw, one)):
        low, high = ends(compare(first, second).interval)
        assert (low, high) == pytest.approx((math.exp(-0.16), math.exp(0.16)), rel=0.02), "3.18 of 5 %"
    assert compare(one, several).verdict == "same"


def test_equal_sides_with_little_noise_are_called_the_same() -> None:
    verdicts = [verdict(interval) for interval in simulated(3, 10, 0.002, 0.003)]
    assert verdicts.count("same") / COMPARISONS >= 0.95


def test_a_difference_of_a_tenth_is_found() -> None:
    verdicts = [verdict(interval) for interval in simulated(3, 10, 0.005, 0.01, 1.1)]
    assert verdicts.count("faster") / COMPARISONS >= 0.95


@pytest.mark.parametrize(
    ("value", "half", "more"),
    [
        # Half-widths of the logarithm as a multiple of what lies between the ratio and the edge.
        (1.0, 1.999, 30),
        (1 / 1.01, 2.999, 80),
        (1.05, 1.999, 30),
        (1 / 1.05, 1.999, 30),
        (1.0, 0.5, 0),
        (1.05, 0.5, 0),
    ],
)
def test_an_ambiguous_verdict_tells_what_would_decide_it(value: float, half: float, more: float) -> None:
    """Of ten blocks: an interval twice as wide as it may be takes forty."""
    reach = math.exp(half * abs(abs(math.log(value)) - math.log1p(BAND)))
    interval = Interval(value / reach, value * reach)
    assert more_to_decide(Ratio(value, interval, verdict(interval)), 10) == more


def test_at_the_edge_of_the_band_nothing_decides() -> None:
    assert more_to_decide(Ratio(1 + BAND, Interval(1.01, 1.03), "ambiguous"), 10) > 1e9


def test_nothing_decides_what_has_no_interval() -> None:
    assert more_to_decide(Ratio(1.0, UNKNOWN, "ambiguous"), 1) == math.inf


def test_each_half_of_the_blocks_chooses_for_the_other() -> None:
    """The first rival is the faster in the even blocks, the second in the odd ones."""
    first, second = ((1.0,), (3.0,)) * 4, ((2.0,), (1.0,)) * 4
    assert chosen_on_the_other_half([first, second]) == [1, 0] * 4
    assert chosen_on_the_other_half([first, ((0.5,),) * 8]) == [1] * 8
    assert chosen_on_the_other_half([first[:7], second[:7]]) == [1] * 7, "of few all choose"

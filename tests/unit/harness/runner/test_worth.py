"""Whether the next round is of all cases that are open, or of the empty kernel alone."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.results.launch_correction import FEWEST_CONTEXTS, Corrected
from harness.results.record import Case, Record, Samples
from harness.runner.known import FAR_OFF, FAR_OFF_ALONE, Known
from harness.runner.schedule import Trial
from harness.runner.worth import RoundSeconds, Spread, launches_pay, spread_of
from harness.variants.axes import ReductionVariant
from tests.support.cases import empty, of_variant

SLOW, FAST = (ReductionVariant(groups=groups) for groups in (2, 4))
SIDES = [of_variant("a", FAST), of_variant("b", FAST)]


def test_a_spread_is_what_one_context_leaves_unsure() -> None:
    found = spread_of(Corrected([[1.9, 2.0, 2.1], [2.2], [1.8]], error=0.01), launches=100)
    assert found == pytest.approx((statistics.variance([2.0, 2.2, 1.8]) / 4, 3, 100 * 0.01**2 / 4, 100))
    assert spread_of(Corrected([[1.0]]), launches=5) is None


@pytest.mark.parametrize("contexts", [2, 50])
def test_one_more_context_lowers_the_variance_of_a_mean(contexts: int) -> None:
    own = Spread(own=0.3, contexts=contexts, launching=0.3, launches=contexts)
    less = 0.3 / contexts - 0.3 / (contexts + 1)
    assert own.by_a_context == own.by_a_launch == pytest.approx(less, rel=1.01 / contexts)


def test_what_is_sure_of_launching_needs_no_more_of_it() -> None:
    unsure_of_itself = Spread(own=1.0, contexts=20, launching=0.1, launches=20)
    unsure_of_launching = Spread(own=0.1, contexts=20, launching=1.0, launches=20)
    assert not launches_pay([unsure_of_itself], launch_s=1.0, round_s=1.5)
    assert launches_pay([unsure_of_launching], launch_s=1.0, round_s=1.5)
    # A round of all cases that takes as long as a hundred of launches alone tells less a second.
    assert launches_pay([unsure_of_itself], launch_s=1.0, round_s=100.0)


_SPREADS = st.lists(
    st.builds(Spread, st.floats(1e-6, 1), st.integers(2, 99), st.floats(1e-6, 1), st.integers(2, 999)),
    min_size=1,
)


@given(_SPREADS, st.floats(0.1, 10), st.floats(1, 100))
def test_the_one_that_lowers_more_a_second_is_taken(
    spreads: list[Spread], launch_s: float, by: float
) -> None:
    round_s = launch_s * by
    each = [sum(s.by_a_launch for s in spreads), sum(s.by_a_context for s in spreads)]
    a_second = each[0] / launch_s, sum(each) / round_s
    if not math.isclose(*a_second, rel_tol=1e-6):
        assert launches_pay(spreads, launch_s, round_s) == (a_second[0] > a_second[1])


def test_the_last_round_of_each_kind_is_remembered() -> None:
    seconds = RoundSeconds()
    assert seconds.of(True) is seconds.of(False) is None
    for number, took in ((4, 1.0), (4, 2.0), (5, 9.0), (9, 0.5), (9, 0.25)):
        seconds.add(number == 5, number, took)
    assert (seconds.of(True), seconds.of(False)) == (9.0, 0.75)


def launched(launches: int, spread: float, open_too: bool = True, contexts: int = 14) -> Known:
    """What is known after so many rounds of two devices' min, each with one of launches alone: the cases
    scatter by ``spread`` of themselves.
    """
    known = Known(2 * contexts, 1)
    for number in range(2 * contexts):
        cost = 0.1 * (number // 2 % 2)
        for each in SIDES:
            wall = {"wall_seconds": 1.0}
            clocks = {"queue": Samples((1.0 + cost,))}
            if number % 2 == 0 or number // 2 < launches:
                known.add(
                    Record(empty(each.backend), "ok", clocks=clocks, provenance=wall).in_block(0, number)
                )
            if number % 2 == 0:
                far = 1.0 if open_too or each.backend == "a" else 2.0
                taken = far * (2.0 + cost + spread * (number // 4 % 2))
                record = Record(each, "ok", clocks={"queue": Samples((taken,))}, provenance=wall)
                known.add(record.in_block(0, number))
    return known


def test_launches_alone_are_left_out_where_the_cases_own_contexts_tell_more() -> None:
    own, of_launching = launched(14, spread=0.2), launched(2, spread=0.05)
    assert own.are_launches_enough(SIDES, number=29)
    assert not own.are_launches_enough(SIDES, number=28), "a round of cases"
    assert not of_launching.are_launches_enough(SIDES, number=29)
    # Of so few contexts nobody knows what launching adds.
    assert not launched(14, spread=0.2, contexts=FEWEST_CONTEXTS - 1).are_launches_enough(SIDES, number=29)


def test_the_empty_kernel_is_left_out_where_nothing_is_open() -> None:
    settled = launched(14, spread=0.01, open_too=False)
    assert settled.are_launches_enough(SIDES, number=29)
    of_round = [Trial(each, 0, 26) for each in (empty("a"), empty("b"), *SIDES)]
    assert settled.enough(of_round) == {trial.case for trial in of_round}
    assert launched(14, spread=0.2).enough(of_round) == set()


@pytest.mark.parametrize(
    ("rounds", "times", "is_left_out"),
    [
        (4, [FAR_OFF] * 3, True),
        (4, [FAR_OFF - 0.01] * 3, False),
        (4, [FAR_OFF, 9.0, 0.9], False),
        (1, [FAR_OFF] * 3, False),
        (1, [FAR_OFF_ALONE] * 3, True),
    ],
    ids=["far off", "near", "disturbed", "near for processes alone", "far off for processes alone"],
)
def test_a_baseline_that_is_far_off_is_measured_in_the_first_process_only(
    rounds: int, times: list[float], is_left_out: bool
) -> None:
    """Its samples are multiples of the slower API's time, of the fastest variant."""
    baseline, fast, slow, cuda, portable = (
        of_variant("cub", FAST),
        of_variant("opencl", FAST),
        of_variant("opencl", SLOW),
        of_variant("cuda", FAST),
        of_variant("opencl", replace(FAST, dialect="portable")),
    )
    known = Known(rounds)
    samples: dict[Case, tuple[float, ...]] = {fast: (1.1,), slow: (9.0,), cuda: (1.0,), portable: (9.0,)}
    samples[baseline] = tuple(1.1 * each for each in times)
    for each, seconds in samples.items():
        known.add(Record(each, "ok", clocks={"queue": Samples(seconds)}).in_block(0, 0))
    never_measured, control = of_variant("npp", FAST), replace(baseline, role="control")
    of_round = [Trial(each, 1, 4) for each in (*samples, never_measured, control)]
    assert known.far_off(of_round) == ({baseline, control} if is_left_out else set())
    # Nor is a verdict on it open.
    beside = [Trial(each, 1, 4) for each in (slow, fast, baseline)]
    assert (baseline in known.settled(beside)) is is_left_out


def test_without_our_kernels_no_baseline_is_far_off() -> None:
    known = Known(4)
    cases = [of_variant("cub", FAST), of_variant("npp", FAST)]
    for each, seconds in zip(cases, (1.0, 9.0), strict=True):
        known.add(Record(each, "ok", clocks={"queue": Samples((seconds,))}).in_block(0, 0))
    assert known.far_off([Trial(each, 1, 4) for each in cases]) == set()

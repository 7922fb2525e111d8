"""Times brought to the mean cost of launching: what that takes out, and what error it leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.problems import Empty, Reduction
from harness.results.launch_correction import FEWEST_CONTEXTS, Launches
from harness.results.ratio import ratio_interval
from harness.results.record import Case, Record, Samples, Status
from harness.results.statistics import centre
from harness.variants.axes import LaunchVariant, ReductionVariant

LOW, HIGH = 1.4, 1.6
"""What launching takes in this context and that."""


def empty(seconds: Sequence[float], status: Status = "ok", blocks: Sequence[int] = ()) -> Record:
    case = Case("cuda", 0, Empty((((8,), (64,)),)), LaunchVariant(), role="control")
    clock = Samples(tuple(seconds), blocks=tuple(blocks or range(len(seconds))))
    return Record(case, status, clocks={"queue": clock})


def another(**change: Any) -> Record:
    """The empty kernel's record with a case that differs in this."""
    record = empty([LOW, HIGH] * 8)
    return replace(record, case=replace(record.case, **change))


def test_a_time_is_read_off_where_launching_costs_its_mean() -> None:
    # The case met the dear kind of context in twelve of sixteen; all contexts are of both kinds alike.
    mine = [HIGH] * 12 + [LOW] * 4
    costs = mine + [LOW] * 24 + [HIGH] * 16
    launches = Launches([empty(costs)])
    clock = Samples(tuple(2.0 + cost for cost in mine), blocks=tuple(range(16)))
    found = launches.corrected("cuda:0", clock)
    assert [block[0] for block in found.blocks] == pytest.approx([3.5] * 16)
    assert found.error == pytest.approx(np.std(costs, ddof=1) / math.sqrt(len(costs)))
    assert centre([[value] for value in clock.seconds]) == pytest.approx(3.55)


def test_a_time_that_launching_does_not_touch_stays_what_it_was() -> None:
    mine = [HIGH, LOW] * 8
    launches = Launches([empty(mine + [LOW] * 40)])
    found = launches.corrected("cuda:0", Samples((5.0,) * 16, blocks=tuple(range(16))))
    assert [block[0] for block in found.blocks] == pytest.approx([5.0] * 16)
    assert found.error == pytest.approx(0.0)


def test_each_sample_of_a_context_moves_as_its_median() -> None:
    costs = [HIGH, LOW] * 8
    thrice = [context for context in range(16) for _ in range(3)]
    launches = Launches([empty([costs[context] for context in thrice], blocks=thrice)])
    seconds = tuple(2 + cost + jitter for cost in costs for jitter in (-0.1, 0.0, 0.2))
    found = launches.corrected("cuda:0", Samples(seconds, blocks=tuple(thrice)))
    assert np.array(found.blocks) == pytest.approx(np.array([[3.4, 3.5, 3.7]] * 16))


@pytest.mark.parametrize(
    "launches",
    [
        Launches(),
        Launches([empty([LOW, HIGH] * 8, status="failed")]),
        Launches([empty([LOW, HIGH] * (FEWEST_CONTEXTS // 2 - 1))]),
        Launches([empty([LOW] * 40)]),
        Launches([empty([0.1, 0.1 + 1e-15] * 20)]),
        Launches([empty([1e-300, 1e300] * 20)]),
        Launches([empty([LOW, HIGH] * 8, blocks=range(100, 116))]),
        Launches([another(role="compare")]),
        Launches([another(variant=LaunchVariant(events="on"))]),
        Launches([another(problem=Empty((((8,), (64,)),) * 2))]),
    ],
    ids=[
        "no empty kernel",
        "a failed one",
        "too few contexts",
        "always the same",
        "the same but for rounding",
        "no times of this world",
        "in other contexts",
        "asked for by a study",
        "with an event",
        "two launches",
    ],
)
def test_where_launching_tells_nothing_the_samples_are_left_alone(launches: Launches) -> None:
    clock = Samples(tuple(float(i + 1) for i in range(20)), blocks=tuple(range(20)))
    found = launches.corrected("cuda:0", clock)
    assert (found.blocks, found.error) == ([[float(i + 1)] for i in range(20)], 0.0)
    assert launches.corrected("cuda:0", None).blocks == []


def test_the_fewest_contexts_tell_more_of_launching_than_of_chance() -> None:
    """A regression on nothing adds error: of the fewest contexts that are levelled, a little."""
    rng = np.random.default_rng(11)
    plain, found = [], []
    for _ in range(400):
        costs = rng.normal(1.5, 0.1, 200)
        taken = rng.normal(5.0, 0.05, FEWEST_CONTEXTS)
        clock = Samples(tuple(map(float, taken)), blocks=tuple(range(FEWEST_CONTEXTS)))
        plain.append(float(taken.mean()))
        found.append(centre(Launches([empty(list(map(float, costs)))]).corrected("cuda:0", clock).blocks))
    assert np.std(found) < 1.15 * np.std(plain)


def test_few_contexts_follow_launching_as_the_other_cases_do() -> None:
    """By the median of the slopes of those that have contexts enough; of another clock nothing is known."""
    costs = [HIGH, LOW] * 8
    of_all = [*costs, *[LOW] * 24, *[HIGH] * 8]
    slopes = (0.5, 0.8, 0.7, -1.0, 4.0)
    blocks = tuple(range(16))
    cases = [
        Record(
            Case("cuda", 0, Reduction("sum", "int32", (size + 1,)), ReductionVariant()),
            "ok",
            clocks={"queue": Samples(tuple(3 + slope * cost for cost in costs), blocks=blocks)},
        )
        for size, slope in enumerate(slopes)
    ]
    clock = Samples((5 + 0.7 * HIGH, 5 + 0.7 * LOW), blocks=(0, 1))
    found = Launches([empty(of_all), *cases]).corrected("cuda:0", clock)
    level = float(np.mean(of_all))
    assert [block[0] for block in found.blocks] == pytest.approx([5 + 0.7 * level] * 2)
    assert found.error == pytest.approx(0.7 * np.std(of_all, ddof=1) / math.sqrt(len(of_all)))
    assert found.scatter == pytest.approx(0.7 * 0.1 * math.sqrt(2) / (5 + 0.7 * 1.5), rel=1e-3)
    for launches, name in (
        (Launches([empty(of_all), *cases[1:]]), "queue"),
        (Launches([empty(of_all), *cases]), "launch"),
        (Launches([empty(of_all), *(replace(each, status="wrong") for each in cases)]), "queue"),
    ):
        left = launches.corrected("cuda:0", clock, name)
        assert (left.blocks, left.error) == ([[clock.seconds[0]], [clock.seconds[1]]], 0.0)


@pytest.mark.parametrize("contexts", [12, 14, 20, 40])
def test_what_a_slope_of_few_contexts_is_unsure_of_is_in_the_interval(contexts: int) -> None:
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        sides, errors = [], []
        for _ in range(2):
            costs = rng.choice([LOW, HIGH], 400)
            taken = 4.0 + 0.6 * costs[:contexts] + rng.normal(0, 0.04, contexts)
            clock = Samples(tuple(taken.tolist()), blocks=tuple(range(contexts)))
            side = Launches([empty(costs.tolist())]).corrected("cuda:0", clock)
            sides.append(side.blocks)
            errors.append(side.error)
        interval = ratio_interval(sides[0], sides[1], paired=True, errors=errors)
        held += interval.low <= 1 <= interval.high
    assert held / 400 >= 0.925


def test_a_context_without_an_empty_kernel_keeps_its_samples() -> None:
    launches = Launches([empty([LOW, HIGH] * 8)])
    clock = Samples((*(2 + cost for cost in [LOW, HIGH] * 8), 9.0), blocks=(*range(16), 50))
    found = launches.corrected("cuda:0", clock)
    assert [block[0] for block in found.blocks] == pytest.approx([3.5] * 16 + [9.0])


def test_another_devices_launches_are_not_asked() -> None:
    clock = Samples((1.0, 2.0) * 8, blocks=tuple(range(16)))
    assert Launches([empty([LOW, HIGH] * 8)]).corrected("opencl:0", clock).error == 0.0


def test_intervals_hold_the_ratio_and_are_narrower_than_those_of_contexts_alone() -> None:
    """Two sides of one speed, in contexts of two kinds: forty of each case, four hundred empty kernels."""
    rng = np.random.default_rng(20261122)
    held = 0
    widths: list[tuple[float, float]] = []
    for _ in range(200):
        sides, errors, raw = [], [], []
        for _ in range(2):
            costs = rng.choice([LOW, HIGH], 400)
            taken = 1.0 + costs[:40] + rng.normal(0, 0.02, 40)
            launches = Launches([empty(costs.tolist())])
            side = launches.corrected("cuda:0", Samples(tuple(taken.tolist()), blocks=tuple(range(40))))
            sides.append(side.blocks)
            errors.append(side.error)
            raw.append([[value] for value in taken.tolist()])
        interval = ratio_interval(sides[0], sides[1], paired=True, errors=errors)
        plain = ratio_interval(raw[0], raw[1], paired=True)
        held += interval.low <= 1 <= interval.high
        widths.append((interval.high - interval.low, plain.high - plain.low))
    # 95 % of 200 are 190, give or take three.
    assert 180 <= held <= 199
    corrected, plainly = np.mean(widths, axis=0)
    assert corrected < 0.5 * plainly

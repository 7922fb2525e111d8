"""The order of a run and the sharing of its time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest

from harness.runner.schedule import (
    FURTHER_SHARE,
    GUESSED_OVERHEAD_S,
    LEAST_S,
    LIMIT_ROUNDS,
    Allotment,
    first_rounds_end,
    further_rounds_end,
    rounds_a_process,
    trials,
)
from tests.support.cases import case, empty

CASES = [case(backend, op) for op in ("min", "sum") for backend in "abc"]
SIDES = [case(backend, op) for op in ("min", "sum") for backend in "ab"]


def test_one_process_keeps_the_order() -> None:
    assert [trial.case for trial in trials(CASES, 1, {})] == CASES


def test_the_sides_of_a_problem_are_interleaved_and_each_is_first_once() -> None:
    found = list(trials(CASES, 3, {}))
    assert [trial.process for trial in found] == [0] * 6 + [1] * 6 + [2] * 6
    assert [trial.case.backend for trial in found] == list("abcabc" + "bcabca" + "cabcab")
    assert [trial.case.problem.label[:3] for trial in found] == (["min"] * 3 + ["sum"] * 3) * 3
    assert len(set(found)) == 18


def test_limits_are_spread_over_a_round_after_its_first_problem() -> None:
    limits = [replace(case("opencl", op), role="limit") for op in ("mean", "max")]
    others = [case(backend, op) for op in ("min", "sum", "minmax", "count_nonzero") for backend in "ab"]
    found = [trial.case for trial in trials([empty("a"), *limits, *others], 1, {})]
    assert [each for each in found if each.role != "limit"] == [empty("a"), *others]
    assert [found.index(each) for each in limits] == [3, 8]
    assert [trial.case for trial in trials(limits, 1, {})] == limits


def test_a_limit_is_measured_in_a_few_contexts_and_a_baseline_in_one_a_process() -> None:
    limit = replace(case("opencl", "min"), role="limit")
    cases = [limit, *(case(name, "sum") for name in ("cuda", "cub", "opencl", "numpy"))]
    most = LIMIT_ROUNDS + 1
    found = list(trials(cases, 2, {"opencl:0": most, "cuda:0": most}))
    taken = Counter(trial.case for trial in found)
    assert [taken[each] for each in cases] == [2 * LIMIT_ROUNDS, 2 * most, 2, 2 * most, 2]
    assert {t.round % most for t in found if t.case == limit} == set(range(LIMIT_ROUNDS))
    assert [(t.process, t.round) for t in found if t.case == cases[1]] == [
        (number // most, number) for number in range(2 * most)
    ]
    assert {t.case.backend for t in found if t.round == LIMIT_ROUNDS} == {"opencl", "cuda"}


def test_between_contexts_the_empty_kernel_has_some_of_its_own() -> None:
    cases = [empty("a"), empty("b"), *SIDES]
    plain, found = (list(trials(cases, 2, {"a:0": 3, "b:0": 3}, launches)) for launches in (0, 2))
    launches_only = [trial for trial in found if trial.round % 3]
    assert Counter((t.case, t.process, t.round // 3) for t in found if t.round % 3 == 0) == Counter(
        (t.case, t.process, t.round) for t in plain
    )
    assert Counter(trial.case for trial in launches_only) == {empty("a"): 2 * 3 * 2, empty("b"): 2 * 3 * 2}
    assert {trial.process for trial in launches_only if trial.round >= 9} == {1}
    assert rounds_a_process({"a:0": 3}, 2) == 9


def test_a_device_of_one_context_has_none_for_the_empty_kernel_alone() -> None:
    cases = [empty("a"), empty("b")]
    taken = Counter(trial.case for trial in trials(cases, 2, {"a:0": 3}, 4))
    assert taken == {empty("a"): 2 * 3 * 5, empty("b"): 2}


def test_only_the_first_round_takes_every_clock() -> None:
    assert [trial.is_primary_only for trial in trials([case("a", "sum")], 2, {"a:0": 2})] == [
        False,
        True,
        True,
        True,
    ]


def test_a_budget_is_shared_evenly_less_what_is_no_timing() -> None:
    allotment = Allotment(ends_at=100.0, longest=60.0)
    assert allotment.seconds(0.0, 50) == pytest.approx(2 - GUESSED_OVERHEAD_S)
    allotment.spent(total=1.5, granted=1.0, timed=0.5)
    assert allotment.seconds(50.0, 25) == pytest.approx(2 - 1.0)


def test_timing_beyond_what_was_granted_is_overhead() -> None:
    allotment = Allotment(ends_at=100.0, longest=60.0)
    allotment.spent(total=1.5, granted=0.2, timed=1.4)
    assert allotment.seconds(0.0, 50) == pytest.approx(2 - 1.3)


def test_one_hang_does_not_take_the_others_time() -> None:
    allotment = Allotment(ends_at=100.0, longest=60.0)
    for total in (0.1, 60.0, 0.1):
        allotment.spent(total, 1.0, 0.0)
    assert allotment.seconds(0.0, 100) == pytest.approx(0.9)


@pytest.mark.parametrize("now", [99.99, 100.0, 500.0])
def test_every_case_gets_a_little_when_the_time_is_over(now: float) -> None:
    assert Allotment(100.0, 60.0).seconds(now, 5) == LEAST_S


def test_no_case_gets_more_than_its_limit_allows() -> None:
    assert Allotment(1e6, 15.0).seconds(0.0, 1) == 15.0


def test_further_contexts_have_a_part_of_the_budget() -> None:
    assert first_rounds_end(90.0, 3) == 90.0 * (1 - FURTHER_SHARE)
    assert first_rounds_end(90.0, 1) == 90.0


def test_what_first_rounds_leave_of_the_time_is_shared_evenly() -> None:
    ends = [
        further_rounds_end(90.0, 15.0, 3),
        further_rounds_end(90.0, 50.0, 2),
        further_rounds_end(90.0, 80.0, 1),
    ]
    assert ends == [40.0, 70.0, 90.0]
    assert further_rounds_end(90.0, 95.0, 2) == 95.0
    assert further_rounds_end(90.0, 10.0, 3, owed=20.0) == 30.0


def test_further_rounds_put_off_the_first_ones_of_the_processes_after_them() -> None:
    allotment = Allotment(ends_at=100.0, longest=60.0)
    assert allotment.owed(70.0) == 30.0
    allotment.put_off(50.0)
    assert (allotment.owed(120.0), allotment.owed(200.0)) == (30.0, 0.0)


@pytest.mark.parametrize("sides", [3, 9, 11])
def test_each_process_begins_with_another_case(sides: int) -> None:
    """Libraries have one context a process: the turn must not depend on how many the others have."""
    cases = [replace(case("opencl", "sum"), device=number) for number in range(sides)]
    planned = trials(cases, 3, {each.device_key: 99 for each in cases})
    first = {trial.process: trial.case for trial in reversed(list(planned)) if trial.round % 99 == 0}
    assert len(set(first.values())) == 3


@pytest.mark.parametrize("sides", [2, 3, 4, 5, 10])
def test_of_any_two_sides_each_is_first_as_often_whatever_others_are_given_up(sides: int) -> None:
    """With rounds of the empty kernel alone between them, which count as rounds, too."""
    cases = [replace(case("opencl", "sum"), device=number) for number in range(sides)]
    contexts = {each.device_key: 2 * sides for each in cases}
    planned = list(trials(cases, 1, contexts, launches=4))
    rounds = [
        [trial.case for trial in planned if trial.round == number] for number in range(0, 10 * sides, 5)
    ]
    assert all(len(each) == sides for each in rounds)
    for one, other in combinations(cases, 2):
        assert sum(each.index(one) < each.index(other) for each in rounds) == sides

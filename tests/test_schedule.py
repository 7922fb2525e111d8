"""The order of a run and the sharing of its time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from harness.problems import Reduction
from harness.records import Case
from harness.schedule import GUESSED_OVERHEAD_S, LEAST_S, Allotment, turns
from harness.variants import Plain


def case(backend: str, op: str) -> Case:
    return Case(backend, 0, Reduction(op, "int32", (10,)), Plain())


CASES = [case(backend, op) for op in ("min", "sum") for backend in "abc"]


def test_one_process_keeps_the_order() -> None:
    assert [turn.case for turn in turns(CASES, 1)] == CASES


def test_the_sides_of_a_problem_are_interleaved_and_each_is_first_once() -> None:
    found = list(turns(CASES, 3))
    assert [turn.process for turn in found] == [0] * 6 + [1] * 6 + [2] * 6
    assert [turn.case.backend for turn in found] == list("abcabc" + "bcabca" + "cabcab")
    assert [turn.case.problem.label[:3] for turn in found] == (["min"] * 3 + ["sum"] * 3) * 3
    assert len(set(found)) == 18


def test_what_no_verdict_needs_is_measured_in_the_first_processes_only() -> None:
    limit = replace(case("opencl", "min"), role="limit")
    cases = [limit, *(case(name, "sum") for name in ("cuda", "cub", "opencl", "numpy"))]
    taken = Counter(turn.case for turn in turns(cases, 5))
    assert [taken[each] for each in cases] == [3, 5, 3, 5, 3]
    assert [turn.process for turn in turns([limit], 2)] == [0, 1]


def test_only_the_first_process_takes_every_clock() -> None:
    assert [turn.is_lean for turn in turns([case("a", "sum")], 3)] == [False, True, True]


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

"""Measuring in one process, on a device whose true times are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from backends.base import HostMemory
from harness.measure.budget import AMONG, WARM_UP, Share, brief, every_clock, informed, primary_clock
from harness.measure.measurer import Measurer
from harness.problems import Bandwidth, Reduction
from harness.results.record import Case, Samples
from harness.variants.axes import LibraryVariant
from tests.support.fake_backend import ENVIRONMENT, FakeBackend, FakeClock, FakePrepared
from tests.support.measuring import CASE, FOUR, measurer


def test_each_clock_has_its_own_true_time() -> None:
    record = measurer(FakeClock(call=20e-6, empty=2e-6, enqueue=5e-6, fixed=30e-6)).measure(CASE, FOUR)
    assert record.status == "ok"
    true = {"queue": 20e-6, "launch": 2e-6, "launch_event": 2e-6, "event": 20e-6, "round_trip": 55e-6}
    assert set(record.clocks) == set(true)
    for name, seconds in true.items():
        assert record.clocks[name].seconds == pytest.approx([seconds] * 4, rel=1e-6), name


def test_a_clock_that_no_other_process_takes_has_samples_of_its_own() -> None:
    backend = FakeBackend(FakeClock())
    clocks = Measurer(backend, backend.clock.time).measure(CASE, every_clock(2, samples_once=5)).clocks
    assert len(clocks["queue"].seconds) == 2
    assert [len(clocks[name].seconds) for name in ("event", "round_trip", "launch_event")] == [5] * 3


@pytest.mark.parametrize(("synchronous", "gate"), [(False, "kernel"), (True, "")])
def test_a_record_says_what_held_its_calls_back(synchronous: bool, gate: str) -> None:
    backend = FakeBackend(FakeClock(), synchronous=synchronous)
    backend.gate_kind = "kernel"
    record = Measurer(backend, backend.clock.time).measure(CASE, FOUR)
    assert record.provenance["gate"] == gate


@pytest.mark.parametrize("primary_only", [False, True])
def test_of_a_long_call_a_primary_only_record_has_one_sample_of_the_primary_clock(primary_only: bool) -> None:
    backend = FakeBackend(FakeClock(call=20e-3))
    measuring = Measurer(backend, backend.clock.time)
    share = primary_clock(9, 1e-3) if primary_only else every_clock(9, 1e-3)
    clocks = measuring.measure(CASE, share).clocks
    assert clocks["queue"].seconds == pytest.approx([20e-3] * (1 if primary_only else 3))
    assert (clocks.keys() == {"queue", "launch"}) == primary_only
    assert primary_only or min(len(clock.seconds) for clock in clocks.values()) == AMONG


def test_the_first_case_of_a_context_warms_the_device_up_for_longer() -> None:
    backend = FakeBackend(FakeClock(call=20e-6))
    measuring = Measurer(backend, backend.clock.time)
    share = {name: replace(budget, calls=40) for name, budget in primary_clock(1, 1.0).items()}
    batches = []
    for _ in range(3):
        backend.batches.clear()
        assert measuring.measure(CASE, share).status == "ok"
        batches.append(backend.batches.count(40))
    assert batches[0] > 3 * batches[1]
    assert batches[1] == batches[2]


def test_of_a_limit_the_round_trip_is_not_measured() -> None:
    case = Case("fake", 0, Bandwidth("copy", "uint32", 1000), LibraryVariant(), role="limit")
    clocks = measurer(FakeClock()).measure(case, FOUR).clocks
    assert set(clocks) == {"queue", "launch", "launch_event", "event"}


def test_the_calls_behind_a_sample_can_be_given() -> None:
    backend = FakeBackend(FakeClock(call=20e-6, empty=2e-6))
    calls = {"queue": 7, "launch": 9}
    share = {name: replace(budget, calls=calls[name]) for name, budget in primary_clock(2, 1.0).items()}
    record = Measurer(backend, backend.clock.time).measure(CASE, share)
    assert {name: clock.calls for name, clock in record.clocks.items()} == {"queue": 7, "launch": 9}
    assert record.clocks["queue"].seconds == pytest.approx([20e-6] * 2)


def test_a_primary_only_trial_takes_no_more_calls_than_last_long_enough_in_all() -> None:
    found = {
        "queue": Samples((4e-6, 3e-6, 5e-6), 400),
        "launch": Samples((1e-3,), 2),
        "event": Samples((), 1),
    }
    full, primary_only = (informed(share, found) for share in (every_clock(), primary_clock()))
    assert full["event"] == every_clock()["event"]
    assert (full["queue"].calls, full["launch"].calls) == (400, 2)
    assert (primary_only["queue"].calls, primary_only["launch"].calls) == (167, 1)
    for share in (full, primary_only):
        assert (share["queue"].expected, share["launch"].expected) == (4e-6, 1e-3)


def test_the_same_launches_cost_is_measured_once() -> None:
    measuring = measurer(FakeClock())
    first, second = measuring.measure(CASE, FOUR), measuring.measure(CASE, FOUR)
    assert first.clocks["launch"] is second.clocks["launch"]


def test_a_launch_cost_of_the_primary_clock_alone_does_not_stand_for_the_others() -> None:
    measuring = measurer(FakeClock())
    assert "launch_event" not in measuring.measure(CASE, brief(FOUR)).clocks
    assert "launch_event" in measuring.measure(CASE, FOUR).clocks


def test_other_launches_have_a_cost_of_their_own() -> None:
    measuring = measurer(FakeClock(empty=1e-6))
    costs = []
    for launches in (1, 2):
        assert isinstance(measuring.backend, FakeBackend)
        measuring.backend.launches = launches
        measuring.backend.clock.empty = launches * 1e-6
        costs.append(measuring.measure(CASE, FOUR).clocks["launch"].seconds[0])
    assert costs == pytest.approx([1e-6, 2e-6])


def test_the_clocks_of_a_cold_case_use_each_source_in_its_turn() -> None:
    backend = FakeBackend(FakeClock())
    case = replace(CASE, problem=Reduction("max", "int32", (500,)), cache="cold")
    assert Measurer(backend, backend.clock.time).measure(case, FOUR).provenance["sources"] == 9
    verified, unlike = list(range(9)), [9, 9, 0]
    assert backend.order[:9] == verified
    assert backend.order[-12:] == unlike + verified
    # After the queue's clock come the calls of the empty kernel, which has one source.
    timed = backend.order[9:-12]
    queue = timed[: max(i for i, source in enumerate(timed) if source == 8)]
    assert {tuple(queue[first : first + 9]) for first in range(0, 81, 9)} == {tuple(verified)}
    assert sorted(set(timed[-9:])) == verified, (
        "the last calls, by the event and the round trip, rotate as well"
    )


def test_a_hot_case_is_timed_on_one_source_and_verified_on_another() -> None:
    backend = FakeBackend(FakeClock())
    assert Measurer(backend, backend.clock.time).measure(CASE, FOUR).status == "ok"
    assert backend.order[0] == 0
    assert set(backend.order[:-4]) == {0}
    assert backend.order[-4:] == [1, 1, 0, 0]


def test_what_leaves_nothing_to_the_next_call_is_poisoned_and_verified_after_timing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A copy or an image has no source with another answer: what timing left would pass for one."""
    monkeypatch.setenv(ENVIRONMENT, json.dumps({"": "writes once"}))
    case = replace(CASE, problem=Bandwidth("copy", "uint32", 1000))
    record = measurer(FakeClock()).measure(case, FOUR)
    assert record.status == "wrong"
    assert record.reason.startswith("after timing: ")


def test_only_a_cases_first_clock_warms_the_device_up() -> None:
    """What follows at once, or is one of hundreds, finds it at work; a context's first case does not."""
    long = {name for name, budget in FOUR.items() if budget.warm_up == WARM_UP}
    assert long == {"queue"}
    others = [budget for share in (brief(FOUR), primary_clock(4)) for budget in share.values()]
    assert max(budget.warm_up for budget in others) <= WARM_UP / 10
    backend = FakeBackend(FakeClock())
    measuring = Measurer(backend, backend.clock.time)
    cold, warm = (measuring.measure(CASE, primary_clock(4)).provenance["timing_seconds"] for _ in range(2))
    assert cold - warm > 0.9 * WARM_UP


def test_a_brief_trial_takes_short_samples() -> None:
    calls = [
        measurer(FakeClock()).measure(CASE, share).clocks["queue"].calls for share in (brief(FOUR), FOUR)
    ]
    assert 2 * calls[0] <= calls[1]


@pytest.mark.parametrize("share", [FOUR, brief(FOUR), primary_clock(4)])
def test_no_result_is_written_first_while_it_is_timed(monkeypatch: pytest.MonkeyPatch, share: Share) -> None:
    """Memory that nothing has written is not mapped yet: the first to write it waits for that."""
    done: list[str] = []

    def noting(name: str) -> Callable[..., object]:
        call = getattr(FakePrepared, name)

        def noted(*args: object) -> object:
            done.append(name)
            return call(*args)

        return noted

    for name in ("poison", "enqueue"):
        monkeypatch.setattr(FakePrepared, name, noting(name))
    measurer(FakeClock()).measure(CASE, share)
    assert done[0] == "poison"
    assert "enqueue" in done


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[HostMemory | None]:
    """What each answer of the fake backend is fetched into."""
    found: list[HostMemory | None] = []
    fetch = FakePrepared.result

    def result(self: FakePrepared, into: HostMemory | None = None) -> object:
        found.append(into)
        return fetch(self, into)

    monkeypatch.setattr(FakePrepared, "result", result)
    return found


@pytest.mark.parametrize("fault", ["", "writes once"])
def test_a_brief_trial_of_a_copy_verifies_once(
    monkeypatch: pytest.MonkeyPatch, fetched: list[HostMemory | None], fault: str
) -> None:
    """Fetching and comparing an answer of the source's size takes longer than the trial's timing."""
    monkeypatch.setenv(ENVIRONMENT, json.dumps({"": fault} if fault else {}))
    case = Case("fake", 0, Bandwidth("copy", "uint32", 1000), LibraryVariant(), role="limit")
    assert measurer(FakeClock()).measure(case, brief(FOUR)).status == ("wrong" if fault else "ok")
    assert len(fetched) == 1


def test_answers_that_are_compared_stand_in_the_same_memory(fetched: list[HostMemory | None]) -> None:
    measuring = measurer(FakeClock())
    for _ in range(2):
        assert measuring.measure(CASE, brief(FOUR)).status == "ok"
    compared = [memory for memory in fetched if memory]
    assert len(compared) >= 2
    assert len(set(map(id, compared))) == 1


def test_memory_for_answers_grows_and_is_kept() -> None:
    memory = HostMemory()
    assert memory.array(3, np.int32).shape == (3,)
    large = memory.array(1000, np.float64)
    assert large.dtype == np.float64
    assert large.shape == (1000,)
    assert np.shares_memory(memory.array(10, np.uint8), large)


def test_narrow_sums_of_integers_are_verified_by_their_lower_half() -> None:
    case = replace(CASE, problem=Reduction("sum", "int32", (1000,)))
    narrow = replace(case, variant=LibraryVariant(accumulator="element"))
    statuses = [measurer(FakeClock()).measure(one, FOUR).status for one in (case, narrow)]
    assert statuses == ["ok", "wrong"], "the fake adds in 64 bits"


def test_sums_in_the_type_of_the_elements_have_its_tolerance() -> None:
    case = replace(CASE, problem=Reduction("sum", "float32", (1000,)))
    narrow = replace(case, variant=LibraryVariant(accumulator="element"))
    wide, found = (measurer(FakeClock()).measure(one, FOUR).tolerance for one in (case, narrow))
    assert wide is not None
    assert found == pytest.approx(Reduction("sum", "float32", (1000,)).narrower_tolerance(wide))
    assert found is not None
    assert found > 1e6 * wide


def test_every_place_of_an_answer_is_verified_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakePrepared, "answers", 8)
    backend = FakeBackend(FakeClock())
    assert Measurer(backend, backend.clock.time).measure(CASE, FOUR).status == "ok"
    assert backend.order[-11:] == [1] * 9 + [0, 0]


@pytest.mark.parametrize(
    ("fault", "primary_only", "when"),
    [
        ("keeps the first", False, "after timing, in call 1 on another source"),
        ("writes once", False, "after timing, in call 1 on another source"),
        ("wrong later", False, "as timing left it"),
        # Only the first trial has the source with another answer.
        ("keeps the first", True, ""),
        ("writes once", True, "after timing: "),
        ("wrong later", True, "as timing left it"),
    ],
)
def test_what_timing_leaves_behind_is_verified(
    monkeypatch: pytest.MonkeyPatch, fault: str, primary_only: bool, when: str
) -> None:
    monkeypatch.setenv(ENVIRONMENT, json.dumps({"max": fault}))
    record = measurer(FakeClock()).measure(CASE, primary_clock(4) if primary_only else FOUR)
    assert record.status == ("wrong" if when else "ok")
    assert record.reason.startswith(when)

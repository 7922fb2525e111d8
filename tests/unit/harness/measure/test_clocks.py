"""The clocks, on a device whose true seconds a call are known."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.base import Gate, Prepared
from harness.measure.budget import Budget
from harness.measure.clocks import (
    ATTEMPTS,
    FIXED_COST,
    GRACE,
    HOST_BOUND,
    INTERRUPTED,
    SLACK,
    Queue,
    event_seconds,
    grow,
    lead,
    most_calls,
    queue_seconds,
    round_trip_seconds,
    slope,
)
from harness.measure.interruption import MOST_IN_A_CLOCK
from tests.support.fake_backend import FakeBackend, FakeClock, rotation_on


def longer(calls: int) -> int:
    """The calls of a sample's longer batch."""
    return lead(calls) + calls


def test_slope_drops_what_is_paid_once() -> None:
    assert slope(100.0 + 7 * 3, 100.0 + 14 * 3, 7) == 3.0


@pytest.mark.parametrize(
    ("per_call", "limit", "expected"),
    [(1.0, 100, 1), (1e-3, 100, 2), (1e-4, 100, 32), (1e-9, 100, 100), (1e-9, 1, 1)],
)
def test_grow_stops_when_the_span_is_long_or_the_limit_is_reached(
    per_call: float, limit: int, expected: int
) -> None:
    assert grow(lambda n: n * per_call, limit, enough=2e-3) == expected


@pytest.mark.parametrize(("first", "expected"), [(0, 32), (5, 20), (20, 20), (30, 30), (1000, 100)])
def test_grow_starts_where_it_is_told(first: int, expected: int) -> None:
    assert grow(lambda n: n * 1e-4, 100, enough=2e-3, first=first) == expected


def test_grow_does_not_believe_one_hiccup() -> None:
    spans = iter([9.0, 1e-6, 1e-6, 3e-3, 3e-3])
    assert grow(lambda _: next(spans), 100) == 4


@given(st.integers(0, 5000))
def test_the_most_calls_of_a_sample_fit_and_hardly_more_would(held: int) -> None:
    calls = most_calls(held)
    assert calls == 0 or 1 <= lead(calls) <= calls
    assert longer(calls) <= held < longer(calls + 2)


@pytest.mark.parametrize(("calls", "few"), [(1, 1), (9, 9), (16, 16), (40, 16), (64, 16), (143, 35)])
def test_a_lead_is_short_but_where_there_are_few_calls(calls: int, few: int) -> None:
    assert lead(calls) == few


@pytest.mark.parametrize("fixed", [0.0, 30e-6, 5e-3])
@pytest.mark.parametrize("call", [1.5e-6, 20e-6, 3e-3, 40e-3])
def test_the_queue_recovers_the_true_seconds_whatever_the_fixed_cost(call: float, fixed: float) -> None:
    backend = FakeBackend(FakeClock(call=call, fixed=fixed, enqueue=5e-6))
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=5), backend.clock.time)
    assert clock.seconds == pytest.approx([call] * 5, rel=1e-6)
    assert clock.note == ""
    assert clock.calls * call >= 2e-3 or longer(clock.calls) == backend.max_gated_launches


def test_a_library_that_outwaits_the_gate_is_measured_without_and_marked() -> None:
    backend = FakeBackend(FakeClock(call=3e-3, fixed=1e-4, enqueue=1e-6), synchronous=True)
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=5), backend.clock.time)
    assert clock.seconds == pytest.approx([3e-3] * 5, rel=1e-2)
    assert HOST_BOUND in clock.note
    assert backend.gates == ATTEMPTS


def test_enqueueing_that_takes_longer_than_assumed_gets_a_gate_that_holds_for_longer() -> None:
    backend = FakeBackend(FakeClock(call=1e-6, fixed=1e-5, enqueue=1e-3))
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=3, seconds=100), backend.clock.time)
    assert clock.seconds == pytest.approx([1e-6] * 3, rel=1e-6)
    assert (clock.note, longer(clock.calls)) == ("", backend.max_gated_launches)
    # Unheld, behind a gate too short, and twice as the warm-up begins: no other gate was too short.
    assert backend.batches[:6] == [1, 1, 1, 1, 2, 4]


def test_a_hiccup_while_a_call_is_enqueued_makes_no_later_cases_gate_longer() -> None:
    backend = FakeBackend(FakeClock(call=1e-6, fixed=1e-5, enqueue=50e-3))
    known = backend.enqueue_seconds
    Queue(backend, rotation_on(backend), backend.clock.time).batch(1)
    assert backend.enqueue_seconds == known
    backend.clock.enqueue = 4e-6
    later = Queue(backend, rotation_on(backend), backend.clock.time)
    for _ in range(20):
        later.batch(100)
    assert backend.enqueue_seconds == pytest.approx(4e-6), "what many calls took is known to the next case"


def test_a_gate_holds_no_longer_than_it_must() -> None:
    backend = FakeBackend(FakeClock(call=1e-6, fixed=1e-5, enqueue=4e-6))
    held: list[float] = []
    real = backend.gate

    def gate(prepared: Prepared, seconds: float) -> Gate | None:
        held.append(seconds)
        return real(prepared, seconds)

    backend.gate = gate  # type: ignore[method-assign]
    queue_seconds(backend, rotation_on(backend), Budget(samples=3), backend.clock.time)
    assert held[-1] == pytest.approx(GRACE + SLACK * 800 * 4e-6, rel=0.01)


@pytest.mark.parametrize(("fitting", "longest"), [(799, 400), (390, 255), (10, 8)])
def test_a_queue_shorter_than_assumed_gets_shorter_batches(fitting: int, longest: int) -> None:
    backend = FakeBackend(FakeClock(call=1e-6, fixed=1e-4, enqueue=1e-6), fitting=fitting)
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=5), backend.clock.time)
    assert clock.seconds == pytest.approx([1e-6] * 5, rel=1e-6)
    assert clock.note == ""
    assert longer(clock.calls) == longest


def test_a_launch_that_takes_more_of_the_queue_gets_shorter_batches() -> None:
    backend = FakeBackend(FakeClock(call=1e-9), launches=2)
    rotation = rotation_on(backend)
    rotation.prepared.commands_per_launch = 4
    queue_seconds(backend, rotation, Budget(samples=3), backend.clock.time)
    assert max(backend.batches) * 2 * 4 == backend.max_gated_launches


def test_what_a_queue_turned_out_to_hold_is_remembered() -> None:
    backend = FakeBackend(FakeClock(call=1e-6, fixed=1e-4, enqueue=1e-6), fitting=390)
    budget = Budget(samples=3)
    queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    assert (backend.max_gated_launches, FakeBackend.max_gated_launches) == (256, 800)
    backend.batches.clear()
    queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    assert 250 < max(backend.batches) <= 256


def test_a_call_that_waits_now_and_then_shortens_no_other_cases_batches() -> None:
    backend = FakeBackend(FakeClock(call=1e-6, fixed=1e-4, enqueue=1e-6), fitting=10)
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=3), backend.clock.time)
    assert 2 * clock.calls == 8
    assert backend.max_gated_launches == FakeBackend.max_gated_launches


def test_the_number_of_calls_is_estimated_and_not_searched() -> None:
    backend = FakeBackend(FakeClock(call=20e-6, fixed=10e-6, enqueue=0.0))
    clock = queue_seconds(
        backend, rotation_on(backend), Budget(samples=3, warm_up=0.05, width=0.0), backend.clock.time
    )
    # After the warm-up, whose batches double, two looks at the lead and N more, and three samples of them.
    few, more = lead(clock.calls), longer(clock.calls)
    assert backend.batches[-10:] == [more, few] * 2 + [few, more] * 3
    assert backend.batches[-11] > clock.calls
    assert 2e-3 <= clock.calls * 20e-6 < 3e-3


def test_a_slow_call_is_its_own_sample() -> None:
    backend = FakeBackend(FakeClock(call=0.1, fixed=30e-6))
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=4, seconds=100), backend.clock.time)
    assert clock.calls == 1
    assert clock.seconds == pytest.approx([0.1 + 30e-6] * 4)
    assert set(backend.batches) == {1}


def test_one_hiccup_does_not_make_a_call_slow() -> None:
    backend = FakeBackend(FakeClock(call=5e-6, jitter=[0.0, 0.2]))
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=3), backend.clock.time)
    assert clock.seconds == pytest.approx([5e-6] * 3, rel=1e-6)


@pytest.mark.parametrize("launches", [1, 3, 100])
def test_never_more_launches_behind_the_gate_than_fit(launches: int) -> None:
    backend = FakeBackend(FakeClock(call=1e-9), launches=launches)
    queue_seconds(backend, rotation_on(backend), Budget(samples=3), backend.clock.time)
    assert max(backend.batches) * launches <= backend.max_gated_launches


def test_a_library_that_does_not_tell_its_launches_is_taken_for_four_a_call() -> None:
    backend = FakeBackend(FakeClock(call=1e-9), launches=0)
    queue_seconds(backend, rotation_on(backend), Budget(samples=3), backend.clock.time)
    assert max(backend.batches) * 4 == backend.max_gated_launches


def test_without_a_gate_the_host_shows_and_the_clock_says_so() -> None:
    backend = FakeBackend(FakeClock(call=2e-6, enqueue=5e-6), gated=False)
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=3), backend.clock.time)
    assert clock.note == HOST_BOUND
    assert clock.seconds == pytest.approx([5e-6] * 3, rel=1e-6)


def test_a_call_of_more_launches_than_fit_behind_the_gate_is_host_bound() -> None:
    backend = FakeBackend(FakeClock(), launches=1000)
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=3), backend.clock.time)
    assert clock.note == HOST_BOUND
    assert clock.seconds == pytest.approx([20e-6] * 3, rel=1e-6)


def test_a_slope_that_is_not_positive_is_measured_again_over_more_calls() -> None:
    backend = FakeBackend(FakeClock(call=60e-6, fixed=0))
    budget = Budget(samples=4, seconds=100)
    undisturbed = queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    batches = len(backend.batches)
    # The same run again, with a hiccup in the shorter batch of the first sample, which is the eighth last.
    backend = FakeBackend(FakeClock(call=60e-6, fixed=0))
    backend.clock.jitter = [0.0] * (batches - 8) + [1.0]
    again = queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    assert len(backend.batches) == batches + 2
    assert again.seconds == pytest.approx(undisturbed.seconds)
    assert (again.calls, again.note) == (2 * undisturbed.calls, "")


def test_a_slope_that_cannot_span_more_is_dropped_and_the_clock_says_so() -> None:
    backend = FakeBackend(FakeClock(call=1e-6, fixed=0))
    budget = Budget(samples=4, seconds=100)
    undisturbed = queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    batches = len(backend.batches)
    backend = FakeBackend(FakeClock(call=1e-6, fixed=0))
    backend.clock.jitter = [0.0] * (batches - 8) + [1.0]
    again = queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    assert len(backend.batches) == batches + 2
    assert again.seconds == pytest.approx(undisturbed.seconds)
    assert again.note == "1 of 5 slopes were not positive and were dropped"


def test_a_clock_that_ends_as_slopes_were_dropped_says_so() -> None:
    backend, budget = FakeBackend(FakeClock(call=1e-6, fixed=0)), Budget(samples=4, seconds=100, least=2)
    undisturbed = queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    assert undisturbed.stopped == "samples"
    batches = len(backend.batches)
    backend = FakeBackend(FakeClock(call=1e-6, fixed=0))
    # All is well but for the last sample, the shorter batch of which takes a second, however often.
    backend.clock.jitter = [0.0] * (batches - 2) + [1.0, 0.0] * 99
    ended = queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    assert (len(ended.seconds), ended.stopped) == (3, "dropped")


def test_a_sample_far_from_what_is_expected_is_none_where_the_others_were_dropped() -> None:
    backend = FakeBackend(FakeClock(call=1e-6, fixed=0))
    # Half of the true time, and then none but slopes that were interrupted.
    backend.clock.jitter = [0.0] * 2 + [16e-6] + [0.0] + [1.0, 0.0] * (MOST_IN_A_CLOCK + 3)
    budget = Budget(samples=1, seconds=1e-9, least=1, warm_up=1e-9, calls=32, expected=1e-6)
    clock = queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    assert (clock.note, clock.anew) == (f"{INTERRUPTED}; {FIXED_COST}", MOST_IN_A_CLOCK)
    assert min(clock.seconds) == pytest.approx(1e-6)


def test_where_no_slope_is_positive_the_samples_hold_the_fixed_cost_and_say_so() -> None:
    backend = FakeBackend(FakeClock(call=0.0, fixed=30e-6))
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=4), backend.clock.time)
    assert clock.note == FIXED_COST
    assert clock.seconds == pytest.approx([30e-6 / backend.max_gated_launches] * 4)


def test_the_budget_of_time_ends_sampling_but_not_before_the_least() -> None:
    backend = FakeBackend(FakeClock(call=40e-3))
    rotation = rotation_on(backend)
    assert len(queue_seconds(backend, rotation, Budget(50, 1e-3, least=3), backend.clock.time).seconds) == 3
    assert 5 < len(queue_seconds(backend, rotation, Budget(50, 1.0), backend.clock.time).seconds) < 12


@pytest.mark.parametrize("wrong", [{"samples": 0}, {"seconds": 0.0}, {"least": 0}, {"seconds": float("nan")}])
def test_a_budget_for_nothing_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Budget(**wrong)  # type: ignore[arg-type]


def test_an_error_behind_the_gate_opens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = FakeBackend(FakeClock())
    rotation = rotation_on(backend)
    opened: list[bool] = []
    real = backend.gate

    def gate(prepared: Prepared, seconds: float) -> Gate:
        inner = real(prepared, seconds)
        assert inner is not None
        return Gate(open=_both(inner.open, lambda: opened.append(True)))

    monkeypatch.setattr(backend, "gate", gate)
    queue = Queue(backend, rotation, backend.clock.time)
    monkeypatch.setattr(rotation.prepared, "enqueue", lambda _: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        queue.batch(1)
    assert opened == [True]
    assert gc.isenabled()
    backend.synchronize()


@pytest.mark.parametrize("late", [0.0, 5e-6, 80e-6])
def test_a_gate_that_opens_by_the_clock_counts_from_then_even_if_the_host_wakes_up_late(
    monkeypatch: pytest.MonkeyPatch, late: float
) -> None:
    backend = FakeBackend(FakeClock(call=1e-6))
    clock = backend.clock
    real = backend.gate

    def gate(prepared: Prepared, seconds: float) -> Gate:
        inner = real(prepared, seconds)
        assert inner is not None
        opens = clock.time() + seconds

        def submit() -> None:
            inner.submit()
            inner.open()
            clock.wait(clock.time() + late)

        return Gate(submit, opens=opens)

    monkeypatch.setattr(backend, "gate", gate)
    queue = Queue(backend, rotation_on(backend), clock.time)
    assert queue.batch(100) == pytest.approx(100e-6 + clock.fixed)


def _both(first: Callable[[], None], second: Callable[[], None]) -> Callable[[], None]:
    def both() -> None:
        first()
        second()

    return both


def test_no_garbage_is_collected_while_calls_are_enqueued(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = FakeBackend(FakeClock())
    rotation = rotation_on(backend)
    seen: list[bool] = []
    queue = Queue(backend, rotation, backend.clock.time)
    monkeypatch.setattr(rotation.prepared, "enqueue", lambda _: seen.append(gc.isenabled()))
    queue.batch(3)
    assert seen == [False] * 3
    assert gc.isenabled()


def test_the_first_call_is_not_behind_the_gate() -> None:
    """CUDA loads a kernel's code at its first launch, and that waits for the device."""
    backend = FakeBackend(FakeClock())
    Queue(backend, rotation_on(backend), backend.clock.time)
    assert backend.batches == [1]
    assert not backend.gates


def test_round_trip_is_all_that_a_caller_waits() -> None:
    backend = FakeBackend(FakeClock(call=20e-6, enqueue=5e-6, fixed=30e-6))
    clock = round_trip_seconds(backend, rotation_on(backend), Budget(samples=3), backend.clock.time)
    assert clock.seconds == pytest.approx([55e-6] * 3)


def test_event_is_the_backends_own_timer_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = FakeBackend(FakeClock(call=20e-6))
    rotation = rotation_on(backend)
    clock = event_seconds(rotation, Budget(samples=3), backend.clock.time)
    assert clock is not None
    assert clock.seconds == (20e-6,) * 3
    monkeypatch.setattr(rotation.prepared, "event_seconds", lambda _: None)
    assert event_seconds(rotation, Budget(), backend.clock.time) is None
    monkeypatch.setattr(rotation.prepared, "event_seconds", lambda _: 0.0)
    assert event_seconds(rotation, Budget(), backend.clock.time) is None, "a coarse timer's zero is no time"

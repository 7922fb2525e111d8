"""Samples of the queue's clock in which the host was interrupted, and gates that it submitted too slowly."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.base import Gate, Prepared
from harness.measure.budget import Budget
from harness.measure.clocks import ATTEMPTS, INTERRUPTED, UNSURE, Queue, lead, queue_seconds, slope
from harness.measure.interruption import MOST_IN_A_CLOCK, is_interrupted
from tests.support.fake_backend import FakeBackend, FakeClock, rotation_on


@pytest.mark.parametrize("batch", [0, 1], ids=["the shorter batch", "the longer batch"])
@pytest.mark.parametrize("sample", [1, 2])
def test_a_sample_in_which_the_host_was_interrupted_is_taken_anew(sample: int, batch: int) -> None:
    backend, budget = FakeBackend(FakeClock(call=20e-6)), Budget(samples=3, seconds=100)
    queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    batches = len(backend.batches)
    backend = FakeBackend(FakeClock(call=20e-6))
    backend.clock.jitter = [0.0] * (batches - 6 + 2 * sample + batch) + [1.5e-3]
    clock = queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    assert clock.seconds == pytest.approx([20e-6] * 3)
    assert (clock.note, clock.anew, len(backend.batches)) == ("", 1, batches + 2)


def test_the_first_sample_of_a_device_is_taken_anew_where_it_is_impossible() -> None:
    """Without samples before it nothing tells what a batch costs once, but it costs something."""
    budget = Budget(samples=1, seconds=1e-9, least=1, warm_up=1e-9, calls=100)
    backend = FakeBackend(FakeClock(call=20e-6))
    backend.clock.jitter = [0.0] * 3 + [1.5e-3]
    clock = queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    assert clock.seconds == pytest.approx([20e-6])
    assert backend.once_seconds == pytest.approx([30e-6]), "the impossible is not remembered"


def test_a_host_that_is_always_interrupted_is_believed_in_the_end_and_the_clock_says_so() -> None:
    budget = Budget(samples=1, seconds=1e-9, least=1, warm_up=1e-9, calls=100)
    backend = FakeBackend(FakeClock(call=20e-6))
    backend.clock.jitter = [0.0] * 2 + [0.0, 1.5e-3] * 20
    clock = queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    assert clock.seconds == pytest.approx([20e-6 + 1.5e-3 / 100])
    assert (clock.note, clock.anew) == (INTERRUPTED, MOST_IN_A_CLOCK)
    assert len(backend.batches) == 2 + 2 * (MOST_IN_A_CLOCK + 1)


def test_what_a_batch_costs_once_may_change_for_good() -> None:
    budget = Budget(samples=1, seconds=1e-9, least=1, warm_up=1e-9, calls=100)
    backend = FakeBackend(FakeClock(call=20e-6))
    queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
    backend.clock.fixed = 5e-3
    for note in (INTERRUPTED, ""):
        clock = queue_seconds(backend, rotation_on(backend), budget, backend.clock.time)
        assert clock.seconds == pytest.approx((20e-6,))
        assert clock.note == note
    assert backend.once_seconds == pytest.approx((5e-3,) * 2)


@given(
    call=st.floats(1e-6, 1e-2),
    once=st.floats(0, 1e-3),
    usual=st.lists(st.floats(0, 1e-3), max_size=12),
    calls=st.integers(1, 600),
)
def test_what_an_undisturbed_sample_costs_once_is_plausible(
    call: float, once: float, usual: list[float], calls: int
) -> None:
    few = lead(calls)
    t_few, t_more = few * call + once, (few + calls) * call + once
    found = t_few - few * slope(t_few, t_more, calls)
    differs_much = bool(usual) and once - min(usual) > 0.2 * calls * call
    assert differs_much or not is_interrupted(found, t_more - t_few, few / calls, usual)


@given(delay=st.floats(0, 3), call=st.floats(1e-6, 1e-2), calls=st.integers(1, 600), longer=st.booleans())
def test_a_batch_that_was_seen_to_end_late_is_told_where_the_slope_is_far_wrong(
    delay: float, call: float, calls: int, longer: bool
) -> None:
    """``delay``: as a part of what the calls between the two batches take."""
    once, few, late = 20e-6, lead(calls), delay * calls * call
    t_few = few * call + once + (0 if longer else late)
    t_more = (few + calls) * call + once + (late if longer else 0)
    found = t_few - few * slope(t_few, t_more, calls)
    # A slope that is a fifth of itself too large is a quarter too large; and no cost is negative before what
    # a batch costs once is made up for.
    far = 1 / 4 + 5 / 4 * once / (few * call) if longer else 1 / 6
    if abs(delay / far - 1) > 1e-6:
        assert is_interrupted(found, t_more - t_few, few / calls, [once]) == (delay > far)


def test_a_gate_whose_opening_is_not_known_well_is_shut_anew() -> None:
    backend = FakeBackend(FakeClock())
    doubtful: list[float] = []
    real = backend.gate

    def gate(prepared: Prepared, seconds: float) -> Gate:
        inner = real(prepared, seconds)
        assert inner is not None
        return replace(inner, unsure=doubtful.pop() if doubtful else UNSURE / 2)

    backend.gate = gate  # type: ignore[method-assign]
    queue = Queue(backend, rotation_on(backend), backend.clock.time)
    for count, gates in ((0, 1), (2, 3), (99, ATTEMPTS)):
        doubtful[:] = [2 * UNSURE] * count
        before = backend.gates
        assert queue.batch(4) == pytest.approx(30e-6 + 4 * 20e-6)
        assert backend.gates - before == gates


def test_where_gates_always_take_long_each_is_taken() -> None:
    backend = FakeBackend(FakeClock())
    real = backend.gate
    backend.gate = lambda *given: replace(real(*given) or Gate(), unsure=9 * UNSURE)  # type: ignore[method-assign]
    queue = Queue(backend, rotation_on(backend), backend.clock.time)
    for batch in range(3):
        assert queue.batch(4) == pytest.approx(30e-6 + 4 * 20e-6)
        assert backend.gates == batch + 1

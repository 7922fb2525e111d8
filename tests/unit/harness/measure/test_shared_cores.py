"""The clock of a queue on a processor whose cores others use, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.measure import clocks
from harness.measure.budget import Budget
from harness.measure.clocks import (
    HOST_BOUND,
    NO_CORE,
    Queue,
    queue_seconds,
)
from tests.support.fake_backend import FakeBackend, FakeClock, rotation_on


def on_a_shared_processor(
    monkeypatch: pytest.MonkeyPatch, is_taken: Callable[[int], bool], gated: bool = False
) -> FakeBackend:
    """A processor whose core others have for a millisecond in some of the batches."""
    backend = FakeBackend(FakeClock(call=1e-12, enqueue=5e-6, fixed=0.0), gated)
    backend.device = replace(backend.device, kind="cpu")
    lost, number, synchronize = 0.0, 0, backend.synchronize

    def interrupted() -> None:
        nonlocal lost, number
        number += 1
        if is_taken(number):
            lost += 1e-3
            backend.clock.now += 1e-3
        synchronize()

    monkeypatch.setattr(backend, "synchronize", interrupted)
    monkeypatch.setattr(clocks, "seconds_without_core", lambda: lost)
    return backend


def test_a_batch_is_measured_again_where_others_had_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = on_a_shared_processor(monkeypatch, lambda number: number % 3 > 0)
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=9), backend.clock.time)
    assert clock.note == HOST_BOUND
    assert clock.seconds == pytest.approx([5e-6] * len(clock.seconds), rel=1e-6)


@pytest.mark.parametrize("works_alone", [True, False])
def test_where_others_often_have_the_core_the_wait_is_taken_off_of_what_works_alone(
    monkeypatch: pytest.MonkeyPatch, works_alone: bool
) -> None:
    # Batches of 100 and 200 calls, of which those of 200 always wait.
    computed, before = 0.0, 0
    backend = on_a_shared_processor(monkeypatch, lambda _: len(backend.order) - before > 100)

    def of_other_threads() -> float:
        nonlocal computed, before
        before = len(backend.order)
        computed += not works_alone
        return computed

    monkeypatch.setattr(clocks, "seconds_of_other_threads", of_other_threads)
    queue = Queue(backend, rotation_on(backend), backend.clock.time)
    queue.batch(1)
    taken = 5e-6 if works_alone else 5e-6 + 1e-3 / 100
    assert queue.sample(100)[0] == pytest.approx(taken, rel=1e-6)


def test_a_core_that_others_always_have_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = on_a_shared_processor(monkeypatch, lambda _: True)
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=3), backend.clock.time)
    assert clock.note == f"{HOST_BOUND}; {NO_CORE}"
    assert clock.seconds == pytest.approx([5e-6] * len(clock.seconds), rel=1e-6)


def test_what_other_threads_work_off_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have a core while this one, which only waits for them, has none."""
    backend = on_a_shared_processor(monkeypatch, lambda _: True, gated=True)
    clock = queue_seconds(backend, rotation_on(backend), Budget(samples=3), backend.clock.time)
    assert NO_CORE not in clock.note

"""The sources of a case take turns, over all clocks."""

from __future__ import annotations

import pytest

from harness.measure.budget import Budget
from harness.measure.clocks import event_seconds, queue_seconds, round_trip_seconds
from harness.measure.rotation import Rotation
from tests.support.fake_backend import FakeBackend, FakeClock, rotation_on


def test_sources_take_turns_across_batches() -> None:
    backend = FakeBackend(FakeClock(call=40e-3))
    queue_seconds(backend, rotation_on(backend, sources=5), Budget(samples=3), backend.clock.time)
    assert backend.order == [i % 5 for i in range(len(backend.order))]


def test_sources_take_turns_across_clocks() -> None:
    """Had each clock an order of its own, it would begin with sources that are still in the cache."""
    backend = FakeBackend(FakeClock(call=40e-3))
    rotation, budget = rotation_on(backend, sources=5), Budget(samples=3)
    for clock in (round_trip_seconds, queue_seconds, round_trip_seconds):
        clock(backend, rotation, budget, backend.clock.time)
        event_seconds(rotation, budget, backend.clock.time)
    assert len(backend.order) > 20
    assert backend.order == [i % 5 for i in range(len(backend.order))]


def test_the_profiler_takes_turns_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rotation = rotation_on(FakeBackend(FakeClock()), sources=3)
    asked: list[list[int]] = []
    monkeypatch.setattr(rotation.prepared, "kernel_times", asked.append)
    rotation.enqueue()
    rotation.kernel_times(3)
    rotation.kernel_times(1)
    assert asked == [[1, 2, 0, 1], [2, 0]]


def test_turns_on_no_source_are_refused() -> None:
    with pytest.raises(ValueError, match="sources 0"):
        Rotation(rotation_on(FakeBackend(FakeClock())).prepared, 0)

"""What clocks add to the work, measured on empty kernels, and the profiler's clock."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from backends.base import Prepared
from harness.devices import DeviceArray, KernelTimes, Launch
from harness.measure.budget import Budget, every_clock
from harness.measure.empty_kernel import kernel_seconds, launch_clocks
from harness.measure.measurer import Measurer
from harness.problems import Empty, Problem, Reduction
from harness.results.record import Case, Samples
from harness.variants.axes import LibraryVariant, Variant
from tests.support.fake_backend import FakeBackend, FakeClock, FakePrepared, rotation_on

PROBLEM = Reduction("max", "int32", (1000,))
SEEN = (Launch("a", (4,), (64,)), Launch("b", (1,), (64,)))


def test_the_empty_kernel_is_timed_by_every_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = FakeBackend(FakeClock(call=1.0, empty=1.5e-6))
    launches = rotation_on(backend).launches
    seen = KernelTimes((1e-6, 1e-6), SEEN[:1])
    monkeypatch.setattr(FakePrepared, "kernel_times", lambda *_: seen)
    found = launch_clocks(backend, launches, Budget(samples=3), backend.clock.time)
    assert set(found) == {"launch", "launch_event", "launch_kernel"}
    assert found["launch"].seconds == pytest.approx([1.5e-6] * 3, rel=1e-6)
    assert found["launch_event"].seconds == (1.5e-6,) * 3
    assert found["launch_kernel"] == Samples((1e-6, 1e-6), 1, "1 kernel a call")


def test_the_empty_kernel_has_the_geometry_of_every_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = FakeBackend(FakeClock(empty=1.5e-6))
    asked: list[Problem] = []
    prepare = backend.prepare

    def noted(problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        asked.append(problem)
        return prepare(problem, variant, sources)

    monkeypatch.setattr(backend, "prepare", noted)
    launches = (Launch("a", (132,), (512,)), Launch("b", (7, 3), (32, 8)))
    assert launch_clocks(backend, launches, Budget(samples=3), backend.clock.time)
    assert asked == [Empty((((132,), (512,)), ((7, 3), (32, 8))))]


def test_there_is_no_bias_where_launches_are_unknown_or_no_empty_kernel_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = FakeBackend(FakeClock())
    launches = rotation_on(backend).launches
    assert launch_clocks(backend, (), Budget(), backend.clock.time) == {}
    monkeypatch.setattr(backend, "unsupported", lambda *_: "no empty kernel")
    assert launch_clocks(backend, launches, Budget(), backend.clock.time) == {}


@pytest.mark.parametrize(("call", "expected"), [(1e-6, 15), (0.1, 10), (5.0, 3)])
def test_the_profiler_gets_as_many_calls_as_the_budget_holds(
    monkeypatch: pytest.MonkeyPatch, call: float, expected: int
) -> None:
    asked: list[list[int]] = []
    rotation = rotation_on(FakeBackend(FakeClock()))
    monkeypatch.setattr(rotation.prepared, "kernel_times", asked.append)
    assert kernel_seconds(rotation, Samples((call,)), Budget(15, 1.0, least=3)) == (None, None)
    # One more, which does not count.
    assert [len(sources) for sources in asked] == [expected + 1]


def test_the_kernel_clock_says_how_many_kernels_a_call_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    rotation = rotation_on(FakeBackend(FakeClock()))
    seen = KernelTimes((1e-6, 2e-6), SEEN, 1)
    monkeypatch.setattr(rotation.prepared, "kernel_times", lambda _: seen)
    clock, times = kernel_seconds(rotation, None, Budget())
    assert clock == Samples((1e-6, 2e-6), 1, "2 kernels a call; 1 copy or fill not counted")
    assert times is seen


def test_a_record_tells_of_kernels_and_contradictions(monkeypatch: pytest.MonkeyPatch) -> None:
    empty, seen = KernelTimes((1e-6,) * 3, SEEN), KernelTimes((90e-6,) * 3, SEEN)
    monkeypatch.setattr(
        FakePrepared, "kernel_times", lambda self, _: seen if self.problem == PROBLEM else empty
    )
    backend = FakeBackend(FakeClock(call=20e-6))
    record = Measurer(backend, backend.clock.time).measure(
        Case("fake", 0, PROBLEM, LibraryVariant()), every_clock(3)
    )
    assert record.status == "ok"
    assert record.clocks["kernel"].seconds == (90e-6,) * 3
    assert "by the kernel clock" in record.provenance["disagreement"]
    assert [kernel["kernel"] for kernel in record.provenance["kernels"]] == ["a", "b"]


def test_a_profiler_that_fails_costs_only_its_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakePrepared, "kernel_times", lambda *_: KernelTimes(note="no privileges"))
    backend = FakeBackend(FakeClock())
    record = Measurer(backend, backend.clock.time).measure(
        Case("fake", 0, PROBLEM, LibraryVariant()), every_clock(3)
    )
    assert record.status == "ok"
    assert "kernel" not in record.clocks
    assert record.provenance["no_kernel_clock"] == "no privileges"
    assert record.provenance["disagreement"] == ""

"""What a worker does of a case before it is measured, and what a lost device ends."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from backends.errors import DeviceLost
from harness.measure.budget import plain
from harness.measure.inputs import KEPT_SHARE, Inputs
from harness.measure.measurer import Measurer
from harness.problems import Problem, Reduction
from harness.problems.base import Array
from harness.results.record import Case
from harness.runner.worker_main import respond
from harness.variants.axes import LibraryVariant
from tests.support.fake_backend import ENVIRONMENT, FakeBackend, FakeClock
from tests.support.measuring import CASE, FOUR, measurer


@pytest.mark.parametrize("case", [CASE, replace(CASE, cache="cold")], ids=["hot", "cold"])
def test_prepared_is_what_a_case_needs_once(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    make = Reduction.make_source

    def noted(problem: Reduction, seed: int) -> Array:
        made.append(seed)
        return make(problem, seed)

    monkeypatch.setattr(Reduction, "make_source", noted)
    backend = FakeBackend(FakeClock())
    ready = Measurer(backend, backend.clock.time, seed=5)
    ready.prepare(case)
    assert made == [5]
    assert backend.order == [0], "one call on one source"
    assert ready.measure(case, FOUR).status == "ok"
    assert made == [5]


def test_what_only_the_primary_clock_takes_needs_no_other_source(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Problem] = []
    monkeypatch.setattr(Inputs, "unlike", lambda _, problem: asked.append(problem))
    for primary_only in (True, False):
        measurer(FakeClock()).prepare(CASE, primary_only)
    assert asked == [CASE.problem]


def test_nothing_is_prepared_for_that_could_not_stay_beside_the_others() -> None:
    backend = FakeBackend(FakeClock())
    elements = int(KEPT_SHARE * backend.device.memory_bytes) + 1
    Measurer(backend).prepare(Case("fake", 0, Reduction("max", "int8", (elements,)), LibraryVariant()))
    assert not backend.order


@pytest.mark.parametrize("fault", ["unsupported", "BuildError", "early OutOfDeviceMemory"])
def test_what_cannot_be_prepared_is_left_to_the_measurement(
    monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setenv(ENVIRONMENT, json.dumps({"max": fault}))
    ready = measurer(FakeClock())
    ready.prepare(CASE)
    assert ready.measure(CASE, FOUR).status == ("skipped" if fault == "unsupported" else "failed")


def test_a_device_lost_while_preparing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, json.dumps({"max": "early DeviceLost"}))
    with pytest.raises(DeviceLost):
        measurer(FakeClock()).prepare(CASE)


@pytest.mark.parametrize(("fault", "ends"), [("DeviceLost", True), ("OutOfDeviceMemory", False)])
def test_a_lost_device_ends_its_worker(monkeypatch: pytest.MonkeyPatch, fault: str, ends: bool) -> None:
    monkeypatch.setenv(ENVIRONMENT, json.dumps({"max": fault}))
    request = {"case": CASE.to_json(), "share": plain(FOUR)}
    answer = respond(measurer(FakeClock()), request)
    assert (answer["record"]["status"], answer["last"]) == ("failed", ends)


def test_a_lost_device_is_not_kept_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, json.dumps({"max": "DeviceLost"}))
    with pytest.raises(DeviceLost):
        measurer(FakeClock()).measure(CASE, FOUR)

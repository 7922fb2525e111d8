"""What the workers do at the same time, before one after the other measures a problem."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.results.record import Case
from harness.runner.worker_process import Worker
from tests.support.fake_backend import DIARY
from tests.support.fake_runs import CASES, faults, planned, run

BESIDE = [replace(case, device=device) for case in CASES[:3] for device in range(2)]
"""Min, max and minmax on two devices."""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What workers are told, and when they have answered, by the device's number."""
    seen: list[str] = []
    names: dict[int, int] = {}
    start, tell, answer = Worker.__init__, Worker.tell, Worker.answer

    def started(worker: Worker, backend: str, device: int, *arguments: Any) -> None:
        names[id(worker)] = device
        start(worker, backend, device, *arguments)

    def asked(worker: Worker, request: Mapping[str, Any]) -> None:
        seen.append(f"{next(iter(request))} {names[id(worker)]}")
        tell(worker, request)

    def answered(worker: Worker, limit_s: float) -> dict[str, Any]:
        found = answer(worker, limit_s)
        seen.append(f"answer {names[id(worker)]}")
        return found

    monkeypatch.setattr(Worker, "__init__", started)
    monkeypatch.setattr(Worker, "tell", asked)
    monkeypatch.setattr(Worker, "answer", answered)
    return seen


def test_all_prepare_at_the_same_time_and_measure_one_after_the_other(
    tmp_path: Path, told: list[str]
) -> None:
    found = run(tmp_path, planned(BESIDE, processes=2))
    assert [trial.status for trial in found.trials] == ["ok"] * 12
    opened = ["answer 0", "answer 1"]
    prepared = ["prepare 0", "prepare 1", "answer 0", "answer 1"]
    measured = [["case 0", "answer 0", "case 1", "answer 1"], ["case 1", "answer 1", "case 0", "answer 0"]]
    # Each process anew, as nothing is compiled in it.
    assert told == opened + 3 * (prepared + measured[0]) + opened + 3 * (prepared + measured[1])


def test_further_contexts_find_everything_prepared(tmp_path: Path, told: list[str]) -> None:
    run(tmp_path, planned(BESIDE, contexts={"fake:0": 3, "fake:1": 3}))
    assert sum(each.startswith("prepare") for each in told) == len(BESIDE)


def test_a_device_alone_need_not_prepare(tmp_path: Path, told: list[str]) -> None:
    run(tmp_path)
    assert not any(each.startswith("prepare") for each in told)


def test_each_variant_is_prepared(tmp_path: Path, told: list[str]) -> None:
    another = replace(BESIDE[0], role="control")
    run(tmp_path, planned([BESIDE[0], another, BESIDE[1]]))
    assert told[2:8] == ["prepare 0", "prepare 1", "answer 0", "answer 1", "prepare 0", "answer 0"]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("early kill", "the worker was killed by SIGKILL"),
        ("early hang", "no answer within 3 s"),
        ("early DeviceLost", "DeviceLost: an illegal address"),
        ("early ZeroDivisionError", "ZeroDivisionError: nobody gave this a type"),
    ],
)
def test_what_ends_a_worker_while_it_prepares_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    monkeypatch.setenv(DIARY, str(tmp_path / "diary"))
    faults(monkeypatch, max=fault)
    found = run(tmp_path, planned(BESIDE, limit_s=3.0 if "hang" in fault else 60.0))
    assert [record.status for record in found.records] == ["ok", "ok", "failed", "failed", "ok", "ok"]
    assert {record.reason for record in found.records[2:4]} == {reason}
    # Two workers, and two in their place.
    assert (tmp_path / "diary").read_text() == "opened\n" * 4


def test_what_only_fails_is_left_to_the_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults(monkeypatch, max="BuildError")
    found = run(tmp_path, planned(BESIDE))
    assert [record.status for record in found.records] == ["ok", "ok", "failed", "failed", "ok", "ok"]
    assert found.records[2].reason.startswith("BuildError: the kernel does not compile")


def test_a_device_that_cannot_be_opened_costs_the_others_nothing(tmp_path: Path) -> None:
    found = run(
        tmp_path, planned([case for pair in zip(CASES[:2], _absent(CASES[:2]), strict=True) for case in pair])
    )
    assert [record.status for record in found.records] == ["ok", "failed"] * 2
    assert found.records[1].reason.startswith("vulkan:0 cannot be started, tried 2 times")


def _absent(cases: list[Case]) -> list[Case]:
    return [replace(case, backend="vulkan") for case in cases]


def test_preparing_counts_as_a_cases_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Worker.answer

    def late(worker: Worker, limit_s: float) -> dict[str, Any]:
        found = answer(worker, limit_s)
        if found.get("record", {}).get("reason") == "prepared":
            time.sleep(0.5)
        return found

    monkeypatch.setattr(Worker, "answer", late)
    found = run(tmp_path, planned(BESIDE[:2]))
    # Twice half a second, shared by two.
    assert all(record.provenance["wall_seconds"] > 0.5 for record in found.records)

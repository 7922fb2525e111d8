"""A case in several processes: those that measure every case, and those for what is not settled then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.results.record import Record
from harness.results.run_writer import RunWriter
from harness.results.runfile import load_run
from harness.runner.known import Known
from harness.runner.plan import Request
from harness.runner.run import Progress, run_cases
from harness.runner.worker_process import Worker
from tests.support.fake_backend import DIARY
from tests.support.fake_runs import CASES, FEW, asked, faults, only, planned, run

THREE: dict[str, Any] = {"samples": 9, "case_seconds": 0.1, "processes": 3}


def test_a_case_is_measured_in_several_fresh_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DIARY, str(tmp_path / "diary"))
    told: list[Progress] = []
    found = run(tmp_path, planned(CASES[:2], **THREE), told)
    assert (tmp_path / "diary").read_text() == "opened\n" * 3
    assert [record.case for record in found.records] == CASES[:2]
    assert [(trial.case, trial.process) for trial in found.trials] == [
        (c, p) for p in range(3) for c in CASES[:2]
    ]
    for record in found.records:
        assert {"queue", "round_trip"} <= set(record.clocks)
        for name, clock in record.clocks.items():
            # The clocks beside the primary one are taken in the first process only.
            assert set(clock.blocks) == ({0, 1, 2} if name in ("queue", "launch") else {0})
            # Three each, and two more where these do not agree.
            assert len(clock.seconds) <= 15
            assert clock.stopped
        assert record.provenance["wall_seconds"] > record.provenance["timing_seconds"] > 0
    assert [(step.done, step.total) for step in told] == [(i, 6) for i in range(7)]
    # What is undecided is told from the second round on.
    assert [step.problems for step in told] == [0, 0, 2, 2, 2, 2, 2]
    assert [step.undecided for step in told[2:4]] == [2, 2]


def test_the_workers_of_a_process_end_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[tuple[str, int]] = []
    dismiss, finish = Worker.dismiss, Worker.finish

    def dismissed(worker: Worker) -> None:
        ended.append(("told", id(worker)))
        dismiss(worker)

    def finished(worker: Worker) -> None:
        ended.append(("waited for", id(worker)))
        finish(worker)

    monkeypatch.setattr(Worker, "dismiss", dismissed)
    monkeypatch.setattr(Worker, "finish", finished)
    assert run(tmp_path, planned([CASES[0], replace(CASES[0], device=1)])).records
    told = [who for what, who in ended[:2] if what == "told"]
    assert len(set(told)) == 2
    assert [who for what, who in ended if what == "waited for"] == told


@pytest.mark.parametrize(
    ("fault", "status"), [("kill", "failed"), ("wrong", "wrong"), ("unsupported", "skipped")]
)
def test_what_is_not_right_is_not_tried_in_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, status: str
) -> None:
    faults(monkeypatch, min=fault)
    found = run(tmp_path, planned(FEW, **THREE))
    assert only(found, "min").status == status
    assert sum(trial.case == FEW[0] for trial in found.trials) == 1
    assert len(found.trials) == 3 * len(FEW) - 2


def test_resume_measures_the_processes_that_are_left(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    whole = [(trial.case, trial.process) for trial in run(tmp_path, planned(CASES[:2], **THREE)).trials]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]) + lines[4][:50])
    writer, finished = RunWriter.resume(path)
    with writer:
        assert [(trial.case, trial.process) for trial in finished] == whole[:3]
        run_cases(planned(CASES[:2], **THREE), writer, finished=finished)
    found = load_run(path)
    assert [(trial.case, trial.process) for trial in found.trials] == whole
    assert path.read_bytes().splitlines(keepends=True)[:4] == lines[:4]


def test_resume_does_not_try_again_what_was_not_right(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunWriter(path, {}) as writer:
        writer.write(Record(CASES[0], "failed", "it crashed"))
    writer, finished = RunWriter.resume(path)
    with writer:
        run_cases(planned(CASES[:1], **THREE), writer, finished=finished)
    assert load_run(path).trials == finished


@pytest.mark.parametrize(
    ("processes", "gpu_processes", "contexts", "expected"),
    [(3, 0, {"fake:0": 9}, 3), (3, 1, {"fake:0": 9}, 1), (1, 3, {"fake:0": 9}, 1), (3, 1, {}, 3)],
)
def test_processes_of_a_gpu_are_no_more_than_those_of_any_device(
    processes: int, gpu_processes: int, contexts: dict[str, int], expected: int
) -> None:
    plan = planned(processes=processes, gpu_processes=gpu_processes, contexts=contexts)
    assert (plan.promised, plan.processes) == (expected, expected)


def test_processes_that_are_asked_for_are_those_of_a_gpu_too() -> None:
    plan = planned(processes=3, gpu_processes=1, contexts={"fake:0": 9})
    assert replace(plan, suite=Request(processes=5).applied_to(plan.suite)).promised == 5
    assert replace(plan, suite=Request().applied_to(plan.suite)).promised == 1


def test_who_asks_for_processes_gets_no_further_ones() -> None:
    plan = planned([], **ONCE_AND_MORE)
    of = {asked: replace(plan, suite=Request(processes=asked).applied_to(plan.suite)) for asked in (None, 1)}
    assert {asked: each.processes for asked, each in of.items()} == {None: 3, 1: 1}


ONCE_AND_MORE: dict[str, Any] = {"processes": 1, "further_processes": 2}

SEVERAL_DEVICES = [replace(CASES[0], device=device) for device in range(2)] + CASES[1:2]


def test_further_processes_measure_what_is_not_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DIARY, str(tmp_path / "diary"))
    monkeypatch.setattr(Known, "settled", lambda *_: set(SEVERAL_DEVICES[:2]))
    told: list[Progress] = []
    found = run(tmp_path, planned(SEVERAL_DEVICES, **ONCE_AND_MORE), told)
    assert [(trial.case, trial.process, trial.block) for trial in found.trials] == [
        *((case, 0, 0) for case in SEVERAL_DEVICES),
        (SEVERAL_DEVICES[2], 1, 1),
        (SEVERAL_DEVICES[2], 2, 2),
    ]
    assert (tmp_path / "diary").read_text() == "opened\n" * 4, "no worker without a case"
    # How many cases further processes measure nobody knows before.
    assert {step.total for step in told} == {3}
    assert [step.done for step in told][-1] == 3


def test_further_processes_begin_while_there_is_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Known, "settled", lambda *_: set())
    for name, seconds, blocks in (("none", 1e-6, [0]), ("all", 600.0, [0, 1, 2])):
        (tmp_path / name).mkdir()
        told: list[Progress] = []
        plan = planned(CASES[:1], **ONCE_AND_MORE, further_processes_s=seconds)
        found = run(tmp_path / name, plan, told)
        assert [trial.block for trial in found.trials] == blocks
        assert (max(step.left_s for step in told) > 500) == (name == "all")


def test_a_budget_is_shared_with_further_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Known, "settled", lambda *_: set())
    seconds = []
    for further in (0, 1):
        shares = asked(monkeypatch)
        folder = tmp_path / str(further)
        folder.mkdir()
        run(folder, planned(CASES[:1], processes=1, further_processes=further, budget=6.0))
        seconds.append(2 * shares[0]["queue"].seconds)
    assert seconds[1] < seconds[0] / 2


def test_where_a_device_has_several_contexts_there_are_no_further_processes() -> None:
    assert planned(**THREE, further_processes=4).processes == 7
    assert planned(processes=2, contexts={"fake:0": 3}, further_processes=4).processes == 2

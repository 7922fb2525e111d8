"""The runner with real worker processes on a fake device: whatever one case does, the others are measured."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.measure import Share
from harness.problems import OPS, Laplace, Reduction
from harness.records import Case, Record
from harness.runner import LIMIT_SHARE, Progress, RunOptions, run_cases
from harness.runs import Run, RunWriter, load_run
from harness.schedule import LEAST_S, Known
from harness.shared import Shared
from harness.variants import Plain
from harness.workers import Worker
from tests.fake_backend import DIARY, ENVIRONMENT, FakeBackend

CLASSES = {"fake": f"{FakeBackend.__module__}:{FakeBackend.__name__}"}
CASES = [Case("fake", 0, Reduction(op, "int32", (1000,)), Plain()) for op in OPS]
OPTIONS = RunOptions(samples=3, case_seconds=0.05, limit_s=20, classes=CLASSES)
LAST_OP = list(OPS)[-1]


def run(
    path: Path, cases: list[Case] = CASES, options: RunOptions = OPTIONS, told: list[Progress] | None = None
) -> Run:
    seen = told if told is not None else []
    with RunWriter(path / "run.jsonl", {}) as writer:
        run_cases(cases, writer, options, seen.append)
    return load_run(path / "run.jsonl")


def faults(monkeypatch: pytest.MonkeyPatch, **wanted: str) -> None:
    monkeypatch.setenv(ENVIRONMENT, json.dumps(wanted))


def only(found: Run, op: str) -> Record:
    """The record of one op; all others must be measured and right."""
    assert [record.case for record in found.records] == CASES
    assert all(record.status == "ok" for record in found.records if record.case.problem.op != op)  # type: ignore[attr-defined]
    (record,) = (record for record in found.records if record.case.problem.op == op)  # type: ignore[attr-defined]
    return record


def test_every_case_is_measured_by_every_clock_and_verified(tmp_path: Path) -> None:
    told: list[Progress] = []
    found = run(tmp_path, told=told)
    assert [record.case for record in found.records] == CASES
    for record in found.records:
        assert record.status == "ok"
        assert set(record.clocks) == {"queue", "launch", "launch_event", "round_trip", "event"}
        assert all(seconds > 0 for clock in record.clocks.values() for seconds in clock.seconds)
        assert record.ledger["launches"][0]["kernel"] == "fake"
        assert record.ledger["verified_after"] is True
        assert (record.error, record.tolerance) == (0.0, 0.0)
    assert [(step.done, step.total) for step in told] == [(i, len(CASES)) for i in range(len(CASES) + 1)]
    assert [step.next for step in told] == [*CASES, None]
    assert [step.last for step in told] == [None, *found.records]


@pytest.mark.parametrize(
    ("fault", "status", "reason"),
    [
        ("unsupported", "skipped", "the fake cannot"),
        ("wrong", "wrong", "before timing: result: got"),
        ("wrong later", "wrong", "after timing: result: got"),
        ("writes once", "wrong", "after timing: result: got"),
        ("BuildError", "failed", "BuildError: the kernel does not compile\nerror: expected ';'"),
        ("OutOfDeviceMemory", "failed", "OutOfDeviceMemory: 8 TB do not fit"),
        ("BackendUnavailable", "failed", "BackendUnavailable: install the fake"),
        ("DeviceLost", "failed", "DeviceLost: an illegal address"),
        ("ZeroDivisionError", "failed", "ZeroDivisionError: nobody gave this a type"),
        ("kill", "failed", "the worker was killed by SIGKILL"),
        ("exit", "failed", "the worker ended with exit code 7; its last words:\nthe driver says goodbye"),
    ],
)
@pytest.mark.parametrize("op", ["min", LAST_OP])
def test_a_fault_costs_its_case_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, op: str, fault: str, status: str, reason: str
) -> None:
    faults(monkeypatch, **{op: fault})
    record = only(run(tmp_path), op)
    assert record.status == status
    assert record.reason.startswith(reason)
    assert len(record.reason.splitlines()) < 10
    assert record.clocks == {}


def test_a_hang_is_ended_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults(monkeypatch, max="hang")
    options = RunOptions(samples=3, case_seconds=0.05, limit_s=2, classes=CLASSES)
    record = only(run(tmp_path, options=options), "max")
    assert (record.status, record.reason) == ("failed", "no answer within 2 s")


def test_a_kill_takes_the_workers_children_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults(monkeypatch, max="hang with child")
    monkeypatch.setenv(DIARY, str(tmp_path / "diary"))
    case = Case("fake", 0, Reduction("max", "int32", (10,)), Plain())
    run(tmp_path, [case], RunOptions(limit_s=2, classes=CLASSES))
    _, child = (tmp_path / "diary").read_text().split()
    deadline = time.monotonic() + 10
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(child)


def alive(pid: str) -> bool:
    """Whether a process runs; one that has ended and is not yet fetched by its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_a_library_prints_disturbs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults(monkeypatch, sum="noise")
    assert only(run(tmp_path), "sum").status == "ok"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("BackendUnavailable", "BackendUnavailable: install the fake"),
        ("exit", "the worker ended with exit code 7; its last words:\nthe driver says goodbye"),
        ("ZeroDivisionError", "ZeroDivisionError: nobody gave this a type"),
        ("hang", "no answer within 1 s"),
    ],
)
def test_a_device_that_cannot_be_opened_is_given_up_after_two_tries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    faults(monkeypatch, start=fault)
    monkeypatch.setenv(DIARY, str(tmp_path / "diary"))
    limit = 1.0 if fault == "hang" else 20.0
    found = run(tmp_path, options=RunOptions(start_limit_s=limit, classes=CLASSES))
    assert [record.case for record in found.records] == CASES
    assert {record.status for record in found.records} == {"failed"}
    assert len({record.reason for record in found.records}) == 1
    assert found.records[0].reason.startswith("fake:0 cannot be started, tried 2 times: ")
    assert reason in found.records[0].reason
    assert (tmp_path / "diary").read_text() == "opened\n" * 2


def test_an_unknown_backend_is_explained(tmp_path: Path) -> None:
    case = Case("vulkan", 0, CASES[0].problem, Plain())
    (record,) = run(tmp_path, [case]).records
    assert record.status == "failed"
    assert "backend 'vulkan' is unknown" in record.reason


def test_a_skip_reason_known_beforehand_needs_no_worker(tmp_path: Path) -> None:
    case = Case("vulkan", 0, CASES[0].problem, Plain())
    with RunWriter(tmp_path / "run.jsonl", {}) as writer:
        run_cases([case], writer, OPTIONS, skipped={case: "too large"})
    assert load_run(tmp_path / "run.jsonl").records == [Record(case, "skipped", "too large")]


def test_workers_of_several_devices_live_side_by_side(tmp_path: Path) -> None:
    classes = {"one": CLASSES["fake"], "two": CLASSES["fake"]}
    cases = [Case(name, 0, case.problem, Plain()) for case in CASES for name in classes]
    found = run(tmp_path, cases, RunOptions(samples=3, case_seconds=0.05, classes=classes))
    assert [record.case for record in found.records] == cases
    assert {record.status for record in found.records} == {"ok"}


def test_cold_calls_rotate_over_sources_past_the_cache(tmp_path: Path) -> None:
    cases = [Case("fake", 0, Reduction("min", "int32", (n,)), Plain(), "cold") for n in (500, 10**6)]
    found = run(tmp_path, cases)
    # The fake device has 4 KiB of cache: 16 KiB are passed by 9 sources of 2 000 bytes, or at least by two.
    assert [record.ledger["sources"] for record in found.records] == [9, 2]


def test_one_picture_of_each_output_and_of_the_original(tmp_path: Path) -> None:
    cases = [
        Case("fake", 0, Laplace(mask, "reflect_101", output, "uint8", 300, 280, 3), Plain())
        for output in ("laplacian", "sharpened")
        for mask in ("four", "eight")
    ]
    found = run(tmp_path, [*cases, *CASES])
    assert [image["title"] for image in found.images] == ["original", "laplacian", "sharpened"]
    assert all(
        image["png"].startswith("iVBORw0KGgo") and image["device"] == "fake:0" for image in found.images
    )
    assert found.images[1]["caption"] == cases[0].problem.label
    assert {record.status for record in found.records} == {"ok"}


def test_resume_measures_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(tmp_path, CASES[:2])
    path.write_bytes(path.read_bytes()[:-9])
    writer, finished = RunWriter.resume(path)
    with writer:
        assert [record.case for record in finished] == [CASES[0]]
        run_cases(CASES, writer, OPTIONS, finished=finished)
    assert [record.case for record in load_run(path).records] == CASES


THREE = RunOptions(samples=9, case_seconds=0.1, limit_s=20, processes=3, classes=CLASSES)


def test_a_case_is_measured_in_several_fresh_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DIARY, str(tmp_path / "diary"))
    told: list[Progress] = []
    found = run(tmp_path, CASES[:2], THREE, told)
    assert (tmp_path / "diary").read_text() == "opened\n" * 3
    assert [record.case for record in found.records] == CASES[:2]
    assert [(turn.case, turn.process) for turn in found.turns] == [
        (c, p) for p in range(3) for c in CASES[:2]
    ]
    for record in found.records:
        assert {"queue", "round_trip"} <= set(record.clocks)
        for name, clock in record.clocks.items():
            # The clocks beside the primary one are taken in the first process only.
            assert set(clock.blocks) == ({0, 1, 2} if name in ("queue", "launch") else {0})
            assert len(clock.seconds) <= 9
            assert clock.stopped
        assert record.ledger["wall_seconds"] > record.ledger["timing_seconds"] > 0
    assert [(step.done, step.total) for step in told] == [(i, 6) for i in range(7)]


@pytest.mark.parametrize(
    ("fault", "status"), [("kill", "failed"), ("wrong", "wrong"), ("unsupported", "skipped")]
)
def test_what_is_not_right_is_not_tried_in_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, status: str
) -> None:
    faults(monkeypatch, min=fault)
    found = run(tmp_path, options=THREE)
    assert only(found, "min").status == status
    assert sum(turn.case == CASES[0] for turn in found.turns) == 1
    assert len(found.turns) == 3 * len(CASES) - 2


def test_resume_measures_the_processes_that_are_left(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    whole = [(turn.case, turn.process) for turn in run(tmp_path, CASES[:2], THREE).turns]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]) + lines[4][:50])
    writer, finished = RunWriter.resume(path)
    with writer:
        assert [(turn.case, turn.process) for turn in finished] == whole[:3]
        run_cases(CASES[:2], writer, THREE, finished=finished)
    found = load_run(path)
    assert [(turn.case, turn.process) for turn in found.turns] == whole
    assert path.read_bytes().splitlines(keepends=True)[:4] == lines[:4]


def asked(monkeypatch: pytest.MonkeyPatch) -> list[Share]:
    """The shares that workers are asked for from now on."""
    shares: list[Share] = []
    real = Worker.ask

    def ask(worker: Worker, request: Any, limit_s: float) -> dict[str, Any]:
        shares.extend(Share(**request["share"]) for _ in range("share" in request))
        return real(worker, request, limit_s)

    monkeypatch.setattr(Worker, "ask", ask)
    return shares


TWICE = replace(THREE, processes=2, contexts={"fake:0": 3}, case_seconds=6.0)


@pytest.mark.parametrize("keeps", [False, True], ids=["renewed", "cannot be renewed"])
def test_every_block_has_a_fresh_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps: bool
) -> None:
    monkeypatch.setenv(DIARY, str(tmp_path / "diary"))
    faults(monkeypatch, **({"keeps context": "yes"} if keeps else {}))
    shares = asked(monkeypatch)
    found = run(tmp_path, CASES[:2], TWICE)
    # A context that cannot be given up is left with its process.
    assert (tmp_path / "diary").read_text() == 2 * ("opened\n" + 2 * "forgotten\nopened\n")
    assert [(t.case, t.process, t.block) for t in found.turns] == [
        (c, b // 3, b) for b in range(6) for c in CASES[:2]
    ]
    for record in found.records:
        assert record.status == "ok"
        assert set(record.clocks["queue"].blocks) == set(record.clocks["launch"].blocks) == set(range(6))
        assert set(record.clocks["round_trip"].blocks) == {0}
        assert record.ledger["launches"]
    samples = [share.samples for share in shares]
    assert samples == [5] * 2 + [2] * 10, "nine by two processes in the first block, else by six blocks"


def test_a_block_takes_as_many_calls_a_sample_as_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = asked(monkeypatch)
    first, *_ = run(tmp_path, CASES[:1], TWICE).turns
    found = {name: clock.calls for name, clock in first.clocks.items()}
    assert [share.calls for share in shares] == [{}] + [found] * 5
    seconds = statistics.median(first.clocks["queue"].seconds)
    assert [share.expected.get("queue") for share in shares] == [None] + [seconds] * 5
    assert [share.lean for share in shares] == [False] + [True] * 5


def test_what_is_known_well_enough_is_left_out_of_the_last_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Known, "enough", lambda _, of_block: {CASES[0]} if of_block[0].block == 2 else set())
    told: list[Progress] = []
    found = run(tmp_path, CASES[:2], TWICE, told)
    assert [turn.block for turn in found.turns if turn.case == CASES[0]] == [0, 1, 3, 4, 5]
    assert [turn.block for turn in found.turns if turn.case == CASES[1]] == list(range(6))
    assert [(step.done, step.total) for step in told] == [(i, 12) for i in range(13)]


def test_a_worker_that_dies_renewing_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renew = Worker.renew

    def killed(worker: Worker, limit_s: float) -> None:
        worker._process.kill()
        renew(worker, limit_s)

    monkeypatch.setattr(Worker, "renew", killed)
    found = run(tmp_path, CASES[:1], TWICE)
    assert [turn.status for turn in found.turns] == ["ok"] * 6


def test_resume_goes_on_in_the_block_that_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.jsonl"
    whole = [(turn.case, turn.block) for turn in run(tmp_path, CASES[:2], TWICE).turns]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:6]))
    writer, finished = RunWriter.resume(path)
    shares = asked(monkeypatch)
    with writer:
        run_cases(CASES[:2], writer, TWICE, finished=finished)
    found = load_run(path)
    assert [(turn.case, turn.block) for turn in found.turns] == whole
    firsts = {turn.case: turn for turn in reversed(finished)}
    assert shares[0].calls["queue"] == firsts[CASES[1]].clocks["queue"].calls


def test_resume_does_not_try_again_what_was_not_right(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunWriter(path, {}) as writer:
        writer.write(Record(CASES[0], "failed", "it crashed"))
    writer, finished = RunWriter.resume(path)
    with writer:
        run_cases(CASES[:1], writer, THREE, finished=finished)
    assert load_run(path).turns == finished


def test_a_budget_is_what_the_timing_of_each_case_gets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = asked(monkeypatch)
    found = run(tmp_path, CASES[:2], replace(OPTIONS, budget=0.02))
    assert {record.status for record in found.records} == {"ok"}
    assert [share.seconds for share in shares] == [LEAST_S] * 2
    shares.clear()
    run(tmp_path / "long", CASES[:2], replace(OPTIONS, budget=9.0))
    assert 2 < shares[0].seconds < 4.5
    assert max(share.seconds for share in shares) <= OPTIONS.limit_s / LIMIT_SHARE


def test_a_budget_ends_a_processs_further_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two fake contexts take some milliseconds: 2 x 99 of each case would be no matter of two seconds.
    options = replace(TWICE, contexts={"fake:0": 99}, budget=2.0)
    monkeypatch.setattr(Known, "enough", lambda *_: set())
    blocks = {turn.block for turn in run(tmp_path, options=options).turns}
    assert {0, 99} <= blocks, "each process has its first block"
    assert len(blocks) < 2 * 99


def test_a_throttled_case_is_measured_again_and_marked(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run.jsonl", {}) as writer:
        run_cases(CASES[:1], writer, OPTIONS, look=lambda _: {"reasons": ["power brake"]})
    (record,) = load_run(tmp_path / "run.jsonl").records
    assert record.status == "ok"
    assert record.ledger["note"] == "throttled while it was measured, twice: power brake"
    assert len(record.ledger["watch"]) == 2


def test_the_workers_of_a_run_share_the_references(tmp_path: Path) -> None:
    answers, computed = Shared(tmp_path), []

    def compute() -> int:
        computed.append(1)
        return 42

    problem = CASES[0].problem
    assert [answers.answer(problem, compute), Shared(tmp_path).answer(problem, compute)] == [42, 42]
    assert answers.answer(CASES[1].problem, compute) == 42
    assert len(computed) == 2


def test_a_reference_that_cannot_be_kept_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.shared.MOST_BYTES", 0)
    assert Shared(tmp_path).answer(CASES[0].problem, lambda: 42) == 42
    assert not list(tmp_path.iterdir())


def test_ctrl_c_ends_the_workers_and_keeps_what_was_measured(tmp_path: Path) -> None:
    before = children()

    def interrupt(step: Progress) -> None:
        if step.done == 2:
            assert children() - before
            raise KeyboardInterrupt

    with RunWriter(tmp_path / "run.jsonl", {}) as writer, pytest.raises(KeyboardInterrupt):
        run_cases(CASES, writer, OPTIONS, interrupt)
    assert children() == before
    assert [record.case for record in load_run(tmp_path / "run.jsonl").records] == CASES[:2]


def children() -> set[str]:
    """The process ids of this process's children."""
    return {
        pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()
    }


def test_the_worker_ends_with_its_runner() -> None:
    command = [sys.executable, "-m", "harness.worker", CLASSES["fake"], "0", json.dumps(OPTIONS.for_worker())]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run(command, input=b"", capture_output=True, env=environment, timeout=60, check=True)
    assert json.loads(ended.stdout) == {"ready": True}

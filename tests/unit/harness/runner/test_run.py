"""The runner with real worker processes on a fake device: whatever one case does, the others are measured."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil
import pytest

from harness.measure.source_cache import Shared
from harness.problems import OPS, Reduction
from harness.results.record import Case, Record
from harness.results.run_writer import RunWriter
from harness.results.runfile import load_run
from harness.runner import device_lock, worker_process
from harness.runner.device_lock import DeviceBusy, locked
from harness.runner.run import Progress, run_cases
from harness.variants.axes import LibraryVariant
from tests.support.fake_backend import DIARY
from tests.support.fake_runs import CASES, CLASSES, FEW, faults, only, planned, run

LAST_OP = list(OPS)[-1]


def test_every_case_is_measured_by_every_clock_and_verified(tmp_path: Path) -> None:
    told: list[Progress] = []
    found = run(tmp_path, told=told)
    assert [record.case for record in found.records] == CASES
    for record in found.records:
        assert record.status == "ok"
        assert set(record.clocks) == {"queue", "launch", "launch_event", "round_trip", "event"}
        assert all(seconds > 0 for clock in record.clocks.values() for seconds in clock.seconds)
        assert record.provenance["launches"][0]["kernel"] == "fake"
        assert record.provenance["verified_after"] is True
        assert record.error == 0.0
        assert isinstance(record.case.problem, Reduction)
        # Squares of 32 bits are added in float64.
        assert bool(record.tolerance) == (record.case.problem.parts.term == "square")
    assert [(step.done, step.total) for step in told] == [(i, len(CASES)) for i in range(len(CASES) + 1)]
    assert [step.next for step in told] == [*CASES, None]
    assert [step.last for step in told] == [None, *found.records]


@pytest.mark.parametrize(
    ("fault", "status", "reason"),
    [
        ("unsupported", "skipped", "the fake cannot"),
        ("wrong", "wrong", "before timing: result: got"),
        ("wrong later", "wrong", "as timing left it: result: got"),
        ("writes once", "wrong", "after timing, in call 1 on another source: result"),
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
    record = only(run(tmp_path, planned(FEW)), op)
    assert record.status == status
    assert record.reason.startswith(reason)
    assert len(record.reason.splitlines()) < 10
    assert record.clocks == {}


def test_a_hang_is_ended_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults(monkeypatch, max="hang")
    record = only(run(tmp_path, planned(FEW, limit_s=3.0)), "max")
    assert (record.status, record.reason) == ("failed", "no answer within 3 s")


def test_a_kill_takes_the_workers_children_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults(monkeypatch, max="hang with child")
    monkeypatch.setenv(DIARY, str(tmp_path / "diary"))
    case = Case("fake", 0, Reduction("max", "int32", (10,)), LibraryVariant())
    run(tmp_path, planned([case], limit_s=2.0))
    _, child = (tmp_path / "diary").read_text().split()
    wait_until(lambda: not alive(child))


RUNNER = """
import sys
from pathlib import Path
from harness.runner.device_lock import locked
from harness.problems import Reduction
from harness.results.record import Case
from harness.runner.run import run_cases
from harness.results.run_writer import RunWriter
from harness.variants.axes import LibraryVariant
from tests.support.fake_runs import planned

case = Case("fake", 0, Reduction("max", "int32", (10,)), LibraryVariant())
with locked({"cpu": ["fake:0"]}, "harness run") as held, RunWriter(Path(sys.argv[1]), {}) as writer:
    run_cases(planned([case], limit_s=60.0, held=held), writer)
"""
"""A run of one case."""


@pytest.mark.parametrize("fault", ["hang with child", "hang natively with child"])
def test_workers_and_their_children_end_with_a_killed_runner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    faults(monkeypatch, max=fault)
    monkeypatch.setenv(DIARY, str(tmp_path / "diary"))
    monkeypatch.setenv("HARNESS_LOCK_DIR", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, str(tmp_path / "run.jsonl")])
    workers: list[psutil.Process] = []
    with parent_of_orphans():
        try:
            wait_until(lambda: "\n" in read(tmp_path / "diary").removeprefix("opened\n"))
            workers = psutil.Process(runner.pid).children()
            _, child = read(tmp_path / "diary").split()
            for worker in workers:
                worker.suspend()
            runner.kill()
            runner.wait()
            # Nobody measures beside a worker that is left.
            with monkeypatch.context() as at_once:
                at_once.setattr(device_lock, "ENDING_S", 0)
                with pytest.raises(DeviceBusy), locked({"cpu": ["numpy:0"]}, "another run"):
                    pass
        finally:
            runner.kill()
            runner.wait()
            for worker in workers:
                worker.resume()
    wait_until(lambda: not any(map(alive, [*(str(worker.pid) for worker in workers), child])))
    with locked({"cpu": ["numpy:0"]}, "another run"):
        pass


def read(path: Path) -> str:
    """What a file holds; nothing where it is not there yet."""
    return path.read_text() if path.exists() else ""


def wait_until(true: Callable[[], bool], seconds: float = 60) -> None:
    """Until what is to come true does."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.02)


@contextmanager
def parent_of_orphans() -> Iterator[None]:
    """Processes whose parent ends become this one's for a time. Else the kernel would end a stopped process
    group, by SIGHUP, as soon as nobody of its session is left to let it go on.
    """
    set_child_subreaper = partial(ctypes.CDLL(None).prctl, 36)
    assert set_child_subreaper(1, 0, 0, 0) == 0
    try:
        yield
    finally:
        set_child_subreaper(0, 0, 0, 0)


def alive(pid: str) -> bool:
    """Whether a process runs; one that has ended and is not yet fetched by its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_a_library_prints_disturbs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults(monkeypatch, sum="noise")
    assert only(run(tmp_path, planned(FEW)), "sum").status == "ok"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("BackendUnavailable", "BackendUnavailable: install the fake"),
        ("exit", "the worker ended with exit code 7; its last words:\nthe driver says goodbye"),
        ("ZeroDivisionError", "ZeroDivisionError: nobody gave this a type"),
        ("hang", "no answer within 3 s"),
    ],
)
def test_a_device_that_cannot_be_opened_is_given_up_after_two_tries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    faults(monkeypatch, start=fault)
    monkeypatch.setenv(DIARY, str(tmp_path / "diary"))
    monkeypatch.setattr(worker_process, "START_LIMIT_S", 3.0 if fault == "hang" else 20.0)
    found = run(tmp_path)
    assert [record.case for record in found.records] == CASES
    assert {record.status for record in found.records} == {"failed"}
    assert len({record.reason for record in found.records}) == 1
    assert found.records[0].reason.startswith("fake:0 cannot be started, tried 2 times: ")
    assert reason in found.records[0].reason
    assert (tmp_path / "diary").read_text() == "opened\n" * 2


def test_where_no_process_can_be_started_each_case_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    found = run(tmp_path)
    assert [record.case for record in found.records] == CASES
    (reason,) = {record.reason for record in found.records}
    assert "tried 2 times: the system starts no process: [Errno 11] Resource temporarily" in reason


def test_an_unknown_backend_is_explained(tmp_path: Path) -> None:
    case = Case("vulkan", 0, CASES[0].problem, LibraryVariant())
    (record,) = run(tmp_path, planned([case])).records
    assert record.status == "failed"
    assert "backend 'vulkan' is unknown" in record.reason


def test_a_skip_reason_known_beforehand_needs_no_worker(tmp_path: Path) -> None:
    case = Case("vulkan", 0, CASES[0].problem, LibraryVariant())
    assert run(tmp_path, planned([case], skipped={case: "too large"})).records == [
        Record(case, "skipped", "too large")
    ]


def test_workers_of_several_devices_live_side_by_side(tmp_path: Path) -> None:
    classes = {"one": CLASSES["fake"], "two": CLASSES["fake"]}
    cases = [Case(name, 0, case.problem, LibraryVariant()) for case in CASES for name in classes]
    found = run(tmp_path, planned(cases, classes=classes))
    assert [record.case for record in found.records] == cases
    assert {record.status for record in found.records} == {"ok"}


def test_cold_calls_rotate_over_sources_past_the_cache(tmp_path: Path) -> None:
    cases = [Case("fake", 0, Reduction("min", "int32", (n,)), LibraryVariant(), "cold") for n in (500, 10**6)]
    found = run(tmp_path, planned(cases))
    # The fake device has 4 KiB of cache: 16 KiB are passed by 9 sources of 2 000 bytes, or at least by two.
    assert [record.provenance["sources"] for record in found.records] == [9, 2]


def test_resume_measures_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(tmp_path, planned(CASES[:2]))
    path.write_bytes(path.read_bytes()[:-9])
    writer, finished = RunWriter.resume(path)
    with writer:
        assert [record.case for record in finished] == [CASES[0]]
        run_cases(planned(), writer, finished=finished)
    assert [record.case for record in load_run(path).trials] == CASES


def test_a_throttled_case_is_measured_again_and_marked(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run.jsonl", {}) as writer:
        run_cases(planned(CASES[:1]), writer, look=lambda *_: {"reasons": ["power brake"]})
    (record,) = load_run(tmp_path / "run.jsonl").records
    assert record.status == "ok"
    assert record.clocks["queue"].note == "throttled while it was measured, twice: power brake"
    assert len(record.provenance["watch"]) == 2


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
    monkeypatch.setattr("harness.measure.source_cache.MOST_BYTES", 0)
    assert Shared(tmp_path).answer(CASES[0].problem, lambda: 42) == 42
    assert not list(tmp_path.iterdir())


def test_ctrl_c_ends_the_workers_and_keeps_what_was_measured(tmp_path: Path) -> None:
    before = children()

    def interrupt(step: Progress) -> None:
        if step.done == 2:
            assert children() - before
            raise KeyboardInterrupt

    with RunWriter(tmp_path / "run.jsonl", {}) as writer, pytest.raises(KeyboardInterrupt):
        run_cases(planned(), writer, interrupt)
    assert children() == before
    assert [record.case for record in load_run(tmp_path / "run.jsonl").records] == CASES[:2]


def children() -> set[int]:
    """The process ids of this process's children."""
    return {child.pid for child in psutil.Process().children()}


def test_the_worker_ends_with_its_runner() -> None:
    command = [
        sys.executable,
        "-m",
        "harness.runner.worker_main",
        CLASSES["fake"],
        "0",
        json.dumps(planned().for_worker()),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run(command, input=b"", capture_output=True, env=environment, timeout=60, check=True)
    assert json.loads(ended.stdout) == {"ready": True}

"""A fleet whose workers are processes: they are killed, they hang, and so does the client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from backends import REGISTRY
from harness.fleet import fleet as fleets
from harness.fleet import folder as folders
from harness.fleet.device_run import DeviceRun
from harness.fleet.fleet import Fleet, Terms
from harness.results.runfile import load_run
from harness.runner import planning
from harness.runner.plan import Request
from tests.support.command import SUITE as REAL_SUITE
from tests.support.command import Harness, harness
from tests.support.fake_backend import ENVIRONMENT, UNTIL
from tests.support.fake_fleet import CASES, ENTRY, SUITE, Notes, plan_on

__all__ = ["harness"]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_LOCK_DIR", str(tmp_path / "locks"))
    monkeypatch.setitem(REGISTRY, "fake", ENTRY)
    monkeypatch.setattr(planning, "plan_on", plan_on)
    monkeypatch.setattr(fleets, "PAUSE_S", 0.1)


@contextmanager
def processes(count: int, *preload: str) -> Iterator[LocalCluster]:
    """A cluster of worker processes on this machine."""
    options = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=count, preload=list(preload), **options) as cluster:
        yield cluster


def measured(cluster: Any, path: Path, act: Callable[[Sequence[DeviceRun]], None], **terms: Any) -> Notes:
    """Measures SUITE on three fake hosts; every device has each of its cases once."""
    screen = Notes(act)
    with (
        Client(cluster, set_as_default=False) as client,
        folders.begun(path, Request("tiny", ("fake",)), SUITE, "harness run") as folder,
    ):
        runs = Fleet(client, folder, Terms(3, 60.0, **terms), screen).measure()
    assert [run.entry.reason for run in runs] == [""] * 3
    for file in path.glob("*.jsonl"):
        run = load_run(file)
        assert [record.status for record in run.trials] == ["ok"] * CASES
        assert len({record.case for record in run.trials}) == CASES
    return screen


def at(cluster: Any, runs: Sequence[DeviceRun], op: str) -> int | None:
    """The worker process that measures this op now."""
    found = [run for run in runs if run.state == "running" and run.next.startswith(f"fake:0 {op} ")]
    return cluster.workers[int(found[0].unit.host)].pid if found else None


def test_killed_and_hanging_workers_cost_the_case_that_they_were_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A case lasts until a worker that measures it was hit, however slow the machine is.
    ends = {op: tmp_path / op for op in ("max", "sum")}
    monkeypatch.setenv(ENVIRONMENT, json.dumps({op: f"{UNTIL}{path}" for op, path in ends.items()}))
    done: dict[str, int] = {}

    with processes(3, "tests.support.fake_fleet") as cluster:

        def act(runs: Sequence[DeviceRun]) -> None:
            kinds = {"max": signal.SIGKILL, "sum": signal.SIGSTOP}
            for op, number in kinds.items():
                pid = at(cluster, runs, op)
                if pid and op not in done and pid not in done.values():
                    done[op] = pid
                    os.kill(pid, number)
                    ends[op].touch()

        screen = measured(cluster, tmp_path / "run", act, silence_s=8.0)
    assert len(done) == 2
    assert any("its worker is gone; goes on from " in note for note in screen.notes)
    assert any("was silent for" in note for note in screen.notes)


def test_a_client_that_was_killed_goes_on(harness: Harness) -> None:
    harness.suite(REAL_SUITE.replace("0.05", "1.0").replace("samples = 3", "samples = 9999"))
    with processes(1) as cluster:
        where = ("--scheduler", cluster.scheduler_address)
        command = [sys.executable, "-m", "harness", "run", "tiny.toml", "--backend", "numpy", "--run", "my"]
        client = subprocess.Popen([*command, *where], stderr=subprocess.DEVNULL)
        _wait(_has_measured)
        client.kill()
        client.wait()
        (file,) = Path("my").glob("*.jsonl")
        first = load_run(file).trials
        assert first
        shown = harness("run", "--resume", "my", *where)
    assert shown.code == 0, shown.err
    trials = load_run(file).trials
    assert trials[: len(first)] == first
    assert [record.case.problem.label for record in trials] == ["minmax int32 50x40", "sum int32 50x40"]


def _has_measured() -> bool:
    with suppress(ValueError):  # The file is there, its first line not yet.
        return any(load_run(file).trials for file in Path("my").glob("*.jsonl"))
    return False


def _wait(condition: Callable[[], bool], seconds: float = 60) -> None:
    ends_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends_at
        time.sleep(0.05)

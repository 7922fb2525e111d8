"""A fleet of fake devices: what is lost comes back, and nothing is counted twice."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from distributed import get_worker

from harness.devices import DeviceInfo
from harness.fleet import fleet as fleets
from harness.fleet import folder as folders
from harness.fleet.device_run import DeviceRun
from harness.fleet.fleet import Fleet, Terms
from harness.fleet.unit import FleetError
from harness.results.record import Case
from harness.results.runfile import load_run
from harness.runner import planning
from harness.runner.device_lock import lock_path, locked
from harness.runner.plan import Request
from tests.support.fake_fleet import CASES, SUITE, Hosts, InstantWorker, Notes, devices_of, hosts


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks of its own; no test waits long."""
    monkeypatch.setenv("HARNESS_LOCK_DIR", str(tmp_path / "locks"))
    monkeypatch.setattr(fleets, "POLL_S", 0.05)
    monkeypatch.setattr(fleets, "PAUSE_S", 0.05)


def measured(
    found: Hosts, path: Path, workers: int = 1, screen: Notes | None = None, terms: Terms | None = None
) -> list[DeviceRun]:
    """Measures SUITE on the hosts into a folder, or goes on with what is there."""
    opened = (
        folders.resumed(path)
        if folders.is_fleet(path)
        else folders.begun(path, Request("tiny", ("fake",)), SUITE, "harness run")
    )
    with opened as folder, found.client() as client:
        return Fleet(client, folder, terms or Terms(workers), screen or Notes()).measure()


def whole(path: Path, devices: int) -> None:
    """Every device has each of its cases once."""
    files = sorted(path.glob("*.jsonl"))
    assert len(files) == devices
    for file in files:
        run = load_run(file)
        assert len(run.trials) == CASES
        assert len({record.case for record in run.trials}) == CASES
        assert all(record.status == "ok" for record in run.trials)


def test_each_device_has_a_run_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hosts(monkeypatch, "a", "b*2", "c") as found:
        runs = measured(found, tmp_path / "run", 3)
    assert [(run.state, run.records) for run in runs] == [("done", CASES)] * 4
    whole(tmp_path / "run", 4)
    (file, *_) = sorted((tmp_path / "run").glob("a-*.jsonl"))
    assert load_run(file).environment["fleet"]["host"] == "a"


class Gate:
    """Holds one measurement of a case, the first, until it is opened; ``worker`` is where."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, op: str = "max") -> None:
        self._op, self._is_first = op, True
        self.cases: list[str] = []
        self.worker = ""
        self.reached, self.opened = threading.Event(), threading.Event()
        monkeypatch.setattr(InstantWorker, "before", staticmethod(self))

    def __call__(self, case: Case) -> None:
        self.cases.append(getattr(case.problem, "op", ""))
        if getattr(case.problem, "op", "") == self._op and self._is_first:
            self._is_first = False
            self.worker = str(get_worker().name)
            self.reached.set()
            assert self.opened.wait(30)


def once(gate: Gate, action: Callable[[], None]) -> Notes:
    """A screen that acts when a measurement has come to the gate, and what was measured before it is here."""
    done: list[bool] = []

    def act(runs: Sequence[DeviceRun]) -> None:
        if gate.reached.is_set() and not done and any(r.records for r in runs if r.unit.host == gate.worker):
            done.append(True)
            action()

    return Notes(act)


def test_a_worker_that_leaves_in_a_case_and_returns_costs_that_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hosts(monkeypatch, "a", "b") as found:
        gate = Gate(monkeypatch)

        def leave() -> None:
            found.leave(gate.worker)
            gate.opened.set()
            found.come(gate.worker)

        screen = once(gate, leave)
        runs = measured(found, tmp_path, 2, screen)
        assert [run.state for run in runs] == ["done", "done"]
    whole(tmp_path, 2)
    assert any("its worker is gone; goes on from 1 records" in note for note in screen.notes)


def test_a_worker_that_returns_at_its_old_address_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask would run the task again there: the lease was not given to that process."""
    with hosts(monkeypatch, "a") as found:
        gate = Gate(monkeypatch)

        def leave() -> None:
            port = int(found.workers["a"].address.rpartition(":")[2])
            found.leave("a")
            found.come("a", port=port)
            gate.opened.set()

        screen = once(gate, leave)
        (run,) = measured(found, tmp_path, 1, screen)
    assert (run.state, run.entry.reason) == ("done", "")
    assert sum("goes on from 1 records" in note for note in screen.notes) == 1
    whole(tmp_path, 1)


def test_a_worker_that_calls_a_device_otherwise_does_not_measure_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As under another CUDA_VISIBLE_DEVICES: the names in the records would be those of other devices."""

    def turned() -> dict[str, list[DeviceInfo] | str]:
        devices = devices_of("a", 2)
        if "@" in str(get_worker().name):
            one, other = (each.physical for each in devices)
            devices = [replace(devices[0], physical=other), replace(devices[1], physical=one)]
        return {"fake": devices}

    with hosts(monkeypatch, "a*2", "a*2@2") as found:
        monkeypatch.setattr(planning, "available", turned)
        runs = measured(found, tmp_path, 2)
    assert [(run.entry.reason, len(run.workers)) for run in runs] == [("", 1)] * 2
    whole(tmp_path, 2)


def test_a_worker_that_hangs_loses_its_device_to_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it sends when it wakes up is refused."""
    with hosts(monkeypatch, "a", "a@2") as found, found.client() as client:
        gate = Gate(monkeypatch)
        with folders.begun(tmp_path, Request("tiny", ("fake",)), SUITE, "harness run") as folder:
            fleet = Fleet(client, folder, Terms(2, silence_s=2.0), Notes())
            given_up = fleets.Fleet._abandon

            def abandon(self: Fleet, run: DeviceRun, now: float) -> None:
                given_up(self, run, now)
                gate.opened.set()

            monkeypatch.setattr(fleets.Fleet, "_abandon", abandon)
            (run,) = fleet.measure()
        assert run.state == "done"
        assert fleet.refused_messages > 0
    whole(tmp_path, 1)


def test_a_device_that_two_workers_report_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hosts(monkeypatch, "a", "a@2") as found:
        (run,) = measured(found, tmp_path, 2)
    assert len(run.workers) == 2
    whole(tmp_path, 1)


def test_a_client_that_was_ended_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(runs: Sequence[DeviceRun]) -> None:
        if any(run.records for run in runs):
            raise KeyboardInterrupt

    with hosts(monkeypatch, "a", "b") as found:
        gate = Gate(monkeypatch, "sum")
        with pytest.raises(KeyboardInterrupt):
            measured(found, tmp_path, 2, Notes(end))
        there = sum(len(load_run(file).trials) for file in tmp_path.glob("*.jsonl"))
        assert 0 < there < 2 * CASES
        gate.opened.set()
        assert [run.state for run in measured(found, tmp_path, 2)] == ["done", "done"]
    whole(tmp_path, 2)


def test_a_task_whose_client_is_gone_ends_before_its_next_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(_: Sequence[DeviceRun]) -> None:
        if gate.reached.is_set():
            raise KeyboardInterrupt

    with hosts(monkeypatch, "a") as found:
        gate = Gate(monkeypatch, "min")
        with pytest.raises(KeyboardInterrupt):
            measured(found, tmp_path, 1, Notes(end))
        tasks = found.workers["a"].state.tasks
        wait(lambda: all(task.state == "cancelled" for task in tasks.values()))
        gate.opened.set()
        path = lock_path(devices_of("a")[0].physical)
        wait(lambda: not path.read_text())
    assert gate.cases == ["min"]


def wait(condition: Callable[[], bool]) -> None:
    """Until that is so."""
    ends_at = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < ends_at
        time.sleep(0.02)


def test_a_device_that_another_process_measures_on_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Notes()
    with hosts(monkeypatch, "a") as found:
        with locked({devices_of("a")[0].physical: []}, "another"):
            (run,) = measured(found, tmp_path, 1, screen, Terms(1, lost_s=0.5))
        assert "is being measured by process" in run.entry.reason
        # Once when it was seen, once at the end.
        assert sum("is being measured by process" in note for note in screen.notes) == 2
        assert [run.state for run in measured(found, tmp_path)] == ["done"]
    whole(tmp_path, 1)


def test_what_is_done_is_not_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hosts(monkeypatch, "a") as found:
        measured(found, tmp_path)
        found.come("b")
        screen = Notes()
        measured(found, tmp_path, 2, screen)
    assert [note.partition(":")[0][0] for note in screen.notes] == ["b"]
    whole(tmp_path, 2)


def test_versions_that_differ_are_refused_with_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        hosts(monkeypatch, "a", "old+b") as found,
        pytest.raises(FleetError, match=r"versions differ .*numpy: .* on a \(.*\); 1.0 on b \("),
    ):
        measured(found, tmp_path, 2)
    assert not list(tmp_path.glob("*.jsonl"))


def test_a_latecomer_of_other_versions_is_refused_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hosts(monkeypatch, "a") as found:
        gate = Gate(monkeypatch)
        screen = Notes()

        def act(_: Sequence[DeviceRun]) -> None:
            if gate.reached.is_set() and "old+b" not in found.workers:
                found.come("old+b")
            if any("b is refused" in note for note in screen.notes):
                gate.opened.set()

        screen = Notes(act)
        measured(found, tmp_path, 1, screen)
    assert any("b is refused, its versions differ: numpy: " in note for note in screen.notes)
    whole(tmp_path, 1)


@pytest.mark.parametrize(("allowed", "most"), [(1, 1), (2, 2)])
def test_so_many_devices_of_a_host_are_measured_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: int, most: int
) -> None:
    text = SUITE.replace("controls", f"devices_at_once = {allowed}\ncontrols")
    running, seen = [], []

    def measure(case: Case) -> None:
        running.append(case)
        time.sleep(0.1)
        seen.append(len(running))
        running.remove(case)

    with hosts(monkeypatch, "a*2", "a*2@2") as found, found.client() as client:
        monkeypatch.setattr(InstantWorker, "before", staticmethod(measure))
        with folders.begun(tmp_path, Request("tiny", ("fake",)), text, "harness run") as folder:
            Fleet(client, folder, Terms(2), Notes()).measure()
    assert max(seen) == most
    whole(tmp_path, 2)


def test_a_lost_scheduler_is_told_and_what_was_measured_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hosts(monkeypatch, "a") as found:
        gate = Gate(monkeypatch)
        screen = once(gate, lambda: found.cluster.sync(found.cluster.scheduler.close, timeout=1))
        with pytest.raises(FleetError, match=r"the scheduler is lost .*--resume") as told:
            measured(found, tmp_path, 1, screen)
        gate.opened.set()
    assert str(tmp_path) in str(told.value)
    (file,) = tmp_path.glob("*.jsonl")
    assert len(load_run(file).trials) == 1


def test_no_worker_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        hosts(monkeypatch) as found,
        pytest.raises(FleetError, match=r"no worker .* within 0.2 s; start workers"),
    ):
        measured(found, tmp_path, terms=Terms(1, 0.2))


def test_a_device_that_no_worker_reports_any_more_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hosts(monkeypatch, "a", "b") as found:
        gate = Gate(monkeypatch)

        def leave() -> None:
            found.leave(gate.worker)
            gate.opened.set()

        runs = measured(found, tmp_path, 2, once(gate, leave), Terms(2, lost_s=1.0))
    assert sorted(run.state for run in runs) == ["done", "failed"]
    (reason,) = (run.entry.reason for run in runs if run.state == "failed")
    assert reason == "no worker has reported it, as fake:0, for 1 s"


def test_two_hundred_devices_lose_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And their workers come and go meanwhile."""
    names = [f"n{number}*2" for number in range(100)]
    with hosts(monkeypatch, *names) as found:
        left: list[str] = []

        def act(runs: Sequence[DeviceRun]) -> None:
            states = Counter(run.state for run in runs)
            if states["running"] and states["done"] > 20 * len(left) and len(left) < 5:
                (name, *_) = [f"{run.unit.host}*2" for run in runs if run.state == "running"]
                left.append(name)
                found.leave(name)
                found.come(name)

        runs = measured(found, tmp_path, 100, Notes(act))
    assert left
    assert [run.entry.reason for run in runs] == [""] * 200
    whole(tmp_path, 200)

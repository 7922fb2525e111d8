"""A case in several contexts of each process: what these rounds do, and what ends them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.measure.budget import Share, informed, is_primary_only, primary_clock
from harness.problems import Empty
from harness.results.record import Case, Record, Samples
from harness.results.run_writer import RunWriter
from harness.results.runfile import load_run
from harness.runner import run as runner
from harness.runner.known import Known
from harness.runner.plan import LAUNCH_SAMPLES
from harness.runner.pool import Pool
from harness.runner.run import LIMIT_SHARE, Progress, run_cases
from harness.runner.schedule import LEAST_S, Trial
from harness.runner.worker_process import Worker
from harness.variants.axes import LaunchVariant
from tests.support.fake_backend import DIARY
from tests.support.fake_runs import CASES, asked, faults, planned, run

TWICE: dict[str, Any] = {"samples": 9, "case_seconds": 6.0, "processes": 2, "contexts": {"fake:0": 3}}


@pytest.fixture
def unsettled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No verdict is ever settled: every round is measured."""
    monkeypatch.setattr(Known, "enough", lambda *_: set())


@pytest.mark.usefixtures("unsettled")
def test_where_a_device_has_several_contexts_a_run_may_have_fewer_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = asked(monkeypatch)
    found = run(tmp_path, planned(CASES[:2], **TWICE, gpu_processes=1))
    assert [(t.case, t.process, t.block) for t in found.trials] == [
        (c, 0, b) for b in range(3) for c in CASES[:2]
    ]
    # Each takes as long as it would beside others.
    assert shares[0] == planned(CASES[:2], **TWICE).share(CASES[0], primary_only=False)


@pytest.mark.usefixtures("unsettled")
@pytest.mark.parametrize("keeps", [False, True], ids=["renewed", "cannot be renewed"])
def test_every_round_has_a_fresh_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps: bool
) -> None:
    monkeypatch.setenv(DIARY, str(tmp_path / "diary"))
    faults(monkeypatch, **({"keeps context": "yes"} if keeps else {}))
    shares = asked(monkeypatch)
    found = run(tmp_path, planned(CASES[:2], **TWICE))
    # A context that cannot be given up is left with its process.
    assert (tmp_path / "diary").read_text() == 2 * ("opened\n" + 2 * "forgotten\nopened\n")
    assert [(t.case, t.process, t.block) for t in found.trials] == [
        (c, b // 3, b) for b in range(6) for c in CASES[:2]
    ]
    for record in found.records:
        assert record.status == "ok"
        assert set(record.clocks["queue"].blocks) == set(record.clocks["launch"].blocks) == set(range(6))
        assert set(record.clocks["round_trip"].blocks) == {0}
        assert record.provenance["launches"]
    samples = [share["queue"].samples for share in shares]
    assert samples == [5] * 2 + [2] * 10, "nine by two processes in the first round, else by six rounds"


def test_the_empty_kernel_has_samples_enough_in_each_context() -> None:
    empty = Case("fake", 0, Empty((((8,), (64,)),)), LaunchVariant(), role="control")
    plan = planned(**TWICE)
    assert plan.share(empty, primary_only=True) == primary_clock(LAUNCH_SAMPLES, 3.0)
    assert plan.share(CASES[0], primary_only=True)["queue"].samples < LAUNCH_SAMPLES
    assert plan.share(empty, primary_only=False) == plan.share(CASES[0], primary_only=False)


@pytest.mark.usefixtures("unsettled")
def test_a_budget_is_shared_evenly_by_the_first_rounds_of_all_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Were the further rounds of the first process taken from them, they would have nothing left."""
    now = 0.0
    granted: dict[int, list[float]] = {0: [], 1: [], 2: []}

    def measure(_: Pool, trial: Trial, share: Share) -> Record:
        nonlocal now
        is_first = trial.round % 99 == 0
        seconds = 2 * share["queue"].seconds if is_first else 0.06
        now += 0.02 + seconds
        if is_first:
            granted[trial.process].append(seconds)
        clocks = {"queue": Samples((1.0,))}
        return Record(trial.case, "ok", clocks=clocks, provenance={"timing_seconds": seconds})

    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(runner, "compile_ahead", lambda *_: None)
    monkeypatch.setattr(Pool, "measure", measure)
    monkeypatch.setattr(Pool, "prepare", lambda *_: None)
    plan = planned(
        CASES[:6], processes=3, contexts={"fake:0": 99}, budget=240.0, limit_s=60.0, case_seconds=1.0
    )
    run_cases(plan, SimpleNamespace(write=lambda _: None))
    each = [statistics.fmean(granted[process]) for process in range(3)]
    assert min(each) > 0.5 * max(each)
    assert 200 < now < 250, "and nothing is lost or overrun"


def test_of_a_round_that_was_interrupted_all_cases_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left of a problem may be one side alone, of which no verdict is known."""
    seen: list[list[Case]] = []

    def enough(_: Known, of_round: Sequence[Trial]) -> set[Case]:
        seen.append([trial.case for trial in of_round])
        return set()

    monkeypatch.setattr(Known, "enough", enough)
    plan = planned(CASES[:2], **{**TWICE, "processes": 1})
    whole = run(tmp_path, plan)
    asked_at_first, seen[:] = seen[:], []
    with RunWriter(tmp_path / "rest.jsonl", {}) as writer:
        run_cases(plan, writer, finished=whole.trials[:3])
    rest = load_run(tmp_path / "rest.jsonl").trials
    assert [(t.case, t.block) for t in rest] == [(t.case, t.block) for t in whole.trials[3:]]
    assert [set(cases) for cases in seen] == [set(cases) for cases in asked_at_first]


@pytest.mark.usefixtures("unsettled")
def test_a_round_knows_what_the_first_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shares = asked(monkeypatch)
    first, *_ = run(tmp_path, planned(CASES[:1], **TWICE)).trials
    for name in ("queue", "launch"):
        known = informed(primary_clock(), first.clocks)[name]
        assert known.calls
        assert known.expected == statistics.median(first.clocks[name].seconds)
        told = [(share[name].calls, share[name].expected) for share in shares]
        assert told == [(None, None)] + [(known.calls, known.expected)] * 5
    assert [is_primary_only(share) for share in shares] == [False] + [True] * 5


def test_what_is_known_well_enough_is_left_out_of_the_last_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Known, "enough", lambda _, of_round: {CASES[0]} if of_round[0].round == 2 else set())
    told: list[Progress] = []
    found = run(tmp_path, planned(CASES[:2], **TWICE), told)
    assert [trial.block for trial in found.trials if trial.case == CASES[0]] == [0, 1, 3, 4, 5]
    assert [trial.block for trial in found.trials if trial.case == CASES[1]] == list(range(6))
    # Only the first rounds of the two processes are counted: how many further ones there are nobody knows.
    assert [(step.done, step.total) for step in told] == [
        (min(i, 2) + max(0, min(i - 6, 2)), 4) for i in range(13)
    ]
    assert {step.left_s for step in told} == {0.0}


def test_a_round_that_measures_nothing_takes_no_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Known, "enough", lambda _, of_round: {trial.case for trial in of_round})
    told: list[Progress] = []
    found = run(tmp_path, planned(CASES[:2], **TWICE), told)
    assert [trial.block for trial in found.trials] == [0, 0, 3, 3]
    assert len(told) == 5


TWO_DEVICES = [CASES[0], replace(CASES[1], device=1)]
"""The second has several contexts a process, in :data:`BESIDE`."""
BESIDE = TWICE | {"contexts": {"fake:1": 3}}


@pytest.mark.usefixtures("unsettled")
def test_a_baseline_that_is_far_off_is_left_out_of_later_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Known, "far_off", lambda *_: {TWO_DEVICES[0]})
    found = run(tmp_path, planned(TWO_DEVICES, **BESIDE))
    blocks = [[trial.block for trial in found.trials if trial.case == case] for case in TWO_DEVICES]
    assert blocks == [[0], list(range(6))]
    # How far off that is where no device has several contexts, Known tells.
    (tmp_path / "once").mkdir()
    found = run(tmp_path / "once", planned(TWO_DEVICES[:1], samples=9, case_seconds=0.1, processes=3))
    assert [trial.block for trial in found.trials] == [0]


@pytest.mark.usefixtures("unsettled")
def test_what_is_undecided_is_told_of_the_cases_that_further_rounds_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[Sequence[Case]] = []
    count = Known.undecided

    def undecided(known: Known, cases: Sequence[Case]) -> tuple[int, int]:
        counted.append(cases)
        return count(known, cases)

    monkeypatch.setattr(Known, "undecided", undecided)
    run(tmp_path, planned(TWO_DEVICES, **BESIDE))
    assert counted
    assert all(cases == TWO_DEVICES[1:] for cases in counted)


def test_launches_alone_are_left_out_where_they_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = Case("fake", 0, Empty((((8,), (64,)),)), LaunchVariant(), role="control")
    cases = [empty, CASES[0]]
    monkeypatch.setattr(Known, "enough", lambda *_: set())
    monkeypatch.setattr(Known, "are_launches_enough", lambda _, of, number: of == cases and number == 1)
    found = run(tmp_path, planned(cases, **TWICE | {"processes": 1, "gpu_launch_contexts": 1}))
    assert [trial.block for trial in found.trials if trial.case == empty] == [0, 2, 3, 4, 5]
    assert [trial.block for trial in found.trials if trial.case == CASES[0]] == [0, 2, 4]


@pytest.mark.usefixtures("unsettled")
def test_how_long_further_rounds_go_on_is_told(tmp_path: Path) -> None:
    told: list[Progress] = []
    run(tmp_path, planned(CASES[:1], **TWICE, budget=30.0), told)
    times = [step.left_s for step in told]
    assert times[0] == times[3] == 0.0
    assert 30 > times[1] > times[2] > 0
    assert 30 > times[4] > times[5] > 0


@pytest.mark.usefixtures("unsettled")
def test_a_worker_that_dies_renewing_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tell = Worker.tell

    def killed(worker: Worker, request: Mapping[str, Any]) -> None:
        if "renew" in request:
            worker._process.kill()
        tell(worker, request)

    monkeypatch.setattr(Worker, "tell", killed)
    found = run(tmp_path, planned(CASES[:1], **TWICE))
    assert [trial.status for trial in found.trials] == ["ok"] * 6


def test_contexts_of_a_round_are_opened_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the devices that have several: a third one keeps its only one."""
    told: list[tuple[str, str]] = []
    names: dict[int, str] = {}
    start, tell, wait = Worker.__init__, Worker.tell, Worker.wait_until_open

    def started(worker: Worker, backend: str, device: int, *arguments: Any) -> None:
        names[id(worker)] = str(device)
        start(worker, backend, device, *arguments)
        told.append(("start", str(device)))

    def begun(worker: Worker, request: Mapping[str, Any]) -> None:
        if "renew" in request:
            told.append(("begin", names[id(worker)]))
        tell(worker, request)

    def ended(worker: Worker) -> None:
        told.append(("end", names[id(worker)]))
        wait(worker)

    monkeypatch.setattr(Worker, "__init__", started)
    monkeypatch.setattr(Worker, "tell", begun)
    monkeypatch.setattr(Worker, "wait_until_open", ended)
    cases = [replace(CASES[0], device=device) for device in range(3)]
    several = {"processes": 1, "contexts": {"fake:0": 3, "fake:2": 3}}
    found = run(tmp_path, planned(cases, **TWICE | several))
    starts = [(what, device) for what in ("start", "end") for device in "012"]
    assert told == starts + 2 * [("begin", "0"), ("begin", "2"), ("end", "0"), ("end", "2")]
    assert [len([trial for trial in found.trials if trial.case == case]) for case in cases] == [3, 1, 3]


@pytest.mark.usefixtures("unsettled")
def test_resume_goes_on_in_the_round_that_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.jsonl"
    whole = [(trial.case, trial.block) for trial in run(tmp_path, planned(CASES[:2], **TWICE)).trials]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:6]))
    writer, finished = RunWriter.resume(path)
    shares = asked(monkeypatch)
    with writer:
        run_cases(planned(CASES[:2], **TWICE), writer, finished=finished)
    found = load_run(path)
    assert [(trial.case, trial.block) for trial in found.trials] == whole
    firsts = {trial.case: trial for trial in reversed(finished)}
    known = informed(primary_clock(), firsts[CASES[1]].clocks)["queue"]
    assert shares[0]["queue"].calls == known.calls is not None


def test_a_budget_is_what_the_timing_of_each_case_gets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = asked(monkeypatch)
    found = run(tmp_path, planned(CASES[:2], budget=0.02))
    assert {record.status for record in found.records} == {"ok"}
    assert [2 * share["queue"].seconds for share in shares] == [LEAST_S] * 2
    shares.clear()
    plan = planned(CASES[:2], budget=9.0)
    run(tmp_path / "long", plan)
    seconds = [2 * share["queue"].seconds for share in shares]
    assert 2 < seconds[0] < 4.5
    assert max(seconds) <= plan.suite.measure.limit_s / LIMIT_SHARE


@pytest.mark.parametrize("within", [{"budget": 2.0}, {"gpu_contexts_s": 2.0}])
def test_time_ends_a_processs_further_rounds(
    within: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two fake contexts take some milliseconds: 2 x 99 of each case would be no matter of two seconds.
    plan = planned(**TWICE | {"contexts": {"fake:0": 99}} | within)
    monkeypatch.setattr(Known, "enough", lambda *_: set())
    rounds = {trial.block for trial in run(tmp_path, plan).trials}
    assert {0, 99} <= rounds, "each process has its first round"
    assert len(rounds) < 2 * 99

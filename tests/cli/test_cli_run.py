"""``harness run`` and ``harness report``: planning, measuring, resuming, exit codes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skimage.io import imsave

from backends import available
from harness.cli import render
from harness.results.record import Case, Record
from harness.results.runfile import RunWriter, load_run
from harness.runner import environment, session
from harness.runner.device_lock import lock_path, locked
from harness.runner.settings import RunOptions
from harness.suites.control_cases import twins
from harness.suites.schema import suite_names
from tests.support.command import LAPLACE, SUITE, Harness, harness

__all__ = ["harness"]


def test_dry_run_lists_the_cases_and_measures_nothing(harness: Harness) -> None:
    text = SUITE + "[[reduction]]\nops = ['min']\ndtypes = ['int8']\nshapes = [[100000]]\n"
    suite = harness.suite(text.replace("case_seconds = 0.05", "reference_limit_bytes = 90000"))
    shown = harness("run", suite, "--backend", "numpy", "--dry-run")
    assert shown.code == 0
    assert "minmax int32 50x40" in shown.out
    assert "(reference_limit_bytes)" in shown.out
    assert "2 cases to measure, 1 skipped" in shown.out
    assert list(harness.folder.iterdir()) == [suite]


def test_a_suite_without_a_block_for_the_devices_is_told(harness: Harness) -> None:
    shown = harness("run", "bandwidth", "--backend", "numpy", "--dry-run")
    assert shown.code == 2
    assert "suite bandwidth has nothing to run here" in shown.err


NOTHING_FOR_NUMPY = {"bandwidth", "huge", "launch", "libraries_huge"}
"""Suites with nothing in them for the reference on a processor."""


@pytest.mark.parametrize("name", sorted(set(suite_names()) - NOTHING_FOR_NUMPY))
def test_dry_run_of_the_suites_that_ship(harness: Harness, name: str) -> None:
    shown = harness("run", name, "--backend", "numpy", "--dry-run")
    assert shown.code == 0
    assert "cases to measure" in shown.out


def test_run_measures_and_says_where_everything_is(harness: Harness) -> None:
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl", "--report", "page")
    assert shown.code == 0, shown.err
    assert "run file: my.jsonl" in shown.out
    assert "report:   page/index.html" in shown.out
    assert "2 ok" in shown.out
    assert "[2/2] numpy:0 sum int32 50x40: " in shown.err
    assert shown.out.isascii()
    run = load_run(harness.folder / "my.jsonl")
    assert [record.status for record in run.records] == ["ok", "ok"]
    assert run.environment["command"].startswith("harness run ")
    assert run.environment["request"]["backends"] == ["numpy"]
    assert (harness.folder / "page" / "index.html").read_text(encoding="utf-8").startswith("<!")


def test_run_has_a_file_of_its_own_by_default(harness: Harness) -> None:
    shown = harness("run", harness.suite(), "--device", "numpy:0")
    assert shown.code == 0, shown.err
    folder = harness.folder / "reports" / "generated"
    (run_file,) = folder.glob("tiny-*.jsonl")
    assert load_run(run_file).environment["suite"].endswith("tiny.toml")
    assert (folder / "index.html").exists()


def test_run_with_a_photograph(harness: Harness) -> None:
    _photograph(Path("photo.png"))
    suite = harness.suite(SUITE + LAPLACE)
    shown = harness("run", suite, "--backend", "numpy", "--image", "photo.png", "--run", "my.jsonl")
    assert shown.code == 0, shown.err
    run = load_run("my.jsonl")
    assert run.records[-1].case.problem.label.endswith("20x30")
    assert {image["title"] for image in run.images} >= {"laplacian"}


def _photograph(path: Path, seed: int = 0) -> None:
    imsave(path, np.random.default_rng(seed).integers(0, 256, (30, 20, 3), dtype=np.uint8))


def test_a_photograph_that_nothing_would_filter_is_refused(harness: Harness) -> None:
    imsave("photo.png", np.zeros((30, 20, 3), np.uint8), check_contrast=False)
    shown = harness("run", harness.suite(), "--backend", "numpy", "--image", "photo.png")
    assert (shown.code, shown.out) == (2, "")
    assert "tiny.toml has no Laplace block" in shown.err
    assert not Path("reports").exists()


def test_finished_run_is_not_overwritten(harness: Harness) -> None:
    arguments = ("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl")
    assert harness(*arguments).code == 0
    before = Path("my.jsonl").read_bytes()
    again = harness(*arguments)
    assert again.code == 2
    assert "my.jsonl holds a run already" in again.err
    assert Path("my.jsonl").read_bytes() == before


def _killed(harness: Harness) -> Path:
    """A run file that has only the first of two cases, and half a line of the next."""
    path = Path("my.jsonl")
    plan = session.plan_run(session.Request(str(harness.suite()), ("numpy",)))
    environment = session._environment(plan, "harness run")
    with RunWriter(path, environment) as writer:
        writer.write(Record(plan.cases[0], "skipped", "for speed"))
    with path.open("a", encoding="utf-8") as file:
        file.write('{"type": "record", "case": {"backe')
    return path


def test_killed_run_is_resumed(harness: Harness) -> None:
    assert harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl").code == 0
    path = Path("my.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:2]) + lines[2][:40], encoding="utf-8")
    first = load_run(path).records
    shown = harness("run", "--resume", path)
    assert shown.code == 0, shown.err
    assert "[1/1] numpy:0 sum" in shown.err
    records = load_run(path).records
    assert records[:1] == first
    assert [record.case.problem.label for record in records] == ["minmax int32 50x40", "sum int32 50x40"]


def test_run_in_several_processes_with_controls(harness: Harness) -> None:
    suite = harness.suite(SUITE.replace("controls = false", "controls = true"))
    shown = harness("run", suite, "--backend", "numpy", "--processes", 2, "--run", "my.jsonl")
    assert shown.code == 0, shown.err
    run = load_run("my.jsonl")
    assert run.environment["options"]["processes"] == 2
    assert len(run.trials) == 2 * len(run.records) == 6
    (pair,) = twins(run.records)
    assert pair[1].case.role == "control"
    assert set(pair[1].clocks["queue"].blocks) == {0, 1}
    assert pair[1].ledger["watch"][0]["before"]["load"] >= 0


def test_a_budget_is_kept_for_a_resumed_run(harness: Harness) -> None:
    arguments = ("--backend", "numpy", "--budget", 2, "--run", "my.jsonl")
    assert harness("run", harness.suite(), *arguments).code == 0
    shown = harness("run", "--resume", "my.jsonl")
    assert shown.code == 0, shown.err
    assert load_run("my.jsonl").environment["options"]["budget"] == 2
    assert load_run("my.jsonl").environment["options"]["samples"] == session.BUDGET_SAMPLES


def _edited(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Changes the first line of a run file."""
    first, *others = path.read_text(encoding="utf-8").splitlines(keepends=True)
    environment = json.loads(first)
    edit(environment)
    path.write_text(json.dumps(environment) + "\n" + "".join(others), encoding="utf-8")


def _refused(harness: Harness, path: Path) -> str:
    """What is said of a run that is not resumed, and stays as it is."""
    before = path.read_bytes()
    shown = harness("run", "--resume", path)
    assert shown.code == 2
    assert path.read_bytes() == before
    return shown.err


@pytest.mark.parametrize("name", ["suite_content", "image_sha256", "kernels_sha256", "request", "options"])
def test_a_run_of_an_earlier_version_is_not_resumed_but_loads(harness: Harness, name: str) -> None:
    path = _killed(harness)
    _edited(path, lambda environment: environment.pop(name))
    assert len(load_run(path).records) == 1
    assert f"as runs of earlier versions ({name}: is missing); begin a new run" in _refused(harness, path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("samples = 3", "samples = 4", "the suite's measure.samples was 3, now 4"),
        ('"sum"', '"max"', "the suite's reduction[0].ops was ['minmax', 'sum'], now ['minmax', 'max']"),
        ("[[50, 40]]", "[[50, 41]]", "the suite's reduction[0].shapes was [[50, 40]], now [[50, 41]]"),
        ("[[reduction]]", "[limits]\nmeasure = false\n[[reduction]]", "limits.measure was absent, now False"),
    ],
)
def test_resume_of_a_changed_suite_is_refused(harness: Harness, old: str, new: str, told: str) -> None:
    path = _killed(harness)
    assert old in SUITE
    harness.suite(SUITE.replace(old, new))
    said = _refused(harness, path)
    assert told in said
    assert "have it as it was, or begin a new run" in said


def test_a_suite_that_only_reads_otherwise_is_no_other(harness: Harness) -> None:
    path = _killed(harness)
    harness.suite("# Mine.\n" + SUITE.replace("samples = 3", "samples   = 3"))
    assert harness("run", "--resume", path).code == 0


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda device: device.update(driver="0.9"), "numpy:0 was {name} (driver 0.9), now {now}"),
        (lambda device: device.update(name="Abacus"), "numpy:0 was Abacus (driver {driver}), now {now}"),
        (
            lambda device: device.update(index=1),
            "numpy:1 was {now}, now absent; numpy:0 was absent, now {now}",
        ),
    ],
)
def test_resume_on_other_devices_is_refused(
    harness: Harness, edit: Callable[[dict[str, Any]], None], told: str
) -> None:
    path = _killed(harness)
    (device,) = (each for each in load_run(path).environment["devices"] if each["backend"] == "numpy")

    def change(environment: dict[str, Any]) -> None:
        edit(next(each for each in environment["devices"] if each["backend"] == "numpy"))

    _edited(path, change)
    now = f"{device['name']} (driver {device['driver']})"
    assert told.format(now=now, **device) in _refused(harness, path)


def test_devices_of_backends_that_are_not_asked_for_may_change(harness: Harness) -> None:
    path = _killed(harness)
    other = {"backend": "cuda", "index": 0, "name": "Big GPU", "driver": "1"}
    _edited(path, lambda environment: environment["devices"].append(other))
    assert harness("run", "--resume", path).code == 0


def test_resume_with_other_kernels_is_refused(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _killed(harness)
    monkeypatch.setattr(environment, "kernels_hash", lambda: "0" * 64)
    assert "the kernels (kernels_cl, kernels_cu) are others now" in _refused(harness, path)


def test_resume_at_another_commit_is_told(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _killed(harness)
    # None where the checkout is no repository.
    begun = load_run(path).environment["commit"] or "unknown"
    monkeypatch.setattr(environment, "_commit", lambda: {"commit": "f" * 40, "dirty": True})
    shown = harness("run", "--resume", path)
    assert shown.code == 0
    assert f"note: begun at commit {begun}" in shown.err
    assert f"goes on at commit {'f' * 40} with changes; the kernels are the same" in shown.err


def test_records_that_the_suite_does_not_ask_for_are_not_mixed_with(harness: Harness) -> None:
    """As when what a device gets by default has changed, though the suite has not."""
    path = _killed(harness)
    first, record, torn = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(first + record.replace("[50, 40]", "[5, 4]") + torn, encoding="utf-8")
    assert "numpy:0 minmax int32 5x4 is no case of it now" in _refused(harness, path)


def test_a_run_is_resumed_from_another_folder(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    harness.suite(SUITE + LAPLACE)
    _photograph(harness.folder / "photo.png")
    arguments = ("run", "tiny.toml", "--backend", "numpy", "--image", "photo.png", "--run", "my.jsonl")
    assert harness(*arguments).code == 0
    (harness.folder / "below").mkdir()
    monkeypatch.chdir(harness.folder / "below")
    shown = harness("run", "--resume", "../my.jsonl")
    assert shown.code == 0, shown.err


def test_resume_with_another_photograph_is_refused(harness: Harness) -> None:
    photo = harness.folder / "photo.png"
    _photograph(photo)
    arguments = ("--backend", "numpy", "--image", photo, "--run", "my.jsonl")
    assert harness("run", harness.suite(SUITE + LAPLACE), *arguments).code == 0
    _photograph(photo, seed=1)
    assert f"the photograph {photo} has another content now" in _refused(harness, Path("my.jsonl"))


def test_resuming_adds_no_picture_twice(harness: Harness) -> None:
    harness.suite(SUITE + LAPLACE.replace('["four"]', '["four", "eight"]'))
    assert harness("run", "tiny.toml", "--backend", "numpy", "--run", "my.jsonl").code == 0
    path = Path("my.jsonl")
    pictures = load_run(path).images
    assert len(pictures) == 2
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    assert harness("run", "--resume", path).code == 0
    assert len(load_run(path).records) == 4
    assert load_run(path).images == pictures


def test_a_device_that_is_being_measured_is_refused(harness: Harness) -> None:
    suite = harness.suite()
    with locked({"cpu": ["opencl:0"]}, "harness run full"):
        shown = harness("run", suite, "--backend", "numpy", "--run", "my.jsonl")
        tested = harness("selftest", "--backend", "numpy")
    assert (shown.code, tested.code) == (2, 2)
    assert f"cpu (numpy:0) is being measured by process {os.getpid()} since" in shown.err
    assert "harness run full; wait until it has ended, or choose another with --device" in shown.err
    assert not Path("my.jsonl").exists()


@pytest.mark.parametrize("is_resumed", [False, True])
def test_the_workers_of_a_run_hold_its_locks(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, is_resumed: bool
) -> None:
    path = _killed(harness) if is_resumed else Path("new.jsonl")
    held: list[bool] = []

    def run_cases(*arguments: Any) -> None:
        options: RunOptions = arguments[2]
        held.extend(os.path.samestat(os.fstat(file), lock_path("cpu").stat()) for file in options.held)

    monkeypatch.setattr(session, "run_cases", run_cases)
    new = (harness.suite(), "--backend", "numpy", "--run", path)
    harness("run", *(("--resume", path) if is_resumed else new))
    assert held == [True]


def test_a_resumed_run_of_a_busy_device_is_refused_and_left_as_it_is(harness: Harness) -> None:
    path = _killed(harness)
    before = path.read_bytes()
    with locked({"cpu": []}, "x"):
        assert harness("run", "--resume", path).code == 2
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("given", "named"),
    [(("--backend", "opencl"), "--backend"), (("quick",), "SUITE"), (("--seed", 1), "--seed")],
)
def test_resume_takes_no_other_options(harness: Harness, given: tuple[object, ...], named: str) -> None:
    """Not even what is the default: it is not what the run was made with."""
    shown = harness("run", *given, "--resume", _killed(harness))
    assert shown.code == 2
    assert f"give nothing else with --resume: no {named}\n" in shown.err


def test_resume_of_something_else_is_refused(harness: Harness) -> None:
    Path("notes.jsonl").write_text("{}\n", encoding="utf-8")
    shown = harness("run", "--resume", "notes.jsonl")
    assert shown.code == 2
    assert "not a run file" in shown.err


@pytest.mark.parametrize("status", ["wrong", "failed"])
def test_wrong_or_failed_cases_end_in_exit_code_1(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, status: Any
) -> None:
    def run_cases(cases: Sequence[Case], writer: Any, *_: object) -> None:
        for case in cases:
            writer.write(Record(case, status, "not as it should be"))

    monkeypatch.setattr(session, "run_cases", run_cases)
    shown = harness("run", harness.suite(), "--backend", "numpy")
    assert shown.code == 1
    assert f"2 {status}" in shown.err
    assert "report: " in shown.out


def test_interrupt_says_how_to_go_on(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_cases(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "run_cases", run_cases)
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl")
    assert shown.code == 130
    assert "harness run --resume my.jsonl" in shown.err


def test_nvidia_gpu_without_cuda_is_told_of_compare_cuda(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = available()
    monkeypatch.setattr(session, "available", lambda: {**found, "cuda": "cuda: no pycuda"})
    monkeypatch.setattr(render, "nvidia_present", lambda: True)
    shown = harness("run", harness.suite(), "--backend", "numpy", "--dry-run")
    assert "tox -e compare-cuda" in shown.err


MISSING = {"opencl": "opencl: PoCL has no device", "cuda": "cuda: no pycuda"}


@pytest.fixture
def _no_opencl(monkeypatch: pytest.MonkeyPatch) -> None:
    found = available()
    monkeypatch.setattr(session, "available", lambda: {**found, **MISSING})


@pytest.mark.usefixtures("_no_opencl")
def test_a_backend_asked_for_by_name_and_not_there_ends_the_run_before_it_begins(harness: Harness) -> None:
    names = ("--backend", "numpy", "--backend", "opencl")
    shown = harness("run", harness.suite(), *names, "--run", "my.jsonl")
    assert shown.code == 2
    assert "error: not available: opencl: PoCL has no device" in shown.err
    assert not Path("my.jsonl").exists()
    tested = harness("selftest", *names)
    assert tested.code == 2
    assert "error: not available: opencl: PoCL has no device" in tested.err


@pytest.mark.usefixtures("_no_opencl")
def test_a_comparison_without_opencl_says_so(harness: Harness) -> None:
    shown = harness("run", harness.suite(), "--dry-run")
    assert shown.code == 0
    assert "not available: opencl: PoCL has no device" in shown.err


@pytest.mark.parametrize(("cpu", "is_told"), [(environment.cpu_name(), True), ("another machine's", False)])
def test_a_backend_that_was_there_at_the_last_run_is_missed(
    harness: Harness, cpu: str, is_told: bool
) -> None:
    last = Path("last.jsonl")
    devices = [{"backend": "torch", "index": 0}, {"backend": "numpy", "index": 0}]
    RunWriter(last, {"host": {"cpu": cpu}, "devices": devices}).close()
    Path("notes.jsonl").write_text("no run", encoding="utf-8")
    Path("link.jsonl").symlink_to("nowhere")
    plan = session.plan_run(session.Request(str(harness.suite())))
    plan = replace(plan, missing={"torch": "torch: no such module", "cupy": "cupy: no such module"})
    told = "torch was there at the last run (last.jsonl) and is not now: torch: no such module"
    assert session.gone_since(Path(), plan) == [told] * is_told
    others = replace(plan, request=session.Request(backends=("numpy",)))
    assert session.gone_since(Path(), others) == []


def test_a_run_says_what_was_there_at_the_last(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "gone_since", lambda folder, _: [f"torch was there, by {folder}"])
    _unmeasured(monkeypatch)
    shown = harness("run", harness.suite(), "--device", "numpy:0", "--run", "runs/my.jsonl")
    assert "warning: torch was there, by runs\n" in shown.err


def _unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_cases(cases: Sequence[Case], writer: Any, *_: object) -> None:
        for case in cases:
            writer.write(Record(case, "skipped", "for speed"))

    monkeypatch.setattr(session, "run_cases", run_cases)


@pytest.mark.parametrize("folder", ["/proc/page", "tiny.toml/page"])
def test_a_report_that_cannot_be_written_ends_the_run_before_it_begins(harness: Harness, folder: str) -> None:
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl", "--report", folder)
    assert shown.code == 2
    assert f"error: no report can be written to {folder}: " in shown.err
    assert "choose another folder with --report" in shown.err
    assert not Path("my.jsonl").exists()


def test_a_resumed_run_whose_backend_is_gone_says_why(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path("my.jsonl")
    plan = session.plan_run(session.Request(str(harness.suite())))
    assert any(device.backend == "opencv" for device in plan.devices)
    RunWriter(path, session._environment(plan, "harness run")).close()
    found = available()
    monkeypatch.setattr(session, "available", lambda: {**found, "opencv": "opencv: wrong ELF class"})
    said = _refused(harness, path)
    assert ", now absent; " in said
    assert "; opencv: wrong ELF class; have it as it was" in said


def test_report_of_several_runs(harness: Harness) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        assert harness("run", harness.suite(), "--backend", "numpy", "--run", name).code == 0
    shown = harness("report", "a.jsonl", "b.jsonl", "--report", "page", "--band", "0.07")
    assert shown.code == 0, shown.err
    assert shown.out == "report: page/index.html\n"
    page = (harness.folder / "page" / "index.html").read_text()
    assert "equivalence band of 7&nbsp;%" in page


def test_a_band_that_is_none_is_refused(harness: Harness) -> None:
    assert harness("run", harness.suite(), "--backend", "numpy", "--run", "a.jsonl").code == 0
    shown = harness("report", "a.jsonl", "--band", "-1", "--report", "page")
    assert shown.code == 2
    assert "equivalence band -1.0" in shown.err
    assert not (harness.folder / "page").exists()

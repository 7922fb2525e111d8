"""``harness run`` and ``harness report``: planning, measuring, resuming, exit codes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skimage.io import imsave

from backends import available
from harness import session, showing
from harness.controls import twins
from harness.lock import locked
from harness.records import Case, Record
from harness.runs import load_run
from harness.suite import suite_names
from tests.command import LAPLACE, SUITE, Harness, harness

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
    shown = harness("run", harness.suite(), "--backend", "numpy", "--output", "my.jsonl", "--report", "page")
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
    imsave("photo.png", np.random.default_rng(0).integers(0, 256, (30, 20, 3), dtype=np.uint8))
    suite = harness.suite(SUITE + LAPLACE)
    shown = harness("run", suite, "--backend", "numpy", "--image", "photo.png", "--output", "my.jsonl")
    assert shown.code == 0, shown.err
    run = load_run("my.jsonl")
    assert run.records[-1].case.problem.label.endswith("20x30")
    assert {image["title"] for image in run.images} >= {"laplacian"}


def test_finished_run_is_not_overwritten(harness: Harness) -> None:
    arguments = ("run", harness.suite(), "--backend", "numpy", "--output", "my.jsonl")
    assert harness(*arguments).code == 0
    before = Path("my.jsonl").read_bytes()
    again = harness(*arguments)
    assert again.code == 2
    assert "my.jsonl holds a run already" in again.err
    assert Path("my.jsonl").read_bytes() == before


def _killed(harness: Harness) -> Path:
    """A run file of which only the first case was measured, and half a line of the next."""
    assert harness("run", harness.suite(), "--backend", "numpy", "--output", "my.jsonl").code == 0
    path = Path("my.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:2]) + lines[2][:40], encoding="utf-8")
    return path


def test_killed_run_is_resumed(harness: Harness) -> None:
    path = _killed(harness)
    first = load_run(path).records
    shown = harness("run", "--resume", path)
    assert shown.code == 0, shown.err
    assert "[1/1] numpy:0 sum" in shown.err
    records = load_run(path).records
    assert records[:1] == first
    assert [record.case.problem.label for record in records] == ["minmax int32 50x40", "sum int32 50x40"]


def test_run_in_several_processes_with_controls(harness: Harness) -> None:
    suite = harness.suite(SUITE.replace("controls = false", "controls = true"))
    shown = harness("run", suite, "--backend", "numpy", "--processes", 2, "--output", "my.jsonl")
    assert shown.code == 0, shown.err
    run = load_run("my.jsonl")
    assert run.environment["options"]["processes"] == 2
    assert len(run.turns) == 2 * len(run.records) == 6
    (pair,) = twins(run.records)
    assert pair[1].case.role == "control"
    assert set(pair[1].clocks["queue"].blocks) == {0, 1}
    assert pair[1].ledger["watch"][0]["before"]["load"] >= 0


def test_a_budget_is_kept_for_a_resumed_run(harness: Harness) -> None:
    arguments = ("--backend", "numpy", "--budget", 2, "--output", "my.jsonl")
    assert harness("run", harness.suite(), *arguments).code == 0
    shown = harness("run", "--resume", "my.jsonl")
    assert shown.code == 0, shown.err
    assert load_run("my.jsonl").environment["options"]["budget"] == 2
    assert load_run("my.jsonl").environment["options"]["samples"] == session.BUDGET_SAMPLES


def test_a_run_begun_before_there_were_processes_is_resumed(harness: Harness) -> None:
    path = _killed(harness)
    first, *others = path.read_text(encoding="utf-8").splitlines(keepends=True)
    environment = json.loads(first)
    for name in ("processes", "budget"):
        del environment["options"][name], environment["request"][name]
    path.write_text(json.dumps(environment) + "\n" + "".join(others), encoding="utf-8")
    assert harness("run", "--resume", path).code == 0


def test_a_device_that_is_being_measured_is_refused(harness: Harness) -> None:
    suite = harness.suite()
    with locked({"cpu": ["opencl:0"]}, "harness run full"):
        shown = harness("run", suite, "--backend", "numpy", "--output", "my.jsonl")
        tested = harness("selftest", "--backend", "numpy")
    assert (shown.code, tested.code) == (2, 2)
    assert f"cpu (numpy:0) is being measured by process {os.getpid()} since" in shown.err
    assert "harness run full; wait until it has ended, or choose another with --device" in shown.err
    assert not Path("my.jsonl").exists()


def test_a_resumed_run_of_a_busy_device_is_refused_and_left_as_it_is(harness: Harness) -> None:
    path = _killed(harness)
    before = path.read_bytes()
    with locked({"cpu": []}, "x"):
        assert harness("run", "--resume", path).code == 2
    assert path.read_bytes() == before


def test_resume_takes_no_other_options(harness: Harness) -> None:
    shown = harness("run", "--resume", _killed(harness), "--backend", "opencl")
    assert shown.code == 2
    assert "give nothing else with --resume" in shown.err


def test_resume_of_a_changed_suite_is_refused(harness: Harness) -> None:
    path = _killed(harness)
    harness.suite(SUITE.replace("samples = 3", "samples = 4"))
    shown = harness("run", "--resume", path)
    assert shown.code == 2
    assert "samples was 3, now 4" in shown.err


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
    shown = harness("run", harness.suite(), "--backend", "numpy", "--output", "my.jsonl")
    assert shown.code == 130
    assert "harness run --resume my.jsonl" in shown.err


def test_nvidia_gpu_without_cuda_is_told_of_compare_cuda(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = available()
    monkeypatch.setattr(session, "available", lambda: {**found, "cuda": "cuda: no pycuda"})
    monkeypatch.setattr(showing, "nvidia_present", lambda: True)
    shown = harness("run", harness.suite(), "--backend", "numpy", "--dry-run")
    assert "tox -e compare-cuda" in shown.err


def test_report_of_several_runs(harness: Harness) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        assert harness("run", harness.suite(), "--backend", "numpy", "--output", name).code == 0
    shown = harness("report", "a.jsonl", "b.jsonl", "--output", "page", "--band", "0.07")
    assert shown.code == 0, shown.err
    assert shown.out == "report: page/index.html\n"
    page = (harness.folder / "page" / "index.html").read_text()
    assert "equivalence band of 7&nbsp;%" in page


def test_a_band_that_is_none_is_refused(harness: Harness) -> None:
    assert harness("run", harness.suite(), "--backend", "numpy", "--output", "a.jsonl").code == 0
    shown = harness("report", "a.jsonl", "--band", "-1", "--output", "page")
    assert shown.code == 2
    assert "equivalence band -1.0" in shown.err
    assert not (harness.folder / "page").exists()

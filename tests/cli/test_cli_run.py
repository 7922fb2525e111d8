"""``harness run`` and ``harness report``: planning, measuring, exit codes."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from skimage.io import imsave

from backends import available
from harness.cli import render
from harness.results.file_content import MAX_BYTES
from harness.results.run_writer import RunWriter
from harness.results.runfile import load_run
from harness.runner import environment, planning, session
from harness.runner.device_lock import locked
from harness.runner.plan import Request
from harness.suites.control_cases import twins
from harness.suites.files import suite_names
from tests.support.command import LAPLACE, SUITE, Harness, harness, photograph, unmeasured

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


NOTHING_FOR_NUMPY = {"bandwidth", "dialects", "huge", "launch", "libraries_huge", "limits"}
"""Suites with nothing in them for the reference on a processor."""


@pytest.mark.parametrize("name", sorted(set(suite_names()) - NOTHING_FOR_NUMPY))
def test_dry_run_of_the_suites_that_ship(harness: Harness, name: str) -> None:
    shown = harness("run", name, "--backend", "numpy", "--dry-run")
    assert shown.code == 0
    assert "cases to measure" in shown.out


def test_a_run_that_measured_nothing_is_a_failure(harness: Harness) -> None:
    shown = harness(
        "run", "--op", "sum", "--shape", "99999999999", "--backend", "opencl", "--run", "my.jsonl"
    )
    if shown.code == 2:
        pytest.skip(f"no OpenCL here: {shown.err}")
    assert shown.code == 1
    assert "error: nothing was measured" in shown.err


def test_a_folder_is_no_run_file(harness: Harness) -> None:
    Path("folder").mkdir()
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "folder")
    assert shown.code == 2
    assert "folder is a folder, a pipe or a device; name another file" in shown.err


@pytest.mark.smoke
def test_run_measures_and_says_where_everything_is(harness: Harness) -> None:
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl", "--report", "page")
    assert shown.code == 0, shown.err
    assert "run file: my.jsonl" in shown.out
    assert shown.out.splitlines()[-1] == "report:   page/my.html"
    assert "2 ok" in shown.out
    *_, loud, answer, counts, run_file, page = shown.out.splitlines()
    assert loud.startswith("NEITHER OPENCL NOR CUDA RAN: nothing here compares the two. ")
    # As there is on the machine, or not.
    here = "opencl is here, and was not asked for: --backend opencl adds it; How to get cuda: "
    assert here in loud or "How to get opencl: " in loud
    assert answer.endswith(": Nothing to compare: numpy alone was measured here.")
    assert (counts, run_file, page) == ("2 ok", "run file: my.jsonl", "report:   page/my.html")
    assert "[2/2] numpy:0 sum int32 50x40: " in shown.err
    assert shown.out.isascii()
    run = load_run(harness.folder / "my.jsonl")
    assert [record.status for record in run.records] == ["ok", "ok"]
    assert run.environment["command"].startswith("harness run ")
    assert run.environment["request"]["backends"] == ["numpy"]
    assert (harness.folder / "page" / "my.html").read_text(encoding="utf-8").startswith("<!")
    assert '<a href="my.html">' in (harness.folder / "page" / "index.html").read_text(encoding="utf-8")


def test_run_has_a_file_of_its_own_by_default(harness: Harness) -> None:
    shown = harness("run", harness.suite(), "--device", "numpy:0")
    assert shown.code == 0, shown.err
    folder = harness.folder / "reports" / "generated"
    (run_file,) = folder.glob("tiny-*.jsonl")
    assert load_run(run_file).environment["suite"].endswith("tiny.toml")
    assert run_file.with_suffix(".html").exists()
    assert (folder / "index.html").exists()


def test_run_with_aphotograph(harness: Harness) -> None:
    photograph(Path("photo.png"))
    suite = harness.suite(SUITE + LAPLACE)
    shown = harness("run", suite, "--backend", "numpy", "--image", "photo.png", "--run", "my.jsonl")
    assert shown.code == 0, shown.err
    run = load_run("my.jsonl")
    assert run.records[-1].case.problem.label.endswith("20x30")
    titles = ["original", "laplacian", "sharpened"]
    assert [image["title"] for image in run.images] == titles
    folder = Path("reports/generated")
    assert {path.name for path in folder.glob("*.png")} == {f"my-{title}.png" for title in titles}
    page = (folder / "my.html").read_text(encoding="utf-8")
    assert "All of numpy:0 agree bit for bit" in page
    assert "The middle of photo.png, by the reference" in page


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
    assert "my.jsonl is not empty; resume it if it is a run" in again.err
    assert Path("my.jsonl").read_bytes() == before


@pytest.mark.parametrize("name", ["/proc/nowhere/my.jsonl", "x" * 300, "my.jsonl.xz", "/dev/null"])
def test_a_run_file_that_cannot_be_written_is_a_mistake(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    unmeasured(monkeypatch)
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", name)
    assert (shown.code, shown.out) == (2, "")
    assert f"error: {name}" in shown.err
    assert "; name " in shown.err


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
    assert pair[1].provenance["watch"][0]["before"]["load"] >= 0


def test_a_device_that_is_being_measured_is_refused(harness: Harness) -> None:
    suite = harness.suite()
    with locked({"cpu": ["opencl:0"]}, "harness run full"):
        shown = harness("run", suite, "--backend", "numpy", "--run", "my.jsonl")
        tested = harness("selftest", "--backend", "numpy")
    assert (shown.code, tested.code) == (2, 2)
    assert f"cpu (numpy:0) is being measured by process {os.getpid()} since" in shown.err
    assert "harness run full; wait until it has ended, or choose another with --device" in shown.err
    assert not Path("my.jsonl").exists()


def test_json_of_what_would_be_run(harness: Harness) -> None:
    shown = harness("run", harness.suite(), "--backend", "numpy", "--dry-run", "--json")
    cases = json.loads(shown.out)["cases"]
    assert [each["case"]["problem"]["op"] for each in cases] == ["minmax", "sum"]
    assert [each["skipped"] for each in cases] == [None, None]


def test_interrupt_says_how_to_go_on(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_cases(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "run_cases", run_cases)
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl")
    assert shown.code == 130
    assert "harness run --resume my.jsonl" in shown.err


@pytest.mark.parametrize("where", [("--run", "my.jsonl"), ("--run", "my", "--cluster", "local")])
def test_a_limit_that_is_none_ends_the_run_before_it_begins(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, where: tuple[str, ...]
) -> None:
    monkeypatch.setenv(MAX_BYTES, "abc")
    shown = harness("run", harness.suite(), "--backend", "numpy", *where)
    assert shown.code == 2
    assert shown.err.endswith("error: HARNESS_MAX_RUN_BYTES='abc': it must be a number of bytes above 0\n")
    assert not Path(where[1]).exists()


def test_a_run_reads_what_it_has_written_whatever_its_size(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MAX_BYTES, "10")
    unmeasured(monkeypatch, "ok")
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl")
    assert shown.code == 0, shown.err
    assert "2 ok" in shown.out


def test_a_run_in_the_place_of_the_list_of_pages_ends_the_run_before_it_begins(harness: Harness) -> None:
    Path("page").mkdir()
    RunWriter("page/index.html", {}).close()
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl", "--report", "page")
    assert shown.code == 2
    assert "page/index.html is a run file, but a file of the report has this name" in shown.err
    assert not Path("my.jsonl").exists()


def test_nvidia_gpu_without_cuda_is_told_of_compare_cuda(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = available()
    monkeypatch.setattr(planning, "available", lambda: {**found, "cuda": "cuda: no pycuda"})
    monkeypatch.setattr(render, "nvidia_present", lambda: True)
    shown = harness("run", harness.suite(), "--backend", "numpy", "--dry-run")
    assert "tox -e compare-cuda" in shown.err


MISSING = {"opencl": "opencl: PoCL has no device", "cuda": "cuda: no pycuda"}


@pytest.fixture
def _no_opencl(monkeypatch: pytest.MonkeyPatch) -> None:
    found = available()
    monkeypatch.setattr(planning, "available", lambda: {**found, **MISSING})


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
    plan = planning.plan_run(Request(str(harness.suite())))
    plan = replace(plan, missing={"torch": "torch: no such module", "cupy": "cupy: no such module"})
    told = "torch was there at the last run (last.jsonl) and is not now: torch: no such module"
    assert planning.gone_since(Path(), plan) == [told] * is_told
    others = replace(plan, request=Request(backends=("numpy",)))
    assert planning.gone_since(Path(), others) == []


def test_of_a_folder_that_cannot_be_read_nothing_is_missed(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    plan = planning.plan_run(Request(str(harness.suite())))
    monkeypatch.setattr(Path, "glob", refuse)
    assert planning.gone_since(Path("shut"), plan) == []


def test_a_run_says_what_was_there_at_the_last(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "gone_since", lambda folder, _: [f"torch was there, by {folder}"])
    unmeasured(monkeypatch)
    shown = harness("run", harness.suite(), "--device", "numpy:0", "--run", "runs/my.jsonl")
    assert "warning: torch was there, by runs\n" in shown.err


@pytest.mark.parametrize("folder", ["/proc/page", "tiny.toml/page"])
def test_a_report_that_cannot_be_written_ends_the_run_before_it_begins(harness: Harness, folder: str) -> None:
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl", "--report", folder)
    assert shown.code == 2
    assert f"error: no report can be written to {folder}: " in shown.err
    assert "choose another folder with --report" in shown.err
    assert not Path("my.jsonl").exists()


def test_report_of_several_runs(harness: Harness) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        assert harness("run", harness.suite(), "--backend", "numpy", "--run", name).code == 0
    shown = harness("report", "a.jsonl", "b.jsonl", "--report", "page", "--band", "0.07")
    assert shown.code == 0, shown.err
    assert shown.out == "report: page/a+b.html\n"
    page = (harness.folder / "page" / "a+b.html").read_text()
    assert "equivalence band of 7&nbsp;%" in page


def test_a_band_that_is_none_is_refused(harness: Harness) -> None:
    assert harness("run", harness.suite(), "--backend", "numpy", "--run", "a.jsonl").code == 0
    shown = harness("report", "a.jsonl", "--band", "-1", "--report", "page")
    assert shown.code == 2
    assert "'--band': '-1' is not a number from 0 to 0.5" in shown.err
    assert not (harness.folder / "page").exists()


@pytest.mark.parametrize(("budget", "is_short"), [(1, True), (600, False)])
def test_a_budget_that_is_too_short_is_told(harness: Harness, budget: int, is_short: bool) -> None:
    shown = harness("run", "quick", "--backend", "numpy", "--budget", budget, "--dry-run")
    assert shown.code == 0, shown.err
    told = " ".join(shown.err.split())
    assert (f"note: --budget {budget} is short: each of " in told) == is_short

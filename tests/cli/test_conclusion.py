"""The end of ``harness run``: what it says of what was measured, the page, and the exit code."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import reports
from harness.cli.conclusion import conclude_fleet
from harness.results.record import Case
from harness.results.runfile import load_run
from harness.runner import session
from harness.runner.signals import Ended
from reports.dataset import frame
from reports.ratios import comparisons
from tests.support.command import Harness, harness, unmeasured
from tests.support.report_data import record, reduction, run_of

__all__ = ["harness"]


def test_json_of_a_run_is_all_that_is_on_standard_output(harness: Harness) -> None:
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl", "--json")
    assert shown.code == 0, shown.err
    told = json.loads(shown.out)
    assert (told["run"], told["report"]) == ("my.jsonl", "reports/generated/my.html")
    assert (told["band"], told["confidence"], told["counts"]) == (0.02, 0.95, {"ok": 2})
    records = load_run("my.jsonl").records
    assert [Case.from_json(each["case"]) for each in told["cases"]] == [record.case for record in records]
    assert [(each["status"], each["seconds"] > 0) for each in told["cases"]] == [("ok", True)] * 2
    assert told["ratios"] == []
    assert "run file: my.jsonl" in shown.err


def test_json_of_a_run_has_each_ratio_with_its_interval_and_verdict(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = [record("opencl", reduction(), 1e-6), record("cuda", reduction(), 2e-6)]
    broken = record("cuda", reduction("sum"), status="failed", reason="BuildError: no such type")
    recorded = replace(run_of(*sides, broken), path=Path("my.jsonl"))
    monkeypatch.setattr(session, "measure", lambda *_: recorded)
    shown = harness("run", harness.suite(), "--backend", "numpy", "--json")
    assert (shown.code, "wrong and" in shown.err) == (1, True)
    told = json.loads(shown.out)
    (found,) = told["ratios"]
    (row,) = comparisons(frame(recorded))[0].fastest.itertuples()
    assert (found["first"], found["second"], found["verdict"]) == ("OpenCL", "CUDA", row.verdict)
    assert (found["ratio"], found["interval"]) == (row.gross, [row.low, row.high])
    assert (found["first_seconds"], found["second_backend"]) == (row.first_queue, "cuda")
    failed = [each for each in told["cases"] if each["status"] == "failed"]
    assert [(each["seconds"], each["reason"]) for each in failed] == [(None, "BuildError: no such type")]


@pytest.mark.parametrize("status", ["wrong", "failed"])
def test_wrong_or_failed_cases_end_in_exit_code_1(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, status: Any
) -> None:
    unmeasured(monkeypatch, status)
    shown = harness("run", harness.suite(), "--backend", "numpy")
    assert shown.code == 1
    assert f"2 {status}" in shown.err
    assert "report: " in shown.out


@pytest.mark.parametrize(("end", "code"), [(KeyboardInterrupt(), 130), (Ended(15), 143)])
def test_who_stops_the_page_is_told_that_the_run_is_whole(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, end: BaseException, code: int
) -> None:
    _without_a_page(monkeypatch, end)
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl")
    assert shown.code == code
    assert shown.err.endswith("stopped; the run is whole: `harness report my.jsonl` writes its page\n")


def test_a_page_that_may_not_be_written_wants_no_room(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_a_page(monkeypatch, OSError(errno.EACCES, os.strerror(errno.EACCES), "page/x.png"))
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl", "--band", "0.05")
    assert shown.code == 1
    assert shown.err.endswith("Permission denied; mend that, then `harness report my.jsonl --band 0.05`\n")


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["table", "json"])
def test_what_was_measured_is_told_though_the_disk_has_no_room_for_the_page(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, as_json: tuple[str, ...]
) -> None:
    _without_a_page(monkeypatch, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "page/x.png"))
    arguments = ("--backend", "numpy", "--run", "my.jsonl", "--report", "my page", *as_json)
    shown = harness("run", harness.suite(), *arguments)
    assert shown.code == 1
    why = "the report cannot be written to my page: No space left on device"
    told = f"error: {why}; make room, then `harness report my.jsonl --report 'my page'`\n"
    assert shown.err.endswith(told)
    assert "report:" not in shown.out
    if as_json:
        found = json.loads(shown.out)
        assert (found["report"], found["counts"]) == (None, {"ok": 2})
    else:
        assert shown.out.startswith("+--")
        assert shown.out.endswith("2 ok\nrun file: my.jsonl\n")


def test_a_fleet_without_room_for_its_page_is_told_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _without_a_page(monkeypatch, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    runs = [replace(run_of(record("opencl", reduction())), path=Path("my", name)) for name in "ab"]
    assert not conclude_fleet(runs, Path("page"), 0.02, as_json=False)
    shown = capsys.readouterr()
    assert "run file: my/a\nrun file: my/b\n2 ok\n" in shown.out
    assert shown.err.endswith("make room, then `harness report my/*.jsonl --report page`\n")


def _without_a_page(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def write_report(*_: object) -> None:
        raise error

    unmeasured(monkeypatch, "ok")
    monkeypatch.setattr(reports, "write_report", write_report)

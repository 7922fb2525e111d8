"""The pages in a folder: their names, what is not overwritten, and the list of them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import reports
from harness.results.record import Record
from harness.results.runfile import Run
from tests.support.html import HOSTILE, Page
from tests.support.report_data import record, reduction, run_of


def named(name: str, folder: Path, *records: Record, **changes: Any) -> Run:
    """A run that came from a file of this name."""
    return replace(run_of(*records, **changes), path=folder / name)


def test_a_report_is_named_by_its_run_and_listed(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    older = named(
        "a.jsonl.xz", tmp_path, record("opencl", reduction(), 1e-6), record("cuda", reduction(), 1e-6)
    )
    newer = named("b.jsonl", tmp_path, suite="another suite", started="2026-02-02T03:04:05+00:00")
    assert reports.write_report([newer], folder) == folder / "b.html"
    assert reports.write_report([older], folder) == folder / "a.html"
    assert reports.write_report([newer, older], folder) == folder / "b+a.html"
    listed = (folder / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'<a href="([^"]+)"', listed)[-1] == "a.html"
    assert {file.name for file in folder.iterdir()} == {"a.html", "b.html", "b+a.html", "index.html"}
    assert "Nothing was measured." in listed
    assert "1 of 1 case" in listed or "in 1 of 1 case" in listed


def test_another_run_of_the_same_name_overwrites_no_page(tmp_path: Path) -> None:
    one, other = (named("run.jsonl", tmp_path / name, commit=name) for name in ("one", "other"))
    first = reports.write_report([one], tmp_path)
    before = first.read_bytes()
    assert reports.write_report([other], tmp_path).name == "run-2.html"
    assert first.read_bytes() == before
    assert reports.write_report([other], tmp_path, 0.05).name == "run-2.html", "once more of the same run"
    assert reports.write_report([one], tmp_path) == first


def test_a_page_of_another_program_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "run.html").write_text("mine", encoding="utf-8")
    assert reports.write_report([named("run.jsonl", tmp_path)], tmp_path).name == "run-2.html"
    assert reports.write_report([named("index.jsonl", tmp_path)], tmp_path).name == "run-index.html"


def test_the_list_has_the_history_of_a_device(tmp_path: Path) -> None:
    for day in (1, 2):
        pair = record("opencl", reduction(), 1e-6), record("cuda", reduction(), day * 1e-6)
        started = f"2026-01-0{day}T00:00:00+00:00"
        reports.write_report([named(f"{day}.jsonl", tmp_path, *pair, started=started)], tmp_path)
    page = Page((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert page.count("svg") == 2, "the shapes of marks, and a chart"
    shapes = {href.removeprefix("#") for href in page.values("href") if href.startswith("#shape")}
    assert shapes
    assert shapes <= set(page.values("id"))
    assert "NVIDIA H200 (0000:3b:00.0), suite synthetic" in page.text
    assert [text for text in page.text if re.fullmatch(r"2026-01-0\d 0123456", text)] == [
        "2026-01-01 0123456",
        "2026-01-02 0123456",
    ]


def test_hostile_pages_are_inert_in_the_list(tmp_path: Path) -> None:
    reports.write_report(
        [named("a.jsonl", tmp_path, suite=HOSTILE, started=HOSTILE, commit=HOSTILE)], tmp_path
    )
    (tmp_path / "b.html").write_text('<meta name="harness-page" content="[1]">', encoding="utf-8")
    page = Page((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert page.count("script") == 0
    assert page.values("href") == ["a.html"]


def test_a_report_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = named("a.jsonl", tmp_path)
    page = reports.write_report([run], tmp_path / "pages")
    before = {file: file.read_bytes() for file in page.parent.iterdir()}

    def refuse(_self: Path, _target: Path) -> Path:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        reports.write_report([run], page.parent, 0.05)
    assert {file: file.read_bytes() for file in page.parent.iterdir()} == before


def test_a_report_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one run"):
        reports.write_report([], tmp_path)

"""What the command line shows: plain tables and lines where there is no terminal, a bar where there is."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Any

import pytest
from rich.table import Table

from harness.console import Watcher, console, print_table, show_table
from harness.problems import Reduction
from harness.records import Case, Clock, Record
from harness.runner import Progress
from harness.variants import Plain

CASE = Case("numpy", 0, Reduction("minmax", "int32", (50, 40)), Plain())


def test_plain_table_is_ascii_whole_and_literal(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 300
    show_table("Title", ("a", "b"), [("[red]not markup[/red]", 5), (long, 12)])
    shown = capsys.readouterr().out
    assert shown.isascii()
    assert "[red]not markup[/red]" in shown
    assert long in shown


def test_plain_form_of_anybodys_table(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("column")
    table.add_row("– 5 µs † 2×2")
    print_table(table)
    assert "- 5 us * 2x2" in capsys.readouterr().out


class _Terminal:
    """A stream that says it is a terminal and keeps what is written."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.written = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None:
        pass


def test_colours_only_without_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    written = {}
    for setting in ("", "1"):
        monkeypatch.setenv("NO_COLOR", setting)
        stream: Any = _Terminal()
        console(stream).print("[red]red[/red]")
        written[setting] = stream.written
    assert "\x1b[31m" in written[""]
    assert "\x1b[3" not in written["1"]


def test_progress_on_a_terminal_is_drawn_only_when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stream: Any = _Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    with Watcher() as watcher:
        watcher(Progress(0, 2, None, CASE))
        assert "minmax int32 50x40" in stream.written
        before = stream.written
        time.sleep(0.3)
        assert stream.written == before
        watcher(Progress(1, 2, Record(CASE, "wrong", "first line\nsecond"), None))
    assert "wrong: first line" in stream.written
    assert "second" not in stream.written


def test_progress_elsewhere_is_a_line_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    with Watcher() as watcher:
        watcher(Progress(0, 10, None, CASE))
        watcher(Progress(1, 10, Record(CASE, "ok", clocks={"queue": Clock((3e-6, 1e-6, 2e-6))}), CASE))
        watcher(Progress(2, 10, Record(CASE, "skipped", "too large"), None))
    assert capsys.readouterr().err.splitlines() == [
        "[ 1/10] numpy:0 minmax int32 50x40: 2.0 us",
        "[ 2/10] numpy:0 minmax int32 50x40: skipped: too large",
    ]


def test_progress_elsewhere_tells_of_a_further_block_once(capsys: pytest.CaptureFixture[str]) -> None:
    measured = Record(CASE, "ok", clocks={"queue": Clock((2e-6,))})
    again = [measured.in_block(0, block) for block in (0, 1, 1, 2)]
    with Watcher() as watcher:
        for done, record in enumerate([*again, again[-1]], 1):
            watcher(Progress(done, 10, record, CASE))
        watcher(Progress(6, 10, replace(again[-1], status="failed", reason="lost"), None))
    assert capsys.readouterr().err.splitlines() == [
        "[ 1/10] numpy:0 minmax int32 50x40: 2.0 us",
        "[ 2/10] all cases once more, block 2",
        "[ 4/10] all cases once more, block 3",
        "[ 6/10] numpy:0 minmax int32 50x40: failed: lost",
    ]

"""What the command line shows: plain tables and lines where there is no terminal, a bar where there is."""

from __future__ import annotations

import re
import sys
import time
from dataclasses import replace
from typing import Any

import pytest
from rich.table import Table

from harness.cli.conclusion import LAST, SPARE
from harness.cli.progress import Watcher
from harness.cli.terminal import console, print_table, show_table
from harness.problems import Laplace, Problem, Reduction
from harness.results.record import Case, Record, Samples
from harness.runner.run import Progress
from harness.variants.axes import LibraryVariant, label
from reports import terminal_table
from tests.support.report_data import REDUCTION as REDUCTION_VARIANT
from tests.support.report_data import record, reduction, run_of, variant_of

CASE = Case("numpy", 0, Reduction("minmax", "int32", (50, 40)), LibraryVariant())


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

    @property
    def plain(self) -> str:
        """What is written, without bold and slanted."""
        return re.sub(r"\x1b\[\d*m", "", self.written)

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None:
        pass


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> Any:
    """A terminal of so many columns in the place of stdout."""
    stream = _Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    for name, value in {"COLUMNS": str(width), "NO_COLOR": "1", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    return stream


REDUCTION = reduction("minmax", "uint8", 1280)
FILTER = Laplace("eight_negated", "reflect_101", "sharpened", "float32", 2560, 2560, 3)
LEFT_OUT = {
    200: "",
    120: "variant, of fastest",
    100: "variant, of fastest, interval",
    80: "variant, of fastest, interval, GB/s, % of limit",
    60: "variant, of fastest, interval, GB/s, % of limit, OpenCL is",
    50: "variant, of fastest, interval, GB/s, % of limit, OpenCL is, ratio",
}
"""What the table of a run has no room for, by the terminal's columns, where problems are reductions."""


@pytest.mark.parametrize("filtered", [False, True], ids=["reductions", "filters"])
@pytest.mark.parametrize("width", LEFT_OUT)
def test_problems_are_whole_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, width: int, filtered: bool
) -> None:
    problem: Problem = FILTER if filtered else REDUCTION
    run = run_of(record("opencl", problem, 8e-6), record("cuda", problem, 6e-6))
    stream = on_a_terminal(monkeypatch, width)
    print_table(terminal_table(run), SPARE, LAST)
    lines = stream.plain.splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in stream.plain
    for word in (*problem.label.split(), "opencl:0", "cuda:0", "8.00", "6.00", "hot"):
        assert word in stream.plain.split(), word
    told = " ".join(stream.plain.split()).partition("No room for: ")[2].partition("; ")[0]
    if not filtered:
        assert told == LEFT_OUT[width]
        assert (problem.label in stream.plain) == (width >= 80)
    assert (label(variant_of(problem, "opencl")) in stream.plain) == ("variant" not in told)


@pytest.mark.parametrize(("width", "is_shown"), [(10, False), (20, False), (23, False), (24, True)])
def test_a_table_of_empty_cells_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int, is_shown: bool
) -> None:
    stream = on_a_terminal(monkeypatch, width)
    print_table(terminal_table(run_of(record("opencl", REDUCTION, 8e-6))), SPARE, LAST)
    told = " ".join(capsys.readouterr().err.split())
    no_room = f"no room for the table in {width} columns; use a wider terminal, or --json"
    assert ("8.00" in stream.plain, told) == (is_shown, "" if is_shown else no_room)
    assert bool(stream.plain) == is_shown


def cells(*records: Record) -> list[list[str]]:
    """The rows of a run's table."""
    table = terminal_table(run_of(*records))
    return [list(map(str, row)) for row in zip(*(column.cells for column in table.columns), strict=True)]


def test_each_time_is_told_as_a_multiple_of_the_fastest() -> None:
    rows = cells(record("opencl", REDUCTION, 9e-6), record("cuda", REDUCTION, 6e-6))
    assert [(row[2], row[4]) for row in rows] == [("cuda:0", "1.00"), ("opencl:0", "1.50")]
    ratio, interval, verdict = rows[0][7:10]
    assert (ratio, verdict) == ("0.67", "slower")
    low, high = map(float, interval.split(" to "))
    assert low <= 0.67 <= high < 0.98


@pytest.mark.parametrize(("variants", "shown"), [(1, 1), (4, 4), (5, 1)])
def test_few_variants_stand_side_by_side(variants: int, shown: int) -> None:
    made = [replace(REDUCTION_VARIANT, group_size=32 * 2**place) for place in range(variants)]
    rows = cells(
        *(record("opencl", REDUCTION, (2 + at) * 1e-6, variant=each) for at, each in enumerate(made)),
        record("cuda", REDUCTION, 1e-6),
    )
    assert [row[2] for row in rows] == ["cuda:0", *["opencl:0"] * shown]
    assert [row[-1] for row in rows[1:]] == [label(each) for each in made[:shown]]
    assert rows[0][7] == "0.50", "the ratio is that of the fastest"


def test_what_is_no_terminal_has_every_column(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    print_table(terminal_table(run_of(record("opencl", FILTER, 8e-6))), SPARE, LAST)
    shown = capsys.readouterr().out
    assert label(variant_of(FILTER, "opencl")) in shown
    assert FILTER.label in shown
    assert "No room" not in shown


def test_a_listing_gives_up_its_variants_before_a_word_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    columns, row = (
        ("device", "problem", "variant", "cache", "verdict"),
        ("opencl:0", REDUCTION.label, "buffer sequential", "hot", "ambiguous"),
    )
    for width, variant, whole in ((120, True, True), (73, True, True), (60, True, False), (55, False, False)):
        stream = on_a_terminal(monkeypatch, width)
        show_table("Cases", columns, [row])
        assert max(map(len, stream.plain.splitlines())) <= width
        words = stream.plain.split()
        assert {"opencl:0", *REDUCTION.label.split(), "hot", "ambiguous"} <= set(words)
        assert ("sequential" in words) == variant, width
        assert (REDUCTION.label in stream.plain) == whole, width
        assert ("No room for: variant" in stream.plain) == (not variant)


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
        watcher(Progress(1, 10, Record(CASE, "ok", clocks={"queue": Samples((3e-6, 1e-6, 2e-6))}), CASE))
        watcher(Progress(2, 10, Record(CASE, "skipped", "too large"), None))
    assert capsys.readouterr().err.splitlines() == [
        "[ 1/10] numpy:0 minmax int32 50x40: 2.0 us",
        "[ 2/10] numpy:0 minmax int32 50x40: skipped: too large",
    ]


def test_progress_tells_of_compiling(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    states = [Progress(0, 10, None, CASE, compiled=done, to_compile=9) for done in (0, 0, 1, 9)]
    with Watcher() as watcher:
        for state in states:
            watcher(state)
    assert capsys.readouterr().err == "compiling the kernels of 9 cases\n"
    stream: Any = _Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    with Watcher() as watcher:
        watcher(states[2])
    assert "1/9" in stream.written
    assert "compiling kernels" in stream.written


def test_progress_tells_what_is_undecided(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    again = Record(CASE, "ok", clocks={"queue": Samples((2e-6,))}).in_block(0, 1)
    with Watcher() as watcher:
        watcher(Progress(5, 10, again, CASE, 3, 8))
    assert capsys.readouterr().err == "[ 5/10] all cases once more, round 2: 3 of 8 undecided\n"
    stream: Any = _Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    with Watcher() as watcher:
        watcher(Progress(5, 10, again, CASE, 3, 8))
    assert "3 of 8 undecided, numpy:0 minmax int32 50x40" in stream.written


def test_progress_elsewhere_tells_of_a_further_round_once(capsys: pytest.CaptureFixture[str]) -> None:
    measured = Record(CASE, "ok", clocks={"queue": Samples((2e-6,))})
    again = [measured.in_block(0, number) for number in (0, 1, 1, 2)]
    with Watcher() as watcher:
        for done, record in enumerate([*again, again[-1]], 1):
            watcher(Progress(done, 10, record, CASE))
        watcher(Progress(6, 10, replace(again[-1], status="failed", reason="lost"), None))
    assert capsys.readouterr().err.splitlines() == [
        "[ 1/10] numpy:0 minmax int32 50x40: 2.0 us",
        "[ 2/10] all cases once more, round 2",
        "[ 4/10] all cases once more, round 3",
        "[ 6/10] numpy:0 minmax int32 50x40: failed: lost",
    ]


def test_progress_tells_how_long_further_rounds_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    again = Record(CASE, "ok", clocks={"queue": Samples((2e-6,))}).in_block(0, 1)
    with Watcher() as watcher:
        watcher(Progress(5, 10, again, CASE, 3, 8, 41.2))
    said = "[ 5/10] all cases once more, round 2: 3 of 8 undecided, at most 42 s more\n"
    assert capsys.readouterr().err == said

"""The progress of a fleet: all devices on one screen, a line now and then elsewhere."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.live import Live

from harness.cli import fleet
from harness.fleet.device_run import DeviceRun
from harness.fleet.folder import Entry
from harness.fleet.unit import Unit


def running(host: str, done: int, path: Path) -> DeviceRun:
    unit = Unit(host, host, "0000:3b:00.0", "Big GPU", ("opencl:0",))
    entry = Entry(identity=host, host=host, physical="", name="", keys=[], cases=4, file=f"{host}.jsonl")
    run = DeviceRun(unit, path / entry.file, entry, 0.0)
    run.grant("token", "tcp://a", None, 0.0)
    run.take({"number": 0, "done": done, "total": 4, "next": "opencl:0 sum int32 9"}, 0.0)
    return run


def test_a_terminal_shows_each_device_that_runs_as_far_as_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, width=90, height=8)
    monkeypatch.setattr(fleet, "console", lambda _: terminal)
    monkeypatch.setattr(fleet, "REDRAW_S", 0.0)
    runs = [running(f"n{number}", 1, tmp_path) for number in range(6)]
    runs[0].conclude()
    with fleet.Screen() as screen:
        assert isinstance(screen._live, Live)
        screen.show(runs, 6)
    text = shown.getvalue()
    assert "n1 0000:3b:00.0" in text
    assert "1/4 opencl:0 sum int32 9" in text
    assert "n5" not in text
    assert "6 devices of 6 workers: 1 done, 5 running, 0 waiting, 0 failed; 0 records, 1 more running" in text


def test_elsewhere_a_line_tells_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [running("n", 1, tmp_path)]
    with fleet.Screen() as screen:
        screen.show(runs, 1)
        assert not capsys.readouterr().err
        monkeypatch.setattr(fleet, "TELL_S", 0.0)
        screen.show(runs, 1)
        screen.note("a\x1b[2J[b]")
    told = "1 devices of 1 workers: 0 done, 1 running, 0 waiting, 0 failed; 0 records\na\ufffd[2J[b]\n"
    assert capsys.readouterr().err == told

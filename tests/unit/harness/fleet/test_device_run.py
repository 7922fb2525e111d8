"""What a client takes of a lease's messages: each once, in order, and of that lease alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.fleet import folder as folders
from harness.fleet.device_run import DeviceRun, LostMessages
from harness.fleet.unit import FleetError, Unit
from harness.results.record import Record
from harness.results.run_lines import strict_json
from harness.results.runfile import load_run
from harness.runner.plan import Request
from tests.support.fake_runs import CASES

UNIT = Unit("GPU-1", "a", "0000:3b:00.0", "Big GPU", ("opencl:0",))


def begun(path: Path) -> DeviceRun:
    with folders.begun(path, Request(), "", "harness run") as folder:
        entry = folder.entry(UNIT)
    run = DeviceRun(UNIT, path / entry.file, entry, 0.0)
    run.grant("first", "tcp://a", None, 0.0)
    assert run.take(message(0, environment="{}"), 0.0)
    return run


def message(number: int, **content: Any) -> dict[str, Any]:
    return {"token": "first", "number": number, **content}


def record(number: int, place: int = 0) -> dict[str, Any]:
    return message(number, record=strict_json(Record(CASES[place], "ok").to_json()))


def test_a_message_that_comes_twice_counts_once(tmp_path: Path) -> None:
    run = begun(tmp_path)
    assert run.take(record(1), 0.0)
    assert not run.take(record(1, 1), 0.0)
    assert len(load_run(run.path).trials) == 1


def test_a_record_that_is_there_is_refused_in_a_later_lease(tmp_path: Path) -> None:
    run = begun(tmp_path)
    run.take(record(1), 0.0)
    run.give_up(0.0, 0.0)
    run.grant("second", "tcp://b", None, 0.0)
    assert not run.take(record(0), 0.0)
    assert run.take(record(1, 1), 0.0)
    assert [trial.case for trial in load_run(run.path).trials] == CASES[:2]


def test_a_gap_is_told_and_nothing_after_it_is_taken(tmp_path: Path) -> None:
    run = begun(tmp_path)
    with pytest.raises(LostMessages, match="1 messages of its worker were lost"):
        run.take(record(2), 0.0)
    assert not load_run(run.path).trials


def test_a_record_without_its_machine_is_refused(tmp_path: Path) -> None:
    run = begun(tmp_path)
    fresh = DeviceRun(UNIT, tmp_path / "other.jsonl", run.entry, 0.0)
    fresh.grant("first", "tcp://a", None, 0.0)
    with pytest.raises(ValueError, match="before the description of its machine"):
        fresh.take(record(0), 0.0)


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="case"):
        begun(tmp_path).take(message(1, record="{}"), 0.0)


def test_a_torn_line_is_cut_off_and_the_rest_sent_on(tmp_path: Path) -> None:
    run = begun(tmp_path)
    run.take(record(1), 0.0)
    run.close()
    with run.path.open("a", encoding="utf-8") as file:
        file.write('{"type": "record", "ca')
    again = DeviceRun(UNIT, run.path, run.entry, 0.0)
    assert again.records == 1
    assert b'"ca' not in again.begun


def test_two_units_of_one_name_have_two_files(tmp_path: Path) -> None:
    with folders.begun(tmp_path, Request(), "", "harness run") as folder:
        names = [folder.entry(Unit(str(n), "a/b", "cpu", "x", ())).file for n in range(3)]
        assert names == ["a-b-cpu.jsonl", "a-b-cpu-2.jsonl", "a-b-cpu-3.jsonl"]
        assert folder.entry(Unit("1", "a/b", "cpu", "x", ())).file == names[1]


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    with folders.begun(tmp_path, Request(), "", "harness run") as folder:
        folder.entry(UNIT)
        with pytest.raises(FleetError, match="another process writes to"), folders.resumed(tmp_path):
            pass
    with pytest.raises(FileExistsError), folders.begun(tmp_path, Request(), "", "harness run"):
        pass

"""Run files: written, damaged, resumed, read."""

from __future__ import annotations

import gzip
import json
import lzma
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from harness.results import run_writer
from harness.results.record import FORMAT, Samples
from harness.results.run_lines import strict_json
from harness.results.run_writer import RunWriter
from harness.results.runfile import Run, RunFileUnusable, load_run
from tests.support.run_file import ENVIRONMENT, path, record

__all__ = ["path"]


def test_what_is_written_is_read(path: Path) -> None:
    run = load_run(path)
    assert run.environment == {**ENVIRONMENT, "type": "environment", "format": FORMAT}
    assert run.records == [record(1, clocks={"queue": Samples((1e-6, 1.1e-6), 8)}), record(2), record(3)]
    assert run.images == [{"type": "image", "title": "original", "png": "AAAA"}]
    assert run.path == path


def test_a_record_is_in_the_file_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunWriter(path, ENVIRONMENT) as writer:
        for n in range(3):
            writer.write(record(n))
            assert load_run(path).records == [record(i) for i in range(n + 1)]


def test_a_record_is_on_the_disk_before_write_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", lambda fd: synced.append(os.fstat(fd).st_size))
    path = tmp_path / "run.jsonl"
    with RunWriter(path, ENVIRONMENT) as writer:
        sizes = [path.stat().st_size]
        for n in range(3):
            writer.write(record(n))
            sizes.append(path.stat().st_size)
    assert synced == sizes


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_compressed_files_are_read_whatever_their_name(
    path: Path, compress: Callable[[bytes], bytes]
) -> None:
    packed = path.with_name("packed")
    packed.write_bytes(compress(path.read_bytes()))
    assert load_run(packed).records == load_run(path).records
    packed.write_bytes(compress(path.read_bytes())[:-20])
    with pytest.raises(ValueError, match="packed is not a whole file"):
        load_run(packed)


def test_a_run_is_not_overwritten(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="resume it if it is a run, or name another file"):
        RunWriter(path, ENVIRONMENT)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("new.jsonl.xz", "new.jsonl, and compress it afterwards"),
        ("new.GZ", "new, and compress it afterwards"),
        ("/dev/null", "/dev/null is a folder, a pipe or a device"),
        ("/proc/nowhere/run.jsonl", "cannot be written (No such file or directory: /proc/nowhere); name"),
        ("run.jsonl/run.jsonl", "cannot be written (File exists: "),
        ("x" * 300, "cannot be written (File name too long); name another file"),
    ],
)
def test_where_no_run_file_can_be_is_told(path: Path, name: str, told: str) -> None:
    with pytest.raises(RunFileUnusable) as error:
        RunWriter(path.parent / name, ENVIRONMENT)
    assert str(path.parent / name) in str(error.value)
    assert told in str(error.value)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "about", "how"),
    [
        ("run.jsonl", {}, " (`harness run --resume run.jsonl` goes on)"),
        # A compressed file cannot be gone on with, nor a fleet's by itself.
        ("run.jsonl.xz", {}, ""),
        ("run.jsonl", {"fleet": {}}, ""),
    ],
)
def test_what_an_ended_run_lacks(name: str, about: dict[str, Any], how: str) -> None:
    run = Run({"cases": 3, **about}, [record(1)], [], Path(name))
    assert run.lacks == [f"the run was ended before its last case: 2 of 3 have no record{how}"]


@pytest.mark.parametrize(
    ("begun", "told"),
    [
        (0, ["the run was ended in process 1 of 3: there are fewer samples"]),
        (1, ["the run was ended in process 2 of 3: there are fewer samples"]),
        (2, []),
    ],
)
def test_a_run_that_was_ended_in_an_earlier_process(begun: int, told: list[str]) -> None:
    trials = [record(1).in_block(process, process) for process in range(begun + 1)]
    assert Run({"cases": 1, "options": {"processes": 3}}, trials[:1], [], None, trials).lacks == told


def test_a_run_that_came_to_its_end_says_so(path: Path) -> None:
    how = f" (`harness run --resume '{path}'` goes on)"
    ended = [f"the run was ended in its last process: there may be fewer samples{how}"]
    assert not load_run(path).is_whole
    assert load_run(path).lacks == ended
    for seconds in (12.5, None):
        writer, _ = RunWriter.resume(path)
        with writer:
            writer.write(record(4))
            # What was gone on with is whole only by an end of its own.
            assert load_run(path).lacks == ended
            writer.write_end(seconds)
        run = load_run(path)
        assert (run.is_whole, run.seconds, run.lacks) == (True, seconds, [])
    with path.open("ab") as file:
        file.write(b'{"type": "rec')
    assert load_run(path).lacks == [*ended, "the run file's last line was cut off and left out"]


def test_a_whole_run_needs_no_record_of_a_later_process() -> None:
    about = {"cases": 1, "options": {"processes": 3}}
    assert not Run(about, [record(1)], [], None, [record(1)], is_whole=True).lacks


def test_a_line_that_somebody_removed_is_missed() -> None:
    run = Run({"cases": 2}, [record(1)], [], None, [record(1)], is_whole=True)
    assert run.lacks == ["lines of the run file are missing: 1 of 2 have no record"]


def test_a_file_of_the_first_format_does_not_say_whether_its_run_came_to_an_end(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"format": 2', b'"format": 1'))
    assert (load_run(path).is_whole, load_run(path).lacks) == (None, [])


def test_what_is_skipped_has_no_record_of_a_later_process() -> None:
    skipped = replace(record(1), status="skipped", reason="no float64")
    assert not Run({"cases": 1, "options": {"processes": 3}}, [skipped], [], None, [skipped]).lacks


def test_an_empty_file_may_be_written(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.touch()
    RunWriter(path, ENVIRONMENT).close()
    assert load_run(path).records == []


def test_numbers_that_are_not_finite_become_null(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    bad = record(1, error=float("inf"), clocks={"queue": Samples((float("nan"), 1e-6), blocks=(3, 4))})
    with RunWriter(path, {"speed": float("-inf")}) as writer:
        writer.write(bad)
    text = path.read_text()
    assert "NaN" not in text
    assert "Infinity" not in text
    run = load_run(path)
    assert run.environment["speed"] is None
    assert run.records == [record(1, clocks={"queue": Samples((1e-6,), blocks=(4,))})]


def test_strict_json_takes_numpy_scalars_tuples_and_paths() -> None:
    data = {"a": np.float32(0.5), "b": (np.int64(3), np.bool_(True)), 4: Path("x"), "n": np.float64("nan")}
    assert json.loads(strict_json(data)) == {"a": 0.5, "b": [3, True], "4": "x", "n": None}


@pytest.mark.parametrize("cut", [1, 2, 40, 200])
def test_a_torn_last_line_is_dropped_told_and_repaired(path: Path, cut: int) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    run = load_run(path)
    # All but the newline may be there: then nothing is lost.
    kept = [record(2)] if cut > 1 else [record(2), record(3)]
    assert run.records[1:] == kept
    assert run.environment.get("torn", False) == (cut > 1)
    writer, finished = RunWriter.resume(path)
    with writer:
        assert finished == run.records
        if cut > 1:
            writer.write(record(3))
    assert path.read_bytes() == whole


def test_zeros_that_a_power_cut_left_are_a_torn_line(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0" * 100)
    assert load_run(path).environment["torn"] is True
    writer, finished = RunWriter.resume(path)
    writer.close()
    assert len(finished) == 3
    assert path.read_bytes() == whole


def test_resuming_a_whole_run_appends(path: Path) -> None:
    writer, finished = RunWriter.resume(path)
    with writer:
        assert [r.case for r in finished] == [record(n).case for n in (1, 2, 3)]
        writer.write(record(4))
    assert [r.case for r in load_run(path).records] == [record(n).case for n in (1, 2, 3, 4)]


def test_two_runs_do_not_write_one_file(tmp_path: Path, path: Path) -> None:
    new = tmp_path / "new.jsonl"
    with RunWriter(new, {}), pytest.raises(RunFileUnusable, match="another run is writing it; wait until"):
        RunWriter.resume(new)
    writer, _ = RunWriter.resume(path)
    with writer, pytest.raises(RunFileUnusable, match="another run is writing it"):
        RunWriter.resume(path)
    assert RunWriter.resume(path)[1]


def test_what_another_run_has_added_meanwhile_is_not_written_over(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hold(_: IO[bytes], path: Path) -> None:
        with path.open("ab") as other:
            other.write(b"{}\n")

    before = path.read_bytes()
    monkeypatch.setattr(run_writer, "_hold", hold)
    with pytest.raises(RunFileUnusable, match="another run has gone on with it meanwhile"):
        RunWriter.resume(path)
    assert path.read_bytes() == before + b"{}\n"
    with pytest.raises(FileExistsError, match="is not empty"):
        RunWriter(path.with_name("raced.jsonl"), {})


def test_only_a_plain_run_file_can_be_resumed(path: Path) -> None:
    packed = path.with_name("run.jsonl.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    before = packed.read_bytes()
    with pytest.raises(RunFileUnusable, match="only a plain run file can be resumed"):
        RunWriter.resume(packed)
    assert packed.read_bytes() == before


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (2, '{"type": "rec', r"line 2 is not JSON: Invalid control character at \(character 14\); remove"),
        (3, "[1]", "line 3 is not a JSON object"),
        (3, '{"type": "surprise"}', "line 3: type 'surprise' is unknown"),
        (3, '{"type": "record"}', "line 3: case: is missing; status: is missing"),
        (3, "", "line 3 is not JSON"),
        (1, '{"type": "environment", "format": 99}', "line 1: format 99, this harness reads up to 2"),
        (1, '{"type": "environment"}', "line 1: format None"),
        (1, '{"type": "record"}', "is not a run file: line 1 describes no machine"),
    ],
)
def test_damage_is_an_error_with_file_line_and_remedy(path: Path, line: int, text: str, message: str) -> None:
    lines = path.read_text().splitlines()
    lines[line - 1] = text
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=message) as caught:
        load_run(path)
    assert str(path) in str(caught.value)
    assert any(remedy in str(caught.value) for remedy in ("measure again", "give one that"))


def test_a_run_is_not_torn_because_it_says_so(path: Path) -> None:
    lines = path.read_text().splitlines()
    lines[0] = json.dumps({**json.loads(lines[0]), "torn": True})
    path.write_text("\n".join(lines))
    assert "torn" not in load_run(path).environment
    RunWriter.resume(path)[0].close()
    assert len(load_run(path).records) == 3

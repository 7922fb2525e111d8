"""Files that are no run files, of others, too large, nested too deeply or malformed: all are refused."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.results import file_content
from harness.results.file_content import MAX_BYTES
from harness.results.run_writer import RunWriter
from harness.results.runfile import RunFileUnusable, load_run
from tests.support.run_file import ENVIRONMENT, path, record

__all__ = ["path"]


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\x89PNG\r\n\x1a\n\xff", b"{}", b"[]\n", b'{"type": "envi', b"hello"]
)
def test_another_file_is_no_run_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="other"):
        load_run(path)


def test_two_runs_in_a_file_are_none(tmp_path: Path) -> None:
    """As by cat: the second machine's times are not the first's."""
    path = tmp_path / "both.jsonl"
    with RunWriter(path, ENVIRONMENT) as writer:
        writer.write(record(1))
    path.write_bytes(2 * path.read_bytes())
    with pytest.raises(
        ValueError, match=r"both\.jsonl, line 3: a second run begins here; give each run its own"
    ):
        load_run(path)


def benchmark_file(path: Path, benchmarks: list[dict[str, Any]], machine: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"machine_info": machine, "benchmarks": benchmarks}, indent=4))
    return path


def test_a_pytest_benchmark_file_is_a_run(tmp_path: Path) -> None:
    rows = [{"extra_info": {"record": record(n).to_json()}} for n in (1, 2)]
    path = benchmark_file(tmp_path / "bench.json", [*rows, {"extra_info": {}}], {"harness": ENVIRONMENT})
    run = load_run(path)
    assert run.records == [record(1), record(2)]
    assert run.environment["suite"] == "smoke"
    # What was skipped is not in such a file, and all processes of a case are one.
    machine = {**ENVIRONMENT, "cases": 3, "options": {"processes": 2}}
    assert not load_run(benchmark_file(tmp_path / "more.json", rows, {"harness": machine})).lacks
    with pytest.raises(RunFileUnusable, match="only a plain run file can be resumed"):
        RunWriter.resume(path)


@pytest.mark.parametrize("machine", [{}, {"harness": ENVIRONMENT}])
def test_a_pytest_benchmark_file_of_others_is_refused(tmp_path: Path, machine: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="of other benchmarks"):
        load_run(benchmark_file(tmp_path / "bench.json", [{"extra_info": {}}], machine))


@pytest.mark.parametrize("place", ["folder", "fifo", "/dev/zero"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, place: str) -> None:
    path = Path(place) if place.startswith("/") else tmp_path / place
    if place == "folder":
        path.mkdir()
    elif place == "fifo":
        os.mkfifo(path)
    with pytest.raises(
        ValueError, match=f"^{re.escape(str(path))} is a folder, a pipe or a device.*give one"
    ):
        load_run(path)


def test_a_file_that_is_not_there_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none.jsonl cannot be read: No such file or directory; give one"):
        load_run(tmp_path / "none.jsonl")


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bytes])
def test_a_file_that_holds_too_much_is_refused(
    path: Path, compress: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = path.read_bytes()
    path.write_bytes(compress(whole))
    monkeypatch.setenv(MAX_BYTES, str(len(whole)))
    assert len(load_run(path).records) == 3
    monkeypatch.setenv(MAX_BYTES, str(len(whole) - 1))
    with pytest.raises(
        ValueError, match=rf"run.jsonl holds more than {len(whole) - 1} bytes.*or set {MAX_BYTES}"
    ):
        load_run(path)


@pytest.mark.parametrize("value", ["", "0", "-1", "1e9", "a lot", "\N{SUPERSCRIPT TWO}", "9" * 99])
def test_a_bound_that_is_none_is_refused(path: Path, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MAX_BYTES, value)
    with pytest.raises(ValueError, match=f"^{MAX_BYTES}={value!r}: it must be a number of bytes above 0"):
        load_run(path)


def test_what_is_parsed_at_once_is_a_quarter_of_the_bound(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parser takes many times the room of its text: all lines are never parsed at once, but one may be."""
    rows = [{"extra_info": {"record": record(n).to_json()}} for n in range(20)]
    document = benchmark_file(path.with_name("bench.json"), rows, {"harness": ENVIRONMENT})
    long = path.read_text().splitlines()
    long[1] = json.dumps({**json.loads(long[1]), "reason": "why " * 500})
    path.write_text("\n".join(long) + "\n")
    assert len(load_run(path).records) == 3
    assert len(load_run(document).records) == 20
    monkeypatch.setattr(file_content, "_DEFAULT_MAX_BYTES", 4 * 2000)
    monkeypatch.setenv(MAX_BYTES, "100000")
    assert len(load_run(path).records) == 3
    monkeypatch.setenv(MAX_BYTES, "7000")
    with pytest.raises(ValueError, match="line 2 is not JSON: it is longer than 2000 bytes"):
        load_run(path)
    monkeypatch.setenv(MAX_BYTES, "30000")
    with pytest.raises(ValueError, match=r"bench.json holds a document of more than 7500 bytes"):
        load_run(document)


BOMB = """
import resource, sys
from harness.results.runfile import load_run
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
try:
    load_run(sys.argv[1])
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize("module", [gzip, lzma])
def test_a_bomb_does_not_fill_the_memory(tmp_path: Path, module: Any) -> None:
    """Twice what a run may hold, in a few kilobytes."""
    path = tmp_path / "bomb"
    with module.open(path, "wb") as file:
        for _ in range(2**8):
            file.write(b"\0" * 2**20)
    told = subprocess.run(
        [sys.executable, "-c", BOMB, path], capture_output=True, text=True, check=True
    ).stdout
    assert told.startswith(f"{path} holds more than ")


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
@pytest.mark.parametrize(
    "where", ["{}", '{{"type": "environment", "format": 1, "devices": {}', '{{"benchmarks": {}']
)
def test_deep_nesting_is_refused(tmp_path: Path, opening: str, where: str) -> None:
    path = tmp_path / "deep.json"
    path.write_text(where.format(opening * 200_000) + "\n")
    with pytest.raises(ValueError, match=r"deep.json, line 1 is not JSON: it is nested too deeply; give"):
        load_run(path)


@pytest.mark.parametrize("depth", range(100, 1100, 50))
def test_nesting_that_the_parser_takes_is_read_or_refused(path: Path, depth: int) -> None:
    """Before the parser comes to its end, what checks and describes a value may have come to its own."""
    lines = path.read_text().splitlines()
    for key in ("reason", "status", "extra", "provenance"):
        line = json.loads(lines[1])
        line[key] = "DEEP"
        text = json.dumps(line).replace('"DEEP"', "[" * depth + "]" * depth)
        path.write_text("\n".join([lines[0], text, *lines[2:]]) + "\n")
        try:
            load_run(path)
        except ValueError as error:
            assert str(error).startswith(f"{path}, line 2")  # noqa: PT017
            assert len(str(error)) < 3000  # noqa: PT017


RECORD = {"extra_info": {"record": record(1).to_json()}}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"benchmarks": None}, "benchmarks: should be a valid list, not None"),
        ({"benchmarks": {"a": 1}}, "benchmarks: should be a valid list"),
        ({"benchmarks": [None]}, r"benchmarks\[0\]: should be a table"),
        ({"benchmarks": [RECORD, 5]}, r"benchmarks\[1\]: should be a table"),
        ({"benchmarks": [{"extra_info": None}]}, r"benchmarks\[0\].extra_info: should be a table"),
        ({"benchmarks": [{"extra_info": []}]}, r"benchmarks\[0\].extra_info: should be a table"),
        ({"benchmarks": [{"extra_info": {"record": 1}}]}, r"extra_info.record: should be a .*table"),
        ({"benchmarks": [{"extra_info": {"record": []}}]}, r"extra_info.record: should be a .*table"),
        ({"benchmarks": [{"extra_info": {"record": {}}}]}, r"extra_info.record: case: is missing"),
        ({"machine_info": None}, "machine_info: should be a table"),
        ({"machine_info": [1]}, "machine_info: should be a table"),
        ({"machine_info": {"harness": "x"}}, "machine_info.harness: should be a .*table"),
        ({"machine_info": {"harness": {"devices": 5}}}, "harness: devices: should be a valid list"),
        ({"machine_info": {"harness": {"format": 3}}}, "machine_info.harness: format 3"),
        ({"benchmarks": [RECORD, {"extra_info": {"record": {**record(1).to_json(), "status": "x"}}}]},
         r"benchmarks\[1\].extra_info.record: status: should be 'ok'"),
    ],
)  # fmt: skip
def test_a_malformed_pytest_benchmark_file_is_refused(
    tmp_path: Path, document: dict[str, Any], message: str
) -> None:
    path = tmp_path / "bench.json"
    path.write_text(
        json.dumps({"machine_info": {"harness": ENVIRONMENT}, "benchmarks": [RECORD], **document})
    )
    with pytest.raises(ValueError, match=f"bench.json.*{message}"):
        load_run(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"process": "0"}, "process: should be a valid integer, not '0'"),
        ({"process": True}, "process: should be a valid integer, not True"),
        ({"block": -1}, "block: should be greater than or equal to 0, not -1"),
        ({"error": 10**400}, "error: should be a valid number"),
        ({"clocks": {"queue": {"seconds": [1.0, 2.0], "calls": 1, "note": "", "blocks": [0]}}},
         "clocks.queue: there are 2 seconds and 1 blocks"),
        ({"clocks": {"queue": {"seconds": [1e300], "calls": 1, "note": ""}}},
         r"clocks.queue.seconds\[0\]: should be less"),
        ({"clocks": {"\x1b[31m": 5}}, r"clocks.'\\x1b\[31m': should be a table"),
        ({"provenance": {"watch": "text"}}, "provenance.watch: should be a valid list, not 'text'"),
        ({"provenance": {"launches": 5}}, "provenance.launches: should be a valid list, not 5"),
        ({"provenance": {"launches": [{"kernel": "k", "num_groups": [0], "group_size": [1]}]}},
         r"provenance.launches\[0\].num_groups\[0\]: should be greater than 0, not 0"),
        ({"provenance": {"calls_per_result": "three"}}, "provenance.calls_per_result: should be a valid int"),
        ({"provenance": {"gate": 1}}, "provenance.gate: should be a valid string, not 1"),
        ({"provenance": {"wall_seconds": "1"}}, "provenance.wall_seconds: should be a valid number, not '1'"),
        ({"status": "a" * 10**6}, r"status: should be 'ok'.*\.\.\."),
    ],
)  # fmt: skip
def test_a_value_of_another_kind_is_named(path: Path, change: dict[str, Any], message: str) -> None:
    lines = path.read_text().splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), **change})
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=rf"line 3: {message}.*; remove that line") as caught:
        load_run(path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (
            "clocks",
            {"queue": {"seconds": ["x"] * 10**6, "calls": 1, "note": ""}},
            r"clocks.queue.seconds\[0\]: ",
        ),
        ("clocks", {str(number): 0 for number in range(10**5)}, "100000 values are of another kind"),
    ],
)
def test_mistakes_without_number_are_not_all_listed(path: Path, field: str, value: Any, message: str) -> None:
    lines = path.read_text().splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), field: value})
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=rf"line 3: {message}") as caught:
        load_run(path)
    assert len(str(caught.value)) < 500

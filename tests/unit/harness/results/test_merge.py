"""One record from those of several processes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.problems import Reduction
from harness.results.merge import merged
from harness.results.record import Case, Record, Samples
from harness.results.run_writer import RunWriter
from harness.results.runfile import load_run
from harness.variants.axes import LibraryVariant


def record(process: int, *seconds: float, n: int = 1, **fields: Any) -> Record:
    case = Case("fake", 0, Reduction("min", "int32", (n,)), LibraryVariant())
    clocks = {"queue": Samples(seconds, 10 - process, stopped="interval")} if seconds else {}
    return Record(case, fields.pop("status", "ok"), clocks=clocks, **fields).in_block(process, process)


def test_samples_are_joined_and_know_their_process() -> None:
    (found,) = merged([record(0, 1.0, 2.0), record(1, 3.0), record(2, 4.0, 5.0)])
    queue = found.clocks["queue"]
    assert queue.seconds == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert queue.blocks == (0, 0, 1, 2, 2)
    assert (queue.calls, queue.stopped, found.process) == (8, "interval", 0)


def test_samples_that_were_taken_anew_are_counted_over_all_blocks() -> None:
    parts = [replace(record(n, 1.0), clocks={"queue": Samples((1.0,), anew=n)}) for n in (2, 3)]
    assert merged(parts)[0].clocks["queue"].anew == 5


def test_processes_that_were_held_back_differently_say_so() -> None:
    for gates, told in (
        (("kernel", "kernel"), "kernel"),
        (("kernel", "user event", "kernel"), "kernel; user event"),
    ):
        (found,) = merged([record(n, 1.0, provenance={"gate": gate}) for n, gate in enumerate(gates)])
        assert found.provenance["gate"] == told


def test_cases_keep_their_order() -> None:
    found = merged([record(0, 1.0, n=2), record(0, 1.0, n=1), record(1, 2.0, n=1), record(1, 2.0, n=2)])
    assert [r.case.problem.source_bytes for r in found] == [8, 4]


def test_one_record_is_itself() -> None:
    alone = record(2, 1.0)
    assert merged([alone])[0] is alone


@pytest.mark.parametrize(
    ("status", "worst"), [("failed", "failed"), ("wrong", "wrong"), ("skipped", "skipped")]
)
def test_the_gravest_outcome_is_the_cases_and_what_was_measured_stays(status: Any, worst: str) -> None:
    (found,) = merged([record(0, 1.0), record(1, status=status, reason="why")])
    assert (found.status, found.reason) == (worst, "in process 1: why")
    assert found.clocks["queue"].seconds == (1.0,)


def test_of_the_provenance_notes_watch_and_seconds_are_of_all() -> None:
    provenances = [
        {"launches": [1], "note": "a", "watch": [{"before": {}}], "timing_seconds": 0.5, "wall_seconds": 1.0},
        {"launches": [1], "note": "b", "watch": [{"after": {}}], "timing_seconds": 0.25, "wall_seconds": 2.0},
        {"launches": [1], "note": "a"},
    ]
    (found,) = merged([record(i, 1.0, provenance=provenance) for i, provenance in enumerate(provenances)])
    assert found.provenance == {
        "launches": [1],
        "note": "a; b",
        "watch": [{"before": {}}, {"after": {}}],
        "timing_seconds": 0.75,
        "wall_seconds": 3.0,
    }


def test_error_and_tolerance_are_the_largest() -> None:
    (found,) = merged([record(0, 1.0, error=1e-9, tolerance=1e-6), record(1, 1.0, error=2e-9)])
    assert (found.error, found.tolerance) == (2e-9, 1e-6)


def test_the_file_has_a_line_a_process_and_is_read_as_one_record_a_case(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    written = [record(0, 1.0), record(1, 2.0, float("nan"), 3.0)]
    with RunWriter(path, {}) as writer:
        for each in written:
            writer.write(each)
    assert [json.loads(line)["process"] for line in path.read_text().splitlines()[1:]] == [0, 1]
    run = load_run(path)
    assert run.trials[0] == written[0]
    (found,) = run.records
    assert found.clocks["queue"].seconds == (1.0, 2.0, 3.0)
    assert found.clocks["queue"].blocks == (0, 1, 1)


def test_a_file_from_before_runs_had_processes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunWriter(path, {}) as writer:
        writer.write(record(0, 1.0, 2.0))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    del lines[1]["process"], lines[1]["clocks"]["queue"]["blocks"], lines[1]["clocks"]["queue"]["stopped"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (found,) = load_run(path).records
    assert found.clocks["queue"] == Samples((1.0, 2.0), 10)
    assert found.clocks["queue"].blocks == (0, 0)


def test_blocks_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 seconds and 1 blocks"):
        Samples((1.0, 2.0), blocks=(0,))


def test_records_that_do_not_fit_are_refused_with_their_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunWriter(path, {}) as writer:
        writer.write(record(0, 1.0, provenance={"wall_seconds": "long"}))
        writer.write(record(1, 1.0, provenance={"wall_seconds": 1.0}))
    with pytest.raises(ValueError, match=r"run\.jsonl, line 2: provenance\.wall_seconds"):
        load_run(path)

"""The verb limits: of this machine, and of recorded runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.results.run_writer import RunWriter
from tests.support.command import Harness, harness
from tests.support.report_data import BOTH, environment, limit, record, reduction

__all__ = ["harness"]

SMALL = """
title = "a limit"
[measure]
samples = 3
case_seconds = 0.05
controls = false
[limits]
anew = true
cpu = {loads_in_flight = [1], groups = [2]}
[[limits.of]]
directions = ["copy"]
source_bytes = [65536]
"""


def _recorded(path: Path, *rates: float) -> Path:
    with RunWriter(path, environment(*BOTH)) as writer:
        for rate in rates:
            writer.write(limit("read", 2**20, rate))
        writer.write(record("cuda", reduction(), 1e-5))
    return path


def test_limits_of_recorded_runs(harness: Harness, tmp_path: Path) -> None:
    paths = [_recorded(tmp_path / f"{number}.jsonl", 2e12 + number) for number in (1, 2)]
    shown = harness("limits", *paths)
    assert shown.code == 0
    assert shown.out.count("2,000") == 2
    assert "read" in shown.out
    plain = json.loads(harness("limits", *paths, "--json").out)
    assert plain["runs"] == [str(path) for path in paths]
    assert [found["bytes_per_second"] for found in plain["limits"]] == pytest.approx([2e12, 2e12])
    assert {found["memory_share"] for found in plain["limits"]} == {None}


def test_a_run_without_limits_is_a_failure_and_options_of_measuring_a_mistake(
    harness: Harness, tmp_path: Path
) -> None:
    path = _recorded(tmp_path / "none.jsonl")
    shown = harness("limits", path)
    assert shown.code == 1
    assert "no limit was measured" in shown.err
    assert harness("limits", path, "--budget", "9").code == 2
    assert harness("limits", tmp_path / "absent.jsonl").code == 2


def test_a_machine_without_kernels_of_ours_has_no_limits(harness: Harness) -> None:
    shown = harness("limits", "--backend", "numpy")
    assert shown.code == 2
    assert "nothing to run here" in shown.err


def test_limits_of_this_machine(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = json.loads(harness("devices", "--json").out)["devices"]
    processors = [found["key"] for found in devices if (found["backend"], found["kind"]) == ("opencl", "cpu")]
    if not processors:
        pytest.skip("no processor through OpenCL here")
    monkeypatch.setattr("harness.runner.planning.suite_text", {"limits": SMALL}.__getitem__)
    shown = harness("limits", "--device", processors[0], "--run", "mine.jsonl", "--json")
    assert shown.code == 0
    (found,) = json.loads(shown.out)["limits"]
    assert (found["direction"], found["source_bytes"], found["cache"]) == ("copy", 65536, "hot")
    assert found["bytes_per_second"] == pytest.approx(2 * 65536 / found["seconds"])
    assert found["through"] == processors[0]
    assert found["sweep"].endswith("in this run")
    assert (harness.folder / "mine.jsonl").exists()

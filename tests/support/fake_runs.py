"""Runs of real worker processes on a fake device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.problems import OPS, Reduction
from harness.results.record import Case, Record
from harness.results.runfile import Run, RunWriter, load_run
from harness.runner.run import Progress, run_cases
from harness.runner.settings import RunOptions
from harness.variants.axes import LibraryVariant
from tests.support.fake_backend import ENVIRONMENT, FakeBackend

CLASSES = {"fake": f"{FakeBackend.__module__}:{FakeBackend.__name__}"}
CASES = [Case("fake", 0, Reduction(op, "int32", (1000,)), LibraryVariant()) for op in OPS]
OPTIONS = RunOptions(samples=3, case_seconds=0.05, limit_s=20, classes=CLASSES)


def run(
    path: Path, cases: list[Case] = CASES, options: RunOptions = OPTIONS, told: list[Progress] | None = None
) -> Run:
    seen = told if told is not None else []
    with RunWriter(path / "run.jsonl", {}) as writer:
        run_cases(cases, writer, options, seen.append)
    return load_run(path / "run.jsonl")


def faults(monkeypatch: pytest.MonkeyPatch, **wanted: str) -> None:
    monkeypatch.setenv(ENVIRONMENT, json.dumps(wanted))


def only(found: Run, op: str) -> Record:
    """The record of one op; all others must be measured and right."""
    assert [record.case for record in found.records] == CASES
    assert all(record.status == "ok" for record in found.records if record.case.problem.op != op)  # type: ignore[attr-defined]
    (record,) = (record for record in found.records if record.case.problem.op == op)  # type: ignore[attr-defined]
    return record

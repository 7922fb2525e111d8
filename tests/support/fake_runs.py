"""Runs of real worker processes on a fake device."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.measure.budget import Budget, Share
from harness.problems import OPS, Reduction
from harness.results.record import Case, Record
from harness.results.run_writer import RunWriter
from harness.results.runfile import Run, load_run
from harness.runner.plan import Request, RunPlan
from harness.runner.run import Progress, run_cases
from harness.runner.worker_process import Worker
from harness.suites.schema import Measure, ReductionBlock, Suite
from harness.variants.axes import LibraryVariant
from tests.support.fake_backend import ENVIRONMENT, FakeBackend

CLASSES = {"fake": f"{FakeBackend.__module__}:{FakeBackend.__name__}"}
CASES = [Case("fake", 0, Reduction(op, "int32", (1000,)), LibraryVariant()) for op in OPS]
FEW = [CASES[0], CASES[1], CASES[4], CASES[-1]]
"""By min, max, sum and the last op: enough where it matters only that others are measured, too."""
BRIEF: dict[str, Any] = {"samples": 3, "case_seconds": 0.05, "limit_s": 20.0}
"""Of a suite's table of how to measure."""


def planned(cases: Sequence[Case] = CASES, *, budget: float | None = None, **options: Any) -> RunPlan:
    """The plan of a run of these cases, on fake devices. ``options``: fields of the plan, or of how the
    suite is measured.
    """
    measure = {name: options.pop(name) for name in list(options) if name in Measure.model_fields}
    block = ReductionBlock(ops=["min"], dtypes=["int8"], shapes=[[1]])
    suite = Suite(name="fake", title="Fake", reduction=[block], measure=Measure(**{**BRIEF, **measure}))
    return RunPlan(Request(budget=budget), suite, cases, **{"classes": CLASSES, **options})


def run(path: Path, plan: RunPlan | None = None, told: list[Progress] | None = None) -> Run:
    seen = told if told is not None else []
    with RunWriter(path / "run.jsonl", {}) as writer:
        run_cases(plan or planned(), writer, seen.append)
    return load_run(path / "run.jsonl")


def faults(monkeypatch: pytest.MonkeyPatch, **wanted: str) -> None:
    monkeypatch.setenv(ENVIRONMENT, json.dumps(wanted))


def asked(monkeypatch: pytest.MonkeyPatch) -> list[Share]:
    """The shares that workers are asked for from now on."""
    shares: list[Share] = []
    real = Worker.tell

    def tell(worker: Worker, request: Mapping[str, Any]) -> None:
        if "share" in request:
            shares.append({name: Budget(**budget) for name, budget in request["share"].items()})
        real(worker, request)

    monkeypatch.setattr(Worker, "tell", tell)
    return shares


def only(found: Run, op: str) -> Record:
    """The record of one op of FEW; all others must be measured and right."""
    assert [record.case for record in found.records] == FEW
    assert all(record.status == "ok" for record in found.records if record.case.problem.op != op)  # type: ignore[union-attr]
    (record,) = (record for record in found.records if record.case.problem.op == op)  # type: ignore[union-attr]
    return record

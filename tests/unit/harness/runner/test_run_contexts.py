"""Fresh contexts of a real OpenCL device in one worker process after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends import available, open_backend
from harness.problems import Laplace, Problem, Reduction
from harness.results.record import Case
from harness.runner.known import Known
from tests.support.fake_runs import planned, run

PROBLEMS: list[Problem] = [
    Reduction("minmax", "int32", (300, 200)),
    Reduction("sum", "float32", (300, 200)),
    Laplace("four", "reflect_101", "laplacian", "uint8", 300, 200, 1, 0.0),
]
CONTEXTS = 3


def test_a_device_is_right_in_all_its_contexts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs, memory, gates and sources are made anew in each; what one context leaves harms no other."""
    if isinstance(reason := available()["opencl"], str):
        pytest.skip(reason)
    monkeypatch.setattr(Known, "enough", lambda *_: set())
    with open_backend("opencl") as backend:
        cases = [Case("opencl", 0, problem, backend.default_variant(problem)) for problem in PROBLEMS]
    plan = planned(
        cases,
        classes={"opencl": "tests.support.pocl_gpu:PoclAsGpu"},
        contexts={"opencl:0": CONTEXTS},
        processes=2,
        samples=6,
        case_seconds=0.1,
    )
    found = run(tmp_path, plan)
    assert [(record.status, record.reason) for record in found.trials] == 2 * CONTEXTS * 3 * [("ok", "")]
    for record in found.records:
        assert set(record.clocks["queue"].blocks) == set(range(2 * CONTEXTS))
    padding = [record.provenance.get("padding_bytes", 0) for record in found.trials]
    assert len(set(padding)) > 1

"""A whole study on a simulated GPU: contexts go where verdicts hang in the balance, and these are right."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

from harness.measure.budget import Share
from harness.problems import Empty, Reduction
from harness.results.merge import merged
from harness.results.ratio import BAND, FEWEST_TO_CHOOSE, Interval, verdict
from harness.results.record import Case, Record, Samples
from harness.results.runfile import Run
from harness.runner import run as running
from harness.runner.known import LEAST_ROUNDS
from harness.runner.plan import Request, RunPlan
from harness.runner.schedule import Trial
from harness.suites.files import load_suite
from harness.variants.axes import LaunchVariant
from harness.variants.ladders import LADDERS
from reports.dataset import frame
from reports.ratios import comparisons

RUNGS = LADDERS["yan2011"].rungs
APIS = ("opencl", "cuda")
PROBLEMS = [
    Reduction("minmax", dtype, shape)
    for dtype in ("uint8", "int8", "uint16", "int16", "int32", "float32", "float64")
    for shape in ((1280, 1280), (1280, 2560), (2560, 2560))
]
TRUE_RATIOS = (1.0, 1.004, 1.01, 0.992, 1.03, 0.96, 1.2)
"""OpenCL's speed over CUDA's, by problem: none within half a per cent of an edge of the band."""
CLOSE = (1.0, 1.01, 1.06)
"""The time of the topmost rungs, as a multiple of the last one's; those below take longer by 5 % each."""
LAUNCH = (2.0e-6, 2.3e-6)
"""What launching costs in a context, as by the toss of a coin."""
SCATTER = 0.015
CONTEXT_S, FIRST_S, FURTHER_S = 0.15, 0.13, 0.022
"""What opening a context takes on an H200, and a case in its first trial and in a further one."""


@dataclass
class Machine:
    """A GPU of two APIs on a clock of its own."""

    now: float = 0.0
    chance: random.Random = field(default_factory=lambda: random.Random(3))
    launch: dict[tuple[str, int], float] = field(default_factory=dict)
    seen: set[Case] = field(default_factory=set)

    def measure(self, trial: Trial, share: Share) -> Record:
        case, context = trial.case, (trial.case.backend, trial.round)
        if context not in self.launch:
            self.launch[context] = self.chance.choice(LAUNCH)
            self.now += CONTEXT_S
        self.now += FURTHER_S if case in self.seen else FIRST_S
        self.seen.add(case)
        seconds = self.launch[context] + true_work(case) * self.chance.gauss(1, SCATTER)
        return Record(case, "ok", clocks={"queue": Samples((seconds,))}, error=0.0)

    def pool(self, *_: Any) -> Any:
        machine = self

        class Pool:
            def __enter__(self) -> Self:
                return self

            def __exit__(self, *_: object) -> None:
                pass

            def prepare(self, cases: object) -> None:
                pass

            measure = staticmethod(machine.measure)

        return Pool()


def true_work(case: Case) -> float:
    """Seconds of a case less launching."""
    if isinstance(case.problem, Empty):
        return 0.2e-6
    number = PROBLEMS.index(case.problem)  # type: ignore[arg-type]
    from_top = len(RUNGS) - 1 - RUNGS.index(case.variant)
    times = CLOSE[from_top] if from_top < len(CLOSE) else 1.1 * 1.05**from_top
    launch, fastest = sum(LAUNCH) / 2, 3e-6 + 1e-6 * (number % 3)
    ratio = TRUE_RATIOS[number % len(TRUE_RATIOS)] if case.backend == "cuda" else 1.0
    return (launch + fastest) * ratio * times - launch


def simulated(monkeypatch: pytest.MonkeyPatch) -> tuple[Run, float]:
    """A run of the study, and the seconds that it took."""
    machine = Machine()
    monkeypatch.setattr(running, "Pool", machine.pool)
    monkeypatch.setattr(running, "compile_ahead", lambda *_: None)
    monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=lambda: machine.now))
    empty = Empty((((264,), (256,)),))
    cases = [Case(api, 0, empty, LaunchVariant(), role="control") for api in APIS]
    cases += [Case(api, 0, problem, rung) for problem in PROBLEMS for api in APIS for rung in RUNGS]
    suite = load_suite("yan2011")
    contexts = {f"{api}:0": suite.measure.gpu_contexts for api in APIS}
    found: list[Record] = []
    running.run_cases(
        RunPlan(Request(), suite, cases, contexts=contexts),
        SimpleNamespace(write=found.append),
    )
    devices = [
        {"backend": api, "index": 0, "name": "GPU", "physical": "0000:01:00.0", "kind": "gpu"} for api in APIS
    ]
    return Run({"devices": devices}, merged(found), [], Path("run.jsonl"), found), machine.now


def test_a_study_of_ladders_is_decided_in_ten_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    run, seconds = simulated(monkeypatch)
    (comparison,) = comparisons(frame(run))
    pairs = comparison.fastest
    true = {
        problem.label: verdict(Interval(ratio, ratio), BAND)
        for problem, ratio in zip(PROBLEMS, TRUE_RATIOS * 3, strict=True)
    }
    assert len(pairs) == len(PROBLEMS)
    decided = pairs[pairs["verdict"] != "ambiguous"]
    assert len(pairs) - len(decided) <= 0.1 * len(pairs)
    assert [true[each] for each in decided["problem"]] == list(decided["verdict"])
    # Of 18 rungs nearly all are given up early.
    rounds = [len(set(record.clocks["queue"].blocks)) for record in run.records]
    assert min(rounds) >= LEAST_ROUNDS
    assert statistics.median(rounds) < FEWEST_TO_CHOOSE
    assert seconds < 600

"""What is said of the contexts of a run on an H100: what a case takes in one, and what they decide."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations

import pandas as pd

from harness.results.merge import merged
from harness.results.record import Record
from harness.results.statistics import geometric_mean
from reports.dataset import frame
from reports.ratios import comparisons
from tests.support.figures import Figure
from tests.support.figures.h100 import H100, OTHER, RUN
from tests.support.recorded import FOLDER, OWN, contexts, ratios, run_of, where

LONG = "h100-quick-long-lead"
RUNS = (LONG, OTHER, RUN)
TRIED = FOLDER / "h100-lead.txt"


def verdicts() -> pd.DataFrame:
    """The verdicts of each run, a row for each problem."""
    found = {run: where(ratios(run), first_backend="opencl").set_index("problem") for run in RUNS}
    return pd.DataFrame({run: rows["verdict"] for run, rows in found.items()})


def undecided(run: str) -> int:
    """How many cases a run left undecided."""
    return int((verdicts()[run] == "ambiguous").sum())


@cache
def further(run: str) -> dict[str, float]:
    """What a case of our kernels takes in a further context of a process, in the mean, in seconds, by API."""
    first: dict[int, int] = {}
    found: dict[str, list[float]] = {api: [] for api in OWN}
    for record in run_of(run).trials:
        if record.block == first.setdefault(record.process, record.block):
            continue
        if record.case.backend in found and record.case.role == "compare":
            found[record.case.backend].append(record.provenance["wall_seconds"])
    return {api: sum(taken) / len(taken) for api, taken in found.items()}


def of_run(run: str) -> list[float]:
    """What a case takes in OpenCL and CUDA, in ms; contexts of the empty kernel; undecided cases."""
    taken = further(run)
    return [*(1e3 * taken[api] for api in OWN), contexts(run)[2], undecided(run)]


def on_the_way(*counts: int) -> list[int]:
    """How many cases the run had left undecided after so many of its contexts; half of its measuring is in
    the first.
    """
    run = run_of(RUN)
    order = list(dict.fromkeys(trial.block for trial in run.trials))
    found = []
    for count in counts:
        there = set(order[:count])
        trials = [trial for trial in run.trials if trial.block in there]
        if count == counts[0]:
            assert 0.45 < _seconds(trials) / _seconds(run.trials) < 0.55
        rows = frame(replace(run, trials=trials, records=merged(trials)))
        ratios_then = pd.concat([each.fastest for each in comparisons(rows)])
        told = where(ratios_then, first_backend="opencl", second_backend="cuda", verdict="ambiguous")
        found += [count, len(told)]
    return [found[0], len(order), *found[1:]]


def _seconds(trials: Sequence[Record]) -> float:
    return sum(float(trial.provenance.get("wall_seconds", 0.0)) for trial in trials)


def before() -> list[int]:
    """What the run by the former clock left undecided, and of how many."""
    return [undecided(LONG), len(verdicts())]


def contradicted() -> list[float]:
    """The one filter on which two runs disagree that both decided: its ratio here and on the other host."""
    found = set()
    for one, other in combinations(RUNS, 2):
        told = verdicts()[[one, other]]
        told = told[(told != "ambiguous").all(axis=1)]
        found |= {(problem, one, other) for problem in told.index[told[one] != told[other]]}
    (((problem, one, other)),) = found
    assert (problem, one, other) == ("sharpened diagonal constant(0) uint8C1 2560x2560", OTHER, RUN)
    return [where(ratios(run), problem=problem)["gross"].iloc[0] for run in (RUN, OTHER)]


def leads() -> list[float]:
    """What a sample by a short lead takes of the time of one by a long lead, by API; it scatters by less."""
    number = r"([\d.]+)"
    line = rf"^{{}} .* {number} {number} +{number} {number}$"
    shares = []
    for api in OWN:
        found = [tuple(map(float, each)) for each in re.findall(line.format(api), tried(), re.M)]
        assert len(found) == 36
        long, short = (geometric_mean(each[at] for each in found) for at in (0, 1))
        assert short < long
        shares.append(sum(each[3] for each in found) / sum(each[2] for each in found))
    return shares


def longer() -> list[float]:
    """By how many per cent times are longer by a short lead, in the mean, by API."""
    line = r"^{} .* (\d\.\d{{4}})  [\d.]+ [\d.]+ +[\d.]+ [\d.]+$"
    found = [[float(each) for each in re.findall(line.format(api), tried(), re.M)] for api in OWN]
    assert {len(each) for each in found} == {36}
    return [100 * (sum(each) / len(each) - 1) for each in found]


def without_the_runner() -> list[float]:
    """What a case takes without the runner, before and after, in ms: OpenCL, CUDA, and the same."""
    found = re.findall(r"^(?:OpenCL|CUDA) +before ([\d.]+), .* after ([\d.]+), ", tried(), re.M)
    return [float(value) for moment in zip(*found, strict=True) for value in moment]


@cache
def tried() -> str:
    """What was tried, as it was written down."""
    return TRIED.read_text(encoding="utf-8")


SENTENCES: list[Figure] = [
    (H100, "(of {1} cases; by the former clock [{0}](", before),
    (
        H100,
        "After {} of its {} contexts, which is half of its measuring, this run had left {} undecided, after "
        "{} contexts {} and after {} {}.",
        partial(on_the_way, 78, 150, 200),
    ),
    (H100, "has {:.3f} of CUDA's speed here, *same*, and {:.3f} on the faster host, *slower*.", contradicted),
    (
        "docs/measurement.md",
        "on an H100 times are {:.2f} % (OpenCL) and {:.2f} % (CUDA) longer now, in the mean (",
        longer,
    ),
    (
        "docs/results-h200.md",
        "on a fresh H100 [{} of {}](results-h100.md#contexts-that-take-less) |",
        lambda: [undecided(RUN), before()[1]],
    ),
    (H100, "by which a sample takes {:.2f} (OpenCL) and {:.2f} (CUDA) of the time", leads),
    (
        H100,
        "a case took {} ms in OpenCL and {} in CUDA before, and {} and {} after (",
        without_the_runner,
    ),
]

ROWS: list[Figure] = [
    (
        H100,
        f"| [{said}](../reports/examples/{run}.jsonl.xz) ({of}) | {{:.1f}} | {{:.1f}} | {{}} | {{}} |",
        partial(of_run, run),
    )
    for run, said, of in (
        (LONG, "by a long lead", "fe47d25, 480 s"),
        (OTHER, "by a long lead, on a faster host", "22433d6, 480 s"),
        (RUN, "by a short lead, this run", "e4e7166, 540 s"),
    )
]

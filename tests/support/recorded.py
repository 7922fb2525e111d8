"""The recorded runs as the documents quote them: their rows, and what is asked of these."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import TypeAdapter

from harness.devices import DeviceInfo
from harness.kernels.defaults import default_variant
from harness.problems import Laplace, Reduction
from harness.results.runfile import Run, load_run
from harness.results.statistics import by_block, geometric_mean
from harness.variants.axes import LaplaceVariant, ReductionVariant, Variant
from reports.dataset import frame
from reports.ratios import comparisons, library_pairs
from reports.repeatability import Repeated, repeated

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "reports" / "examples"
OWN = ["opencl", "cuda"]
_DEVICE = TypeAdapter(DeviceInfo)


@cache
def run_of(name: str) -> Run:
    """A recorded run by its name without endings: ``h200-quick``."""
    (path,) = FOLDER.glob(f"{name}.jsonl.*")
    return load_run(path)


def outdated(name: str) -> list[str]:
    """The problems of a recorded run that it did not measure in what is the default today, in one of the APIs
    and dialects that it measured them in, on the device as it describes it.
    """
    devices = {
        (device.backend, device.index): device
        for device in map(_DEVICE.validate_python, run_of(name).environment["devices"])
        if device.backend in OWN
    }
    measured: dict[tuple[Any, ...], set[Variant]] = {}
    for case in (record.case for record in run_of(name).records if record.status == "ok"):
        if (case.backend, case.device) in devices and isinstance(case.problem, (Reduction, Laplace)):
            assert isinstance(case.variant, (ReductionVariant, LaplaceVariant))
            key = case.backend, case.device, case.problem, case.cache, case.variant.dialect
            measured.setdefault(key, set()).add(case.variant)
    assert measured
    return sorted(
        {
            problem.label
            for (backend, device, problem, _, dialect), variants in measured.items()
            if default_variant(problem, devices[backend, device], dialect) not in variants
        }
    )


@cache
def table(name: str) -> pd.DataFrame:
    """The rows of a recorded run, as the report has them."""
    return frame(run_of(name))


@cache
def ratios(name: str) -> pd.DataFrame:
    """OpenCL against CUDA, a row for each case, by the fastest variant of each."""
    found = pd.concat([each.fastest for each in comparisons(table(name))])
    return found[found["second_backend"] == "cuda"]


@cache
def agreeing(name: str, other: str, *, contradicting: int = 0) -> Repeated:
    """The verdicts of OpenCL against CUDA that two runs give, of which so many contradict another."""
    found, *_ = repeated(run_of(name), run_of(other))
    assert (found.first, found.second) == ("OpenCL", "CUDA")
    assert found.contradicting == contradicting
    return found


@cache
def leads(name: str, cached: str = "hot", backend: str = "cuda") -> pd.DataFrame:
    """Our kernels' speed over each library's, a row for each case and library."""
    rows = table(name)
    pairs = library_pairs(rows[rows["cache"] == cached])
    return pairs[pairs["first_backend"] == backend]


def where(rows: pd.DataFrame, **wanted: Any) -> pd.DataFrame:
    """The rows with these values; of several values, any; a value behind ``not_``: without it."""
    for name, value in wanted.items():
        column = rows[name.removeprefix("not_")]
        chosen = column.isin(value if isinstance(value, (list, tuple)) else [value])
        rows = rows[~chosen if name.startswith("not_") else chosen]
    return rows


def ends(values: Iterable[float]) -> tuple[float, float]:
    """The least and the greatest."""
    kept = list(values)
    return min(kept), max(kept)


def slower_by(rows: pd.DataFrame) -> float:
    """By how many per cent OpenCL takes longer in the slowest of these ratios."""
    return 100 * (1 / float(rows["gross"].min()) - 1)


def shares(name: str, **wanted: Any) -> pd.Series[Any]:
    """What our reductions reach of the limit, by default without minmaxloc."""
    wanted = {"not_op": "minmaxloc", **wanted}
    return where(table(name), kind="reduction", purpose="compare", backend=OWN, **wanted)["share"]


def over_limit(*names: str, **wanted: Any) -> tuple[float, float]:
    """The ends of how many times the limit's time our reductions take."""
    return ends(1 / share for name in names for share in shares(name, **wanted))


def contexts(name: str) -> tuple[int, int, int]:
    """In how many contexts our cases of a run were measured, at least and at most; and an empty kernel, 0
    where the run has none.
    """
    rows = table(name)
    rows = rows[~rows["role"].isin(["library", "reference"])]
    counts = {kind: where(rows, purpose=kind)["queue_blocks"].map(len) for kind in ("compare", "control")}
    return (
        int(counts["compare"].min()),
        int(counts["compare"].max()),
        max(map(int, counts["control"]), default=0),
    )


def medians(name: str, backend: str, problem: str) -> list[float]:
    """The median of each context of one case, in us, as it was sampled."""
    record = next(
        each
        for each in run_of(name).records
        if each.case.backend == backend and each.case.problem.label == problem
    )
    clock = record.clocks["queue"]
    return [float(np.median(samples)) * 1e6 for samples in by_block(clock.seconds, clock.blocks).values()]


def are_off(times: Sequence[float]) -> npt.NDArray[np.bool_]:
    """Which of these times are shorter by a fifth than their median, or longer by a quarter."""
    shares = np.asarray(times) / np.median(times)
    return (shares < 0.8) | (shares > 1.25)


def empty_us(name: str, backend: str, variant: str = "in_order events off") -> float:
    """The queue clock of an empty kernel, in us: of its first record."""
    rows = where(table(name), kind="empty", backend=backend, variant=variant)
    return float(rows["queue"].iloc[0]) * 1e6


def lead(name: str, library: str, cached: str = "hot") -> tuple[float, float]:
    """How many times as fast as a library CUDA's kernels are: the geometric mean, and the least."""
    found = leads(name, cached)
    gross = found[found["second_backend"] == library]["gross"]
    return geometric_mean(gross), float(gross.min())


def steps(name: str, problem: str) -> dict[str, list[float]]:
    """The times of a problem's variants, in us, in the run's order, for each side."""
    rows = where(table(name), problem=problem, purpose="compare")
    return {side: [seconds * 1e6 for seconds in where(rows, backend=side)["queue"]] for side in OWN}


def by_finish(name: str, before: str, after: str, **wanted: Any) -> dict[str, pd.Series[Any]]:
    """For each side how many times as fast the best variant with one finish is as with another."""
    rows = where(table(name), purpose="compare", **wanted)
    finish = rows["variant"].str.split().str[-1]
    best = rows.groupby(["backend", "problem", "cache", finish])["queue"].min().unstack()
    found = (best[before] / best[after]).dropna()
    return {side: found[side] for side in OWN}


def by_hint(name: str, **wanted: Any) -> pd.DataFrame:
    """The time of the best variant with each hint to the caches, in us, a row for each side and case."""
    rows = where(table(name), purpose="compare", **wanted)
    hint = rows["variant"].str.extract(r" (streaming_stores|streaming|resident|window)$")[0].fillna("none")
    return rows.groupby(["backend", "problem", "cache", hint])["queue"].min().unstack() * 1e6


def normalised(document: str) -> str:
    """A document's text with every run of white space as one space."""
    return re.sub(r"\s+", " ", (ROOT / document).read_text(encoding="utf-8"))

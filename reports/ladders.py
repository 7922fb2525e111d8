"""What each step of a ladder brings: its rungs and the libraries by type or size, and each rung's worth."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from harness.kernels import view
from harness.kernels.requirements import violations
from harness.kernels.source import Dialect
from harness.problems import Problem
from harness.results import ratio
from harness.results.ratio import Ratio
from harness.results.statistics import geometric_mean
from harness.variants.axes import Variant, label
from harness.variants.ladders import LADDERS, Ladder
from reports import format as write
from reports.dataset import measured, ordered_types
from reports.panels import COLOURS, WIDTH, Panel, log_scale
from reports.ratios import side_of
from reports.saturation import series_of
from reports.tables import Cell, Line, Table, number_cell

HEADINGS = (
    ("step", "what a rung changes; the first is the base in full"),
    ("device", ""),
    ("problems", "measured on this rung, on the one before and on the first"),
    ("over the step before", "speed, geometric mean over these problems"),
    ("over the first", "speed, geometric mean over the same problems"),
)
_TIMES = 2
"""A gain from here on is told as a multiple."""
_WHOLE_PERCENT = 10
"""From here on a gain has no decimals: there is not the room."""
_NUMBERS, _ABOVE, _BELOW, _STEP, _BAR = 160, 20, 16, 13, 11
"""Of a waterfall, in units of a panel: least width of the column of numbers; heights."""
_LETTER = 5.1
"""The width of a letter of it."""


@dataclass(frozen=True)
class Climb:
    """A ladder whose every rung is in a run: the measured rows of its rungs and of the libraries beside them.

    The column ``step`` is the rung's label, or the library's backend; all rows are of one piece of hardware
    and one cache state.
    """

    ladder: Ladder
    device_name: str
    cache: str
    rungs: pd.DataFrame
    libraries: pd.DataFrame


def climbs(table: pd.DataFrame) -> Iterator[Climb]:
    """The ladders that were measured, in the order of :data:`harness.variants.ladders.LADDERS`."""
    for ladder in LADDERS.values():
        steps = dict(zip(map(label, ladder.rungs), ladder.labels, strict=True))
        asked = table[(table["purpose"] == "compare") & (table["kind"] == ladder.kind)]
        if not set(steps) <= set(asked["variant"]):
            continue
        rows = measured(asked)
        own = rows[rows["variant"].isin(list(steps))]
        own = own.assign(step=own["variant"].map(steps))
        others = rows[rows["role"].isin(["library", "reference"])]
        others = others.assign(step=others["backend"])
        for (physical, cache), rungs in own.groupby(["physical", "cache"], sort=False):
            beside = others[(others["physical"] == physical) & (others["cache"] == cache)]
            beside = beside[beside["problem"].isin(rungs["problem"])]
            yield Climb(ladder, str(rungs["device_name"].iloc[0]), str(cache), rungs, beside)


@dataclass(frozen=True)
class Rung:
    """One step of a ladder on one device and problem: its time, its speed over that of the step before."""

    step: str
    device: str
    backend: str
    seconds: float
    gain: Ratio | None

    @property
    def told(self) -> str:
        """The time, and what the step brought with its interval."""
        return f"{write.us(self.seconds)} us" + (f", {brought(self.gain)}" if self.gain else "")


def brought(gain: Ratio) -> str:
    """How much faster a step made it: in per cent, as a multiple from 2 on."""
    if not math.isfinite(gain.value):
        return write.ABSENT
    low, high = gain.interval.low, gain.interval.high
    if gain.value >= _TIMES:
        known = f" ({low:.1f} to {high:.1f})" if gain.interval.known else ""
        return f"{gain.value:.1f}x{known}"
    known = f" ({_percent(low)} to {_percent(high)})" if gain.interval.known else ""
    return f"{_percent(gain.value)}\u00a0%{known}"


def _percent(ratio: float) -> str:
    value = (ratio - 1) * 100
    digits = 1 if abs(value) < _WHOLE_PERCENT else 0
    return f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def rungs_of(climb: Climb, problem: str) -> list[Rung]:
    """The rungs of one problem that were measured, step by step, the devices of each side by side."""
    records = climb.rungs[climb.rungs["problem"] == problem].to_dict("records")
    rows = [{str(key): value for key, value in row.items()} for row in records]
    places = {step: place for place, step in enumerate(climb.ladder.labels)}
    there = set(zip(climb.rungs["device"], climb.rungs["step"], strict=True))
    of = {(row["device"], row["step"]): row for row in rows}
    found = []
    for row in sorted(rows, key=lambda row: places[row["step"]]):
        device, step = row["device"], row["step"]
        # A rung that the device cannot run is none; of one that this problem lacks, the gain is not known.
        steps = [each for each in climb.ladder.labels[: places[step]] if (device, each) in there]
        last = of.get((device, steps[-1])) if steps else None
        gain = ratio.compare(side_of(row), side_of(last), paired=True) if last else None
        found.append(Rung(step, device, row["backend"], float(row["queue"]), gain))
    return found


def waterfalls(climb: Climb) -> list[Markup]:
    """A panel a problem, by size and type: each rung's bar reaches from the time of the rung before to its
    own, the backends' below each other, beside a line at the time of the measured limit.
    """
    problems = climb.rungs.drop_duplicates("problem")
    types = ordered_types(problems["type"])
    in_order = problems.assign(place=problems["type"].map(types.index)).sort_values(
        ["op", "elements", "place"], kind="stable"
    )
    return [_waterfall(climb, row) for row in in_order.itertuples(index=False)]


def _waterfall(climb: Climb, problem: Any) -> Markup:
    rungs = rungs_of(climb, problem.problem)
    limit = problem.bytes_moved / problem.limit if problem.limit > 0 else math.nan
    times = [rung.seconds for rung in rungs] + [limit] * math.isfinite(limit)
    by_step: dict[str, list[Rung]] = {}
    for rung in rungs:
        by_step.setdefault(rung.step, []).append(rung)
    height = _ABOVE + sum(_STEP + _BAR * len(each) for each in by_step.values()) + _BELOW
    label = f"Time of a call on each rung of {climb.ladder.name}: {problem.problem}"
    panel = Panel(problem.problem, label, height, left=0)
    numbers = series_of([rung.backend for rung in rungs])
    right = WIDTH - max(_NUMBERS, _LETTER * max(len(rung.told) for rung in rungs))
    at = log_scale(min(times) * 0.9, max(times) * 1.02, 0, right)
    before: dict[str, float] = {}
    if math.isfinite(limit):
        # First, so that it lies behind the texts.
        panel.line(at(limit), _ABOVE, at(limit), height - _BELOW, "limit")
        panel.text(0, height - _BELOW + 11, f"limit: {write.us(limit)} us")
    y = float(_ABOVE)
    for step, each in by_step.items():
        panel.text(0, y + 9, "base" if step == climb.ladder.labels[0] else step, "k")
        y += _STEP
        for rung in each:
            # The first bar begins at the edge: there is nothing before it.
            ends = sorted((at(before[rung.device]) if rung.device in before else 0.0, at(rung.seconds)))
            style = f"s{numbers[rung.backend] % COLOURS}"
            panel.box(ends[0], y, ends[1] - ends[0], _BAR - 2, style, f"{rung.device}, {step}: {rung.told}")
            panel.text(right + 4, y + _BAR - 2, rung.told, "n")
            before[rung.device] = rung.seconds
            y += _BAR
    return panel.svg()


@dataclass(frozen=True, slots=True)
class Change:
    """What a rung changes in the source of one dialect: a unified diff, empty where only numbers differ."""

    step: str
    dialect: str
    diff: str


def changes(climb: Climb) -> list[Change]:
    """What each rung changes in the kernels' text as it is today, for the first problem of the climb."""
    first = climb.rungs.iloc[0]
    problem = view.problem_from_text(_text_of(first))
    kind: view.Kind = "cpu" if first["physical"] == "cpu" else "gpu"
    found = []
    for dialect in _DIALECTS:
        if dialect[1] not in set(climb.rungs["backend"]):
            continue
        texts = [_source(problem, rung, kind, dialect[0]) for rung in climb.ladder.rungs]
        for step, old, new in zip(climb.ladder.labels[1:], texts, texts[1:], strict=False):
            if old is not None and new is not None:
                diff = view.difference(old, new, ("before", step))
                found.append(Change(step, dialect[1], diff))
    return found


_DIALECTS: tuple[tuple[Dialect, str], ...] = (("cl", "opencl"), ("cu", "cuda"))


def _text_of(row: pd.Series[Any]) -> str:
    return (
        f"{row['op']} {row['type']} {row['size']}" if row["kind"] == "reduction" else f"laplace {row['type']}"
    )


def _source(problem: Problem, rung: Variant, kind: view.Kind, dialect: Dialect) -> str | None:
    device = view.assumed(kind, dialect)
    return None if violations(rung, problem, device) else view.source_of(problem, rung, device, dialect)


def steps_table(found: Sequence[Climb]) -> Table:
    """Each rung's speed over that of the one before and of the first, a line a device."""
    lines = [line for climb in found for line in _lines(climb)]
    ladders = tuple(dict.fromkeys(climb.ladder.name for climb in found))
    return Table((("ladder", ""), *HEADINGS), tuple(lines), frozenset((3, 4, 5)), {"ladder": ladders})


def _lines(climb: Climb) -> Iterator[Line]:
    labels = climb.ladder.labels
    for device, rows in climb.rungs.groupby("device", sort=False):
        times = {step: series.set_index("problem")["queue"] for step, series in rows.groupby("step")}
        # Of a rung that did not run on this device nothing is told, were it the first.
        there = [step for step in labels if step in times]
        first = times.get(labels[0])
        for before, step in zip((None, *there), there, strict=False):
            series = [times[before] if before else times[step], times[step]]
            # Both columns are of the same problems.
            if before and first is not None:
                series.append(first)
            both = functools.reduce(pd.Index.intersection, (each.index for each in series))
            gain = _gain(series[0], times[step], both) if before else math.nan
            whole = _gain(first, times[step], both) if before and first is not None else math.nan
            cells = (
                Cell(climb.ladder.name),
                Cell(step, style="variant"),
                Cell(str(device), title=f"{climb.device_name}, {climb.cache}"),
                number_cell(float(len(both)), lambda value: f"{value:.0f}"),
                number_cell(gain, write.ratio),
                number_cell(whole, write.ratio),
            )
            yield Line(cells, {"ladder": climb.ladder.name})


def _gain(before: pd.Series[float], after: pd.Series[float], problems: pd.Index[Any]) -> float:
    """The geometric mean of how much faster these problems are after than before; NaN of none."""
    return geometric_mean(before[problems] / after[problems]) if len(problems) else math.nan

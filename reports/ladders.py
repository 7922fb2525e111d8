"""What each step of a ladder brings: its rungs and the libraries by type or size, and each rung's worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from harness.results.statistics import geometric_mean
from harness.variants.axes import label
from harness.variants.ladders import LADDERS, Ladder
from reports import format as write
from reports.dataset import measured, ordered_sizes, ordered_types
from reports.looks import looks
from reports.svg import SENTINEL, Entry, Panels
from reports.tables import Cell, Line, Table, number_cell

HEADINGS = (
    ("step", "what a rung changes; the first is the base in full"),
    ("device", ""),
    ("problems", "measured on this rung and on the one before"),
    ("over the step before", "speed, geometric mean over these problems"),
    ("over the first", "speed, geometric mean over the problems measured on both"),
)
_LEGEND_COLUMNS = 5


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


def steps_chart(climb: Climb, name: str) -> str:
    """Time of a call by type, or by size where more sizes than types were measured: a series a rung and a
    library, a panel for each backend, operation and remaining size or type (yan2011, figures 3 to 10; pcl,
    figures 4 to 10).
    """
    rungs, libraries = climb.rungs, climb.libraries
    across, rest = ("size", "type") if rungs["size"].nunique() > rungs["type"].nunique() else ("type", "size")
    order = ordered_sizes(rungs) if across == "size" else ordered_types(rungs["type"])
    steps = [step for step in climb.ladder.labels if step in set(rungs["step"])]
    colours: Mapping[str, Any] = dict(zip(steps, sns.color_palette("viridis", len(steps)), strict=True))
    others, look_of = looks(libraries["step"])
    shapes = look_of["markers"]
    rows = _in_panels(rungs, libraries, rest).assign(us=lambda data: data["queue"] * 1e6)

    def draw(axes: Axes, data: pd.DataFrame) -> None:
        place = {value: number for number, value in enumerate(order)}
        for step, series in data.groupby("step", sort=False):
            points = series.assign(place=series[across].map(place)).sort_values("place")
            look: dict[str, Any] = (
                {"color": colours[str(step)], "marker": "o", "linewidth": 1.2}
                if step in colours
                else {"color": SENTINEL, "marker": shapes[str(step)], "linestyle": "none", "alpha": 0.8}
            )
            axes.plot(points["place"], points["us"], markersize=4.5, **look)
        axes.set_xticks(range(len(order)), order)
        axes.set_xlim(-0.4, len(order) - 0.6)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(10, (1, 2, 5), numticks=12))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())

    legend = [
        *(Entry(step if place else "base", colours[step], "o") for place, step in enumerate(steps)),
        *(Entry(step, SENTINEL, shapes[step]) for step in others),
    ]
    text = f"Time of a call by {across} on each rung of {climb.ladder.name}"
    return Panels(rows, draw, legend, "us a call", text, _LEGEND_COLUMNS).svg(name)


def _in_panels(rungs: pd.DataFrame, libraries: pd.DataFrame, rest: str) -> pd.DataFrame:
    """The rows with their panel in ``op``; the libraries are in the panels of every backend."""
    found = []
    for device, own in rungs.groupby("device", sort=False):
        rows = pd.concat([own, libraries])
        found.append(rows.assign(op=rows["op"] + " " + rows[rest] + ", " + str(device)))
    return pd.concat(found)


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
        for before, step in zip((None, *there), there, strict=False):
            known, gain = _gain(times[before], times[step]) if before else (len(times[step]), math.nan)
            first = times.get(labels[0]) if before else None
            whole = math.nan if first is None else _gain(first, times[step])[1]
            cells = (
                Cell(climb.ladder.name),
                Cell(step, style="variant"),
                Cell(str(device), title=f"{climb.device_name}, {climb.cache}"),
                number_cell(float(known), lambda value: f"{value:.0f}"),
                number_cell(gain, write.ratio),
                number_cell(whole, write.ratio),
            )
            yield Line(cells, {"ladder": climb.ladder.name})


def _gain(before: pd.Series[float], after: pd.Series[float]) -> tuple[int, float]:
    """How many problems both have, and the geometric mean of how much faster they are after than before."""
    both = before.index.intersection(after.index)
    if both.empty:
        return 0, math.nan
    return len(both), geometric_mean(before[both] / after[both])

"""The charts of the studies: a small SVG a panel, so that they fit a narrow page, and one legend.

The published numbers are hollow and dashed, in panels of their own, or hatched where a range is all there is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import seaborn as sns
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from reports.dataset import ordered_types
from reports.studies.model import Figure
from reports.svg import SENTINEL, in_sight, of_page, one_panel

_WIDTH, _HEIGHT, _LINE = 4.3, 2.9, 0.24
_WIDE, _WIDER = 10, 60
"""From here on, and farther on, an axis from left to right has few numbers: its ends' ratio."""
_MARKERS: Final = "osD^vPX*<>pdhH"
_COLOURS = (0, 1, 2, 3, 4, 5, 7, 9)
"""Of seaborn's colour-blind palette those that are seen on white and on black."""
_OF_APIS = {"OpenCL": (1, "s"), "CUDA": (2, "^")}
"""As the page's other charts draw them (:func:`reports.saturation.series_of`)."""
_OF_VERDICTS = {"same": (7, "o"), "faster": (0, "^"), "slower": (3, "v"), "ambiguous": (1, "D")}
_Y = {
    "times": "us a call",
    "shares": "% of own bandwidth",
    "relative": "speed over it",
    "climb": "us a call",
    "steps": "speed of OpenCL over it",
    "widths": "GB/s",
}
_X = {"size": "size", "width": "elements of a vector"}
_LOGARITHMIC = ("times", "climb", "relative", "steps")
_HATCH: dict[str, Any] = {
    "facecolor": "none",
    "edgecolor": SENTINEL,
    "hatch": "///",
    "alpha": 0.3,
    "linewidth": 0,
}

Look = tuple[str, str]
"""Colour and marker."""
Span = tuple[str, float, float]
"""A published range: whose, from, to."""


@dataclass(frozen=True)
class Key:
    """One entry of the legend: its text, and the path of its mark; filled with a colour or with nothing."""

    text: str
    path: str
    colour: str
    style: str = ""


@dataclass(frozen=True)
class Drawn:
    """One panel: its title, which the page breaks where it has to, and the SVG element."""

    title: str
    svg: Markup


@dataclass(frozen=True)
class Drawing:
    """A figure's panels and its legend."""

    panels: tuple[Drawn, ...]
    keys: tuple[Key, ...]


def drawing(
    figure: Figure, points: pd.DataFrame, order: Sequence[Any], spans: Sequence[Span], name: str
) -> Drawing:
    """Draws the figure.

    Args:
        figure: which.
        points: as of :class:`reports.studies.points.Content`, the published ones too.
        order: the values of x in their order.
        spans: published ranges, hatched across the panels of what was measured.
        name: its own on the page.
    """
    names = list(points["series"].drop_duplicates())
    looks = _looks(figure, ordered_types(names) if figure.drawn == "widths" else names)
    data = points.assign(place=points["x"].map({value: place for place, value in enumerate(order)}))
    # What is relative is compared across devices, too; times and bandwidths only within each.
    apart = figure.drawn in ("times", "climb", "widths", "steps")
    ends = {
        each: _ends(figure, data[data["device"] == each] if apart else data, spans)
        for each in set(data["device"])
    }
    panels = []
    for number, (title, rows) in enumerate(data.groupby("op", sort=False)):
        draw = _panel(figure, rows, looks, order, spans, ends[rows["device"].iloc[0]])
        height = 0.9 + _LINE * len(order) if figure.across == "step" else _HEIGHT
        label = f"{figure.number}, {title}: {figure.title}"
        svg = Markup(one_panel(draw, _WIDTH, height, f"{name}-{number}", label))
        panels.append(Drawn(str(title), svg))
    return Drawing(tuple(panels), tuple(_keys(looks, bool(points["printed"].any()), spans)))


def _looks(figure: Figure, series: Sequence[str]) -> dict[str, Look]:
    palette = [to_hex(colour) for colour in sns.color_palette("colorblind", 10)]
    if figure.drawn == "steps":
        return {name: (palette[at], marker) for name, (at, marker) in _OF_VERDICTS.items() if name in series}
    apis = {name: look for name, look in _OF_APIS.items() if name in series}
    colours = [each for each in _COLOURS if each not in {at for at, _ in apis.values()}]
    markers = [each for each in _MARKERS if each not in {marker for _, marker in apis.values()}]
    others = [name for name in series if name not in apis]
    looks = apis | {
        name: (colours[place % len(colours)], markers[place % len(markers)])
        for place, name in enumerate(others)
    }
    return {name: (palette[looks[name][0]], looks[name][1]) for name in series}


def _ends(figure: Figure, data: pd.DataFrame, spans: Sequence[Span]) -> tuple[float, float]:
    """The ends of y in the panels of these points: all dots, the ranges, and intervals as far as they do not
    make the dots one line.
    """
    values = [*data["y"], *(end for _, low, high in spans for end in (low, high))]
    if figure.drawn not in _LOGARITHMIC:
        return 0.0, max(values) * 1.08
    values = in_sight(values, (*data["low"], *data["high"]))
    values += [1.0] if figure.drawn in ("relative", "steps") else []
    return min(values) / 1.15, max(values) * 1.15


def _panel(
    figure: Figure, rows: pd.DataFrame, looks: dict[str, Look], order: Sequence[Any], spans: Sequence[Span],
    ends: tuple[float, float],
) -> Callable[[Axes], None]:  # fmt: skip
    is_printed = bool(rows["printed"].any())
    # A published ratio to one library says nothing beside one to another.
    spans = () if is_printed or rows["stands_in"].eq(True).any() else spans

    def draw(axes: Axes) -> None:
        if figure.across == "step":
            (_draw_steps if figure.drawn == "steps" else _draw_climb)(axes, rows, looks)
            axes.set_yticks(range(len(order)), [str(value) for value in order])
            axes.set_ylim(len(order) - 0.5, -0.5)
            axes.set(xlabel=_Y[figure.drawn], ylabel="")
            _set_scale(axes, axes.xaxis, ends)
            return
        if figure.drawn == "relative":
            axes.axhline(1, color=SENTINEL, linewidth=1.1, zorder=1)
        for _, low, high in spans:
            axes.axhspan(low, high, zorder=0, **_HATCH)
        _draw_series(axes, rows, looks, is_printed)
        axes.set_ylim(*ends)
        if figure.drawn in _LOGARITHMIC:
            _set_scale(axes, axes.yaxis, ends)
        axes.set_xticks(range(len(order)), [str(value) for value in order])
        axes.set_xlim(-0.5, len(order) - 0.5)
        axes.set(xlabel=_X.get(figure.across, ""), ylabel=_Y[figure.drawn])
        axes.grid(visible=False, axis="x")
        for tick in axes.get_xticklabels():
            tick.set(rotation=35, ha="right", rotation_mode="anchor")

    return draw


def _draw_series(axes: Axes, rows: pd.DataFrame, looks: dict[str, Look], is_printed: bool) -> None:
    for series, (colour, marker) in looks.items():
        own = rows[rows["series"] == series].sort_values("place")
        if own.empty:
            continue
        edge = SENTINEL if is_printed else colour
        sns.lineplot(
            data=own, x="place", y="y", color=edge, marker=marker, markersize=5.5,
            markerfacecolor="none" if is_printed else colour, markeredgecolor=edge,
            linestyle=(0, (4, 3)) if is_printed else "-", linewidth=1.2, errorbar=None, estimator=None,
            legend=False, ax=axes,
        )  # fmt: skip
        known = own[own["low"].notna()]
        if len(known):
            axes.vlines(known["place"], known["low"], known["high"], colors=[edge], linewidth=1.4, zorder=2)


def _draw_steps(axes: Axes, rows: pd.DataFrame, looks: dict[str, Look]) -> None:
    """A line of dots a step, the first on top; each dot a problem, with its interval."""
    axes.axvline(1, color=SENTINEL, linewidth=1.1, zorder=1)
    count = rows.groupby("place").cumcount()
    spread = count - rows.groupby("place")["y"].transform("size").sub(1) / 2
    rows = rows.assign(line=rows["place"] + 0.6 * spread / max(1, int(count.max()) + 1))
    for series, (colour, marker) in looks.items():
        own = rows[rows["series"] == series]
        known = own[own["low"].notna()]
        axes.hlines(known["line"], known["low"], known["high"], colors=[colour], linewidth=0.8, alpha=0.7)
        sns.scatterplot(data=own, x="y", y="line", color=colour, marker=marker, s=16, linewidth=0, ax=axes)


def _draw_climb(axes: Axes, rows: pd.DataFrame, looks: dict[str, Look]) -> None:
    """The time of each step, the first on top."""
    for series, (colour, marker) in looks.items():
        own = rows[rows["series"] == series].sort_values("place")
        sns.lineplot(
            data=own, x="y", y="place", color=colour, marker=marker, markersize=5.5, markeredgecolor=colour,
            linewidth=1.2, orient="y", errorbar=None, estimator=None, legend=False, ax=axes,
        )  # fmt: skip


def _set_scale(axes: Axes, axis: Any, ends: tuple[float, float]) -> None:
    """A logarithmic scale with ticks as fine as there is room for."""
    is_y = axis is axes.yaxis
    (axes.set_yscale if is_y else axes.set_xscale)("log")
    (axes.set_ylim if is_y else axes.set_xlim)(*ends)
    reach = ends[1] / ends[0]
    subs: tuple[float, ...] = (1.0,) if reach > 2000 else (1, 2, 5) if reach > 12 else (1, 1.5, 2, 3, 5, 7)
    # Numbers stand side by side below an axis, and above each other beside one.
    if not is_y and reach > _WIDE:
        subs = (1.0,) if reach > _WIDER else (1, 3)
    if reach <= 2:
        subs = (0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5, 2, 3, 4, 5, 6)
    axis.set_major_locator(LogLocator(10, subs, numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def _keys(looks: dict[str, Look], has_printed: bool, spans: Sequence[Span]) -> list[Key]:
    found = [Key(name, _path(marker), of_page(colour)) for name, (colour, marker) in looks.items()]
    if has_printed:
        found.append(Key("hollow, dashed: published", _path("o"), "currentColor", "hollow"))
    found += [
        Key(
            f"hatched: published, {of}: {low:g} to {high:g}",
            "M-1 1L1-1M-1 0L0-1M0 1L1 0",
            "currentColor",
            "hollow",
        )
        for of, low, high in spans
    ]
    return found


def _path(marker: str) -> str:
    """A marker of matplotlib as an SVG path within -1 to 1."""
    style = MarkerStyle(marker)
    path = style.get_path().transformed(style.get_transform())
    scale = 1 / float(np.abs(np.asarray(path.vertices)).max())
    letters = {int(Path.MOVETO): "M", int(Path.LINETO): "L", int(Path.CURVE3): "Q", int(Path.CURVE4): "C"}
    parts = []
    for values, code in path.iter_segments(curves=True, simplify=False):
        places = [f"{sign * value * scale:.3f}" for value, sign in zip(values, (1, -1) * 3, strict=False)]
        parts.append("Z" if code == Path.CLOSEPOLY else f"{letters[int(code)]}{' '.join(places)}")
    return "".join(parts)

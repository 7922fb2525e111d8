"""The charts of the page: ratios, bandwidths, shares of the measured limit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from reports import format as write
from reports.dataset import bandwidths, by_speed, measured, ordered_sizes, ordered_types
from reports.looks import looks
from reports.ratios import Comparison
from reports.svg import DASHES, LINE, SENTINEL, Entry, Panels

_DASHED: dict[str, Any] = {"color": SENTINEL, "linewidth": 1.1, "linestyle": (0, (4, 3)), "zorder": 1}


def ratio_chart(comparison: Comparison, cache: str, name: str) -> str:
    """:func:`ratio_panels` as an element of a page."""
    return ratio_panels(comparison, cache).svg(name)


def ratio_panels(comparison: Comparison, cache: str) -> Panels:
    """Ratios by operation (panel), type and size: gross a dot with its interval, net of launch a cross.

    A line at 1, and the equivalence band as a shade.
    """
    pairs = comparison.fastest
    pairs = pairs[pairs["cache"] == cache]
    sizes = ordered_sizes(pairs)
    colours = _size_colours(sizes)
    points = pairs[["gross", "net"]].to_numpy(dtype=float)
    points = points[np.isfinite(points)]
    ends = pairs[["low", "high"]].to_numpy(dtype=float)
    # One interval that spans decades may leave the panel: the dots of all others are to stay apart.
    ends = np.clip(ends[np.isfinite(ends)], points.min() / 2, points.max() * 2)
    ticks = _ratio_ticks([*points.tolist(), *ends.tolist()])

    def draw(axes: Axes, data: pd.DataFrame) -> None:
        axes.axhline(1, color=SENTINEL, linewidth=1.1, zorder=1)
        band = 1 + comparison.band
        axes.axhspan(1 / band, band, color=SENTINEL, alpha=0.1, linewidth=0, zorder=0)
        common: dict[str, Any] = {
            "data": data, "x": "type", "order": ordered_types(data["type"]), "hue": "size",
            "hue_order": sizes, "palette": colours, "dodge": len(sizes) > 1, "jitter": False, "size": 6,
            "legend": False, "ax": axes,
        }  # fmt: skip
        sns.stripplot(y="gross", **common)
        if data["net"].notna().any():
            sns.stripplot(y="net", marker="x", linewidth=1.4, **common)
        _error_bars(axes, data, sizes, colours)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(FixedLocator(ticks))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_ylim(ticks[0], ticks[-1])

    legend = [*(Entry(size, colours[size], "o") for size in sizes)]
    legend.append(Entry("gross (queue), with its interval", SENTINEL, "o"))
    if pairs["net"].notna().any():
        legend.append(Entry("net of launch", SENTINEL, "x"))
    sides = f"{comparison.first}\nover {comparison.second}"
    label = f"Ratio of speeds, {comparison.first} over {comparison.second}, by operation, type and size"
    return Panels(pairs, draw, legend, f"speed of {sides}", label)


def _error_bars(axes: Axes, data: pd.DataFrame, sizes: Sequence[str], colours: Mapping[str, Any]) -> None:
    """The intervals of the gross ratios, each through its dot: seaborn's strips have none of their own."""
    types = ordered_types(data["type"])
    width = 0.8 / len(sizes)
    for place, size in enumerate(sizes):
        rows = data[(data["size"] == size) & data["low"].notna()]
        middle = [types.index(name) + (place - (len(sizes) - 1) / 2) * width for name in rows["type"]]
        axes.vlines(middle, rows["low"], rows["high"], colors=[colours[size]], linewidth=1.6, zorder=2)


def bandwidth_chart(
    table: pd.DataFrame, physical: str, cache: str, name: str, memory_rate: float | None = None
) -> str:
    """GB/s by size of the source and backend, the measured limit as a dashed line, one panel an operation.

    ``memory_rate``: bytes a second that the memory can give at most, another line where it is known.
    """
    rows = _fastest(table, physical, cache)
    rows = rows.assign(rate=rows["bytes_per_second"] / 1e9, limit_rate=rows["limit"] / 1e9)
    backends, look = looks(rows["backend"])
    peak = memory_rate / 1e9 if memory_rate else 0.0
    top = max(peak, float(rows[["rate", "limit_rate"]].max().max()))

    def draw(axes: Axes, data: pd.DataFrame) -> None:
        # Through the sizes that the limit was measured at, which are not always those of the cases.
        same_kind = rows[rows["kind"].isin(data["kind"]) & rows["limit"].notna()]
        line = same_kind.groupby("limit_bytes")["limit_rate"].max()
        axes.plot(line.index, line.to_numpy(), marker=".", **_DASHED)
        if peak:
            axes.axhline(peak, color=SENTINEL, linewidth=1.1, zorder=1)
        sns.scatterplot(
            data=data, x="source_bytes", y="rate", hue="backend", hue_order=backends, style="backend",
            style_order=backends, s=34, alpha=0.85, linewidth=0, clip_on=False, legend=False, ax=axes, **look,
        )  # fmt: skip
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(_spread(sorted(set(data["source_bytes"])))))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: write.size(value)))
        axes.margins(x=0.08)
        axes.set_ylim(0, top * 1.08)

    legend = _legend(backends, look)
    if rows["limit"].notna().any():
        legend.append(Entry("measured limit", SENTINEL, DASHES))
    if peak:
        legend.append(Entry(f"memory clock x bus width: {write.gb_s(peak * 1e9)} GB/s", SENTINEL, LINE))
    return Panels(rows, draw, legend, "GB/s", "Bandwidth by operation, size and backend").svg(name)


def width_chart(table: pd.DataFrame, physical: str, cache: str, name: str) -> str:
    """GB/s by vector width and type, one panel a direction and backend: figure 6 of jia2012, for both APIs.

    Of several variants of one width the fastest. An empty string where nothing of the kind was measured.
    """
    rows = bandwidths(table)
    rows = rows[(rows["physical"] == physical) & (rows["cache"] == cache)]
    if rows.empty:
        return ""
    key = ["backend", "problem", "width"]
    rows = rows.sort_values("queue", kind="stable").drop_duplicates(key).sort_values("number")
    rows = rows.assign(rate=rows["bytes_per_second"] / 1e9, op=rows["op"] + ", " + rows["backend"])
    types, widths = ordered_types(rows["type"]), sorted(set(rows["width"]))
    colours = dict(zip(types, sns.color_palette("colorblind", len(types)), strict=True))
    shapes = dict(zip(types, "osD^vPX*<>p"[: len(types)], strict=False))
    top = float(rows["rate"].max())

    def draw(axes: Axes, data: pd.DataFrame) -> None:
        sns.lineplot(
            data=data, x="width", y="rate", hue="type", hue_order=types, palette=colours, style="type",
            style_order=types, markers=shapes, dashes=False, legend=False, errorbar=None, ax=axes,
        )  # fmt: skip
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(widths))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_ylim(0, top * 1.08)

    legend = [Entry(kind, colours[kind], shapes[kind]) for kind in types]
    label = "Bandwidth of reading and copying by vector width, type and backend"
    return Panels(rows, draw, legend, "GB/s", label).svg(name)


def share_chart(table: pd.DataFrame, physical: str, cache: str, name: str) -> str:
    """Share of the measured limit by type and backend, of the largest size of each operation and type.

    An empty string where no limit was measured.
    """
    rows = _fastest(table, physical, cache)
    rows = rows[rows["share"].notna()]
    if rows.empty:
        return ""
    rows = rows[rows["source_bytes"] == rows.groupby(["op", "type"])["source_bytes"].transform("max")]
    rows = rows.assign(percent=rows["share"] * 100)
    backends, look = looks(rows["backend"])
    top = max(110.0, float(rows["percent"].max()) * 1.05)

    def draw(axes: Axes, data: pd.DataFrame) -> None:
        axes.axhline(100, **_DASHED)
        for backend in backends:
            sns.stripplot(
                data=data[data["backend"] == backend], x="type", y="percent",
                order=ordered_types(data["type"]), color=look["palette"][backend],
                marker=look["markers"][backend], size=6.5, alpha=0.85, jitter=False, clip_on=False,
                ax=axes,
            )  # fmt: skip
        axes.set_ylim(0, top)

    label = "Share of the measured limit by operation, type and backend"
    return Panels(rows, draw, _legend(backends, look), "% of limit", label).svg(name)


def _fastest(table: pd.DataFrame, physical: str, cache: str) -> pd.DataFrame:
    """The rows of one device and cache state; of several variants of a backend the fastest.

    Without a study of the limits themselves, which has a chart of its own.
    """
    rows = measured(table)
    rows = rows.drop(bandwidths(rows).index)
    here = (rows["physical"] == physical) & (rows["cache"] == cache)
    rows = rows[here & rows["bytes_per_second"].notna()]
    return by_speed(rows).drop_duplicates(["backend", "device", "problem"]).sort_values("number")


def _size_colours(sizes: Sequence[str]) -> dict[str, Any]:
    colours = sns.color_palette("colorblind" if len(sizes) <= 6 else "viridis", len(sizes))
    return dict(zip(sizes, colours, strict=True))


def _legend(backends: Sequence[str], look: dict[str, dict[str, Any]]) -> list[Entry]:
    return [Entry(name, look["palette"][name], look["markers"][name]) for name in backends]


def _ratio_ticks(values: Sequence[float]) -> list[float]:
    """Ticks that hold all values and 1: fine where they are close, powers of two or ten where they spread."""
    low, high = min([*values, 0.9]), max([*values, 1.1])
    fine = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5]
    coarse = [0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0]
    if fine[0] <= low and high <= min(fine[-1], 2.5 * low):
        ticks = fine
    elif coarse[0] <= low and high <= coarse[-1]:
        ticks = coarse
    else:
        base = 2 if high / low < 2**9 else 10
        # One power more at each end than needed: a logarithm of a power may be rounded either way.
        reach = range(math.floor(math.log(low, base)) - 1, math.ceil(math.log(high, base)) + 2)
        ticks = [float(base) ** power for power in reach]
    first = max(place for place, tick in enumerate(ticks) if tick <= low)
    last = min(place for place, tick in enumerate(ticks) if tick >= high)
    return ticks[first : last + 1]


def _spread(values: Sequence[float]) -> list[float]:
    """Those of the sorted values that are a factor of two apart: labels that do not run into each other."""
    chosen: list[float] = []
    for value in values:
        if not chosen or value >= 2 * chosen[-1]:
            chosen.append(value)
    return chosen

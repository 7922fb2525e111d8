"""The charts of the page: ratios, bandwidths, shares of the measured limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from reports.dataset import ordered_sizes, ordered_types
from reports.panels import ratio_ticks
from reports.ratios import Comparison
from reports.svg import SENTINEL, Entry, Panels

_DASHED: dict[str, Any] = {"color": SENTINEL, "linewidth": 1.1, "linestyle": (0, (4, 3)), "zorder": 1}


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
    ticks = ratio_ticks([*points.tolist(), *ends.tolist()])

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
        # Where a panel has one of the sizes alone its dots lie beside their tick, which must be seen.
        axes.set_xlim(-0.5, data["type"].nunique() - 0.5)

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


def _size_colours(sizes: Sequence[str]) -> dict[str, Any]:
    colours = sns.color_palette("colorblind" if len(sizes) <= 6 else "viridis", len(sizes))
    return dict(zip(sizes, colours, strict=True))

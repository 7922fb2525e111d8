"""The charts, as inline SVG: transparent, their text in the colour of the page, their ids unique on it."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import matplotlib as mpl
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from backends import REGISTRY
from reports import format as write
from reports.frame import measured, ordered_sizes, ordered_types
from reports.ratios import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SENTINEL = "#010203"
"""What is drawn in this colour becomes currentColor: one chart serves the light and the dark page."""

COLUMNS = 3
_MANY_PANELS = 12
_WIDTH, _PANEL_HEIGHT = 11.6, 2.7
_SVG = "http://www.w3.org/2000/svg"
_FONT = re.compile(r"font-family:[^;]*;\s*")
_XLINK = "http://www.w3.org/1999/xlink"

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    # A dollar sign in a device's name is no mathematics.
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.alpha": 0.14,
    "grid.linewidth": 0.8,
    "axes.grid": True,
    "legend.frameon": False,
    **{f"{what}.color": SENTINEL for what in ("text", "xtick", "ytick", "grid")},
    **{f"axes.{what}": SENTINEL for what in ("edgecolor", "labelcolor", "titlecolor")},
}

Draw = Callable[["Axes", pd.DataFrame], None]


def ratio_chart(comparison: Comparison, cache: str, name: str) -> str:
    """Ratios by operation (panel), type and size: gross filled, net of launch as a cross, a line where both are equal."""
    pairs = comparison.fastest
    pairs = pairs[pairs["cache"] == cache]
    sizes, colours = ordered_sizes(pairs), _size_colours(ordered_sizes(pairs))
    ticks = _ratio_ticks([*pairs["gross"].dropna(), *pairs["net"].dropna()])

    def draw(axes: Axes, data: pd.DataFrame) -> None:
        axes.axhline(1, color=SENTINEL, linewidth=1.1, zorder=1)
        common: dict[str, Any] = {
            "data": data, "x": "type", "order": ordered_types(data["type"]), "hue": "size", "hue_order": sizes,
            "palette": colours, "dodge": len(sizes) > 1, "jitter": False, "legend": False, "ax": axes,
        }  # fmt: skip
        sns.stripplot(y="gross", size=6, **common)
        if data["net"].notna().any():
            sns.stripplot(y="net", size=6, marker="x", linewidth=1.4, **common)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(FixedLocator(ticks))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_ylim(ticks[0], ticks[-1])

    legend = [(size, colours[size], "o") for size in sizes]
    legend.append(("gross (queue)", SENTINEL, "o"))
    if pairs["net"].notna().any():
        legend.append(("net of launch", SENTINEL, "x"))
    label = f"speed of {comparison.first}\nover {comparison.second}"
    return _panels(
        pairs, draw, legend, label, name, f"Ratio of speeds, {comparison.first} over {comparison.second}"
    )


def bandwidth_chart(table: pd.DataFrame, physical: str, cache: str, name: str) -> str:
    """GB/s by size of the source and backend, the measured limit as a dashed line, one panel an operation."""
    rows = _of(table, physical, cache)
    backends, colours, markers = _backends(rows)
    limits = rows[rows["limit"].notna()]
    top = max(rows["bytes_per_second"].max(), limits["limit"].max() if len(limits) else 0) / 1e9

    def draw(axes: Axes, data: pd.DataFrame) -> None:
        # Cases at a limit of another size would bend the line: it is drawn through the sizes it was measured at.
        line = limits[limits["kind"].isin(data["kind"])].groupby("limit_bytes")["limit"].max() / 1e9
        axes.plot(
            line.index,
            line.to_numpy(),
            color=SENTINEL,
            linewidth=1.1,
            linestyle=(0, (4, 3)),
            marker=".",
            zorder=1,
        )
        sns.scatterplot(
            data=data.assign(rate=data["bytes_per_second"] / 1e9), x="source_bytes", y="rate", hue="backend",
            hue_order=backends, style="backend", style_order=backends, palette=colours, markers=markers, s=34, alpha=0.85,
            linewidth=0, legend=False, ax=axes,
        )  # fmt: skip
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(_spread(sorted(set(data["source_bytes"])))))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: write.size(value)))
        axes.margins(x=0.08)
        axes.set_ylim(0, top * 1.08)

    legend = [(backend, colours[backend], markers[backend]) for backend in backends]
    if len(limits):
        legend.append(("measured limit", SENTINEL, "--"))
    return _panels(rows, draw, legend, "GB/s", name, "Bandwidth by size of the source")


def share_chart(table: pd.DataFrame, physical: str, cache: str, name: str) -> str:
    """Share of the measured limit by type and backend, at the largest size of each operation and type; empty without limits."""
    rows = _of(table, physical, cache)
    rows = rows[rows["share"].notna()]
    if rows.empty:
        return ""
    rows = rows[rows["source_bytes"] == rows.groupby(["op", "type"])["source_bytes"].transform("max")]
    rows = rows.assign(percent=rows["share"] * 100)
    backends, colours, markers = _backends(rows)
    top = max(110.0, float(rows["percent"].max()) * 1.05)

    def draw(axes: Axes, data: pd.DataFrame) -> None:
        axes.axhline(100, color=SENTINEL, linewidth=1.1, linestyle=(0, (4, 3)), zorder=1)
        order = ordered_types(data["type"])
        for backend in backends:
            mine = data[data["backend"] == backend]
            sns.stripplot(
                data=mine, x="type", y="percent", order=order, color=colours[backend], marker=markers[backend], size=6.5,
                alpha=0.85, jitter=False, ax=axes,
            )  # fmt: skip
        axes.set_ylim(0, top)

    legend = [(backend, colours[backend], markers[backend]) for backend in backends]
    return _panels(rows, draw, legend, "% of limit", name, "Share of the measured limit")


def _of(table: pd.DataFrame, physical: str, cache: str) -> pd.DataFrame:
    """The rows of one device and cache state; of several variants of a backend the fastest."""
    rows = measured(table)
    rows = rows[(rows["physical"] == physical) & (rows["cache"] == cache) & rows["bytes_per_second"].notna()]
    fastest = rows.sort_values("queue", kind="stable").drop_duplicates(["backend", "device", "problem"])
    return fastest.sort_values("number")


def _panels(
    data: pd.DataFrame, draw: Draw, legend: Sequence[tuple[str, Any, str]], ylabel: str, name: str, label: str
) -> str:
    """One panel an operation, in rows of COLUMNS, under one legend; as SVG."""
    keys = _panel_keys(data)
    panels = list(keys.drop_duplicates())
    lines = -(-len(panels) // COLUMNS)
    with _style(name):
        figure = Figure(figsize=(_WIDTH, _PANEL_HEIGHT * lines + 0.4), layout="constrained")
        grid = figure.subplots(lines, COLUMNS, squeeze=False)
        for place, axes in enumerate(grid.flat):
            if place >= len(panels):
                axes.set_visible(False)
                continue
            draw(axes, data[keys == panels[place]])
            axes.set(title=panels[place], xlabel="", ylabel=ylabel if place % COLUMNS == 0 else "")
            axes.tick_params(axis="x", length=0)
            for tick in axes.get_xticklabels():
                tick.set(rotation=35, ha="right", rotation_mode="anchor")
            axes.grid(visible=False, axis="x")
        _legend(figure, legend)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return inline(text.getvalue(), name, label)


def _panel_keys(data: pd.DataFrame) -> pd.Series[str]:
    """The panel of each row: its operation, without the last word (an image's border) where panels would be too many."""
    if data["op"].nunique() <= _MANY_PANELS:
        return data["op"]
    return data["op"].where(data["kind"] != "laplace", data["op"].str.rsplit(" ", n=1).str[0])


def _legend(figure: Figure, entries: Sequence[tuple[str, Any, str]]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, linestyle="--", label=text)
        if marker == "--"
        else Line2D([], [], color=colour, linestyle="none", marker=marker, markersize=6, label=text)
        for text, colour, marker in entries
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=min(len(handles), 8), handletextpad=0.3)


@contextmanager
def _style(name: str) -> Iterator[None]:
    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}), warnings.catch_warnings():
        # Of a panel in which every value is absent, and of a chart too small for its labels: both are drawn all the same.
        warnings.filterwarnings("ignore", category=UserWarning, module=r"(seaborn|matplotlib)")
        yield


def _size_colours(sizes: Sequence[str]) -> dict[str, Any]:
    colours = sns.color_palette("colorblind" if len(sizes) <= 6 else "viridis", len(sizes))
    return dict(zip(sizes, colours, strict=True))


def _backends(rows: pd.DataFrame) -> tuple[list[str], dict[str, Any], dict[str, str]]:
    """The backends in the registry's order, with colours and markers that are the same in every chart."""
    known = list(REGISTRY)
    backends = sorted(
        set(rows["backend"]), key=lambda name: (known.index(name) if name in known else len(known), name)
    )
    shades = sns.color_palette("colorblind", 10)
    shapes = "sodP^vX*"
    places = [known.index(name) if name in known else len(known) + i for i, name in enumerate(backends)]
    colours = {name: shades[place % len(shades)] for name, place in zip(backends, places, strict=True)}
    return (
        backends,
        colours,
        {name: shapes[place % len(shapes)] for name, place in zip(backends, places, strict=True)},
    )


def _ratio_ticks(values: Sequence[float]) -> list[float]:
    """Ticks that hold all values and 1: fine near 1, by powers of two or ten where they spread."""
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
    first = max(i for i, tick in enumerate(ticks) if tick <= low)
    last = min(i for i, tick in enumerate(ticks) if tick >= high)
    return ticks[first : last + 1]


def _spread(values: Sequence[float]) -> list[float]:
    """Those of the sorted values that are at least a factor of two apart: labels that do not run into each other."""
    chosen: list[float] = []
    for value in values:
        if not chosen or value >= 2 * chosen[-1]:
            chosen.append(value)
    return chosen


def inline(svg: str, name: str, label: str) -> str:
    """matplotlib's SVG file as an element of a page: no prolog, every id its own, the sentinel colour currentColor."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        # A style element inside a page would be that of the whole page; the page's own style has these two lines.
        for child in [*parent.findall(f"{{{_SVG}}}metadata"), *parent.findall(f"{{{_SVG}}}style")]:
            parent.remove(child)
        for key, value in parent.attrib.items():
            parent.set(key, _FONT.sub("", _rename(key, value, name).replace(SENTINEL, "currentColor")))
    root.attrib.pop("width")
    root.attrib.pop("height")
    root.attrib |= {"role": "img", "aria-label": label, "class": "chart"}
    return ElementTree.tostring(root, encoding="unicode")


def _rename(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key in ("href", f"{{{_XLINK}}}href") and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    return value.replace("url(#", f"url(#{name}-")

"""Figures of panels as inline SVG: transparent, text in the colour of the page, ids unique on it."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

SENTINEL = "#010203"
"""What is drawn in this colour becomes currentColor: one chart serves the light and the dark page."""

DASHES, LINE = "--", "-"
"""The markers of legend entries that are lines."""

_FARTHEST = 2.0
"""An interval is drawn no farther than so many times outside the points: the others are to stay apart."""

_COLUMNS = 3
_MANY_PANELS = 12
_DPI = 200
_WIDTH, _PANEL_HEIGHT, _LEGEND_HEIGHT = 11.6, 2.7, 0.4
_LEGEND_SHARE = 0.95
"""Of the width that a legend may take: a page's font can be wider than matplotlib's."""
_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_FONT = re.compile(r"font-family:[^;]*;\s*")

_STYLE: Any = {
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
    "axes.grid": True,
    "grid.alpha": 0.14,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    **{f"{what}.color": SENTINEL for what in ("text", "xtick", "ytick", "grid")},
    **{f"axes.{what}": SENTINEL for what in ("edgecolor", "labelcolor", "titlecolor")},
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a legend; ``marker`` is matplotlib's, :data:`DASHES` or :data:`LINE`."""

    text: str
    colour: Any
    marker: str

    def handle(self) -> Line2D:
        """What the legend draws."""
        if self.marker in (DASHES, LINE):
            style: Any = self.marker
            return Line2D([], [], color=self.colour, linestyle=style, label=self.text)
        return Line2D(
            [], [], color=self.colour, linestyle="none", marker=self.marker, markersize=6, label=self.text
        )


@dataclass(frozen=True)
class Panels:
    """A figure to be: one panel an operation (column ``op`` of ``data``), drawn by ``draw``; one legend.

    ``label`` says what the figure shows to those who cannot see it; ``columns``: entries of a line of it.
    """

    data: pd.DataFrame
    draw: Callable[[Axes, pd.DataFrame], None]
    legend: Sequence[Entry]
    ylabel: str
    label: str
    columns: int = 8

    def svg(self, name: str) -> str:
        """The figure as an SVG element. ``name``, its own on the page, begins all of its ids."""
        with _style(name):
            figure = self._figure()
            text = io.StringIO()
            figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
        return inline(text.getvalue(), name, self.label)

    def write(self, path: Path) -> None:
        """The figure as a file, SVG or PNG by its ending: black on white, its text as outlines."""
        kind = path.suffix.removeprefix(".")
        metadata = {"Date": None} if kind == "svg" else {}
        # Of equal data an equal file.
        with _style("figure"), mpl.rc_context({"svg.fonttype": "path"}):
            self._figure().savefig(path, format=kind, dpi=_DPI, facecolor="white", metadata=metadata)

    def _figure(self) -> Figure:
        keys = _panel_keys(self.data)
        panels = list(keys.drop_duplicates())
        across = min(_COLUMNS, len(panels))
        lines = -(-len(panels) // across)
        figure = Figure(figsize=(_WIDTH, _PANEL_HEIGHT * lines + _LEGEND_HEIGHT), layout="constrained")
        for place, axes in enumerate(figure.subplots(lines, across, squeeze=False).flat):
            if place >= len(panels):
                axes.set_visible(False)
                continue
            self.draw(axes, self.data[keys == panels[place]])
            axes.set(title=panels[place], xlabel="", ylabel="" if place % across else self.ylabel)
            axes.tick_params(axis="x", length=0)
            axes.grid(visible=False, axis="x")
            for tick in axes.get_xticklabels():
                tick.set(rotation=35, ha="right", rotation_mode="anchor")
        self._add_legend(figure)
        return figure

    def _add_legend(self, figure: Figure) -> None:
        """Above the panels, in as many columns as there is room for."""
        handles = [entry.handle() for entry in self.legend]
        renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        for columns in range(min(len(handles), self.columns), 0, -1):
            legend = figure.legend(
                handles=handles, loc="outside upper left", ncols=columns, handletextpad=0.3
            )
            if legend.get_window_extent(renderer).width <= _LEGEND_SHARE * figure.bbox.width:
                return
            if columns > 1:
                legend.remove()


def in_sight(points: Iterable[float], ends: Iterable[float]) -> list[float]:
    """The values that a logarithmic axis shows: all points, and the ends of their intervals as far as that
    does not make the points one line. What is infinite or no number is left out.
    """
    shown = [value for value in points if math.isfinite(value)]
    if not shown:
        return []
    low, high = min(shown) / _FARTHEST, max(shown) * _FARTHEST
    return [*shown, *(min(high, max(low, end)) for end in ends if math.isfinite(end))]


def one_panel(draw: Callable[[Axes], None], width: float, height: float, name: str, label: str) -> str:
    """A figure of one panel as an SVG element, ``width`` and ``height`` in inches; as :meth:`Panels.svg`.

    Several of them side by side fit every width of a page, and their text keeps its size.
    """
    with _style(name):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.subplots())
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return inline(text.getvalue(), name, label)


def _panel_keys(data: pd.DataFrame) -> pd.Series[str]:
    """The panel of each row: its operation; of images without the border where panels would be too many."""
    if data["op"].nunique() <= _MANY_PANELS:
        return data["op"]
    return data["op"].where(data["kind"] != "laplace", data["op"].str.rsplit(" ", n=1).str[0])


@contextmanager
def _style(name: str) -> Iterator[None]:
    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}), warnings.catch_warnings():
        # Of a panel without one finite value, or too small for its labels: both are drawn all the same.
        warnings.filterwarnings("ignore", category=UserWarning, module=r"(seaborn|matplotlib)")
        yield


def inline(svg: str, name: str, label: str) -> str:
    """matplotlib's SVG file as an element of a page.

    It loses prolog, size and fonts, its ids start with ``name``, the sentinel colour becomes currentColor,
    and those of the palette are the style sheet's.
    """
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    root = ElementTree.fromstring(re.sub(r"#[0-9a-f]{6}", lambda found: of_page(found[0]), svg))
    for parent in list(root.iter()):
        # A style element inside a page is that of the whole page, which has these lines itself.
        for child in [*parent.findall(f"{{{_SVG}}}metadata"), *parent.findall(f"{{{_SVG}}}style")]:
            parent.remove(child)
        for key, value in parent.attrib.items():
            parent.set(key, _FONT.sub("", _rename(key, value, name).replace(SENTINEL, "currentColor")))
    del root.attrib["width"], root.attrib["height"]
    root.attrib |= {"role": "img", "aria-label": label, "class": "chart"}
    return ElementTree.tostring(root, encoding="unicode")


def of_page(colour: str) -> str:
    """A colour of the palette as that of the page's style sheet, which has another for the dark."""
    return _of_page().get(colour, colour)


@cache
def _of_page() -> dict[str, str]:
    return {to_hex(each): f"var(--s{place})" for place, each in enumerate(sns.color_palette("colorblind"))}


def _rename(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key in ("href", f"{{{_XLINK}}}href") and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    return value.replace("url(#", f"url(#{name}-")

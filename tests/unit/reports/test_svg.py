"""Figures of panels: how legend and panels share the width there is."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from matplotlib.axes import Axes

from reports.svg import Entry, Panels

LETTER = 4
"""A letter's width, at the least, in the units of the figure."""


def line(axes: Axes, _: pd.DataFrame) -> None:
    axes.plot([0, 1], [0, 1])


def drawn(ops: list[str], entries: list[str]) -> str:
    data = pd.DataFrame({"op": ops, "kind": "reduction"})
    legend = [Entry(text, "red", "o") for text in entries]
    return Panels(data, line, legend, "y", "a figure").svg("mine")


def places(svg: str, text: str) -> list[tuple[float, float]]:
    """Where the texts that begin so begin: across and down."""
    found = re.findall(rf'<text[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*>{text}', svg)
    return [(float(x), float(y)) for x, y in found]


@pytest.mark.parametrize("letters", [8, 20, 40, 120])
def test_a_legend_has_as_many_columns_as_fit(letters: int) -> None:
    svg = drawn(["min"], [f"entry {number:0{letters - 6}}" for number in range(8)])
    (width,) = re.findall(r'<svg[^>]*viewBox="0 0 ([\d.]+) ', svg)
    starts = places(svg, "entry")
    assert len(starts) == 8
    rows = len({y for _, y in starts})
    assert (rows == 1) is (letters == 8)
    if rows < 8:
        assert max(x for x, _ in starts) + LETTER * letters < float(width)


@pytest.mark.parametrize(("panels", "across"), [(1, 1), (2, 2), (3, 3), (4, 3)])
def test_few_panels_share_the_width(panels: int, across: int) -> None:
    svg = drawn([f"op{number}" for number in range(panels)], ["one"])
    assert len({x for x, _ in places(svg, "op")}) == across

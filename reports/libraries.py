"""Our kernels beside each library by itself: how many times as fast, by size and cache state."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from harness.results.statistics import geometric_mean
from reports import format as write
from reports.dataset import ordered_sizes
from reports.headline import KINDS
from reports.ratios import verdict_counts
from reports.tables import Cell, Line, Table, number_cell

HEADINGS = (
    ("device", "the hardware"),
    ("ours", "the API of our kernels"),
    ("library", ""),
    ("problems", "all of this kind that both measured"),
    ("cache", "hot or cold"),
    ("size", "shape of the array; width x height of an image"),
    ("cases", "how many; hover for those that carry a note"),
    ("speed", "how many times as fast as the library ours are, by queue: the geometric mean"),
    ("least", "where that is least; hover for the case"),
    ("verdicts", "on ours"),
)
ALL_SIZES = "all sizes"

_KEYS = ["physical", "first_backend", "second_backend", "kind", "cache"]
_FILTERS = {"ours": "first_backend", "library": "second_backend", "cache": "cache"}


def library_table(pairs: pd.DataFrame) -> Table:
    """The pairs of :func:`reports.ratios.library_pairs` summed up: a line a size, the smallest first, then
    one of all sizes where there are several.
    """
    in_order = {key: pd.Categorical(pairs[key], pairs[key].drop_duplicates()) for key in _KEYS}
    groups = pairs.assign(**in_order).groupby(_KEYS, observed=True)
    lines = tuple(line for _, group in groups for line in _lines(group))
    filters = {shown: tuple(map(str, pairs[key].drop_duplicates())) for shown, key in _FILTERS.items()}
    return Table(HEADINGS, lines, frozenset((6, 7, 8)), filters)


def _lines(pairs: pd.DataFrame) -> Iterator[Line]:
    sizes = ordered_sizes(pairs)
    for size in sizes:
        yield _line(pairs[pairs["size"] == size], size)
    if len(sizes) > 1:
        yield _line(pairs, ALL_SIZES)


def _line(pairs: pd.DataFrame, size: str) -> Line:
    least = pairs.sort_values("gross", kind="stable").iloc[0]
    # All sizes come after each of them.
    elements = math.inf if size == ALL_SIZES else least["elements"]
    marked = int((pairs["marks"] != "").sum())
    title = f"{marked} of them with a note, such as a host-bound side" if marked else ""
    cells = (
        Cell(least["device_name"]),
        Cell(least["first_backend"]),
        Cell(least["second_backend"]),
        Cell(KINDS[least["kind"]]),
        Cell(least["cache"]),
        Cell(size, str(elements)),
        number_cell(len(pairs), "{:d}".format, title, "†" if marked else ""),
        number_cell(geometric_mean(pairs["gross"]), write.ratio),
        number_cell(least["gross"], write.ratio, f"{least['problem']}: {least['verdict']}"),
        Cell(", ".join(f"{count} {name}" for name, count in verdict_counts(pairs))),
    )
    return Line(cells, {shown: str(least[key]) for shown, key in _FILTERS.items()})

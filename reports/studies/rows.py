"""The tables behind the charts of the studies, the published numbers in tables of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from reports import format as write
from reports.ratios import Pair
from reports.studies.bases import Chosen
from reports.studies.model import Printed
from reports.studies.places import Hit
from reports.tables import Cell

RATIO = ("speed over it", "interval", "verdict")
"""The headings of :func:`ratio_cells`."""

Judged = Sequence[tuple[Hit, Pair]]
"""Cases of OpenCL, each with its ratio to what it is compared with."""


@dataclass(frozen=True)
class Rows:
    """A plain table: headings and lines of cells."""

    headings: tuple[str, ...]
    lines: tuple[tuple[Cell, ...], ...]


def printed_rows(printed: Sequence[Printed], across: str) -> Rows:
    """The published numbers as they were printed."""
    lines = [tuple(map(Cell, (each.panel, each.x, each.series, each.text))) for each in printed]
    return Rows(("published", across, "series", "as printed"), tuple(lines))


def ratio_cells(pair: Pair | None) -> tuple[Cell, ...]:
    """Ratio, interval and verdict, as of every table; what makes the pair less than plain on hovering."""
    if pair is None:
        return tuple(Cell(write.ABSENT) for _ in range(3))
    mark = "†" if pair.marks else ""
    ratio = Cell(write.ratio(pair.gross) + mark, title=pair.marks)
    return ratio, Cell(write.interval(pair.low, pair.high)), Cell(pair.verdict, chip=pair.verdict)


def us_cell(row: pd.Series[Any]) -> Cell:
    """A time in microseconds, with its note on hovering."""
    return Cell(write.us(row["queue"]), title=row["note"])


def case_cells(hit: Hit) -> tuple[Cell, ...]:
    """Device, operation, type and size."""
    row = hit.row
    return Cell(hit.place.name), Cell(str(row["op"])), Cell(str(row["type"])), Cell(str(row["size"]))


def base_cells(base: Chosen) -> tuple[Cell, ...]:
    """What is 1, and its time."""
    return Cell(str(base.row["backend"])), us_cell(base.row)


def time_rows(hits: Sequence[Hit], judged: Judged) -> Rows:
    """A line a case: its time, bandwidth and share of the limit on each side, and the ratio of both."""
    pairs = {(*hit.key, hit.series): pair for hit, pair in judged if hit.side.startswith("OpenCL")}
    rows: dict[tuple[str, str, str, str, str], dict[str, Hit]] = {}
    for hit in hits:
        rows.setdefault((*hit.key, hit.series), {})[hit.side.partition(" ")[0]] = hit
    lines = []
    for key, there in rows.items():
        first = next(iter(there.values()))
        cells = [*case_cells(first), Cell(first.series)]
        for side in ("OpenCL", "CUDA", "library"):
            cells.append(us_cell(there[side].row) if side in there else Cell(write.ABSENT))
        shares = [there[side].row["share"] for side in ("OpenCL", "CUDA") if side in there]
        cells.append(Cell(" / ".join(map(write.percent, shares)) or write.ABSENT))
        lines.append((*cells, *ratio_cells(pairs.get(key))))
    headings = (
        "device", "problem", "type", "size", "kernel", "OpenCL us", "CUDA us", "library us",
        "% of own bandwidth", "ratio", "interval", "verdict",
    )  # fmt: skip
    return Rows(headings, tuple(lines))

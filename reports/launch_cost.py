"""What launching costs: the empty kernel by the order of the queue and the use of events."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from harness.variants.axes import LaunchVariant, label
from reports import format as write
from reports.dataset import measured
from reports.tables import Cell, Line, Table, number_cell, queue_cell

HEADINGS = (
    ("launches", "the empty kernels of one call"),
    ("device", ""),
    ("way", "order of the queue (stream), and whether every launch leaves an event"),
    ("us", "gated device time a call; hover for p25 to p75"),
    ("of the plain way", f"time over that of: {label(LaunchVariant())}"),
)


def launch_table(table: pd.DataFrame) -> Table:
    """Every measured way of launching beside the plain one, on the same device; no lines without a study."""
    rows = measured(table)
    rows = rows[rows["kind"] == "empty"]
    plain = rows[rows["variant"] == label(LaunchVariant())]
    usual = {(str(row["device"]), str(row["problem"])): float(row["queue"]) for _, row in plain.iterrows()}
    lines = tuple(_line(row, usual) for row in rows.itertuples(index=False))
    return Table(HEADINGS, lines, frozenset((3, 4)), {})


def _line(row: Any, usual: Mapping[tuple[str, str], float]) -> Line:
    cells = (
        Cell(row.problem),
        Cell(row.device, title=f"{row.device_name} ({row.physical})"),
        Cell(row.variant, style="variant"),
        queue_cell(row),
        number_cell(row.queue / usual.get((row.device, row.problem), math.nan), write.ratio),
    )
    return Line(cells, {})

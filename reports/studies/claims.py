"""The numbers that the studies state in their text, as ratios of speeds."""

from __future__ import annotations

import pandas as pd

from reports.published import published
from reports.studies.model import Then


def claimed(paper: str, quantity: str, item: str = "", device: str = "") -> list[tuple[float, float]]:
    """Every claim of this quantity as a range; of a single value both ends are it.

    Raises:
        ValueError: if the study states no such quantity.
    """
    table = published("claims")
    rows = table[(table["paper"] == paper) & (table["quantity"] == quantity)]
    for column, value in (("item", item), ("device", device)):
        rows = rows[rows[column] == value] if value else rows
    if rows.empty:
        raise ValueError(f"{paper} states no {quantity!r}")
    lows, highs = rows["low"].astype(float), rows["high"].astype(float)
    return list(zip(lows, highs.fillna(lows), strict=True))


def before_and_after(paper: str, device: str, *changes: tuple[str, str, str]) -> list[Then]:
    """The speed that each change brought: what it is of, and the quantities of the times before and after."""
    found = []
    for of, before, after in changes:
        ((slow, _),), ((fast, _),) = claimed(paper, before), claimed(paper, after)
        found.append(Then(device, of, slow / fast, slow / fast))
    return found


def numbers(table: str) -> dict[tuple[str, str], float]:
    """A published table by row and column, both as printed, without what is empty."""
    rows = published(table)
    head = str(rows.columns[0])
    return {
        (str(row[head]), str(column)): float(row[column])
        for row in rows.to_dict("records")
        for column in rows.columns[1:]
        if not pd.isna(row[column])
    }

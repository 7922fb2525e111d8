"""The first screen's charts: ratios as a coloured table by operation, type and size, and their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from reports import format as write
from reports.dataset import ordered_sizes, ordered_types
from reports.headline import KINDS
from reports.panels import Mark, forest, legend, ratio_ticks
from reports.ratios import Comparison
from reports.svg import in_sight

MARKS = {"same": "=", "faster": "▲", "slower": "▼", "ambiguous": "?"}
"""What stands beside a ratio, for who cannot tell the colours of the verdicts apart."""

_COLUMNS_OF_A_THIRD = 7


@dataclass(frozen=True, slots=True)
class HeatCell:
    """What a cell says: text, its mark, the style that colours it, more on hovering, where the case is."""

    text: str
    mark: str = ""
    style: str = ""
    title: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Heat:
    """A coloured table: columns, and rows of a name and cells (None where nothing was measured)."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell | None, ...]], ...]
    chart: Markup


@dataclass(frozen=True)
class Overview:
    """The ratios of one comparison in one cache state."""

    cache: str
    heats: tuple[Heat, ...]
    legend: Markup

    @property
    def is_wide(self) -> bool:
        """Whether a heat map has more columns than a third of the page has room for."""
        return any(len(heat.columns) > _COLUMNS_OF_A_THIRD for heat in self.heats)


def overviews(comparison: Comparison, table: str) -> list[Overview]:
    """One a cache state; ``table`` is the id of the table that the cells link to."""
    found = []
    for cache, pairs in comparison.fastest.groupby("cache", sort=False):
        types = ordered_types(pairs["type"])
        ticks = ratio_ticks(in_sight(pairs["gross"], (*pairs["low"], *pairs["high"])))
        heats = [
            _heat(comparison, group, _title(str(kind), size), table, types, ticks)
            for kind, of_kind in pairs.groupby("kind", sort=False)
            for size in ordered_sizes(of_kind)
            for group in [of_kind[of_kind["size"] == size]]
        ]
        found.append(
            Overview(str(cache), tuple(heats), legend((t, n, "ink") for n, t in enumerate(types) if t))
        )
    return found


def _title(kind: str, size: str) -> str:
    """The kind of problem and its size, which an empty kernel has not."""
    return ", ".join(filter(None, (KINDS.get(kind, kind), size)))


def case_key(pair: Any) -> str:
    """What names a pair in the page's address."""
    return f"{pair.problem} {pair.cache}"


def link(table: str, key: str) -> str:
    """The address of a case within the page."""
    return f"#{table}?case={write.address(key)}"


def _heat(
    comparison: Comparison, pairs: pd.DataFrame, title: str, table: str, types: list[str], ticks: list[float]
) -> Heat:
    there = [name for name in types if name in set(pairs["type"])]
    names = short_names(pairs["op"].drop_duplicates())
    rows, lines = [], []
    for op, group in pairs.groupby("op", sort=False):
        of_type = {row.type: row for row in group.itertuples(index=False)}
        rows.append((names[str(op)], tuple(_cell(of_type.get(name), table) for name in there)))
        marks = [_mark(of_type[name], types.index(name), table) for name in there if name in of_type]
        lines.append((names[str(op)], marks))
    where = f"{comparison.device_name}, {pairs['cache'].iloc[0]}"
    label = f"Speed of {comparison.first} over {comparison.against} with intervals: {title}, {where}"
    return Heat(title, tuple(there), tuple(rows), forest("", label, lines, comparison.band, ticks))


def _cell(pair: Any, table: str) -> HeatCell | None:
    if pair is None:
        return None
    mark = MARKS.get(pair.verdict, "") + ("†" if pair.marks else "")
    return HeatCell(
        write.ratio(pair.gross), mark, f"v-{pair.verdict}", _told(pair), link(table, case_key(pair))
    )


def _mark(pair: Any, series: int, table: str) -> Mark:
    href = link(table, case_key(pair))
    return Mark(pair.gross, 0, series, _told(pair), pair.low, pair.high, href, f"v-{pair.verdict}")


def _told(pair: Any) -> str:
    told = f"{pair.problem}: {write.ratio(pair.gross)}, {write.interval(pair.low, pair.high)}: {pair.verdict}"
    return f"{told}; {pair.marks}" if pair.marks else told


def short_names(ops: Sequence[str] | pd.Series[str]) -> dict[str, str]:
    """The operations without the words at their end that all of them share, such as the border of filters."""
    words = {str(op): str(op).split() for op in ops}
    while len(words) > 1 and len({tuple(each[-1:]) for each in words.values()}) == 1:
        if min(map(len, words.values())) < 2:
            break
        words = {op: each[:-1] for op, each in words.items()}
    return {op: " ".join(each) for op, each in words.items()}

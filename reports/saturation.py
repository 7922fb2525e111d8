"""How near to the limit each backend comes, by size: where it saturates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from backends import REGISTRY
from reports import format as write
from reports.dataset import bandwidths, by_speed, measured, ordered_types
from reports.overview import link
from reports.panels import Mark, legend, sized

MOST_PANELS = 12
"""Of more operations filters are drawn together, whatever their border."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels under a heading, with the legend of all of them."""

    title: str
    legend: Markup
    panels: tuple[Markup, ...]


def series_of(backends: Sequence[str]) -> dict[str, int]:
    """The number of each backend's series, the same in all charts of a page: its place in the registry, then
    the backends that have a portable dialect; the names of neither come last.
    """
    own = [name for name, entry in REGISTRY.items() if entry.role in ("opencl", "cuda")]
    fixed = [*REGISTRY, *(f"portable {name}" for name in own)]
    others = sorted(set(backends) - set(fixed))
    places = {name: place for place, name in enumerate([*fixed, *others])}
    return {name: places[name] for name in backends}


def backend_legend(backends: Sequence[str], more: Sequence[tuple[str, int, str]] = ()) -> Markup:
    """The backends with their colours and shapes, in the registry's order."""
    numbers = series_of(backends)
    return legend([*((n, numbers[n], "") for n in sorted(numbers, key=lambda n: numbers[n])), *more])


def saturation(
    table: pd.DataFrame, physical: str, cache: str, records: str, memory_rate: float = 0
) -> Figure:
    """GB/s by size of the source and backend beside the measured limit, a panel an operation; of several
    variants of a backend the fastest.

    Args:
        table: the frame of a run.
        physical, cache: of what.
        records: the id of the table that the marks link to.
        memory_rate: bytes a second that the memory can give at most; 0 where that is not known.
    """
    rows = measured(table)
    rows = rows[rows["physical"] == physical]
    # Each API has its own name for a device: the one measured first stands for all.
    name = str(rows["device_name"].iloc[0])
    rows = rows.drop(bandwidths(rows).index)
    rows = rows[(rows["cache"] == cache) & rows["bytes_per_second"].notna()]
    rows = by_speed(rows).drop_duplicates(["backend", "device", "problem"]).sort_values("number")
    numbers = series_of(list(rows["backend"]))
    peak = memory_rate / 1e9
    top = max(peak, float(rows[["bytes_per_second", "limit"]].max().max()) / 1e9) * 1.05
    title = f"GB/s by size of the source: {name}, {cache}"
    panels: list[Markup] = []
    for op, group in rows.groupby(_panel_keys(rows), sort=False):
        same_kind = rows[rows["kind"].isin(group["kind"]) & rows["limit"].notna()]
        limits = same_kind.groupby("limit_bytes")["limit"].max()
        lines = [("limit", [(x, limits[x] / 1e9) for x in limits.index])] if len(limits) else []
        if peak:
            lines.append(("peak", [(float(group["source_bytes"].min()), peak)]))
        marks = [_mark(row, numbers, records) for row in group.itertuples(index=False)]
        label = f"{title}, by backend beside the measured limit: {op}"
        panels.append(sized(str(op), label, marks, lines, top, write.size))
    more = [("measured limit", 0, "limit")] if rows["limit"].notna().any() else []
    if peak:
        more.append((f"memory clock x bus width: {write.gb_s(memory_rate)} GB/s", 0, "peak"))
    return Figure(title, backend_legend(list(rows["backend"]), more), tuple(panels))


def _mark(row: Any, numbers: Mapping[str, int], records: str) -> Mark:
    share = f", {write.percent(row.share)} % of the limit" if row.share == row.share else ""
    rate = f"{write.gb_s(row.bytes_per_second)} GB/s{share}"
    # What the launch takes of the device stands where the mark leads to: there are hundreds of marks.
    title = f"{row.backend}, {row.problem}: {rate}; {row.variant}"
    return Mark(
        row.source_bytes,
        row.bytes_per_second / 1e9,
        numbers[row.backend],
        title,
        href=link(records, str(row.number)),
    )


def _panel_keys(rows: pd.DataFrame) -> pd.Series[str]:
    """The panel of each row: its operation; of images without the border where panels would be too many."""
    if rows["op"].nunique() <= MOST_PANELS:
        return rows["op"]
    return rows["op"].where(rows["kind"] != "laplace", rows["op"].str.rsplit(" ", n=1).str[0])


def widths(table: pd.DataFrame, physical: str, cache: str) -> Figure:
    """GB/s by vector width and type, one panel a direction and backend: figure 6 of jia2012, for both APIs.

    Of several variants of one width the fastest.
    """
    rows = bandwidths(table)
    rows = rows[(rows["physical"] == physical) & (rows["cache"] == cache)]
    rows = rows.sort_values("queue", kind="stable").drop_duplicates(["backend", "problem", "width"])
    types = ordered_types(rows["type"])
    top = float(rows["bytes_per_second"].max()) / 1e9 * 1.05
    title = f"{rows['device_name'].iloc[0]}, {cache}"
    panels = []
    for (op, backend), group in rows.sort_values("number").groupby(["op", "backend"], sort=False):
        marks = [_width_mark(row, types) for row in group.itertuples(index=False)]
        label = f"Bandwidth of reading and copying by vector width and type: {op}, {backend}, {title}"
        panels.append(sized(f"{op}, {backend}", label, marks, (), top, "{:g}".format))
    return Figure(title, legend((name, number, "") for number, name in enumerate(types)), tuple(panels))


def _width_mark(row: Any, types: Sequence[str]) -> Mark:
    title = f"{row.problem}: {row.variant}"
    return Mark(row.width, row.bytes_per_second / 1e9, types.index(row.type), title)

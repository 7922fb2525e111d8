"""The tables of the page and the terminal as plain rows: text to show, with the number to sort by."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from harness.results.statistics import CONFIDENCE, FEWEST_SAMPLES
from reports import format as write
from reports.ratios import BEST_LIBRARY, MOST_MORE, Comparison, verdict_counts
from reports.shares import TOLERATED_EXCESS


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows. ``sort`` orders its column (empty: the text, a number by its digits), ``title`` is
    shown on hovering.

    ``chip``: the verdict whose coloured chip holds the text.
    """

    text: str
    sort: str = ""
    title: str = ""
    style: str = ""
    chip: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table, with the values that the page's filters look at. ``key`` names it in an address."""

    cells: tuple[Cell, ...]
    filters: Mapping[str, str]
    style: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Headings (text, what it means) and rows; ``numeric`` are the places of the columns of numbers."""

    headings: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]
    numeric: frozenset[int]
    filters: Mapping[str, tuple[str, ...]]


def number_cell(
    value: float, form: Callable[[float], str], title: str = "", mark: str = "", style: str = ""
) -> Cell:
    """The number as ``form`` writes it, with a mark behind; sorted by what is shown."""
    return Cell(form(value) + (mark if math.isfinite(value) else ""), "", title, style)


RECORD_HEADINGS = (
    ("problem", "operation; for images output, mask and border"),
    ("type", "element type; images with channels"),
    ("size", "shape of the array; width x height of an image"),
    ("backend", ""),
    ("device", ""),
    ("variant", "the point on the axes of the kernel"),
    ("cache", "hot: one source; cold: sources take turns, at least 4x the last-level cache"),
    ("queue us", "gated device time a call; hover for p25 to p75"),
    ("launch us", "an empty kernel of the same geometry by the same clock"),
    ("net us", "queue less launch"),
    ("round trip us", "from enqueue to the value in host memory"),
    ("event us", "the API's own timer"),
    ("kernel us", "start to end of a call's kernels on the device, by CUPTI; CUDA only"),
    ("GB/s", "1e9 bytes moved a second, by queue"),
    (
        "% of limit",
        "of the fastest read (reductions) or copy (images) measured on the same device and cache state",
    ),
    ("result", "where the answer is when a call has ended"),
    ("verification", "against the reference, before and after timing"),
    (
        "launches",
        "of each: groups, registers a work-item, spilled bytes, local (shared) memory; computed from these "
        "the occupancy: sub-groups (warps) that a compute unit can hold, of its most, and what limits it",
    ),
)

WORTH = 1.03
"""Times as long as the fastest candidate for a limit that one may take to be shown beside it."""
_RECORD_FILTERS = {"backend": "backend", "op": "op", "type": "dtype", "status": "status"}


def without_beaten(table: pd.DataFrame) -> pd.DataFrame:
    """The rows without candidates for a limit that took clearly longer than the fastest: of a sweep these are
    hundreds, which the run file keeps.
    """
    candidates = table[(table["purpose"] == "limit") & (table["status"] == "ok")]
    fastest = candidates.groupby(["device", "problem", "cache"])["queue"].transform("min")
    return table.drop(index=candidates.index[candidates["queue"] > WORTH * fastest])


def record_table(table: pd.DataFrame) -> Table:
    """A row for each record: what was measured, and what was not."""
    filters = {
        shown: tuple(str(value) for value in table[column].drop_duplicates() if value)
        for column, shown in _RECORD_FILTERS.items()
    }
    lines = tuple(_record_line(row) for row in table.itertuples(index=False))
    return Table(RECORD_HEADINGS, lines, frozenset(range(7, 15)), filters)


def _record_line(row: Any) -> Line:
    purpose = "" if row.purpose == "compare" else f" ({row.purpose})"
    cells = (
        Cell(row.op + purpose, title=row.problem, style="wrap"),
        Cell(row.type),
        Cell(row.size, str(row.elements)),
        Cell(row.backend),
        Cell(row.device, title=f"{row.device_name} ({row.physical})"),
        Cell(row.variant, title=row.remark, style="variant"),
        Cell(row.cache),
        queue_cell(row),
        number_cell(row.launch, write.us, row.launch_note, "†" if row.launch_note else ""),
        number_cell(row.net, write.us),
        number_cell(row.round_trip, write.us),
        number_cell(row.event, write.us, *_clock_mark(row)),
        number_cell(row.kernel, write.us, *_clock_mark(row)),
        number_cell(row.bytes_per_second, write.gb_s, f"{row.bytes_moved:,} bytes a call"),
        _share(row),
        Cell(row.location or write.ABSENT),
        Cell(row.verification, title=row.reason, style=row.status),
        Cell(row.resources, style="variant"),
    )
    filters = {shown: str(getattr(row, column)) for column, shown in _RECORD_FILTERS.items()}
    return Line(cells, filters, "" if row.status == "ok" else "unmeasured", str(row.number))


def queue_cell(row: Any) -> Cell:
    """The queue time of a row of the frame in microseconds, its quartiles and what weakens it on hovering."""
    spread = f"p25 to p75: {write.us(row.queue_p25)} to {write.us(row.queue_p75)} us"
    title = "; ".join(filter(None, (spread, row.sampling, row.note)))
    return number_cell(row.queue, write.us, title, "†" if row.note else "")


def _clock_mark(row: Any) -> tuple[str, str]:
    """Title and mark of the clocks beside the queue's, where they contradict each other or it."""
    return (f"clocks disagree: {row.disagreement}", "‡") if row.disagreement else ("", "")


def _share(row: Any) -> Cell:
    title = f"of {write.gb_s(row.limit)} GB/s by {row.limit_by}, source of {write.size(row.limit_bytes)}"
    if not math.isnan(row.share_low):
        title += f"; 95 % interval {write.percent(row.share_low)} to {write.percent(row.share_high)} %"
    if math.isnan(row.share):
        return number_cell(row.share, write.percent)
    if row.above_limit:
        excess = f"more than {write.percent(TOLERATED_EXCESS)} % above the measured limit"
        title = f"{excess}: a time or the limit is wrong; {title}"
    near = "" if row.limit_exact else " ≈"
    return number_cell(
        row.share,
        write.percent,
        title,
        near + (" above!" if row.above_limit else ""),
        "above" * row.above_limit,
    )


def ratio_table(comparison: Comparison) -> Table:
    """Every pair of one comparison: both times, the ratio with interval and verdict, and net of launch."""
    first, second = comparison.first, comparison.second.replace(BEST_LIBRARY, "library")
    headings = (
        ("problem", "operation; for images output, mask and border"),
        ("type", "element type; images with channels"),
        ("size", "shape of the array; width x height of an image"),
        ("cache", "hot or cold"),
        ("pairing", "the fastest variant of each side, or one variant on both"),
        (f"{first} us", "queue"),
        (f"{second} us", "queue"),
        ("gross", f"{second}'s queue time over {first}'s: above 1 {first} is faster"),
        ("interval", f"of the gross ratio, {write.percent(CONFIDENCE)} % confidence, by bootstrap"),
        (
            "verdict",
            f"on {first}, from the interval and a band of {write.percent(comparison.band)} % around 1; hover "
            "over an ambiguous one for what would decide it",
        ),
        ("net", "the ratio with each side's launch cost taken off; hover for its interval"),
        (f"{first} variant", ""),
        (f"{second} variant", ""),
    )
    lines = tuple(_pair_line(row) for row in comparison.pairs.itertuples(index=False))
    filters = {
        "pairing": tuple(str(value) for value in comparison.pairs["pairing"].drop_duplicates()),
        "verdict": tuple(name for name, _ in verdict_counts(comparison.pairs)),
    }
    return Table(headings, lines, frozenset((5, 6, 7, 8, 10)), filters)


def _pair_line(row: Any) -> Line:
    mark = "†" if row.marks else ""
    second = "same" if row.first_variant == row.second_variant else row.second_variant
    net = f"interval {write.interval(row.net_low, row.net_high)}" if math.isfinite(row.net_low) else ""
    cells = (
        Cell(row.op, title=row.problem, style="wrap"),
        Cell(row.type),
        Cell(row.size, str(row.elements)),
        Cell(row.cache),
        Cell(row.pairing),
        number_cell(row.first_queue, write.us),
        number_cell(row.second_queue, write.us),
        number_cell(row.gross, write.ratio, row.marks, mark),
        _interval(row.low, row.high),
        Cell(
            row.verdict, title=_to_decide(row) if math.isfinite(row.low) else _NO_INTERVAL, chip=row.verdict
        ),
        number_cell(row.net, write.ratio, "; ".join(filter(None, (net, row.marks))), mark),
        Cell(f"{row.first_backend}: {row.first_variant}", style="variant"),
        Cell(f"{row.second_backend}: {second}", style="variant"),
    )
    return Line(cells, {"pairing": row.pairing, "verdict": row.verdict}, key=f"{row.problem} {row.cache}")


_NO_INTERVAL = f"fewer than {FEWEST_SAMPLES} samples on a side: no interval, so no verdict"


def _to_decide(row: Any) -> str:
    """What would decide an ambiguous verdict."""
    if not row.more:
        return ""
    if row.contexts < 2:
        return (
            "one context on a side, whose samples do not tell how much others differ: it takes more contexts"
        )
    if not row.more <= MOST_MORE:
        return "the ratio lies at an edge of the band: no number of contexts that a run can have decides it"
    seconds = f", some {math.ceil(row.more_seconds):,} s" if math.isfinite(row.more_seconds) else ""
    return f"about {row.more:,.0f} more contexts{seconds} would decide it"


def _interval(low: float, high: float) -> Cell:
    """Sorted by its width, as a share of the ratio: the least certain last."""
    if not math.isfinite(low):
        return Cell(write.ABSENT, "nan", _NO_INTERVAL)
    return Cell(write.interval(low, high), f"{math.log(high / low):.9g}")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why cases of one backend were not measured, with the problems that it stopped."""

    status: str
    backend: str
    reason: str
    problems: tuple[str, ...]
    count: int


def reasons(table: pd.DataFrame) -> list[Reason]:
    """What was wrong, failed or was skipped, grouped by its reason, the gravest first."""
    gravity = {"wrong": 0, "failed": 1, "skipped": 2}
    rest = table[table["status"] != "ok"]
    groups = rest.groupby(["status", "backend", "reason"], sort=False)
    found = [
        Reason(str(status), str(backend), str(reason), tuple(group["problem"].drop_duplicates()), len(group))
        for (status, backend, reason), group in groups
    ]
    return sorted(found, key=lambda reason: (gravity.get(reason.status, 3), -reason.count))


def status_counts(table: pd.DataFrame) -> Sequence[tuple[str, int]]:
    """How many records have each status, most first."""
    return [(str(status), int(count)) for status, count in table["status"].value_counts().items()]

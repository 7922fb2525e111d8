"""The table that `harness run` prints at its end."""

from __future__ import annotations

from typing import Any

import pandas as pd
from rich import box
from rich.table import Table
from rich.text import Text

from backends import REGISTRY
from harness.results import ratio
from harness.results.ratio import BAND
from harness.results.runfile import Run
from harness.results.statistics import CONFIDENCE
from reports import format as write
from reports.controls import controls_of
from reports.dataset import by_speed, device_table, frame, measured
from reports.headline import headlines, troubles
from reports.ratios import MOST_MORE, SIDES, comparisons, more_contexts, side_of
from reports.tables import status_counts

_MOST_VARIANTS = 4
"""Of a backend with more of them only the fastest is shown."""


def conclusion(run: Run, band: float = BAND) -> list[str]:
    """What to print last: the verdict on each device; before all else where neither API ran."""
    rows = frame(run)
    found = headlines(rows, comparisons(rows, band))
    told = [" ".join(filter(None, (f"{each.device}: {each.answer}", each.caveat))) for each in found]
    if not set(rows[rows["status"] == "ok"]["role"]) & {"opencl", "portable opencl", "cuda", "portable cuda"}:
        reasons = "; ".join(_absence(run, rows, name) for name in ("opencl", "cuda"))
        told.insert(0, f"NEITHER OPENCL NOR CUDA RAN: nothing here compares the two. {reasons}")
    return [write.plain(" ".join(each.split())) for each in told]


def _absence(run: Run, rows: pd.DataFrame, name: str) -> str:
    """Why nothing was measured by a backend: what its first record says, that nobody asked for it, or how to
    get it.
    """
    tried = rows[(rows["backend"] == name) & (rows["reason"] != "")]
    if len(tried):
        return f"{name}: {tried['reason'].iloc[0]}"
    if any(backend == name for backend, _ in device_table(run.environment)):
        return f"{name} is here, and was not asked for: --backend {name} adds it"
    return f"How to get {name}: {REGISTRY[name].remedy}"


def terminal_table(run: Run, band: float = BAND) -> Table:
    """Each backend by problem and cache state, the fastest first: its variants where there are few, else the
    fastest of them.

    The ratio is the speed of OpenCL over that of the row's backend on the same physical device, by the queue
    clock: above 1 OpenCL is faster.
    """
    rows = frame(run)
    above = Text("\n".join(troubles(rows, controls_of(run, band))), style="bold")
    table = Table(
        title=above or None,
        title_justify="left",
        caption=_caption(rows, band),
        box=box.SIMPLE_HEAD,
        caption_justify="left",
    )
    for heading in ("problem", "cache", "backend"):
        table.add_column(heading, overflow="fold")
    for heading in ("queue us", "of fastest", "GB/s", "% of limit", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("interval", no_wrap=True)
    table.add_column("OpenCL is", no_wrap=True)
    table.add_column("variant", overflow="fold")
    for _, group in measured(rows).groupby(["physical", "problem", "cache"], sort=False):
        shown = by_speed(group).drop_duplicates(["device", "backend", "variant"])
        few = shown.groupby(["device", "backend"])["variant"].transform("count") <= _MOST_VARIANTS
        shown = shown[few | ~shown.duplicated(["device", "backend"])]
        _add(table, shown.sort_values("queue", kind="stable"), band)
        table.add_section()
    return table


def _add(table: Table, group: pd.DataFrame, band: float) -> None:
    """One problem on one physical device, fastest first."""
    opencl = by_speed(group[group["role"].isin(SIDES["OpenCL"])]).head(1)
    fastest = float(group["queue"].min())
    row: Any
    for row in group.itertuples(index=False):
        own = row.role in SIDES["OpenCL"]
        texts = (
            str(row.problem) if row.purpose == "compare" else f"{row.problem} ({row.purpose})",
            str(row.cache),
            str(row.device),
            write.us(row.queue) + ("*" if row.note else ""),
            write.ratio(row.queue / fastest),
            write.gb_s(row.bytes_per_second),
            write.percent(row.share) + ("!" if row.above_limit else ""),
            *(("", "", "") if own or opencl.empty else _ratio(opencl.iloc[0], row, band)),
            str(row.variant),
        )
        # Text, not str: what a run file holds is never read as Rich's markup.
        table.add_row(*(Text(text.replace(write.ABSENT, "-")) for text in texts))


def _ratio(opencl: Any, row: Any, band: float) -> tuple[str, str, str]:
    """Ratio, interval and verdict."""
    left, right = side_of(opencl), side_of(row._asdict())
    found = ratio.compare(left, right, band, paired=True)
    more = more_contexts(found, left, right, band)
    verdict = found.verdict + (f" +{more:.0f}" if 0 < more <= MOST_MORE else "")
    return write.ratio(found.value), write.interval(found.interval.low, found.interval.high), verdict


def _caption(rows: pd.DataFrame, band: float) -> Text:
    counts = ", ".join(f"{count} {status}" for status, count in status_counts(rows)) or "no records"
    notes = [
        "ratio: OpenCL's speed over that of the row, above 1 OpenCL is faster",
        f"OpenCL is: by the ratio's {CONFIDENCE * 100:g} % interval and a band of {band * 100:g} % around 1; "
        "+N: about so many more contexts would decide it",
    ]
    if (rows["note"] != "").any():
        notes.append("* host-bound or otherwise weakened, see the report")
    if rows["above_limit"].any():
        notes.append("! above the measured limit")
    return Text("\n".join([f"Records: {counts}", *notes]))

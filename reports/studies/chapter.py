"""One chapter of the page: a study's figures, redone for the devices at hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from harness.results.runfile import Run
from reports import format as write
from reports.dataset import ordered_types
from reports.published import published
from reports.studies.draw import Drawing, drawing
from reports.studies.model import Figure, Study
from reports.studies.places import Hit, Place, hits, named_apart, of_cases, places
from reports.studies.points import MAKERS, Content, points_of, printed_points
from reports.studies.rows import Rows, printed_rows
from reports.studies.told import sentence, then_of
from reports.tables import Cell


@dataclass(frozen=True)
class Shown:
    """One figure as the page has it. ``name`` is its anchor; ``drawing`` is None where nothing can be drawn.

    says: the sentence. notes: what stands in, what is missing and which suite measures it. rows: the table
    behind the chart. printed: the published numbers, apart. place: what the list of figures says of it.
    """

    name: str
    number: str
    title: str
    drawing: Drawing | None
    says: str
    notes: tuple[str, ...]
    rows: Rows | None
    printed: Rows | None
    place: str


@dataclass(frozen=True)
class Chapter:
    """A study's chapter."""

    name: str
    title: str
    source: str
    figures: tuple[Shown, ...]


def chapters(
    studies: Sequence[Study], runs: Sequence[Run], tables: Sequence[pd.DataFrame], band: float
) -> list[Chapter]:
    """A chapter a study, from all runs together; ``tables``: their rows (:func:`reports.dataset.frame`)."""
    found = places(runs, tables)
    return [_chapter(study, found, band) for study in studies]


def _chapter(study: Study, found: Sequence[Place], band: float) -> Chapter:
    name = f"study-{study.name}"
    shown = tuple(_shown(study, figure, found, band, f"{name}-{figure.name}") for figure in study.figures)
    return Chapter(name, study.title, study.source, shown)


def _shown(study: Study, figure: Figure, found: Sequence[Place], band: float, name: str) -> Shown:
    if figure.drawn == "devices":
        return _devices(study, figure, found, name)
    printed = figure.printed()
    apart = printed_rows(printed, figure.across) if printed else None
    there = hits(figure, found)
    content = MAKERS[figure.drawn](figure, there, band) if there else None
    if content is None or content.points.empty:
        why = figure.why_not or _missing(figure, found, there)
        return Shown(
            name, figure.number, figure.title, None, why, (), None, apart,
            "not redone" if figure.why_not else "not in these runs",
        )  # fmt: skip
    points = pd.concat([points_of(printed_points(printed)), content.points]) if printed else content.points
    drawn = drawing(figure, points, _order(figure, points, there), _spans(figure), name)
    return Shown(
        name, figure.number, figure.title, drawn, _says(figure, content, band),
        (*content.notes, *_lacking(figure, there)), content.rows, apart, "",
    )  # fmt: skip


def _says(figure: Figure, content: Content, band: float) -> str:
    if figure.drawn == "shares":
        best = max(figure.printed(), key=lambda each: each.y)
        then = f"then up to {write.percent(best.y / 100)} % ({best.panel}, {best.series}, {best.x})"
    else:
        then = "" if figure.drawn == "steps" else then_of(figure.against, band)
    return sentence(figure.against.text, then, (*content.found, *content.sides), content.extra)


def _missing(figure: Figure, found: Sequence[Place], there: Sequence[Hit]) -> str:
    """What these runs lack for a figure, and which suite measures it."""
    # Beside a GPU the processor is measured only where it is asked for.
    on_host = " --device cpu" * (figure.base == "CPU library")
    how = f"harness run {figure.suite}{on_host} measures it"
    if there and figure.base:
        return f"These runs have nothing that could be 1: no {figure.base} on these problems. {how}."
    if any(len(of_cases(place.rows, figure.cases)) for place in found):
        return f"These runs have the problems, but not in the forms of the kernel that are drawn. {how}."
    return f"These runs lack its problems. {how}."


def _lacking(figure: Figure, there: Sequence[Hit]) -> list[str]:
    """The series that no device has, and which suite measures them."""
    present = {hit.series for hit in there}
    lacking = [series.name for series in figure.series if series.name not in present]
    if not lacking:
        return []
    how = f"harness run {figure.suite} measures them where a device can"
    return [f"Not in these runs: {'; '.join(lacking)} ({how})."]


def _order(figure: Figure, points: pd.DataFrame, there: Sequence[Hit]) -> list[Any]:
    """The values of x, the smallest first; steps as they are climbed."""
    values = list(points["x"].drop_duplicates())
    if figure.across == "type":
        return ordered_types(values)
    if figure.across == "step":
        return [series.name for series in figure.series if series.name in values]
    if figure.across == "width":
        return sorted(values)
    elements = {str(hit.row["size"]): int(hit.row["elements"]) for hit in there}
    return sorted(values, key=lambda value: (elements.get(value, math.inf), value))


def _spans(figure: Figure) -> list[tuple[str, float, float]]:
    """Published ranges without single points: of relative speeds alone."""
    if figure.drawn != "relative" or figure.printed():
        return []
    return [(then.device, then.low, then.high) for then in figure.against.then() if then.low < then.high]


_DEVICE_COLUMNS = {
    "compute_units": "compute units",
    "local_memory_kib": "local memory, KiB",
    "peak_bandwidth_gb_s": "peak bandwidth, GB/s",
    "measured_bandwidth_gb_s": "measured bandwidth, GB/s",
    "peak_tflops_fp32": "peak, TFLOPS float32",
}


_HERE_COLUMNS = (
    "device", "compute units", "local memory, KiB", "through", "best measured bandwidth, GB/s",
)  # fmt: skip


def _devices(study: Study, figure: Figure, found: Sequence[Place], name: str) -> Shown:
    """The study's devices as printed, and apart those at hand with the best bandwidth that was measured."""
    found = named_apart(found)
    table = published("devices")
    lines = [
        (Cell(str(row["device"])), *(_printed_number(row[column]) for column in _DEVICE_COLUMNS))
        for _, row in table[table["paper"] == study.name].iterrows()
    ]
    here = [tuple(map(Cell, (place.name, *_of_device(place), _best(place)))) for place in found]
    listed = "; ".join(f"{place.name} (up to {_best(place)} GB/s)" for place in found) or "none"
    then = ", ".join(table[table["paper"] == study.name]["device"])
    return Shown(
        name, figure.number, figure.title, None, f"Then {then}; here {listed}.", (),
        Rows(_HERE_COLUMNS, tuple(here)),
        Rows(("published", *_DEVICE_COLUMNS.values()), tuple(lines)), "",
    )  # fmt: skip


def _printed_number(value: Any) -> Cell:
    return Cell(write.ABSENT if pd.isna(value) else f"{value:g}" if isinstance(value, float) else str(value))


def _of_device(place: Place) -> tuple[str, str, str]:
    local = place.about.get("local_memory_bytes")
    kib = f"{local / 1024:g}" if isinstance(local, int) and local else write.ABSENT
    units = write.plain(place.about.get("compute_units") or write.ABSENT)
    return units, kib, ", ".join(place.rows["backend"].drop_duplicates())


def _best(place: Place) -> str:
    rows = place.rows
    limits = pd.concat([rows["limit"], rows.loc[rows["kind"] == "bandwidth", "bytes_per_second"]]).dropna()
    return write.gb_s(float(limits.max())) if len(limits) else write.ABSENT

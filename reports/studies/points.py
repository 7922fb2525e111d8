"""What is drawn and listed of a figure's cases: points of its chart, lines of its table, ratios of both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from reports import format as write
from reports.ratios import Pair, pair_of
from reports.studies.bases import WANTED, bases_of
from reports.studies.claims import claimed
from reports.studies.model import Figure, Printed
from reports.studies.places import Hit
from reports.studies.rows import RATIO, Rows, base_cells, case_cells, ratio_cells, time_rows, us_cell
from reports.studies.told import Compared
from reports.tables import Cell

COLUMNS = ("device", "op", "x", "series", "y", "low", "high", "verdict", "printed", "stands_in")


CHOSEN_WIDTH = 4
"""The elements of a vector that jia2012 loads at once."""


@dataclass(frozen=True)
class Content:
    """What a figure shows: points with COLUMNS (``op`` is the panel), the table behind, the ratios that its
    sentence is about, those of OpenCL against CUDA on equal kernels, and what stands in for what is missing.
    """

    points: pd.DataFrame
    rows: Rows
    found: tuple[Compared, ...] = ()
    sides: tuple[Compared, ...] = ()
    notes: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()


def points_of(lines: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """The points as a table with COLUMNS, whatever each has."""
    return pd.DataFrame(list(lines), columns=list(COLUMNS))


def point(
    hit: Hit,
    panel: str,
    x: object,
    series: str,
    y: float,
    pair: Pair | None = None,
    *,
    stands_in: bool = False,
) -> dict[str, object]:
    """One measured point; of a ratio with its interval and verdict, and whether what is 1 stands in for what
    the figure asks for.
    """
    more = {"low": pair.low, "high": pair.high, "verdict": pair.verdict} if pair else {}
    where = {"device": hit.place.name, "op": panel}
    return {**where, "x": x, "series": series, "y": y, "printed": False, "stands_in": stands_in, **more}


def printed_points(printed: Sequence[Printed]) -> list[dict[str, object]]:
    """The published numbers, each panel of which says so."""
    return [
        {"device": each.panel, "op": f"Published: {each.panel}", "x": each.x, "series": each.series}
        | {"y": each.y, "printed": True}
        for each in printed
    ]


def times(figure: Figure, hits: Sequence[Hit], band: float) -> Content:
    """Time of a call by type or size, a series a form of the kernel, a panel a device and side."""
    drawn = {series.name for series in figure.series if series.drawn}
    panel = _panels(figure, [hit for hit in hits if hit.side != "library"])
    points = [
        point(hit, panel(hit), hit.row[figure.across], hit.series, hit.row["queue"] * 1e6)
        for hit in hits
        if hit.side != "library" and hit.series in drawn
    ]
    for hit in hits:
        if hit.side == "library":
            panels = dict.fromkeys(panel(own) for own in hits if own.side != "library" and own.key == hit.key)
            points += [
                point(hit, p, hit.row[figure.across], hit.series, hit.row["queue"] * 1e6) for p in panels
            ]
    before = {series.name for series in figure.series} - drawn
    sides, notes, judged = _sides(hits, band, before)
    rows = time_rows(hits, judged)
    return Content(points_of(points), rows, tuple(_within(figure, hits, band)), sides, notes)


def shares(figure: Figure, hits: Sequence[Hit], band: float) -> Content:
    """Share of the device's own measured bandwidth by type, a series a size, a panel a device and side."""
    known = [hit for hit in hits if hit.row["share"] == hit.row["share"]]
    panel = _panels(figure, hits)
    points = [
        point(hit, panel(hit), hit.row["type"], str(hit.row["size"]), hit.row["share"] * 100) for hit in known
    ]
    sides, notes, judged = _sides(hits, band)
    best: dict[tuple[str, str], float] = {}
    for hit in known:
        who = (hit.place.name, hit.side)
        best[who] = max(best.get(who, 0.0), float(hit.row["share"]))
    extra = ((place, f"{side} up to {write.percent(share)} %") for (place, side), share in best.items())
    return Content(points_of(points), time_rows(hits, judged), (), sides, notes, tuple(extra))


def relative(figure: Figure, hits: Sequence[Hit], band: float) -> Content:
    """Speed over that of what is 1, a panel a device, a series each side and form of the kernel."""
    points, lines, found = [], [], []
    notes = list(_left_to_the_host(hits))
    panel = _panels(figure, hits)
    bases = bases_of(hits, figure.base)
    for hit in hits:
        base = bases[hit.at].of(hit) if hit.at in bases else None
        if base is None:
            continue
        pair = pair_of(hit.row, base.row, band)
        who = f"{hit.side}, {hit.series}" if len(figure.series) > 1 else hit.side
        title = f"{panel(hit)}: {base.name} = 1"
        points.append(point(hit, title, _x(hit, figure), who, pair.gross, pair, stands_in=base.stands_in))
        found.append(Compared(hit.place.name, f"{who} over {base.name}", pair))
        lines.append((*case_cells(hit), Cell(who), us_cell(hit.row), *base_cells(base), *ratio_cells(pair)))
        if base.stands_in:
            notes.append(f"On {hit.place.name} {base.name} is 1, for want of {WANTED[figure.base]}.")
    headings = ("device", "problem", "type", "size", "kernel", "us", "compared with", "its us", *RATIO)
    return Content(
        points_of(points), Rows(headings, tuple(lines)), tuple(found), notes=tuple(dict.fromkeys(notes))
    )


def steps(_: Figure, hits: Sequence[Hit], band: float) -> Content:
    """OpenCL over CUDA on each step of a ladder, or over what stands in for it, a panel a device."""
    sides, notes, judged = _sides(hits, band)
    others = bases_of([hit for hit in hits if not hit.place.has_cuda], "")
    points = []
    for hit, pair in judged:
        base = "CUDA" if hit.place.has_cuda else others[hit.at].name
        title = f"{hit.place.name}: {base} = 1"
        points.append(point(hit, title, hit.series, pair.verdict, pair.gross, pair))
    return Content(points_of(points), time_rows(hits, judged), (), sides, notes)


def climb(figure: Figure, hits: Sequence[Hit], band: float) -> Content:
    """Time of a call on each step, a series a side, a panel a device and kind of problem."""
    panel = _panels(figure, hits)
    points = [point(hit, panel(hit), hit.series, hit.side, hit.row["queue"] * 1e6) for hit in hits]
    sides, notes, judged = _sides(hits, band)
    found = tuple(_climbed(figure, hits, band))
    return Content(points_of(points), time_rows(hits, judged), found, sides, notes)


def _climbed(figure: Figure, hits: Sequence[Hit], band: float) -> Iterator[Compared]:
    """The last step that a device has of each problem against the first of all."""
    steps = [series.name for series in figure.series]
    climbed: dict[tuple[object, ...], dict[str, Hit]] = {}
    for hit in hits:
        if hit.series in steps:
            climbed.setdefault((*hit.key, hit.side), {})[hit.series] = hit
    for of_step in climbed.values():
        last = of_step[max(of_step, key=steps.index)]
        if steps[0] in of_step and last.series != steps[0]:
            yield Compared(last.place.name, last.side, pair_of(last.row, of_step[steps[0]].row, band))


def widths(_: Figure, hits: Sequence[Hit], band: float) -> Content:
    """Bandwidth by the elements of a vector, a series a type, a panel a device, side and cache state."""
    points = [
        point(
            hit,
            f"{hit.place.name}, {hit.side}, {hit.row['cache']}",
            int(hit.row["width"]),
            hit.series,
            hit.row["bytes_per_second"] / 1e9,
        )
        for hit in hits
    ]
    lines = [
        (
            Cell(hit.place.name),
            Cell(hit.side),
            Cell(str(hit.row["cache"])),
            Cell(hit.series),
            Cell(str(hit.row["width"])),
            Cell(write.us(hit.row["queue"])),
            Cell(write.gb_s(hit.row["bytes_per_second"])),
        )
        for hit in hits
    ]
    apart = [Hit(hit.place, hit.side, f"{hit.series} {hit.row['width']}", hit.row) for hit in hits]
    sides, notes, _pairs = _sides(apart, band)
    found = list(_widest(hits, band))
    headings = ("device", "side", "cache", "type", "width", "us", "GB/s")
    return Content(points_of(points), Rows(headings, tuple(lines)), tuple(found), sides, notes)


def _widest(hits: Sequence[Hit], band: float) -> Iterator[Compared]:
    """Vectors of four over single elements: the loads that the study chose."""
    single = {(*hit.key, hit.side, hit.series): hit for hit in hits if hit.row["width"] == 1}
    for hit in hits:
        other = single.get((*hit.key, hit.side, hit.series))
        if hit.row["width"] == CHOSEN_WIDTH and other is not None:
            pair = pair_of(hit.row, other.row, band)
            yield Compared(hit.place.name, f"{hit.side}, {hit.row['cache']}", pair)


MAKERS: dict[str, Callable[[Figure, Sequence[Hit], float], Content]] = {
    "times": times,
    "shares": shares,
    "relative": relative,
    "steps": steps,
    "climb": climb,
    "widths": widths,
}
"""What makes the content of a figure, by the way in which it is drawn."""


def _panels(figure: Figure, hits: Sequence[Hit]) -> Callable[[Hit], str]:
    """What tells the panels of a figure apart: device and side, and what of the problem neither x nor the
    series tells.
    """
    told = [column for column in ("op", "type") if len({hit.row[column] for hit in hits}) > 1]
    told += ["size"] if figure.cases.largest else []
    shown = [column for column in told if column != figure.across]

    def name(hit: Hit) -> str:
        side = [] if figure.drawn in ("relative", "climb") else [hit.side]
        return ", ".join((hit.place.name, *side, *(str(hit.row[column]) for column in shown)))

    return name


def _x(hit: Hit, figure: Figure) -> str:
    return str(hit.row[figure.across])


def _sides(
    hits: Sequence[Hit], band: float, before: Collection[str] = ()
) -> tuple[tuple[Compared, ...], tuple[str, ...], list[tuple[Hit, Pair]]]:
    """OpenCL against CUDA, each series with itself; where a device has no CUDA, with the fastest there is.

    What is only the ``before`` of a figure is in its table, and not in its sentence.
    """
    others = bases_of([hit for hit in hits if not hit.place.has_cuda], "")
    cuda = {(*hit.key, hit.series): hit for hit in hits if hit.side.startswith("CUDA")}
    found, notes, judged = [], [], []
    for hit in hits:
        if not hit.side.startswith("OpenCL"):
            continue
        other = cuda.get((*hit.key, hit.series))
        if other is not None:
            pair = pair_of(hit.row, other.row, band)
            against = "OpenCL against CUDA, kernel by kernel:"
        elif not hit.place.has_cuda and hit.at in others and (base := others[hit.at].of(hit)):
            pair = pair_of(hit.row, base.row, band)
            against = f"no CUDA; OpenCL against {base.name}:"
            notes.append(f"{hit.place.name} has no CUDA: OpenCL is compared with {base.name}.")
        else:
            if not hit.place.has_cuda:
                notes.append(f"{hit.place.name} has no CUDA, and nothing else was measured beside OpenCL.")
            continue
        judged.append((hit, pair))
        if hit.series not in before:
            found.append(Compared(hit.place.name, against, pair))
    return tuple(found), tuple(dict.fromkeys((*_left_to_the_host(hits), *notes))), judged


def _left_to_the_host(hits: Sequence[Hit]) -> Iterator[str]:
    if any(hit.row["in_parts"] for hit in hits):
        ((low, high),) = claimed("yan2011", "host finish time")
        yield (
            "Where the host finishes, times are of what the device does, as in the study: its host took "
            f"{low:g} to {high:g} us more."
        )


def _within(figure: Figure, hits: Sequence[Hit], band: float) -> Iterator[Compared]:
    """What the figure is about: one series against another of the same device, side and problem."""
    by_series = {(*hit.key, hit.side, hit.series): hit for hit in hits}
    for first, second in figure.against.pairs:
        for hit in hits:
            other = by_series.get((*hit.key, hit.side, second))
            if hit.series == first and other is not None:
                yield Compared(hit.place.name, hit.side, pair_of(hit.row, other.row, band))

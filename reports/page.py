"""The HTML page: one self-contained file, a section a run."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from backends import REGISTRY
from harness.files import replacing
from harness.results.launch_correction import FEWEST_CONTEXTS
from harness.results.ratio import BAND, check_band
from harness.results.runfile import Run, strict_json
from harness.results.statistics import CONFIDENCE, FEWEST_SAMPLES, geometric_mean
from harness.results.stopping import NARROW
from reports import format as write
from reports import pages
from reports.cascades import cascades, portability_table
from reports.clock_comparison import agreement_table, agreements, mean_table
from reports.controls import control_table
from reports.dataset import (
    TOLERATED_EXCESS,
    bandwidths,
    device_table,
    frame,
    measured,
    memory_rates,
)
from reports.fleet import kinds_of, shown
from reports.headline import Headline, headlines
from reports.ladders import Change, Climb, changes, climbs, steps_table, waterfalls
from reports.launch_cost import launch_table
from reports.libraries import library_table, pick_heats, pick_table, picks
from reports.overview import Heat, Overview, overviews
from reports.panels import Mark, forest, ratio_ticks, shapes
from reports.pictures import Agreement, Picture, agreement, pictures, write_pictures
from reports.portability import applications
from reports.published import published
from reports.ratios import Comparison, comparisons, library_pairs
from reports.saturation import Figure, backend_legend, saturation, widths
from reports.tables import Reason, Table, ratio_table, reasons, record_table, status_counts, without_beaten

if TYPE_CHECKING:
    from reports.studies import Chapter

_CACHES = {
    "hot": "Hot: one source, in the cache where it fits",
    "cold": "Cold: sources take turns, none is in the cache",
}
_TITLE = 2
"""The place of a cell's note among its parts."""
_MARKED = ("†", "‡", "!", "≈")
"""Texts that end so have a note, which is told where there is no script, too."""


@dataclass(frozen=True)
class Steps:
    """A ladder that was climbed on one piece of hardware: its waterfalls, and what each rung changes."""

    title: str
    base: str
    legend: Markup
    panels: Sequence[Markup]
    changes: Sequence[Change]


@dataclass(frozen=True)
class Ratios:
    """One comparison: its charts by cache state, and its table with that one's id."""

    comparison: Comparison
    overviews: Sequence[Overview]
    table: Table
    name: str


@dataclass(frozen=True)
class Section:
    """What the page shows of one run. ``name`` is the prefix of its ids."""

    name: str
    run: Run
    command: str
    devices: Sequence[Mapping[str, Any]]
    unused: Sequence[Mapping[str, Any]]
    software: str
    headlines: Sequence[Headline]
    main: Mapping[str, Ratios]
    others: Sequence[Ratios]
    picks: Table
    pick_heats: Sequence[Heat]
    libraries: Table
    clocks: Table
    clock_means: Table
    launching: Table
    controls: Table
    steps: Sequence[Steps]
    worth: Table
    bandwidth: Sequence[Figure]
    widths: Sequence[Figure]
    pictures: Mapping[str, Sequence[Picture]]
    agreement: Agreement | None
    records: Table
    beaten: int
    counts: Sequence[tuple[str, int]]
    measured: int
    precise: int
    reasons: Sequence[Reason]
    missing: Sequence[tuple[str, str, str]]


def page(
    runs: Sequence[Run], commands: Sequence[str], band: float = BAND, studies: Sequence[str] = ()
) -> str:
    """The page of ``runs``, each with the command that made it: one HTML string, whole in itself.

    ``band`` is the equivalence band of the verdicts. ``studies`` are those that get a chapter.
    """
    tables = list(map(frame, runs))
    kinds = kinds_of(runs, tables, band)
    places = shown(kinds, len(runs))
    tables = [tables[place] for place in places]
    sections = [
        _section(f"r{number}", runs[place], table, commands[place], band)
        for number, (place, table) in enumerate(zip(places, tables, strict=True))
    ]
    script = Markup(_template_text("report.js"))
    portable = applications(tables)
    text = (
        _templates()
        .get_template("report.html.j2")
        .render(
            sections=sections,
            kinds=kinds,
            style=Markup(_template_text("report.css") + _template_text("studies.css") * bool(studies)),
            chapters=_chapters(studies, [runs[place] for place in places], tables, band),
            cascades=cascades(portable),
            portability=portability_table(portable),
            script=script,
            shapes=shapes(),
            title=pages.title_of(runs),
            about=_summary(runs, sections),
            caches=_CACHES,
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            claims=_claims(),
            band=f"{band * 100:g}",
            confidence=f"{CONFIDENCE * 100:g}",
            fewest=FEWEST_SAMPLES,
            fewest_contexts=FEWEST_CONTEXTS,
            narrow=f"{NARROW * 100:g}",
            excess=f"{TOLERATED_EXCESS * 100:g}",
        )
    )
    return text.lstrip().encode("utf-8", "replace").decode()


def write_page(runs: Sequence[Run], output: Path, band: float = BAND, studies: Sequence[str] = ()) -> Path:
    """Writes the page of ``runs`` and the list of all pages; see :func:`reports.write_report`."""
    if not runs:
        raise ValueError("a report needs at least one run; give the run files that `harness run` wrote")
    check_band(band)
    commands = [str(run.environment.get("command") or "not recorded") for run in runs]
    text = page(runs, commands, band, studies)
    target = pages.page_path(runs, output)
    with replacing(target) as file:
        file.write_text(text, encoding="utf-8")
    write_pictures(target, runs)
    with replacing(output / pages.INDEX) as file:
        file.write_text(_index(output), encoding="utf-8")
    return target


def _index(folder: Path) -> str:
    """The list of the pages in a folder, with the ratios of each device over time."""
    found = pages.listed(folder)
    charts = []
    for name, group in pages.histories(found).items():
        rows = [
            (f"{page['started'][:10]} {page['commit'][:7]}", [Mark(page["ratio"], 0, 0, page["headline"])])
            for page in group
        ]
        ticks = ratio_ticks([page["ratio"] for page in group])
        charts.append(forest(name, f"Mean ratio of OpenCL over CUDA: {name}", rows, BAND, ticks))
    template = _templates().get_template("index.html.j2")
    text = template.render(pages=found, charts=charts, style=Markup(_template_text("report.css")))
    return text.encode("utf-8", "replace").decode()


def _summary(runs: Sequence[Run], sections: Sequence[Section]) -> str:
    """What a page says of itself to the list of all: strict JSON."""
    first = sections[0]
    about = first.run.environment
    headline = next(iter(first.headlines), None)
    main = first.main.get(headline.physical) if headline else None
    is_main = main is not None and main.comparison.second == "CUDA"
    told = {
        "id": pages.identity(runs),
        "title": ", ".join(pages.names_of(runs)),
        "suite": about.get("suite"),
        "started": about.get("started"),
        "device": headline.device if headline else "",
        "driver": next((str(device.get("driver") or "") for device in first.devices), ""),
        "commit": about.get("commit"),
        "headline": headline.answer if headline else "Nothing was measured.",
        "ratio": geometric_mean(main.comparison.fastest["gross"].dropna()) if main and is_main else None,
    }
    return strict_json(
        {key: write.plain(each) if isinstance(each, str) else each for key, each in told.items()}
    )


def _chapters(
    studies: Sequence[str], runs: Sequence[Run], tables: Sequence[pd.DataFrame], band: float
) -> Sequence[Chapter]:
    if not studies:
        return ()
    from reports.studies import chapters_of

    return chapters_of(studies, runs, tables, band)


def _section(name: str, run: Run, table: pd.DataFrame, command: str, band: float) -> Section:
    found = comparisons(table, band)
    used = set(table["device"])
    there = {f"{backend}:{index}": d for (backend, index), d in device_table(run.environment).items()}
    ratios = [_ratios(f"{name}-pairs{number}", comparison) for number, comparison in enumerate(found)]
    main = {each.comparison.physical: each for each in reversed(ratios)}
    picked = picks(table)
    climbed = list(climbs(table))
    by_clock = agreements(table)
    shown = without_beaten(table)
    return Section(
        name=name,
        run=run,
        command=command,
        devices=[device for key, device in there.items() if key in used],
        unused=[device for key, device in there.items() if key not in used],
        software=_software(run, [device for key, device in there.items() if key in used]),
        headlines=headlines(table, found),
        main=main,
        others=[each for each in ratios if each not in main.values()],
        picks=pick_table(picked),
        pick_heats=pick_heats(picked, f"{name}-picks"),
        libraries=library_table(library_pairs(table, band)),
        clocks=agreement_table(by_clock),
        clock_means=mean_table(by_clock),
        launching=launch_table(table),
        controls=control_table(run, band),
        steps=[_steps(climb) for climb in climbed],
        worth=steps_table(climbed),
        bandwidth=_bandwidth(name, table, memory_rates(run.environment)),
        widths=_widths(table),
        pictures=pictures(run, table),
        agreement=agreement(table),
        records=record_table(shown),
        beaten=len(table) - len(shown),
        counts=status_counts(table),
        measured=int((table["status"] == "ok").sum()),
        precise=int(table["precise"].sum()),
        reasons=reasons(table),
        missing=_missing(run.environment),
    )


def _ratios(name: str, comparison: Comparison) -> Ratios:
    return Ratios(comparison, overviews(comparison, name), ratio_table(comparison), name)


def _software(run: Run, devices: Sequence[Mapping[str, Any]]) -> str:
    """The software, the suite, the time and the commit of a run in a line."""
    about = run.environment
    platforms = dict.fromkeys(
        f"{device.get('platform') or device.get('backend')} {device.get('driver') or ''}".strip()
        for device in devices
    )
    commit = (
        f"commit {about['commit']}{', changed' * bool(about.get('dirty'))}" if about.get("commit") else ""
    )
    parts = (", ".join(platforms), f"suite {about.get('suite', '?')}", _day(run), commit)
    torn = "the run file's last line was cut off and left out" if about.get("torn") else ""
    return " · ".join(filter(None, (*parts, torn)))


def _day(run: Run) -> str:
    return str(run.environment.get("started") or "at an unrecorded time").partition("T")[0]


def _steps(climb: Climb) -> Steps:
    cache_state = _CACHES.get(climb.cache, climb.cache)
    title = f"{climb.ladder.name}: {climb.ladder.about}. {climb.device_name}. {cache_state}"
    base = climb.ladder.labels[0]
    backends = list(climb.rungs["backend"].drop_duplicates())
    key = backend_legend(backends, [("measured limit", 0, "limit")])
    return Steps(title, base, key, waterfalls(climb), changes(climb))


def _bandwidth(name: str, table: pd.DataFrame, rates: Mapping[str, float]) -> list[Figure]:
    rows = measured(table)
    rows = rows[rows["bytes_per_second"].notna()].drop(bandwidths(table).index, errors="ignore")
    alone = rows["physical"].nunique() == 1
    # The reference by itself on the processor, beside a GPU, is in the table, but has no chart.
    return [
        saturation(table, str(key[0]), str(key[1]), f"{name}-all", rates.get(str(key[0]), 0))
        for key, group in rows.groupby(["physical", "cache"], sort=False)
        if alone or set(group["role"]) != {"reference"}
    ]


def _widths(table: pd.DataFrame) -> list[Figure]:
    """The study of the limits themselves, a chart a device and cache state."""
    groups = bandwidths(table).groupby(["physical", "cache"], sort=False)
    return [widths(table, str(physical), str(cache)) for (physical, cache), _ in groups]


def _data(table: Table) -> Markup:
    """A table as JSON that the page's script draws: each note once, each cell once, a row a list of cells."""
    cells: dict[tuple[Any, ...], int] = {}
    rows = []
    for line in table.lines:
        found = []
        for cell in line.cells:
            parts: list[str] = [cell.text, cell.sort, cell.title, cell.style, cell.chip]
            while len(parts) > 1 and not parts[-1]:
                parts.pop()
            found.append(cells.setdefault(tuple(parts), len(cells)))
        rows.append([found, list(line.filters.values()), line.key, line.style])
    titles: dict[str, int] = {"": 0}
    listed = [
        [titles.setdefault(part, len(titles)) if at == 2 else part for at, part in enumerate(cell)]
        for cell in cells
    ]
    data = {
        "head": table.headings,
        "numeric": sorted(table.numeric),
        "filters": list(table.filters.items()),
        "titles": list(titles),
        "cells": listed,
        "rows": rows,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # Nothing in it can end the element that holds it.
    return Markup(text.replace("<", "\\u003c"))


def _rows(table: Table) -> str:
    """A table as lines of text, for who reads without scripts: columns between tabs, notes at the end."""
    lines = ["\t".join(text for text, _ in table.headings)]
    for line in table.lines:
        notes = [cell.title for cell in line.cells if cell.title and cell.text.endswith(_MARKED)]
        lines.append(
            "\t".join(" ".join(text.split()) for text in [*(cell.text for cell in line.cells), *notes])
        )
    return "\n".join(lines)


def _missing(environment: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Each backend that was not there: its name, why, how to get it."""
    missing = environment.get("missing") or {}
    return [
        (str(name), str(why), REGISTRY[name].remedy if name in REGISTRY else "")
        for name, why in missing.items()
    ]


def _claims() -> list[tuple[str, ...]]:
    """What the studies' abstracts claim: paper, device, quantity, value or range, unit."""
    table = published("claims")
    return [
        (str(row.paper), str(row.device), str(row.quantity), _span(row.low, row.high), str(row.unit))
        for row in table[table["item"] == "abstract"].itertuples(index=False)
    ]


def _span(low: Any, high: Any) -> str:
    return f"{low:g}" if pd.isna(high) else f"{low:g} to {high:g}"


@cache
def _templates() -> Environment:
    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(_template_text),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "plain": write.plain,
        "size": write.size,
        "ratio": write.ratio,
        "address": write.address,
        "data": _data,
        "rows": _rows,
    }
    return environment


def _template_text(name: str) -> str:
    return (resources.files("reports") / "templates" / name).read_text(encoding="utf-8")

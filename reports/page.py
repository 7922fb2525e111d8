"""The HTML page: one self-contained file, a section a run."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import tempfile
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
from harness.results.launch_correction import FEWEST_CONTEXTS
from harness.results.ratio import BAND, check_band
from harness.results.runfile import Run
from harness.results.statistics import CONFIDENCE, FEWEST_SAMPLES
from harness.results.stopping import NARROW
from reports import format as write
from reports.charts import bandwidth_chart, ratio_chart, share_chart, width_chart
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
from reports.headline import Headline, headlines
from reports.ladders import Climb, climbs, steps_chart, steps_table
from reports.launch_cost import launch_table
from reports.libraries import library_table
from reports.published import published
from reports.ratios import Comparison, comparisons, library_pairs
from reports.tables import Reason, Table, ratio_table, reasons, record_table, status_counts

if TYPE_CHECKING:
    from reports.studies import Chapter

_CACHES = {
    "hot": "Hot: one source, in the cache where it fits",
    "cold": "Cold: sources take turns, none is in the cache",
}

_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Chart:
    """One chart with its heading."""

    title: str
    svg: Markup


@dataclass(frozen=True)
class Ratios:
    """One comparison: its charts by cache state and its table."""

    comparison: Comparison
    charts: tuple[Chart, ...]
    table: Table


@dataclass(frozen=True)
class Section:
    """What the page shows of one run. ``name`` is the prefix of its ids."""

    name: str
    run: Run
    command: str
    devices: Sequence[Mapping[str, Any]]
    unused: Sequence[Mapping[str, Any]]
    headlines: Sequence[Headline]
    ratios: Sequence[Ratios]
    libraries: Table
    clocks: Table
    clock_means: Table
    launching: Table
    controls: Table
    steps: Sequence[Chart]
    worth: Table
    bandwidth: Sequence[Chart]
    widths: Sequence[Chart]
    pictures: Mapping[str, Sequence[Mapping[str, str]]]
    records: Table
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
    sections = [
        _section(f"r{number}", run, table, command, band)
        for number, (run, table, command) in enumerate(zip(runs, tables, commands, strict=True))
    ]
    script = Markup(_template_text("report.js"))
    text = (
        _templates()
        .get_template("report.html.j2")
        .render(
            sections=sections,
            style=Markup(_template_text("report.css") + _template_text("studies.css") * bool(studies)),
            chapters=_chapters(studies, runs, tables, band),
            script=script,
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
    """Writes the page to ``output/index.html`` in one step; see :func:`reports.write_report`."""
    if not runs:
        raise ValueError("a report needs at least one run; give the run files that `harness run` wrote")
    check_band(band)
    commands = [str(run.environment.get("command") or "not recorded") for run in runs]
    text = page(runs, commands, band, studies)
    output.mkdir(parents=True, exist_ok=True)
    target = output / "index.html"
    handle, name = tempfile.mkstemp(dir=output, prefix=".index-", suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        # mkstemp makes files that only their owner reads; a report is for others too.
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return target


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
    climbed = list(climbs(table))
    by_clock = agreements(table)
    return Section(
        name=name,
        run=run,
        command=command,
        devices=[device for key, device in there.items() if key in used],
        unused=[device for key, device in there.items() if key not in used],
        headlines=headlines(table, found),
        ratios=[_ratios(f"{name}-ratio{number}", comparison) for number, comparison in enumerate(found)],
        libraries=library_table(library_pairs(table, band)),
        clocks=agreement_table(by_clock),
        clock_means=mean_table(by_clock),
        launching=launch_table(table),
        controls=control_table(run, band),
        steps=[_steps(f"{name}-steps{number}", climb) for number, climb in enumerate(climbed)],
        worth=steps_table(climbed),
        bandwidth=_bandwidth(name, table, memory_rates(run.environment)),
        widths=_widths(name, table),
        pictures=_pictures(run.images),
        records=record_table(table),
        counts=status_counts(table),
        measured=int((table["status"] == "ok").sum()),
        precise=int(table["precise"].sum()),
        reasons=reasons(table),
        missing=_missing(run.environment),
    )


def _ratios(name: str, comparison: Comparison) -> Ratios:
    charts = []
    for number, cache_state in enumerate(comparison.fastest["cache"].drop_duplicates()):
        svg = ratio_chart(comparison, str(cache_state), f"{name}-{number}")
        charts.append(Chart(_CACHES.get(str(cache_state), str(cache_state)), Markup(svg)))
    return Ratios(comparison, tuple(charts), ratio_table(comparison))


def _steps(name: str, climb: Climb) -> Chart:
    cache_state = _CACHES.get(climb.cache, climb.cache)
    title = f"{climb.ladder.name}: {climb.ladder.about}. {climb.device_name}. {cache_state}"
    return Chart(title, Markup(steps_chart(climb, name)))


def _bandwidth(name: str, table: pd.DataFrame, rates: Mapping[str, float]) -> list[Chart]:
    charts = []
    rows = measured(table)
    rows = rows[rows["bytes_per_second"].notna()].drop(bandwidths(table).index, errors="ignore")
    alone = rows["physical"].nunique() == 1
    for number, (key, group) in enumerate(rows.groupby(["physical", "cache"], sort=False)):
        physical, cache_state = map(str, key)
        if not alone and set(group["role"]) == {"reference"}:
            # The reference by itself on the processor, beside a GPU: in the table, but no chart.
            continue
        place = f"{group['device_name'].iloc[0]}, {cache_state}"
        rate = bandwidth_chart(table, physical, cache_state, f"{name}-rate{number}", rates.get(physical))
        charts.append(Chart(f"GB/s by size of the source: {place}", Markup(rate)))
        share = share_chart(table, physical, cache_state, f"{name}-share{number}")
        if share:
            charts.append(Chart(f"Share of the measured limit, largest size of each: {place}", Markup(share)))
    return charts


def _widths(name: str, table: pd.DataFrame) -> list[Chart]:
    """The study of the limits themselves, a chart a device and cache state."""
    charts = []
    groups = bandwidths(table).groupby(["physical", "cache"], sort=False)
    for number, (key, group) in enumerate(groups):
        physical, cache_state = map(str, key)
        svg = width_chart(table, physical, cache_state, f"{name}-width{number}")
        charts.append(Chart(f"{group['device_name'].iloc[0]}, {cache_state}", Markup(svg)))
    return charts


def _pictures(images: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, str]]]:
    """The run's crops by the backend and device that made them; what is no PNG keeps only its caption."""
    groups: dict[str, list[dict[str, str]]] = {}
    for image in images:
        texts = {key: write.plain(image.get(key) or "") for key in ("title", "backend", "device", "caption")}
        png = str(image.get("png") or "")
        picture = {**texts, "png": png if _is_png(png) else ""}
        own = texts["device"].startswith(f"{texts['backend']}:")
        who = texts["device"] if own else f"{texts['backend']} {texts['device']}"
        groups.setdefault(who.strip(), []).append(picture)
    return groups


def _is_png(text: str) -> bool:
    try:
        return base64.b64decode(text, validate=True).startswith(_PNG)
    except (binascii.Error, ValueError):
        return False


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
    environment.filters |= {"plain": write.plain, "size": write.size}
    return environment


def _template_text(name: str) -> str:
    return (resources.files("reports") / "templates" / name).read_text(encoding="utf-8")

"""The HTML page: one self-contained file, a section a run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup

from harness.files import replacing
from harness.results.launch_correction import FEWEST_CONTEXTS
from harness.results.ratio import BAND, check_band
from harness.results.run_lines import strict_json
from harness.results.runfile import Run
from harness.results.statistics import CONFIDENCE, FEWEST_SAMPLES, geometric_mean
from harness.results.stopping import NARROW
from reports import format as write
from reports import pages
from reports.cascades import cascades, portability_table
from reports.compiled import Target
from reports.compiled import shown as compiled_tables
from reports.dataset import frame
from reports.fleet import kinds_of, shown
from reports.panels import Mark, forest, ratio_ticks, shapes
from reports.pictures import write_pictures
from reports.portability import applications
from reports.published import published
from reports.rendering import template_text, templates
from reports.section import CACHES, Section, section_of
from reports.shares import TOLERATED_EXCESS

if TYPE_CHECKING:
    from reports.studies import Chapter


def page(
    runs: Sequence[Run],
    commands: Sequence[str],
    band: float = BAND,
    studies: Sequence[str] = (),
    compiled: Sequence[Target] = (),
) -> str:
    """The page of ``runs``, each with the command that made it: one HTML string, whole in itself.

    ``band`` is the equivalence band of the verdicts. ``studies`` are those that get a chapter. ``compiled``
    is what kernels take of GPUs on which they did not run.
    """
    tables = list(map(frame, runs))
    kinds = kinds_of(runs, tables, band)
    places = shown(kinds, len(runs))
    tables = [tables[place] for place in places]
    sections = [
        section_of(f"r{number}", runs[place], table, commands[place], band)
        for number, (place, table) in enumerate(zip(places, tables, strict=True))
    ]
    script = Markup(template_text("report.js"))
    missing = [runs[place].environment.get("missing") or {} for place in places]
    portable = applications(tables, missing)
    text = (
        templates()
        .get_template("report.html.j2")
        .render(
            sections=sections,
            kinds=kinds,
            style=Markup(template_text("report.css") + template_text("studies.css") * bool(studies)),
            chapters=_chapters(studies, [runs[place] for place in places], tables, band),
            cascades=cascades(portable),
            portability=portability_table(portable),
            compiled=compiled_tables(compiled),
            script=script,
            shapes=shapes(),
            title=pages.title_of(runs),
            about=_summary(runs, sections),
            caches=CACHES,
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


def write_page(
    runs: Sequence[Run],
    output: Path,
    band: float = BAND,
    studies: Sequence[str] = (),
    compiled: Sequence[Target] = (),
) -> Path:
    """Writes the page of ``runs`` and the list of all pages; see :func:`reports.write_report`."""
    if not runs:
        raise ValueError("a report needs at least one run; give the run files that `harness run` wrote")
    check_band(band)
    commands = [str(run.environment.get("command") or "not recorded") for run in runs]
    text = page(runs, commands, band, studies, compiled)
    target = pages.page_path(runs, output)
    pages.require_no_run(output / pages.INDEX)
    write_pictures(target, runs)
    with replacing(target) as file:
        file.write_text(text, encoding="utf-8")
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
    template = templates().get_template("index.html.j2")
    style = Markup(template_text("report.css"))
    text = template.render(pages=found, charts=charts, style=style, shapes=shapes())
    return text.encode("utf-8", "replace").decode()


def _summary(runs: Sequence[Run], sections: Sequence[Section]) -> str:
    """What a page says of itself to the list of all: strict JSON."""
    first = sections[0]
    about = first.run.environment
    headline = next(iter(first.headlines), None)
    main = first.main.get(headline.physical) if headline else None
    is_main = main is not None and main.comparison.second == "CUDA"
    lacks = first.run.lacks
    answer = headline.answer if headline else "Nothing was measured."
    told = {
        "id": pages.identity(runs),
        "title": ", ".join(pages.names_of(runs)),
        "suite": about.get("suite"),
        "started": about.get("started"),
        "device": headline.device if headline else "",
        "driver": next((str(device.get("driver") or "") for device in first.devices), ""),
        "commit": about.get("commit"),
        "headline": " ".join([*(f"{each[0].upper()}{each[1:]}." for each in lacks), answer]),
        # The mean of some cases stands in no line with that of all.
        "ratio": geometric_mean(main.comparison.fastest["gross"].dropna())
        if main and is_main and not lacks
        else None,
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


def _claims() -> list[tuple[str, ...]]:
    """What the studies' abstracts claim: paper, device, quantity, value or range, unit."""
    table = published("claims")
    return [
        (str(row.paper), str(row.device), str(row.quantity), _span(row.low, row.high), str(row.unit))
        for row in table[table["item"] == "abstract"].itertuples(index=False)
    ]


def _span(low: Any, high: Any) -> str:
    return f"{low:g}" if pd.isna(high) else f"{low:g} to {high:g}"

"""What the page shows of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from backends import REGISTRY, BackendUnavailable
from harness.results.runfile import Run
from reports.clock_comparison import agreement_table, agreements, mean_table
from reports.controls import control_table, controls_of
from reports.dataset import bandwidths, device_table, measured, memory_rates
from reports.format import duration
from reports.headline import Headline, headlines
from reports.ladders import Change, Climb, changes, climbs, steps_table, waterfalls
from reports.launch_cost import launch_table
from reports.libraries import library_table, pick_heats, pick_table, picks
from reports.overview import Heat, Overview, overviews
from reports.pictures import Agreement, Picture, agreement, pictures
from reports.ratios import Comparison, comparisons, library_pairs
from reports.saturation import Figure, backend_legend, saturation, widths
from reports.tables import Reason, Table, ratio_table, reasons, record_table, status_counts, without_beaten

CACHES = {
    "hot": "Hot: one source, in the cache where it fits",
    "cold": "Cold: sources take turns, none is in the cache",
}
"""Each cache state, in words."""


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
    """What the page shows of one run. ``name`` is the prefix of its ids; ``software``: :func:`_software` by
    the physical device, and of all of them by the empty name. ``samples``: of the queue's clock; ``anew``:
    those in which the host was interrupted, which are not among them.
    """

    name: str
    run: Run
    command: str
    devices: Sequence[Mapping[str, Any]]
    unused: Sequence[Mapping[str, Any]]
    software: Mapping[str, str]
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
    samples: int
    anew: int
    reasons: Sequence[Reason]
    missing: Sequence[tuple[str, str, str]]


def section_of(name: str, run: Run, table: pd.DataFrame, command: str, band: float) -> Section:
    """The section of a run. ``table``: its records (:func:`reports.dataset.frame`). ``name``, ``command``: as
    :class:`Section` has them. ``band``: the equivalence band of the verdicts.
    """
    found = comparisons(table, band)
    controls = controls_of(run, band)
    used = set(table["device"])
    there = {f"{backend}:{index}": d for (backend, index), d in device_table(run.environment).items()}
    ratios = [_ratios(f"{name}-pairs{number}", comparison) for number, comparison in enumerate(found)]
    main = {each.comparison.physical: each for each in reversed(ratios)}
    picked = picks(table)
    climbed = list(climbs(table))
    by_clock = agreements(table)
    shown = without_beaten(table)
    clocks = [record.clocks["queue"] for record in run.records if "queue" in record.clocks]
    return Section(
        name=name,
        run=run,
        command=command,
        devices=[device for key, device in there.items() if key in used],
        unused=[device for key, device in there.items() if key not in used],
        software={
            physical: _software(run, [there[key] for key in rows["device"].drop_duplicates() if key in there])
            for physical, rows in [("", table), *table.groupby("physical", sort=False)]
        },
        headlines=headlines(table, found, controls),
        main=main,
        others=[each for each in ratios if each not in main.values()],
        picks=pick_table(picked),
        pick_heats=pick_heats(picked, f"{name}-picks"),
        libraries=library_table(library_pairs(table, band)),
        clocks=agreement_table(by_clock),
        clock_means=mean_table(by_clock),
        launching=launch_table(table),
        controls=control_table(controls),
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
        samples=sum(len(clock.seconds) for clock in clocks),
        anew=sum(clock.anew for clock in clocks),
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
    resumed = (_resumed(each, about) for each in run.resumed)
    parts = (", ".join(platforms), f"suite {about.get('suite', '?')}", _time(run), _source(about), *resumed)
    return " · ".join(filter(None, parts))


def _source(about: Mapping[str, Any]) -> str:
    """The commit of a run, or of a part of it."""
    # Fewer digits tell a commit; the run file has them all.
    commit = (about.get("commit") or "")[:12]
    return f"commit {commit}{', changed' * bool(about.get('dirty'))}" if commit else ""


def _resumed(went_on: Mapping[str, Any], begun: Mapping[str, Any]) -> str:
    """When a run went on, and at which commit where that is another one than that of its beginning."""
    source = _source(went_on)
    return f"resumed {_day(went_on)}{f' at {source}' * (source not in ('', _source(begun)))}"


def _day(about: Mapping[str, Any]) -> str:
    return str(about.get("started") or "at an unrecorded time").partition("T")[0]


def _time(run: Run) -> str:
    """The day of a run, and how long it took."""
    day = _day(run.environment)
    return day if run.seconds is None else f"{day}, {duration(run.seconds)}"


def _steps(climb: Climb) -> Steps:
    cache_state = CACHES.get(climb.cache, climb.cache)
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


def _missing(environment: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Each backend that was not there: its name, why, how to get it."""
    rows = []
    for name, message in (environment.get("missing") or {}).items():
        error = BackendUnavailable.of_message(str(message).removeprefix(f"{name}: "))
        known = REGISTRY[name].remedy if name in REGISTRY else ""
        rows.append((str(name), error.what, error.remedy or known))
    return rows

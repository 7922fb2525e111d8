"""The devices of a fleet beside each other: only those of one kind, and which of them, or whose host,
is other.

A kind is a model under a driver and a power cap: no two kinds are pooled.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import pandas as pd

from harness.results.ratio import BAND
from harness.results.runfile import Run
from harness.results.statistics import geometric_mean, usable
from harness.runner.telemetry import throttled
from reports import format as write
from reports.dataset import device_table, measured
from reports.ratios import comparisons
from reports.tables import Cell, Line, Table, number_cell

MOST_SECTIONS = 8
"""Devices of a fleet that have a section each on its page; of more, one of each kind has."""
HEADINGS = (
    ("host", ""),
    ("device", "PCI address of a GPU; cpu is the processor"),
    ("comparison", "the first of its run"),
    (
        "ratio",
        "geometric mean over the problems, the fastest variant of each side: above 1 the first is faster",
    ),
    (
        "time",
        "of its cases over the median of its kind's, geometric mean: above 1 it is slower than its kind",
    ),
    ("from", "the case where it is the fastest beside its kind"),
    ("to", "the case where it is the slowest"),
    ("to mind", "what differs from most of its kind, and what went wrong"),
)
_SETTINGS = {
    "ecc": "ECC",
    "mig": "MIG",
    "sm_clock_max_mhz": "SM clock at most, MHz",
    "memory_clock_max_mhz": "memory clock at most, MHz",
}
"""Of a GPU, by NVML: other values make another speed."""
_HOST = {"cpu": "processor", "cores": "cores", "os": "system"}


@dataclass(frozen=True)
class Device:
    """One run of a fleet. ``number``: its place among them; ``kind``: its model, drivers and power cap."""

    number: int
    host: str
    physical: str
    kind: tuple[str, ...]
    comparison: str
    ratio: float
    times: Mapping[tuple[str, ...], float]
    settings: Mapping[str, str]
    about_host: Mapping[str, str]
    troubles: Sequence[str]


@dataclass(frozen=True)
class Kind:
    """The devices of one kind: a line in words, and a table with a row each."""

    title: str
    answer: str
    devices: Sequence[Device]
    table: Table = field(repr=False)

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.devices)


def is_of_fleet(run: Run) -> bool:
    """Whether a run is one of a fleet's."""
    return isinstance(run.environment.get("fleet"), Mapping)


def kinds_of(runs: Sequence[Run], tables: Sequence[pd.DataFrame], band: float = BAND) -> list[Kind]:
    """The devices of the fleets' runs by kind; none unless there are several."""
    devices = [
        _device(number, run, table, band)
        for number, (run, table) in enumerate(zip(runs, tables, strict=True))
        if is_of_fleet(run)
    ]
    if len(devices) < 2:
        return []
    kinds: dict[tuple[str, ...], list[Device]] = {}
    for device in devices:
        kinds.setdefault(device.kind, []).append(device)
    return [_kind(kind, group) for kind, group in kinds.items()]


def shown(kinds: Sequence[Kind], runs: int) -> list[int]:
    """The places of the runs that have a section of their own: all of a few, else the first of each kind and
    what is of no fleet.
    """
    of_fleet = {device.number for kind in kinds for device in kind.devices}
    if len(of_fleet) <= MOST_SECTIONS:
        return list(range(runs))
    firsts = {kind.devices[0].number for kind in kinds}
    return [number for number in range(runs) if number not in of_fleet or number in firsts]


def _device(number: int, run: Run, table: pd.DataFrame, band: float) -> Device:
    about = run.environment
    used = set(table["device"])
    found = [d for (backend, index), d in device_table(about).items() if f"{backend}:{index}" in used]
    gpu = _gpu(about, {str(device.get("physical")) for device in found})
    drivers = sorted({f"{device.get('platform', '')} {device.get('driver', '')}".strip() for device in found})
    name = min(found, key=lambda device: str(device.get("backend")), default={}).get("name")
    cap = gpu.get("power_cap_watts")
    host = about.get("host") or {}
    main = next(iter(comparisons(table, band)), None)
    gross = usable(main.fastest["gross"]) if main else []
    return Device(
        number=number,
        host=write.plain(about["fleet"].get("host", "")),
        physical=write.plain(found[0].get("physical", "") if found else ""),
        kind=tuple(
            map(write.plain, (name or "unknown", ", ".join(drivers), f"{cap:g} W" if _is(cap) else ""))
        ),
        comparison=f"{main.first} over {main.against}" if main else "",
        ratio=geometric_mean(gross) if gross else math.nan,
        times=_times(table),
        settings={text: write.plain(gpu[name]) for name, text in _SETTINGS.items() if name in gpu},
        about_host={
            text: write.plain(host[name]) for name, text in _HOST.items() if host.get(name) is not None
        },
        troubles=list(_troubles(run)),
    )


def _is(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _gpu(about: Mapping[str, Any], physical: set[str]) -> Mapping[str, Any]:
    told = about.get("nvml")
    gpus = told if isinstance(told, list) else []
    return next((gpu for gpu in gpus if str(gpu.get("physical")) in physical), {})


def _times(table: pd.DataFrame) -> dict[tuple[str, ...], float]:
    """The time of each case."""
    rows = measured(table)
    keys = zip(rows["problem"], rows["cache"], rows["backend"], rows["variant"], strict=True)
    return {tuple(map(str, key)): float(time) for key, time in zip(keys, rows["queue"], strict=True)}


def _troubles(run: Run) -> Iterator[str]:
    """What went wrong: throttling that was seen, and cases that were."""
    count, reasons = 0, set()
    for record in run.trials or run.records:
        looks = record.provenance.get("watch") or ()
        found = [why for look in looks for why in throttled(look.get("before", {}), look.get("after", {}))]
        count += bool(found)
        reasons |= set(found)
    if count:
        yield f"throttled around {count} measurements: {write.plain(', '.join(sorted(reasons)))}"
    for status in ("wrong", "failed"):
        if cases := sum(record.status == status for record in run.records):
            yield f"{cases} {status}"


def _kind(kind: tuple[str, ...], devices: Sequence[Device]) -> Kind:
    common = {name: _commonest([device.settings for device in devices], name) for name in _SETTINGS.values()}
    about = {name: _commonest([device.about_host for device in devices], name) for name in _HOST.values()}
    alike = [device for device in devices if not list(_others(device.settings, common))]
    middle = _medians(alike or devices)
    lines, spread = [], []
    for device in devices:
        ratios = [time / middle[key] for key, time in device.times.items() if key in middle]
        mean = geometric_mean(ratios) if ratios else math.nan
        spread += [mean] if ratios else []
        mind = [*_others(device.settings, common), *_others(device.about_host, about), *device.troubles]
        lines.append(_line(device, mean, ratios, mind))
    hosts = len({device.host for device in devices})
    answer = f"{len(devices)} device{'s' * (len(devices) > 1)} on {hosts} host{'s' * (hosts > 1)}"
    if len(spread) > 1:
        answer += (
            f"; times over the median of the kind: {write.ratio(min(spread))} to {write.ratio(max(spread))}"
        )
    if differ := sorted(
        {device.host for device, line in zip(devices, lines, strict=True) if line.cells[-1].text}
    ):
        answer += f"; to mind: {', '.join(differ)}"
    table = Table(HEADINGS, tuple(lines), frozenset((3, 4, 5, 6)), {})
    return Kind(" · ".join(filter(None, kind)), answer, devices, table)


def _medians(devices: Sequence[Device]) -> dict[tuple[str, ...], float]:
    """The median time of each case that several devices measured."""
    times: dict[tuple[str, ...], list[float]] = {}
    for device in devices:
        for key, time in device.times.items():
            times.setdefault(key, []).append(time)
    return {key: median(found) for key, found in times.items() if len(found) > 1}


def _commonest(told: Sequence[Mapping[str, str]], name: str) -> str | None:
    counts = Counter(each[name] for each in told if name in each)
    return counts.most_common(1)[0][0] if counts else None


def _others(told: Mapping[str, str], common: Mapping[str, str | None]) -> Iterator[str]:
    """What is another than most have."""
    for name, value in told.items():
        if value != common[name]:
            yield f"{name} {value}, most {common[name]}"


def _line(device: Device, mean: float, ratios: Sequence[float], mind: Sequence[str]) -> Line:
    cells = (
        Cell(device.host),
        Cell(device.physical),
        Cell(device.comparison),
        number_cell(device.ratio, write.ratio),
        number_cell(mean, write.ratio),
        number_cell(min(ratios, default=math.nan), write.ratio),
        number_cell(max(ratios, default=math.nan), write.ratio),
        Cell("; ".join(mind), style="wrap"),
    )
    return Line(cells, {})

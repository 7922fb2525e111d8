"""The devices of the runs at hand, and which of their rows a figure is of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from harness.results.runfile import Run
from reports.dataset import by_speed, device_table, measured
from reports.format import plain
from reports.ratios import fastest_of
from reports.studies.model import Cases, Figure, Series

OWN = {"opencl": "OpenCL", "cuda": "CUDA"}
"""The roles whose kernels are ours, as the page names them."""

_CUDA_PLATFORM = "CUDA"


@dataclass(frozen=True)
class Place:
    """One piece of hardware in one run: the rows measured there, and those of libraries on the run's
    processor. Nothing is compared across runs.

    The columns are those of :class:`reports.dataset.Row` and ``is_cuda``, whether a backend works through
    CUDA. ``about`` is what the run's environment says of the device.
    """

    name: str
    run: str
    key: str
    physical: str
    about: Mapping[str, Any]
    rows: pd.DataFrame
    host: pd.DataFrame

    @property
    def has_cuda(self) -> bool:
        """Whether anything was measured through CUDA here."""
        return bool(self.rows["is_cuda"].any())


@dataclass(frozen=True)
class Hit:
    """One measured case of a figure: where, on which side (OpenCL, CUDA or library), in which series."""

    place: Place
    side: str
    series: str
    row: pd.Series[Any]

    @property
    def at(self) -> str:
        """What tells its place apart from all others."""
        return self.place.key + self.place.physical

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What is equal of cases that can be compared."""
        return self.place.key, self.place.physical, str(self.row["problem"]), str(self.row["cache"])


def places(runs: Sequence[Run], tables: Sequence[pd.DataFrame]) -> list[Place]:
    """The hardware that our kernels were measured on, a place a run and device, in the order of the runs.

    ``tables`` are the runs' rows (:func:`reports.dataset.frame`).
    """
    found: list[Place] = []
    for number, (run, table) in enumerate(zip(runs, tables, strict=True)):
        name = plain(run.path.name.partition(".")[0]) if run.path else f"run {number + 1}"
        found += _of_run(name, f"{number} {name}", run, table)
    return found


def _of_run(name: str, key: str, run: Run, table: pd.DataFrame) -> Iterator[Place]:
    there = {f"{backend}:{index}": d for (backend, index), d in device_table(run.environment).items()}
    through_cuda = {device for device, d in there.items() if d.get("platform") == _CUDA_PLATFORM}
    processors = {device for device, d in there.items() if d.get("kind") == "cpu"}
    rows = measured(table)
    rows = rows.assign(is_cuda=rows["device"].isin(through_cuda) | (rows["role"] == "cuda"))
    is_library = rows["role"].isin(["library", "reference"])
    host = rows[is_library & rows["device"].isin(processors)]
    for physical, group in rows.groupby("physical", sort=False):
        own = group[group["role"].isin(list(OWN))]
        if len(own):
            yield Place(
                str(own["device_name"].iloc[0]),
                name,
                key,
                str(physical),
                there.get(own["device"].iloc[0], {}),
                group,
                host,
            )


def named_apart(found: Sequence[Place]) -> list[Place]:
    """By the device's name; where several have it, with that of their run, and then with the hardware's."""
    short = Counter(place.name for place in found)
    longer = Counter((place.name, place.run) for place in found)
    named = []
    for place in found:
        parts = [place.name]
        parts += [place.run] if short[place.name] > 1 else []
        parts += (
            [f"{place.key.partition(' ')[0]}, {place.physical}"] if longer[place.name, place.run] > 1 else []
        )
        named.append(replace(place, name=", ".join(parts)))
    return named


def hits(figure: Figure, found: Sequence[Place]) -> list[Hit]:
    """The measured cases of a figure: those of each series, on each side, at each place. Of the places that
    have any, each has a name of its own. One that has nothing to compare is left out where another has: a
    run of another suite may happen to have one of the forms.
    """
    there = [(place, cases) for place in found if (cases := list(_at(figure, place)))]
    there = [each for each in there if _compares(figure, each[1])] or there
    named = named_apart([place for place, _ in there])
    return [
        replace(hit, place=place) for place, (_, cases) in zip(named, there, strict=True) for hit in cases
    ]


def _compares(figure: Figure, cases: Sequence[Hit]) -> bool:
    """Whether there are both series of one of the pairs that a figure compares, if it does; of a ladder two
    of its steps, as no processor has the last of all.
    """
    series = {hit.series for hit in cases}
    if figure.drawn == "climb":
        return len(series) > 1
    return not figure.against.pairs or any(series >= set(pair) for pair in figure.against.pairs)


def _at(figure: Figure, place: Place) -> Iterator[Hit]:
    rows = place.rows[place.rows["role"].isin(list(OWN))]
    asked = {each.variant for each in figure.series}
    if asked and "" not in asked:
        rows = rows[rows["variant"].isin(asked)]
    rows = of_cases(rows, figure.cases)
    devices = Counter(role for role, _ in set(zip(rows["role"], rows["device"], strict=True)))
    for key, own in rows.groupby(["role", "device"], sort=False):
        role, device = map(str, key)
        side = OWN[role] if devices[role] == 1 else f"{OWN[role]} {device}"
        if figure.drawn == "widths":
            fastest = own.sort_values("queue", kind="stable").drop_duplicates(["problem", "cache", "width"])
            yield from (Hit(place, side, str(row["type"]), row) for _, row in fastest.iterrows())
            continue
        for series in figure.series:
            yield from (Hit(place, side, series.name, row) for row in _of_series(own, series))
    if figure.libraries:
        yield from _libraries(place, rows)


def _of_series(rows: pd.DataFrame, series: Series) -> Iterator[pd.Series[Any]]:
    if not series.variant:
        yield from (fastest_of(group) for _, group in rows.groupby(["problem", "cache"], sort=False))
        return
    yield from (row for _, row in rows[rows["variant"] == series.variant].iterrows())


def _libraries(place: Place, beside: pd.DataFrame) -> Iterator[Hit]:
    rows = place.rows[place.rows["role"].isin(["library", "reference"])]
    rows = rows[rows["problem"].isin(beside["problem"]) & rows["cache"].isin(beside["cache"])]
    for _, row in by_speed(rows).drop_duplicates(["backend", "problem", "cache"]).iterrows():
        yield Hit(place, "library", str(row["backend"]), row)


def of_cases(rows: pd.DataFrame, cases: Cases) -> pd.DataFrame:
    """The rows of the problems that a figure is of."""
    wanted = {"op": cases.ops, "type": cases.types, "size": cases.sizes, "cache": cases.caches}
    rows = rows[rows["kind"] == cases.kind]
    for column, values in wanted.items():
        if values:
            rows = rows[rows[column].isin(list(values))]
    return rows[rows["elements"] == rows["elements"].max()] if cases.largest else rows

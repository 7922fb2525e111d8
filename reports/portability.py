"""Performance portability across the devices of several runs, by the definition of the P3 community.

It is that of Pennycook, Sewall and Lee, "A Metric for Performance Portability" (2016).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from reports.dataset import by_speed
from reports.headline import KINDS

FASTEST = "the fastest for each problem"
"""In place of a variant: what a backend reaches with a form of its own for every device and problem."""

_OWN = ("opencl", "cuda")
Name = tuple[str, str]
"""Backend, and variant or FASTEST."""


def portability(efficiencies: Sequence[float]) -> float:
    """The harmonic mean of what is reached on each platform; zero where one of them is zero.

    NaN where another is not known, and of no platform.
    """
    if 0.0 in efficiencies:
        return 0.0
    return len(efficiencies) / sum(1 / each for each in efficiencies) if efficiencies else math.nan


@dataclass(frozen=True)
class Application:
    """One backend or variant on the problems of a kind that it computes on some of the devices.

    of_limit, of_best: by platform, the harmonic mean over these problems of the share of the measured limit
    (architectural efficiency) and of the speed of the fastest measured there (application efficiency); zero
    where one of them was asked for and did not run, NaN where one was not asked for: nobody knows. ``why``:
    of each zero and of what was not asked for.
    """

    kind: str
    cache: str
    backend: str
    variant: str
    problems: int
    of_limit: Mapping[str, float]
    of_best: Mapping[str, float]
    why: str

    @property
    def group(self) -> str:
        """Cache state and kind, as a heading has them."""
        return f"{self.cache} {KINDS[self.kind]}"

    @property
    def name(self) -> str:
        """What a legend calls it."""
        return self.backend if self.variant == FASTEST else f"{self.backend}: {self.variant}"


def cascade(efficiencies: Mapping[str, float]) -> list[tuple[str, float, float]]:
    """The platforms from the best to the worst, without those of which nothing is known: name, efficiency,
    portability over those so far.
    """
    known = [name for name, each in efficiencies.items() if not math.isnan(each)]
    order = sorted(known, key=lambda name: -efficiencies[name])
    return [
        (name, efficiencies[name], portability([efficiencies[each] for each in order[: count + 1]]))
        for count, name in enumerate(order)
    ]


def applications(
    tables: Sequence[pd.DataFrame], missing: Sequence[Mapping[str, Any]] = ()
) -> list[Application]:
    """Every backend, then every variant, by kind and cache state, the most portable first; none where the
    runs are not of several devices with problems in common.

    ``tables`` are the runs' rows (:func:`reports.dataset.frame`). A device is known by its name; where
    several runs of one have a case, the last counts. ``missing``: of each run the backends that were not
    installed, as its environment names them.
    """
    found: dict[str, list[Any]] = {}
    absent: dict[str, set[str]] = {}
    for table, lacks in zip(tables, missing or [{}] * len(tables), strict=True):
        for name, rows in _platforms(table):
            found.setdefault(name, []).extend(rows)
            absent.setdefault(name, set(lacks)).intersection_update(lacks)
    ran = {name: _last([row for row in rows if row.status == "ok"]) for name, rows in found.items()}
    if len(ran) < 2:
        return []
    common = set.intersection(*({(r.kind, r.cache, r.problem) for r in rows} for rows in ran.values()))
    told: list[Application] = []
    for kind, cache in sorted({(kind, cache) for kind, cache, _ in common}, key=_place):
        there = {
            name: [
                r for r in rows if (r.kind, r.cache) == (kind, cache) and (kind, cache, r.problem) in common
            ]
            for name, rows in ran.items()
        }
        for of in (_backend, _variant):
            some = _of(kind, cache, there, found, absent, of)
            told += sorted(some, key=lambda each: -_known(portability(list(each.of_limit.values()))))
    return told


def _backend(row: Any) -> Name | None:
    return row.backend, FASTEST


def _variant(row: Any) -> Name | None:
    """A library has but one form."""
    return (row.backend, row.variant) if row.role not in ("library", "reference") else None


def _place(group: tuple[str, str]) -> tuple[int, bool]:
    return list(KINDS).index(group[0]), group[1] != "hot"


def _known(value: float) -> float:
    return -1.0 if math.isnan(value) else value


def _platforms(table: pd.DataFrame) -> Iterator[tuple[str, list[Any]]]:
    """The hardware of a run that our kernels ran on, by the name that they give it, and its cases."""
    asked = table[(table["purpose"] == "compare") & table["kind"].isin(["reduction", "laplace"])]
    for _, group in asked.groupby("physical", sort=False):
        own = group[group["role"].isin(_OWN) & (group["status"] == "ok")]
        if len(own):
            yield str(own["device_name"].iloc[0]), list(by_speed(group).itertuples(index=False))


def _last(rows: Iterable[Any]) -> list[Any]:
    """One row a case: of several runs the last one's."""
    cases = {(row.kind, row.problem, row.cache, row.backend, row.variant): row for row in rows}
    return sorted(cases.values(), key=lambda row: (row.in_parts, row.queue))


def _of(
    kind: str, cache: str, ran: Mapping[str, Sequence[Any]], asked: Mapping[str, Sequence[Any]],
    absent: Mapping[str, Collection[str]], of: Callable[[Any], Name | None],
) -> Iterator[Application]:  # fmt: skip
    best: dict[tuple[str, str], float] = {}
    fastest: dict[Name, dict[tuple[str, str], Any]] = {}
    for platform, rows in ran.items():
        # The fastest come first.
        for row in rows:
            best.setdefault((platform, row.problem), row.queue)
            if name := of(row):
                fastest.setdefault(name, {}).setdefault((platform, row.problem), row)
    tries: dict[tuple[Name, str], dict[str, Any]] = {}
    for platform, rows in asked.items():
        for row in rows:
            if (row.kind, row.cache) == (kind, cache) and (name := of(row)):
                tries.setdefault((name, platform), {}).setdefault(row.problem, row)
    for name, own in fastest.items():
        problems = list(dict.fromkeys(problem for _, problem in own))
        of_limit, of_best, why = {}, {}, []
        for platform in ran:
            there = [own.get((platform, problem)) for problem in problems]
            tried = tries.get((name, platform), {})
            # What was asked for and did not run is zero; of what was not asked for nothing is known.
            none = [0.0 if problem in tried else math.nan for problem in problems]
            of_limit[platform] = portability(
                [_capped(row.share) if row else lack for row, lack in zip(there, none, strict=True)]
            )
            of_best[platform] = portability(
                [
                    _capped(best[platform, row.problem] / row.queue) if row else lack
                    for row, lack in zip(there, none, strict=True)
                ]
            )
            lacking = [problem for problem, row in zip(problems, there, strict=True) if row is None]
            if lacking:
                refused = next((tried[problem] for problem in lacking if problem in tried), None)
                installed = name[0].removeprefix("portable ") not in absent[platform]
                why.append(_why(platform, lacking, refused, installed))
        yield Application(kind, cache, *name, len(problems), of_limit, of_best, "; ".join(why))


def _capped(efficiency: float) -> float:
    """Noise may put one a little above 1, which no efficiency is; NaN stays."""
    return 1.0 if efficiency > 1 else efficiency


def _why(platform: str, lacking: Sequence[str], refused: Any, installed: bool) -> str:
    reason = f"{refused.status}: {refused.reason}" if refused else "not asked for there"
    if not (refused or installed):
        return f"{platform}: not installed there"
    return f"{platform}: {reason} ({lacking[0]}{f' and {len(lacking) - 1} more' * (len(lacking) > 1)})"

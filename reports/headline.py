"""What the run says, in words and a few figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from harness.results.statistics import geometric_mean
from reports import format as write
from reports.dataset import TOLERATED_EXCESS, by_speed, measured
from reports.ratios import Comparison, Summary

KINDS = {
    "reduction": "reductions",
    "laplace": "Laplace filters",
    "bandwidth": "bandwidth kernels",
    "empty": "empty kernels",
}
"""The kinds of problem in the plural."""

_MOST_SIZES = 4
"""A tile lists no more sizes than these."""

_EXCESS = f"{write.percent(TOLERATED_EXCESS)}\u00a0%"
_LIMITS = {"reduction": "read", "laplace": "copy"}


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure: what it is, its value, how many pairs have each verdict, and what stands behind it."""

    label: str
    value: str
    details: tuple[str, ...]
    verdicts: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Headline:
    """What one physical device showed. ``answer`` is the first sentence, ``rest`` those that follow.
    ``above``: see :func:`above_limit`.
    """

    device: str
    above: str
    answer: str
    tiles: tuple[Tile, ...]
    rest: tuple[str, ...]


def headlines(table: pd.DataFrame, found: Sequence[Comparison]) -> list[Headline]:
    """One headline a physical device with measured cases, in the order of measurement."""
    rows = measured(table)
    return [
        _headline(str(physical), group, [c for c in found if c.physical == physical])
        for physical, group in rows.groupby("physical", sort=False)
    ]


def _headline(physical: str, rows: pd.DataFrame, found: Sequence[Comparison]) -> Headline:
    name = str(rows["device_name"].iloc[0])
    device = name if name == physical else f"{name} ({physical})"
    shares = list(_shares(rows))
    if not found:
        backends = _listed(rows["backend"].drop_duplicates())
        answer = f"Nothing to compare: {backends} alone was measured here."
        return Headline(device, above_limit(rows), answer, (), (*shares, *_warnings(rows)))
    # OpenCL against CUDA comes first where both are there, and then the others are the small print.
    main, *others = found
    shown = [main, *(each for each in others if each.second == "CUDA")]
    tiles = tuple(_tile(each, summary) for each in shown for summary in each.summaries())
    rest = [*_absent(main), *map(_sentence, others), *shares, *_marked(main), *_warnings(rows)]
    return Headline(device, above_limit(rows), _sentence(main), tiles, tuple(rest))


def above_limit(rows: pd.DataFrame) -> str:
    """What to say before all else where cases are faster than their limit; empty where none is."""
    above = int(rows["above_limit"].sum())
    if not above:
        return ""
    return (
        f"{_cases(above)} above the measured limit by more than {_EXCESS}: there a time or the limit itself "
        "is wrong. `harness limits` measures all candidates for the limits anew, and has the next run do so; "
        "[limits.gpu] or [limits.cpu] in a suite widens the sweep."
    )


def _sentence(comparison: Comparison) -> str:
    """Speeds of the first side as multiples of the second's."""
    parts = []
    for summary in comparison.summaries():
        net = "" if summary.net is None else f"{write.ratio(summary.net)}x net of launch, "
        verdicts = _counted(summary)
        parts.append(f"{write.ratio(summary.gross)}x in {_what(summary)} ({net}{verdicts})")
    second = (
        comparison.second
        if comparison.second == "CUDA"
        else f"{comparison.second} here, {_seconds(comparison)}"
    )
    return f"{comparison.first}'s speed over that of {second}: {_listed(parts)}."


def _counted(summary: Summary) -> str:
    """The verdicts on the first side in words: "3 cases: 2 same, 1 ambiguous (40 more contexts decide 1)"."""
    counts = ", ".join(f"{count} {name}" for name, count in summary.verdicts)
    if summary.decidable:
        counts += f" ({summary.more} more contexts would decide {summary.decidable})"
    return f"{_cases(summary.count)}: {counts}"


def _seconds(comparison: Comparison) -> str:
    return _listed(comparison.fastest["second_backend"].drop_duplicates())


def _tile(comparison: Comparison, summary: Summary) -> Tile:
    second = comparison.second if comparison.second == "CUDA" else _seconds(comparison)
    span = f"{write.ratio(summary.lowest)}x to {write.ratio(summary.highest)}x"
    if summary.count == 1:
        span = f"interval {write.interval(summary.interval.low, summary.interval.high)}"
    details = [f"{_cases(summary.count)}, {span}"]
    if summary.net is not None:
        of = f" ({_cases(summary.net_count)})" if summary.net_count < summary.count else ""
        details.insert(0, f"net of launch {write.ratio(summary.net)}x{of}")
    if 1 < len(summary.by_size) <= _MOST_SIZES:
        details.append(" · ".join(f"{size}: {write.ratio(mean)}x" for size, mean in summary.by_size))
    return Tile(
        f"{comparison.first} over {second}, {_what(summary)}",
        f"{write.ratio(summary.gross)}x",
        tuple(details),
        summary.verdicts,
    )


def _what(summary: Summary) -> str:
    return f"{summary.cache} {KINDS.get(summary.kind, summary.kind)}"


def _absent(comparison: Comparison) -> Iterator[str]:
    """Says plainly that this is no comparison of OpenCL with CUDA."""
    if comparison.second == "CUDA":
        return
    absent = "CUDA" if comparison.first == "OpenCL" else "OpenCL"
    yield (
        f"{absent} has no result on this device, so {comparison.first} stands against {comparison.second} "
        f"here ({_seconds(comparison)}): a baseline, not OpenCL against CUDA."
    )


def _shares(rows: pd.DataFrame) -> Iterator[str]:
    """How far each backend is from the measured limit, at the largest size of a kind and cache state."""
    known = rows[rows["share"].notna()]
    for (kind, cache), group in known.groupby(["kind", "cache"], sort=False):
        largest = group[group["elements"] == group["elements"].max()]
        best = by_speed(largest).drop_duplicates(["backend", "problem"])
        parts = [
            f"{backend} {write.percent(share)}\u00a0%"
            for backend, share in best.groupby("backend")["share"]
            .agg(geometric_mean)
            .sort_values(ascending=False)
            .items()
        ]
        near = "" if largest["limit_exact"].all() else " (some against the limit of the nearest size)"
        size = largest["size"].iloc[0]
        yield (
            f"Share of the measured {_LIMITS[str(kind)]} limit, {cache} {KINDS[str(kind)]} of {size}: "
            f"{_listed(parts)}{near}."
        )


def _marked(comparison: Comparison) -> Iterator[str]:
    marked = sum(summary.marked for summary in comparison.summaries())
    if marked:
        total = len(comparison.fastest)
        yield f"{marked} of {total} ratios carry a note (†), such as a host-bound side: read them with it."


def _warnings(rows: pd.DataFrame) -> Iterator[str]:
    if rows["physical"].iloc[0] != "cpu" and rows["queue_blocks"].map(len).max() == 1:
        yield (
            "Everything was measured in one context of the device, and no interval holds what another would "
            "have drawn: ratios within some percent of 1 may be luck (--processes, --contexts)."
        )
    contradicting = int((rows["disagreement"] != "").sum())
    if contradicting:
        yield f"In {_cases(contradicting)} clocks contradict each other beyond their bias (‡ in the records)."


def _cases(count: int) -> str:
    return f"{count} case" if count == 1 else f"{count} cases"


def _listed(parts: Sequence[str] | pd.Series[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else str(last)

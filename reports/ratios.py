"""Who is compared with whom, and the ratios: pairs of one problem, cache state, clock and physical device."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from backends import REGISTRY
from harness.results import ratio
from harness.results.ratio import (
    BAND,
    UNKNOWN,
    VERDICTS,
    Ratio,
    Side,
)
from harness.results.statistics import geometric_mean
from reports.dataset import by_speed, measured, ordered_sizes, table_of
from reports.fairness import Measured, differences

FASTEST = "fastest"
IDENTICAL = "same variant"
FASTEST_IS_IDENTICAL = f"{FASTEST}, {IDENTICAL}"

BEST_LIBRARY = "the best library"
PORTABLE = "Portable OpenCL"
SIDES: dict[str, tuple[str, ...]] = {
    "OpenCL": ("opencl",),
    PORTABLE: ("portable opencl",),
    "CUDA": ("cuda",),
    BEST_LIBRARY: ("library", "reference"),
}
"""The sides of a comparison, with the roles (:class:`reports.dataset.Row`) of the backends on each."""


MOST_MORE = 999
"""More contexts than these are none that a run could have: the ratio lies at an edge of the band."""

LEAST_WORK = 0.5
"""Share of a queue time that must be work for a net ratio: below it the difference of two launch costs, which
the device partly hides behind each other, outweighs the work, and the ratio says nothing."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One ratio: speed of the first side over speed of the second, by the queue clock.

    gross: of queue. low, high: its interval (NaN with too few samples), and ``verdict`` what that says of the
    first side (:data:`harness.results.ratio.VERDICTS`). net: of queue less launch on both sides (NaN
    where a side has no launch clock, or launching is most of its time: see LEAST_WORK); net_low, net_high:
    its interval. pairing: the FASTEST variant of each side, an IDENTICAL one on both, or
    FASTEST_IS_IDENTICAL. marks: what makes it less than a plain pair, such as a host-bound side. contexts: of
    the side that has fewer. more: the contexts that would decide an ambiguous verdict
    (:func:`more_contexts`), and more_seconds what a run takes for them; NaN where nobody knows.
    """

    physical: str
    device_name: str
    kind: str
    op: str
    type: str
    size: str
    elements: int
    problem: str
    cache: str
    pairing: str
    first_backend: str
    first_variant: str
    first_queue: float
    second_backend: str
    second_variant: str
    second_queue: float
    gross: float
    low: float
    high: float
    verdict: str
    net: float
    net_low: float
    net_high: float
    marks: str
    contexts: int
    more: float
    more_seconds: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The ratios of one kind of problem in one cache state: geometric means and the range of the gross ones.

    net: the mean of the net ratios of the ``net_count`` pairs that have one, gross_of_net that of their gross
    ones; None and NaN of none. verdicts: how many pairs have each, in the order of
    :data:`harness.results.ratio.VERDICTS`, without those of none. by_size: each size with its gross mean,
    smallest first. marked: how many pairs carry a mark. decidable: how many of those that are ambiguous
    MOST_MORE contexts would decide, and more the most contexts that one of them needs.
    """

    kind: str
    cache: str
    gross: float
    lowest: float
    highest: float
    count: int
    net: float | None
    net_count: int
    gross_of_net: float
    marked: int
    verdicts: tuple[tuple[str, int], ...]
    by_size: tuple[tuple[str, float], ...]
    decidable: int
    more: int


@dataclass(frozen=True)
class Comparison:
    """Two sides on one physical device. ``pairs`` has the columns of :class:`Pair` and is never empty.

    ``band``: the equivalence band of their verdicts.
    """

    physical: str
    device_name: str
    first: str
    second: str
    pairs: pd.DataFrame
    band: float = BAND

    @property
    def against(self) -> str:
        """The second side in words: of libraries which ones, and that the reference is none."""
        if self.second != BEST_LIBRARY:
            return self.second
        names = [str(name) for name in self.pairs["second_backend"].drop_duplicates()]
        reference = [name for name in names if name in REGISTRY and REGISTRY[name].role == "reference"]
        told = [name for name in names if name not in reference] + [f"the reference {n}" for n in reference]
        return told[0] if len(told) == 1 else f"the best of {', '.join(told[:-1])} and {told[-1]}"

    @property
    def fastest(self) -> pd.DataFrame:
        """One pair a problem and cache state: the fastest variant of each side."""
        return self.pairs[self.pairs["pairing"].str.startswith(FASTEST)]

    def summaries(self) -> list[Summary]:
        """By kind and cache state, in the order of measurement."""
        groups = self.fastest.groupby(["kind", "cache"], sort=False)
        return [_summary(str(kind), str(cache), group) for (kind, cache), group in groups]


def comparisons(table: pd.DataFrame, band: float = BAND) -> list[Comparison]:
    """All that can be compared, by physical device: OpenCL with CUDA first, then in portable text, then
    each with a library.
    """
    rows = measured(table)
    found = []
    for physical, group in rows.groupby("physical", sort=False):
        # Each API has its own name for the device: the one measured first stands for all.
        name = str(group["device_name"].iloc[0])
        for first, second in (
            ("OpenCL", "CUDA"),
            (PORTABLE, "CUDA"),
            ("OpenCL", BEST_LIBRARY),
            ("CUDA", BEST_LIBRARY),
        ):
            pairs = table_of(Pair, _pairs(group, first, second, band))
            if len(pairs):
                found.append(Comparison(str(physical), name, first, second, pairs, band))
    return found


def library_pairs(table: pd.DataFrame, band: float = BAND) -> pd.DataFrame:
    """OpenCL and CUDA beside each library by itself: one pair a problem, cache state, side and library, the
    fastest variant of each, with the columns of :class:`Pair`.
    """
    groups = grouped(measured(table), "physical", "problem", "cache")
    pairs = (pair for group in groups for pair in _with_each_library(group, band))
    return table_of(Pair, pairs)


def grouped(rows: pd.DataFrame, *keys: str) -> Iterable[list[Measured]]:
    """The rows by these columns, groups and rows in their order; of plain rows, as pandas is slow with a
    thousand groups of two.
    """
    groups: dict[tuple[Any, ...], list[Measured]] = {}
    for row in rows.to_dict("records"):
        groups.setdefault(tuple(row[key] for key in keys), []).append({str(k): v for k, v in row.items()})
    return groups.values()


def _side(rows: Sequence[Measured], side: str) -> list[Measured]:
    """The rows of a side, the fastest first; see :func:`reports.dataset.by_speed`."""
    own = (row for row in rows if row["role"] in SIDES[side])
    return sorted(own, key=lambda row: (row["given_up"], row["in_parts"], row["queue"]))


def _with_each_library(rows: Sequence[Measured], band: float) -> Iterator[Pair]:
    libraries = _side(rows, BEST_LIBRARY)
    names = dict.fromkeys(row["backend"] for row in rows if row["role"] in SIDES[BEST_LIBRARY])
    for side in ("OpenCL", "CUDA"):
        own = _side(rows, side)
        for name in names if own else ():
            library = [row for row in libraries if row["backend"] == name]
            yield _pair(_fastest(own), _fastest(library), FASTEST, band)


def _pairs(rows: pd.DataFrame, first: str, second: str, band: float) -> Iterator[Pair]:
    """The pairs of two sides among the rows of one physical device."""
    for group in grouped(rows, "problem", "cache"):
        left, right = (_side(group, side) for side in (first, second))
        if not (left and right):
            continue
        mine, other = _fastest(left), _fastest(right)
        best = left[0]["variant"]
        # Of either side one variant, the same one, and nothing of another in its blocks.
        same = best == right[0]["variant"] and all(
            row["queue_blocks"] == tuple(side[0]["queue_blocks"])
            for row, side in ((mine, left), (other, right))
        )
        yield _pair(mine, other, FASTEST_IS_IDENTICAL if same else FASTEST, band)
        for variant in dict.fromkeys(row["variant"] for row in left):
            ours, theirs = ([row for row in side if row["variant"] == variant] for side in (left, right))
            if theirs and not (same and variant == best):
                yield _pair(ours[0], theirs[0], IDENTICAL, band)


def _fastest(side: Sequence[Measured]) -> Measured:
    """The fastest row of a side, sorted by speed, with the blocks of the row that is the fastest in the other
    half of them (:func:`harness.results.ratio.chosen_on_the_other_half`).
    """
    best = dict(side[0])
    count = len(best["queue_blocks"])
    rivals = [row for row in side if (row["in_parts"], len(row["queue_blocks"])) == (best["in_parts"], count)]
    chosen = ratio.chosen_on_the_other_half([row["queue_blocks"] for row in rivals])
    for blocks in ("queue_blocks", "launch_blocks"):
        if all(len(row[blocks]) == count for row in rivals):
            best[blocks] = tuple(rivals[at][blocks][block] for block, at in enumerate(chosen))
    best["queue"] = ratio.Side(best["queue_blocks"]).seconds
    return best


def side_of(row: Measured) -> Side:
    """What a row brings into a ratio of queue times."""
    return Side(row["queue_blocks"], row["queue_error"], scatter=row["queue_scatter"])


def more_contexts(found: Ratio, left: Side, right: Side, band: float) -> float:
    """About how many more contexts of each side would decide the ratio of both
    (:func:`harness.results.ratio.more_to_decide`); infinite where a side of an ambiguous one has a single
    context: its interval does not tell what differs from context to context, which alone more of them narrow.
    """
    contexts = min(len(left.blocks), len(right.blocks))
    if found.verdict == "ambiguous" and contexts < 2:
        return math.inf
    return ratio.more_to_decide(found, contexts, band)


def _pair(first: Measured, second: Measured, pairing: str, band: float) -> Pair:
    left, right = side_of(first), side_of(second)
    gross = ratio.compare(left, right, band, paired=True)
    net = _net_ratio(first, second)
    more = more_contexts(gross, left, right, band)
    return Pair(
        physical=first["physical"],
        device_name=first["device_name"],
        kind=first["kind"],
        op=first["op"],
        type=first["type"],
        size=first["size"],
        elements=int(first["elements"]),
        problem=first["problem"],
        cache=first["cache"],
        pairing=pairing,
        first_backend=first["backend"],
        first_variant=first["variant"],
        first_queue=first["queue"],
        second_backend=second["backend"],
        second_variant=second["variant"],
        second_queue=second["queue"],
        gross=gross.value,
        low=gross.interval.low,
        high=gross.interval.high,
        verdict=gross.verdict,
        net=net.value,
        net_low=net.interval.low,
        net_high=net.interval.high,
        marks=_marks(first, second),
        contexts=min(len(left.blocks), len(right.blocks)),
        more=more,
        more_seconds=more * float(first["context_seconds"] + second["context_seconds"]),
    )


def _net_ratio(first: Measured, second: Measured) -> Ratio:
    rows = (first, second)
    if not all(row["net"] >= LEAST_WORK * row["queue"] for row in rows):
        return Ratio(math.nan, UNKNOWN, "ambiguous")
    # The same mean cost of launching is in both clocks: its error is that of their difference.
    left, right = (
        Side(row["queue_blocks"], row["queue_error"] - row["launch_error"], row["launch_blocks"])
        for row in rows
    )
    return ratio.compare(left, right, paired=True)


def _marks(first: Measured, second: Measured) -> str:
    marks = [f"{row['backend']}: {row['note']}" for row in (first, second) if row["note"]]
    marks += [
        f"{row['backend']}, launch: {row['launch_note']}" for row in (first, second) if row["launch_note"]
    ]
    marks += [f"{row['backend']}: above the measured limit" for row in (first, second) if row["above_limit"]]
    marks += differences(first, second)
    marks += [
        f"{row['backend']}: clocks disagree: {row['disagreement']}"
        for row in (first, second)
        if row["disagreement"]
    ]
    return "; ".join(marks)


def verdict_counts(pairs: pd.DataFrame) -> tuple[tuple[str, int], ...]:
    """How many pairs have each verdict, in the order of VERDICTS, without those that no pair has."""
    counts = pairs["verdict"].value_counts()
    return tuple((name, int(counts[name])) for name in VERDICTS if name in counts)


def _summary(kind: str, cache: str, pairs: pd.DataFrame) -> Summary:
    more = pairs["more"][pairs["more"].between(1, MOST_MORE)]
    with_net = pairs[pairs["net"].notna()]
    return Summary(
        kind=kind,
        cache=cache,
        gross=geometric_mean(pairs["gross"]),
        lowest=float(pairs["gross"].min()),
        highest=float(pairs["gross"].max()),
        count=len(pairs),
        net=geometric_mean(with_net["net"]) if len(with_net) else None,
        net_count=len(with_net),
        gross_of_net=geometric_mean(with_net["gross"]) if len(with_net) else math.nan,
        marked=int((pairs["marks"] != "").sum()),
        verdicts=verdict_counts(pairs),
        by_size=tuple(
            (size, geometric_mean(pairs[pairs["size"] == size]["gross"])) for size in ordered_sizes(pairs)
        ),
        decidable=len(more),
        more=int(more.max()) if len(more) else 0,
    )


def pair_of(first: Measured, second: Measured, band: float = BAND) -> Pair:
    """The ratio of two measured rows of one run, whatever their variants: as every other pair."""
    return _pair(first, second, IDENTICAL, band)


def fastest_of(rows: pd.DataFrame) -> pd.Series[Any]:
    """The fastest of some measured rows of one problem, as the sides of every other pair are chosen."""
    return pd.Series(dict(_fastest([row for _, row in by_speed(rows).iterrows()])))

"""What the run says, in words and a few figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from harness.results.statistics import geometric_mean
from reports import format as write
from reports.controls import Control
from reports.dataset import by_speed, measured
from reports.ratios import PORTABLE, Comparison, Summary, verdict_counts
from reports.shares import TOLERATED_EXCESS

KINDS = {
    "reduction": "reductions",
    "laplace": "Laplace filters",
    "bandwidth": "bandwidth kernels",
    "empty": "empty kernels",
}
"""The kinds of problem in the plural."""

_EXCESS = f"{write.percent(TOLERATED_EXCESS)}\u00a0%"
_TIMES = 1.5
"""A difference from here on is told as a multiple."""
_FINDINGS = 3
_LIMITS = {"reduction": "read", "laplace": "copy"}


@dataclass(frozen=True, slots=True)
class Headline:
    """What one physical device showed. ``answer``: the verdict, in a sentence; ``findings`` the first three
    of those that follow (four where portable kernels were measured), ``rest`` the others. ``above``: what to
    know before it (:func:`troubles`). ``caveat``: what the answer rests on where that is little, empty
    elsewhere. ``physical``: its address.
    """

    device: str
    physical: str
    above: tuple[str, ...]
    answer: str
    caveat: str
    findings: tuple[str, ...]
    rest: tuple[str, ...]


def headlines(
    table: pd.DataFrame, found: Sequence[Comparison], controls: Sequence[Control] = ()
) -> list[Headline]:
    """One headline a physical device with measured cases, in the order of measurement. None of a device on
    which the reference alone was measured, where another has what is compared.

    ``controls``: those of the run (:func:`reports.controls.controls_of`).
    """
    groups = measured(table).groupby("physical", sort=False)
    of = {str(physical): [each for each in found if each.physical == physical] for physical, _ in groups}
    return [
        _headline(table[table["physical"] == physical], rows, of[str(physical)], controls)
        for physical, rows in groups
        if of[str(physical)] or not found or set(rows["role"]) != {"reference"}
    ]


def _headline(
    asked: pd.DataFrame, rows: pd.DataFrame, found: Sequence[Comparison], controls: Sequence[Control]
) -> Headline:
    """Of a device, of which all this was ``asked``, and ``rows`` can be compared."""
    above = tuple(troubles(asked, controls))
    name, physical = (str(rows[key].iloc[0]) for key in ("device_name", "physical"))
    device = name if name == physical else f"{name} ({physical})"
    shares = list(_shares(rows))
    if not found:
        backends = rows["backend"].drop_duplicates()
        alone = "alone was" if len(backends) == 1 else "alone were"
        answer = f"Nothing to compare: {_listed(backends)} {alone} measured here."
        return Headline(device, physical, above, answer, "", (), (*shares, *_warnings(rows)))
    # OpenCL against CUDA comes first where both are there, and then the others are the small print.
    main, *others = found
    # Who reads that OpenCL is as fast as CUDA asks next whether portable OpenCL is.
    portable = [each for each in others if each.first == PORTABLE]
    others = [each for each in others if each.first != PORTABLE]
    first = [*map(_sentence, (main, *portable)), *_extreme(main), *shares]
    count = _FINDINGS + len(portable)
    rest = [*first[count:], *map(_sentence, others), *_marked(main), *_warnings(rows)]
    findings = tuple(first[:count])
    caveat = _caveat(rows)
    answer = verdict_sentence(main, "In one context: " if caveat else "")
    return Headline(device, physical, above, answer, caveat, findings, tuple(rest))


def verdict_sentence(comparison: Comparison, within: str = "") -> str:
    """What the verdicts on all pairs say, the most frequent first and what is undecided last; before that,
    ``within`` what they hold.
    """
    pairs = comparison.fastest
    counts = verdict_counts(pairs)
    # What is undecided comes last, unless it is the most.
    decided = sum(count for name, count in counts if name != "ambiguous")
    in_order = sorted(counts, key=lambda each: (each[0] == "ambiguous" and each[1] <= decided, -each[1]))
    parts = [
        _verdict(comparison, name, pairs[pairs["verdict"] == name], f" of {_cases(len(pairs))}" * (not place))
        for place, (name, _) in enumerate(in_order)
    ]
    told = "; ".join(parts)
    if comparison.second == "CUDA":
        told = within + told
        return f"{told[0].upper()}{told[1:]}."
    absent = "CUDA" if comparison.first.endswith("OpenCL") else "OpenCL"
    return (
        f"{absent} has no result on this device, so this is not OpenCL against CUDA. "
        f"Beside {comparison.against}: {within.lower()}{told}."
    )


def _verdict(comparison: Comparison, name: str, pairs: pd.DataFrame, of: str) -> str:
    if name == "ambiguous":
        return f"{len(pairs)}{of} undecided at {comparison.band * 100:g}\u00a0%"
    if name == "same":
        return f"no difference found in {len(pairs)}{of}"
    most = float(pairs["gross"].max() if name == "faster" else (1 / pairs["gross"]).max())
    by = f"by up to {write.percent(most - 1)}\u00a0%"
    if most >= _TIMES:
        by = f"up to {write.ratio(most)} times as {'fast' if name == 'faster' else 'slow'}"
    return f"{comparison.first} is {name} in {len(pairs)}{of}, {by}"


def _extreme(comparison: Comparison) -> Iterator[str]:
    """The pair that is farthest from 1, where that is a difference."""
    pairs = comparison.fastest
    pairs = pairs[pairs["verdict"].isin(["faster", "slower"])]
    if len(pairs):
        row = max(pairs.to_dict("records"), key=lambda pair: abs(math.log(pair["gross"])))
        interval = write.interval(row["low"], row["high"])
        where = f"{row['problem']}, {row['cache']}"
        yield f"The largest difference is {write.ratio(row['gross'])}x ({interval}) in {where}."


def troubles(table: pd.DataFrame, controls: Sequence[Control] = ()) -> Iterator[str]:
    """What to say before all else: that results were wrong or cases failed, are faster than their limit, or
    that a control came out as a difference.

    table: all records, of whatever status. controls: those of the run; of the devices in the table they are
    told.
    """
    told = [
        f"{_cases(count)} {did}"
        for status, did in (("wrong", "gave a wrong result"), ("failed", "failed"))
        if (count := int((table["status"] == status).sum()))
    ]
    if told:
        yield f"{_listed(told)}: what is told here is of the others."
    if above := int(measured(table)["above_limit"].sum()):
        yield (
            f"{_cases(above)} above the measured limit by more than {_EXCESS}: there a time or the limit "
            "itself is wrong. `harness limits` measures all candidates for the limits anew, and has the next "
            "run do so; [limits.gpu] or [limits.cpu] in a suite widens the sweep."
        )
    devices = set(table["device"])
    for control in controls:
        if control.failed and (device := write.plain(control.record.case.device_key)) in devices:
            found = control.found
            interval = write.interval(found.interval.low, found.interval.high)
            yield (
                f"A control of {device} failed ({control.what}): the same, measured twice, differs: "
                f"{write.ratio(found.value)}x ({interval}), {control.verdict}. So differences of "
                f"{control.record.case.backend} as small as this may be errors of the run."
            )


def _sentence(comparison: Comparison) -> str:
    """Speeds of the first side as multiples of the second's."""
    parts = []
    for summary in comparison.summaries():
        parts.append(
            f"{write.ratio(summary.gross)}x in {_what(summary)} ({_net(summary)}{_counted(summary)})"
        )
    return f"{comparison.first}'s speed over that of {comparison.against}: {_listed(parts)}."


def _net(summary: Summary) -> str:
    """The mean of the net ratios; where not all cases have one, that of the gross ones of the same beside it,
    as it is of others than the mean of all.
    """
    if summary.net is None:
        return ""
    net = f"{write.ratio(summary.net)}x net of launch"
    if summary.net_count == summary.count:
        return f"{net}, "
    same = f"{write.ratio(summary.gross_of_net)}x with it"
    return f"{net} against {same} in the {summary.net_count} where launching is at most half; "


def _counted(summary: Summary) -> str:
    """The verdicts on the first side in words: "3 cases: 3 ambiguous; 9 more contexts would decide 1"."""
    counts = ", ".join(f"{count} {name}" for name, count in summary.verdicts)
    if summary.decidable:
        counts += f"; {summary.more} more contexts would decide {summary.decidable}"
    return f"{_cases(summary.count)}: {counts}"


def _what(summary: Summary) -> str:
    return f"{summary.cache} {KINDS.get(summary.kind, summary.kind)}"


def _shares(rows: pd.DataFrame) -> Iterator[str]:
    """How far each backend is from the measured limit, at the largest size of a kind and cache state."""
    known = rows[rows["share"].notna()]
    for (kind, cache), group in known.groupby(["kind", "cache"], sort=False):
        largest = group[group["elements"] == group["elements"].max()]
        best = by_speed(largest).drop_duplicates(["backend", "problem"])
        ends = ["share", "share_low", "share_high"]
        means = best.groupby("backend")[ends].agg(_mean).assign(count=best.groupby("backend").size())
        most = int(means["count"].max())
        in_order = means.sort_values("share", ascending=False)
        parts = [f"{mean.Index} {_share(mean, most)}" for mean in in_order.itertuples()]
        near = "" if largest["limit_exact"].all() else " (some against the limit of the nearest size)"
        size = largest["size"].iloc[0]
        yield (
            f"Share of the measured {_LIMITS[str(kind)]} limit, {cache} {KINDS[str(kind)]} of {size}: "
            f"{_listed(parts)}{near}."
        )


def _mean(shares: pd.Series[float]) -> float:
    """The geometric mean; of the ends of intervals it is an end for the mean, and a cautious one, as what one
    limit is off by is the same in all its cases. NaN where one is not known.
    """
    return math.nan if shares.isna().any() else geometric_mean(shares)


def _share(mean: Any, problems: int) -> str:
    """A backend's mean share in per cent, with its interval, and of how many of so many problems it is where
    not of all: others may be nearer to the limit there.
    """
    ends = f"{write.percent(mean.share_low)} to {write.percent(mean.share_high)}"
    told = [ends] * (not math.isnan(mean.share_low))
    told += [f"{mean.count} of {problems} problems"] * (mean.count < problems)
    return f"{write.percent(mean.share)}\u00a0%" + (f" ({'; '.join(told)})" if told else "")


def _marked(comparison: Comparison) -> Iterator[str]:
    marked = sum(summary.marked for summary in comparison.summaries())
    if marked:
        total = len(comparison.fastest)
        yield f"{marked} of {total} ratios carry a note (†), such as a host-bound side: read them with it."


def _caveat(rows: pd.DataFrame) -> str:
    """That a GPU's times differ from context to context, where all that is compared had one."""
    if rows["physical"].iloc[0] == "cpu" or rows["queue_blocks"].map(len).max() > 1:
        return ""
    return (
        "All cases had one context of the device, and no interval holds what another would have drawn: "
        "ratios within some percent of 1 may be luck (--processes, --contexts, or a longer --budget)."
    )


def _warnings(rows: pd.DataFrame) -> Iterator[str]:
    contradicting = int((rows["disagreement"] != "").sum())
    if contradicting:
        yield f"In {_cases(contradicting)} clocks contradict each other beyond their bias (‡ in the records)."


def _cases(count: int) -> str:
    return f"{count} case" if count == 1 else f"{count} cases"


def _listed(parts: Sequence[str] | pd.Series[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else str(last)

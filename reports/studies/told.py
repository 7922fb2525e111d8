"""What a figure says in one sentence: what held then, and what holds here, in the verdicts' words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness.results.ratio import VERDICTS, Interval, verdict
from harness.results.statistics import geometric_mean
from reports import format as write
from reports.ratios import Pair
from reports.studies.model import Against

LOST = "then no number was printed that has come down to us"


@dataclass(frozen=True, slots=True)
class Compared:
    """One ratio of a figure: at which device, whose speed over whose (``OpenCL``), and the pair itself."""

    place: str
    who: str
    pair: Pair


def sentence(text: str, then: str, found: Iterable[Compared], extra: Sequence[tuple[str, str]] = ()) -> str:
    """What held then and what holds here, device by device.

    Args:
        text: what is compared.
        then: what held then; may be empty.
        found: the ratios, in the order in which they are told.
        extra: what else is told of a device: its name, and the clause.
    """
    clauses: dict[str, list[str]] = {}
    for place, clause in extra:
        clauses.setdefault(place, []).append(clause)
    by_place: dict[str, dict[str, list[Pair]]] = {}
    for each in found:
        by_place.setdefault(each.place, {}).setdefault(each.who, []).append(each.pair)
    for place, of_place in by_place.items():
        clauses.setdefault(place, []).extend(f"{who} {counted(pairs)}" for who, pairs in of_place.items())
    here = [f"here on {place}: {'; '.join(told)}" for place, told in clauses.items()]
    return f"{text[0].upper()}{text[1:]}: {'; '.join(filter(None, (then, *here)))}."


def counted(pairs: Sequence[Pair]) -> str:
    """The verdicts of some ratios and their range: ``faster in 9, ambiguous in 2 of 11 (1.02x to 5.31x)``."""
    if len(pairs) == 1:
        (pair,) = pairs
        between = write.interval(pair.low, pair.high)
        return f"{pair.verdict} ({write.ratio(pair.gross)}x, interval {between})"
    values = [pair.gross for pair in pairs if pair.gross > 0]
    return f"{_verdicts(Counter(pair.verdict for pair in pairs))}{_range(values)}"


def _verdicts(counts: Counter[str]) -> str:
    whole = counts.total()
    there = [name for name in VERDICTS if counts[name]]
    if len(there) == 1:
        return f"{there[0]} in all {whole}" if whole > 1 else there[0]
    listed = ", ".join(f"{name} in {counts[name]}" for name in there)
    return f"{listed} of {whole}"


def _range(values: Sequence[float]) -> str:
    if not values:
        return ""
    low, high = write.ratio(min(values)), write.ratio(max(values))
    if low == high:
        return f" ({low}x)"
    return f" ({low}x to {high}x, mean {write.ratio(geometric_mean(values))}x)"


def then_of(against: Against, band: float) -> str:
    """What was published of what is compared: the verdicts that the numbers as they stand would have."""
    published = against.then()
    told = []
    for device, group in groupby(published, key=lambda each: each.device):
        them = list(group)
        verdicts = Counter[str](verdict(Interval(each.low, each.high), band) for each in them)
        low, high = write.ratio(min(each.low for each in them)), write.ratio(max(each.high for each in them))
        of = f", {them[0].of}" if len(them) == 1 else ""
        told.append(f"{_verdicts(verdicts)} ({low}x{'' if low == high else f' to {high}x'}, {device}{of})")
    return f"then {' and '.join(told)}" if told else LOST

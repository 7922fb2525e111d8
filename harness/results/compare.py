"""Two runs of the same cases: which became faster or slower, and whether the runs may be compared at all."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.results import ratio
from harness.results.comparable import Difference, environment_differences
from harness.results.launch_correction import Corrected, Launches
from harness.results.ratio import (
    BAND,
    VERDICTS,
    Interval,
    Side,
    Verdict,
    check_band,
)
from harness.results.record import Case, Record
from harness.results.runfile import Run
from harness.results.statistics import CONFIDENCE
from harness.variants.axes import label


@dataclass(frozen=True, slots=True)
class Matched:
    """A case that both runs measured: queue times in seconds, and the speed of B over that of A.

    Above 1 B is faster. ``notes``: what makes it less than a plain comparison, such as another kernel source.
    """

    case: Case
    a: float
    b: float
    ratio: float
    interval: Interval
    verdict: Verdict
    notes: str


@dataclass(frozen=True, slots=True)
class Alone:
    """A case that one run measured and the other did not, and what the other says of it."""

    case: Case
    why: str


@dataclass(frozen=True)
class RunComparison:
    """What :func:`compare` found."""

    differences: Sequence[Difference]
    matched: Sequence[Matched]
    only_a: Sequence[Alone]
    only_b: Sequence[Alone]
    band: float
    confidence: float = CONFIDENCE

    @property
    def counts(self) -> dict[str, int]:
        """How many cases have each verdict, in the order of VERDICTS, and how many only A measured: lost."""
        found = [pair.verdict for pair in self.matched]
        return {**{name: found.count(name) for name in VERDICTS}, "lost": len(self.only_a)}

    def to_json(self) -> dict[str, Any]:
        """Plain data; seconds, null for what is unknown."""
        return {
            "ratio": "speed of B over speed of A: above 1 B is faster",
            "band": self.band,
            "confidence": self.confidence,
            "counts": self.counts,
            "differences": [
                {"what": d.what, "a": d.a, "b": d.b, "matters": d.matters} for d in self.differences
            ],
            "cases": [_matched_json(pair) for pair in self.matched],
            "only_a": [{"case": alone.case.to_json(), "b": alone.why} for alone in self.only_a],
            "only_b": [{"case": alone.case.to_json(), "a": alone.why} for alone in self.only_b],
        }


def _matched_json(pair: Matched) -> dict[str, Any]:
    return {
        "case": pair.case.to_json(),
        "label": f"{pair.case.problem.label} {label(pair.case.variant)}".strip(),
        "a_seconds": pair.a,
        "b_seconds": pair.b,
        "ratio": pair.ratio if math.isfinite(pair.ratio) else None,
        "interval": [pair.interval.low, pair.interval.high] if pair.interval.known else None,
        "verdict": pair.verdict,
        "notes": pair.notes,
    }


def compare(a: Run, b: Run, band: float = BAND) -> RunComparison:
    """Matches the cases of two runs (problem, backend, device, variant, cache state) by the queue clock.

    Raises:
        ValueError: if no case was measured in both, or the band is none.
    """
    check_band(band)
    records_a, records_b = _by_case(a), _by_case(b)
    measured_a, measured_b = _measured(a, records_a), _measured(b, records_b)
    both = [case for case in measured_a if case in measured_b]
    return RunComparison(
        differences=_differences(a, b, both),
        matched=[_matched(*measured_a[case], *measured_b[case], band) for case in both],
        only_a=_only(measured_a, measured_b, records_b),
        only_b=_only(measured_b, measured_a, records_a),
        band=band,
    )


def machine_differences(a: Run, b: Run) -> list[Difference]:
    """What differs between the machines of two runs, as far as it concerns the cases that both measured.

    Raises:
        ValueError: if no case was measured in both.
    """
    measured_a, measured_b = (_measured(run, _by_case(run)) for run in (a, b))
    return _differences(a, b, [case for case in measured_a if case in measured_b])


def _differences(a: Run, b: Run, both: Sequence[Case]) -> list[Difference]:
    if not both:
        raise ValueError(
            f"{_named(a)} and {_named(b)} have no measured case in common; "
            "give two runs of one suite on the same backends and device numbers"
        )
    return list(environment_differences(a.environment, b.environment, both))


def _named(run: Run) -> str:
    return str(run.path or "a run without a file")


def _by_case(run: Run) -> dict[Case, Record]:
    """The records by case: of a case measured again the last one. Controls are nobody's result."""
    return {record.case: record for record in run.records if record.case.role in ("compare", "limit")}


def _measured(run: Run, by_case: Mapping[Case, Record]) -> dict[Case, tuple[Record, Corrected]]:
    """The verified cases with a queue time: their records, and the samples of that clock."""
    launches = Launches(run.records)
    sides = {
        case: launches.corrected(case.device_key, record.clocks.get("queue"))
        for case, record in by_case.items()
        if record.status == "ok"
    }
    return {case: (by_case[case], side) for case, side in sides.items() if side.blocks}


def _matched(a: Record, side_a: Corrected, b: Record, side_b: Corrected, band: float) -> Matched:
    of_a, of_b = (Side(each.blocks, each.error, scatter=each.scatter) for each in (side_a, side_b))
    # The speed of B over A: B is the first side, whose speed the verdict is on.
    found = ratio.compare(of_b, of_a, band)
    return Matched(
        case=a.case,
        a=of_a.seconds,
        b=of_b.seconds,
        ratio=found.value,
        interval=found.interval,
        verdict=found.verdict,
        notes="; ".join(_notes(a, b)),
    )


def _notes(a: Record, b: Record) -> Iterator[str]:
    for name, record in (("A", a), ("B", b)):
        if note := record.clocks["queue"].note:
            yield f"{name}: {note}"
    for key, what in (("source_hash", "kernel source"), ("result_location", "place of the result")):
        of_a, of_b = a.provenance.get(key), b.provenance.get(key)
        if of_a is not None and of_b is not None and of_a != of_b:
            yield f"another {what}"


def _only(mine: Iterable[Case], others: Container[Case], records: Mapping[Case, Record]) -> list[Alone]:
    """What one run measured and the other did not. A limit that the other did not even try is not missing:
    of those of a run before only the fastest few are measured again.
    """
    tried = (case for case in mine if case.role != "limit" or case in records)
    return [_alone(case, records) for case in tried if case not in others]


def _alone(case: Case, other: Mapping[Case, Record]) -> Alone:
    record = other.get(case)
    if record is None:
        return Alone(case, "not in this run")
    if record.status == "ok":
        return Alone(case, "no queue time")
    return Alone(case, f"{record.status}: {record.reason}" if record.reason else record.status)

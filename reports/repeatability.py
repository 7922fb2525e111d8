"""Do two runs of one suite tell the same? The verdicts on each side against another in both, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from harness.results.ratio import BAND, Interval, check_band
from harness.results.runfile import Run
from reports.dataset import frame
from reports.ratios import Comparison, comparisons

LEAST_EQUAL = 0.95
"""The share of equal verdicts below which a suite is too short for its machine: intervals of 95 % err as
often."""


class Told(NamedTuple):
    """What one run tells of a pair: the ratio of speeds, its interval and the verdict on the first side."""

    ratio: float
    interval: Interval
    verdict: str

    @classmethod
    def of(cls, pair: Any) -> Self:
        """Of one of :func:`pairs_of`."""
        return cls(pair.gross, Interval(pair.low, pair.high), pair.verdict)

    def to_json(self) -> dict[str, Any]:
        """Plain data; null for what is unknown."""
        return {
            "ratio": self.ratio if math.isfinite(self.ratio) else None,
            "interval": [self.interval.low, self.interval.high] if self.interval.known else None,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class Twice:
    """A problem in one cache state, of whose two sides both runs tell."""

    kind: str
    problem: str
    cache: str
    a: Told
    b: Told

    @property
    def equal(self) -> bool:
        """Whether both runs give the same verdict."""
        return self.a.verdict == self.b.verdict

    @property
    def contradicts(self) -> bool:
        """Whether they give two that cannot both be true: neither is ambiguous."""
        return not self.equal and "ambiguous" not in (self.a.verdict, self.b.verdict)


@dataclass(frozen=True)
class Repeated:
    """Two sides on one device in two runs. ``pairs`` is never empty."""

    device: str
    first: str
    second: str
    pairs: Sequence[Twice]

    @property
    def equal(self) -> int:
        """How many verdicts are equal."""
        return sum(pair.equal for pair in self.pairs)

    @property
    def share(self) -> float:
        """The equal ones as a share of all."""
        return self.equal / len(self.pairs)

    @property
    def contradicting(self) -> int:
        """How many contradict each other."""
        return sum(pair.contradicts for pair in self.pairs)

    @property
    def passed(self) -> bool:
        """Whether enough verdicts are equal."""
        return self.share >= LEAST_EQUAL

    def to_json(self) -> dict[str, Any]:
        """Plain data; null for what is unknown."""
        return {
            "device": self.device,
            "ratio": f"speed of {self.first} over speed of {self.second}",
            "verdicts": len(self.pairs),
            "equal": self.equal,
            "contradicting": self.contradicting,
            "passed": self.passed,
            "pairs": [
                {
                    "kind": pair.kind,
                    "problem": pair.problem,
                    "cache": pair.cache,
                    "a": pair.a.to_json(),
                    "b": pair.b.to_json(),
                    "equal": pair.equal,
                }
                for pair in self.pairs
            ],
        }


def repeated(a: Run, b: Run, band: float = BAND) -> list[Repeated]:
    """The verdicts that both runs give: of the fastest variant of each side, OpenCL against CUDA first.

    Devices are matched by address and name; where another start of the machine gave them other addresses, by
    name and the order in which they were measured; what is left by the order alone. Whether they are the same
    kind is :func:`harness.results.comparable.environment_differences`'s.

    Raises:
        ValueError: if both runs have no pair in common, or the band is none.
    """
    check_band(band)
    of_a, of_b = (comparisons(frame(run), band) for run in (a, b))
    same = _same_devices(*({each.physical: each.device_name for each in found} for found in (of_a, of_b)))
    told_b = {(each.physical, each.first, each.second): each for each in of_b}
    found = [
        Repeated(one.device_name, one.first, one.second, pairs)
        for one in of_a
        if (other := told_b.get((same.get(one.physical, ""), one.first, one.second)))
        and (pairs := list(_pairs(one, other)))
    ]
    if not found:
        raise ValueError(
            "the two runs have no ratio in common; give two runs of one suite on two backends of one device"
        )
    return found


def _same_devices(a: Mapping[str, str], b: Mapping[str, str]) -> dict[str, str]:
    """The address in the second run of each device of the first; both are names by addresses, in order."""
    tests: tuple[Callable[[str, str], bool], ...] = (
        lambda one, other: one == other and a[one] == b[other],
        lambda one, other: a[one] == b[other],
        lambda *_: True,
    )
    same: dict[str, str] = {}
    for is_same in tests:
        for one in [each for each in a if each not in same]:
            left = (other for other in b if other not in same.values() and is_same(one, other))
            if (other := next(left, None)) is not None:
                same[one] = other
    return same


def _pairs(a: Comparison, b: Comparison) -> Iterator[Twice]:
    told_b = {(row.problem, row.cache): row for row in pairs_of(b)}
    for row in pairs_of(a):
        other = told_b.get((row.problem, row.cache))
        if other is not None:
            yield Twice(row.kind, row.problem, row.cache, Told.of(row), Told.of(other))


def pairs_of(comparison: Comparison) -> Iterator[Any]:
    """The columns of :class:`reports.ratios.Pair`, row by row."""
    yield from comparison.fastest.itertuples(index=False)

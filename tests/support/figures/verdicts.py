"""What is said of the main run, of both starts, of verdicts, controls and clocks."""

from __future__ import annotations

import re
from functools import cache

from harness.results.compare import compare
from reports.controls import control_table
from reports.ratios import BEST_LIBRARY as BEST
from reports.ratios import comparisons
from reports.repeatability import Repeated, repeated
from tests.support.figures import ISSUES, MAIN, RESULTS, STARTS, Figure
from tests.support.recorded import (
    FOLDER,
    OWN,
    contexts,
    empty_us,
    ends,
    medians,
    ratios,
    run_of,
    table,
    where,
)


@cache
def again(other: str, band: float | None = None) -> Repeated:
    """The first start and another run of its suite."""
    (found,) = repeated(run_of(STARTS[0]), run_of(other), *([band] if band else []))
    return found


def equal_verdicts() -> tuple[float, ...]:
    """Of the other start: equal ones, all, their share in per cent, those by a wider band."""
    found = again(STARTS[1])
    assert not found.contradicting
    return found.equal, len(found.pairs), 100 * found.share, again(STARTS[1], 0.03).equal


def by_kind() -> tuple[int, ...]:
    """Equal verdicts of the reductions, all reductions, filters, whose verdicts are all equal."""
    pairs = again(STARTS[1]).pairs
    reductions, filters = (
        [pair.equal for pair in pairs if pair.kind == kind] for kind in ("reduction", "laplace")
    )
    assert all(filters)
    return sum(reductions), len(reductions), len(filters)


def compared() -> tuple[int, ...]:
    """Cases of both starts, those that are the same, those of which that is not known."""
    counts = compare(run_of(STARTS[0]), run_of(STARTS[1])).counts
    return sum(counts.values()), counts["same"], counts["ambiguous"]


def controls() -> tuple[str, ...]:
    """A case against itself: the ratio of both sides, and the interval of each."""
    lines = [[cell.text for cell in line.cells] for line in control_table(run_of(MAIN)).lines]
    opencl, cuda = (line for line in lines if line[0].startswith("A/A") and line[1].startswith(tuple(OWN)))
    assert opencl[5] == cuda[5]
    return opencl[5], opencl[6], cuda[6]


def undecided() -> tuple[int]:
    """The ambiguous cases of the main run, none of which fewer than 200 more contexts would decide."""
    more = where(ratios(MAIN), first_backend="opencl", verdict="ambiguous")["more"]
    assert more.min() >= 200
    return (len(more),)


def ahead() -> tuple[int]:
    """Cases of the main run, in each of which each API is faster than the best library."""
    found = [
        each.fastest["verdict"].value_counts() for each in comparisons(table(MAIN)) if BEST in each.second
    ]
    assert len(found) == 2
    assert all(set(counts.index) == {"faster"} for counts in found)
    assert found[0]["faster"] == found[1]["faster"]
    return (int(found[0]["faster"]),)


def contradicting() -> list[str]:
    """The type and size of the sum of CuPy's, alone in the main run, whose clocks contradict each other."""
    (row,) = where(table(MAIN), not_disagreement="").to_dict("records")
    assert (row["backend"], row["op"]) == ("cupy", "sum")
    return [row["type"], row["size"]]


def empties() -> tuple[float, ...]:
    """An empty kernel: in how many contexts, least, greatest and mean of their medians."""
    sides = [medians(STARTS[0], side, "empty 264 groups of 256") for side in OWN]
    assert len(sides[0]) == len(sides[1])
    assert len({f"{sum(side) / len(side):.2f}" for side in sides}) == 1
    return len(sides[0]), *ends(sides[0] + sides[1]), sum(sides[0]) / len(sides[0])


def launching() -> tuple[float, ...]:
    """An empty kernel without an event, with one and with profiling, for each side."""
    events = [f"in_order events {kind}" for kind in ("off", "on", "profiled")]
    return tuple(empty_us("h200-launch", side, variant) for side in OWN for variant in events)


def behind_a_user_event() -> tuple[float, float]:
    """The ends of what an empty kernel takes in OpenCL."""
    rows = where(table("h200-launch-user-event"), op="empty 264 groups of 256", backend="opencl")
    return ends(1e6 * rows[rows["variant"].str.endswith("events off")]["queue"])


def selftested() -> tuple[int, ...]:
    """Comparisons of each device with itself, none of them false: all, same, ambiguous."""
    text = (FOLDER / "h200-selftest.txt").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\w+:0: (\d+) comparisons: (\d+) same, (\d+) ambiguous, 0 faster, 0 slower", text, re.M
    )
    return tuple(sum(int(row[place]) for row in rows) for place in range(3))


SENTENCES: list[Figure] = [
    ("README.md", "{} of {} did.", lambda: (equal_verdicts()[1] - equal_verdicts()[0], equal_verdicts()[1])),
    (
        RESULTS,
        "the queue clock in {} to {} fresh contexts of the device, an empty kernel in {},",
        lambda: contexts(MAIN),
    ),
    (
        RESULTS,
        "The {} *ambiguous* cases lie at an edge of the band: none would be decided by fewer than 200 "
        "contexts more",
        undecided,
    ),
    (RESULTS, "gives {}, with intervals of {} in OpenCL and {} in CUDA.", controls),
    (RESULTS, "{} to {} contexts, {} of the empty kernel)", lambda: contexts(STARTS[1])),
    (RESULTS, "finds {} of the {} verdicts equal ({:.0f} %; {} by a band of 3 %)", equal_verdicts),
    (ISSUES, "In `quick` that of {} at {} alone does.", contradicting),
    (ISSUES, "in {} of {} cases (", lambda: equal_verdicts()[:2]),
    (ISSUES, "(reductions {} of {}, Laplace filters all {})", by_kind),
    (RESULTS, "of {} cases {} *same*, {} *ambiguous*, none faster or slower.", compared),
    (
        RESULTS,
        "all {} of the {} verdicts are those of the first start",
        lambda: (again("h200-quick-new-layout").equal, len(again("h200-quick-new-layout").pairs)),
    ),
    (
        RESULTS,
        "the diagonal one at 2560x2560, by {:.0f} %, in a count of float64 at 1280x1280, by {:.0f} %, and in "
        "a sum and a count of float64 at 2560x2560, whose source nearly fills the cache, by {:.0f} to {:.0f} "
        "%. OpenCL is slower in the sharpened image of uint8 at 1280x1280, by {:.0f} %.",
        lambda: [
            100 * abs(ratio - 1)
            for verdict, kind in (("faster", "laplace"), ("faster", "reduction"), ("slower", "laplace"))
            for ratio in sorted(
                where(ratios(MAIN), verdict=verdict, kind=kind, first_backend="opencl")["gross"]
            )
        ],
    ),
    (
        RESULTS,
        "Our kernels are faster than CuPy, CUB and NPP in each of the {} cases that a library has",
        ahead,
    ),
    (
        RESULTS,
        "CUDA's plain filter of uint8 at 8192x8192 was {:.0f} % slower than OpenCL's",
        lambda: [
            100 * (ratio - 1)
            for ratio in where(ratios(STARTS[0]), verdict="faster", size="8192x8192")["gross"]
        ],
    ),
    (
        RESULTS,
        "takes {:.2f} us without an event in OpenCL, {:.2f} with one, {:.2f} with profiling; in CUDA "
        "{:.2f}, {:.2f} and {:.2f}.",
        launching,
    ),
    (
        RESULTS,
        "in {} contexts of each, an empty kernel took {:.2f} to {:.2f} us; the mean is {:.2f} in both.",
        empties,
    ),
    (RESULTS, "takes {:.1f} to {:.1f} us ([run]", behind_a_user_event),
    (
        RESULTS,
        "every launch of that context took {:.2f} us where CUDA's took {:.2f} (",
        lambda: [empty_us("h200-quick-second-queue", side) for side in OWN],
    ),
    (
        RESULTS,
        "{} comparisons of five processes, OpenCL and CUDA, none false, {} *same*, {} *ambiguous*.",
        selftested,
    ),
]

ROWS: list[Figure] = [
    (RESULTS, "| {} of {}, {:.0f} % | met |", lambda: equal_verdicts()[:3]),
    (RESULTS, "| 0 of {} by processes, none by halves of contexts | met |", lambda: selftested()[:1]),
]

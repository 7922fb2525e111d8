"""What is said of the main run, of another machine's, of verdicts, controls and clocks."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from statistics import median

import pandas as pd

from harness.results.statistics import scatter_of
from harness.runner.session import self_tests_of
from reports.controls import control_table, controls_of
from reports.ratios import BEST_LIBRARY as BEST
from reports.ratios import comparisons
from reports.repeatability import Repeated
from tests.support.figures import BILLIONS, ISSUES, LIBRARIES, MAIN, RESULTS, Figure
from tests.support.recorded import (
    FOLDER,
    OWN,
    agreeing,
    contexts,
    empty_us,
    ends,
    lead,
    medians,
    ratios,
    run_of,
    table,
    where,
)
from tests.support.sequential import FROM_AN_EDGE, SCATTER, simulated

OTHER_HOST = "h200-quick-before-segments"
"""On another host, before sums of floats took segments back and forth."""
AT_ONCE = "h200-quick-beside", "h200-quick-other-gpu"
"""On two GPUs of one host at the same time, before reductions went back and forth."""
SUB_GROUPS = "h200-quick-sub-groups"
"""Former kernels, before atomics on local memory, on a third host."""


@cache
def both_others() -> tuple[Repeated, Repeated]:
    """The verdicts of two GPUs at the same time, and the main run's beside those of another host; what is not
    equal is *ambiguous* in one of both runs.
    """
    found = agreeing(*AT_ONCE), agreeing(MAIN, OTHER_HOST)
    for pair in (pair for each in found for pair in each.pairs if not pair.equal):
        assert "ambiguous" in (pair.a.verdict, pair.b.verdict)
    return found


def equal_verdicts() -> list[float]:
    """Equal ones beside either run, all, and their shares in per cent."""
    one, other = both_others()
    assert len(one.pairs) == len(other.pairs)
    return [one.equal, other.equal, len(one.pairs), 100 * one.share, 100 * other.share]


def differing() -> list[int]:
    """How many of all are not equal beside either run."""
    *equal, count = map(int, equal_verdicts()[:3])
    return [count, *(count - each for each in equal)]


def by_kind() -> list[int]:
    """Equal verdicts of the reductions beside either run, all reductions, and the same of the filters."""
    found = []
    for kind in ("reduction", "laplace"):
        of = [[pair.equal for pair in each.pairs if pair.kind == kind] for each in both_others()]
        found += [*map(sum, of), len(of[0])]
    return found


@cache
def by_halves() -> tuple[int, ...]:
    """Comparisons of halves of the contexts of `quick` on two machines, the same, the undecided; no other."""
    counts = [Counter(test.verdicts) for test in self_tests_of([run_of(MAIN), run_of(OTHER_HOST)], 200)]
    total = sum(counts, Counter())
    assert set(total) == {"same", "ambiguous"}
    return total.total(), total["same"], total["ambiguous"]


def controls() -> tuple[str, ...]:
    """A case against itself: the ratio of both sides, and the interval of each."""
    lines = [[cell.text for cell in line.cells] for line in control_table(controls_of(run_of(MAIN))).lines]
    opencl, cuda = (line for line in lines if line[0].startswith("A/A") and line[1].startswith(tuple(OWN)))
    assert opencl[5] == cuda[5]
    return opencl[5], opencl[6], cuda[6]


def undecided() -> list[float]:
    """The ambiguous cases of the main run, how many are filters, the ends of their ratios, and that of the
    reduction, a count of float64.
    """
    found = where(ratios(MAIN), first_backend="opencl", verdict="ambiguous")
    filters, reductions = (where(found, kind=kind) for kind in ("laplace", "reduction"))
    (count,) = reductions["problem"]
    assert count == "count_nonzero float64 1280x1280"
    return [len(found), len(filters), *ends(filters["gross"]), float(reductions["gross"].iloc[0])]


def leads_of_main() -> list[float]:
    """CUDA's lead over each library in the main run, in the mean and at least."""
    return [value for library in LIBRARIES for value in lead(MAIN, library)]


def apart(verdict: str, kind: str) -> list[float]:
    """The least and the greatest difference of OpenCL from CUDA with this verdict, in per cent."""
    found = where(ratios(MAIN), verdict=verdict, kind=kind, first_backend="opencl")["gross"]
    return sorted(ends(100 * (max(ratio, 1 / ratio) - 1) for ratio in found))


def slower_filters() -> list[float]:
    """The filters in which OpenCL is slower, and by how much."""
    found = where(ratios(MAIN), verdict="slower", first_backend="opencl")
    assert set(found["problem"]) == {
        "laplacian four reflect_101 uint8C1 2560x2560",
        "sharpened four reflect_101 uint8C1 2560x2560",
        "laplacian eight replicate uint8C1 2560x2560",
    }
    return [len(found), *apart("slower", "laplace")]


def ahead() -> list[int]:
    """Ratios of each API to the best library in the main run: all are *faster*."""
    found = pd.concat([each.fastest for each in comparisons(table(MAIN)) if BEST in each.second])
    assert set(found["first_backend"]) == set(OWN)
    assert set(found["verdict"]) == {"faster"}
    return [len(found)]


def contradicting() -> list[int]:
    """How many records of the main run, `jia2012`, `modern` and `libraries` have clocks that contradict each
    other; all but one of the main run are of libraries. From 268 million elements on all are of CuPy.
    """
    found = [where(table(run), not_disagreement="") for run in (MAIN, *(f"h200-{name}" for name in SUITES))]
    ours = [where(rows, not_role="library") for rows in found]
    assert [list(rows["problem"]) for rows in ours] == [["sum int8 2560x2560"], [], [], []]
    for run in BILLIONS:
        far = where(table(run), not_disagreement="")
        assert set(far["backend"]) == {"cupy"}
        assert set(far["op"]) == {"sum", "count_nonzero"}
    return [len(rows) for rows in found]


SUITES = ("jia2012", "modern", "libraries")


def empties() -> tuple[float, ...]:
    """An empty kernel: in how many contexts, the ends of their medians, and the mean of each API."""
    sides = [medians(MAIN, side, "empty 264 groups of 256") for side in OWN]
    assert len(sides[0]) == len(sides[1])
    return len(sides[0]), *ends(sides[0] + sides[1]), *(sum(side) / len(side) for side in sides)


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


def scatter(run: str) -> float:
    """How much a case's times differ from context to context, relative: the median of our cases of a run."""
    rows = where(table(run), purpose="compare", backend=OWN)
    return median(scatter_of(blocks) for blocks in rows["queue_blocks"])


def looking_again() -> list[float]:
    """Simulated verdicts that are wrong, in per cent: on an edge, 0.2 points within; and what covers."""
    found = [simulated(off) for off in FROM_AN_EDGE]
    assert FROM_AN_EDGE[:2] == (0, 0.002)
    assert round(scatter(MAIN), 3) == SCATTER
    assert not any(each.wrong for off, each in zip(FROM_AN_EDGE, found, strict=True) if off >= 0.01)
    assert found[1].covering == min(each.covering for each in found)
    return [100 * found[0].wrong, 100 * found[1].wrong, *ends(100 * each.covering for each in found)]


SENTENCES: list[Figure] = [
    (
        "docs/measurement.md",
        "up to 99 contexts, {:.0f} % of the verdicts are wrong where the true ratio lies on an edge of the "
        "band, {:.1f} % where it is 0.2 points within, and none from one point on. The interval holds the "
        "true ratio in {:.0f} to {:.0f} % of these runs",
        looking_again,
    ),
    (
        "README.md",
        "of {}, {} did on two GPUs at the same time, {} on two hosts.",
        differing,
    ),
    (
        RESULTS,
        "the queue clock in {} to {} fresh contexts of the device, an empty kernel in {},",
        lambda: contexts(MAIN),
    ),
    (
        RESULTS,
        "Of the {} *ambiguous* cases {} are filters at an edge of the band, at {:.3f} to {:.3f}; the other "
        "is a count of float64 at 1280x1280, at {:.3f}.",
        undecided,
    ),
    (RESULTS, "gives {}, with intervals of {} in OpenCL and {} in CUDA.", controls),
    (
        ISSUES,
        "In `quick` {} records have such clocks, in `jia2012` {}, in `modern` {} and in `libraries` {}",
        contradicting,
    ),
    (
        ISSUES,
        "equal in [{}](../reports/examples/h200-quick-other-gpu.jsonl.xz) and "
        "[{}](../reports/examples/h200-quick-before-segments.jsonl.xz) of {} cases",
        lambda: equal_verdicts()[:3],
    ),
    (ISSUES, "(reductions {} and {} of {}, Laplace filters {} and {} of {})", by_kind),
    (RESULTS, "slower in {} filters of bytes**, by {:.1f} to {:.1f} %:", slower_filters),
    (
        "README.md",
        "In `quick` OpenCL is slower in {} filters on the H200, by up to {:.1f} %",
        lambda: slower_filters()[::2],
    ),
    (
        RESULTS,
        "whose source nearly fills the cache, by {:.1f} to {:.1f} %.",
        lambda: apart("faster", "reduction"),
    ),
    (
        RESULTS,
        "Our kernels are faster than all of these libraries in each of the {} ratios that there are.",
        ahead,
    ),
    (
        RESULTS,
        "CUDA's are faster than CUB by {:.2f} in the geometric mean (at least {:.2f}), NPP by {:.2f} "
        "({:.2f}), CuPy by {:.2f} ({:.2f}), PyTorch by {:.2f} ({:.2f}).",
        leads_of_main,
    ),
    (
        RESULTS,
        "takes {:.2f} us without an event in OpenCL, {:.2f} with one, {:.2f} with profiling; in CUDA "
        "{:.2f}, {:.2f} and {:.2f}.",
        launching,
    ),
    (
        RESULTS,
        "in {} contexts of each, an empty kernel took {:.2f} to {:.2f} us; the mean is {:.2f} in OpenCL and "
        "{:.2f} in CUDA.",
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
    (RESULTS, "drawn at random: of {} comparisons {} are *same*, {} *ambiguous*, none false (", by_halves),
]

ROWS: list[Figure] = [
    (
        RESULTS,
        "| two machines: 95 % of the verdicts equal | two GPUs of a host at the same time {0} of {2}, "
        "{3:.0f} %; the main run beside one on another host {1}, {4:.0f} %; none contradicting |",
        equal_verdicts,
    ),
    (RESULTS, "| 0 of {} by processes, none by halves of contexts | met |", lambda: selftested()[:1]),
]

"""What is said of the main run, of another machine's, of verdicts, controls and clocks."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from statistics import median

from harness.results.statistics import scatter_of
from harness.runner.session import self_tests_of
from reports.controls import control_table
from reports.ratios import BEST_LIBRARY as BEST
from reports.ratios import comparisons
from tests.support.figures import ISSUES, LIBRARIES, MAIN, RESULTS, Figure
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

BEFORE, OTHER = "h200-quick-before", "h200-quick-other-host"
LONG = "h200-quick-long-lead"
FORMER, MACHINE = "h200-quick-former-limits", "h200-quick-other-machine"
SUB_GROUPS = "h200-quick-sub-groups"
"""The kernels before groups combined by atomics on local memory."""


def equal_verdicts() -> tuple[float, ...]:
    """Of two machines: equal ones, all, and their share in per cent."""
    found = agreeing(SUB_GROUPS, MACHINE)
    assert all("ambiguous" in (each.a.verdict, each.b.verdict) for each in found.pairs if not each.equal)
    return found.equal, len(found.pairs), 100 * found.share


def by_kind() -> tuple[int, ...]:
    """Equal verdicts of the reductions, all reductions, those of the filters, and all filters."""
    pairs = agreeing(SUB_GROUPS, MACHINE).pairs
    kinds = [[pair.equal for pair in pairs if pair.kind == kind] for kind in ("reduction", "laplace")]
    return tuple(count for equal in kinds for count in (sum(equal), len(equal)))


@cache
def by_halves() -> tuple[int, ...]:
    """Comparisons of halves of the contexts of `quick` on two machines, the same, the undecided; no other."""
    counts = [Counter(test.verdicts) for test in self_tests_of([run_of(MAIN), run_of(MACHINE)], 200)]
    total = sum(counts, Counter())
    assert set(total) == {"same", "ambiguous"}
    return total.total(), total["same"], total["ambiguous"]


def controls() -> tuple[str, ...]:
    """A case against itself: the ratio of both sides, and the interval of each."""
    lines = [[cell.text for cell in line.cells] for line in control_table(run_of(MAIN)).lines]
    opencl, cuda = (line for line in lines if line[0].startswith("A/A") and line[1].startswith(tuple(OWN)))
    assert opencl[5] == cuda[5]
    return opencl[5], opencl[6], cuda[6]


def undecided() -> list[float]:
    """The ambiguous cases of the main run, the ends of their ratios, and how many the run before had."""
    found, before = (
        where(ratios(run), first_backend="opencl", verdict="ambiguous")["gross"] for run in (MAIN, SUB_GROUPS)
    )
    return [len(found), *ends(found), len(before)]


def on_another_host() -> list[int]:
    """The most contexts on another host by a long lead, and the cases that they left undecided."""
    left = where(ratios(LONG), first_backend="opencl", verdict="ambiguous")
    return [contexts(LONG)[1], len(left)]


def both_hosts() -> tuple[int, int]:
    """The verdicts that the run before and another host agree on, and all; none contradicts another."""
    found = agreeing(SUB_GROUPS, LONG)
    return found.equal, len(found.pairs)


def on_other_machines() -> tuple[int, int]:
    """The verdicts of the run before that another machine gives, and a third; the one that the third
    contradicts is of a filter that has become faster since in CUDA.
    """
    same, former = agreeing(SUB_GROUPS, MACHINE), agreeing(SUB_GROUPS, FORMER, contradicting=1)
    (changed,) = (pair for pair in former.pairs if {pair.a.verdict, pair.b.verdict} == {"same", "slower"})
    assert changed.problem == "laplacian eight replicate uint8C1 2560x2560"
    return same.equal, former.equal


def differing() -> int:
    """The verdicts of both hosts that are not equal."""
    equal, count = both_hosts()
    return count - equal


def asked_for_together() -> list[float]:
    """Of CUDA's mask *eight* of float32: by how many per cent it was slower, its time then, and now."""
    wanted = {"problem": "laplacian eight replicate float32C1 2560x2560"}
    (ratio,) = where(ratios(OTHER), first_backend="opencl", **wanted)["gross"]
    times = [
        1e6 * where(table(run), backend="cuda", purpose="compare", **wanted)["queue"].iloc[0]
        for run in (OTHER, MAIN)
    ]
    return [100 * (ratio - 1), *times]


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
        "laplacian four reflect_101 uint8C4 1280x1280",
        "sharpened four reflect_101 uint8C4 1280x1280",
        "laplacian eight replicate uint8C1 2560x2560",
    }
    return [len(found), *apart("slower", "laplace")]


def with_four_channels(run: str) -> list[float]:
    """By how many per cent OpenCL is slower in filters of four channels that half fill the cache."""
    rows = where(ratios(run), first_backend="opencl", type="uint8C4", size="2560x2560")
    assert len(rows) == 2
    return sorted(ends(100 * (1 / rows["gross"] - 1)))


def before() -> list[float]:
    """The run before: equal cases of all; how many times as fast the plain filter is now, in each API."""
    rows = where(ratios(BEFORE), first_backend="opencl")
    plain = {"problem": "laplacian four reflect_101 uint8C1 2560x2560", "purpose": "compare"}
    times = [where(table(run), backend=OWN, **plain).set_index("backend")["queue"] for run in (BEFORE, MAIN)]
    return [len(where(rows, verdict="same")), len(rows), *(times[0] / times[1])[OWN]]


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
    """The type and size of the sum of CuPy's in the main run whose clocks contradict each other."""
    (row,) = where(table(MAIN), not_disagreement="", backend="cupy").to_dict("records")
    assert row["op"] == "sum"
    return [row["type"], row["size"]]


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


def looking_again() -> list[float]:
    """Simulated verdicts that are wrong, in per cent: on an edge, 0.2 points within; and what covers."""
    found = [simulated(off) for off in FROM_AN_EDGE]
    assert FROM_AN_EDGE[:2] == (0, 0.002)
    rows = where(table(MAIN), purpose="compare", backend=OWN)
    assert round(median(scatter_of(blocks) for blocks in rows["queue_blocks"]), 3) == SCATTER
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
        "{} of {} did on another machine.",
        lambda: (equal_verdicts()[1] - equal_verdicts()[0], equal_verdicts()[1]),
    ),
    (ISSUES, "with other numbers of contexts, {} differ, of which none contradicts", lambda: [differing()]),
    (
        RESULTS,
        "the queue clock in {} to {} fresh contexts of the device, an empty kernel in {},",
        lambda: contexts(MAIN),
    ),
    (
        RESULTS,
        "The {} *ambiguous* cases lie at the edges of the band, at {:.3f} to {:.3f}. In [the run of the "
        "kernels before](../reports/examples/h200-quick-sub-groups.jsonl.xz), on another machine, {} were",
        undecided,
    ),
    (RESULTS, "took twice as many calls, up to {} contexts left {} undecided.", on_another_host),
    (RESULTS, "`harness repeat` finds {} of the {} verdicts of both equal, and none that", both_hosts),
    (
        RESULTS,
        "samples, {} are equal, and none contradicts another; of [a "
        "third](../reports/examples/h200-quick-former-limits.jsonl.xz) {}, and one does",
        on_other_machines,
    ),
    (RESULTS, "gives {}, with intervals of {} in OpenCL and {} in CUDA.", controls),
    (ISSUES, "In `quick` that of {} at {} does.", contradicting),
    (ISSUES, "in {} of {} cases (", lambda: equal_verdicts()[:2]),
    (ISSUES, "(reductions {} of {}, Laplace filters {} of {})", by_kind),
    (RESULTS, "slower in {} filters of bytes**, by {:.1f} to {:.1f} %:", slower_filters),
    (RESULTS, "it was slower by {:.1f} to {:.1f} % (", lambda: with_four_channels(FORMER)),
    (RESULTS, "it is slower by {:.1f} to {:.1f} %.", lambda: with_four_channels(MAIN)),
    (
        "README.md",
        "OpenCL is slower in {} filters of `quick` on the H200, by up to {:.1f} %",
        lambda: slower_filters()[::2],
    ),
    (
        RESULTS,
        "it was slower by {:.0f} % ([on the other host](../reports/examples/h200-quick-other-host.jsonl.xz)),"
        " as ptxas asked for some rows late: it took {:.1f} us there, and takes {:.1f} since",
        asked_for_together,
    ),
    (
        RESULTS,
        "whose source nearly fills the cache, by {:.1f} to {:.1f} %.",
        lambda: apart("faster", "reduction"),
    ),
    (
        RESULTS,
        "{} of the {} cases were the *same*. They have become faster since, more so in CUDA: the plain one "
        "of one channel at 2560x2560 by {:.2f} times in OpenCL and {:.2f} times in CUDA.",
        before,
    ),
    (
        RESULTS,
        "Our kernels are faster than all of these libraries in each of the {} cases that one has",
        ahead,
    ),
    (
        RESULTS,
        "CUDA's than CUB by {:.2f} in the geometric mean (at least {:.2f}), NPP by {:.2f} ({:.2f}), CuPy by "
        "{:.2f} ({:.2f}), PyTorch by {:.2f} ({:.2f}).",
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
        "| two machines: 95 % of the verdicts equal | {} of {}, {:.0f} % | met |",
        equal_verdicts,
    ),
    (RESULTS, "| 0 of {} by processes, none by halves of contexts | met |", lambda: selftested()[:1]),
]

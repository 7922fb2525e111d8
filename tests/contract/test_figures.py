"""The figures in the documents' sentences are those of the recorded runs, and there are no others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import pandas as pd
import pytest

from harness.results.compare import compare
from harness.results.statistics import geometric_mean
from reports.controls import control_table
from reports.repeatability import Repeated, repeated
from tests.support import figures_of_filters
from tests.support.recorded import (
    FOLDER,
    OWN,
    ROOT,
    by_finish,
    by_hint,
    contexts,
    empty_us,
    ends,
    lead,
    leads,
    medians,
    normalised,
    over_limit,
    ratios,
    run_of,
    shares,
    steps,
    table,
    where,
)

RESULTS, ISSUES, NOTES = "docs/results-h200.md", "docs/known-issues.md", "docs/performance-notes.md"
MAIN = "h200-quick"
STARTS = ("h200-quick-first-start", "h200-quick-other-start")
BILLIONS = ("h200-libraries-268", "h200-libraries-billion")


def slower(name: str, **wanted: Any) -> list[float]:
    """By how many per cent OpenCL is slower than CUDA in these cases."""
    return [100 * (1 / ratio - 1) for ratio in where(ratios(name), **wanted)["gross"]]


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
    opencl, cuda = (line for line in lines if line[0].startswith("A/A"))
    assert opencl[5] == cuda[5]
    return opencl[5], opencl[6], cuda[6]


def undecided() -> tuple[int, int]:
    """Of the ambiguous cases of the main run those that fewer than 60 more contexts would decide, and all."""
    more = where(ratios(MAIN), first_backend="opencl", verdict="ambiguous")["more"]
    return int((more < 60).sum()), len(more)


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


def a_gibibyte() -> tuple[float, ...]:
    """The number of ratios, all of which are the same, and their ends."""
    plain = ends(where(ratios("h200-huge"), verdict="same")["gross"])
    assert len(where(ratios("h200-huge"), verdict="same")) == len(ratios("h200-huge"))
    return len(ratios("h200-huge")), *plain


def beyond() -> tuple[float, ...]:
    """Likewise at 268 million elements and at a billion."""
    found = [ratio for name in BILLIONS for ratio in where(ratios(name), verdict="same")["gross"]]
    assert len(found) == sum(len(ratios(name)) for name in BILLIONS)
    return len(found), *ends(found)


def gibibyte_shares() -> tuple[float, ...]:
    """What is reached of the limit at 1 GiB, and by minmaxloc."""
    wanted = {"source_bytes": 2**30}
    return (
        *ends(shares("h200-huge", **wanted)),
        *ends(shares("h200-minmaxloc", not_op="", **wanted)),
    )


def widths() -> tuple[float, ...]:
    """By how many per cent vectors of 8 and 16 bytes miss the best; what others reach of it."""
    rows = where(table("h200-bandwidth"), kind="bandwidth").copy()
    elements = rows["variant"].str.extract(r"w(\d+)")[0].astype(int)
    of = {"uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "int32": 4, "float32": 4, "float64": 8}
    best = rows.groupby(["backend", "op", "cache", "source_bytes"])["bytes_per_second"].transform("max")
    rows["vector"], rows["reached"] = elements * rows["type"].map(of), rows["bytes_per_second"] / best
    worst = where(rows, vector=[8, 16])["reached"].min()
    wide = ends(where(rows, vector=[64, 128])["reached"])
    return 100 * (1 - worst), *ends(where(rows, vector=1)["reached"]), *wide


def least_lead() -> tuple[float]:
    """By how many per cent our kernels lead where they lead least."""
    return (100 * (min(leads(name, "hot", side)["gross"].min() for name in BILLIONS for side in OWN) - 1),)


def climbed(name: str, last: int) -> tuple[float, ...]:
    """The first and another step of minmax, for each side."""
    found = steps(name, "minmax uint8 2560x2560")
    return tuple(found[side][place] for side in OWN for place in (0, last))


def of_yan2011() -> tuple[float, ...]:
    """Its cases, the contexts of ours, and today's form of minmax in each API."""
    rows = where(table("h200-yan2011"), purpose="compare", status="ok")
    counts = where(rows, backend=OWN)["queue_blocks"].map(len)
    of_one = where(rows, problem="minmax uint8 2560x2560")
    form = of_one[of_one["variant"].str.endswith(" alternating")].set_index("backend")["queue"]
    return len(rows), *ends(counts), *(float(form[side]) * 1e6 for side in OWN)


def verdicts(name: str) -> list[int]:
    """How many comparisons there are, *same* and *ambiguous*; there is no other."""
    found = ratios(name)["verdict"].value_counts()
    assert set(found.index) == {"same", "ambiguous"}
    return [int(found.sum()), int(found["same"]), int(found["ambiguous"])]


def selftested() -> tuple[int, ...]:
    """Comparisons of each device with itself, none of them false: all, same, ambiguous."""
    text = (FOLDER / "h200-selftest.txt").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\w+:0: (\d+) comparisons: (\d+) same, (\d+) ambiguous, 0 faster, 0 slower", text, re.M
    )
    return tuple(sum(int(row[place]) for row in rows) for place in range(3))


def on_a_processor() -> tuple[float, ...]:
    """Mean lead and cells, of NumPy and OpenCV; the least of NumPy; where OpenCV leads, and by what."""
    found = leads("cpu-libraries", "hot", "opencl")
    numpy, opencv = (where(found, second_backend=name)["gross"] for name in ("numpy", "opencv"))
    behind = sorted(1 / ratio for ratio in opencv if ratio < 1)
    return (
        *(value for side in (numpy, opencv) for value in (geometric_mean(side), len(side))),
        numpy.min(),
        len(behind),
        behind[-1],
        behind[-2],
    )


def means(name: str, place: int) -> Callable[[], Sequence[float]]:
    """The ratios in the mean of the reductions (0) or filters (1), from the smallest size to the largest."""
    kind = ("reduction", "laplace")[place]
    sizes = ("8192x8192", "2560x2560", "1280x1280")
    return lambda: [geometric_mean(where(ratios(name), kind=kind, size=size)["gross"]) for size in sizes]


def loads() -> tuple[float, ...]:
    """A profiler's trigger against none."""
    without, executed = (
        where(table(name), purpose="compare").groupby(["problem", "backend"])["queue"].min()
        for name in ("h200-loads", "h200-loads-trigger")
    )
    gained = without / executed
    bytes_lost = 100 * (1 / gained["sum uint8 2560x2560"].min() - 1)
    return *(gained["minmax float64 1280x1280"][side] for side in OWN), bytes_lost


def places(name: str) -> tuple[float, ...]:
    """Of the limit's time, minmaxloc of two types: the slower side."""
    asked = ("minmaxloc float32 2560x2560", "minmaxloc float64 1280x1280")
    return tuple(over_limit(name, not_op="", problem=problem)[1] for problem in asked)


BY_BITS = (["int32", "float32", "float64"], ["int16", "uint16"], ["int8", "uint8"])


def of_places(types: list[str]) -> tuple[float, float]:
    """What minmaxloc of these types reaches of the limit at 8192x8192."""
    return ends(shares("h200-minmaxloc", not_op="", size="8192x8192", type=types))


def with_hint(cached: str) -> tuple[float, ...]:
    """minmax of bytes at 8192x8192, with a part kept and without, in each API."""
    found = by_hint("h200-sweep-hints", problem="minmax uint8 8192x8192", cache=cached)
    return tuple(found[hint][side].iloc[0] for hint in ("resident", "none") for side in OWN)


def far_with_hint(cached: str) -> tuple[float, float]:
    """How many times as fast reductions of 134 to 403 MB are with a part kept."""
    found = by_hint("h200-sweep-resident-far", kind="reduction", cache=cached)
    return ends(found["none"] / found["resident"])


def beside_a_neighbour() -> tuple[float, ...]:
    """Two sums that take turns: with a part of the first one's source kept, and without."""
    lines = [json.loads(line) for line in (FOLDER / "h200-neighbour.jsonl").read_text().splitlines()]
    both = {
        (line["cache_hint"], line["backend"]): line["in_turns_us"] for line in lines if line["bytes"] == 2**26
    }
    sources = lines[0]["bytes"] / 1e6, lines[0]["neighbour_bytes"] / 1e6
    return *sources, *(both[hint, side] for hint in ("resident", "none") for side in OWN)


def with_streaming_stores() -> tuple[float, ...]:
    """How many times as fast two filters are that keep their source."""
    found = by_hint("h200-sweep-resident-far", kind="laplace", cache="hot", size="2560x2560")
    gained = (found["none"] / found["streaming_stores"]).reset_index()
    return tuple(
        gained[(gained["backend"] == side) & gained["problem"].str.contains(kind)][0].iloc[0]
        for kind in ("uint8C4", "float32C1")
        for side in OWN
    )


def peers() -> tuple[float, ...]:
    """The read limits of 64 and 256 MiB, hot: the fastest of all hints, and without one."""
    found = by_hint("h200-sweep-hints", op="read", cache="hot").reset_index()
    of = [found[found["problem"] == f"read uint32 {mebibytes * 2**18}"] for mebibytes in (64, 256)]
    return tuple(
        value for rows in of for value in (rows[["resident", "streaming"]].min().min(), rows["none"].min())
    )


def plain_calls() -> tuple[float, ...]:
    """Libraries in the form of their plain call beside the form that the other runs have, in us."""
    rows = table("h200-peers")

    def us(backend: str, problem: str, variant: str = "library") -> float:
        return float(where(rows, backend=backend, problem=problem, variant=variant)["queue"].iloc[0]) * 1e6

    extremes = ("minmax uint8 8192x8192", "minmax uint8 16384x16384")
    total, narrow = "sum float32 8192x8192", "library, narrow sums"
    return (
        *(us(backend, problem) for problem in extremes for backend in ("cub", "cuda_compute")),
        *(us("torch", total, variant) for variant in (narrow, "library")),
        *(us("npp", f"minmax uint8 {shape}") for shape in ("6553600", "2560x2560")),
    )


def by_size(library: str) -> tuple[float, ...]:
    """CUDA's mean lead over a library: over all hot sizes, at each of them, and cold."""
    names = ("h200-libraries", *BILLIONS)
    all_sizes = [ratio for name in names for ratio in where(leads(name), second_backend=library)["gross"]]
    cold = lead("h200-libraries", library, "cold")[0]
    return geometric_mean(all_sizes), *(lead(name, library)[0] for name in names), cold


def portable(**wanted: Any) -> pd.DataFrame:
    """Portable OpenCL against CUDA's own kernels."""
    return where(ratios(MAIN), first_backend="portable opencl", **wanted)


def portable_means(kind: str) -> list[float]:
    """The ratios in the mean, from the smallest size to the largest."""
    sizes = ("1280x1280", "2560x2560", "8192x8192")
    return [geometric_mean(portable(kind=kind, size=size)["gross"]) for size in sizes]


def portable_us(problem: str) -> tuple[float, float]:
    """What portable OpenCL takes for a problem, and CUDA."""
    (row,) = portable(problem=problem).to_dict("records")
    return 1e6 * row["first_queue"], 1e6 * row["second_queue"]


def two_loads() -> tuple[float, ...]:
    """A portable sum with two loads in flight, and with four."""
    rows = where(table("h200-sweep-portable"), problem="sum float64 2560x2560", backend="portable opencl")
    of = "buffer w2 l{} global 4/unit of 256 quad builtin scalar flagged portable"
    return tuple(1e6 * where(rows, variant=of.format(loads))["queue"].iloc[0] for loads in (2, 4))


def shares_of_own(kind: str) -> tuple[float, float]:
    """What our kernels reach of the limit at 8192x8192."""
    rows = where(table(MAIN), kind=kind, size="8192x8192", backend=list(OWN), purpose="compare")
    return ends(rows["share"])


FIGURES: list[tuple[str, str, Callable[[], Sequence[Any]]]] = [
    ("README.md", "{} of {} did.", lambda: (equal_verdicts()[1] - equal_verdicts()[0], equal_verdicts()[1])),
    (
        RESULTS,
        "the queue clock in {} to {} fresh contexts of the device, an empty kernel in {},",
        lambda: contexts(MAIN),
    ),
    (RESULTS, "{} of the {} *ambiguous* cases would be decided by fewer than 60 contexts more", undecided),
    (RESULTS, "gives {}, with intervals of {} in OpenCL and {} in CUDA.", controls),
    (RESULTS, "{} to {} contexts, {} of the empty kernel)", lambda: contexts(STARTS[1])),
    (RESULTS, "finds {} of the {} verdicts equal ({:.0f} %; {} by a band of 3 %)", equal_verdicts),
    (ISSUES, "in {} of {} cases (", lambda: equal_verdicts()[:2]),
    (ISSUES, "(reductions {} of {}, Laplace filters all {})", by_kind),
    (RESULTS, "of {} cases {} *same*, {} *ambiguous*, none faster or slower.", compared),
    (
        RESULTS,
        "{} of the {} cases are *slower*, {} of them by more than 10 %.",
        lambda: (
            len(portable(verdict="slower")),
            len(portable()),
            int((portable(verdict="slower")["gross"] < 1 / 1.1).sum()),
        ),
    ),
    (
        RESULTS,
        "minmax of uint8 at 8192x8192 takes {:.1f} us, CUDA's {:.1f} with the hint.",
        lambda: portable_us("minmax uint8 8192x8192"),
    ),
    (
        RESULTS,
        "The least ratio, {:.2f}, is of a sum of float64 at 2560x2560",
        lambda: [min([portable()["gross"].min(), *portable(problem="sum float64 2560x2560")["gross"]])],
    ),
    (
        RESULTS,
        "takes {:.1f} us at 2560x2560 where CUDA's takes {:.1f}. At 8192x8192, where memory takes its part, "
        "it is {:.1f} and {:.1f}.",
        lambda: [
            value
            for side in (2560, 8192)
            for value in portable_us(f"laplacian four reflect_101 uint8C1 {side}x{side}")
        ],
    ),
    (RESULTS, "takes {:.1f} us with two and {:.1f} with four", two_loads),
    (
        RESULTS,
        "all {} of the {} verdicts are those of the first start",
        lambda: (again("h200-quick-new-layout").equal, len(again("h200-quick-new-layout").pairs)),
    ),
    (
        RESULTS,
        "the diagonal one at 2560x2560, by {:.0f} %, and in a sum and a count of float64 at 2560x2560, whose "
        "source nearly fills the cache, by {:.0f} to {:.0f} %.",
        lambda: [
            100 * (ratio - 1)
            for kind in ("laplace", "reduction")
            for ratio in sorted(where(ratios(MAIN), verdict="faster", kind=kind)["gross"])
        ],
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
        "OpenCL is {:.1f} to {:.1f} % slower in minmaxloc of 16 bits at 8192x8192",
        lambda: ends(slower("h200-minmaxloc", type=["int16", "uint16"], size="8192x8192")),
    ),
    (
        RESULTS,
        "{:.1f} to {:.1f} % slower in minmaxloc of int8 at 2560x2560 and 4096x4096",
        lambda: ends(slower("h200-minmaxloc", type="int8", size=["2560x2560", "4096x4096"])),
    ),
    (
        RESULTS,
        "takes {:.0f} to {:.0f} us from context to context",
        lambda: ends(
            t for side in OWN for t in medians("h200-minmaxloc", side, "minmaxloc float64 2560x2560")
        ),
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
        "{:.2f} to {:.2f} times the read limit's time at 1280x1280 and {:.2f} to {:.2f} times at 2560x2560",
        lambda: (*over_limit(MAIN, size="1280x1280"), *over_limit(MAIN, size="2560x2560")),
    ),
    (
        RESULTS,
        "They reach {:.2f} to {:.2f} of the limit at 8192x8192, which",
        lambda: ends(shares(MAIN, size="8192x8192")),
    ),
    (RESULTS, "Filters reach {:.2f} of the copy limit there.", lambda: shares_of_own("laplace")[:1]),
    (
        RESULTS,
        "all seven types and five operations reached {:.2f} to {:.2f} of the limit of such loads at "
        "8192x8192, hot and cold",
        lambda: ends(shares("h200-8192x8192")),
    ),
    (
        RESULTS,
        "{:.2f} to {:.2f} times the limit's time at 1024x1024, {:.2f} to {:.2f} at 1280x1280, {:.2f} to "
        "{:.2f} at 2560x2560, and reaches {:.2f} to {:.2f} of the limit at 8192x8192",
        lambda: (
            *(
                value
                for size in ("1024x1024", "1280x1280", "2560x2560")
                for value in over_limit("h200-minmaxloc", not_op="", size=size)
            ),
            *ends(shares("h200-minmaxloc", not_op="", size="8192x8192")),
        ),
    ),
    (
        RESULTS,
        "{:.3f} to {:.3f} of the read limit in both APIs** (minmaxloc {:.3f} to {:.3f};",
        gibibyte_shares,
    ),
    (RESULTS, "All {} ratios of OpenCL to CUDA are *same* ({:.2f} to {:.3f})", a_gibibyte),
    (RESULTS, "as are all {} of 268 million elements and of a billion ({:.3f} to {:.3f};", beyond),
    (
        RESULTS,
        "within {:.0f} % of these. Single bytes reach {:.2f} to {:.2f} of them, vectors of 64 and 128 bytes "
        "{:.2f} to {:.2f}.",
        widths,
    ),
    (
        RESULTS,
        "our kernels reach {:.2f} to {:.3f} of the read limit",
        lambda: ends(s for name in BILLIONS for s in shares(name)),
    ),
    (
        RESULTS,
        "takes {:.1f} us in OpenCL and {:.1f} in CUDA with it, {:.1f} and {:.1f} without",
        partial(with_hint, "hot"),
    ),
    (
        RESULTS,
        "From a cold cache it takes {:.1f} and {:.1f} us with it, {:.1f} and {:.1f} without.",
        partial(with_hint, "cold"),
    ),
    (RESULTS, "is {:.2f} to {:.2f} times as fast hot,", partial(far_with_hint, "hot")),
    (RESULTS, "{:.2f} to {:.2f} times as fast cold", partial(far_with_hint, "cold")),
    (
        RESULTS,
        "Where a sum of {:.0f} MB and one of {:.0f} MB, half the cache, take turns, both take {:.1f} us in "
        "OpenCL and {:.1f} in CUDA, with it as without ({:.1f} and {:.1f};",
        beside_a_neighbour,
    ),
    (
        RESULTS,
        "{:.2f} (OpenCL) and {:.2f} times (CUDA) as fast so, float32 {:.2f} and {:.2f} times",
        with_streaming_stores,
    ),
    (RESULTS, "64 MiB in {:.1f} us in place of {:.1f}, 256 MiB in {:.1f} in place of {:.1f} (first", peers),
    (
        RESULTS,
        "CUB in C++ takes {:.1f} us for minmax of uint8 at 8192x8192 where it takes {:.1f} from Python, "
        "and {:.1f} where {:.1f} at 16384x16384; PyTorch's plain sum of float32 {:.1f} where {:.0f} in "
        "float64; NPP's minmax of 6.6 million bytes {:.1f} as a signal where {:.1f} as an image.",
        plain_calls,
    ),
    (
        RESULTS,
        "No library is ahead in any of these cells, either: CUDA's least lead is {:.2f}",
        lambda: (float(leads("h200-peers")["gross"].min()),),
    ),
    (RESULTS, "at least {:.1f} %, and the verdicts", least_lead),
    (
        RESULTS,
        "from {:.1f} us to {:.1f} us in OpenCL and from {:.1f} to {:.1f} in CUDA.",
        lambda: climbed("h200-yan2011", 8),
    ),
    (RESULTS, "({} cases, {} to {} contexts): minmax", lambda: of_yan2011()[:3]),
    (RESULTS, "Today's form takes {:.2f} and {:.2f}.", lambda: of_yan2011()[3:]),
    (
        RESULTS,
        "Of {} comparisons of OpenCL with CUDA {} are *same* and {} *ambiguous*.",
        lambda: verdicts("h200-yan2011"),
    ),
    (
        RESULTS,
        "than CUB by {:.2f} in the geometric mean (at least {:.2f}), PyTorch by {:.2f} ({:.2f}), CuPy by "
        "{:.2f} ({:.2f}), NPP by {:.2f} ({:.2f}), OpenCV's CUDA module by {:.2f} ({:.2f}), "
        "`pycuda.gpuarray` by {:.2f}, `pyopencl.array` by {:.2f}, OpenCV's OpenCL path by {:.0f}.",
        lambda: (
            *(
                v
                for name in ("cub", "torch", "cupy", "npp", "opencv_cuda")
                for v in lead("h200-yan2011", name)
            ),
            *(lead("h200-yan2011", name)[0] for name in ("pycuda_array", "pyopencl_array", "opencv_opencl")),
        ),
    ),
    (
        RESULTS,
        "CUB is slower by {:.2f} (at least {:.2f}), CuPy by {:.2f} ({:.2f}), `pycuda.gpuarray` by {:.2f} "
        "({:.2f}).",
        lambda: [v for name in ("cub", "cupy", "pycuda_array") for v in lead("h200-pcl", name)],
    ),
    (
        RESULTS,
        "OpenCL comes out at {:.2f} to {:.2f} of CUDA's speed.",
        lambda: ends(ratios("h200-pcl")["gross"]),
    ),
    (
        RESULTS,
        "than CUB in all 16 cells by {:.2f} in the geometric mean (at least {:.2f}), than NPP in 12 by "
        "{:.2f} ({:.2f}), than CuPy by {:.2f} ({:.2f}), than PyTorch by {:.2f} ({:.2f})",
        lambda: [v for name in ("cub", "npp", "cupy", "torch") for v in lead("h200-modern", name)],
    ),
    (
        RESULTS,
        "goes from {:.1f} us (OpenCL) and {:.1f} (CUDA) on its first rung to {:.1f} and {:.1f}.",
        lambda: [climbed("h200-modern", -1)[place] for place in (0, 2, 1, 3)],
    ),
    (
        RESULTS,
        "{} comparisons of five processes, OpenCL and CUDA, none false, {} *same*, {} *ambiguous*.",
        selftested,
    ),
    (
        RESULTS,
        "{:.1f} times as fast as NumPy ({} cells) and {:.2f} times as fast as OpenCV ({})",
        lambda: on_a_processor()[:4],
    ),
    (RESULTS, "faster than NumPy in every cell (at least {:.2f}).", lambda: [on_a_processor()[4]]),
    (
        RESULTS,
        "OpenCV is ahead in {}, by {:.2f} times in minmaxloc of float32 and by at most {:.2f} in the others.",
        lambda: on_a_processor()[5:],
    ),
    (
        NOTES,
        "one or two trips are enough: in the mean {:.2f} (OpenCL) and {:.2f} (CUDA) times as fast at "
        "1280x1280",
        lambda: [
            geometric_mean(by_finish("h200-sweep-finish", "last_group", "flagged", size="1280x1280")[side])
            for side in OWN
        ],
    ),
    (
        NOTES,
        "Against flags that is in the mean {:.2f} (OpenCL) and {:.2f} (CUDA) times as fast at 1280x1280, "
        "and {:.2f} and {:.2f} at 2560x2560",
        lambda: [
            geometric_mean(by_finish("h200-sweep-alternating", "flagged", "alternating", size=size)[side])
            for size in ("1280x1280", "2560x2560")
            for side in OWN
        ],
    ),
    (
        NOTES,
        "takes at most {:.2f} times the limit's time, of float64 at 1280x1280 {:.2f} times",
        lambda: places("h200-minmaxloc"),
    ),
    (NOTES, "before, {:.2f} and {:.2f}", lambda: places("h200-minmaxloc-former")),
    (NOTES, "at 1280x1280 {:.2f} (OpenCL) and {:.2f} (CUDA) times as fast as", lambda: loads()[:2]),
    (NOTES, "but costs sums of bytes {:.0f} %.", lambda: loads()[2:]),
    (
        NOTES,
        "the same reductions came out at {:.2f}, {:.2f} and {:.2f} of CUDA's speed, the filters at {:.2f}, "
        "{:.2f} and {:.2f} (",
        lambda: [value for place in (0, 1) for value in means("h200-quick-second-queue", place)()],
    ),
]


FIGURES += [
    (
        RESULTS,
        "| reductions | {:.2f} | {:.2f} | {:.2f} | | Laplace filters | {:.2f} | {:.2f} | {:.2f} |",
        lambda: [*portable_means("reduction"), *portable_means("laplace")],
    ),
    (RESULTS, "| {} of {}, {:.0f} % | met |", lambda: equal_verdicts()[:3]),
    (RESULTS, "| 0 of {} by processes, none by halves of contexts | met |", lambda: selftested()[:1]),
    (RESULTS, "| {:.3f} to {:.3f} (minmaxloc {:.3f} to {:.3f}) | met |", gibibyte_shares),
    (
        RESULTS,
        "| {:.3f} to {:.3f}; minmaxloc hot {:.3f} to {:.3f}, {:.2f} to {:.2f} with 16 bits, {:.2f} to "
        "{:.2f} with 8 | met |",
        lambda: (*ends(shares("h200-8192x8192")), *(v for types in BY_BITS for v in of_places(types))),
    ),
    (
        RESULTS,
        "| at most {:.2f} and {:.2f} in all 70 cells, either API; minmaxloc at most {:.2f} and {:.2f} | met "
        "|",
        lambda: [
            over_limit(*runs, **wanted, size=size)[1]
            for runs, wanted in (((MAIN,), {}), (("h200-minmaxloc",), {"not_op": ""}))
            for size in ("1280x1280", "2560x2560")
        ],
    ),
    (
        RESULTS,
        "| 8192x8192 net {:.3f} to {:.3f}; 1 GiB gross {:.3f} to {:.3f}; 2^28 and 2^30 elements {:.3f} to "
        "{:.3f}; minmaxloc net {:.2f} to {:.2f} at 8192x8192 |",
        lambda: (
            *ends(where(ratios("h200-8192x8192"), not_op="minmaxloc")["net"].dropna()),
            *ends(ratios("h200-huge")["gross"]),
            *beyond()[1:],
            *ends(where(ratios("h200-minmaxloc"), size="8192x8192")["net"].dropna()),
        ),
    ),
    (
        RESULTS,
        "| none. The least lead of CUDA's is {:.3f} at 2^28 and {:.3f} at 2^30 | met |",
        lambda: [leads(name)["gross"].min() for name in BILLIONS],
    ),
    *(
        (
            RESULTS,
            "| hot {:.2f} ({:.2f} to 2^24 elements, {:.2f} at 2^28, {:.2f} at 2^30), cold {:.2f} |",
            partial(by_size, library),
        )
        for library in ("cub", "npp")
    ),
]
FIGURES += [*figures_of_filters.SENTENCES, *figures_of_filters.ROWS]


@pytest.mark.parametrize(("document", "sentence", "figures"), FIGURES)
def test_a_figure_in_a_sentence_is_the_recorded_one(
    document: str, sentence: str, figures: Callable[[], Sequence[Any]]
) -> None:
    assert sentence.format(*figures()) in normalised(document)


MEASURED = re.compile(
    r"(?<![\w.])\d+(?:\.\d+)?(?= (?:%|us\b|TB/s|times as|of the (?:read |copy )?limit))|\d+\.\d+(?!\.?\w)"
)
"""What reads as a measured figure: a number with a unit, or one with decimals."""
OF_NO_RUN = re.compile(
    r"Python 3\.11 to 3\.13|(?:CUDA|Python|PoCL|LLVM|OpenCL C|OpenCV|driver|NPP|NVRTC) [\d.]+|--band 0\.05"
    r"|(?:of|the|its|where) 95 %|2 % (?:of|around) 1|within 2 %|a band of 3 %"
    r"|(?:than|above) (?:1|0\.5|5|10|95) %"
)
"""Versions, and what is set, not measured: the band, the confidence, when sampling ends."""
PROSE = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", *ROOT.glob("kernels_*/README.md")]


def prose(document: str) -> str:
    """The sentences of a document without code, headings and tables, which have tests of their own."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.M | re.S)
    text = re.sub(r"^(?:#|\|).*$", "", text, flags=re.M)
    return " ".join(re.sub(r"\]\([^)]*\)", "]", text).split())


@pytest.mark.parametrize("document", sorted(str(path.relative_to(ROOT)) for path in PROSE))
def test_a_sentence_with_a_figure_is_checked(document: str) -> None:
    text = prose(document)
    for of, sentence, _ in FIGURES:
        if of == document:
            plain = re.sub(r"\\\]\\\([^)]*\\\)", r"\\]", re.escape(sentence))
            text = re.sub(re.sub(r"\\\{[^}]*\\\}", r".{1,15}?", plain), " ", text)
    left = OF_NO_RUN.sub(" ", text)
    assert not [left[max(0, found.start() - 60) : found.end() + 20] for found in MEASURED.finditer(left)]

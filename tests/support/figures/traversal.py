"""What is said of sources that are gone through back and forth: reductions, limits and filters."""

from __future__ import annotations

from functools import partial
from statistics import median

import pandas as pd

from tests.support.figures import KERNELS, RESULTS, Figure
from tests.support.recorded import OWN, contexts, ends, table, where

RUN, LIMITS, FILTERS = (f"h200-sweep-traversal{end}" for end in ("", "-limits", "-filters"))
MASKS, TYPES, GROUPS, EDGE, EDGE_TYPES = (
    f"h200-sweep-traversal-{of}" for of in ("masks", "types", "groups", "edge", "edge-types")
)
SEGMENTS, TREE = "h200-sweep-segments", "h200-sweep-segments-tree"
BACK = "back_and_forth"
PORTABLE = "portable opencl", "portable cuda"
CACHE = 60 * 2**20
"""Bytes of an H200's L2 cache."""


def both_ways(rows: pd.DataFrame) -> list[float]:
    """The time in us of the fastest of these rows back and forth, and of the fastest forward."""
    returns = rows["variant"].str.contains(BACK)
    return [1e6 * float(each["queue"].min()) for each in (rows[returns], rows[~returns])]


def without_a_hint(problem: str) -> list[float]:
    """A portable reduction in OpenCL from a hot cache, both ways."""
    return both_ways(where(table(RUN), problem=problem, backend="portable opencl", cache="hot"))


def beside_the_hint(cached: str = "hot", least: float = CACHE) -> list[list[float]]:
    """Reductions of sources larger than the cache that have the hint, both ways, in each API; no sums of
    floats, which go forward by default.
    """
    rows = where(table(RUN), backend=OWN, cache=cached)
    rows = rows[rows["variant"].str.contains("resident") & (rows["source_bytes"] > least)]
    rows = rows[~((rows["op"] == "sum") & rows["type"].str.contains("float"))]
    return [both_ways(each) for _, each in rows.groupby(["problem", "backend"])]


def times_as_fast() -> tuple[float, float]:
    """How many times as fast these are back and forth."""
    return ends(forward / back for back, forward in beside_the_hint())


def from_memory() -> tuple[float, float]:
    """The same from a cold cache, of all that are as large, without a hint, too."""
    rows = where(table(RUN), cache="cold")
    rows = rows[rows["source_bytes"] > 50e6]
    found = [both_ways(each) for _, each in rows.groupby(["problem", "backend"])]
    return ends(forward / back for back, forward in found)


def summed(problem: str, backend: str, cached: str = "hot", run: str = SEGMENTS) -> list[float]:
    """A sum of floats in us as it is by default, by segments, and forward as it was."""
    rows = where(table(run), problem=problem, backend=backend, cache=cached)
    by_segments = rows["variant"].str.contains("l4 global 5/unit of 256 .* segments")
    if backend in OWN:
        by_segments &= rows["variant"].str.contains("resident")
    forward = ~rows["variant"].str.contains(f"segments|{BACK}")
    return [1e6 * float(each["queue"].item()) for each in (rows[by_segments], rows[forward])]


def sums_as_fast(*backends: str, cached: str = "hot") -> tuple[float, float]:
    """How many times as fast sums of floats are by segments from where on they have them: from 5/4 of the
    cache on, portable ones from 3/4 of it on; of cold ones all.
    """
    rows = where(table(SEGMENTS), cache=cached)
    least = 3 / 4 * CACHE if cached == "cold" or "portable opencl" in backends else 5 / 4 * CACHE
    problems = rows[rows["source_bytes"] > least]["problem"].unique()
    assert len(problems) == (2 if cached == "cold" else 8 if least < CACHE else 5)
    pairs = [summed(problem, backend, cached) for problem in problems for backend in backends]
    return ends(forward / by_segments for by_segments, forward in pairs)


def a_little_beyond(cached: str) -> list[float]:
    """OpenCL's sum of 64 MiB of float32 in us, by segments and before, in two runs of `libraries`."""
    names = "h200-libraries", "h200-libraries-before-segments"
    wanted = {"problem": "sum float32 4096x4096", "backend": "opencl", "cache": cached}
    return [1e6 * float(where(table(name), **wanted)["queue"].item()) for name in names]


def in_a_tree() -> list[float]:
    """Registers of a work-item with 32 segments in a tree, at the most, of five groups a compute unit; and
    what OpenCL's sum of float32 at 8192x8192 took so, in us.
    """
    rows = where(table(TREE), backend=OWN)
    rows = rows[rows["variant"].str.contains("5/unit of 256 .* segments")]
    assert contexts(SEGMENTS)[:2] == (4, 4)
    registers = rows["resources"].str.extract(r" (\d+) registers")[0].astype(int)
    return [registers.max(), summed("sum float32 8192x8192", "opencl", run=TREE)[0]]


def minmax_of_bytes() -> list[float]:
    """minmax of 64 MiB of bytes in OpenCL, both ways, beside the hint."""
    rows = where(table(RUN), problem="minmax uint8 8192x8192", backend="opencl", cache="hot")
    return both_ways(rows[rows["variant"].str.contains("resident")])


def limit(op: str, mebibytes: int) -> list[float]:
    """The fastest read or copy of so much in CUDA, both ways."""
    return both_ways(where(table(LIMITS), op=op, source_bytes=mebibytes * 2**20, backend="cuda"))


def in_turn(problem: str) -> list[float]:
    """OpenCL's filter in us, all of its groups at a time, back and forth at its fastest; and with a group a
    tile, forward, which was the default.
    """
    rows = where(table(FILTERS), problem=problem, backend="opencl")
    returns = rows["variant"].str.contains(BACK)
    default = rows[~rows["variant"].str.contains("/unit")]
    return [1e6 * float(rows[returns]["queue"].min()), 1e6 * float(default["queue"].iloc[0])]


def filtered(problem: str, run: str = MASKS) -> list[float]:
    """A filter of OpenCL's with a group a tile: back and forth with today's hint, and forward."""
    rows = where(table(run), problem=problem, backend="opencl", cache="hot")
    parted = rows[~rows["variant"].str.contains("/unit")]
    returns = parted["variant"].str.contains(BACK)
    hint = "resident" if float(rows["source_bytes"].iloc[0]) >= 2 * CACHE else "streaming_stores"
    today = parted[returns & parted["variant"].str.endswith(hint)]
    return [1e6 * float(each["queue"].min()) for each in (today, parted[~returns])]


def is_interrupted(blocks: list[list[float]]) -> bool:
    """Whether the contexts of a case tell times that are far apart."""
    medians = [median(block) for block in blocks]
    return bool(medians) and max(medians) > 1.25 * min(medians)


def gains(*runs: str, cached: str = "hot", backend: str | list[str] = OWN) -> list[float]:
    """How many times as fast filters are back and forth at their fastest as by the former defaults, which go
    forward, the ends: in each API those from 29 MB on, and portable OpenCL's from 22 MB on. A case with an
    interrupted context is left out.
    """
    found = []
    for run in runs:
        rows = where(table(run), kind="laplace", cache=cached, backend=backend)
        rows = rows[rows["source_bytes"] >= (21e6 if backend == "portable opencl" else 29e6)]
        rows = rows[(rows["status"] == "ok") & ~rows["queue_blocks"].map(is_interrupted)]
        for _, each in rows.groupby(["problem", "backend"]):
            returns = each["variant"].str.contains(BACK)
            if returns.any() and not returns.all():
                back, forward = both_ways(each)
                found.append(forward / back)
    return list(ends(found))


def parted(op: str, mebibytes: int) -> list[float]:
    """A read or copy of so much in CUDA, in us: a group for each part back and forth, the same forward, and
    eight groups a compute unit back and forth, each at its fastest.
    """
    rows = where(table(GROUPS), op=op, source_bytes=mebibytes * 2**20, backend="cuda")
    is_parted = rows["variant"].str.contains("per problem")
    back, forward = both_ways(rows[is_parted])
    return [back, forward, both_ways(rows[~is_parted])[0]]


SENTENCES: list[Figure] = [
    (
        RESULTS,
        "Portable OpenCL's minmax of uint8 at 8192x8192 takes {:.1f} us so, {:.1f} forward; that of float64 "
        "at 2560x2560 {:.1f} and {:.1f} ([sweep]",
        lambda: [*without_a_hint("minmax uint8 8192x8192"), *without_a_hint("minmax float64 2560x2560")],
    ),
    (
        RESULTS,
        "Beside the hint reductions of 67 to 537 MB are {:.2f} to {:.2f} times as fast so, as minmax of "
        "uint8 at 8192x8192 in OpenCL with {:.1f} us and {:.1f}; from a cold cache they are {:.2f} to {:.2f} "
        "times as fast.",
        lambda: [*times_as_fast(), *minmax_of_bytes(), *from_memory()],
    ),
    (
        RESULTS,
        "Portable OpenCL's of float64 at 2560x2560 takes {:.1f} us so, {:.1f} forward, OpenCL's own of "
        "float32 at 8192x8192 {:.1f} and {:.1f} ([sweep]",
        lambda: [
            *summed("sum float64 2560x2560", "portable opencl"),
            *summed("sum float32 8192x8192", "opencl"),
        ],
    ),
    (
        RESULTS,
        "In both APIs those of 88 to 537 MB are {:.2f} to {:.2f} times as fast so beside the hint, portable "
        "ones of 52 to 537 MB {:.2f} to {:.2f} times; from a cold cache {:.2f} to {:.2f} and {:.2f} to "
        "{:.2f} times.",
        lambda: [
            *sums_as_fast(*OWN),
            *sums_as_fast(*PORTABLE),
            *sums_as_fast(*OWN, cached="cold"),
            *sums_as_fast(*PORTABLE, cached="cold"),
        ],
    ),
    (
        RESULTS,
        "a sum of float32 at 4096x4096, a little more than the cache holds, takes {:.1f} us so in OpenCL "
        "from memory, [{:.1f} before](../reports/examples/h200-libraries-before-segments.jsonl.xz), and "
        "{:.1f} and {:.1f} hot:",
        lambda: [*a_little_beyond("cold"), *a_little_beyond("hot")],
    ),
    (
        RESULTS,
        "took up to {} registers, so that not all groups ran at a time, and OpenCL's sum of float32 at "
        "8192x8192 {:.1f} us ([sweep]",
        in_a_tree,
    ),
    (
        RESULTS,
        "In CUDA reading 64 MiB takes {:.1f} us so and {:.1f} forward, 256 MiB {:.1f} and {:.1f}, a gibibyte "
        "{:.0f} and {:.0f}; copying 64 MiB {:.1f} and {:.1f}, 128 MiB {:.1f} and {:.1f} (",
        lambda: [
            *(us for size in (64, 256, 1024) for us in limit("read", size)),
            *(us for size in (64, 128) for us in limit("copy", size)),
        ],
    ),
    (
        RESULTS,
        "A copy of 64 MiB in CUDA takes {:.1f} us so, {:.1f} forward and {:.1f} with eight groups a compute "
        "unit back and forth, one of 256 MiB {:.1f}, {:.1f} and {:.1f};",
        lambda: [us for size in (64, 256) for us in parted("copy", size)],
    ),
    (
        RESULTS,
        "a read of 256 MiB {:.1f}, {:.1f} and {:.1f} ([sweep]",
        lambda: parted("read", 256),
    ),
    (
        RESULTS,
        "OpenCL's plain filter of uint8 at 8192x8192 takes {:.1f} us so, {:.1f} forward, with three channels "
        "at 4096x4096 {:.1f} and {:.1f}, with four at 8192x8192 {:.0f} and {:.0f} ([bytes]",
        lambda: [
            us
            for size in ("uint8C1 8192x8192", "uint8C3 4096x4096", "uint8C4 8192x8192")
            for us in filtered(f"laplacian four reflect_101 {size}")
        ],
    ),
    (
        RESULTS,
        "of float32 at 4096x4096 {:.1f} and {:.1f} ([wider types]",
        lambda: filtered("laplacian four reflect_101 float32C1 4096x4096", TYPES),
    ),
    (
        RESULTS,
        "filters of 29 to 537 MB are {:.2f} to {:.2f} times as fast back and forth at their fastest, from a "
        "cold cache {:.2f} to {:.2f} times; portable OpenCL's, which have no hint, from 22 MB on {:.2f} to "
        "{:.2f} times",
        lambda: [
            *gains(MASKS, TYPES, EDGE, EDGE_TYPES),
            *gains(EDGE_TYPES, cached="cold"),
            *gains(TYPES, EDGE_TYPES, backend="portable opencl"),
        ],
    ),
    (
        RESULTS,
        "OpenCL's plain filter of three channels of uint8 at 8192x8192 takes {:.0f} us in turn and {:.0f} "
        "with a group a tile that goes forward ([sweep]",
        lambda: in_turn("laplacian four reflect_101 uint8C3 8192x8192"),
    ),
    (
        KERNELS,
        "takes {:.1f} us so in portable OpenCL, {:.1f} forward (",
        partial(without_a_hint, "minmax uint8 8192x8192"),
    ),
]
ROWS: list[Figure] = []

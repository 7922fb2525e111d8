"""What is said of sources that are gone through back and forth: reductions, limits and filters."""

from __future__ import annotations

from functools import partial

import pandas as pd

from tests.support.figures import KERNELS, RESULTS, Figure
from tests.support.recorded import OWN, ends, table, where

RUN, LIMITS, FILTERS = (f"h200-sweep-traversal{end}" for end in ("", "-limits", "-filters"))
BACK = "back_and_forth"


def both_ways(rows: pd.DataFrame) -> list[float]:
    """The time in us of the fastest of these rows back and forth, and of the fastest forward."""
    returns = rows["variant"].str.contains(BACK)
    return [1e6 * float(each["queue"].min()) for each in (rows[returns], rows[~returns])]


def without_a_hint(problem: str) -> list[float]:
    """A portable reduction in OpenCL from a hot cache, both ways."""
    return both_ways(where(table(RUN), problem=problem, backend="portable opencl", cache="hot"))


def beside_the_hint(cached: str = "hot", least: float = 60 * 2**20) -> list[list[float]]:
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


def minmax_of_bytes() -> list[float]:
    """minmax of 64 MiB of bytes in OpenCL, both ways, beside the hint."""
    rows = where(table(RUN), problem="minmax uint8 8192x8192", backend="opencl", cache="hot")
    return both_ways(rows[rows["variant"].str.contains("resident")])


def limit(op: str, mebibytes: int) -> list[float]:
    """The fastest read or copy of so much in CUDA, both ways."""
    return both_ways(where(table(LIMITS), op=op, source_bytes=mebibytes * 2**20, backend="cuda"))


def filtered(problem: str, backend: str = "opencl") -> tuple[float, float]:
    """A filter back and forth at its fastest, and the default."""
    rows = where(table(FILTERS), problem=problem, backend=backend)
    returns = rows["variant"].str.contains(BACK)
    default = rows[~rows["variant"].str.contains("/unit")]
    return 1e6 * float(rows[returns]["queue"].min()), 1e6 * float(default["queue"].iloc[0])


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
        "In CUDA reading 64 MiB takes {:.1f} us so and {:.1f} forward, 256 MiB {:.1f} and {:.1f}, a gibibyte "
        "{:.0f} and {:.0f}; copying 64 MiB {:.1f} and {:.1f}, 128 MiB {:.1f} and {:.1f} (",
        lambda: [
            *(us for size in (64, 256, 1024) for us in limit("read", size)),
            *(us for size in (64, 128) for us in limit("copy", size)),
        ],
    ),
    (
        RESULTS,
        "OpenCL's plain filter of uint8 at 8192x8192 takes {:.1f} us so and {:.1f} by default, that of "
        "float32 at 4096x4096 {:.1f} and {:.1f}, but three channels of uint8 at 8192x8192 {:.0f} and "
        "{:.0f} (",
        lambda: [
            us
            for problem in (
                "laplacian four reflect_101 uint8C1 8192x8192",
                "laplacian four reflect_101 float32C1 4096x4096",
                "laplacian four reflect_101 uint8C3 8192x8192",
            )
            for us in filtered(problem)
        ],
    ),
    (
        KERNELS,
        "takes {:.1f} us so in portable OpenCL, {:.1f} forward (",
        partial(without_a_hint, "minmax uint8 8192x8192"),
    ),
]
ROWS: list[Figure] = []

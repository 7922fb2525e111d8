"""What is said of sources that nearly fill the cache or half of it, and of portable reductions of bytes."""

from __future__ import annotations

from harness.kernels.cache_hint import kept_sixteenths_of_copy
from tests.support.figures import KERNELS, RESULTS, TUNING, Figure
from tests.support.figures.atomics import times_as_fast
from tests.support.recorded import OWN, ends, table, where

FENCE, SHARES, EDGE = "h200-sweep-fence-uint16", "h200-sweep-kept-shares", "h200-sweep-cache-edge"
BYTES = "h200-sweep-portable-bytes"
CACHE_BYTES = 60 * 2**20
"""What an H200's driver says of the L2 cache."""


def kept(run: str, backend: str, source_bytes: int, sixteenths: int) -> float:
    """What a copy takes with so many sixteenths of its source kept."""
    rows = where(
        table(run),
        kind="bandwidth",
        backend=backend,
        source_bytes=source_bytes,
        variant=f"w4 l4 global 8/unit of 256 resident {sixteenths}/16",
    )
    return float(rows["queue"].iloc[0])


def copies() -> list[tuple[str, str, int]]:
    """The runs, APIs and sizes of the copies in both sweeps."""
    rows = {run: where(table(run), kind="bandwidth") for run in (SHARES, EDGE)}
    return [
        (run, api, size) for run, found in rows.items() for api in OWN for size in set(found["source_bytes"])
    ]


def by_the_rule() -> list[float]:
    """How many times as fast copies of 29 to 34 MB are with the rule's part kept as with all, and how much
    longer the rule's take than the best, in per cent, at every size.
    """
    all_that_fits = (
        kept(run, api, size, 16) / kept(run, api, size, kept_sixteenths_of_copy(size, CACHE_BYTES))
        for run, api, size in copies()
        if 29e6 < size < 34e6
    )
    most = max(
        kept(run, api, size, kept_sixteenths_of_copy(size, CACHE_BYTES))
        / min(kept(run, api, size, sixteenths) for sixteenths in range(10 if run == EDGE else 2, 17))
        for run, api, size in copies()
    )
    return [*ends(all_that_fits), 100 * (most - 1)]


def fenced() -> tuple[float, float]:
    """How many times the time OpenCL's plain mask and *diagonal* take at 4096x4096 with the default's groups
    and hint behind a fence.
    """
    gains = times_as_fast(FENCE, "opencl", "7/unit streaming", "7/unit fenced streaming", size="4096x4096")
    assert len(gains) == 2
    return ends(gains.values())


def bounded(backend: str, mask: str, groups: int) -> list[float]:
    """What a filter of uint16 takes at 4096x4096 with a bound of 72 registers, and without."""
    rows = where(table(EDGE), backend=backend, problem=f"laplacian {mask} reflect_101 uint16C1 4096x4096")
    shape = f"mapped w8 rows4 l4 32x4 {groups}/unit"
    variants = (f"{shape} 72 registers streaming", f"{shape} streaming")
    return [1e6 * where(rows, variant=each)["queue"].iloc[0] for each in variants]


def extremes_of_bytes() -> tuple[float, float]:
    """How many times as fast portable OpenCL's are with twice the groups and half the loads."""
    new, old = "l2 global 8/unit", "l4 global 4/unit"
    gains = times_as_fast(EDGE, "portable opencl", new, old, type=["uint8", "int8"])
    assert len(gains) == 6
    return ends(gains.values())


def other_bytes(op: str) -> tuple[float, float]:
    """The same of another operation."""
    return ends(
        times_as_fast(BYTES, "portable opencl", "l2 global 8/unit", "l4 global 4/unit", op=op).values()
    )


SENTENCES: list[Figure] = [
    (
        KERNELS,
        "copies of 29 to 34 MB are {:.2f} to {:.2f} times as fast so as with all kept, and at each size at "
        "most {:.1f} % slower than with the best part",
        by_the_rule,
    ),
    (TUNING, "OpenCL's plain mask and *diagonal* take {:.2f} to {:.2f} times as long behind a fence", fenced),
    (
        TUNING,
        "With a bound of 72 registers OpenCL's mask *eight* takes {:.1f} us there, without {:.1f}; CUDA's "
        "plain mask takes {:.1f} and {:.1f} us",
        lambda: [*bounded("opencl", "eight", 6), *bounded("cuda", "four", 7)],
    ),
    (
        RESULTS,
        "portable extremes of bytes are {:.2f} to {:.2f} times as fast by twice as many groups with half "
        "the loads",
        extremes_of_bytes,
    ),
    (
        RESULTS,
        "minmax is {:.2f} to {:.2f} times as fast so, and sums are {:.2f} to {:.2f} times",
        lambda: [*other_bytes("minmax"), *other_bytes("sum")],
    ),
]
ROWS: list[Figure] = []

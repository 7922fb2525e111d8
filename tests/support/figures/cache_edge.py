"""What is said of sources that nearly fill the cache or half of it, and of portable reductions of bytes."""

from __future__ import annotations

import re

from harness.kernels.cache_hint import kept_sixteenths_of_copy
from harness.variants.axes import SIXTEENTHS
from tests.support.figures import KERNELS, RESULTS, TUNING, Figure
from tests.support.figures.atomics import times_as_fast
from tests.support.machines import H200
from tests.support.recorded import OWN, ends, table, where

FENCE, SHARES, EDGE = "h200-sweep-fence-uint16", "h200-sweep-kept-shares", "h200-sweep-cache-edge"
BYTES = "h200-sweep-portable-bytes"


def copies() -> list[tuple[int, dict[int, float]]]:
    """The copies in both sweeps, by API: the size of the source, and the times by sixteenths kept."""
    found: dict[tuple[str, str, int], dict[int, float]] = {}
    for run in (SHARES, EDGE):
        for row in where(table(run), kind="bandwidth", backend=list(OWN)).to_dict("records"):
            sixteenths = int(re.findall(r"resident (\d+)/16$", row["variant"])[0])
            found.setdefault((run, row["backend"], row["source_bytes"]), {})[sixteenths] = row["queue"]
    return [(size, times) for (_, _, size), times in found.items()]


def by_the_rule() -> list[float]:
    """How many times as fast copies of 29 to 34 MB are with the rule's part kept as with all, and how much
    longer the rule's take than the best, in per cent, at every size.
    """
    rules = [
        (size, times[kept_sixteenths_of_copy(size, H200.cache_bytes)], times) for size, times in copies()
    ]
    all_that_fits = (times[SIXTEENTHS] / rule for size, rule, times in rules if 29e6 < size < 34e6)
    most = max(rule / min(times.values()) for _, rule, times in rules)
    return [*ends(all_that_fits), 100 * (most - 1)]


def fenced() -> tuple[float, float]:
    """How many times the time OpenCL's plain mask and *diagonal* take at 4096x4096 with the default's groups
    and hint behind a fence.
    """
    gains = times_as_fast(FENCE, "opencl", "7/unit streaming", "7/unit fenced streaming", size="4096x4096")
    assert len(gains) == 2
    return ends(gains.values())


def by_groups(run: str, problems: int, **wanted: str | list[str]) -> tuple[float, float]:
    """How many times as fast so many of portable OpenCL's are with twice the groups and half the loads."""
    gains = times_as_fast(run, "portable opencl", "l2 global 8/unit", "l4 global 4/unit", **wanted)
    assert len(gains) == problems
    return ends(gains.values())


SENTENCES: list[Figure] = [
    (
        KERNELS,
        "copies of 29 to 34 MB are {:.2f} to {:.2f} times as fast so as with all kept, and at each size at "
        "most {:.1f} % slower than with the best part",
        by_the_rule,
    ),
    (TUNING, "OpenCL's plain mask and *diagonal* took {:.2f} to {:.2f} times as long behind a fence", fenced),
    (
        RESULTS,
        "portable extremes of bytes are {:.2f} to {:.2f} times as fast by twice as many groups with half "
        "the loads",
        lambda: by_groups(EDGE, 6, type=["uint8", "int8"]),
    ),
    (
        RESULTS,
        "minmax is {:.2f} to {:.2f} times as fast so, and sums are {:.2f} to {:.2f} times",
        lambda: [*by_groups(BYTES, 3, op="minmax"), *by_groups(BYTES, 3, op="sum")],
    ),
]
ROWS: list[Figure] = []

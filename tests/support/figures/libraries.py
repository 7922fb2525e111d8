"""What is said of the leads over libraries, on the GPU."""

from __future__ import annotations

from functools import partial

import pandas as pd

from harness.results.statistics import geometric_mean
from tests.support.figures import BILLIONS, MAIN, RESULTS, Figure
from tests.support.recorded import OWN, contexts, ends, lead, leads, ratios, table, where


def least_leads() -> list[float]:
    """The least ratio of our kernels' speed to a library's at 268 million elements and at a billion, where
    none of the verdicts is *slower*.
    """
    found = [[leads(name, "hot", side) for side in OWN] for name in BILLIONS]
    assert all("slower" not in set(each["verdict"]) for of in found for each in of)
    return [min(each["gross"].min() for each in of) for of in found]


def us(backend: str, problem: str, variant: str = "library", run: str = "h200-peers") -> float:
    """What a library takes for a problem, in us."""
    return float(where(table(run), backend=backend, problem=problem, variant=variant)["queue"].iloc[0]) * 1e6


def as_images() -> list[float]:
    """NPP's minmax of bytes as that of an image in the main run, and as that of a signal in an older one."""
    problem, run = "minmax uint8 8192x8192", "h200-quick-other-host"
    found = [us("npp", problem, run=MAIN), us("npp", problem, run=run)]
    assert found[0] < found[1]
    one, other = (us("npp", "minmax uint8 16384x16384", run=run) for run in ("h200-peers", BILLIONS[0]))
    assert abs(one / other - 1) < 0.01
    return found


def plain_calls() -> tuple[float, ...]:
    """Libraries in the form of their plain call beside the form that the other runs have, in us."""

    extremes = ("minmax uint8 8192x8192", "minmax uint8 16384x16384")
    total, narrow = "sum float32 8192x8192", "library, narrow sums"
    return (
        *(us(backend, problem) for problem in extremes for backend in ("cub", "cuda_compute")),
        *(us("torch", total, variant) for variant in (narrow, "library")),
    )


def by_size(library: str) -> tuple[float, ...]:
    """CUDA's mean lead over a library: over all hot sizes up to 2^28 elements, at each of them, and cold."""
    names = ("h200-libraries", BILLIONS[0])
    all_sizes = [ratio for name in names for ratio in where(leads(name), second_backend=library)["gross"]]
    cold = lead("h200-libraries", library, "cold")[0]
    return geometric_mean(all_sizes), *(lead(name, library)[0] for name in names), cold


def all_faster() -> list[float]:
    """Of the verdicts up to 16 million elements, hot and cold, of both APIs how many are *faster*, and how
    many there are; the others are those of one cold sum, *ambiguous*: how many, and the ends of their ratios.
    """
    assert contexts("h200-libraries")[:2] == (4, 14)
    found = pd.concat([leads("h200-libraries", cached, side) for cached in ("hot", "cold") for side in OWN])
    assert set(found["verdict"]) == {"faster", "ambiguous"}
    open_ones = where(found, verdict="ambiguous")
    assert set(open_ones["problem"]) == {"sum float32 4096x4096"}
    assert set(open_ones["cache"]) == {"cold"}
    assert set(open_ones["contexts"]) == {1}
    return [len(found) - len(open_ones), len(found), len(open_ones), *ends(open_ones["gross"])]


SENTENCES: list[Figure] = [
    (
        RESULTS,
        "Up to 16 million elements {} of the {} verdicts are *faster*, in four to 14 contexts; {} are "
        "*ambiguous*, a sum of float32 at 4096x4096 from memory, at {:.3f} to {:.3f} beside CUB's and "
        "CuPy's in float32, in one ([by segments]",
        all_faster,
    ),
    (
        RESULTS,
        "OpenCL is at {:.3f} of CUDA's speed in the mean hot, at {:.3f} cold.",
        lambda: [
            geometric_mean(where(ratios("h200-libraries"), cache=cached)["gross"])
            for cached in ("hot", "cold")
        ],
    ),
    (
        RESULTS,
        "CUB in C++ takes {:.1f} us for minmax of uint8 at 8192x8192 where it takes {:.1f} from Python, "
        "and {:.1f} where {:.1f} at 16384x16384; PyTorch's plain sum of float32 {:.1f} where {:.0f} in "
        "float64.",
        plain_calls,
    ),
    (
        RESULTS,
        "No library is ahead in any of these cells, either: CUDA's least lead is {:.2f}",
        lambda: (float(leads("h200-peers")["gross"].min()),),
    ),
    (
        RESULTS,
        "minmax of uint8 at 8192x8192 takes {:.1f} us so (main run) where it took {:.1f} as a signal "
        "([another",
        as_images,
    ),
    (
        RESULTS,
        "The least ratio to a library is {:.3f} at 268 million and {:.3f} at a billion; no",
        least_leads,
    ),
]

ROWS: list[Figure] = [
    (
        RESULTS,
        "| none is *faster*. The least ratio of CUDA's to a library's is {:.3f} at 2^28, {:.3f} at 2^30 | "
        "met |",
        lambda: [leads(name)["gross"].min() for name in BILLIONS],
    ),
    *(
        (
            RESULTS,
            f"as fast as {library.upper()} in the geometric mean | hot "
            "{:.2f} ({:.2f} to 2^24 elements, {:.2f} at 2^28), cold {:.2f} |",
            partial(by_size, library),
        )
        for library in ("cub", "npp")
    ),
]

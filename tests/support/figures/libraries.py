"""What is said of the leads over libraries, on the GPU."""

from __future__ import annotations

from functools import partial

import pandas as pd

from harness.results.statistics import geometric_mean
from tests.support.figures import BILLIONS, MAIN, RESULTS, Figure
from tests.support.recorded import OWN, contexts, lead, leads, ratios, table, where


def least_lead() -> tuple[float]:
    """By how many per cent our kernels lead where they lead least, at 268 million elements."""
    return (100 * (min(leads(BILLIONS[0], "hot", side)["gross"].min() for side in OWN) - 1),)


def at_a_billion() -> tuple[float]:
    """The same in the older run at a billion."""
    return (100 * (min(leads(BILLIONS[1], "hot", side)["gross"].min() for side in OWN) - 1),)


def us(backend: str, problem: str, variant: str = "library", run: str = "h200-peers") -> float:
    """What a library takes for a problem, in us."""
    return float(where(table(run), backend=backend, problem=problem, variant=variant)["queue"].iloc[0]) * 1e6


def as_images() -> list[float]:
    """NPP's minmax of narrow types as that of an image, and in other runs as that of a signal, in us; its min
    of bytes takes as long in either form.
    """
    found = []
    for problem, run in (
        ("minmax uint8 8192x8192", MAIN),
        ("minmax uint8 16384x16384", BILLIONS[0]),
        ("minmax int16 8192x8192", "h200-modern"),
    ):
        found += [us("npp", problem), us("npp", problem, run=run)]
        assert found[-2] < found[-1]
    one, other = (us("npp", "min uint8 16384x16384", run=run) for run in ("h200-peers", BILLIONS[0]))
    assert abs(one / other - 1) < 0.01
    return found


def plain_calls() -> tuple[float, ...]:
    """Libraries in the form of their plain call beside the form that the other runs have, in us."""

    extremes = ("minmax uint8 8192x8192", "minmax uint8 16384x16384")
    total, narrow = "sum float32 8192x8192", "library, narrow sums"
    return (
        *(us(backend, problem) for problem in extremes for backend in ("cub", "cuda_compute")),
        *(us("torch", total, variant) for variant in (narrow, "library")),
        *(us("npp", f"minmax uint8 {shape}") for shape in ("6553600", "2560x2560")),
    )


def by_size(library: str) -> tuple[float, ...]:
    """CUDA's mean lead over a library: over all hot sizes up to 2^28 elements, at each of them, and cold."""
    names = ("h200-libraries", BILLIONS[0])
    all_sizes = [ratio for name in names for ratio in where(leads(name), second_backend=library)["gross"]]
    cold = lead("h200-libraries", library, "cold")[0]
    return geometric_mean(all_sizes), *(lead(name, library)[0] for name in names), cold


def all_but_one_faster() -> list[float]:
    """How many verdicts up to 16 million elements, hot and cold, of both APIs are *faster*, of how many; the
    contexts; and the ratio of the one that is *ambiguous*.
    """
    found = pd.concat([leads("h200-libraries", cached, side) for cached in ("hot", "cold") for side in OWN])
    other = found[found["verdict"] != "faster"].iloc[0]
    assert (other["problem"], other["cache"]) == ("sum float32 4096x4096", "cold")
    assert (other["first_backend"], other["second_variant"]) == ("opencl", "library, narrow sums")
    assert (other["second_backend"], other["verdict"]) == ("cub", "ambiguous")
    return [
        int((found["verdict"] == "faster").sum()),
        len(found),
        contexts("h200-libraries")[1],
        other["gross"],
    ]


SENTENCES: list[Figure] = [
    (
        RESULTS,
        "Up to 16 million elements {} of the {} verdicts are *faster*, in {} contexts; the other, of "
        "OpenCL's sum of float32 at 4096x4096 from a cold cache beside CUB's that adds in float32, is "
        "*ambiguous*, at {:.2f}.",
        all_but_one_faster,
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
        "float64; NPP's minmax of 6.6 million bytes {:.1f} as a signal where {:.1f} as an image.",
        plain_calls,
    ),
    (
        RESULTS,
        "No library is ahead in any of these cells, either: CUDA's least lead is {:.2f}",
        lambda: (float(leads("h200-peers")["gross"].min()),),
    ),
    (
        RESULTS,
        "minmax of uint8 takes {:.1f} us so at 8192x8192 where it takes {:.1f} as a signal (main run), and "
        "{:.1f} where {:.1f} at 16384x16384 ([run](../reports/examples/h200-libraries-268.jsonl.xz)); of "
        "int16 {:.1f} where {:.1f} at 8192x8192 (`modern`).",
        as_images,
    ),
    (RESULTS, "at least {:.1f} % at 268 million,", least_lead),
    (RESULTS, "at a billion, in the older run, {:.1f} %.", at_a_billion),
]

ROWS: list[Figure] = [
    (
        RESULTS,
        "| none. The least lead of CUDA's is {:.3f} at 2^28; at 2^30 {:.3f}, in an older run beside CUB from "
        "Python | met to 2^28, open at 2^30 |",
        lambda: [leads(name)["gross"].min() for name in BILLIONS],
    ),
    *(
        (
            RESULTS,
            "| hot {:.2f} ({:.2f} to 2^24 elements, {:.2f} at 2^28), cold {:.2f} |",
            partial(by_size, library),
        )
        for library in ("cub", "npp")
    ),
]

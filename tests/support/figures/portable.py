"""What is said of portable OpenCL against CUDA's own kernels."""

from __future__ import annotations

from typing import Any

import pandas as pd

from harness.results.statistics import geometric_mean
from tests.support.figures import MAIN, RESULTS, Figure
from tests.support.recorded import ratios, table, where


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


def least_ratios() -> list[float]:
    """The least ratio of all, and the least of those of 2560x2560."""
    found = [portable(**wanted).sort_values("gross").iloc[0] for wanted in ({}, {"size": "2560x2560"})]
    assert [row["problem"] for row in found] == ["sum uint8 8192x8192", "sum float64 2560x2560"]
    return [row["gross"] for row in found]


def two_loads() -> tuple[float, ...]:
    """A portable sum with two loads in flight, and with four."""
    rows = where(table("h200-sweep-portable"), problem="sum float64 2560x2560", backend="portable opencl")
    of = "buffer w2 l{} global 4/unit of 256 quad builtin scalar flagged portable"
    return tuple(1e6 * where(rows, variant=of.format(loads))["queue"].iloc[0] for loads in (2, 4))


SENTENCES: list[Figure] = [
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
        "The least ratios are {:.2f}, of a sum of uint8 at 8192x8192, and {:.2f}, of a sum of float64 at "
        "2560x2560",
        least_ratios,
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
]

ROWS: list[Figure] = [
    (
        RESULTS,
        "| reductions | {:.2f} | {:.2f} | {:.2f} | | Laplace filters | {:.2f} | {:.2f} | {:.2f} |",
        lambda: [*portable_means("reduction"), *portable_means("laplace")],
    ),
]

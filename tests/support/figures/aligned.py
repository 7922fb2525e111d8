"""What is said of the neighbours of filters of three channels, by single and by aligned loads."""

from __future__ import annotations

import re

from tests.support.figures import NOTES, TUNING, Figure
from tests.support.figures.filters import FORMS, us
from tests.support.recorded import OWN, contexts, table, where

ALIGNED = "h200-sweep-aligned"


def neighbours(side: int, kind: str = "uint8", hint: str = "") -> list[float]:
    """A filter of three channels, its neighbours by single and by aligned loads, in each API in turn."""
    start = {"uint8": "mapped w16 rows4 l4 32x4{} paired", "uint16": "mapped w8 rows4 l4 32x4{}"}[kind]
    problem = f"laplacian four reflect_101 {kind}C3 {side}x{side}"
    return [
        us(ALIGNED, backend, problem=problem, variant=start.format(loads) + hint)
        for backend in OWN
        for loads in ("", " aligned")
    ]


def wide_neighbours() -> list[float]:
    """The same of float32, in the sweep of forms, in OpenCL."""
    problem = "laplacian four reflect_101 float32C3 2560x2560"
    variants = ("mapped w4 rows4 l4 32x4", "mapped w4 rows4 l4 32x4 aligned")
    return [us(FORMS, "opencl", problem=problem, variant=variant) for variant in variants]


def aligned_gain() -> list[float]:
    """By how many per cent aligned loads shorten CUDA's plain filter at 8192x8192, and its registers."""
    _, _, single, aligned = neighbours(8192)
    rows = where(table(ALIGNED), backend="cuda", problem="laplacian four reflect_101 uint8C3 8192x8192")
    taken = [
        int(
            re.findall(
                r"(\d+) registers",
                where(rows, variant=f"mapped w16 rows4 l4 32x4{loads} paired")["resources"].iloc[0],
            )[0]
        )
        for loads in (" aligned", "")
    ]
    return [*taken, 100 * (1 - aligned / single)]


SENTENCES: list[Figure] = [
    (TUNING, "h200-sweep-aligned.jsonl.xz), {} to {} contexts) bring", lambda: contexts(ALIGNED)[:2]),
    (
        TUNING,
        "bring uint8 at 8192x8192 from {:.1f} us to {:.1f} in OpenCL and from {:.1f} to {:.1f} in CUDA, at "
        "2560x2560 from {:.1f} to {:.1f} and from {:.1f} to {:.1f}.",
        lambda: [*neighbours(8192), *neighbours(2560, hint=" streaming_stores")],
    ),
    (
        TUNING,
        "uint16 at 8192x8192 goes from {:.1f} us to {:.1f} and from {:.1f} to {:.1f}.",
        lambda: neighbours(8192, "uint16"),
    ),
    (
        TUNING,
        "single loads take {0:.2f} and {2:.2f} us, aligned ones {1:.2f} and {3:.2f}.",
        lambda: neighbours(1280),
    ),
    (TUNING, "takes {:.1f} us by single loads and {:.1f} by aligned ones.", wide_neighbours),
    (NOTES, "{} registers of {}, and it takes {:.0f} % less time", aligned_gain),
]

ROWS: list[Figure] = []

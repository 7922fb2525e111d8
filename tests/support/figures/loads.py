"""What is said of the order in which a filter's loads are issued, and of what was swept beside that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tests.support.figures import KERNELS, TUNING, Figure
from tests.support.figures.filters import us
from tests.support.recorded import ends, table, where

ORDER, SIZES, SMALL = "h200-sweep-load-order", "h200-sweep-load-sizes", "h200-sweep-interior-small"
REGISTERS, BOUNDS, MEMORY = "h200-sweep-registers-loads", "h200-sweep-three-bounds", "h200-sweep-three-memory"
RUNS = (ORDER, SIZES, SMALL, REGISTERS, BOUNDS)
FENCED, BOUND = " fenced", re.compile(r" \d+ registers")


def gains(
    kind: str, masks: Sequence[str], sides: Iterable[int], *apis: str, per: str = FENCED
) -> list[float]:
    """How many times as fast filters without a bound are with one part of their form as without it, in all of
    the sweeps.

    ``kind``: type and channels. ``sides``: of the square images. ``per``: the part as tables write it.
    """
    found = []
    for run in RUNS:
        rows = where(table(run), type=kind, size=[f"{side}x{side}" for side in sides], backend=list(apis))
        for _, cell in rows[~rows["variant"].str.contains(BOUND)].groupby(["problem", "backend"]):
            if cell["problem"].iloc[0].split()[1] not in masks:
                continue
            times = cell.set_index("variant")["queue"]
            pairs = [(each.replace(per, ""), each) for each in times.index if per in each]
            found += [float(times[without] / times[given]) for without, given in pairs if without in times]
    assert found
    return found


CORNERS = ("diagonal", "eight", "eight_negated")
ALL = ("four", *CORNERS)
IN_ONE_TURN, FROM_MEMORY = (1280, 1536, 1792, 2048, 2560), (4096, 5120, 6144, 8192)
INTERIOR = " specialized"


def three_channels(run: str, side: int, form: str, *masks: str) -> list[float]:
    """Three channels of bytes from memory with each mask, in us, in OpenCL without and with the bound, and in
    CUDA without.
    """
    return [
        us(
            run,
            api,
            problem=f"laplacian {mask} reflect_101 uint8C3 {side}x{side}",
            variant=form.format(bound),
        )
        for mask in masks
        for api, bound in (("opencl", ""), ("opencl", " 72 registers"), ("cuda", ""))
    ]


def bounded_and_fenced() -> list[float]:
    """CUDA's mask *eight* of one channel of bytes at 2560x2560: with the bound, with the fence, in us."""
    problem = "laplacian eight reflect_101 uint8C1 2560x2560"
    form = "mapped w16 rows4 l4 32x2 specialized halves{}"
    return [us(REGISTERS, "cuda", problem=problem, variant=form.format(x)) for x in (" 72 registers", FENCED)]


SENTENCES: list[Figure] = [
    (
        KERNELS,
        "those of one channel up to 2560x2560 are {:.2f} to {:.2f} times as fast with it, of four up to "
        "1536x1536 {:.2f} to {:.2f} times. From memory, from 4096x4096 on, those of one channel are "
        "{:.2f} to {:.2f} times as fast.",
        lambda: [
            *ends(gains("uint8C1", CORNERS, IN_ONE_TURN, "cuda")),
            *ends(gains("uint8C4", CORNERS, (256, 512, 768, 1024, 1280, 1536), "cuda")),
            *ends(gains("uint8C1", CORNERS, FROM_MEMORY, "cuda")),
        ],
    ),
    (
        KERNELS,
        "from 512x512 to 2560x2560 {:.2f} to {:.2f} times as fast, at 8192x8192 {:.2f} to {:.2f} times.",
        lambda: [
            *ends(gains("float32C1", ALL, (512, 1024, 1536, 2560), "cuda")),
            *ends(gains("float32C1", ALL, (8192,), "cuda")),
        ],
    ),
    (
        KERNELS,
        "of 26 MB {:.2f} to {:.2f} times as fast), and of float32 with one channel where all neighbours "
        "weigh: up to 1536x1536 {:.2f} to {:.2f} times, at 8192x8192 {:.2f} to {:.2f} times.",
        lambda: [
            *ends(gains("float32C1", ALL, (2560,), "opencl")),
            *ends(gains("float32C1", ("eight", "eight_negated"), (512, 1024, 1536), "opencl")),
            *ends(gains("float32C1", ("eight", "eight_negated"), (8192,), "opencl")),
        ],
    ),
    (
        KERNELS,
        "{:.2f} to {:.2f} times, but not CUDA's in turn, which are {:.2f} times as fast.",
        lambda: [
            *ends(gains("float32C4", ("diagonal",), (512, 1024, 1920, 2560, 4096, 8192), "opencl", "cuda")),
            *gains("float32C4", ("diagonal",), (1280,), "cuda"),
        ],
    ),
    (
        KERNELS,
        "OpenCL's of one channel of bytes are {:.2f} to {:.2f} times as fast with it, those of uint16 in "
        "either API {:.2f} to {:.2f} times, three channels of bytes {:.2f} to {:.2f} times.",
        lambda: [
            *ends(gains("uint8C1", ALL, (256, 512, 1024, *IN_ONE_TURN, 3072, 4096, 8192), "opencl")),
            *ends(gains("uint16C1", ALL, (512, 1024, 1536, 2560, 8192), "opencl", "cuda")),
            *ends(gains("uint8C3", ALL, (1280, 2560, 8192), "opencl", "cuda")),
        ],
    ),
    (
        KERNELS,
        "filters of one channel of bytes from 256x256 to 1792x1792 are {:.2f} to {:.2f} times as fast with "
        "the interior for itself, of four up to 1024x1024 {:.2f} to {:.2f} times",
        lambda: [
            *ends(gains("uint8C1", ALL, (256, 512, 1024, 1280, 1536, 1792), "opencl", "cuda", per=INTERIOR)),
            *ends(gains("uint8C4", ALL, (256, 512, 1024), "opencl", "cuda", per=INTERIOR)),
        ],
    ),
    (
        TUNING,
        "At 4096x4096 that takes *diagonal* from {:.1f} us to {:.1f}, and CUDA without a bound takes {:.1f}; "
        "*eight* from {:.1f} to {:.1f}, CUDA {:.1f}. At 8192x8192 it takes *eight* from {:.1f} to {:.1f}, "
        "CUDA {:.1f}.",
        lambda: [
            *three_channels(
                BOUNDS,
                4096,
                "mapped w16 rows4 l4 32x4 aligned specialized halves{} resident",
                "diagonal",
                "eight",
            ),
            *three_channels(MEMORY, 8192, "mapped w16 rows4 l4 32x4 aligned specialized halves{}", "eight"),
        ],
    ),
    (
        TUNING,
        "*eight* takes {:.1f} us so, and {:.1f} by four rows.",
        lambda: [
            us(
                MEMORY,
                "opencl",
                problem="laplacian eight reflect_101 uint16C3 8192x8192",
                variant=f"mapped w8 rows{rows} l1 32x4 async_tile",
            )
            for rows in (8, 4)
        ],
    ),
    (
        TUNING,
        "CUDA's mask *eight* of one channel of bytes takes {:.2f} us with the bound on its registers, and "
        "{:.2f} with the fence in its place ([sweep]",
        bounded_and_fenced,
    ),
]

ROWS: list[Figure] = []

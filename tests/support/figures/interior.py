"""What is said of filters whose interior is compiled for itself, and of what was swept beside that."""

from __future__ import annotations

import re

from tests.support.figures import KERNELS, NOTES, RESULTS, TUNING, Figure
from tests.support.figures.filters import us
from tests.support.recorded import FOLDER, OWN, by_hint, ends, table, where

KINDS = ("uint8C1", "uint8C3", "uint8C4", "uint16C1", "uint16C3", "float32C1", "float32C3")
SWEEP, TURNS, SHAPES = "h200-sweep-interior", "h200-sweep-interior-turns", "h200-sweep-filter-shapes"
HINTS, WINDOW = "h200-sweep-filter-hints", "h200-sweep-window"
OPENCL = "h200-sweep-interior-opencl"
INSIDE = " specialized"


def gains(border: str, *kinds: str) -> tuple[float, float]:
    """How many times as fast a filter is with its interior compiled for itself, at least and at most, in
    either API, at 2560x2560 and 8192x8192.
    """
    rows = where(table(SWEEP), kind="laplace", purpose="compare", status="ok", type=list(kinds))
    rows = rows[rows["problem"].str.contains(rf" {border}\b") & ~rows["size"].str.startswith("1280")]
    found = []
    for _, cell in rows.groupby(["problem", "backend"]):
        times = cell.set_index("variant")["queue"]
        inside = times[times.index.str.contains(INSIDE)]
        (general,) = times.index.difference(inside.index)
        (same,) = (variant for variant in inside.index if variant.replace(INSIDE, "") == general)
        found.append(float(times[general] / times[same]))
    assert found
    return ends(found)


def gains_in_turn(border: str, *kinds: str) -> tuple[float, float]:
    """The same of OpenCL's tiles in turn; of all kinds where none is named."""
    rows = where(table(OPENCL), kind="laplace", purpose="compare", status="ok")
    rows = rows[rows["problem"].str.contains(rf" {border}\b")]
    found = []
    for _, cell in where(rows, type=list(kinds or set(rows["type"]))).groupby("problem"):
        times = cell.set_index("variant")["queue"]
        inside = times.index.str.contains(INSIDE)
        assert len(times) == 2
        found.append(float(times[~inside].iloc[0] / times[inside].iloc[0]))
    return ends(found)


def in_turn() -> list[float]:
    """Three channels of uint8 at 2560x3328, all tiles alike and with the interior for itself, in each API."""
    problem = "laplacian four reflect_101 uint8C3 2560x3328"
    form = "mapped w16 rows4 l4 32x4 aligned {}paired 7/unit streaming_stores"
    return [
        us(TURNS, side, problem=problem, variant=form.format(inside))
        for inside in ("", "specialized ")
        for side in OWN
    ]


def windowed() -> list[float]:
    """CUDA's minmax of 64 MiB of bytes from a hot cache: with the window, with resident, and with neither."""
    found = by_hint(WINDOW, backend="cuda", cache="hot", problem="minmax uint8 8192x8192")
    return [found[hint].iloc[0] for hint in ("window", "resident", "none")]


def slower_by_the_window() -> tuple[float, float]:
    """By how many per cent sources of 128 MiB and more are slower with the window than without a hint."""
    large = [f"minmax {source}" for source in ("int32 8192x8192", "float64 4096x4096", "float64 8192x8192")]
    found = by_hint(WINDOW, backend="cuda", problem=large)
    assert len(found) == 2 * len(large), "hot and cold"
    return ends(100 * (found["window"] / found["none"] - 1))


def hinted(size: str, *hints: str) -> list[float]:
    """The plain filter of uint8 from a hot cache with each hint, in us, in OpenCL and then in CUDA."""
    found = by_hint(HINTS, cache="hot", problem=f"laplacian four reflect_101 uint8C1 {size}")
    return [found[hint][side].iloc[0] for hint in hints for side in OWN]


def behind_the_best(backend: str) -> float:
    """By how many per cent the default's shape is slower than the fastest of 18, at most, in one API."""
    rows = where(table(SHAPES), kind="laplace", purpose="compare", backend=backend)
    found = []
    for _, cell in rows.groupby("problem"):
        times = cell.set_index("variant")["queue"]
        (default,) = (each for each in times.index if re.search(r"rows4 l4 32x4\b", each))
        found.append(100 * (float(times[default] / times.min()) - 1))
    return max(found)


def two_rows() -> list[float]:
    """The range of the forms of uint8 with two rows a work-item, in us, in CUDA and then in OpenCL."""
    rows = where(table(SHAPES), kind="laplace", purpose="compare", type="uint8C1")
    rows = rows[rows["variant"].str.contains("rows2")]
    return [1e6 * each for side in ("cuda", "opencl") for each in ends(where(rows, backend=side)["queue"])]


def profiled(row: str) -> list[float]:
    """What the profile says of the copy, the streaming copy and both filters."""
    lines = (FOLDER / "h200-ncu-interior.txt").read_text(encoding="utf-8").splitlines()
    (found,) = (line.split()[-4:] for line in lines if line.startswith(row))
    return [float(each) for each in found]


SENTENCES: list[Figure] = [
    (
        KERNELS,
        "at 2560x2560 and 8192x8192 {:.2f} to {:.2f} times as fast within the border *constant*, filters of "
        "bytes within reflect_101 {:.2f} to {:.2f} times, those of uint16 and float32 {:.2f} to {:.2f} times",
        lambda: [
            *gains("constant", *KINDS),
            *gains("reflect_101", "uint8C1", "uint8C3", "uint8C4"),
            *gains("reflect_101", "uint16C1", "uint16C3", "float32C1", "float32C3"),
        ],
    ),
    (
        KERNELS,
        "such filters of 26 MB are {:.2f} to {:.2f} times as fast with it, and with one channel, {:.2f} to "
        "{:.2f} times; with several channels {:.2f} to {:.2f} times within reflect_101",
        lambda: [
            *gains_in_turn("constant"),
            *gains_in_turn("reflect_101", "uint8C1"),
            *gains_in_turn("reflect_101", "uint8C3", "uint8C4"),
        ],
    ),
    (
        KERNELS,
        "minmax of uint8 at 8192x8192, 64 MiB, takes {:.1f} us with it, {:.1f} with *resident* and {:.1f} "
        "without a hint; from 128 MiB on it is {:.1f} to {:.1f} % slower than without, hot and cold",
        lambda: [*windowed(), *slower_by_the_window()],
    ),
    (
        TUNING,
        "three channels of uint8 at 2560x3328 take {:.1f} us in OpenCL and {:.1f} in CUDA, with the interior "
        "compiled for itself {:.1f} and {:.1f} ([sweep]",
        in_turn,
    ),
    (
        RESULTS,
        "one channel of uint8 at 4096x4096 takes {:.1f} and {:.1f} us so, {:.1f} and {:.1f} without",
        lambda: hinted("4096x4096", "streaming_stores", "none"),
    ),
    (
        TUNING,
        "the default's is within {:.1f} % of the fastest in CUDA and {:.1f} % in OpenCL",
        lambda: [behind_the_best("cuda"), behind_the_best("opencl")],
    ),
    (
        TUNING,
        "One channel of uint8 takes {:.1f} to {:.1f} us in CUDA and {:.1f} to {:.1f} in OpenCL with two "
        "rows a work-item",
        two_rows,
    ),
    (
        NOTES,
        "at 8192x8192 {:.1f} and {:.1f} us with *streaming* in place of {:.1f} and {:.1f} ([run]",
        lambda: hinted("8192x8192", "streaming", "none"),
    ),
    (
        NOTES,
        "busy to {:.1f} % in the copy that reaches the limit and to {:.1f} % in the filter, which takes "
        "{:.1f} us to the copy's {:.1f} when a profiler",
        lambda: [
            *profiled("Connection")[1::2],
            *profiled("Duration")[3:0:-2],
        ],
    ),
    (
        NOTES,
        "{:.1f} million instructions in place of {:.1f} at 8192x8192",
        lambda: [each / 1e6 for each in profiled("Executed")[3:1:-1]],
    ),
]

ROWS: list[Figure] = []

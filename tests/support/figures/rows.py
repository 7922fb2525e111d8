"""What is said of rows a work-item and heights of groups by which images fill the compute units evenly."""

from __future__ import annotations

import math

from tests.support.figures import TUNING, Figure
from tests.support.recorded import ends, table, where

EVEN, ROWS_RUN = "h200-sweep-even-rows", "h200-sweep-rows"
UNITS = 132
USUAL, FEWER = 4, 3
BYTES, SHAPE = {"uint8": 1, "uint16": 2, "float32": 4}, "rows{0} l{0} 32x4"


def most_rows(kind: str, size: str, rows: int) -> int:
    """Rows of the groups of that of an H200's compute units which has most of them."""
    width, height = (int(each) for each in size.split("x"))
    dtype, channels = kind.split("C")
    across = math.ceil(width * int(channels) * BYTES[dtype] / (32 * 16))
    return math.ceil(across * math.ceil(height / (4 * rows)) / UNITS) * rows


def gains(kinds: tuple[str, ...], *, even: bool) -> list[float]:
    """How many times as fast filters of up to three groups a unit are with three rows an item as with four.

    ``even``: those whose busiest compute unit has fewer rows so, or the others.
    """
    found = []
    for run in (ROWS_RUN, EVEN):
        rows = where(table(run), type=list(kinds), status="ok")
        for (problem, _), cell in rows[rows["size"] != "2560x2560"].groupby(["problem", "backend"]):
            *_, kind, size = str(problem).split()
            if even != (most_rows(kind, size, FEWER) < most_rows(kind, size, USUAL)):
                continue
            times = {
                count: float(cell[cell["variant"].str.contains(SHAPE.format(count))]["queue"].item())
                for count in (USUAL, FEWER)
            }
            found.append(times[USUAL] / times[FEWER])
    return found


def at_2560(*backends: str) -> list[float]:
    """How many times as fast images of 2560x2560 are with other rows and heights as by default."""
    found = []
    cells = where(table(ROWS_RUN), size="2560x2560", backend=list(backends)).groupby(["problem", "backend"])
    for _, cell in cells:
        # The suite names the default first.
        default, *others = cell.sort_values("number")["queue"]
        found += [float(default / each) for each in others]
    return found


def in_five_rows(kind: str, mask: str, shape: str) -> float:
    """How many times as fast a filter is in OpenCL with five rows as with four."""
    rows = where(table(ROWS_RUN), problem=f"laplacian {mask} reflect_101 {kind} 2560x2560", backend="opencl")
    times = [
        float(rows[rows["variant"].str.contains(f"rows{count} l{count} {shape}")]["queue"].item())
        for count in (USUAL, 5)
    ]
    return times[0] / times[1]


def evened() -> list[float]:
    """Images of bytes and of uint16: the ends where the busiest unit has less to do, in how many cells they
    are faster by 1.5 %, of how many, and the ends elsewhere; those of float32.
    """
    found = gains(("uint8C1", "uint8C3", "uint8C4", "uint16C1"), even=True)
    faster = [gain for gain in found if gain >= 1.015]
    others = gains(("uint8C1", "uint16C1"), even=False)
    return [*ends(found), len(faster), len(found), *ends(others), *ends(gains(("float32C1",), even=True))]


SENTENCES: list[Figure] = [
    (
        TUNING,
        "are {:.2f} to {:.2f} times as fast with three rows as with four where that leaves the busiest unit "
        "with fewer rows, in {} of {} cells by 1.5 % or more, and {:.2f} to {:.2f} times elsewhere; of "
        "float32 {:.2f} to {:.2f} times",
        evened,
    ),
    (
        TUNING,
        "OpenCL is {:.2f} to {:.2f} times as fast as by default and CUDA {:.2f} to {:.2f} times.",
        lambda: [*ends(at_2560("opencl")), *ends(at_2560("cuda"))],
    ),
    (
        TUNING,
        "OpenCL's mask *eight* of one channel of bytes and its *diagonal* of three are {:.2f} times as fast "
        "with five rows.",
        lambda: [
            min(in_five_rows("uint8C1", "eight", "32x2"), in_five_rows("uint8C3", "diagonal", "32x4")),
        ],
    ),
]
ROWS: list[Figure] = []

"""What the performance notes say of the kernels: how they finish, their loads, their places."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.results.statistics import geometric_mean
from tests.checkers.calls import calls
from tests.support.figures import KERNELS, NOTES, Figure
from tests.support.recorded import OWN, by_finish, over_limit, ratios, table, where


def means(name: str, place: int) -> Callable[[], Sequence[float]]:
    """The ratios in the mean of the reductions (0) or filters (1), from the smallest size to the largest."""
    kind = ("reduction", "laplace")[place]
    sizes = ("8192x8192", "2560x2560", "1280x1280")
    return lambda: [geometric_mean(where(ratios(name), kind=kind, size=size)["gross"]) for size in sizes]


def loads() -> tuple[float, ...]:
    """A profiler's trigger against none."""
    without, executed = (
        where(table(name), purpose="compare").groupby(["problem", "backend"])["queue"].min()
        for name in ("h200-loads", "h200-loads-trigger")
    )
    gained = without / executed
    bytes_lost = 100 * (1 / gained["sum uint8 2560x2560"].min() - 1)
    return *(gained["minmax float64 1280x1280"][side] for side in OWN), bytes_lost


def places() -> tuple[float, ...]:
    """Of the limit's time, minmaxloc of two types: the slower side."""
    asked = ("minmaxloc float32 2560x2560", "minmaxloc float64 1280x1280")
    return tuple(over_limit("h200-minmaxloc", not_op="", problem=problem)[1] for problem in asked)


SENTENCES: list[Figure] = [
    (KERNELS, "every default of GPUs, {} calls at small odd sizes.", lambda: [len(calls())]),
    (
        NOTES,
        "one or two trips are enough: in the mean {:.2f} (OpenCL) and {:.2f} (CUDA) times as fast at "
        "1280x1280",
        lambda: [
            geometric_mean(by_finish("h200-sweep-finish", "last_group", "flagged", size="1280x1280")[side])
            for side in OWN
        ],
    ),
    (
        NOTES,
        "Against flags that is in the mean {:.2f} (OpenCL) and {:.2f} (CUDA) times as fast at 1280x1280, "
        "and {:.2f} and {:.2f} at 2560x2560",
        lambda: [
            geometric_mean(by_finish("h200-sweep-alternating", "flagged", "alternating", size=size)[side])
            for size in ("1280x1280", "2560x2560")
            for side in OWN
        ],
    ),
    (
        NOTES,
        "takes at most {:.2f} times the limit's time, of float64 at 1280x1280 {:.2f} times",
        places,
    ),
    (NOTES, "at 1280x1280 {:.2f} (OpenCL) and {:.2f} (CUDA) times as fast as", lambda: loads()[:2]),
    (NOTES, "but costs sums of bytes {:.0f} %.", lambda: loads()[2:]),
    (
        NOTES,
        "the same reductions came out at {:.2f}, {:.2f} and {:.2f} of CUDA's speed, the filters at {:.2f}, "
        "{:.2f} and {:.2f} (",
        lambda: [value for place in (0, 1) for value in means("h200-quick-second-queue", place)()],
    ),
]

ROWS: list[Figure] = []

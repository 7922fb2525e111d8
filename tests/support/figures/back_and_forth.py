"""What is said of how the defaults of filters that go back and forth were found."""

from __future__ import annotations

from itertools import product

import pandas as pd

from tests.support.figures import TUNING, Figure
from tests.support.figures.traversal import BACK, EDGE, EDGE_TYPES, MASKS, TYPES, both_ways
from tests.support.recorded import OWN, table, where

APIS = tuple(reversed(OWN))
"""CUDA first, as the sentences have it."""


def us(run: str, api: str, of: str, *said: str, unsaid: tuple[str, ...] = (), hint: str = "") -> float:
    """The time of a hot filter: of the fastest variant whose name says some words and not others, by its hint
    where one is given.
    """
    rows = where(table(run), backend=api, cache="hot", kind="laplace", status="ok")
    mask, image = of.split(" ", 1)
    rows = where(rows, problem=f"laplacian {mask} reflect_101 {image}")
    for word in said:
        rows = rows[rows["variant"].str.contains(word, regex=False)]
    for word in unsaid:
        rows = rows[~rows["variant"].str.contains(word, regex=False)]
    if hint:
        rows = rows[rows["variant"].str.endswith(f" {hint}")]
    return 1e6 * float(rows["queue"].min())


def half_in_the_cache() -> list[float]:
    """uint16 at 4096x4096 in turn: OpenCL's plain mask and *diagonal* unbound and bound, CUDA's bound;
    *eight* bound in both APIs, and unbound in CUDA.
    """
    turns, bound = (BACK, "7/unit"), "72 registers"
    plain, diagonal, eight = (f"{mask} uint16C1 4096x4096" for mask in ("four", "diagonal", "eight"))
    return [
        *(us(TYPES, "opencl", of, *turns, unsaid=(bound,), hint="streaming") for of in (plain, diagonal)),
        *(
            us(TYPES, api, of, *turns, bound, hint="streaming")
            for api in ("opencl", "cuda")
            for of in (plain, diagonal)
        ),
        *(us(TYPES, api, eight, *turns, bound, hint="streaming") for api in ("opencl", "cuda")),
        us(TYPES, "cuda", eight, *turns, unsaid=(bound,), hint="streaming"),
    ]


def in_turn(run: str, api: str, of: str, hint: str, today: str = "7/unit") -> list[float]:
    """The former default, forward, and the same or today's back and forth, by their hint."""
    return [us(run, api, of, unsaid=(BACK,), hint=hint), us(run, api, of, BACK, today, hint=hint)]


def slower_at_29_mb() -> list[tuple[str, str]]:
    """The filters of 29 to 30 MB, and their APIs, that are slower back and forth at their fastest."""
    rows = pd.concat(
        [where(table(run), kind="laplace", backend=OWN, status="ok") for run in (EDGE, EDGE_TYPES)]
    )
    found = rows[rows["source_bytes"].between(29e6, 30e6)].groupby(["problem", "backend"])
    times = {(str(problem), str(api)): both_ways(each) for (problem, api), each in found}
    return [case for case, (back, forward) in times.items() if back > forward]


def from_where_on() -> list[float]:
    """At 26 MB with stores that stream, one channel and four; at 29 MB with loads, too, one channel. Each
    forward, and back and forth. And *eight* of four channels in CUDA, the other way about.
    """
    assert slower_at_29_mb() == [("laplacian eight reflect_101 uint8C4 2880x2560", "cuda")]
    return [
        *(
            time
            for of in ("four uint8C1 5120x5120", "four uint8C4 2560x2560")
            for api in APIS
            for time in in_turn(EDGE, api, of, "streaming_stores")
        ),
        *(
            time
            for api in APIS
            for time in in_turn(EDGE, api, "four uint8C1 5424x5424", "streaming", "72 registers")
        ),
        *reversed(in_turn(EDGE, "cuda", "eight uint8C4 2880x2560", "streaming", "72 registers")),
    ]


def in_turn_or_not() -> list[float]:
    """Back and forth in turn, and with a group a tile: at 35 MB and at 41 MB."""
    cells = product(((EDGE, "four uint8C1 5920x5920"), (MASKS, "four uint8C1 6400x6400")), APIS)
    return [
        time
        for (run, of), api in cells
        for time in (us(run, api, of, BACK, "/unit"), us(run, api, of, BACK, unsaid=("/unit",)))
    ]


def by_hint() -> list[float]:
    """CUDA's with a group a tile: streaming stores, a part kept, streaming loads; at 67 and at 268 MB."""
    return [
        us(MASKS, "cuda", f"four uint8C1 {size}", BACK, unsaid=("/unit",), hint=hint)
        for size in ("8192x8192", "16384x16384")
        for hint in ("streaming_stores", "resident", "streaming")
    ]


def of_other_shapes() -> list[float]:
    """By how many per cent another shape of groups, or number of rows, is faster in both APIs, at most."""
    rows = where(table(EDGE), size=["8192x8192", "4096x4096"], backend=list(APIS), status="ok")
    rows = rows[rows["variant"].str.contains(BACK)].copy()
    rows["shape"] = rows["variant"].str.extract(r"(rows\d+ l\d+ \d+x\d+)")[0]
    times = rows.pivot_table(index=["problem", "shape"], columns="backend", values="queue").unstack("problem")
    assert times.shape == (8, 2 * 4)
    gains = times.loc["rows4 l4 32x4"] / times - 1
    in_both = gains.T.groupby(level="problem").min().T
    return [100 * float(in_both.drop(index="rows4 l4 32x4").max().max())]


def of_three_channels() -> list[float]:
    """Aligned loads, and asynchronous copies, back and forth: of uint16 and of float32."""
    return [
        us(EDGE_TYPES, api, f"four {kind}C3 4096x4096", BACK, pixels)
        for kind in ("uint16", "float32")
        for pixels in ("aligned", "async_tile")
        for api in APIS
    ]


SENTENCES: list[Figure] = [
    (
        TUNING,
        "OpenCL's plain mask takes {:.1f} us and *diagonal* {:.1f}, with a bound of 72 registers {:.1f} and "
        "{:.1f}; CUDA's take {:.1f} and {:.1f} with it, *eight* {:.1f} in OpenCL and {:.1f} in CUDA, there "
        "without it {:.1f} (",
        half_in_the_cache,
    ),
    (
        TUNING,
        "one channel of uint8 takes {:.1f} us forward and {:.1f} back and forth in CUDA, {:.1f} and {:.1f} "
        "in OpenCL, four channels {:.1f} and {:.1f}, {:.1f} and {:.1f}. At 29 MB, where loads stream, too, "
        "one channel takes {:.1f} and {:.1f}, {:.1f} and {:.1f}. The mask *eight* of four channels alone is "
        "slower there in CUDA, with {:.1f} us in place of {:.1f}.",
        from_where_on,
    ),
    (
        TUNING,
        "at 35 MB one channel of uint8 takes {:.1f} us in turn and {:.1f} with a group a tile in CUDA, "
        "{:.1f} and {:.1f} in OpenCL; at 41 MB {:.1f} and {:.1f}, {:.1f} and {:.1f}.",
        in_turn_or_not,
    ),
    (
        TUNING,
        "takes at 67 MB {:.1f} us with streaming stores, {:.1f} with a part of the source kept and {:.1f} "
        "with streaming loads in CUDA; at 268 MB {:.1f}, {:.1f} and {:.1f}.",
        by_hint,
    ),
    (TUNING, "of seven others none is faster by more than {:.1f} % in both APIs,", of_other_shapes),
    (
        TUNING,
        "uint16 at 4096x4096 takes {:.1f} us in CUDA and {:.1f} in OpenCL in place of {:.1f} and {:.1f}, but "
        "float32 {:.0f} and {:.0f} in place of {:.0f} and {:.0f}.",
        of_three_channels,
    ),
]
ROWS: list[Figure] = []

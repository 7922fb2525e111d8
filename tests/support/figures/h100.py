"""What is said of the runs on an H100."""

from __future__ import annotations

import re
from functools import partial

import pandas as pd

from harness.results.statistics import geometric_mean
from tests.support.figures import NOTES, Figure
from tests.support.recorded import OWN, contexts, ends, lead, over_limit, ratios, table, where

H100 = "docs/results-h100.md"
RUN, FILTERS, SWEEP = "h100-quick", "h100-filters", "h100-sweep-halves"
LIBRARIES = ("cub", "npp", "cupy", "torch")
SIDES = ("2560x2560", "8192x8192")
KINDS = {
    "uint8, one channel": "uint8C1",
    "uint8, three": "uint8C3",
    "uint8, four": "uint8C4",
    "uint16, one": "uint16C1",
    "uint16, three": "uint16C3",
    "float32, one": "float32C1",
}


def against_cuda(**wanted: object) -> pd.DataFrame:
    """OpenCL's own kernels against CUDA's in the main run."""
    return where(ratios(RUN), first_backend="opencl", **wanted)


def slower_filters() -> list[float]:
    """The ratios of the filters in which OpenCL is slower: two of the plain mask, one of *eight*."""
    found = against_cuda(kind="laplace", verdict="slower").sort_values("gross")
    assert ["four" in each for each in found["problem"]] == [True, True, False]
    assert "eight" in found["problem"].iloc[2]
    return list(found["gross"])


def portable() -> tuple[int, int]:
    """Cases in which portable OpenCL is slower than CUDA, and all."""
    found = where(ratios(RUN), first_backend="portable opencl")
    return int((found["verdict"] == "slower").sum()), len(found)


def filters(**wanted: object) -> pd.DataFrame:
    """The recorded filters, hot, of both APIs."""
    return where(table(FILTERS), **{"purpose": "compare", "cache": "hot", "backend": OWN, **wanted})


def shares(kind: str) -> list[float]:
    """The ends of the shares of the copy limit of a kind of images, by size and API."""
    found = [filters(size=side, type=kind, backend=api)["share"] for side in SIDES for api in OWN]
    assert {len(each) for each in found} == {9}
    return [end for each in found for end in ends(each)]


def spreads() -> list[float]:
    """By how many per cent those of a kind differ from memory: at most but for one, and that one."""
    times = filters(size=SIDES[1]).groupby(["type", "backend"])["queue"]
    found = (times.max() / times.min() - 1).sort_values() * 100
    assert found.index[-1] == ("uint8C3", "opencl")
    return [found.iloc[-2], found.iloc[-1]]


def from_memory() -> tuple[int, int, int]:
    """Ratios of OpenCL to CUDA from memory: all, the same, undecided."""
    verdicts = where(ratios(FILTERS), size=SIDES[1])["verdict"]
    same, undecided = (int((verdicts == word).sum()) for word in ("same", "ambiguous"))
    assert same + undecided == len(verdicts)
    return len(verdicts), same, undecided


def halves(side: str) -> list[float]:
    """How many times as fast sums in halves are as in integers: the mean, the least, the greatest."""
    rows = where(table(SWEEP), purpose="compare", size=side).copy()
    rows["stencil"] = rows["variant"].str.extract(r"(paired|halves)")[0]
    rows["form"] = rows["variant"].str.replace(r"paired|halves", "", regex=True)
    times = rows.pivot_table(index=["backend", "problem", "form"], columns="stencil", values="queue")
    gains = (times["paired"] / times["halves"]).dropna()
    return [geometric_mean(gains), *ends(gains)]


def together() -> list[float]:
    """How many times as fast OpenCL's tiles in turn are with loads issued together: ends, count, mean."""
    before, after = (
        where(table(name), purpose="compare", backend="opencl").set_index(["problem", "cache", "variant"])[
            "queue"
        ]
        for name in ("h100-filters-before", FILTERS)
    )
    gains = (before / after)[
        lambda each: each.index.get_level_values("variant").str.contains("/unit")
    ].dropna()
    return [*ends(gains), len(gains), geometric_mean(gains)]


def registers(problem: str, name: str) -> int:
    """What OpenCL's default takes of a work-item."""
    (row,) = where(table(name), problem=problem, backend="opencl", purpose="compare").to_dict("records")[:1]
    found = re.search(r"(\d+) registers", row["resources"])
    assert found
    return int(found[1])


SENTENCES: list[Figure] = [
    (H100, "in {} to {} fresh contexts, an empty kernel in {},", partial(contexts, RUN)),
    (H100, "The {} *ambiguous* ones", lambda: [len(against_cuda(kind="reduction", verdict="ambiguous"))]),
    (H100, "with the plain mask {:.2f} and {:.2f}, with *eight* {:.2f} of CUDA's speed.", slower_filters),
    (
        "README.md",
        "OpenCL is slower in {} filters of `quick`, by up to {:.1f} %",
        lambda: [len(slower_filters()), 100 * (1 / slower_filters()[0] - 1)],
    ),
    (
        "README.md",
        "and filters of 8192x8192 reach {:.2f} to {:.2f} of the copy limit",
        lambda: ends(filters(size=SIDES[1])["share"]),
    ),
    (
        H100,
        "{:.2f} to {:.2f} times as fast by that, the mean of {} filters is {:.2f} (",
        together,
    ),
    (
        H100,
        "the plain one takes {} registers in both",
        lambda: [registers("laplacian four reflect_101 uint8C1 2560x2560", RUN)],
    ),
    (H100, "*slower* in {} of the {} cases", portable),
    (
        H100,
        "by {:.2f} times in the geometric mean than CUB (at least {:.2f}), {:.2f} than NPP ({:.2f}), {:.2f} "
        "than CuPy ({:.2f}), {:.2f} than PyTorch ({:.2f}).",
        lambda: [value for library in LIBRARIES for value in lead(RUN, library)],
    ),
    (
        H100,
        "take {:.2f} to {:.2f} times the read limit's time at 1280x1280, {:.2f} to {:.2f} times at 2560x2560 "
        "and {:.2f} to {:.2f} times at 8192x8192",
        lambda: [end for side in ("1280x1280", *SIDES) for end in over_limit(RUN, size=side)],
    ),
    (
        H100,
        "the least share of the {} at 8192x8192 is {:.3f}.",
        lambda: [len(filters(size=SIDES[1])), filters(size=SIDES[1])["share"].min()],
    ),
    (
        H100,
        "within {:.1f} % of each other there, but for OpenCL's three channels of uint8 ({:.1f} %)",
        spreads,
    ),
    (
        H100,
        "Of the {} ratios {} are *same* and {} *ambiguous* in one context; they are {:.3f} to {:.3f}.",
        lambda: [*from_memory(), *ends(where(ratios(FILTERS), size=SIDES[1])["gross"])],
    ),
    (
        H100,
        "takes {} registers, so that six groups fit and not the seven that it has: its {:.2f} is",
        lambda: [
            registers("laplacian diagonal reflect_101 uint8C4 2560x2560", FILTERS),
            filters(size=SIDES[0], type="uint8C4", backend="opencl")["share"].min(),
        ],
    ),
    (
        NOTES,
        "{:.3f} times as fast in the mean at 2560x2560, and {:.3f} times at 8192x8192",
        lambda: [halves(side)[0] for side in SIDES],
    ),
]

ROWS: list[Figure] = [
    *(
        (
            H100,
            f"| {name} |" + 4 * " {:.2f} to {:.2f} |",
            partial(shares, kind),
        )
        for name, kind in KINDS.items()
    ),
    *(
        (H100, f"| {side} | {{:.3f}} | {{:.3f}} | {{:.3f}} |", partial(halves, side))
        for side in ("1280x1280", *SIDES)
    ),
]

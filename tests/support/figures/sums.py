"""What is said of how filters add bytes on an H100: in half precision, by the tensor cores."""

from __future__ import annotations

from functools import partial

from harness.results.statistics import geometric_mean
from tests.support.figures import NOTES, Figure
from tests.support.figures.h100 import H100, SIDES
from tests.support.recorded import ends, table, where

HALVES, MATRIX, ON_H200 = "h100-sweep-halves", "h100-sweep-matrix", "h200-sweep-matrix"


def halves(side: str) -> list[float]:
    """How many times as fast sums in halves are as in integers: the mean, the least, the greatest."""
    rows = where(table(HALVES), purpose="compare", size=side).copy()
    rows["stencil"] = rows["variant"].str.extract(r"(paired|halves)")[0]
    rows["form"] = rows["variant"].str.replace(r"paired|halves", "", regex=True)
    times = rows.pivot_table(index=["backend", "problem", "form"], columns="stencil", values="queue")
    gains = (times["paired"] / times["halves"]).dropna()
    return [geometric_mean(gains), *ends(gains)]


def by_tensor_cores(kind: str, side: str, run: str = MATRIX) -> list[float]:
    """How many times as fast as the default they are in its shape: the mean, the least, the greatest."""
    rows = where(table(run), purpose="compare", type=kind, size=side)
    form = r"rows4 l4 32x4 (?:aligned )?specialized matrix(?: resident| streaming_stores)?$"
    found = (rows[rows["variant"].str.contains(word)] for word in ("halves", form))
    default, so = (each.set_index(["backend", "problem"])["queue"] for each in found)
    assert len(default) == len(so) == 2 * 3
    return [geometric_mean(default / so), *ends(default / so)]


def of_all_shapes() -> list[float]:
    """The ends of how many times as fast as the default their best shape is in the cache."""
    rows = where(table(MATRIX), purpose="compare", size=["1280x1280", SIDES[0]])
    is_default = rows["variant"].str.contains("halves")
    best = (
        each.groupby(["backend", "problem"])["queue"].min() for each in (rows[is_default], rows[~is_default])
    )
    default, so = best
    assert len(default) == len(so) == 2 * 3 * 4
    return list(ends(default / so))


SENTENCES: list[Figure] = [
    (H100, "takes the default's time or more: it is {:.2f} to {:.2f} times as fast.", of_all_shapes),
    (
        H100,
        "On an H200 it is no other: one channel is {:.3f}, {:.3f}, {:.3f} and {:.3f} times as fast as by the",
        lambda: [
            by_tensor_cores("uint8C1", side, ON_H200)[0]
            for side in ("1280x1280", SIDES[0], "4096x4096", SIDES[1])
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
        (H100, f"| {text}, {side} | {{:.3f}} | {{:.3f}} | {{:.3f}} |", partial(by_tensor_cores, kind, side))
        for text, kind, side in (
            ("one channel", "uint8C1", "1280x1280"),
            ("one", "uint8C1", "2560x2560"),
            ("one", "uint8C1", "4096x4096"),
            ("one", "uint8C1", "8192x8192"),
            ("three", "uint8C3", "8192x8192"),
            ("four", "uint8C4", "8192x8192"),
        )
    ),
    *(
        (H100, f"| {side} | {{:.3f}} | {{:.3f}} | {{:.3f}} |", partial(halves, side))
        for side in ("1280x1280", *SIDES)
    ),
]

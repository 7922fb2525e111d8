"""What is said of the runs on an H100."""

from __future__ import annotations

import itertools
import re
from functools import partial

import pandas as pd

from harness.results.statistics import geometric_mean
from tests.support.figures import LIBRARIES, NOTES, Figure, portable
from tests.support.recorded import FOLDER, OWN, contexts, ends, lead, over_limit, ratios, table, where

H100 = "docs/results-h100.md"
RUN, FILTERS = "h100-quick", "h100-filters"
FENCE = ("h100-fence-in-turn", "h100-fence-in-turn-without")
HINTS = "h100-sweep-hints-2560"
OTHER, PIECES = "h100-quick-other-host", "h100-dialects"
BEFORE, TURNS = "h100-filters-before", "h100-sweep-turns-masks"
SHAPES = "h100-sweep-registers-shapes"
HEIGHTS = (SHAPES, "h100-sweep-group-heights", "h100-sweep-group-heights-sizes")
BOUNDS = ("h100-sweep-registers", "h100-sweep-registers-sizes")
CHANGED = ("uint8, one channel", "uint8, three", "uint8, four", "uint16, one")
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


def slower_filters() -> dict[tuple[str, str], float]:
    """The filters in which OpenCL is slower, of one channel of bytes in the cache, and their ratios."""
    found = against_cuda(kind="laplace", verdict="slower")
    assert set(found["type"]) == {"uint8C1"}
    mask = found["op"].str.rsplit(n=1).str[0]
    return dict(zip(zip(found["size"], mask, strict=True), found["gross"], strict=True))


def behind() -> list[float]:
    """Those ratios: the plain mask at both sizes, by output; *eight*; the plain one without a bound."""
    found = slower_filters()
    masks = [(side, f"{out} four") for side in ("1280x1280", SIDES[0]) for out in ("laplacian", "sharpened")]
    masks.append((SIDES[0], "laplacian eight"))
    assert len(found) == len(masks)
    plain = where(filters(BEFORE, size=SIDES[0], type="uint8C1"), op="laplacian four reflect_101")
    times = plain.set_index("backend")["queue"]
    return [*(found[mask] for mask in masks), times["cuda"] / times["opencl"]]


def open_reductions() -> list[float]:
    """How many reductions are undecided; by how many per cent OpenCL is faster in them, the ends."""
    found = against_cuda(kind="reduction", verdict="ambiguous")["gross"]
    return [len(found), *(100 * (ratio - 1) for ratio in ends(found))]


def kept_together(mask: str) -> list[float]:
    """Filters of float32 at 2304x2304 with the fence and without, in CUDA and in OpenCL."""
    wanted = {"purpose": "compare", "size": "2304x2304", "op": f"laplacian {mask} reflect_101"}
    return [
        1e6 * where(table(run), backend=api, **wanted)["queue"].iloc[0]
        for api in ("cuda", "opencl")
        for run in FENCE
    ]


def streaming() -> list[float]:
    """By how many per cent the hints differ in OpenCL's *diagonal* of float32, where streaming is not the
    fastest; in the other filters it is.
    """
    rows = where(table(HINTS), kind="laplace").copy()
    rows["hint"] = rows["variant"].str.extract(r"(streaming_stores|streaming|resident)$")[0]
    best = rows.groupby(["problem", "backend", "hint"])["queue"].min().unstack()
    assert len(best) == 2 * 6
    others = best[best.idxmin(axis=1) != "streaming"]
    ((problem, api),) = others.index
    assert (problem, api) == ("laplacian diagonal reflect_101 float32C1 2560x2560", "opencl")
    return [100 * (others.max(axis=1) / others.min(axis=1) - 1).iloc[0]]


def width(run: str) -> float:
    """How wide the interval of a share is, in per cent of the share, in the median."""
    rows = table(run)
    rows = rows[rows["share"].notna()]
    return float(100 * (rows["share_high"] / rows["share_low"] - 1).median())


def of_portable() -> tuple[int, int]:
    """Cases in which portable OpenCL is slower than CUDA, and all."""
    found = where(ratios(RUN), first_backend="portable opencl")
    return int((found["verdict"] == "slower").sum()), len(found)


def filters(run: str = FILTERS, **wanted: object) -> pd.DataFrame:
    """The recorded filters, hot, of both APIs."""
    return where(table(run), **{"purpose": "compare", "cache": "hot", "backend": OWN, **wanted})


def shares(kind: str) -> list[float]:
    """The ends of the shares of the copy limit of a kind of images, by size and API."""
    found = [filters(size=side, type=kind, backend=api)["share"] for side in SIDES for api in OWN]
    assert {len(each) for each in found} == {9}
    return [end for each in found for end in ends(each)]


def spreads() -> list[float]:
    """By how many per cent those of a kind differ from memory: at most, and at most but for two kinds."""
    times = filters(size=SIDES[1]).groupby(["type", "backend"])["queue"]
    found = (times.max() / times.min() - 1).sort_values() * 100
    return [found.iloc[-1], found.iloc[-3]]


def none_above(run: str = FILTERS) -> list[float]:
    """Nothing to fill in: nothing in a run lies above the limit by more than noise."""
    assert not table(run)["above_limit"].any()
    return []


def from_memory() -> tuple[int, int, int]:
    """Ratios of OpenCL to CUDA from memory: all, the same, undecided."""
    verdicts = where(ratios(FILTERS), size=SIDES[1])["verdict"]
    same, undecided = (int((verdicts == word).sum()) for word in ("same", "ambiguous"))
    assert same + undecided == len(verdicts)
    return len(verdicts), same, undecided


def same_code() -> list[float]:
    """The plain filter in CUDA with OpenCL's code, with its own, and in OpenCL, in the mean of the runs."""
    text = (FOLDER / "h100-same-code.txt").read_text(encoding="utf-8")
    runs = re.findall(r"^\d +([\d.]+) \+- \S+ +([\d.]+) \+- \S+ +(its own|OpenCL's)", text, re.M)
    of = {code: [float(cuda) for _, cuda, whose in runs if whose == code] for code in ("OpenCL's", "its own")}
    opencl = [float(time) for time, *_ in runs]
    times = [sum(each) / len(each) for each in (*of.values(), opencl)]
    # Two thirds of the difference are the code's.
    assert 0.6 < (times[0] - times[1]) / (times[2] - times[1]) < 0.75
    return times


def changes(kind: str) -> list[float]:
    """How many times as fast a kind of images of 2560x2560 is as before, in either API, and the means of
    OpenCL's speed over CUDA's, before and now.
    """
    times = {
        (run, api): filters(run, size=SIDES[0], type=kind, backend=api).set_index("problem")["queue"]
        for run in (BEFORE, FILTERS)
        for api in OWN
    }
    assert {len(each) for each in times.values()} == {9}
    gains = [times[BEFORE, api] / times[FILTERS, api] for api in OWN]
    against = [times[run, "cuda"] / times[run, "opencl"] for run in (BEFORE, FILTERS)]
    return [geometric_mean(each) for each in (*gains, *against)]


def bounded(most: int, **wanted: object) -> list[float]:
    """How many times as fast filters are with a bound on registers as without: count, mean and ends.

    wanted: the columns of a table of records, besides ``mask`` and ``groups`` a unit (0: a group a tile).
    """
    rows = pd.concat(where(table(run), purpose="compare").assign(run=run) for run in BOUNDS)
    rows["mask"] = rows["op"].str.split().str[1]
    rows["most"] = rows["variant"].str.extract(r"(\d+) registers")[0].fillna("0").astype(int)
    rows["groups"] = rows["variant"].str.extract(r"(\d+)/unit")[0].fillna("0").astype(int)
    rows["form"] = rows["variant"].str.replace(r" \d+ registers", "", regex=True)
    key = ["run", "backend", "problem", "form"]
    times = where(rows, **wanted).pivot_table(index=key, columns="most", values="queue")
    gains = (times[0] / times[most]).dropna()
    return [len(gains), geometric_mean(gains), *ends(gains)]


def registers_in_turn() -> list[float]:
    """What OpenCL's filters of three channels that take tiles in turn take: the least and the most."""
    rows = where(table(BOUNDS[0]), purpose="compare", backend="opencl", type="uint8C3")
    rows = rows[rows["variant"].str.contains("/unit") & ~rows["variant"].str.contains("registers")]
    return [*ends(rows["resources"].str.extract(r"(\d+) registers")[0].astype(int))]


def plain() -> list[float]:
    """OpenCL's times of the plain filter of bytes with its bound and without, and CUDA's without."""
    wanted = {"purpose": "compare", "size": SIDES[0], "type": "uint8C1", "op": "laplacian four reflect_101"}
    rows = where(table(BOUNDS[0]), **wanted)
    rows = rows.assign(most=rows["variant"].str.extract(r"(\d+) registers")[0].fillna(""))
    times = rows.set_index(["backend", "most"])["queue"] * 1e6
    return [times["opencl", "64"], times["opencl", ""], times["cuda", ""]]


def by_height(backend: str, mask: str) -> pd.Series[float]:
    """The times of filters of one channel of bytes by size, the group's height and the most registers."""
    rows = pd.concat(map(table, HEIGHTS))
    op = f"laplacian {mask} reflect_101"
    rows = where(rows, purpose="compare", type="uint8C1", backend=backend, op=op)
    rows = rows[rows["variant"].str.contains(r"rows4 l4 32x[24] specialized halves")].copy()
    rows["height"] = rows["variant"].str.extract(r" 32x(\d)")[0].astype(int)
    rows["most"] = rows["variant"].str.extract(r"(\d+) registers")[0].fillna("0").astype(int)
    times = rows.set_index(["size", "height", "most"])["queue"]
    assert times.index.is_unique
    return times


def negated() -> list[float]:
    """CUDA's times of *eight_negated* at 2560x2560 with a bound on its registers, and without."""
    times = by_height("cuda", "eight_negated") * 1e6
    return [times[SIDES[0], 4, most] for most in (72, 0)]


def halved(*sides: int) -> list[float]:
    """How many times as fast groups of half the height are, of the masks *eight* in either API."""
    found = []
    for backend, mask in itertools.product(OWN, ("eight", "eight_negated")):
        most = 72 if (backend, mask) == ("cuda", "eight") else 0
        times = by_height(backend, mask)
        gains = [times[f"{side}x{side}", 4, most] / times[f"{side}x{side}", 2, most] for side in sides]
        found.append(geometric_mean(gains))
    return found


BETWEEN = ("1536x1536", "1792x1792", "2048x2048", SIDES[0], "3072x3072", "4096x4096")
ONE: dict[str, object] = {"type": "uint8C1", "groups": 0}
PLAIN: dict[str, object] = {**ONE, "mask": ("four", "diagonal"), "size": BETWEEN}
EIGHT: dict[str, object] = {**ONE, "mask": "eight", "size": ("1280x1280", *BETWEEN)}
THREE: dict[str, object] = {"type": "uint8C3", "groups": 6, "size": SIDES[0]}
LARGE: dict[str, object] = {"size": SIDES[1]}
BOUNDED = [
    (f"{text} | {api} | {most}", partial(bounded, most, backend=api.lower(), **wanted))
    for text, wanted, pair in (
        ("| one channel, *four* and *diagonal*, 1536 to 4096", PLAIN, (64, 72)),
        ("| one channel, *eight*, 1280 to 4096", EIGHT, (64, 72)),
        ("| three, six groups a unit in turn, 2560", THREE, (80, 80)),
        ("| all kinds and types, 8192", LARGE, (72, 72)),
    )
    for text, api, most in ((text, "OpenCL", pair[0]), ("| the same", "CUDA", pair[1]))
]
"""The rows of the table of bounds on registers: what they begin with, and the figures."""

SENTENCES: list[Figure] = [
    (H100, "in {} to {} fresh contexts, an empty kernel in {},", partial(contexts, RUN)),
    (
        H100,
        "The {} *ambiguous* ones lie at an edge of the band: OpenCL is {:.1f} to {:.1f} % faster.",
        open_reductions,
    ),
    (
        H100,
        "they have {:.3f} and {:.3f} of CUDA's speed at 1280x1280, {:.3f} and {:.3f} at 2560x2560, with "
        "*eight* {:.3f} there. Without a bound on OpenCL's registers the plain one was at {:.2f},",
        behind,
    ),
    (
        "README.md",
        "and in {} on the H100 (older), by up to {:.1f} %",
        lambda: [len(slower_filters()), 100 * (1 / min(slower_filters().values()) - 1)],
    ),
    (
        "README.md",
        "and filters of 8192x8192 reach {:.2f} to {:.2f} of the copy limit",
        lambda: ends(filters(size=SIDES[1])["share"]),
    ),
    (H100, "*slower* in {} of the {} cases", of_portable),
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
        "within {:.1f} % of each other there, all but two kinds of one API within {:.1f} %.",
        spreads,
    ),
    (H100, "where all three are within {:.1f} %.", streaming),
    (H100, "is {:.1f} % wide in the median, before that", lambda: [width(RUN)]),
    (H100, "[{:.0f} %](../reports/examples/h100-quick-other-host.jsonl.xz)", lambda: [width(OTHER)]),
    (
        H100,
        "Of the {} ratios {} are *same* and {} *ambiguous* in one context; they are {:.3f} to {:.3f}.",
        lambda: [*from_memory(), *ends(where(ratios(FILTERS), size=SIDES[1])["gross"])],
    ),
    (
        NOTES,
        "the plain filter of bytes at 2560x2560 takes {:.2f} us on an H100, without {:.2f}, CUDA's {:.2f} (",
        plain,
    ),
    (H100, "registers it takes {:.2f} us at 2560x2560, without a bound {:.2f} (", negated),
    (H100, "OpenCL's with three channels take {} to {} registers, too many for that.", registers_in_turn),
    (
        H100,
        "CUDA with OpenCL's code takes {:.2f} us where with its own it takes {:.2f}, and OpenCL {:.2f} (",
        same_code,
    ),
    (H100, "With up to four in a process no case lies above it by more than noise.", none_above),
]

ROWS: list[Figure] = [
    *(
        (H100, f"| *{mask}* |" + 4 * " {:.2f} |", partial(kept_together, mask))
        for mask in ("eight", "eight_negated", "diagonal")
    ),
    *(
        (
            H100,
            f"| {name} |" + 4 * " {:.2f} to {:.2f} |",
            partial(shares, kind),
        )
        for name, kind in KINDS.items()
    ),
    *(
        (H100, f"| {name} | {{:.3f}} | {{:.3f}} | {{:.2f}} | {{:.2f}} |", partial(changes, KINDS[name]))
        for name in CHANGED
    ),
    *((H100, f"{text} | {{}} | {{:.3f}} | {{:.3f}} | {{:.3f}} |", found) for text, found in BOUNDED),
    *(
        (H100, f"| {text} |" + 4 * " {:.3f} |", partial(halved, *sides))
        for text, sides in (
            ("1280 to 2048", (1280, 1536, 2048)),
            ("2304, 2432, 2688 to 3072", (2304, 2432, 2688, 2816, 3072)),
            ("2560", (2560,)),
            ("3328, 3584, 4096", (3328, 3584, 4096)),
        )
    ),
    *portable.rows_of_steps(H100, PIECES),
]

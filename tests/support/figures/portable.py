"""What is said of portable OpenCL against CUDA's own kernels."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd

from harness.results.statistics import geometric_mean
from tests.support.figures import MAIN, RESULTS, Figure
from tests.support.figures.verdicts import SUB_GROUPS
from tests.support.recorded import OWN, contexts, ends, ratios, slower_by, table, where

PIECES_RUN, FILTERS_RUN = "h200-dialects", "h200-dialects-forward"
"""The latter has more contexts, and the same filters: these still go forward."""
_START = "buffer w16 l2 global 8/unit of 256 "
STEPS = {
    "portable text": "quad builtin scalar flagged portable",
    "the vendor's text: loads, atomics and conversions by PTX": "quad builtin scalar flagged",
    "shuffles of a sub-group": "sub_group builtin scalar flagged",
    "a part of the source kept in the cache": "sub_group builtin scalar flagged resident",
    "bytes added in packed words": "sub_group builtin packed flagged resident",
}
"""Steps of the ladder `dialects`, as the table calls them, and what their variants end with."""
BYTES, WIDE = ["uint8"], ["int32", "float32"]


def portable(run: str = MAIN, **wanted: Any) -> pd.DataFrame:
    """Portable OpenCL against CUDA's own kernels."""
    return where(ratios(run), first_backend="portable opencl", **wanted)


def behind(run: str = MAIN) -> list[int]:
    """The cases in which portable OpenCL is slower, all, and those of the former by more than 10 %."""
    return [len(portable(run, verdict="slower")), len(portable(run)), len(far_behind(run))]


def far_behind(run: str = MAIN, **wanted: Any) -> pd.DataFrame:
    """The cases in which portable OpenCL is slower by more than 10 %."""
    slower = portable(run, verdict="slower", **wanted)
    return slower[slower["gross"] < 1 / 1.1]


def cells(size: str) -> list[str]:
    """Those of this size, each with its ratio, the least first."""
    rows = far_behind(size=size).sort_values("gross")
    names = rows["problem"].str.removesuffix(f" {size}")
    return [", ".join(f"{name} {ratio:.2f}" for name, ratio in zip(names, rows["gross"], strict=True))]


def portable_means(kind: str) -> list[float]:
    """The ratios in the mean, from the smallest size to the largest."""
    sizes = ("1280x1280", "2560x2560", "8192x8192")
    return [geometric_mean(portable(kind=kind, size=size)["gross"]) for size in sizes]


def portable_us(problem: str) -> tuple[float, float]:
    """What portable OpenCL takes for a problem, and CUDA."""
    (row,) = portable(problem=problem).to_dict("records")
    return 1e6 * row["first_queue"], 1e6 * row["second_queue"]


def least_ratios() -> list[float]:
    """The least ratio of reductions at 8192x8192, and at 2560x2560."""
    found = [
        portable(kind="reduction", size=size).sort_values("gross").iloc[0]
        for size in ("8192x8192", "2560x2560")
    ]
    assert [row["problem"] for row in found] == ["sum uint8 8192x8192", "sum float64 2560x2560"]
    return [row["gross"] for row in found]


def of_doubles() -> tuple[float, float]:
    """The ends of the ratios of extremes and counts of float64 at 2560x2560."""
    ops = ["min", "max", "minmax", "count_nonzero"]
    return ends(portable(type="float64", size="2560x2560", op=ops)["gross"])


def least_of_all() -> tuple[float]:
    """The least ratio of all filters, which one of four channels has."""
    least = portable(kind="laplace").sort_values("gross").iloc[0]
    assert (least["type"], least["size"]) == ("uint8C4", "2560x2560")
    return (least["gross"],)


def two_loads() -> tuple[float, ...]:
    """A portable sum with two loads in flight, and with four."""
    rows = where(table("h200-sweep-portable"), problem="sum float64 2560x2560", backend="portable opencl")
    of = "buffer w2 l{} global 4/unit of 256 quad builtin scalar flagged portable"
    return tuple(1e6 * where(rows, variant=of.format(loads))["queue"].iloc[0] for loads in (2, 4))


def pieces(kind: str, run: str = PIECES_RUN) -> pd.DataFrame:
    """What was measured of each piece, portable kernels among those of their API."""
    rows = where(table(run), kind=kind, purpose="compare", status="ok").copy()
    return rows.assign(api=rows["backend"].str.removeprefix("portable "))


def step(ending: str, types: list[list[str]], run: str = PIECES_RUN) -> list[float]:
    """The time in us of these types on one step, by size and API; "" and "portable" are the defaults."""
    rows = pieces("reduction", run)
    is_step = rows["variant"].isin([_START + each for each in STEPS.values()])
    if run == PIECES_RUN:
        assert where(rows[~is_step], type=BYTES)["variant"].str.contains(" local_atomics ").all()
    is_portable = rows["variant"].str.endswith(" portable")
    wanted = rows["variant"] == _START + ending if ending in STEPS.values() else ~is_step
    if ending not in STEPS.values():
        wanted &= is_portable if ending else ~is_portable
    return [
        1e6 * geometric_mean(where(rows[wanted], api=api, size=size, type=each)["queue"])
        for each in types
        for size in ("2560x2560", "8192x8192")
        for api in OWN
    ]


def filters(api: str, size: str, *kinds: str) -> tuple[float, float]:
    """How many times the time of its API's own filter the portable one takes: the ends over the masks."""
    rows = where(pieces("laplace", FILTERS_RUN), api=api, size=size, type=list(kinds))
    is_portable = rows["variant"].str.endswith(" portable")
    so, own = (rows[chosen].set_index("problem")["queue"] for chosen in (is_portable, ~is_portable))
    assert len(so) == len(own) == 2 * len(kinds)
    return ends(so / own)


def in_float32() -> list[float]:
    """Of float32 the most at 8192x8192 in either API; of one channel at 2560x2560 OpenCL's ends."""
    far = [times for api in OWN for times in filters(api, "8192x8192", "float32C1", "float32C4")]
    return [max(far), *filters("opencl", "2560x2560", "float32C1")]


def without_ptx() -> list[float]:
    """Nothing but a check: of bytes at 2560x2560 CUDA's portable reductions take no longer than its own, and
    OpenCL's do, by the same variants; of all defaults those of float32's sum alone have shuffles.
    """
    rows = pieces("reduction")
    rows = rows[~rows["variant"].isin([_START + each for each in STEPS.values()])]
    rows = rows.assign(form=rows["variant"].str.removesuffix(" portable"))
    near = where(rows, type=BYTES, size="2560x2560")
    assert (near.groupby("problem")["form"].nunique() == 1).all()
    times = near.set_index(["problem", "backend"])["queue"].unstack()
    assert (times["portable cuda"] <= times["cuda"]).all()
    assert (times["portable opencl"] > 1.05 * times["opencl"]).all()
    shuffled = rows[rows["variant"].str.contains(" sub_group ")]
    assert set(shuffled["op"] + " " + shuffled["type"]) == {"sum float32"}
    return []


def own_text() -> list[float]:
    """OpenCL's own text against CUDA's: the same, all, the slower and their most per cent, the others. Those
    that are not the same are filters of bytes at 2560x2560.
    """
    rows = where(ratios(FILTERS_RUN), first_backend="opencl")
    same, slower, others = (where(rows, verdict=each) for each in ("same", "slower", "ambiguous"))
    assert len(same) + len(slower) + len(others) == len(rows)
    rest = pd.concat([slower, others])
    assert len(rest) == 4
    assert set(rest["kind"] + rest["size"] + rest["type"]) == {
        f"laplace2560x2560uint8C{channels}" for channels in (1, 4)
    }
    return [len(same), len(rows), len(slower), slower_by(slower), len(others)]


def wide_pixels() -> list[float]:
    """The time in us of *diagonal* for four channels of float32 at 8192x8192, in OpenCL and CUDA, and of the
    portable text.
    """
    rows = where(pieces("laplace", FILTERS_RUN), problem="laplacian diagonal reflect_101 float32C4 8192x8192")
    times = {name: 1e6 * float(each["queue"].iloc[0]) for name, each in rows.groupby("backend")}
    return [times[f"{dialect}{api}"] for dialect in ("", "portable ") for api in OWN]


def rows_of_steps(document: str, run: str) -> list[Figure]:
    """The rows of a document's table of the steps, as a run has them."""
    return [
        (document, f"| {name} |" + " {:.2f} |" * (4 * len(types)), partial(step, ending, types, run))
        for name, ending in {**STEPS, "the portable default": "portable", "the default": ""}.items()
        for types in ([BYTES] if "packed" in ending else [BYTES, WIDE],)
    ]


SENTENCES: list[Figure] = [
    (
        RESULTS,
        "{} of the {} cases are *slower*, {} of them by more than 10 %. With [the kernels",
        behind,
    ),
    (
        RESULTS,
        "{} were slower, {} of them by more than 10 %: groups then",
        lambda: behind(SUB_GROUPS)[::2],
    ),
    (RESULTS, "portable OpenCL's ratios {} are *ambiguous*", lambda: [len(portable(verdict="ambiguous"))]),
    (
        RESULTS,
        "minmax of uint8 at 8192x8192 takes {:.1f} us, CUDA's {:.1f} with the hint.",
        lambda: portable_us("minmax uint8 8192x8192"),
    ),
    (
        RESULTS,
        "The least ratios of reductions are {:.2f}, of a sum of uint8 at 8192x8192, and {:.2f}, of a sum of "
        "float64 at 2560x2560",
        least_ratios,
    ),
    (RESULTS, "in portable text, too, are at {:.2f} to {:.2f} of CUDA's speed;", of_doubles),
    (RESULTS, "at 2560x2560 the ratio is {:.2f}, the least of all filters.", least_of_all),
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
    (
        RESULTS,
        "of one channel of uint8 take portable OpenCL {:.2f} to {:.2f} times the time of OpenCL's own at "
        "2560x2560 and {:.2f} to {:.2f} times at 8192x8192, portable CUDA {:.2f} to {:.2f} and {:.2f} to "
        "{:.2f} times that of CUDA's own.",
        lambda: [
            times
            for api in OWN
            for size in ("2560x2560", "8192x8192")
            for times in filters(api, size, "uint8C1")
        ],
    ),
    (
        RESULTS,
        "Four channels of uint8 at 2560x2560 take {:.2f} to {:.2f} and {:.2f} to {:.2f} times.",
        lambda: [times for api in OWN for times in filters(api, "2560x2560", "uint8C4")],
    ),
    (
        RESULTS,
        "Those of float32 at 8192x8192 take at most {:.2f} times, but one channel at 2560x2560 takes "
        "portable OpenCL {:.2f} to {:.2f} times.",
        in_float32,
    ),
    (
        RESULTS,
        "At 2560x2560 its portable reductions of bytes are as fast as its own, OpenCL's are not, by the same "
        "variant: the compilers differ. Shuffles, part of CUDA C++, are in the defaults of float sums alone.",
        without_ptx,
    ),
    (RESULTS, "suite `dialects`, up to {} contexts)", lambda: [contexts(PIECES_RUN)[1]]),
    (
        RESULTS,
        "in {} of its {} comparisons with CUDA's the verdict is *same*, in {} *slower*, "
        "by up to {:.1f} %, in {} *ambiguous*.",
        own_text,
    ),
    (
        RESULTS,
        "takes {:.0f} us in OpenCL and {:.0f} in CUDA; portable, without it, {:.0f} and {:.0f}.",
        wide_pixels,
    ),
]

ROWS: list[Figure] = [
    (
        RESULTS,
        "| reductions | {:.2f} | {:.2f} | {:.2f} | | Laplace filters | {:.2f} | {:.2f} | {:.2f} |",
        lambda: [*portable_means("reduction"), *portable_means("laplace")],
    ),
    *(
        (RESULTS, f"| {size} | {{}} |", partial(cells, size))
        for size in ("1280x1280", "2560x2560", "8192x8192")
    ),
    *rows_of_steps(RESULTS, PIECES_RUN),
]

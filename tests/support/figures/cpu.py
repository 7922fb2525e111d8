"""What is said of the runs on a processor."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import pandas as pd

from harness.results.statistics import geometric_mean
from reports.ratios import comparisons
from tests.support.figures import Figure
from tests.support.recorded import FOLDER, ends, leads, table, where

CPU = "docs/results-cpu.md"
BEFORE, SWEEP, STORES = "cpu-sweep-before", "cpu-sweep", "cpu-sweep-stores"
XEON_SWEEP, XEON_STORES, STRIPS = "cpu-xeon-sweep", "cpu-xeon-sweep-stores", "cpu-xeon-sweep-strips"
ZEN4_SWEEP, ZEN4_STORES, ZEN4_IN_STEP = "cpu-zen4-sweep", "cpu-zen4-sweep-stores", "cpu-zen4-sweep-in-step"
CHANGES = {
    "1 load": "l1",
    "2 loads": "l2",
    "4 loads": "l4",
    "1 group a core": "1/unit",
    "2 groups a core": "2/unit",
    "8 groups a core": "8/unit",
    "16 groups a core": "16/unit",
    "the operators in place of functions": "operator",
    "4 loads, element by element": "l4 scalar",
}
"""Of a reduction's default, in words and as the label of its variant then differs."""
FORMS = ("half", "half past", "line", "line past", "fewer", "fewer past")
"""Vectors of half a line, a line, a line in strips of fewer rows; with stores past the caches, too."""
SIDES_IN_STEP = ("1024x1024", "2048x2048", "4096x4096", "5120x5120")
"""Where rows of float32 all begin at the same place of a page."""


def on_a_processor(run: str = "cpu-libraries") -> tuple[float, ...]:
    """Mean lead and cells, of NumPy and OpenCV."""
    found = leads(run, "hot", "opencl")
    sides = (where(found, second_backend=name)["gross"] for name in ("numpy", "opencv"))
    return tuple(value for side in sides for value in (geometric_mean(side), len(side)))


def ahead(library: str, run: str = "cpu-libraries") -> pd.DataFrame:
    """The reductions in which a library is ahead, by how much, the most first."""
    found = where(leads(run, "hot", "opencl"), second_backend=library)
    found = found[found["gross"] < 1].assign(by=lambda rows: 1 / rows["gross"])
    return found.sort_values("by", ascending=False)


def libraries_ahead() -> list[float]:
    """Cells of a million elements in which NumPy is ahead, by how much at most; of OpenCV, too, and there
    without the most one.
    """
    numpy, opencv = ahead("numpy"), ahead("opencv")
    assert set(numpy["verdict"]) == {"ambiguous"}
    assert opencv["problem"].iloc[0] == "sum int16 1024x1024"
    assert list(opencv["verdict"]) == ["slower", *["ambiguous"] * (len(opencv) - 1)]
    assert {*numpy["size"], *opencv["size"]} == {"1024x1024"}
    return [len(numpy), numpy["by"].iloc[0], len(opencv), *opencv["by"].iloc[:2]]


def filters_on_a_processor(run: str = "cpu-filters") -> tuple[float, ...]:
    """Mean lead over OpenCV and cells, the mean of each type, cells in which it is ahead, by how much."""
    found = where(leads(run, "hot", "opencl"), second_backend="opencv")
    types = [found[found["type"].str.startswith(name)] for name in ("uint8", "uint16", "int16", "float32")]
    means = (geometric_mean(rows["gross"]) for rows in types)
    behind = where(found[found["gross"] < 1], verdict="ambiguous")["gross"]
    assert set(found["verdict"]) == {"faster", "ambiguous"}
    return geometric_mean(found["gross"]), len(found), *means, len(behind), 1 / behind.min()


def decided(run: str = "cpu-quick") -> list[int]:
    """Of `quick`: verdicts that are decided, and all; of the others those on minima and maxima."""
    (found,) = comparisons(table(run))
    assert found.against == "the best of opencv and the reference numpy"
    is_open = found.fastest["verdict"] == "ambiguous"
    extremes = found.fastest["problem"].str.match(r"(min|max) ")
    return [int((~is_open).sum()), len(is_open), int(is_open.sum()), int((is_open & extremes).sum())]


def default_us(name: str, problem: str) -> float:
    """The time of a problem by the default, which a sweep measures first, in us."""
    return float(where(table(name), problem=problem, purpose="compare")["queue"].iloc[0]) * 1e6


def inlined() -> list[float]:
    """Minimum and maximum of int32 in the cache and from memory, before and since functions are inlined."""
    problems = ("minmax int32 1024x1024", "minmax int32 4096x4096")
    return [default_us(name, problem) for problem in problems for name in (BEFORE, SWEEP)]


def in_pairs() -> list[float]:
    """Extremes of float32 in the cache, and these with their places, before and since NaN is tested for in
    two elements at a time.
    """
    found = []
    for problem in ("minmax float32 1024x1024", "minmaxloc float32 1024x1024"):
        since = where(table("cpu-libraries"), problem=problem, purpose="compare", backend="opencl")
        found += [default_us(SWEEP, problem), float(since["queue"].iloc[0]) * 1e6]
    return found


def changed(label: str, run: str = SWEEP) -> list[float]:
    """How many times as long reductions take with one change to the default, by size; each mean of 15."""
    rows = where(table(run), kind="reduction", purpose="compare")
    times: dict[str, list[float]] = {}
    for _, of_problem in rows.groupby("problem", sort=False):
        default = of_problem.iloc[0]
        for _, row in of_problem.iterrows():
            pairs = zip(default["variant"].split(), row["variant"].split(), strict=True)
            if " ".join(new for old, new in pairs if old != new) == label:
                times.setdefault(row["size"], []).append(row["queue"] / default["queue"])
    assert [len(each) for each in times.values()] == [15, 15]
    return [geometric_mean(times[size]) for size in ("1024x1024", "4096x4096")]


def changed_on_each(label: str) -> list[float]:
    """The same of the first processor, of the Xeon and of the Zen 4; no change is faster in all six."""
    found = [value for run in (SWEEP, XEON_SWEEP, ZEN4_SWEEP) for value in changed(label, run)]
    assert max(found) >= 1
    return found


def form(variant: str, kind: str) -> str:
    """Which of FORMS a variant is."""
    line = {"uint8": "w64", "uint16": "w32", "float32": "w16"}[kind.partition("C")[0]]
    size = "half" if line not in variant else "fewer" if "rows4" in variant else "line"
    return f"{size} past" if "streaming_stores" in variant else size


def stores(kinds: Sequence[str], in_step: bool | None = None, run: str = STORES) -> list[float]:
    """How many times the fastest form's time each form takes, in the mean over sizes; by whether rows begin
    at the same place of a page, if given.
    """
    rows = where(table(run), purpose="compare", type=kinds).copy()
    if in_step is not None:
        rows = rows[rows["size"].isin(SIDES_IN_STEP) == in_step]
    rows["form"] = [form(variant, kind) for variant, kind in zip(rows["variant"], rows["type"], strict=True)]
    times = rows.pivot_table(index="problem", columns="form", values="queue")
    times = times.div(times.min(axis=1), axis=0)
    return [geometric_mean(times[name]) for name in FORMS if name in times]


def ahead_on_the_zen4() -> list[float]:
    """Cells in which NumPy is ahead, and OpenCV, and by how much at most: in one that is decided."""
    found = [ahead(library, "cpu-zen4-libraries") for library in ("numpy", "opencv")]
    decided = [where(rows, not_verdict="ambiguous") for rows in found]
    assert all(list(rows["problem"]) == ["sum float64 4096x4096"] for rows in decided)
    assert {verdict for rows in decided for verdict in rows["verdict"]} == {"slower"}
    most = [float(rows["by"].max()) for rows in (*found, *decided)]
    assert most[:2] == most[2:]
    return [*map(len, found), max(most)]


def forms_in_step() -> list[float]:
    """How many times the time of the fastest form short strips take where rows are in step, long ones past
    the caches, and short ones past them; and of how many images.
    """
    past, short, short_past = stores(["float32C1", "float32C4"], run=ZEN4_IN_STEP)
    return [short, past, short_past, where(table(ZEN4_IN_STEP), purpose="compare")["problem"].nunique()]


def none_ahead() -> list[float]:
    """Nothing to fill in: no library is ahead of a reduction on the Xeon."""
    assert (leads("cpu-xeon-libraries", "hot", "opencl")["gross"] >= 1).all()
    return []


def in_step() -> list[float]:
    """The largest image of float32 on the Xeon in lines past the caches and in short strips, in ms."""
    wanted = {"purpose": "compare", "type": "float32C1", "size": "5120x5120"}
    rows = where(table(XEON_STORES), **wanted)
    forms = [form(variant, "float32") for variant in rows["variant"]]
    times = dict(zip(forms, rows["queue"].astype(float) * 1e3, strict=True))
    return [times["line past"], times["fewer"]]


def strips() -> list[float]:
    """How many times the time of the fastest strips those of eight rows take, where rows of float32 are not
    in step and where they are; then those of four.
    """
    rows = where(table(STRIPS), purpose="compare").copy()
    rows["rows"] = rows["variant"].str.extract(r"rows(\d+)")[0].astype(int)
    times = rows.pivot_table(index=["problem", "size"], columns="rows", values="queue")
    assert times.shape == (2 * 10, 4)
    times = times.div(times.min(axis=1), axis=0)
    steps = times.index.get_level_values("size").isin(SIDES_IN_STEP)
    means = {each: [geometric_mean(times[each][chosen]) for chosen in (~steps, steps)] for each in times}
    assert [min(of_kind) for of_kind in zip(*means.values(), strict=True)] == means[8]
    return [*means[8], *means[4]]


def by_neighbours(*types: str) -> list[float]:
    """How many times as fast sums of a type are up to 1280x1280 that add neighbours: the ends, by type."""
    text = (FOLDER / "cpu-xeon-sums.txt").read_text(encoding="utf-8")
    found = re.findall(r"^(\w+) +(\d+)x\d+ +[\d.]+ +[\d.]+ +([\d.]+), ", text, re.M)
    gains = [[float(gain) for of, side, gain in found if of == name and int(side) <= 1280] for name in types]
    assert {len(each) for each in gains} == {3}
    return [end for each in gains for end in ends(each)]


def of_further(processor: str) -> list[Figure]:
    """What is said of each processor but the first: filters beside OpenCV's, and what `quick` decides."""
    return [
        (
            CPU,
            "are {:.1f} times as fast as OpenCV's in the geometric mean of {} cells, of uint8 {:.1f}, "
            "uint16 {:.1f}, int16 {:.1f} and float32 {:.2f} times. OpenCV is ahead in {}, by {:.2f} times "
            "(*ambiguous*).",
            partial(filters_on_a_processor, f"cpu-{processor}-filters"),
        ),
        (
            CPU,
            "decides {} of the {} verdicts beside the faster of OpenCV and NumPy.",
            lambda: decided(f"cpu-{processor}-quick")[:2],
        ),
    ]


def of_stores(processor: str, run: str) -> list[Figure]:
    """Rows of a table of stores, each of which ends in the processor's name."""
    narrow = {"uint8": ["uint8C1", "uint8C3", "uint8C4"], "uint16": ["uint16C1"]}
    wide = {"float32": False, "float32, rows in step": True}
    return [
        *(
            (CPU, f"| {name}{processor} |" + 6 * " {:.2f} |", partial(stores, kinds, run=run))
            for name, kinds in narrow.items()
        ),
        *(
            (
                CPU,
                f"| {name}{processor} | - | - |" + 4 * " {:.2f} |",
                partial(stores, ["float32C1"], steps, run),
            )
            for name, steps in wide.items()
        ),
    ]


def rungs() -> list[float]:
    """What the plain filter of uint8 with four channels takes at 2560x2560 on the first rung of jia2012, with
    four rows of 16 pixels, in the form for processors and from an image, in ms; in how many filters the third
    is faster than every library; and its lead over OpenCV by channels.
    """
    name = "cpu-zen4-jia2012"
    rows = where(table(name), problem="laplacian four reflect_101 uint8C4 2560x2560", backend="opencl")
    taken = {row["variant"]: 1e3 * row["queue"] for row in rows.to_dict("records") if row["status"] == "ok"}
    (image,) = (time for variant, time in taken.items() if "image2d" in variant)
    wide = taken["mapped w16 rows4 l4 32x8"]
    own = next(time for variant, time in taken.items() if variant.startswith("peeled"))
    found = leads(name, backend="opencl")
    assert set(found["verdict"]) == {"faster"}
    beside = where(found, second_backend="opencv")
    means = [geometric_mean(where(beside, type=f"uint8C{channels}")["gross"]) for channels in (1, 4)]
    return [next(iter(taken.values())), wide, own, image, found["problem"].nunique(), *means]


def candidates() -> list[float]:
    """How many times the time of the fastest read or copy the best of today's candidates for a limit takes,
    of how many variants, and the best of the former ones; means of three sizes and both directions.
    """
    rows = where(table("cpu-zen4-sweep-limits"), kind="bandwidth")
    best = rows.groupby(["op", "source_bytes"])["queue"].min()
    assert len(best) == 6
    times = []
    for loads, groups in (("[148]", "(?:4|16)"), ("[14]", "[24]")):
        chosen = rows[rows["variant"].str.contains(f" l{loads} local {groups}/unit")]
        times.append(geometric_mean(chosen.groupby(["op", "source_bytes"])["queue"].min() / best))
    return [times[0], rows["variant"].nunique(), times[1]]


SENTENCES: list[Figure] = [
    (
        CPU,
        "the best of these takes {:.2f} times the time of the fastest of {}, in the mean of reading and "
        "copying 1.6 to 26 MB, the best of the former {:.2f} times",
        candidates,
    ),
    (
        CPU,
        "takes {:.1f} ms on its first rung, {:.1f} ms with four rows of 16 pixels a work-item and {:.2f} ms "
        "in the form for processors; from an image it takes {:.0f} ms. The form "
        "for processors is faster than every library in all {} filters, than OpenCV {:.1f} times with one "
        "channel and {:.1f} times with four.",
        rungs,
    ),
    *of_further("xeon"),
    *of_further("zen4"),
    (
        CPU,
        "from 512x512 to 1280x1280, uint8 is {:.2f} to {:.2f} times as fast by that, int8 {:.2f} to {:.2f}, "
        "int16 {:.2f} to {:.2f} and uint16 {:.2f} to {:.2f} times",
        partial(by_neighbours, "uint8", "int8", "int16", "uint16"),
    ),
    (
        CPU,
        "they take {:.2f} times the time of the fastest of each image where rows are not in step and {:.2f} "
        "times where they are, those of four {:.2f} and {:.2f} times.",
        strips,
    ),
    (
        CPU,
        "are {:.1f} times as fast as NumPy ({} cells) and {:.2f} times as fast as OpenCV ({}). Neither",
        partial(on_a_processor, "cpu-xeon-libraries"),
    ),
    (CPU, "Neither is ahead in any cell.", none_ahead),
    (
        CPU,
        "are {:.1f} times as fast as NumPy ({} cells) and {:.2f} times as fast as OpenCV ({}).",
        partial(on_a_processor, "cpu-zen4-libraries"),
    ),
    (
        CPU,
        "NumPy is ahead in {} and OpenCV in {}, by at most {:.2f} times: in the sum of float64 at 4096x4096, "
        "which is *slower* in ours, the others *ambiguous*.",
        ahead_on_the_zen4,
    ),
    (
        CPU,
        "They take {:.2f} times the time of the fastest of three forms of each image, long strips past the "
        "caches {:.2f} and short ones past them {:.2f} times "
        "([run](../reports/examples/cpu-zen4-sweep-in-step.jsonl.xz), {} images",
        forms_in_step,
    ),
    (CPU, "float32 takes {:.1f} ms so, and {:.1f} in short strips.", in_step),
    (
        CPU,
        "{:.1f} times as fast as NumPy ({} cells) and {:.2f} times as fast as OpenCV ({})",
        on_a_processor,
    ),
    (
        CPU,
        "they are {:.1f} times as fast as OpenCV's in the geometric mean of {} cells, of uint8 {:.1f}, "
        "uint16 {:.1f}, int16 {:.1f} and float32 {:.2f} times. OpenCV is ahead in {}, by {:.2f} times "
        "(*ambiguous*).",
        filters_on_a_processor,
    ),
    (
        CPU,
        "NumPy is ahead in {}, by {:.2f} times (*ambiguous*), and OpenCV in {}, by {:.2f} times in the sum "
        "of int16, which is *slower* in ours, and by at most {:.2f} in the others",
        libraries_ahead,
    ),
    (
        CPU,
        "decides {} of the {} verdicts beside the faster of OpenCV and NumPy. "
        "Of the {} others {} are minima or maxima",
        decided,
    ),
    (
        CPU,
        "minmax of int32 took {:.0f} us at 1024x1024 and takes {:.0f}, at 4096x4096 {:.0f} and {:.0f}.",
        inlined,
    ),
    (
        CPU,
        "minmax of float32 took {:.0f} us at 1024x1024 and takes {:.0f}, minmaxloc {:.0f} and {:.0f} (runs",
        in_pairs,
    ),
]

ROWS: list[Figure] = [
    *(
        (
            CPU,
            f"| {name} |" + 6 * " {:.2f} |",
            partial(changed_on_each, label),
        )
        for name, label in CHANGES.items()
    ),
    *of_stores("", STORES),
    *of_stores(", Xeon", XEON_STORES),
    *of_stores(", Zen 4", ZEN4_STORES),
]

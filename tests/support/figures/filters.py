"""What is said of filters: of images by size and type, of masks and hints, and by a profiler."""

from __future__ import annotations

import re
from typing import Any

from tests.support.figures import KERNELS, MAIN, NOTES, RESULTS, TUNING, Figure
from tests.support.recorded import (
    FOLDER,
    OWN,
    contexts,
    ends,
    ratios,
    run_of,
    slower_by,
    table,
    where,
)

MASKS_RUN, SMALL = "h200-filters", "h200-sweep-small-filters"
IN_CACHE = "h200-filters-forward"
"""The same before images past the cache went back and forth; undisturbed, where the other was not."""
FORMS, HINTS, ROWS_RUN = "h200-sweep-filters", "h200-sweep-hints-2560", "h200-sweep-small-rows"
SHAPE, FORM = "mapped w16 rows4 l4", "specialized halves"
KINDS = ("uint8C1", "uint8C3", "uint8C4", "uint16C1", "uint16C3", "float32C1")


def us(name: str, backend: str, **wanted: Any) -> float:
    """The time of one case."""
    (seconds,) = where(table(name), backend=backend, purpose="compare", **wanted)["queue"]
    return float(seconds) * 1e6


def of_default(name: str, **wanted: Any) -> list[float]:
    """What the default, in groups of 32 by 4 or 2, reaches of the copy limit in either API, hot."""
    wanted = {"cache": "hot", "kind": "laplace", "purpose": "compare", "backend": OWN, **wanted}
    rows = where(table(name), status="ok", **wanted)
    return [float(share) for share in rows[rows["variant"].str.contains(" 32x[24]")]["share"].dropna()]


def spread(kind: str) -> float:
    """By how many per cent the slowest mask, border or output is slower than the fastest at 8192x8192, in the
    worse API.
    """
    rows = where(table(MASKS_RUN), type=kind, size="8192x8192", purpose="compare", cache="hot")
    times = [where(rows, backend=side)["queue"] for side in OWN]
    return max(100 * (float(each.max()) / float(each.min()) - 1) for each in times)


def masks(size: str, *kinds: str, cache: str = "hot") -> tuple[float, float]:
    """The ends of what images of these kinds reach of the limit, over all masks, borders and outputs."""
    name = IN_CACHE if size == "2560x2560" else MASKS_RUN
    return ends(share for kind in kinds for share in of_default(name, size=size, type=kind, cache=cache))


def eights(are: bool) -> tuple[float, float]:
    """What one channel of uint8 reaches at 8192x8192 by the masks *eight*, or by the others."""
    rows = where(table(MASKS_RUN), type="uint8C1", size="8192x8192", cache="hot", purpose="compare")
    return ends(rows[rows["problem"].str.contains("eight") == are]["share"])


def far_cold(*kinds: str) -> tuple[float, float]:
    """The same at 8192x8192 from a cold cache."""
    return masks("8192x8192", *kinds, cache="cold")


def meeting(goal: float, *kinds: str) -> tuple[int, int]:
    """How many of the cells at 8192x8192 reach so much of the limit, and of how many."""
    found = [share for kind in kinds for share in of_default(MASKS_RUN, size="8192x8192", type=kind)]
    return sum(share >= goal for share in found), len(found)


def from_memory() -> tuple[int, ...]:
    """OpenCL against CUDA at 8192x8192: those that are the same, all, the undecided. In one it is faster."""
    rows = where(ratios(MASKS_RUN), size="8192x8192")
    assert set(rows["cache"]) == {"hot", "cold"}
    (faster,) = where(rows, not_verdict=["same", "ambiguous"]).to_dict("records")
    assert faster["problem"] == "laplacian diagonal reflect_101 uint8C3 8192x8192"
    assert faster["verdict"] == "faster"
    return len(where(rows, verdict="same")), len(rows), len(where(rows, verdict="ambiguous"))


def in_the_cache() -> list[float]:
    """At 2560x2560 the filters of one and of four channels of bytes in which OpenCL is slower, and by how
    many per cent at most; those of three channels in which it is faster, and by how many; all, the most
    contexts, and how many these leave undecided. All that are slower or faster are of a hot cache.
    """
    rows = where(ratios(IN_CACHE), size="2560x2560")
    slower, faster = (where(rows, verdict=verdict) for verdict in ("slower", "faster"))
    undecided = where(rows, verdict="ambiguous")
    assert set(where(rows, cache="cold")["verdict"]) == {"same", "ambiguous"}
    counts = slower["type"].value_counts(), faster["type"].value_counts()
    assert [set(count.index) for count in counts] == [{"uint8C1", "uint8C4"}, {"uint8C3"}]
    return [
        *(counts[0][kind] for kind in ("uint8C1", "uint8C4")),
        slower_by(slower),
        counts[1]["uint8C3"],
        100 * (float(faster["gross"].max()) - 1),
        len(rows),
        contexts(IN_CACHE)[1],
        len(undecided),
    ]


def near_the_band() -> list[float]:
    """The ends of the ratios that are undecided at 8192x8192 in the newer run."""
    return list(ends(where(ratios(MASKS_RUN), size="8192x8192", verdict="ambiguous")["gross"]))


def further_context(run: str) -> float:
    """The seconds that all of our filters take in a further context, in the mean of the first three."""
    of_ours = [each for each in run_of(run).trials if each.case.role == "compare" and each.block in (1, 2, 3)]
    assert len(of_ours) == 3 * 240
    return sum(float(each.provenance["wall_seconds"]) for each in of_ours) / 3


def words_in_turn() -> list[float]:
    """Four channels in turn by the former default and by today's, by mask, in OpenCL; *eight* in CUDA."""
    shape = "mapped w16 rows4 l4 32x4 {} streaming_stores"
    now = "specialized halves 7/unit 72 registers"
    return [
        us(HINTS, api, problem=f"laplacian {mask} reflect_101 uint8C4 2560x2560", variant=shape.format(form))
        for api, mask, former in (
            ("opencl", "four", "halves 7/unit 72 registers"),
            ("opencl", "diagonal", "halves 7/unit 72 registers"),
            ("opencl", "eight", "halves 6/unit"),
            ("cuda", "eight", "specialized halves 6/unit 80 registers"),
        )
        for form in (former, now)
    ]


def behind_other_hints() -> tuple[float]:
    """By how many per cent streaming stores are slower than the fastest hint, at most."""
    rows = where(table(HINTS), kind="laplace").copy()
    rows["hint"] = rows["variant"].str.extract(r"(streaming_stores|streaming|resident)$")[0]
    best = rows.groupby(["problem", "backend", "hint"])["queue"].min().unstack()
    assert best.shape == (2 * 6, 3)
    return (100 * (float((best["streaming_stores"] / best.min(axis=1)).max()) - 1),)


def in_small_groups(*sides: int) -> tuple[float, float]:
    """How many times as fast three channels are in groups of half the height, the ends."""
    times = [
        [
            us(ROWS_RUN, api, type="uint8C3", size=f"{side}x{side}", variant=f"{SHAPE} {group} {FORM}")
            for api in OWN
            for side in sides
        ]
        for group in ("32x4", "32x2")
    ]
    return ends(former / now for former, now in zip(*times, strict=True))


def with_rows(rows: int) -> list[float]:
    """The smallest image with so many rows a work-item, in OpenCL and in CUDA."""
    variant = f"mapped w16 rows{rows} l{rows} 32x4"
    problem = "laplacian four reflect_101 uint8C1 256x256"
    return [us(SMALL, side, problem=problem, variant=variant) for side in OWN]


def behind_the_fastest(backend: str) -> float:
    """By how many per cent the default is slower than the fastest form, at most, of one and four channels."""
    rows = where(table(FORMS), backend=backend, type=["uint8C1", "uint8C4"], status="ok")
    default = rows[rows["variant"].str.startswith("mapped w16 rows4 l4 32x4 paired")]
    over = default.groupby("problem")["queue"].min() / rows.groupby("problem")["queue"].min()
    assert (rows.groupby("problem").size() == 11).all()
    assert len(over) == 4
    return 100 * (float(over.max()) - 1)


def profiled() -> tuple[float, ...]:
    """What a profiler says of CUDA's filter at 8192x8192, symmetric and paired (the first two columns)."""
    lines = (FOLDER / "h200-ncu-filters.txt").read_text(encoding="utf-8").splitlines()
    told = {
        label.strip(): (float(one), float(two))
        for label, one, two in re.findall(r"(?m)^(.*?)\s{2,}([\d.]+) +([\d.]+) ", "\n".join(lines))
    }
    instructions = [value / 1e6 for value in told["Executed instructions"]]
    registers, warps = told["Registers a thread"], told["Active warps a scheduler"]
    at_peak = ("L2 cache throughput, %", "DRAM throughput, %", "Integer pipe (ALU), % of its peak")
    asked = (*at_peak, "Stalls that wait for loads", "Sectors beyond those needed")
    others = [next(told[each][1] for each in told if each.startswith(name)) for name in asked]
    return *instructions[::-1], *registers[::-1], *warps[::-1], *others


def copies() -> tuple[float]:
    """How many times the time of the limit's copy the same takes with a group for each part, in CUDA."""
    rows = where(table(MAIN), purpose="limit", cache="hot", backend="cuda", source_bytes=25 * 2**20)
    rows = where(rows, op="copy")
    best = rows.sort_values("queue").iloc[0]
    assert best["variant"] == "w4 l2 global 6/unit of 256 resident"
    parted = rows[rows["variant"].str.fullmatch(r"w4 l\d global groups per problem of 256 resident")]
    return (float(parted["queue"].min() / best["queue"]),)


SENTENCES: list[Figure] = [
    (KERNELS, "with a group for each part it takes {:.2f} times as long", copies),
    (
        RESULTS,
        "at 2560x2560 {:.2f} to {:.2f} of the limit with one channel, {:.2f} to {:.2f} with four, and {:.2f} "
        "to {:.2f} with three; from a cold cache {:.2f} to {:.2f} ([run]",
        lambda: [
            *(share for channels in (1, 4, 3) for share in masks("2560x2560", f"uint8C{channels}")),
            *masks("2560x2560", *KINDS, cache="cold"),
        ],
    ),
    (RESULTS, "a cold one, each right, in up to {} contexts; of the time", lambda: [contexts(IN_CACHE)[1]]),
    (
        RESULTS,
        "in {} of {} filters at 8192x8192, every mask, border and output, in up to {} contexts ([run]",
        lambda: [*from_memory()[:2], contexts(MASKS_RUN)[1]],
    ),
    (
        RESULTS,
        "OpenCL is faster in one, and {} are *ambiguous*, at {:.3f} to {:.3f}:",
        lambda: [from_memory()[2], *near_the_band()],
    ),
    (
        "CHANGELOG.md",
        "of all filters takes {:.0f} s on an H200:",
        lambda: [further_context(MASKS_RUN)],
    ),
    (
        RESULTS,
        "OpenCL is slower in {} hot filters of one channel of bytes and in {} of four, by up to {:.1f} %, "
        "and faster in {} of three channels, by {:.1f} %. Of all {} there the up to {} contexts leave {} "
        "*ambiguous*.",
        in_the_cache,
    ),
    (
        TUNING,
        "takes OpenCL's plain mask from {:.1f} us to {:.1f}, *diagonal* from {:.1f} to {:.1f} and *eight* "
        "from {:.1f} to {:.1f}, and CUDA's *eight*, which had six groups a unit, from {:.1f} to {:.1f} (",
        words_in_turn,
    ),
    (TUNING, "are the fastest of three hints or within {:.1f} % of it.", behind_other_hints),
    (
        TUNING,
        "1792x1792 and 2048x2048 they are {:.2f} to {:.2f} times as fast so in either API, at 1024x1024 and "
        "1280x1280 {:.2f} to {:.2f} times (",
        lambda: [*in_small_groups(1536, 1792, 2048), *in_small_groups(1024, 1280)],
    ),
    (
        TUNING,
        "takes {:.2f} us in OpenCL and {:.2f} in CUDA, with four rows {:.2f} and {:.2f} ([sweep]",
        lambda: [*with_rows(1), *with_rows(4)],
    ),
    (
        NOTES,
        "executes {:.1f} million instructions in place of {:.1f}, and takes {:.0f} registers in place of "
        "{:.0f}: {:.1f} warps a scheduler in place of {:.1f} hide",
        lambda: profiled()[:6],
    ),
    (
        NOTES,
        "busy to {:.0f} % of its peak, the memory to {:.0f} %, the integer pipe to {:.0f} %, and {:.0f} % of "
        "a warp's time are waits for loads.",
        lambda: profiled()[6:10],
    ),
    (NOTES, "{:.0f} % of the 32-byte sectors that are asked for", lambda: profiled()[10:]),
    (
        TUNING,
        "h200-sweep-filters.jsonl.xz), {} context; ended",
        lambda: [{1: "one"}[contexts(FORMS)[1]]],
    ),
    (
        TUNING,
        "forms in CUDA, but for {:.1f} %; in OpenCL it is within {:.1f} % of the fastest.",
        lambda: [behind_the_fastest(backend) for backend in reversed(OWN)],
    ),
]

ROWS: list[Figure] = [
    (
        RESULTS,
        "| hot: uint8 {:.2f} to {:.2f} with both masks *eight*, {:.2f} to {:.2f} with the others; uint16, "
        "float32 and four channels of uint8 meet it in {} of {} cells, three channels meet their 0.92 in {} "
        "of {}. Cold: {:.2f} to {:.2f} |",
        lambda: [
            *eights(True),
            *eights(False),
            *meeting(0.95, "uint16C1", "float32C1", "uint8C4"),
            *meeting(0.92, "uint8C3", "uint16C3"),
            *far_cold(*KINDS),
        ],
    ),
    (
        RESULTS,
        "| hot: uint8 {:.2f} to {:.2f}, uint16 {:.2f} to {:.2f}; four channels of uint8 {:.2f} to {:.2f}, "
        "three {:.2f} to {:.2f}, float32 {:.2f} to {:.2f}. Cold: float32 {:.2f}, uint8 {:.2f} |",
        lambda: [
            *(
                share
                for kind in ("uint8C1", "uint16C1", "uint8C4", "uint8C3", "float32C1")
                for share in masks("2560x2560", kind)
            ),
            *(masks("2560x2560", kind, cache="cold")[0] for kind in ("float32C1", "uint8C1")),
        ],
    ),
    (
        RESULTS,
        "| at 8192x8192 uint16 {:.1f} %, with three channels {:.1f} %; bytes and float32 meet it with at "
        "most {:.1f} %; at 4096x4096",
        lambda: [
            *(spread(kind) for kind in ("uint16C1", "uint16C3")),
            max(spread(kind) for kind in ("uint8C1", "uint8C3", "uint8C4", "float32C1")),
        ],
    ),
    (
        RESULTS,
        "| {} of {} at 8192x8192 in up to {} contexts, {} *ambiguous*; at 4096x4096",
        lambda: [*from_memory()[:2], contexts(MASKS_RUN)[1], from_memory()[2]],
    ),
]

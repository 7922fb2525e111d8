"""What is said of copies and reads around a GPU's cache, and of what the wider limits change."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import pandas as pd

from harness.suites.expand import variants_of
from harness.suites.schema import Limits
from harness.variants.axes import label
from tests.support.figures import MAIN, RESULTS, Figure
from tests.support.figures.contexts import further
from tests.support.figures.h100 import H100, RUN, filters, none_above
from tests.support.recorded import OWN, contexts, ends, ratios, run_of, table, where

SWEEPS = ("h100-sweep-copies", "h100-sweep-reads")
H200 = "h200-sweep-copies"
WIDER = "h100-quick-wider-limits"
HALF = 26_214_400
"""The bytes of an image of four channels at 2560x2560: half of an H100's cache."""
PARTS = (
    r"w4 l(?P<loads>\d) global (?P<groups>\d+|groups per problem)\S* of (?P<group_size>\d+) ?(?P<hint>\w*)"
)
FORWARD = Limits().gpu.model_copy(update={"traversal": ["forward"]})
TODAY = variants_of(FORWARD)
"""The candidates of a limit on a GPU that go forward: all where the caches hold what is copied."""
OF_32 = variants_of(FORWARD.model_copy(update={"groups": [8, 32, "per_problem"]}))
"""Those before, which had 32 groups a unit in place of six; the first of all had no two loads in flight."""
NOW = [label(variant) for variant in TODAY]
FORMER = [label(variant) for variant in OF_32]
FIRST = [label(variant) for variant in OF_32 if variant.loads_in_flight != 2]
SMALLER = NOW + [label(replace(variant, group_size=128)) for variant in TODAY]
SIZES = (1_638_400, 3_276_800, 6_553_600, 13_107_200, 19_660_800, HALF, 67_108_864)


@cache
def swept(*names: str) -> pd.DataFrame:
    """The rows of some sweeps, with the parts of each variant."""
    rows = pd.concat([table(name) for name in names], ignore_index=True)
    assert set(rows["status"]) == {"ok"}
    parts = rows["variant"].str.extract(PARTS)
    assert parts.notna().all(axis=None)
    return rows.join(parts)


def fastest(direction: str, size: int, sweeps: tuple[str, ...] = SWEEPS, **wanted: object) -> float:
    """What the fastest of these candidates takes, in us, of either API."""
    rows = where(swept(*sweeps), op=direction, source_bytes=size, **wanted)
    return 1e6 * float(rows["queue"].min())


def row(size: int, *sweeps: str) -> list[float]:
    """Copies of so many bytes: the fastest of all, of the first candidates, the former and today's."""
    of_size = partial(fastest, "copy", size, sweeps or SWEEPS)
    return [of_size(), *(of_size(variant=those) for those in (FIRST, FORMER, NOW))]


def missed(direction: str, those: list[str]) -> float:
    """By how many per cent the fastest of these candidates are slower than those of all, at most."""
    sizes = where(swept(*SWEEPS), op=direction)["source_bytes"].unique()
    return 100 * (
        max(fastest(direction, size, variant=those) / fastest(direction, size) for size in sizes) - 1
    )


def of_reads() -> tuple[float, float]:
    """The least and the greatest that was read, in MB, with up to eight loads in flight."""
    rows = where(swept(*SWEEPS), op="read")
    assert rows["loads"].max() == "8"
    return ends(rows["source_bytes"] / 1e6)


def at_half() -> list[float]:
    """Copies of half of the cache: the fastest of all, which has eight groups a unit and the hint *resident*;
    the fastest with fewer groups, and with any other hint.
    """
    of_eight = fastest("copy", HALF, groups="8", hint="resident")
    assert of_eight == fastest("copy", HALF)
    fewer = fastest("copy", HALF, groups=["1", "2", "3", "4", "6"])
    return [of_eight, fewer, fastest("copy", HALF, not_hint="resident")]


def limit(rows: pd.DataFrame) -> float:
    """The one limit of these rows, in us."""
    (found,) = set(1e6 * rows["bytes_moved"] / rows["limit"])
    return float(found)


def beside(side: str, kind: str) -> list[float]:
    """The copy limit of both runs for filters of one size and kind, in us, and what these reach of it."""
    limits: list[float] = []
    shares: list[float] = []
    for run in (RUN, WIDER):
        rows = filters(run, kind="laplace", size=side, type=kind, role=OWN, status="ok")
        limits.append(limit(rows))
        shares += ends(rows["share"])
    return [*limits, *shares]


def differing() -> list[int]:
    """How many cases both runs decided, all alike; what the run by wider limits left undecided, and of how
    many.
    """
    one, two = (
        where(ratios(run), first_backend="opencl").set_index("problem")["verdict"] for run in (RUN, WIDER)
    )
    both = pd.DataFrame({"one": one, "two": two})
    decided = both[(both != "ambiguous").all(axis=1)]
    assert (decided["one"] == decided["two"]).all()
    return [len(decided), int((two == "ambiguous").sum()), len(two)]


def screening(run: str) -> float:
    """The seconds that the first context of a run spends on limits."""
    trials = run_of(run).trials
    first = trials[0].block
    of_limits = (each for each in trials if each.block == first and each.case.role == "limit")
    return sum(float(each.provenance["wall_seconds"]) for each in of_limits)


def too_kind(those: list[str], than: list[str]) -> list[float]:
    """By how many per cent the fastest of these candidates are slower than of others at 6.6 MB, where the
    first candidates missed most.
    """
    size = 2560 * 2560
    assert size == max(SIZES, key=lambda size: row(size)[1] / row(size)[3])
    return [100 * (fastest("copy", size, variant=those) / fastest("copy", size, variant=than) - 1)]


def without_32() -> list[float]:
    """By how many per cent the fastest of the former candidates would be slower without those of 32 groups,
    where a run measured all of them: at most.
    """
    found = []
    for run in (WIDER, "h200-quick-other-machine"):
        limits = where(table(run), purpose="limit", variant=FORMER)
        for _, rows in limits.groupby(["op", "source_bytes", "cache"]):
            if set(rows["variant"]) == set(FORMER):
                left = rows[~rows["variant"].str.contains(" 32/unit")]
                found.append(100 * (left["queue"].min() / rows["queue"].min() - 1))
    assert len(found) > len(SIZES)
    return [max(found)]


def on_an_h200() -> list[float]:
    """The candidates of the copy limit, the API's own command among them, and how many of a copy that the
    caches do not hold; how many copies of a size each API was tried with; by how many per cent the fastest of
    all is faster than today's at 6.6 and at 20 MB.
    """
    candidates = where(table(MAIN), purpose="limit", op="copy")
    count, most = sorted(set(candidates.groupby(["source_bytes", "backend"]).size()))
    assert set(candidates["variant"]) == {*map(label, variants_of(Limits().gpu)), "the API's own command"}
    sizes = SIZES[2], SIZES[4]
    copies = where(table(H200), source_bytes=list(sizes))
    (tried,) = set(copies.groupby(["source_bytes", "backend"]).size())
    of = [row(size, H200) for size in sizes]
    return [count, most, tried, *(100 * (1 - fastest_of_all / today) for fastest_of_all, *_, today in of)]


def from_run_to_run() -> list[float]:
    """By how many per cent the copy limits of filters that the cache holds differ from run to run, of those
    with today's candidates, at most: that of 1.6 MB, and its ends in us.
    """
    quicks = (MAIN, "h200-quick-forward", "h200-quick-sub-groups")
    runs = (*quicks, "h200-filters-forward", "h200-jia2012", "h200-dialects")
    found: dict[int, list[float]] = {}
    for run in runs:
        rows = where(table(run), kind="laplace", cache="hot", status="ok")
        for size, of_size in rows[rows["limit"].notna()].groupby("source_bytes"):
            if int(str(size)) < HALF:
                found.setdefault(int(str(size)), []).append(limit(of_size))
    most, size = max((max(each) / min(each), size) for size, each in found.items())
    assert size == SIZES[0]
    return [100 * (most - 1), *ends(found[size])]


SENTENCES: list[Figure] = [
    (
        RESULTS,
        "The copy limit is of {} candidates, past half of the cache of {}. Of {} copies that go forward the "
        "fastest is {:.1f} % faster at 6.6 MB and {:.1f} % at 20 MB ([sweep]",
        on_an_h200,
    ),
    (
        RESULTS,
        "From run to run the limit at a size in the cache differs by up to {:.0f} %: at 1.6 MB from {:.2f} "
        "to {:.2f} us.",
        from_run_to_run,
    ),
    (
        H100,
        "shares of images of {:.1f} and {:.0f} MB (one and three channels of bytes at 2560x2560) are too "
        "high by up to {:.0f} %.",
        lambda: [SIZES[2] / 1e6, SIZES[4] / 1e6, *too_kind(FIRST, NOW)],
    ),
    (H100, "Two sweeps of {:.1f} to {:.0f} MB, hot", lambda: ends(swept(*SWEEPS)["source_bytes"] / 1e6)),
    (
        H100,
        "a copy of {:.1f} MB is {:.0f} % faster with them.",
        lambda: [SIZES[2] / 1e6, *too_kind(FIRST, FORMER)],
    ),
    ("CHANGELOG.md", "that copies 6 MB up to {:.0f} % faster,", partial(too_kind, FIRST, NOW)),
    (H100, "without which the candidates of two runs would be at most {:.1f} % slower,", without_32),
    (H100, "take another {:.1f} % less time there.", partial(too_kind, FORMER, NOW)),
    (
        H100,
        "Today's miss the fastest of all by at most {:.1f} %, those with 32 by {:.1f} %; with groups of 128 "
        "work-items, too, it would be {:.1f} %, for twice the time.",
        lambda: [missed("copy", those) for those in (NOW, FORMER, SMALLER)],
    ),
    (H100, "No result lies above its limit.", partial(none_above, WIDER)),
    (
        H100,
        "Reads of {:.1f} to {:.0f} MB, with up to eight loads, were and are at most {:.1f} % from the "
        "fastest of all.",
        lambda: [*of_reads(), max(missed("read", those) for those in (FIRST, FORMER, NOW))],
    ),
    (
        H100,
        "are the fastest, with {:.2f} us; fewer take {:.2f}, and without the hint *resident* no copy takes "
        "less than {:.2f}.",
        at_half,
    ),
    (
        H100,
        "540 s, {} contexts of the empty kernel)",
        lambda: contexts(WIDER)[2:],
    ),
    (
        H100,
        "The {} cases that both runs decided have the same verdicts. The run left {} of {} undecided",
        differing,
    ),
    (
        H100,
        "so that a case took {:.1f} ms in OpenCL and {:.1f} in CUDA in a further context.",
        lambda: [1e3 * further(WIDER)[side] for side in OWN],
    ),
    (
        H100,
        "the first context spent {:.1f} s on limits, {:.1f} before;",
        lambda: [screening(WIDER), screening(RUN)],
    ),
]

ROWS: list[Figure] = [
    *(
        (H100, f"| {text} |" + 4 * " {:.2f} |", partial(row, size))
        for text, size in zip(
            (
                "1.6 MB, one channel of uint8 at 1280x1280",
                "3.3 MB",
                "6.6 MB, one channel at 2560x2560",
                "13 MB, uint16",
                "20 MB, three channels of uint8",
                "26 MB, four channels, float32",
                "67 MB, one channel at 8192x8192",
            ),
            SIZES,
            strict=True,
        )
    ),
    *(
        (
            H100,
            f"| uint8, {name}, {side} | {{:.2f}} | {{:.2f}} | {{:.2f}} to {{:.2f}} | {{:.2f}} to {{:.2f}} |",
            partial(beside, side, kind),
        )
        for name, side, kind in (
            ("one channel", "1280x1280", "uint8C1"),
            ("four channels", "1280x1280", "uint8C4"),
            ("one channel", "2560x2560", "uint8C1"),
            ("four channels", "2560x2560", "uint8C4"),
            ("one channel", "8192x8192", "uint8C1"),
        )
    ),
]

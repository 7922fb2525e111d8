"""What is said of groups that combine by atomics on local memory, and of what portable text has beside."""

from __future__ import annotations

from collections.abc import Iterable

from harness.results.statistics import geometric_mean
from tests.support.figures import KERNELS, RESULTS, TUNING, Figure
from tests.support.recorded import OWN, ends, ratios, table, where

DEFAULTS, PORTABLE = "h200-sweep-local-atomics-default", "h200-sweep-local-atomics"
FLOATS, PORTABLE_FLOATS = "h200-sweep-floats", "h200-sweep-portable-floats"
MORE_ROWS, ALL_MASKS = "h200-sweep-more-rows", "h200-filters-4096"
WEIGHED = ("eight", "eight_negated")


def times_as_fast(run: str, backend: str, new: str, old: str, **wanted: str | list[str]) -> dict[str, float]:
    """How many times as fast a run's problems are where a variant's name has ``new`` in place of ``old``."""
    rows = where(table(run), backend=backend, status="ok", purpose="compare", **wanted)
    times = {(row["problem"], row["variant"]): row["queue"] for row in rows.to_dict("records")}
    return {
        f"{problem}: {variant}": times[problem, variant.replace(new, old)] / time
        for (problem, variant), time in times.items()
        if new in variant and (problem, variant.replace(new, old)) in times
    }


def of_defaults() -> list[float]:
    """Of our own text, OpenCL's and CUDA's: the ends, and the geometric means."""
    gains = [list(times_as_fast(DEFAULTS, api, "local_atomics", "sub_group").values()) for api in OWN]
    return [*ends(value for each in gains for value in each), *map(geometric_mean, gains)]


def of_portable() -> tuple[float, float]:
    """Portable OpenCL's."""
    return ends(times_as_fast(PORTABLE, "portable opencl", "local_atomics", "quad").values())


def saturated(backend: str, *masks: str) -> tuple[float, float]:
    """Portable filters of bytes in one shape, whose results are saturated as floats."""
    shape = "mapped w16 rows4 l4 32x4"
    gains = times_as_fast(FLOATS, backend, " floats", " paired")
    return ends(
        gain
        for case, gain in gains.items()
        if shape in case and any(f" {mask} " in case for mask in masks) and is_default(case, gains)
    )


def is_default(case: str, cases: Iterable[str]) -> bool:
    """Whether a case has the number of groups that the suite's default has, the first of its problem."""
    problem = case.partition(":")[0]
    return case == next(each for each in cases if each.startswith(f"{problem}:"))


def larger_groups() -> tuple[float, float]:
    """Portable OpenCL's sums of floats with two loads in flight, by half as many groups of twice the size."""
    gains = times_as_fast(PORTABLE_FLOATS, "portable opencl", "2/unit of 512", "4/unit of 256")
    return ends(gain for case, gain in gains.items() if " l2 " in case)


def a_row_more() -> list[float]:
    """OpenCL's filters of one channel of bytes where all neighbours weigh, from 2560x2560 on, with five rows;
    CUDA's; and both at fewer groups.
    """
    gains = {api: all_rows(api) for api in OWN}
    large = [
        [gain for case, gain in gains[api] if pixels(case) >= 2560 and any(m in case for m in WEIGHED)]
        for api in OWN
    ]
    small = [
        gain
        for case, gain in gains["opencl"]
        if 2048 <= pixels(case) < 2560 and any(mask in case for mask in WEIGHED)
    ]
    return [*ends(large[0]), *ends(large[1]), *ends(small)]


def all_rows(api: str) -> list[tuple[str, float]]:
    """How many times as fast with five rows as with four, of one channel of bytes in both sweeps."""
    return [
        found
        for run in (DEFAULTS, MORE_ROWS)
        for group in ("32x4", "32x2")
        for found in times_as_fast(run, api, f"rows5 l5 {group}", f"rows4 l4 {group}", type="uint8C1").items()
    ]


def pixels(case: str) -> int:
    """The width of an image."""
    return int(case.partition(":")[0].split()[-1].partition("x")[0])


def verdicts() -> list[int]:
    """Of the filters at 4096x4096: the same, all, faster, slower, ambiguous."""
    rows = ratios(ALL_MASKS)
    counted = [len(where(rows, verdict=each)) for each in ("same", "faster", "slower", "ambiguous")]
    assert sum(counted) == len(rows)
    assert not counted[2]
    return [counted[0], len(rows), *counted[1:]]


def apart_at_4096() -> list[float]:
    """By how many per cent masks, borders and outputs of one kind of image differ, where more than 3."""
    rows = where(table(ALL_MASKS), purpose="compare", backend=OWN, status="ok")
    slower_side = rows.groupby(["type", "problem"])["queue"].max().groupby("type")
    found = 100 * (slower_side.max() / slower_side.min() - 1)
    assert list(found.index[found <= 3]) == ["float32C1", "uint8C4"]
    return [*ends(found[found > 3])]


SENTENCES: list[Figure] = [
    (
        KERNELS,
        "on an H200 {:.2f} to {:.2f} times as fast as *sub_group* in our own text, in the mean {:.3f} times "
        "in OpenCL and {:.3f} times in CUDA",
        of_defaults,
    ),
    (KERNELS, "and {:.2f} to {:.2f} times as fast as *quad* in portable OpenCL", of_portable),
    (
        KERNELS,
        "portable OpenCL is {:.2f} to {:.2f} times as fast with it as with *paired*, portable CUDA {:.2f} to "
        "{:.2f} times, and {:.2f} to {:.2f} times where corners alone weigh",
        lambda: [
            *saturated("portable opencl", "four", "diagonal", "eight"),
            *saturated("portable cuda", "four", "eight"),
            *saturated("portable cuda", "diagonal"),
        ],
    ),
    (
        RESULTS,
        "Sums of floats are {:.2f} to {:.2f} times as fast by half as many groups of twice the size",
        larger_groups,
    ),
    (
        TUNING,
        "from 2560x2560 on OpenCL is {:.2f} to {:.2f} times as fast with five rows as with four and CUDA "
        "{:.2f} to {:.2f} times; at 2048x2048 and 2304x2304 OpenCL {:.2f} to {:.2f} times",
        a_row_more,
    ),
    (
        RESULTS,
        "at 4096x4096 {} of {} filters are the *same*, in {} OpenCL is faster, in {} slower, and {} are "
        "*ambiguous*",
        verdicts,
    ),
]
ROWS: list[Figure] = [
    (
        RESULTS,
        "; at 4096x4096 {} of {}, and {} faster | missed in few contexts: none is *slower* |",
        lambda: verdicts()[:3],
    ),
    (
        RESULTS,
        "float32 and four channels of bytes meet it, the others are {:.1f} to {:.1f} % apart |",
        apart_at_4096,
    ),
]

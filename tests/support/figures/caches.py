"""What is said of hints to the caches: a part of a source that is kept, streaming stores."""

from __future__ import annotations

import json
import re
from functools import partial

from tests.support.figures import RESULTS, Figure
from tests.support.recorded import FOLDER, OWN, by_hint, ends


def with_hint(cached: str) -> tuple[float, ...]:
    """minmax of bytes at 8192x8192, with a part kept and without, in each API."""
    found = by_hint("h200-sweep-hints", problem="minmax uint8 8192x8192", cache=cached)
    return tuple(found[hint][side].iloc[0] for hint in ("resident", "none") for side in OWN)


def far_with_hint(cached: str) -> tuple[float, float]:
    """How many times as fast reductions of 134 to 403 MB are with a part kept."""
    found = by_hint("h200-sweep-resident-far", kind="reduction", cache=cached)
    return ends(found["none"] / found["resident"])


def beside_a_neighbour() -> tuple[float, ...]:
    """Two sums that take turns: with a part of the first one's source kept, and without."""
    lines = [json.loads(line) for line in (FOLDER / "h200-neighbour.jsonl").read_text().splitlines()]
    both = {
        (line["cache_hint"], line["backend"]): line["in_turns_us"] for line in lines if line["bytes"] == 2**26
    }
    sources = lines[0]["bytes"] / 1e6, lines[0]["neighbour_bytes"] / 1e6
    return *sources, *(both[hint, side] for hint in ("resident", "none") for side in OWN)


def with_streaming_stores() -> tuple[float, ...]:
    """How many times as fast two filters are that keep their source."""
    found = by_hint("h200-sweep-resident-far", kind="laplace", cache="hot", size="2560x2560")
    gained = (found["none"] / found["streaming_stores"]).reset_index()
    return tuple(
        gained[(gained["backend"] == side) & gained["problem"].str.contains(kind)][0].iloc[0]
        for kind in ("uint8C4", "float32C1")
        for side in OWN
    )


def beside_results(cached: str) -> tuple[float, float]:
    """How many times as fast filters of 38 MB and more are with a fifth of the cache kept."""
    found = by_hint("h200-sweep-kept", kind="laplace", cache=cached).reset_index()
    # The default has no hint where so little of a source would be kept.
    found = found[~found["problem"].str.contains("uint8C3 8192x8192")]
    return ends(found["none"] / found["resident"])


def kept_lines() -> list[float]:
    """A streaming copy of 64 MiB: clean, after copies that have lines kept, and then after nothing, the
    release kernel or the driver's reset.
    """
    lines = re.findall(
        r"(?m)^after (.+) clean ([\d.]+) left ([\d.]+) then ([\d.]+) took",
        (FOLDER / "h200-kept-lines.txt").read_text(encoding="utf-8"),
    )
    then = {name: float(seconds) for name, _, _, seconds in lines}
    clean, left = (ends(float(line[place]) for line in lines) for place in (1, 2))
    return [*clean, *left, then["nothing"], *ends([then["release kernel"], then["reset"]])]


def peers() -> tuple[float, ...]:
    """The read limits of 64 and 256 MiB, hot: the fastest of all hints, and without one."""
    found = by_hint("h200-sweep-hints", op="read", cache="hot").reset_index()
    of = [found[found["problem"] == f"read uint32 {mebibytes * 2**18}"] for mebibytes in (64, 256)]
    return tuple(
        value for rows in of for value in (rows[["resident", "streaming"]].min().min(), rows["none"].min())
    )


SENTENCES: list[Figure] = [
    (
        RESULTS,
        "takes {:.1f} us in OpenCL and {:.1f} in CUDA with it, {:.1f} and {:.1f} without",
        partial(with_hint, "hot"),
    ),
    (
        RESULTS,
        "From a cold cache it takes {:.1f} and {:.1f} us with it, {:.1f} and {:.1f} without.",
        partial(with_hint, "cold"),
    ),
    (RESULTS, "is {:.2f} to {:.2f} times as fast hot,", partial(far_with_hint, "hot")),
    (RESULTS, "{:.2f} to {:.2f} times as fast cold", partial(far_with_hint, "cold")),
    (
        RESULTS,
        "Where a sum of {:.0f} MB and one of {:.0f} MB, half the cache, take turns, both take {:.1f} us in "
        "OpenCL and {:.1f} in CUDA, with it as without ({:.1f} and {:.1f};",
        beside_a_neighbour,
    ),
    (
        RESULTS,
        "{:.2f} (OpenCL) and {:.2f} times (CUDA) as fast so, float32 {:.2f} and {:.2f} times",
        with_streaming_stores,
    ),
    (
        RESULTS,
        "38 to 134 MB were {:.2f} to {:.2f} times as fast so from a hot cache, {:.2f} to {:.2f} times "
        "from a cold one",
        lambda: [*beside_results("hot"), *beside_results("cold")],
    ),
    (
        RESULTS,
        "takes {:.1f} to {:.1f} us, after copies with *resident* {:.1f} to {:.1f}, and {:.1f} 300 calls "
        "later; once the lines are given up {:.1f} to {:.1f} ([what was tried]",
        kept_lines,
    ),
    (RESULTS, "64 MiB in {:.1f} us in place of {:.1f}, 256 MiB in {:.1f} in place of {:.1f} (first", peers),
]

ROWS: list[Figure] = []

"""What is said of filters whose groups take tiles in turn, and of tiles by asynchronous copies."""

from __future__ import annotations

from typing import Any

from tests.support.figures import KERNELS, NOTES, TUNING, Figure
from tests.support.figures.filters import us
from tests.support.recorded import FOLDER, OWN, ends, table, where

BY_SIZE, BY_HINT, COPIES = "h200-sweep-turns-sizes", "h200-sweep-turns-hints", "h200-sweep-filter-tiles"
THREE = "h200-sweep-three"
MIB = 2**20
STORES, BOTH = "streaming_stores", "streaming"


def in_turn(hint: str, least: float, most: float, cache: str = "hot") -> list[float]:
    """How many times as fast seven groups a compute unit are with a hint as a group for each tile, in either
    API, of images of ``least`` to ``most`` MiB that have not three channels.
    """
    found = []
    for name in (BY_SIZE, BY_HINT):
        rows = where(table(name), kind="laplace", purpose="compare", status="ok", cache=cache)
        rows = rows[rows["source_bytes"].between(least * MIB, most * MIB)]
        rows = where(rows, not_type="uint8C3")
        for _, cell in rows.groupby(["problem", "backend"]):
            times = cell.set_index("variant")["queue"]
            apart = times[~times.index.str.contains("/unit")]
            form = f"rows4 l4 32x4 (?:paired )?7/unit {hint}$"
            together = times[times.index.str.contains(form)]
            found += [float(apart.iloc[0] / seconds) for seconds in together]
    assert found
    return found


def in_both(kind: str, *variants: str) -> list[float]:
    """The times of plain filters at 8192x8192, in us, in OpenCL and then in CUDA for each variant."""
    problem = f"laplacian four reflect_101 {kind} 8192x8192"
    return [us(COPIES, side, problem=problem, variant=variant) for variant in variants for side in OWN]


def plain_copies() -> tuple[float, float]:
    """How many times as long tiles by loads and stores take, at least and at most."""
    rows = where(table(COPIES), kind="laplace", purpose="compare", status="ok")
    times = rows.set_index(["problem", "backend", "variant"])["queue"]
    plain = [key for key in times.index if key[2].endswith("portable")]
    assert 2 * len(plain) == rows["variant"].str.contains("async_tile").sum()
    return ends(
        times[problem, backend, variant]
        / times[problem, backend.removeprefix("portable "), variant.removesuffix(" portable")]
        for problem, backend, variant in plain
    )


def at_25_mib() -> list[float]:
    """Four channels of uint8 at 2560x2560, in turn and with a group for each tile, in each API."""
    problem = "laplacian four reflect_101 uint8C4 2560x2560"
    forms = [f"mapped w16 rows4 l4 32x4 paired {groups}{STORES}" for groups in ("7/unit ", "")]
    return [us(BY_SIZE, side, problem=problem, cache="hot", variant=form) for form in forms for side in OWN]


def three_in_turn(size: int = 2560) -> dict[tuple[str, str, str], float]:
    """The times of three channels of bytes by mask, API and form, in us; with other hints than the default's,
    or by single loads, they take longer than by default in every case.
    """
    rows = where(table(THREE), kind="laplace", purpose="compare", status="ok", size=f"{size}x{size}")
    default = "mapped w16 rows4 l4 32x4 aligned specialized halves streaming_stores"
    found = {}
    key: Any
    for key, cell in rows.groupby(["op", "backend"]):
        op, backend = key
        times = cell.set_index("variant")["queue"] * 1e6
        others = ~(times.index.str.contains("aligned") & times.index.str.contains(STORES))
        assert others.any()
        assert (times[others] > times[default]).all()
        found[op.split()[1], backend, "by tile"] = times[default]
        found[op.split()[1], backend, "in turn"] = times[
            default.replace(STORES, f"7/unit 72 registers {STORES}")
        ]
    return found


def of_three(mask: str) -> list[float]:
    """In turn and by default, in either API."""
    return [three_in_turn()[mask, backend, form] for form in ("in turn", "by tile") for backend in OWN]


def longer_in_turn() -> tuple[float, float]:
    """How many times as long three channels take in turn at 2304x2304."""
    found = three_in_turn(2304)
    assert {mask for mask, *_ in found} == {"four", "eight"}
    return ends(
        seconds / found[mask, backend, "by tile"]
        for (mask, backend, form), seconds in found.items()
        if form == "in turn"
    )


def asked_of_l2() -> list[float]:
    """Million sectors of the image, and what is asked of the L2 cache by default and by async_tile."""
    lines = (FOLDER / "h200-ncu-tiles.txt").read_text(encoding="utf-8").splitlines()
    (asked,) = (line.split()[-4:] for line in lines if line.startswith("Sectors"))
    image = 8192 * 8192 // 32
    assert any(f"{image} sectors" in line for line in lines)
    return [image / 1e6, int(asked[0]) / 1e6, int(asked[2]) / 1e6]


SENTENCES: list[Figure] = [
    (
        KERNELS,
        "there, from 22.5 to 26 MiB, seven groups a unit are {:.2f} to {:.2f} times as fast as a group for "
        "each tile, and with streaming loads, too, from 27 to 32 MiB {:.2f} to {:.2f} times",
        lambda: [*ends(in_turn(STORES, 22.5, 26.25)), *ends(in_turn(BOTH, 26.25, 32))],
    ),
    (
        KERNELS,
        "from memory they are {:.1f} to {:.1f} % slower",
        lambda: ends(
            100 * (1 / gain - 1)
            for gain in (
                *in_turn(STORES, 22.5, 26.25, cache="cold"),
                *in_turn(BOTH, 26.25, 34.2, cache="cold"),
            )
        ),
    ),
    (
        KERNELS,
        "Below 20 MiB they are at most {:.2f} times as fast and up to {:.0f} % slower",
        lambda: (
            max(in_turn(STORES, 17, 20.5)),
            100 * (1 / min(in_turn(STORES, 17, 20.5)) - 1),
        ),
    ),
    (KERNELS, "the same tiles take {:.2f} to {:.2f} times as long", plain_copies),
    (
        TUNING,
        "group for each tile, {:.1f} us in OpenCL and {:.1f} in CUDA, in turn {:.1f} and {:.1f} ([sweep]",
        lambda: [*at_25_mib()[2:], *at_25_mib()[:2]],
    ),
    (
        TUNING,
        "float32 at 8192x8192 takes {:.0f} and {:.0f} us by them, {:.0f} and {:.0f} by single loads, and "
        "uint16 {:.0f} and {:.0f}, by aligned loads {:.0f} and {:.0f}",
        lambda: [
            *in_both("float32C3", "mapped w4 rows4 l1 32x4 async_tile", "mapped w4 rows4 l4 32x4"),
            *in_both("uint16C3", "mapped w8 rows4 l1 32x4 async_tile", "mapped w8 rows4 l4 32x4 aligned"),
        ],
    ),
    (
        NOTES,
        "of an image of {:.1f} million sectors the L2 cache is asked for {:.1f} million by default",
        lambda: asked_of_l2()[:2],
    ),
    (NOTES, "With `cp.async` it was asked for {:.1f} million", lambda: asked_of_l2()[2:]),
    (
        TUNING,
        "the plain mask takes {:.2f} us in OpenCL and {:.2f} in CUDA in place of {:.2f} and {:.2f}",
        lambda: of_three("four"),
    ),
    (
        TUNING,
        "*diagonal* {:.2f} and {:.2f} in place of {:.2f} and {:.2f}, but",
        lambda: of_three("diagonal"),
    ),
    (TUNING, "*eight* {:.2f} and {:.2f} in place of {:.2f} and {:.2f}; at", lambda: of_three("eight")),
    (
        TUNING,
        "the plain mask and *eight* take {:.2f} to {:.2f} times as long so",
        longer_in_turn,
    ),
]

ROWS: list[Figure] = []

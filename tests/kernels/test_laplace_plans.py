"""The Laplace kernels' plans: what they launch, what they refuse, and that they name every piece."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.kernels.laplace import plan
from harness.kernels.requirements import violations
from harness.problems import BORDERS, Laplace
from harness.variants.axes import AXES, LaplaceVariant
from tests.support.laplace import GPU, IMAGE, PIECES


def test_the_plan_covers_the_image() -> None:
    problem = Laplace("four", "wrap", "laplacian", "uint16", 1000, 999, 3)
    variant = LaplaceVariant(vector_width=8, rows_per_item=4, group_width=16, group_height=2)
    planned = plan(problem, variant, GPU)
    (launch,) = planned.launches
    assert launch.num_groups == (24, 125)  # 2997 elements in 128s, 1000 rows in 8s
    assert launch.group_size == (16, 2)
    assert planned.result_count == 1000 * 3008  # rows of 5994 bytes are padded to 6016
    assert planned.buffers == {planned.result: 1000 * 6016}
    assert planned.per_source


def test_groups_that_take_turns_are_no_more_than_there_are_tiles() -> None:
    problem = Laplace("four", "wrap", "laplacian", "uint16", 1000, 999, 3)
    shape: dict[str, Any] = {"vector_width": 8, "rows_per_item": 4, "group_width": 16, "group_height": 2}
    for groups, launched in ((8, 8 * 132), (64, 24 * 125)):
        planned = plan(problem, LaplaceVariant(groups=groups, **shape), GPU)
        assert planned.launches[0].num_groups == (launched, 1)
        assert planned.macros["ONE_PART_A_GROUP"] == 0
    assert plan(problem, LaplaceVariant(**shape), GPU).macros["ONE_PART_A_GROUP"] == 1


def test_what_pads_takes_turns_where_the_image_is_taller_than_a_grid() -> None:
    problem = Laplace("four", "replicate", "laplacian", "uint8", 70000, 16)
    variant = LaplaceVariant(border_code="padded", groups=8, rows_per_item=1, group_height=1)
    device = replace(GPU, platform="CUDA", compute_capability=90)
    assert not violations(variant, problem, device)
    pad, _ = plan(problem, variant, device).launches
    assert pad.num_groups == (1, 65535)


@pytest.mark.parametrize(
    ("problem", "axes", "reason"),
    [
        (
            IMAGE,
            {"rows_per_item": 2, "loads_in_flight": 4},
            "2 rows an item are no multiple of 4 loads in flight",
        ),
        (replace(IMAGE, width=2**31), {}, "a row of 2147483648 elements"),
        (replace(IMAGE, height=2**31), {}, "2147483648 rows are over the kernels' limit"),
        (
            replace(IMAGE, height=2**31 - 1),
            {"groups": 1, "group_height": 1},
            "6442450941 tiles are over the kernels' limit of 2147483647; more rows_per_item",
        ),
        (
            IMAGE,
            {"pixels": "local_tile", "vector_width": 16, "rows_per_item": 8},
            "pixels local_tile: a group's tile needs 33924 bytes of local memory, the device has 32768",
        ),
        (
            IMAGE,
            {"most_registers": 72},
            "most_registers 72: only NVIDIA's compilers are told, beside PTX",
        ),
        (IMAGE, {"load_order": "fenced"}, "load_order fenced: the fence is PTX"),
        (
            IMAGE,
            {"pixels": "local_tile", "groups": 4},
            "pixels local_tile: a group fills local memory once, not for each of several tiles (4/unit)",
        ),
        (
            IMAGE,
            {"border_code": "mapped", "scheme": "per_pixel", "stencil": "nine_terms"},
            "border_code mapped: reads whole rows, and the stencil nine_terms each neighbour by itself",
        ),
        (
            IMAGE,
            {"mask_memory": "constant"},
            "stencil symmetric: the compiler must know the mask's weights (mask_memory inline), which are in "
            "constant memory",
        ),
        (
            IMAGE,
            {"stencil": "unrolled"},
            "scheme march: it adds up what whole rows contribute, as the stencil symmetric tells, unrolled "
            "does not",
        ),
        (
            IMAGE,
            {"scheme": "per_pixel", "rows_per_item": 2, "loads_in_flight": 2},
            "scheme per_pixel: it keeps no rows, of which 2 could be loads in flight",
        ),
        (
            IMAGE,
            {"border_code": "peeled", "scheme": "per_pixel", "stencil": "unrolled"},
            "border_code peeled: reads whole rows, and the stencil unrolled each neighbour by itself",
        ),
        (
            IMAGE,
            {"pixels": "image2d"},
            "pixels image2d: what lies outside it finds itself, or where coordinates are selected before "
            "(border_code select), not by branches",
        ),
        (
            replace(IMAGE, width=2**14 + 1),
            {"pixels": "image2d", "border_code": "select"},
            "pixels image2d: 16385x33 texels are over the device's limit of 16384x8192",
        ),
        (
            IMAGE,
            {"pixels": "image2d", "border_code": "select", "cache_hint": "streaming", "vector_width": 8},
            "pixels image2d: texels are loaded without a hint to the caches",
        ),
        (
            IMAGE,
            {"border_code": "peeled", "pixels": "local_tile"},
            "border_code peeled: a work-item reads its rows itself, not from local_tile",
        ),
        (
            replace(IMAGE, channels=4),
            {"border_code": "peeled", "vector_width": 2},
            "border_code peeled: 2 elements do not hold a pixel of 4 channels",
        ),
        (
            replace(IMAGE, dtype="int16"),
            {"border_code": "peeled", "stencil": "packed", "vector_width": 4},
            "stencil packed: only sums of uint8 fit 16 bits, not of int16",
        ),
        (
            IMAGE,
            {"border_code": "mapped", "stencil": "packed", "vector_width": 4},
            "stencil packed: it takes rows as bytes, as border_code peeled reads them, mapped does not",
        ),
        (
            IMAGE,
            {"border_code": "peeled", "stencil": "packed", "vector_width": 2},
            "stencil packed: 2 bytes do not fill a word of 32 bits",
        ),
        (IMAGE, {"vector_width": 32}, "vector_width 32: the compiler's vectors have 16 elements"),
        (
            replace(IMAGE, height=2**20, width=2**17 - 128),
            {"border_code": "padded"},
            "border_code padded: the padded image of 137573433600 bytes is over the device's limit of",
        ),
    ],
)
def test_violations(problem: Laplace, axes: dict[str, Any], reason: str) -> None:
    assert any(reason in found for found in violations(LaplaceVariant(**axes), problem, GPU))


def test_every_piece_is_named_by_some_plan() -> None:
    folder = Path(__file__).parents[2] / "kernels_cl"
    pieces = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("laplace/**/*.cl")}
    plans = [plan(replace(IMAGE, border=border), LaplaceVariant(), GPU) for border in BORDERS]
    plans += [
        plan(IMAGE, LaplaceVariant(**{axis: value}), GPU)
        for axis in PIECES
        for value in AXES["laplace"][axis]
    ]
    named = {file for planned in plans for file in planned.files}
    assert pieces == {file for file in named if file.startswith("laplace/")}

"""Points of our own kernels' variants and problems, in which every pair of values of two axes occurs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.kernels.cache_hint import HINTS
from harness.kernels.requirements import OPENCL_ELEMENTS, violations
from harness.kernels.targets import KERNELS
from harness.kernels.values import TEXEL
from harness.problems import BORDERS, DIRECTIONS, IMAGE_DTYPES, MASKS, OUTPUTS, Laplace, Reduction
from harness.problems.dtypes import DTYPES
from harness.variants.axes import (
    AXES,
    BY_SIZE,
    PER_PROBLEM,
    UNBOUNDED,
    BorderCode,
    Groups,
    LaplaceVariant,
    Pixels,
    Scheme,
    Stencil,
    Traversal,
    Variant,
    group_items,
    variant_from_json,
)
from tests.support.checks import Point, pairwise
from tests.support.machines import GPU

FEW_GROUPS = (PER_PROBLEM, 1, 3, 64)
"""In place of the 65 values of the axis: they are all the same code."""

FEW_KEPT = (BY_SIZE, 5, 16)


def axes_of(kind: str, **fewer: tuple[Any, ...]) -> dict[str, tuple[Any, ...]]:
    """The axes of a kind of variant, some with fewer values: of what a cache keeps the rule's part alone, for
    most hints keep nothing.
    """
    return {**AXES[kind], "kept_sixteenths": (BY_SIZE,), **fewer}


def variant_of(kind: str, point: Point) -> Variant:
    """The variant of those values of a point that are axes."""
    return variant_from_json({"kind": kind, **{name: point[name] for name in AXES[kind]}})


def _fits(point: Point) -> bool:
    """Whether a Laplace variant is one, of a group that every device has room for."""
    variant = variant_of("laplace", point)
    parameters = {name: point[name] for name in ("mask", "border", "output", "dtype", "channels")}
    problem = Laplace(height=1, width=1, **parameters)
    return not violations(variant, problem, LEAST) and group_items(variant) <= 256


def _reduces(point: Point) -> bool:
    """Whether a device that lacks nothing can: other limits are a device's own."""
    device = replace(GPU, vector_elements=max(AXES["reduction"]["vector_width"]))
    return not violations(
        variant_of("reduction", point), Reduction(point["op"], point["dtype"], (TEXEL,)), device
    )


LEAST = replace(GPU, platform="CUDA", local_memory_bytes=2**15, compute_capability=90)
"""A GPU that can do what any API can, and of which only the local memory is short: OpenCL's least."""
_WIDTHS = AXES["reduction"]["vector_width"]
REDUCTIONS, WIDER = (
    pairwise(
        {
            "op": KERNELS,
            "dtype": dtypes,
            **axes_of("reduction", groups=FEW_GROUPS, vector_width=widths),
        },
        _reduces,
    )
    for widths, dtypes in (
        (tuple(width for width in _WIDTHS if width <= OPENCL_ELEMENTS), list(DTYPES)),
        # Samples of their own: few compilers have these, and what is skipped must cover nothing else.
        (tuple(width for width in _WIDTHS if width > OPENCL_ELEMENTS), ["uint8", "int8", "uint16", "int16"]),
    )
)
LAPLACES = pairwise(
    {
        "mask": list(MASKS),
        "border": BORDERS,
        "output": OUTPUTS,
        "dtype": IMAGE_DTYPES,
        "channels": (1, 3, 4),
        **axes_of(
            "laplace",
            groups=FEW_GROUPS,
            group_width=(1, 2, 8, 32),
            group_height=(1, 5, 8),
            most_registers=(UNBOUNDED,),
            load_order=("compiler",),
        ),
    },
    _fits,
)
BOUNDED = pairwise(
    {
        "dtype": IMAGE_DTYPES,
        "channels": (1, 3, 4),
        "mask": ("four", "diagonal"),
        "groups": (PER_PROBLEM, 1),
        "interior": AXES["laplace"]["interior"],
        "most_registers": (32, 72, 128),
        "load_order": AXES["laplace"]["load_order"],
    }
)
"""Filters with a bound on their registers and with a fence behind their loads, a sample of their own: only
NVIDIA's compilers are told.
"""
BANDWIDTHS = pairwise(
    {
        "direction": DIRECTIONS,
        "dtype": ("uint8", "int16", "float32", "float64"),
        **axes_of(
            "bandwidth",
            groups=FEW_GROUPS,
            group_size=(1, 8, 256, 1024),
            kept_sixteenths=FEW_KEPT,
        ),
    },
    lambda point: point["kept_sixteenths"] == BY_SIZE or HINTS[point["cache_hint"]].keeps,
)

_TURNS: tuple[tuple[BorderCode, Pixels, Scheme, Stencil, int], ...] = (
    ("mapped", "global", "march", "symmetric", 1),
    ("mapped", "shuffle", "march", "symmetric", 64),
    ("mapped", "aligned", "march", "paired", 1),
    ("peeled", "global", "march", "symmetric", 1),
    ("padded", "global", "per_pixel", "nine_terms", 2),
    ("select", "image2d", "per_pixel", "unrolled", 1),
)
_WAYS: tuple[tuple[Groups, Traversal], ...] = (
    (1, "forward"),
    (1, "back_and_forth"),
    (PER_PROBLEM, "back_and_forth"),
)
TURNS = [
    LaplaceVariant(
        border_code=code, pixels=pixels, scheme=scheme, stencil=stencil, vector_width=4,
        groups=groups, group_width=width, group_height=1, traversal=traversal,
    )
    for code, pixels, scheme, stencil, width in _TURNS
    for groups, traversal in _WAYS
]  # fmt: skip
"""Filters whose groups take tiles in turn: small ones, so that a GPU's groups have several each; and those
whose groups with one tile each go back and forth.
"""


def bounded_of(point: Point) -> tuple[Laplace, LaplaceVariant]:
    """A filter of BOUNDED, on an image with an interior and rows that end inside a vector."""
    axes = {name: point[name] for name in ("groups", "interior", "most_registers", "load_order")}
    variant = LaplaceVariant(
        border_code="mapped", vector_width=8, rows_per_item=4, loads_in_flight=4, group_height=4, **axes
    )
    problem = Laplace(point["mask"], "replicate", "sharpened", point["dtype"], 61, 301, point["channels"])
    return problem, variant


def turns_of(variant: LaplaceVariant) -> Laplace:
    """An image of some hundreds of such tiles, the last ones of a row and of a column not full."""
    across = variant.vector_width * variant.group_width
    return Laplace("eight", "reflect_101", "sharpened", "uint8", 151, 2 * across + 3, 1)

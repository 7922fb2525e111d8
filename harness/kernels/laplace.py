"""The plan of a Laplace filter: a work-item to vector_width elements of rows_per_item rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from operator import or_

import numpy as np

from harness.devices import DeviceInfo
from harness.kernels.cache_hint import HINTS
from harness.kernels.filter_value import Part
from harness.kernels.filter_values import FILTER_VALUES, shape_arguments
from harness.kernels.geometry import laplace_groups, tiles_turn
from harness.kernels.plan import Buffer, KernelPlan, PlannedLaunch, Source
from harness.problems import Laplace
from harness.variants.axes import PER_PROBLEM, UNBOUNDED, LaplaceVariant

_BORDER_FILES = {"reflect": "replicate"}
"""Borders that share the file of another: one pixel outside, reflect is replicate."""

_PIXEL_LOADS = {1: "uint", 2: "uint2", 4: "uint4"}
"""The type of one load of a whole pixel of four channels, by bytes an element."""


def plan(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> KernelPlan:
    """What writes the filtered image, packed as the source is, into a buffer a source.

    That is one launch, after those that the variant needs before it.

    The shape of the launches follows from the image and the variant alone; how results are packed, from the
    device.
    """
    values = {axis: getattr(variant, axis) for axis in FILTER_VALUES}
    parts = [FILTER_VALUES[axis][value].part(variant, problem, device) for axis, value in values.items()]
    source = next((part.source for part in parts if part.source), Source())
    arguments = (source, Buffer("image"), *shape_arguments(problem))
    further = tuple(argument for part in parts for argument in part.arguments)
    turn = tiles_turn(problem, variant, device)
    group_size = (variant.group_width, variant.group_height)
    groups = laplace_groups(problem, variant, device)
    launch = PlannedLaunch("laplace", groups, group_size, (*arguments, *turn, *further))
    image = {"image": problem.height * problem.pitch * problem.element.itemsize}
    return KernelPlan(
        files=_files(problem, variant, dict(zip(values, parts, strict=True))),
        macros=reduce(or_, (dict(part.macros) for part in parts), _macros(problem, variant, device)),
        buffers=reduce(or_, (dict(part.buffers) for part in parts), image),
        initial=reduce(or_, (dict(part.initial) for part in parts), {}),
        launches=(*(each for part in parts for each in part.before), launch),
        result="image",
        result_dtype=problem.element.numpy,
        result_count=problem.height * problem.pitch,
        per_source=True,
        most_registers=_most_registers(variant),
    )


def _files(problem: Laplace, variant: LaplaceVariant, parts: Mapping[str, Part]) -> tuple[str, ...]:
    """Those of the source in their order; ``parts``: by axis, what its value adds."""
    border = _BORDER_FILES.get(problem.border, problem.border)
    return (
        "language",
        f"dialect/{variant.dialect}",
        "vector",
        f"cache_hint/{HINTS[variant.cache_hint].file}",
        "words",
        *(file for part in parts.values() for file in part.shared),
        f"traversal/{variant.traversal}",
        f"laplace/border/{border}",
        f"laplace/interior/{variant.interior}",
        "laplace/window",
        f"laplace/mask_memory/{variant.mask_memory}",
        f"laplace/border_code/{variant.border_code}",
        *parts["pixels"].needed,
        f"laplace/pixels/{variant.pixels}",
        "laplace/results",
        *parts["stencil"].needed,
        f"laplace/stencil/{variant.stencil}",
        *parts["stencil"].files,
        f"laplace/load_order/{variant.load_order}",
        f"laplace/scheme/{variant.scheme}",
        "laplace/laplace",
    )


def _macros(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> dict[str, str | int]:
    element = problem.element
    centre, edge, corner = problem.coefficients
    return {
        **HINTS[variant.cache_hint].macros(problem, variant, device),
        "STORED": element.stored,
        "VALUE": "float" if element.is_float else "int",
        "SATURATES": int(not element.is_float),
        "COMPUTE_CAPABILITY": device.ptx,
        "LOWEST": element.lowest,
        "HIGHEST": element.highest,
        "CENTRE": f"({centre})",
        "EDGE": f"({edge})",
        "CORNER": f"({corner})",
        "CHANNELS": problem.channels,
        "VECTOR_WIDTH": variant.vector_width,
        "VECTOR_BYTES": variant.vector_width * element.itemsize,
        "ROWS_PER_ITEM": variant.rows_per_item,
        "LOADS_IN_FLIGHT": variant.loads_in_flight,
        "ONE_PART_A_GROUP": int(variant.groups == PER_PROBLEM),
        "GROUP_WIDTH": variant.group_width,
        "GROUP_HEIGHT": variant.group_height,
        "MOST_REGISTERS": _most_registers(variant),
        "HALO_LOAD": _halo_load(problem, variant),
        "BORDER_VALUE": _literal(problem),
        "KEEPS_WORDS": 0,
        "ITEMS_TOGETHER": 1,
    }


def _most_registers(variant: LaplaceVariant) -> int:
    return 0 if variant.most_registers == UNBOUNDED else variant.most_registers


def _halo_load(problem: Laplace, variant: LaplaceVariant) -> str:
    """The type of one load of a neighbour: a whole pixel where the item's own elements are whole pixels."""
    if problem.channels == 4 and variant.vector_width % problem.channels == 0:
        return _PIXEL_LOADS[problem.element.itemsize]
    return problem.element.stored


def _literal(problem: Laplace) -> str:
    """The border value in both dialects, as the image's dtype holds it."""
    if not problem.element.is_float:
        return f"({int(problem.border_value)})"
    value = float(np.float32(problem.border_value))
    if math.isnan(value):
        return "(INFINITY - INFINITY)"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    return f"({value:.9e}f)"

"""The plans of the limits, reading and copying, and of the empty kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.devices import DeviceInfo
from harness.kernels.cache_hint import HINTS
from harness.kernels.geometry import num_groups, turn_of
from harness.kernels.plan import Argument, Buffer, KernelPlan, PlannedCopy, PlannedLaunch, Scalar, Source
from harness.problems import Bandwidth, Empty
from harness.variants.axes import PER_PROBLEM, BandwidthVariant, LaunchVariant

_RAW = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}


def plan(problem: Bandwidth, variant: BandwidthVariant, device: DeviceInfo) -> KernelPlan:
    """One launch. A read stores its checksums only in a launch made when the answer is fetched."""
    itemsize = problem.element.itemsize
    geometry = (num_groups(problem.size, variant, device),), (variant.group_size,)
    macros: dict[str, str | int] = {
        **HINTS[variant.cache_hint].macros(problem, variant, device),
        "STORED": _RAW[itemsize],
        "VECTOR_WIDTH": variant.vector_width,
        "VECTOR_BYTES": variant.vector_width * itemsize,
        "LOADS_IN_FLIGHT": variant.loads_in_flight,
        "ONE_PART_A_GROUP": int(variant.groups == PER_PROBLEM),
        "GROUP_SIZE": variant.group_size,
    }
    files = (
        "language",
        f"dialect/{variant.dialect}",
        f"cache_hint/{HINTS[variant.cache_hint].file}",
        "words",
        f"stride/{variant.stride}",
        f"traversal/{variant.traversal}",
        f"bandwidth/{problem.direction}",
    )
    size: tuple[Argument, ...] = (Scalar(problem.size), *turn_of(problem, variant, geometry[0][0]))
    if problem.direction == "copy":
        launch = PlannedLaunch("copy", *geometry, (Source(), *size, Buffer("copy")))
        return KernelPlan(files=files, macros=macros, launches=(launch,), **_copied(problem))
    items = geometry[0][0] * variant.group_size
    timed, report = (
        PlannedLaunch("read", *geometry, (Source(), *size, Buffer("checksums"), Scalar(stores, "uint32")))
        for stores in (0, 1)
    )
    return KernelPlan(
        files=files,
        macros=macros,
        buffers={"checksums": items * 4},
        launches=(timed,),
        result="checksums",
        result_dtype=np.dtype(np.uint32),
        result_count=items,
        readback=(report,),
    )


def plan_command(problem: Bandwidth) -> KernelPlan:
    """The API's own copy: no launch, and no kernel."""
    copy = PlannedCopy(Source(), Buffer("copy"), problem.source_bytes)
    return KernelPlan(files=(), launches=(), copies=(copy,), **_copied(problem))


def _copied(problem: Bandwidth) -> dict[str, Any]:
    """What the plans of all copies say of the result: each source has one of its own."""
    return {
        "buffers": {"copy": problem.source_bytes},
        "result": "copy",
        "result_dtype": np.dtype(np.uint8),
        "result_count": problem.source_bytes,
        "per_source": True,
    }


def plan_empty(problem: Empty, variant: LaunchVariant) -> KernelPlan:
    """The empty kernel in each of the geometries."""
    launches = tuple(PlannedLaunch("empty", groups, size, (Source(),)) for groups, size in problem.geometry)
    return KernelPlan(
        files=("language", "empty"),
        buffers={"nothing": 4},
        launches=launches,
        result="nothing",
        result_dtype=np.dtype(np.uint32),
        submission=variant,
    )

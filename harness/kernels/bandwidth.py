"""The plans of the limits, reading and copying, and of the empty kernel."""

from __future__ import annotations

import numpy as np

from harness.devices import DeviceInfo
from harness.kernels.geometry import num_groups
from harness.kernels.plan import Buffer, Plan, PlannedLaunch, Scalar, Source, Submission
from harness.problems import Bandwidth, Empty
from harness.variants.axes import BandwidthVariant, LaunchVariant

_RAW = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}


def plan(problem: Bandwidth, variant: BandwidthVariant, device: DeviceInfo) -> Plan:
    """One launch. A read stores its checksums only in a launch made when the answer is fetched."""
    itemsize = problem.element.itemsize
    geometry = (num_groups(problem.size, variant, device),), (variant.group_size,)
    macros: dict[str, str | int] = {
        "STORED": _RAW[itemsize],
        "VECTOR_WIDTH": variant.vector_width,
        "VECTOR_BYTES": variant.vector_width * itemsize,
        "LOADS_IN_FLIGHT": variant.loads_in_flight,
        "GROUP_SIZE": variant.group_size,
    }
    files = ("dialect", "words", f"stride/{variant.stride}", f"bandwidth/{problem.direction}")
    size = Scalar(problem.size)
    if problem.direction == "copy":
        launch = PlannedLaunch("copy", *geometry, (Source(), size, Buffer("copy")))
        buffers = {"copy": problem.source_bytes}
        dtype, count = np.dtype(np.uint8), problem.source_bytes
        return Plan(files, macros, buffers, (launch,), "copy", dtype, count, "device", per_source=True)
    items = geometry[0][0] * variant.group_size
    quiet, report = (
        PlannedLaunch("read", *geometry, (Source(), size, Buffer("checksums"), Scalar(flag, "uint32")))
        for flag in (0, 1)
    )
    buffers = {"checksums": items * 4}
    return Plan(
        files,
        macros,
        buffers,
        (quiet,),
        "checksums",
        np.dtype(np.uint32),
        items,
        "device",
        readback=(report,),
    )


def plan_empty(problem: Empty, variant: LaunchVariant) -> Plan:
    """The empty kernel in each of the geometries."""
    launches = tuple(PlannedLaunch("empty", groups, size, (Source(),)) for groups, size in problem.geometry)
    return Plan(
        files=("dialect", "empty"),
        macros={},
        buffers={"nothing": 4},
        launches=launches,
        result="nothing",
        result_dtype=np.dtype(np.uint32),
        result_count=1,
        result_location="device",
        submission=Submission(variant.queue, variant.events),
    )

"""Which variant a device gets when nobody names one: decided by what it has, never by its name."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from harness.devices import DeviceInfo
from harness.kernels.cache_hint import default_hint
from harness.kernels.filter_defaults import default_filter
from harness.kernels.finish import FINISHES
from harness.kernels.geometry import api, num_groups
from harness.kernels.requirements import OPENCL_ELEMENTS, VALUES
from harness.kernels.widths import CPU_VECTOR_BYTES, LOAD_BYTES, WIDE
from harness.problems import Bandwidth, Laplace, Problem, Reduction
from harness.variants.axes import (
    MOST_GROUPS,
    BandwidthVariant,
    Dialect,
    LaunchVariant,
    ReductionVariant,
    Variant,
)

CACHES_EXCEEDED = 2
"""A source this many times the last-level cache is read from memory, whatever was read before."""


def default_variant(problem: Problem, device: DeviceInfo, dialect: Dialect = "vendor") -> Variant:
    """The variant that ``device`` runs ``problem`` in by default, of those in a dialect."""
    device = device.in_dialect(dialect)
    if isinstance(problem, Reduction):
        return replace(_reduction(problem, device, dialect), dialect=dialect)
    if isinstance(problem, Laplace):
        return replace(default_filter(problem, device, dialect), dialect=dialect)
    if isinstance(problem, Bandwidth):
        return replace(_bandwidth(problem, device), dialect=dialect)
    return LaunchVariant()


def _reduction(problem: Reduction, device: DeviceInfo, dialect: Dialect) -> ReductionVariant:
    itemsize = problem.element.itemsize
    if device.kind == "cpu":
        # A processor has neither barriers nor local memory in hardware: one work-item a group, each on a
        # contiguous chunk, vectors as wide as the registers, a few groups a core to even out their load.
        # Swept with PoCL on a Zen 3 (reports/examples, cpu-sweep). A batch of loads is widened, tested for
        # NaN or searched for places once. OpenCL C's widest vectors of narrow integers do not fill a line;
        # wider ones, where the compiler has them, are faster.
        widest = OPENCL_ELEMENTS if problem.element.is_float else device.vector_elements
        width = min(widest, CPU_VECTOR_BYTES // itemsize)
        return ReductionVariant(
            vector_width=width,
            loads_in_flight=8,
            stride="local",
            groups=4,
            group_size=1,
            compare="builtin",
            packing="batched",
            finish="host",
        )
    # Loads of 16 bytes, four in flight. In the cache, compute units that are half full are as fast and leave
    # fewer partial results to combine. From memory full ones are faster (sweep-far), with two loads of wide
    # elements in flight, so that there are enough registers. Swept on an H200 (reports/examples,
    # sweep-alternating).
    is_far = problem.source_bytes > CACHES_EXCEEDED * device.cache_bytes
    few_loads = _gains_by_groups(problem, device, dialect)
    items_a_unit = 2048 if is_far or few_loads else 1024
    wanted = 512 if is_far else 256
    # Nothing but PTX has more loads issued before the first is waited for (sweep-portable). Extremes and
    # counts of float32 are faster with four all the same (sweep-portable-floats).
    few_issued = dialect == "portable" and (problem.dtype != "float32" or problem.adds_floats)
    loads = 2 if few_loads or (itemsize >= WIDE and (is_far or few_issued)) else 4
    hint = default_hint(problem, LOAD_BYTES, device)
    width = LOAD_BYTES // itemsize
    base = ReductionVariant(vector_width=width, compare="builtin", cache_hint=hint, groups=1)
    preferred: dict[str, Any] = {
        axis: next(
            name
            for name, value in rows.items()
            if value.is_preferred(problem, device) and not any(value.violations(base, problem, device))
        )
        for axis, rows in VALUES.items()
    }
    if hint == "resident" or preferred["traversal"] != "forward":
        # All groups should run at a time, whatever registers they take (sweep-resident, sweep-resident-far).
        is_far, loads, items_a_unit, wanted = False, 4, 1280, 256
    finish = FINISHES[preferred["finish"]]
    if dialect == "portable" and preferred["finish"] == "flagged" and preferred["traversal"] != "segments":
        # Flags are read by atomics there: half as many are up to 9 % faster (sweep-portable-floats), but for
        # segments (sweep-segments).
        wanted = max(wanted, 512)
    group_size = min(max(wanted, finish.group_size(problem)), _largest_group(device))
    variant = replace(
        base,
        **preferred,
        loads_in_flight=_loads(
            loads,
            problem.size / (width * group_size),
            device.compute_units,
            is_combined_at_once=finish.is_combined_at_once,
        ),
        groups=min(MOST_GROUPS, items_a_unit // group_size),
        group_size=group_size,
    )
    if num_groups(problem.size, variant, device) == 1:
        # There is nothing to combine.
        return replace(variant, finish="relaunch")
    if is_far:
        items = group_size * device.compute_units * finish.far_vectors(problem)
        groups = max(variant.groups, math.ceil(problem.size / (width * items)))
        return replace(variant, groups=min(MOST_GROUPS, groups))
    return variant


def _gains_by_groups(problem: Reduction, device: DeviceInfo, dialect: Dialect) -> bool:
    """Whether twice as many groups with half the loads each are faster: one extreme of bytes in the cache in
    portable OpenCL, up to 5 % on an H200; not two extremes, sums, or wider elements (reports/examples,
    sweep-portable-bytes and sweep-cache-edge).
    """
    is_portable = dialect == "portable" and device.compute_capability > 0 and api(device) == "OpenCL"
    is_cached = problem.source_bytes <= device.cache_bytes
    return is_portable and is_cached and problem.element.itemsize == 1 and problem.op in ("max", "min")


def _largest_group(device: DeviceInfo) -> int:
    """Work-items of the largest group that an axis has: a power of two."""
    return 1 << (device.max_group_size.bit_length() - 1)


def _loads(loads: int, vectors: float, units: int, *, is_combined_at_once: bool) -> int:
    """Loads in flight: one where that spreads a small source over more compute units, else up to ``loads``.

    ``vectors`` is how many each work-item of a single group would load. With one load in flight it is the
    number of groups: at most one for each of the ``units``. On an H200 up to 8 % faster (reports/examples,
    sweep-alternating-sizes). Where groups wait for each other, one group that reads all is faster than a few;
    and a load that nobody needs costs time, too (reports/examples, sweep-tiny; two loads of one group are not
    in it).
    """
    alone = 1 if is_combined_at_once else loads
    if alone < vectors <= units:
        return 1
    return min(loads, 1 << (math.ceil(vectors) - 1).bit_length())


def _bandwidth(problem: Bandwidth, device: DeviceInfo) -> BandwidthVariant:
    itemsize = problem.element.itemsize
    if device.kind == "cpu":
        width = min(16, CPU_VECTOR_BYTES // itemsize)
        return BandwidthVariant(vector_width=width, loads_in_flight=4, stride="local", groups=4, group_size=1)
    return BandwidthVariant(
        vector_width=LOAD_BYTES // itemsize,
        loads_in_flight=4,
        groups=8,
        group_size=min(256, _largest_group(device)),
    )

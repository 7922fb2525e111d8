"""Why a device cannot run a variant on a problem: the skip reasons of our kernels."""

from __future__ import annotations

from harness.devices import DeviceInfo
from harness.kernels.geometry import api, grid_violations, laplace_groups, max_groups_down
from harness.kernels.reduction_requirements import reduction_violations
from harness.problems import Bandwidth, Laplace, Problem, Reduction
from harness.variants.axes import (
    BandwidthVariant,
    LaplaceVariant,
    LaunchVariant,
    ReductionVariant,
    Variant,
    group_items,
)

MAX_ROW_ELEMENTS = 2**31 - 2**16
"""The Laplace kernels count the elements of a row in int; the rest is room for the last group."""


def violations(variant: Variant, problem: Problem, device: DeviceInfo) -> list[str]:
    """Why ``device`` cannot run ``variant`` on ``problem`` with our kernels; empty when it can."""
    fitting = "launch" if problem.kind == "empty" else problem.kind
    if variant.kind != fitting:
        return [f"a {problem.kind} problem takes a {fitting} variant, not a {variant.kind} one"]
    found = []
    group = group_items(variant)
    if group > device.max_group_size:
        found.append(f"a group of {group} work-items is larger than the device's {device.max_group_size}")
    dtype = getattr(problem, "dtype", "")
    needs_float64 = problem.needs_float64 if isinstance(problem, Reduction) else dtype == "float64"
    if needs_float64 and not device.float64:
        found.append("the device has no float64 arithmetic")
    if problem.source_bytes > device.max_allocation_bytes:
        found.append(
            f"a source of {problem.source_bytes} bytes is over the device's limit of "
            f"{device.max_allocation_bytes}"
        )
    if isinstance(variant, ReductionVariant) and isinstance(problem, Reduction):
        found += reduction_violations(variant, problem, device)
    if isinstance(variant, BandwidthVariant) and isinstance(problem, Bandwidth):
        found += grid_violations(problem.size, variant, device)
    if isinstance(variant, LaunchVariant) and variant.queue not in device.queues:
        found.append(f"queue {variant.queue}: this API has {' and '.join(device.queues)} queues only here")
    if isinstance(variant, LaplaceVariant) and isinstance(problem, Laplace):
        found += _laplace_violations(variant, problem, device)
    return found


def _laplace_violations(variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> list[str]:
    found = []
    rows, loads = variant.rows_per_item, variant.loads_in_flight
    if rows % loads:
        found.append(f"{rows} rows an item are no multiple of {loads} loads in flight")
    if problem.pitch > MAX_ROW_ELEMENTS:
        found.append(f"a row of {problem.pitch} elements is over the kernels' limit of {MAX_ROW_ELEMENTS}")
    _, down = laplace_groups(problem, variant)
    most = max_groups_down(device)
    if down > most:
        remedy = "more rows_per_item or a larger group_height helps"
        found.append(f"{down} groups down the image are over {api(device)}'s limit of {most}; {remedy}")
    return found

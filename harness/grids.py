"""How many work-groups (blocks) a launch in one dimension has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.devices import DeviceInfo

if TYPE_CHECKING:
    from harness.variants import BandwidthVariant, ReductionVariant

MAX_GROUPS = 2**31 - 1
"""CUDA's limit of a grid in its first dimension."""


def num_groups(size: int, variant: ReductionVariant | BandwidthVariant, device: DeviceInfo) -> int:
    """Work-groups for ``size`` elements: what the problem needs, at most as many as the variant says."""
    elements = variant.vector_width * variant.loads_in_flight * variant.group_size
    needed = max(1, -(-size // elements))
    groups = variant.groups
    return needed if isinstance(groups, str) else min(needed, groups * device.compute_units)


def grid_violations(size: int, variant: ReductionVariant | BandwidthVariant, device: DeviceInfo) -> list[str]:
    """Why so many groups cannot be launched; empty when they can."""
    groups = num_groups(size, variant, device)
    if groups <= MAX_GROUPS:
        return []
    return [f"{groups} groups are over CUDA's limit of {MAX_GROUPS}; wider vectors or larger groups help"]

"""How many work-groups (blocks) a launch has."""

from __future__ import annotations

from backends.devices import DeviceInfo
from harness.problems import Laplace
from harness.variants import BandwidthVariant, LaplaceVariant, ReductionVariant

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


def laplace_groups(problem: Laplace, variant: LaplaceVariant) -> tuple[int, int]:
    """Work-groups along a row and down the image that cover it."""
    return (
        -(-problem.row_elements // (variant.vector_width * variant.group_width)),
        -(-problem.height // (variant.rows_per_item * variant.group_height)),
    )

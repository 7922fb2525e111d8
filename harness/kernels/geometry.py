"""How many work-groups (blocks) a launch has."""

from __future__ import annotations

import math

from harness.devices import DeviceInfo
from harness.kernels.plan import Scalar, Turn
from harness.problems import Bandwidth, Laplace, Reduction
from harness.variants.axes import PER_PROBLEM, BandwidthVariant, LaplaceVariant, ReductionVariant

MAX_GROUPS = 2**31 - 1
"""CUDA's limit in a grid's first dimension; on other devices that of the kernels, which count in 32 bits."""
_CUDA_GROUPS_DOWN = 65535
"""CUDA's limit in its second dimension."""
SEGMENTS_AN_END = 3
"""Short segments at either end of what a work-item reads (kernels_*/traversal/segments)."""
_MOST_SEGMENTS = 2 * SEGMENTS_AN_END + 1
SEGMENT_BYTES = 12 * 2**20
"""What a grid reads of a short segment, at the most: a fifth of an H200's L2 cache."""


def max_groups_down(device: DeviceInfo) -> int:
    """The most work-groups of a launch in its second dimension.

    NVIDIA's GPUs have CUDA's limit in OpenCL, too.
    """
    return _CUDA_GROUPS_DOWN if device.compute_capability else MAX_GROUPS


def api(device: DeviceInfo) -> str:
    """What the API through which our kernels run on a device is called."""
    return device.platform if device.platform == "CUDA" else "OpenCL"


def num_groups(size: int, variant: ReductionVariant | BandwidthVariant, device: DeviceInfo) -> int:
    """Work-groups for ``size`` elements: what the problem needs, at most as many as the variant says."""
    elements = variant.vector_width * variant.loads_in_flight * variant.group_size
    needed = max(1, -(-size // elements))
    groups = variant.groups
    return needed if isinstance(groups, str) else min(needed, groups * device.compute_units)


def turn_of(
    problem: Reduction | Bandwidth, variant: ReductionVariant | BandwidthVariant, groups: int
) -> tuple[Turn | Scalar, ...]:
    """The arguments of a kernel that goes back and forth: how far a work-item's last vector lies from its
    first, in vectors, at the most; of groups that have one part of the source each, how far the last group
    lies from the first. None of a kernel that always goes forward.
    """
    if variant.traversal == "forward":
        return ()
    if variant.groups == PER_PROBLEM:
        return (Turn(groups - 1),)
    vectors = problem.size // variant.vector_width
    is_global = variant.stride == "global"
    reach = vectors if is_global else -(-vectors // groups)
    items = variant.group_size * groups
    step = items if is_global else variant.group_size
    of_item = -(-reach // step)
    if variant.traversal == "segments":
        batch = variant.loads_in_flight
        batches = -(-of_item // batch)
        return _segments(batches, batch, items * variant.vector_width * problem.element.itemsize)
    return (Turn(max(0, of_item - 1) * step),)


def _segments(batches: int, batch: int, vector_bytes: int) -> tuple[Turn | Scalar, ...]:
    """The number of the last segment, how many there are, how many vectors a work-item reads of each, and how
    many more of the one between the ends: of so many ``batches`` of vectors, of each of which the grid reads
    ``vector_bytes``.
    """
    of_each = max(1, min(-(-batches // _MOST_SEGMENTS), SEGMENT_BYTES // (batch * vector_bytes)))
    segments = min(_MOST_SEGMENTS, max(1, -(-batches // of_each)))
    more = max(0, batches - _MOST_SEGMENTS * of_each)
    return Turn(segments - 1), Scalar(segments, "uint32"), Scalar(of_each * batch), Scalar(more * batch)


def segment_partials(variant: ReductionVariant) -> int:
    """Partial results of its segments that a work-group keeps in local memory."""
    return _MOST_SEGMENTS * variant.group_size if variant.traversal == "segments" else 0


def tiles_turn(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> tuple[Turn, ...]:
    """The same argument of a filter whose groups take tiles in turn, in tiles; of one with a group for each
    tile in rows of them.
    """
    if variant.traversal == "forward":
        return ()
    groups, down = laplace_groups(problem, variant, device)
    if variant.groups == PER_PROBLEM:
        return (Turn(down - 1),)
    return (Turn((-(-math.prod(laplace_tiles(problem, variant)) // groups) - 1) * groups),)


def grid_violations(size: int, variant: ReductionVariant | BandwidthVariant, device: DeviceInfo) -> list[str]:
    """Why so many groups cannot be launched; empty when they can."""
    groups = num_groups(size, variant, device)
    if groups <= MAX_GROUPS:
        return []
    limit = f"{api(device)}'s limit of {MAX_GROUPS}"
    return [f"{groups} groups are over {limit}; wider vectors or larger groups help"]


def laplace_groups(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> tuple[int, int]:
    """Work-groups of a filter: one for each tile, or as many as the variant says, with tiles in turn."""
    across, down = laplace_tiles(problem, variant)
    if isinstance(variant.groups, str):
        return across, down
    return min(across * down, variant.groups * device.compute_units), 1


def laplace_tiles(problem: Laplace, variant: LaplaceVariant) -> tuple[int, int]:
    """Tiles along a row and down the image that cover it: what a work-group computes at a time."""
    return (
        -(-problem.row_elements // (variant.vector_width * variant.group_width)),
        -(-problem.height // (variant.rows_per_item * variant.group_height)),
    )

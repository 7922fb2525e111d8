"""What a device must have for a way to reduce: the skip reasons of reductions."""

from __future__ import annotations

from typing import Final

from harness.devices import DeviceInfo
from harness.kernels import packing
from harness.kernels.finish import BY_ATOMICS, atomic_bits, combines_by_atomics
from harness.kernels.geometry import grid_violations, num_groups
from harness.problems import Reduction
from harness.variants.axes import ReductionVariant

ONE_LAUNCH: Final = frozenset({"last_group", "atomic"})
"""The finishes in which a group of the launch sees what the others wrote."""

TEXEL: Final = 4
"""Elements of a texel."""
CHANNEL_BYTES: Final = 4

OPENCL_ELEMENTS: Final = 16
"""Of the widest vectors of OpenCL C."""
WIDER_BYTES: Final = 2
"""Of the widest elements of wider ones: of what is wider still 16 fill a register."""

MAX_COUNT: Final = 2**32
"""Vectors after which a lane of a scalar count would overflow its 32 bits."""


def reduction_violations(variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> list[str]:
    """Why ``device`` cannot run ``variant`` on ``problem``, beside what holds for every kind of problem."""
    found = grid_violations(problem.size, variant, device)
    found += finish_violations(variant.finish, problem, device)
    if variant.tree == "sub_group" and not device.shuffles:
        found.append("tree sub_group: this API cannot move values inside a sub-group (warp) of this device")
    if variant.storage == "image":
        found += _image_violations(variant, problem, device)
    if variant.packing == "packed":
        found += packing.violations(problem, variant.vector_width)
    if variant.vector_width > OPENCL_ELEMENTS:
        found += _wider_violations(variant, problem, device)
    vectors = _vectors_per_item(variant, problem, device)
    if problem.parts.kernel == "count_nonzero" and vectors >= MAX_COUNT:
        found.append(f"a work-item meets {vectors} vectors and counts in 32 bits; more groups help")
    local = scratch_partials(variant, device) * problem.partial_dtype.itemsize
    if local > device.local_memory_bytes:
        found.append(
            f"the tree needs {local} bytes of local memory, the device has {device.local_memory_bytes}"
        )
    return found


def _wider_violations(variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> list[str]:
    width = variant.vector_width
    found = []
    if width > device.vector_elements:
        found.append(f"vector_width {width}: the compiler's vectors have {device.vector_elements} elements")
    if problem.element.itemsize > WIDER_BYTES or problem.element.is_float:
        found.append(f"vector_width {width}: only integers of 8 and 16 bits, not {problem.dtype}")
    return found


def finish_violations(finish: str, problem: Reduction, device: DeviceInfo) -> list[str]:
    """Why the groups of ``problem`` cannot end that way on ``device``."""
    found = []
    if finish in ONE_LAUNCH and not device.orders_groups:
        found.append(f"finish {finish}: this API cannot order the work-groups of one launch on this device")
    if finish == "flagged":
        found += _flagged_violations(device)
    if finish in BY_ATOMICS:
        found += _atomic_violations(finish, problem, device)
    return found


def _image_violations(variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> list[str]:
    found = []
    if variant.vector_width != TEXEL:
        found.append(f"storage image: a texel has {TEXEL} elements, not {variant.vector_width}")
    if variant.packing == "packed":
        found.append("storage image: texels are read element by element, not packed")
    if problem.element.itemsize > CHANNEL_BYTES:
        found.append(f"storage image: no channel of a texel has the 64 bits of {problem.dtype}")
    if problem.size % TEXEL:
        found.append(f"storage image: {problem.size} elements are no whole number of texels of {TEXEL}")
    if problem.size > TEXEL * device.max_texels:
        texels = -(-problem.size // TEXEL)
        found.append(f"storage image: {texels} texels are over the device's limit of {device.max_texels}")
    return found


def _flagged_violations(device: DeviceInfo) -> list[str]:
    if not device.awaits_groups:
        return ["finish flagged: a work-group might keep those it waits for from running on this device"]
    if not device.atomics64:
        return ["finish flagged: the device has no atomics on 64 bits"]
    return []


def _atomic_violations(finish: str, problem: Reduction, device: DeviceInfo) -> list[str]:
    if not combines_by_atomics(problem):
        return [f"finish {finish}: no atomics combine the partial results of {problem.op} on {problem.dtype}"]
    if atomic_bits(problem) == 64 and not device.atomics64:
        return [f"finish {finish}: the device has no atomics on 64 bits"]
    return []


def _vectors_per_item(variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> int:
    items = num_groups(problem.size, variant, device) * variant.group_size
    return -(-problem.size // (items * variant.vector_width))


def scratch_partials(variant: ReductionVariant, device: DeviceInfo) -> int:
    """Partial results that a group keeps in local memory: one a work-item, or one a sub-group where these
    combine theirs by themselves.
    """
    sub_groups = -(-variant.group_size // max(1, device.wave_width))
    return sub_groups if variant.tree == "sub_group" else variant.group_size

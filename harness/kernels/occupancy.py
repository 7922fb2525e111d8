"""Occupancy of NVIDIA's GPUs: the sub-groups (warps) that a compute unit can hold at a time, of its most.

Computed by CUDA's own formula (its header ``cuda_occupancy.h``, and the programming guide's technical
specifications) from what the compiler says that a kernel takes. It is no measurement, and says nothing of how
many groups there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Unit:
    """What a compute unit holds at a time: sub-groups, work-groups, and bytes of local (shared) memory."""

    sub_groups: int
    groups: int
    local_bytes: int


_KIB: Final = 1024
UNITS: Final[Mapping[int, Unit]] = {
    70: Unit(64, 32, 96 * _KIB),
    75: Unit(32, 16, 64 * _KIB),
    80: Unit(64, 32, 164 * _KIB),
    86: Unit(48, 16, 100 * _KIB),
    87: Unit(48, 16, 164 * _KIB),
    89: Unit(48, 24, 100 * _KIB),
    90: Unit(64, 32, 228 * _KIB),
    100: Unit(64, 32, 228 * _KIB),
    103: Unit(64, 32, 228 * _KIB),
    120: Unit(48, 24, 100 * _KIB),
    121: Unit(48, 24, 100 * _KIB),
}
"""By compute capability, times ten."""

_WIDTH: Final = 32
PARTITIONS: Final = 4
"""Of a compute unit, each with a scheduler and as many registers."""
REGISTERS, _REGISTER_STEP = 65536, 256
"""Of a compute unit; those of a sub-group come in steps of so many."""
MOST_REGISTERS: Final = 255
_RESERVES: Final = 80
"""The compute capability from which on CUDA keeps a KiB of each group's local memory for itself."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """``sub_groups``: that a compute unit holds. ``share``: of those that it could. ``limited_by``: what
    allows no more; empty where the share is 1.
    """

    sub_groups: int
    share: float
    limited_by: str


def occupancy(capability: int, group_size: int, registers: int, local_bytes: int) -> Occupancy | None:
    """The occupancy of one launch; None of a GPU that is not known, or where a group does not fit at all.

    Args:
        capability: compute capability times ten; 0 of what is not NVIDIA's.
        group_size: work-items (threads) of a group.
        registers: of a work-item.
        local_bytes: of a group.
    """
    unit = UNITS.get(capability)
    if unit is None or group_size < 1 or not 0 < registers <= MOST_REGISTERS or local_bytes < 0:
        return None
    of_group = -(-group_size // _WIDTH)
    per_partition = REGISTERS // PARTITIONS // _round_up(registers * _WIDTH, _REGISTER_STEP)
    taken = _round_up(local_bytes + _KIB * (capability >= _RESERVES), 128 if capability >= _RESERVES else 256)
    allowed = {
        "group size": unit.sub_groups // of_group,
        "groups": unit.groups,
        "registers": per_partition * PARTITIONS // of_group,
        "local memory": unit.local_bytes // taken if taken else unit.groups,
    }
    groups = min(allowed.values())
    if groups == 0:
        return None
    held = groups * of_group
    share = held / unit.sub_groups
    limits = [name for name, count in allowed.items() if count == groups]
    return Occupancy(held, share, " and ".join(limits) if share < 1 else "")


def _round_up(value: int, step: int) -> int:
    return -(-value // step) * step

"""What a launch takes of a device, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from harness.kernels.occupancy import occupancy
from reports import format as write


def taken(launch: Mapping[str, Any], device: Mapping[str, Any]) -> str:
    """Groups of a launch and their size, registers, spills and local memory, and the occupancy that these
    allow: what nobody told is left out.

    Args:
        launch: as a record has it.
        device: as the run's environment has it; may be empty.
    """
    groups, size = ("x".join(map(str, launch[key])) for key in ("num_groups", "group_size"))
    told = [f"{groups} groups of {size}"]
    for key, unit in (("registers", "registers"), ("spills", "B spilled"), ("local_bytes", "B local")):
        if isinstance(launch.get(key), int):
            told.append(f"{launch[key]} {unit}")
    return ", ".join([*told, *_occupancy(launch, device)])


def _occupancy(launch: Mapping[str, Any], device: Mapping[str, Any]) -> list[str]:
    numbers = (device.get("compute_capability"), launch.get("registers"), launch.get("local_bytes"))
    capability, registers, local_bytes = (each if isinstance(each, int) else -1 for each in numbers)
    found = occupancy(capability, math.prod(launch["group_size"]), registers, local_bytes)
    if found is None:
        return []
    by = f" ({found.limited_by})" if found.limited_by else ""
    return [f"computed occupancy {write.percent(found.share)} %{by}"]

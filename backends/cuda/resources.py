"""What a CUDA kernel takes of an NVIDIA GPU that need not be here, as NVRTC's assembler tells it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Final, NamedTuple

from backends.common.ptxas_log import properties
from backends.common.resources import Resources
from backends.cuda import nvrtc
from backends.errors import BuildError
from harness.kernels.plan import PlannedLaunch
from harness.kernels.targets import Target

_VERBOSE = "--ptxas-options=-v"
_WARP = 32
_SCHEDULERS = 4
"""Of a compute unit (SM), each with a quarter of its registers."""
_SCHEDULER_REGISTERS = 16384
_ALLOCATED = 256
"""A warp's registers are a multiple of this."""


class _Unit(NamedTuple):
    """What a compute unit holds at most: warps, work-groups (blocks), KiB of local (shared) memory."""

    warps: int
    groups: int
    local_kib: int
    reserved_bytes: int = 1024


_UNITS: Final[Mapping[int, _Unit]] = {
    75: _Unit(32, 16, 64, 0),
    86: _Unit(48, 16, 100),
    90: _Unit(64, 32, 228),
    100: _Unit(64, 32, 228),
    120: _Unit(48, 24, 100),
}
"""By compute capability; the table of technical specifications in NVIDIA's CUDA C++ Programming Guide."""
_NUMBERS: Final = {
    "registers": re.compile(r"Used (\d+) registers"),
    "spills": re.compile(r"(\d+) bytes spill stores"),
    "stack": re.compile(r"(\d+) bytes stack frame"),
    "local": re.compile(r"(\d+) bytes smem"),
}


def version() -> str:
    """What compiles, in words. Raises as :func:`backends.cuda.nvrtc.version`."""
    return "NVRTC {}.{}".format(*nvrtc.version())


def resources(source: str, target: Target, launches: Mapping[str, PlannedLaunch]) -> list[Resources]:
    """What each of the kernels of a source takes, by name.

    Raises:
        BackendUnavailable: if NVRTC is not installed.
        BuildError: if the source does not compile.
    """
    capability = target.device.compute_capability
    log = nvrtc.compile_source(source, divmod(capability, 10), (_VERBOSE,)).log
    found = []
    for name, launch in launches.items():
        text = properties(log, name)
        if "registers" not in text:
            raise BuildError(f"NVRTC says nothing of the registers of {name} for {target.label}", source, log)
        numbers = {
            key: int(said[1]) if (said := pattern.search(text)) else 0 for key, pattern in _NUMBERS.items()
        }
        waves = occupancy(capability, numbers["registers"], numbers["local"], prod(launch.group_size))
        found.append(
            Resources(
                name,
                registers=numbers["registers"],
                scalar_registers=None,
                spills=numbers["spills"],
                scalar_spills=None,
                stack_bytes=numbers["stack"],
                local_bytes=numbers["local"],
                waves=waves,
            )
        )
    return found


def occupancy(capability: int, registers: int, local_bytes: int, group_size: int) -> int:
    """The warps that a quarter of a compute unit holds, of groups that it has room for as a whole."""
    unit = _UNITS[capability]
    warps = -(-group_size // _WARP)
    of_warp = -(-registers * _WARP // _ALLOCATED) * _ALLOCATED
    by_registers = _SCHEDULER_REGISTERS // of_warp * _SCHEDULERS // warps
    by_local = unit.local_kib * 1024 // (local_bytes + unit.reserved_bytes or 1)
    groups = min(unit.warps // warps, unit.groups, by_registers, by_local)
    return groups * warps // _SCHEDULERS

"""What a CUDA kernel takes of an NVIDIA GPU that need not be here, as NVRTC's assembler tells it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Final

from backends.common.ptxas_log import properties
from backends.common.resources import Resources
from backends.cuda import nvrtc
from backends.errors import BuildError
from harness.kernels.occupancy import PARTITIONS, occupancy
from harness.kernels.plan import PlannedLaunch
from harness.kernels.targets import Target

_VERBOSE = "--ptxas-options=-v"
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
        held = occupancy(capability, prod(launch.group_size), numbers["registers"], numbers["local"])
        found.append(
            Resources(
                name,
                registers=numbers["registers"],
                scalar_registers=None,
                spills=numbers["spills"],
                scalar_spills=None,
                stack_bytes=numbers["stack"],
                local_bytes=numbers["local"],
                waves=held.sub_groups // PARTITIONS if held else 0,
            )
        )
    return found

"""A plan: what our own kernels launch for a problem, a variant and a device, with no GPU API in it.

OpenCL and CUDA run the same plan.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from harness.devices import ResultLocation
from harness.variants.axes import LaunchVariant


@dataclass(frozen=True, slots=True)
class Source:
    """Argument: the source of this call, as memory."""


@dataclass(frozen=True, slots=True)
class SourceImageBuffer:
    """Argument: the source of this call as an image over its memory; a texel is four elements."""


@dataclass(frozen=True, slots=True)
class SourceImage2d:
    """Argument: the source of this call as an image (texture) of two dimensions.

    ``texel``: elements of a texel, one or four. ``width``, ``height``: in texels. ``pitch_bytes``: from row
    to row of the source. ``outside``: what is read beside the image; nothing is where it says nothing.
    """

    texel: int
    width: int
    height: int
    pitch_bytes: int
    outside: Literal["", "edge", "zero"] = ""


@dataclass(frozen=True, slots=True)
class Buffer:
    """Argument: a buffer of the plan, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Scalar:
    """Argument: a number, passed by value with this NumPy type (uint32 or uint64)."""

    value: int
    dtype: Literal["uint32", "uint64"] = "uint64"


@dataclass(frozen=True, slots=True)
class Turn:
    """Argument: a number in every second call, else 0, as uint64."""

    value: int


Argument = Turn | Source | SourceImageBuffer | SourceImage2d | Buffer | Scalar


@dataclass(frozen=True, slots=True)
class PlannedLaunch:
    """One launch: num_groups x group_size work-items, one or two dimensions."""

    kernel: str
    num_groups: tuple[int, ...]
    group_size: tuple[int, ...]
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class PlannedCopy:
    """One copy of device memory by the API's own command."""

    source: Argument
    target: Argument
    nbytes: int


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """What to build, allocate and launch.

    ``files`` are those of the source in their order, without suffix, below kernels_cl or kernels_cu.
    ``buffers`` maps a name to its size in bytes. ``result`` names the one that holds the answer:
    ``result_count`` elements of ``result_dtype`` from its start. ``per_source``: each source has a result
    buffer of its own. ``initial``: the bytes, repeated, that a buffer holds before each call. ``ring``:
    buffers that take turns; where a launch names one, the next call takes the one after it. ``readback``:
    launches that fetch the answer and are never timed. ``release``: launches, on each source, by which the
    cache gives up what the calls had it keep; made when the plan is done with. ``submission``: how all
    launches are enqueued. ``copies``: made after the launches, which a plan without ``files`` has none of.
    ``kept``: the part of the source that the stream is told to keep in the cache. ``most_registers``: that
    the compiler may give a work-item of a kernel whose group size is not declared; 0 where it decides.
    """

    files: tuple[str, ...]
    buffers: Mapping[str, int]
    launches: tuple[PlannedLaunch, ...]
    result: str
    result_dtype: np.dtype[Any]
    macros: Mapping[str, str | int] = field(default_factory=dict)
    result_count: int = 1
    result_location: ResultLocation = "device"
    per_source: bool = False
    readback: tuple[PlannedLaunch, ...] = ()
    release: tuple[PlannedLaunch, ...] = ()
    initial: Mapping[str, bytes] = field(default_factory=dict)
    ring: tuple[str, ...] = ()
    submission: LaunchVariant = field(default_factory=LaunchVariant)
    copies: tuple[PlannedCopy, ...] = ()
    kept: float = 0.0
    most_registers: int = 0

    @property
    def turns(self) -> int:
        """After so many calls each buffer of the ring has had its turn, and each way of a call its own."""
        takes_turns = any(isinstance(each, Turn) for launch in self.launches for each in launch.arguments)
        return math.lcm(max(1, len(self.ring)), 2 if takes_turns else 1)

    def __post_init__(self) -> None:
        if self.ring and self.per_source:
            raise ValueError(f"{self.ring} cannot take turns: each source has a result of its own")

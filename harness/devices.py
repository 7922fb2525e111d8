"""What a device is, holds, runs and is seen to do, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

ResultLocation = Literal["device", "host", "parts"]
"""Where the last timed step leaves a result. parts: as the partial results of work-groups, on the device,
which the host joins when it fetches them: no clock but the round trip counts that.
"""

PORTABLE_OPENCL: Final[dict[str, Any]] = {
    "shuffles": False,
    "sub_group_width": 1,
    "orders_groups": False,
    "nontemporal": False,
    "vector_elements": 16,
}
"""What OpenCL C 1.2 has of these fields of :class:`DeviceInfo` by itself. It does not promise that a
sub-group needs no barriers, so that its width is of no use.
"""

KnownDeviation = Literal["nan", "nan_count", "subnormal", "extreme", "infinity", "overflow"]
"""A kind of special value on which a library's answer may differ from the problem's definition."""


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device as one backend sees it. Sizes in bytes; 0 or empty where the API does not tell.

    ``physical`` is the same for every backend that drives the same hardware: the PCI address
    (``0000:3b:00.0``) of a GPU, ``cpu`` for the processor.
    ``sub_group_width``: work-items of a sub-group (warp).
    ``orders_groups``: one work-group can be made to see what another wrote in the same launch.
    ``awaits_groups``: one can wait for what those of lower numbers write in it: none of them waits for it to
    make room. ``queues``: the orders in which its queues (streams) can run what they are given.
    ``compute_capability``: of an NVIDIA GPU, 90 for 9.0. ``takes_ptx``: whether kernels for one may hold PTX.
    ``shuffles``: a kernel can move values between the work-items of a sub-group without local memory.
    ``max_texels``: of an image over a buffer, 0 where there are none.
    ``image_sides``: the most texels across and down an image of two dimensions, 0 where there are none.
    ``image_row_bytes``: of an image over memory, the most from the start of a row to that of the next.
    ``atomics64``: it can add, compare and exchange 64-bit integers of global memory at once.
    ``nontemporal``: its compiler has functions for loads and stores that the caches give up first.
    ``vector_elements``: of the widest vectors that its compiler knows; OpenCL C's have 16.
    ``portable``: the fields that are others for kernels in the dialect ``portable``.
    """

    backend: str
    index: int
    name: str
    platform: str
    vendor: str
    driver: str
    kind: Literal["cpu", "gpu", "accelerator"]
    compute_units: int
    memory_bytes: int
    max_allocation_bytes: int
    local_memory_bytes: int
    max_group_size: int
    cache_bytes: int
    sub_group_width: int
    float64: bool
    physical: str
    details: dict[str, str] = field(default_factory=dict, hash=False)
    orders_groups: bool = False
    awaits_groups: bool = False
    compute_capability: int = 0
    takes_ptx: bool = True
    shuffles: bool = False
    max_texels: int = 0
    image_sides: tuple[int, int] = (0, 0)
    image_row_bytes: int = 0
    atomics64: bool = False
    queues: tuple[str, ...] = ("in_order",)
    vector_elements: int = 16
    nontemporal: bool = False
    portable: dict[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> Self:
        """The device from plain data (:func:`dataclasses.asdict`) out of JSON, where tuples are lists."""
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in raw.items()
        }
        return cls(**fields)

    @property
    def key(self) -> str:
        """How a person names it: ``opencl:0``."""
        return f"{self.backend}:{self.index}"

    @property
    def ptx(self) -> int:
        """The compute capability whose PTX kernels may hold; 0 where they may hold none."""
        return self.compute_capability if self.takes_ptx else 0

    def too_large(self, source_bytes: int) -> str | None:
        """Why a source of so many bytes cannot be on it; None where it can."""
        if source_bytes <= (limit := self.max_allocation_bytes):
            return None
        return f"a source of {source_bytes} bytes is over the device's limit of {limit}"

    def in_dialect(self, dialect: str) -> Self:
        """The device as kernels in this dialect see it."""
        return replace(self, takes_ptx=False, **self.portable) if dialect == "portable" else self


@dataclass(frozen=True, slots=True)
class DeviceArray:
    """Contiguous memory on a device, its start aligned to 128 bytes or more. ``handle`` is the API's own
    object.
    """

    handle: Any
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch, as it is timed. Registers a work-item and spilled bytes are None where the API does
    not tell.
    """

    kernel: str
    num_groups: tuple[int, ...]
    group_size: tuple[int, ...]
    local_bytes: int = 0
    registers: int | None = None
    spills: int | None = None


@dataclass(frozen=True, slots=True)
class KernelTimes:
    """What a profiler saw of some calls on the device.

    ``seconds`` is the sum of the durations, start to end, of the kernels of each call; gaps between them do
    not count. ``kernels`` are those of one call, as the profiler describes them, ``transfers`` its copies
    and fills, whose time is not counted. ``note`` says why ``seconds`` is empty where it is.
    """

    seconds: tuple[float, ...] = ()
    kernels: tuple[Launch, ...] = ()
    transfers: int = 0
    note: str = ""

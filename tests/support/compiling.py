"""What the tests that compile kernels for GPUs, and run them on none, have in common: devices and cases."""

from __future__ import annotations

from typing import Any

import pytest

from backends.cuda.nvidia import device_info
from harness.devices import DeviceInfo
from harness.kernels.requirements import violations
from harness.kernels.targets import KERNELS
from harness.problems import (
    BORDERS,
    DIRECTIONS,
    IMAGE_DTYPES,
    MASKS,
    OUTPUTS,
    Bandwidth,
    Laplace,
    Problem,
    Reduction,
)
from harness.problems.dtypes import DTYPES
from harness.variants.axes import AXES, PER_PROBLEM, UNBOUNDED, Variant, variant_from_json
from tests.support.checks import Point, pairwise, spelled

NVIDIA = device_info(
    "cuda",
    0,
    pci="0000:3B:00.0",
    cuda=13000,
    capability=(9, 0),
    traits={
        "name": "a GPU with the usual limits",
        "compute_units": 132,
        "memory_bytes": 2**36,
        "local_memory_bytes": 48 * 2**10,
        "max_group_size": 1024,
        "cache_bytes": 2**25,
        "sub_group_width": 32,
        "max_texels": 2**27,
        "image_sides": (2**17, 65000),
        "image_row_bytes": 2**21 - 2**5,
    },
)

FEWER: dict[str, tuple[Any, ...]] = {
    "groups": (PER_PROBLEM, 8),
    "group_size": (32, 256, 1024),
    "group_width": (1, 32),
    "group_height": (1, 8),
    "rows_per_item": (1, 2, 8),
    "most_registers": (UNBOUNDED,),
}
"""In place of all values of an axis: the others give the same code with another number in it."""


REDUCTIONS: dict[str, Any] = {"op": KERNELS, "dtype": DTYPES}
LAPLACES: dict[str, Any] = {
    "mask": MASKS,
    "border": BORDERS,
    "output": OUTPUTS,
    "dtype": IMAGE_DTYPES,
    "channels": (1, 3, 4),
}
BANDWIDTHS: dict[str, Any] = {"direction": DIRECTIONS, "dtype": ("uint8", "int16", "float32", "uint64")}
"""The parameters of problems whose kernels differ."""
BESIDE: dict[str, Any] = {
    **LAPLACES,
    "mask": ("diagonal",),
    "output": ("laplacian",),
    "pixels": ("shuffle", "aligned", "async_tile"),
    "border_code": ("mapped",),
    "stencil": ("symmetric", "paired", "floats", "halves", "matrix"),
    "mask_memory": ("inline",),
    "cache_hint": ("none",),
    "dialect": ("vendor",),
    "groups": (PER_PROBLEM,),
    "group_width": (64,),
    "group_height": (1,),
}
"""Filters whose neighbours come beside whole vectors, which too few of all samples are."""


def case_of(kind: str, point: Point) -> tuple[Problem, Variant]:
    """The problem and the variant of a point of the axes and the problem's parameters."""
    axes = {name: point[name] for name in AXES[kind]}
    rest = {name: value for name, value in point.items() if name not in axes}
    variant = variant_from_json({"kind": kind, **axes})
    if kind == "laplace":
        return Laplace(height=70, width=333, border_value=7, **rest), variant
    if kind == "bandwidth":
        return Bandwidth(size=2**20 + 3, **rest), variant
    return Reduction(shape=(2**20 + 3,), **rest), variant


def cases(kind: str, device: DeviceInfo = NVIDIA, **parameters: Any) -> list[Any]:
    """A pairwise sample of the axes of ``kind`` and the problem's parameters, of what the device can run.
    ``parameters`` may have the values of axes, too.
    """
    axes = {name: parameters.get(name, FEWER.get(name, values)) for name, values in AXES[kind].items()}

    def runs(point: Point) -> bool:
        problem, variant = case_of(kind, point)
        return not violations(variant, problem, device)

    points = pairwise({**{name: tuple(values) for name, values in parameters.items()}, **axes}, runs)
    return [pytest.param(*case_of(kind, point), id=spelled(point)) for point in points]

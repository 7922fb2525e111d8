"""Devices that need not be here, for which kernels are assembled and compiled, and what is compiled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from harness.devices import PORTABLE_OPENCL, DeviceInfo
from harness.explain import unknown
from harness.kernels.defaults import default_variant
from harness.kernels.requirements import violations
from harness.kernels.source import Dialect
from harness.problems import (
    BORDERS,
    DIRECTIONS,
    IMAGE_DTYPES,
    MASKS,
    OPS,
    OUTPUTS,
    Bandwidth,
    Laplace,
    Problem,
    Reduction,
)
from harness.problems.dtypes import DTYPES
from harness.variants.axes import Variant
from harness.variants.ladders import LADDERS

GPU: Final = DeviceInfo(
    backend="opencl",
    index=0,
    name="an assumed GPU, sm_90",
    platform="",
    vendor="",
    driver="",
    kind="gpu",
    compute_units=132,
    memory_bytes=2**36,
    max_allocation_bytes=2**36,
    local_memory_bytes=48 * 2**10,
    max_group_size=1024,
    cache_bytes=50 * 2**20,
    sub_group_width=32,
    float64=True,
    physical="",
    orders_groups=True,
    awaits_groups=True,
    compute_capability=90,
    shuffles=True,
    max_texels=2**27,
    image_sides=(2**14, 2**14),
    atomics64=True,
    portable=PORTABLE_OPENCL,
)
"""NVIDIA's, as OpenCL shows it."""
CPU: Final = replace(
    GPU,
    name="an assumed processor",
    kind="cpu",
    compute_units=8,
    max_group_size=4096,
    sub_group_width=1,
    compute_capability=0,
    awaits_groups=False,
    shuffles=False,
    vector_elements=64,
)
"""A processor, as PoCL shows it."""
AMD: Final = replace(
    GPU,
    name="an assumed AMD GPU",
    compute_units=104,
    local_memory_bytes=64 * 2**10,
    max_group_size=256,
    cache_bytes=8 * 2**20,
    sub_group_width=64,
    compute_capability=0,
    orders_groups=False,
    awaits_groups=False,
    nontemporal=True,
)
"""AMD's, with sub-groups of 64."""
_SIDE = 2560


@dataclass(frozen=True, slots=True)
class Target:
    """An architecture that kernels are compiled for, as its compiler names it, with its sub-groups' width.

    ``language``: that of the kernels which its vendor's own compiler gets.
    """

    architecture: str
    device: DeviceInfo
    language: Dialect

    @property
    def wave(self) -> int:
        """Work-items of a sub-group (warp, wave)."""
        return self.device.sub_group_width

    @property
    def label(self) -> str:
        """As in ``gfx1100, waves of 32``."""
        return f"{self.architecture}, waves of {self.wave}"


def _amd(architecture: str, compute_units: int, megabytes: int, *waves: int) -> list[Target]:
    """An AMD GPU with each width of sub-groups that its compiler knows, its own first."""
    # No images: libclc has no functions that read them.
    device = replace(
        AMD,
        name=architecture,
        compute_units=compute_units,
        cache_bytes=megabytes * 2**20,
        max_texels=0,
        image_sides=(0, 0),
    )
    return [Target(architecture, replace(device, sub_group_width=wave), "cl") for wave in waves]


def _nvidia(capability: int, compute_units: int, megabytes: int) -> list[Target]:
    """An NVIDIA GPU, as CUDA shows it."""
    name = f"sm_{capability}"
    device = replace(
        GPU,
        backend="cuda",
        platform="CUDA",
        name=name,
        compute_units=compute_units,
        cache_bytes=megabytes * 2**20,
        compute_capability=capability,
        nontemporal=True,
        portable={},
    )
    return [Target(name, device, "cu")]


TARGETS: Final[tuple[Target, ...]] = (
    *_amd("gfx90a", 104, 8, 64),
    *_amd("gfx942", 304, 256, 64),
    *_amd("gfx1100", 96, 96, 32, 64),
    *_amd("gfx1201", 64, 64, 32, 64),
    *_nvidia(75, 40, 4),
    *_nvidia(86, 72, 6),
    *_nvidia(90, 132, 50),
    *_nvidia(100, 148, 126),
    *_nvidia(120, 170, 96),
)
"""What ``harness compile`` knows, with the compute units and the last-level cache of one product of each."""


def targets(architecture: str, wave: int = 0) -> list[Target]:
    """The targets of an architecture: one, or one for each width of sub-groups, or that of ``wave`` alone.

    Raises:
        ValueError: if the architecture is unknown, or has no sub-groups of that width.
    """
    found = [target for target in TARGETS if target.architecture == architecture]
    if not found:
        raise ValueError(unknown("target", architecture, dict.fromkeys(t.architecture for t in TARGETS)))
    chosen = [target for target in found if wave in (0, target.wave)]
    if not chosen:
        waves = " and ".join(str(target.wave) for target in found)
        raise ValueError(f"{architecture} has waves of {waves}, not of {wave}")
    return chosen


KERNELS: Final = tuple({(row.kernel, row.term): op for op, row in reversed(OPS.items())}.values())[::-1]
"""The reductions with kernels of their own: what the others differ in happens on the host."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is compiled. ``name``: ``default``, ``portable default`` or a rung such as ``modern:7``."""

    problem: Problem
    name: str
    variant: Variant


def cases(device: DeviceInfo, problem: Problem | None = None) -> list[Case]:
    """The defaults and the rungs that the device can run: of a problem, or of all that have other kernels."""
    problems = [problem] if problem else list(_problems())
    laddered = [problem] if problem else list(_LADDERED)
    found = [each for problem in problems for each in _defaults(problem, device)]
    found += [each for problem in laddered for each in _rungs(problem)]
    return [each for each in found if not violations(each.variant, each.problem, device)]


_LADDERED: Final[tuple[Problem, ...]] = (
    Reduction("minmax", "int32", (_SIDE, _SIDE)),
    Reduction("minmax", "uint8", (_SIDE, _SIDE)),
    Laplace("four", "reflect_101", "laplacian", "uint8", _SIDE, _SIDE),
)
"""The problems that rungs are compiled for, where none is named."""


def _problems() -> Iterator[Problem]:
    for op in KERNELS:
        for dtype in DTYPES:
            yield Reduction(op, dtype, (_SIDE, _SIDE))
    for dtype in IMAGE_DTYPES:
        for channels in (1, 3, 4):
            for border in BORDERS:
                yield Laplace("four", border, "laplacian", dtype, _SIDE, _SIDE, channels)
    for mask in MASKS:
        for output in OUTPUTS:
            if (mask, output) != ("four", "laplacian"):
                yield Laplace(mask, "reflect_101", output, "uint8", _SIDE, _SIDE)
    for direction in DIRECTIONS:
        for dtype in ("uint8", "float32"):
            yield Bandwidth(direction, dtype, _SIDE * _SIDE)


def _defaults(problem: Problem, device: DeviceInfo) -> Iterator[Case]:
    yield Case(problem, "default", default_variant(problem, device))
    if device.portable:
        # What is CUDA has one vendor's compiler.
        yield Case(problem, "portable default", default_variant(problem, device, "portable"))


def _rungs(problem: Problem) -> Iterator[Case]:
    for ladder in LADDERS.values():
        if ladder.kind == problem.kind:
            for number, rung in enumerate(ladder.rungs):
                yield Case(problem, f"{ladder.name}:{number}", rung)

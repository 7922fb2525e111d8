"""From a suite and the devices found to the cases: what is measured where, and what cannot be and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Literal, cast

from backends import REGISTRY
from harness.devices import DeviceInfo
from harness.explain import unknown
from harness.kernels.defaults import default_variant
from harness.kernels.requirements import violations
from harness.problems import Bandwidth, Empty, Laplace, Problem, Reduction
from harness.problems.base import MAX_ELEMENTS
from harness.problems.dtypes import DTYPES
from harness.results.record import Case
from harness.suites.schema import (
    PORTABLE,
    BandwidthBlock,
    Base,
    Changed,
    Choice,
    LaplaceBlock,
    LaunchBlock,
    ReductionBlock,
    Suite,
    Sweep,
)
from harness.variants.axes import BandwidthVariant, CommandVariant, LaunchVariant, LibraryVariant, Variant

Block = ReductionBlock | LaplaceBlock
Cache = Literal["hot", "cold"]

_LIMIT_DTYPE = "uint32"
_LIMIT_ITEMSIZE = 4
_HELD_SHARE = 1 / 2
"""What is read and written stays in the last-level cache where it is no larger part of it."""


def expand(
    suite: Suite,
    devices: Sequence[DeviceInfo],
    backends_filter: Sequence[str] = (),
    device_filter: Sequence[str] = (),
    image_size: tuple[int, int] | None = None,
) -> list[Case]:
    """Every case of a suite on the chosen devices, in the order they are to be measured.

    First the limits, then problem by problem, the devices side by side in each. Cases that a device cannot
    run are among them: :func:`skip_reason` tells. A library runs a problem once, whatever variants are asked;
    a sum that its plain call adds in a narrower type than ours in that type, too.

    Args:
        suite: what to compare.
        devices: all devices that were found.
        backends_filter: names of backends to keep; all when empty.
        device_filter: see :func:`select_devices`; all when empty.
        image_size: (height, width) of the user's photograph, which every Laplace problem then takes.

    Raises:
        ValueError: if a filter names something that is not there.
    """
    chosen = select_devices(devices, backends_filter, device_filter)
    blocks: list[Block] = [*suite.reduction, *suite.laplace]
    cases = [case for block in blocks for case in _block_cases(block, chosen, image_size)]
    limits = _limit_cases(suite, cases, chosen) if suite.limits.measure else iter(())
    studies = [case for study in suite.bandwidth for case in _bandwidth_cases(study, chosen)]
    launches = [case for study in suite.launch for case in _launch_cases(study, chosen)]
    return _by_problem([*limits, *cases, *studies, *launches])


def _by_problem(cases: Sequence[Case]) -> list[Case]:
    """Each case once, and those of one problem together, whatever blocks name it."""
    groups: dict[tuple[Problem, str], dict[Case, None]] = {}
    for case in cases:
        groups.setdefault((case.problem, case.cache), {})[case] = None
    return [case for group in groups.values() for case in group]


def select_devices(
    devices: Sequence[DeviceInfo], backends: Sequence[str] = (), patterns: Sequence[str] = ()
) -> list[DeviceInfo]:
    """The devices of these backends that match any of these patterns.

    A pattern is a device's key (``opencl:0``), its PCI address, its kind (``gpu``), or part of its name or
    platform, in any case.

    Raises:
        ValueError: if a backend is unknown or a pattern matches no device of the chosen backends.
    """
    for name in backends:
        if name not in REGISTRY:
            raise ValueError(unknown("backend", name, REGISTRY))
    of_backends = [device for device in devices if not backends or device.backend in backends]
    for pattern in patterns:
        if not any(_matches(device, pattern) for device in of_backends):
            there = ", ".join(f"{device.key} ({device.name})" for device in of_backends) or "none"
            raise ValueError(f"no device matches {pattern!r}; there are {there}")
    chosen = [d for d in of_backends if not patterns or any(_matches(d, pattern) for pattern in patterns)]
    # What the comparison is about comes first: GPUs, and on each device our own kernels.
    return sorted(chosen, key=lambda device: (device.kind == "cpu", not _has_own_kernels(device)))


def measured_by_default(
    devices: Sequence[DeviceInfo], suite: Suite, backends: Sequence[str] = (), patterns: Sequence[str] = ()
) -> list[DeviceInfo]:
    """The devices without those that neither the suite asks for nor a filter names: some baselines, and the
    processors of a backend that has a GPU.
    """
    with_gpu = {device.backend for device in devices if device.kind == "gpu"}

    def is_rival(device: DeviceInfo) -> bool:
        named = device.backend in backends or device.key in patterns
        return suite.measure.all_libraries or REGISTRY[device.backend].by_default or named

    def is_where_one_would_compute(device: DeviceInfo) -> bool:
        asked = any(_matches(device, pattern) for pattern in patterns)
        return device.kind != "cpu" or device.backend not in with_gpu or asked

    return [device for device in devices if is_rival(device) and is_where_one_would_compute(device)]


def _matches(device: DeviceInfo, pattern: str) -> bool:
    wanted = pattern.strip().casefold()
    exact = wanted in (device.key, device.physical.casefold(), device.kind)
    # A key is exact: "opencl:1" must not also choose "opencl:10", nor a name that happens to hold it. What is
    # empty is part of every name, and names none.
    return bool(wanted) and (
        exact or any(wanted in text.casefold() for text in (device.name, device.platform))
    )


def skip_reason(case: Case, device: DeviceInfo, suite: Suite) -> str | None:
    """Why ``device`` does not run ``case``, as far as can be told without opening it; None when it does."""
    role = REGISTRY[case.backend].role
    limit = suite.measure.reference_limit_bytes
    if role == "reference" and limit and case.problem.source_bytes > limit:
        return (
            f"the reference backend is slow by design: this suite spares it sources of over "
            f"{limit / 1e6:.0f} MB (reference_limit_bytes)"
        )
    if _has_own_kernels(device):
        return "; ".join(violations(case.variant, case.problem, device)) or None
    return device.too_large(case.problem.packed_bytes)


def _has_own_kernels(device: DeviceInfo) -> bool:
    return REGISTRY[device.backend].role in ("opencl", "cuda")


def _block_cases(
    block: Block, devices: Sequence[DeviceInfo], image_size: tuple[int, int] | None
) -> Iterator[Case]:
    meant = [device for device in devices if block.runs_on(device.kind)]
    problems = _reductions(block) if isinstance(block, ReductionBlock) else _laplaces(block, image_size)
    # rungs[i] are the variants of one entry; some stand for a default, which differs by device.
    rungs = [rung for choice in block.variants for rung in _rungs(choice)]
    for problem, cache, rung, device in product(problems, block.caches, rungs, meant):
        for variant in _variants(problem, rung, device):
            yield Case(device.backend, device.index, problem, variant, cast(Cache, cache))


def _rungs(choice: Choice) -> tuple[Variant | Base | Changed, ...]:
    return choice if isinstance(choice, tuple) else (choice,)


def _variants(problem: Problem, rung: Variant | Base | Changed, device: DeviceInfo) -> Iterator[Variant]:
    if _has_own_kernels(device):
        base, changes = (rung.base, rung.axes) if isinstance(rung, Changed) else (rung, {})
        if not isinstance(base, str):
            yield base
            return
        # A processor's default has no vendor's text but Clang's widest vectors: it is not measured twice.
        is_portable = base == PORTABLE and device.kind != "cpu"
        yield replace(default_variant(problem, device, "portable" if is_portable else "vendor"), **changes)
        return
    yield LibraryVariant()
    if (
        isinstance(problem, Reduction)
        and problem.narrower_accumulator
        and problem.dtype in REGISTRY[device.backend].narrow_sums
    ):
        yield LibraryVariant(accumulator="element")


def _reductions(block: ReductionBlock) -> list[Problem]:
    return [
        Reduction(op, dtype, tuple(shape))
        for shape, dtype, op in product(block.shapes, block.dtypes, block.ops)
    ]  # fmt: skip


def _laplaces(block: LaplaceBlock, image_size: tuple[int, int] | None) -> list[Problem]:
    sizes = [(height, width) for width, height in block.sizes] if image_size is None else [image_size]
    axes = product(sizes, block.channels, block.dtypes, block.masks, block.borders, block.outputs)
    return [
        Laplace(mask, border, output, dtype, height, width, channels, block.border_value)
        for (height, width), channels, dtype, mask, border, output in axes
    ]


def _bandwidth_cases(block: BandwidthBlock, devices: Sequence[DeviceInfo]) -> Iterator[Case]:
    """A study of the limits themselves, where kernels of our own can be run."""
    meant = [device for device in devices if _has_own_kernels(device) and block.runs_on(device.kind)]
    axes = product(block.source_bytes, block.directions, block.dtypes)
    problems = [
        Bandwidth(direction, dtype, max(1, nbytes // DTYPES[dtype].itemsize))
        for nbytes, direction, dtype in axes
    ]
    for problem, cache, device in product(problems, block.caches, meant):
        base = Case(device.backend, device.index, problem, LibraryVariant(), cast(Cache, cache))
        for variant in variants_of(block.cpu if device.kind == "cpu" else block.gpu):
            yield replace(base, variant=variant)


def _launch_cases(block: LaunchBlock, devices: Sequence[DeviceInfo]) -> Iterator[Case]:
    """A study of launching itself, where kernels of our own can be run."""
    meant = [device for device in devices if _has_own_kernels(device) and block.runs_on(device.kind)]
    geometries = product(block.groups, block.group_sizes, block.launches)
    variants = [LaunchVariant(queue=q, events=e) for q, e in product(block.queues, block.events)]
    for (groups, size, launches), variant, device in product(geometries, variants, meant):
        geometry = ((groups * max(1, device.compute_units),), (size,))
        yield Case(device.backend, device.index, Empty((geometry,) * launches), variant)


def _limit_cases(suite: Suite, cases: Sequence[Case], devices: Sequence[DeviceInfo]) -> Iterator[Case]:
    """The limit of each size and cache state that a device with kernels of our own is compared in, and of
    those that the suite names.

    Reductions are held against reading, filters against copying.
    """
    wanted: dict[tuple[str, int, Cache], dict[DeviceInfo, None]] = {}
    by_key = {(device.backend, device.index): device for device in devices}
    for case in cases:
        direction = "copy" if isinstance(case.problem, Laplace) else "read"
        found = direction, case.problem.source_bytes, case.cache
        wanted.setdefault(found, {})[by_key[case.backend, case.device]] = None
    for block, device in product(suite.limits.of, devices):
        for direction, nbytes, cache in product(block.directions, block.source_bytes, block.caches):
            if block.runs_on(device.kind):
                wanted.setdefault((direction, nbytes, cast(Cache, cache)), {})[device] = None
    for (direction, nbytes, cache), where in sorted(wanted.items(), key=lambda item: item[0]):
        # The size of a source that no memory holds: its cases are skipped, and so is this one.
        size = min(-(-nbytes // _LIMIT_ITEMSIZE), MAX_ELEMENTS)
        problem = Bandwidth(direction, _LIMIT_DTYPE, size)
        for device in filter(_has_own_kernels, where):
            base = Case(device.backend, device.index, problem, LibraryVariant(), cache, "limit")
            yield from (
                replace(base, variant=variant) for variant in _candidates(suite, problem, device, cache)
            )


def _candidates(
    suite: Suite, problem: Bandwidth, device: DeviceInfo, cache: Cache
) -> list[BandwidthVariant | CommandVariant]:
    """The variants whose fastest is the limit: those that the device can run, or one, which tells why not."""
    sweep = variants_of(suite.limits.cpu if device.kind == "cpu" else suite.limits.gpu)
    if cache == "cold" or problem.bytes_moved <= _HELD_SHARE * device.cache_bytes:
        # Nothing is left in the caches, or all is: whichever way a call goes, it finds the same there.
        sweep = [variant for variant in sweep if variant.traversal == "forward"] or sweep
    every: list[BandwidthVariant | CommandVariant] = [*sweep, CommandVariant()]
    return [variant for variant in every if not violations(variant, problem, device)] or every[:1]


def variants_of(sweep: Sweep) -> list[BandwidthVariant]:
    """The bandwidth variants of a sweep: the product of its axes."""
    axes = sweep.model_dump()
    return [BandwidthVariant(**dict(zip(axes, values, strict=True))) for values in product(*axes.values())]

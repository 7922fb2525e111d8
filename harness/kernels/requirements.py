"""Why a device cannot run a variant on a problem: the skip reasons of our kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.devices import DeviceInfo
from harness.kernels.cache_hint import HINTS, Hinted
from harness.kernels.filter_values import FILTER_VALUES
from harness.kernels.finish import FINISHES
from harness.kernels.geometry import (
    MAX_GROUPS,
    api,
    grid_violations,
    laplace_tiles,
    max_groups_down,
    num_groups,
    segment_partials,
)
from harness.kernels.occupancy import REGISTERS
from harness.kernels.values import PACKINGS, STORAGES, TRAVERSALS, TREES, Value
from harness.problems import Bandwidth, Laplace, Problem, Reduction
from harness.variants.axes import (
    BY_SIZE,
    PER_PROBLEM,
    UNBOUNDED,
    BandwidthVariant,
    CommandVariant,
    LaplaceVariant,
    LaunchVariant,
    ReductionVariant,
    Variant,
    group_items,
)

OPENCL_ELEMENTS: Final = 16
"""Components of the widest vectors of OpenCL C."""
WIDER_BYTES: Final = 2
"""Largest element, in bytes, for vectors of more than 16 components; 16 of a larger one already fill a
register.
"""
MAX_COUNT: Final = 2**32
"""Counted elements after which a component of a count would overflow its 32 bits."""
_COUNTERS = 8
"""Components of a count whose vectors are wider than OpenCL C's (ADD_WIDENED)."""
VALUES: Final[Mapping[str, Mapping[Any, Value]]] = {
    "storage": STORAGES,
    "tree": TREES,
    "packing": PACKINGS,
    "finish": FINISHES,
    "traversal": TRAVERSALS,
}
"""The axes of a reduction whose values not every device and problem can have."""
MAX_ROW_ELEMENTS = 2**31 - 2**16
"""The Laplace kernels count the elements of a row in int; the rest is room for the last group."""
MAX_ROWS = MAX_ROW_ELEMENTS
"""And the rows of an image likewise."""


def violations(variant: Variant, problem: Problem, device: DeviceInfo) -> list[str]:
    """Why ``device`` cannot run ``variant`` on ``problem`` with our kernels; empty when it can."""
    dialect = getattr(variant, "dialect", "vendor")
    found = _violations(variant, problem, device.in_dialect(dialect))
    anyway = _violations(variant, problem, device) if found and dialect != "vendor" else found
    return [reason if reason in anyway else f"dialect {dialect}: {reason}" for reason in found]


def _violations(variant: Variant, problem: Problem, device: DeviceInfo) -> list[str]:
    fitting = "launch" if problem.kind == "empty" else problem.kind
    is_copied = isinstance(problem, Bandwidth) and problem.direction == "copy"
    if variant.kind != fitting and not (is_copied and isinstance(variant, CommandVariant)):
        return [f"a {problem.kind} problem takes a {fitting} variant, not a {variant.kind} one"]
    found = []
    group = group_items(variant)
    if group > device.max_group_size:
        found.append(f"a group of {group} work-items is larger than the device's {device.max_group_size}")
    dtype = getattr(problem, "dtype", "")
    needs_float64 = problem.needs_float64 if isinstance(problem, Reduction) else dtype == "float64"
    if needs_float64 and not device.float64:
        found.append("the device has no float64 arithmetic")
    if too_large := device.too_large(problem.packed_bytes):
        found.append(too_large)
    if isinstance(variant, Hinted) and isinstance(problem, (Reduction, Laplace, Bandwidth)):
        vector_bytes = variant.vector_width * problem.element.itemsize
        hint = HINTS[variant.cache_hint]
        reasons = hint.violations(vector_bytes, problem.dtype, device)
        found += [f"cache_hint {variant.cache_hint}: {reason}" for reason in reasons]
        if variant.kept_sixteenths != BY_SIZE and not hint.keeps:
            found.append(
                f"kept_sixteenths {variant.kept_sixteenths}: the cache hint {variant.cache_hint} has no part "
                "of the source kept"
            )
    if isinstance(variant, ReductionVariant) and isinstance(problem, Reduction):
        found += _reduction_violations(variant, problem, device)
    if isinstance(variant, BandwidthVariant) and isinstance(problem, Bandwidth):
        found += grid_violations(problem.size, variant, device)
    if isinstance(variant, LaunchVariant) and variant.queue not in device.queues:
        found.append(f"queue {variant.queue}: this API has {' and '.join(device.queues)} queues only here")
    if isinstance(variant, LaplaceVariant) and isinstance(problem, Laplace):
        found += _laplace_violations(variant, problem, device)
    return found


def _reduction_violations(variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> list[str]:
    found = grid_violations(problem.size, variant, device)
    for axis, values in VALUES.items():
        name = getattr(variant, axis)
        reasons = values[name].violations(variant, problem, device)
        found += [f"{axis} {name}: {reason}" for reason in reasons]
    found += _width_violations(variant, problem, device)
    width = variant.vector_width
    items = num_groups(problem.size, variant, device) * variant.group_size
    vectors = -(-problem.size // (items * width))
    # Vectors wider than OpenCL's are folded: each counter has several of their elements.
    counts = vectors * (width // _COUNTERS if width > OPENCL_ELEMENTS else 1)
    if problem.parts.kernel == "count_nonzero" and counts >= MAX_COUNT:
        found.append(f"a work-item meets {vectors} vectors and counts in 32 bits; more groups help")
    partials = TREES[variant.tree].scratch_partials(variant, device) + segment_partials(variant)
    local = partials * problem.partial_dtype.itemsize + FINISHES[variant.finish].local_bytes
    if local > device.local_memory_bytes:
        limit = device.local_memory_bytes
        found.append(f"a group needs {local} bytes of local memory, the device has {limit}")
    return found


def _width_violations(
    variant: ReductionVariant | LaplaceVariant, problem: Reduction | Laplace, device: DeviceInfo
) -> Iterator[str]:
    width = variant.vector_width
    if width > max(OPENCL_ELEMENTS, device.vector_elements):
        yield f"vector_width {width}: the compiler's vectors have {device.vector_elements} elements"
    if width > OPENCL_ELEMENTS and (problem.element.itemsize > WIDER_BYTES or problem.element.is_float):
        yield f"vector_width {width}: only integers of 8 and 16 bits, not {problem.dtype}"


def _laplace_violations(variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> list[str]:
    found = []
    for axis, values in FILTER_VALUES.items():
        name = getattr(variant, axis)
        found += [f"{axis} {name}: {reason}" for reason in values[name].violations(variant, problem, device)]
    found += _width_violations(variant, problem, device)
    found += _register_violations(variant, device)
    rows, loads = variant.rows_per_item, variant.loads_in_flight
    if rows % loads:
        found.append(f"{rows} rows an item are no multiple of {loads} loads in flight")
    if problem.pitch > MAX_ROW_ELEMENTS:
        found.append(f"a row of {problem.pitch} elements is over the kernels' limit of {MAX_ROW_ELEMENTS}")
    if problem.height > MAX_ROWS:
        found.append(f"{problem.height} rows are over the kernels' limit of {MAX_ROWS}")
    across, down = laplace_tiles(problem, variant)
    count, most, what = down, max_groups_down(device), f"groups down the image are over {api(device)}'s"
    if variant.groups != PER_PROBLEM:
        count, most, what = across * down, MAX_GROUPS, "tiles are over the kernels'"
    if count > most:
        remedy = "more rows_per_item or a larger group_height helps"
        found.append(f"{count} {what} limit of {most}; {remedy}")
    return found


def _register_violations(variant: LaplaceVariant, device: DeviceInfo) -> Iterator[str]:
    most, items = variant.most_registers, group_items(variant)
    if most == UNBOUNDED:
        return
    if not device.ptx:
        yield f"most_registers {most}: only NVIDIA's compilers are told, beside PTX"
    elif most * items > REGISTERS:
        yield f"most_registers {most}: a group of {items} work-items may not fit a compute unit"

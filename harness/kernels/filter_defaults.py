"""The default variant of a filter: what each rule rests on is a recorded sweep, which its docstring names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from harness.devices import DeviceInfo
from harness.kernels.cache_hint import (
    default_hint,
    gains_back_and_forth,
    kept_sixteenths,
    possible_hint,
)
from harness.kernels.filter_pixels import PIXELS
from harness.kernels.filter_registers import LAST_TURN, ROWS, groups_a_unit, load_order, most_registers
from harness.kernels.filter_stencils import HALVES_CAPABILITY
from harness.kernels.geometry import api, laplace_tiles, max_groups_down
from harness.kernels.widths import CPU_VECTOR_BYTES, LOAD_BYTES, NO_LOAD, PIXEL_WORD, WIDE
from harness.problems import Laplace
from harness.variants.axes import (
    AXES,
    PER_PROBLEM,
    SIXTEENTHS,
    CacheHint,
    Dialect,
    Groups,
    Interior,
    LaplaceVariant,
    Pixels,
    Stencil,
    Traversal,
    group_items,
)

_PAGE_BYTES = 4096
_INTEL = "GenuineIntel"
"""The vendor of a processor, as it names itself."""
_NARROW = 2
"""Up to this size of an element, in bytes, aligned loads are not too wide."""
_ASYNC_CAPABILITY = 80
"""The first of NVIDIA's GPUs that copy into local memory while work-items go on."""
_TURNS = 7
"""Groups a compute unit that take tiles in turn: no more than can run at a time with their registers."""
_TURNS_OF_MORE = 6
"""The same where more registers are taken: three channels, and masks that weigh all neighbours where groups
go forward and a pixel is no word of bytes."""
_TURNS_SHARE = 3 / 8
"""The part of the last-level cache from which on an image's tiles are taken in turn."""
_FEW_GROUPS = 4
"""Groups a compute unit from which on code of its own for the interior may be faster."""
_EVEN_ROWS = 3
"""Rows where these leave the compute unit that has most to do with fewer rows of them all."""
_MORE_ROWS, _MORE_ROWS_GROUPS = 5, 6
"""Rows of OpenCL's work-item where all neighbours weigh; groups a compute unit from which on it has them."""
_LAST_TURNS_OF_THREE = range(6, 12)
"""LAST_TURN of three channels."""
_UNEVEN_GROUPS = 3
"""Groups a compute unit from which on it counts little that some units have one more."""
_MOST_ROWS = max(AXES["laplace"]["rows_per_item"])


def default_filter(problem: Laplace, device: DeviceInfo, dialect: Dialect) -> LaplaceVariant:
    """The variant that ``device`` filters an image in by default, of those in a dialect."""
    if device.kind == "cpu":
        # Long strips of wide vectors; a group is only a loop. A processor loads from any address: neighbours
        # are loads of their own, which takes fewer instructions than to move elements between vectors. Sums
        # of bytes fit 16 bits. What is stored past the caches need not be read into them before, but only
        # where each store is a whole line of the cache: half ones take up to eight times as long. So do wide
        # elements up to three times where all rows begin at the same place of a page, in fewer rows less
        # without it; not on an Intel Xeon, where these, too, are faster past its caches. On a Zen 4 both take
        # the same time. Swept with PoCL on these three (reports/examples, cpu-sweep, cpu-sweep-stores,
        # cpu-xeon-sweep-stores and cpu-zen4-sweep-in-step).
        itemsize = problem.element.itemsize
        width = min(CPU_VECTOR_BYTES // itemsize, device.vector_elements)
        in_step = itemsize >= WIDE and problem.pitch * itemsize % _PAGE_BYTES == 0
        in_step &= device.vendor != _INTEL
        stores_past = width * itemsize == CPU_VECTOR_BYTES and not in_step
        hint: CacheHint = "streaming_stores" if stores_past else "none"
        variant = LaplaceVariant(
            border_code="peeled",
            stencil="packed" if itemsize == 1 else "symmetric",
            vector_width=width,
            rows_per_item=4 if in_step else 8,
            group_width=32,
            group_height=1,
            cache_hint=possible_hint(hint, problem, width * itemsize, device),
        )
        return _in_groups_of(device, variant)
    # One 16-byte load a row, all four rows in flight before the first is used. Sums of bytes in pairs: fewer
    # instructions, and registers for more groups at a time (reports/examples, h200-jia2012).
    hint = default_hint(problem, LOAD_BYTES, device)
    pixels = _pixels(problem, hint, device)
    if pixels == "async_tile":
        # Copies into local memory carry no hint.
        hint = "none"
    traversal: Traversal = "back_and_forth" if gains_back_and_forth(problem, device) else "forward"
    groups = _filter_groups(problem, hint, pixels, traversal, device)
    variant = LaplaceVariant(
        border_code="mapped",
        stencil=_stencil(problem, device, dialect),
        vector_width=LOAD_BYTES // problem.element.itemsize,
        rows_per_item=ROWS,
        loads_in_flight=1 if pixels == "async_tile" else ROWS,
        group_width=32,
        group_height=4,
        pixels=pixels,
        groups=groups,
        traversal=traversal,
        cache_hint=hint,
    )
    variant = _in_groups_of(device, variant)
    # Where an image has fewer groups than the device has compute units, fewer rows an item make more of them:
    # on an H200 a tenth faster at 256x256 and 512x512 (reports/examples, sweep-small-filters).
    while variant.rows_per_item > 1 and math.prod(laplace_tiles(problem, variant)) < device.compute_units:
        rows = variant.rows_per_item // 2
        variant = replace(variant, rows_per_item=rows, loads_in_flight=rows)
    taller = (fitting for fitting in _taller(variant, device) if _fits_down(problem, fitting, device))
    variant = next(taller, variant)
    if _has_long_last_turn(problem, variant, device):
        variant = replace(variant, group_height=variant.group_height // 2)
    variant = replace(
        variant,
        interior=_interior(problem, variant, device),
        most_registers=most_registers(problem, variant, device),
    )
    variant = replace(variant, load_order=load_order(problem, variant, device))
    variant = _evened(problem, variant, device)
    if _gains_by_a_row(problem, variant, device):
        variant = replace(variant, rows_per_item=_MORE_ROWS, loads_in_flight=_MORE_ROWS)
    if any(PIXELS[variant.pixels].violations(variant, problem, device)):
        # The tile of so tall a group does not fit into local memory.
        return replace(variant, pixels="global")
    return variant


def _in_groups_of(device: DeviceInfo, variant: LaplaceVariant) -> LaplaceVariant:
    """The variant in the device's largest groups where its own are larger: lower ones, and then narrower."""
    while group_items(variant) > device.max_group_size:
        if variant.group_height > 1:
            variant = replace(variant, group_height=variant.group_height // 2)
        else:
            variant = replace(variant, group_width=variant.group_width // 2)
    return variant


def _has_long_last_turn(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> bool:
    """Whether groups of half the size, which even out how long the compute units work, are faster.

    On an H100 up to a twentieth with one channel of bytes where all neighbours weigh and all groups run in
    about one turn; with fewer or more groups, and with other masks, nothing, or slower (reports/examples,
    sweep-registers-shapes, sweep-group-heights and sweep-group-heights-sizes). On an H200 up to 7 % with
    three channels in the cache and the plain masks (sweep-small-rows).
    """
    if variant.groups != PER_PROBLEM or variant.stencil != "halves":
        return False
    groups = groups_a_unit(problem, variant, device)
    if problem.channels == NO_LOAD:
        *_, corner = problem.coefficients
        return variant.pixels == "global" and corner == 0 and groups in _LAST_TURNS_OF_THREE
    return problem.channels == 1 and all(problem.coefficients) and groups in LAST_TURN


def _evened(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> LaplaceVariant:
    """The variant with fewer rows a work-item where that leaves the busiest compute unit with less to do.

    Of 1920x1080 bytes, groups of four rows an item are 272. Some of an H200's 132 units have three of them,
    which is twelve rows; of groups with three rows none has more than nine. With one to three groups a unit
    most filters of bytes and of uint16 are up to 8 % faster so, none 2 % slower; of float32 they are not, and
    larger images neither (reports/examples, sweep-rows and sweep-even-rows).
    """
    few = math.prod(laplace_tiles(problem, variant)) < _UNEVEN_GROUPS * device.compute_units
    is_usual = variant.groups == PER_PROBLEM and variant.rows_per_item == ROWS
    if not (is_usual and few and problem.element.itemsize <= _NARROW):
        return variant
    loads = min(variant.loads_in_flight, _EVEN_ROWS)
    evened = replace(variant, rows_per_item=_EVEN_ROWS, loads_in_flight=loads)
    return min(variant, evened, key=lambda each: _most_rows_of_a_unit(problem, each, device))


def _gains_by_a_row(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> bool:
    """Whether one row more a work-item is faster, of one channel of bytes.

    In OpenCL on an H200 up to 9 % where all neighbours weigh, at 2560x2560 up to 3 %, at 8192x8192 nothing;
    slower with fewer groups a unit than six. In CUDA and with other masks it is slower as often as faster
    (reports/examples, sweep-more-rows and sweep-local-atomics-default).
    """
    if variant.stencil != "halves" or problem.channels != 1 or api(device) != "OpenCL":
        return False
    is_usual = variant.groups == PER_PROBLEM and variant.rows_per_item == ROWS
    return (
        is_usual
        and all(problem.coefficients)
        and groups_a_unit(problem, variant, device) >= _MORE_ROWS_GROUPS
    )


def _most_rows_of_a_unit(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> int:
    """Rows of the groups of that compute unit which has most of them."""
    groups = math.prod(laplace_tiles(problem, variant))
    return -(-groups // max(1, device.compute_units)) * variant.rows_per_item


def _pixels(problem: Laplace, hint: CacheHint, device: DeviceInfo) -> Pixels:
    """How the neighbours of an item's own elements come. A pixel of three channels is no single load.

    Two aligned loads in place of six are faster where an image passes the cache, on an H200 up to an eighth;
    slower where it stays there with its result, and for wide elements (reports/examples, sweep-filters and
    sweep-aligned). From memory elements of two and four bytes come by asynchronous copies, which take fewer
    registers, but for the border constant, where they are slower (sweep-filter-tiles, h200-filters).
    """
    stays = _stays(problem, device)
    if problem.channels != NO_LOAD or (stays and hint == "none"):
        return "global"
    itemsize = problem.element.itemsize
    copies = device.ptx >= _ASYNC_CAPABILITY and problem.border != "constant"
    if copies and itemsize >= _NARROW and not stays:
        return "async_tile"
    return "aligned" if itemsize <= _NARROW else "global"


def _stays(problem: Laplace, device: DeviceInfo) -> bool:
    """Whether the cache can keep the whole source."""
    return kept_sixteenths(problem.source_bytes, device.cache_bytes) == SIXTEENTHS


def _stencil(problem: Laplace, device: DeviceInfo, dialect: Dialect) -> Stencil:
    """How sums are computed: of bytes in pairs, and these in half precision where the device can.

    Portable text for NVIDIA's GPUs saturates them in single precision, which on an H200 is up to 8 % faster,
    but for CUDA's where corners alone weigh: these are up to 11 % slower so (reports/examples, sweep-floats).
    """
    if problem.dtype != "uint8":
        return "symmetric"
    if _adds_halves(problem, device):
        return "halves"
    _, edge, _ = problem.coefficients
    floats_gain = (
        dialect == "portable" and device.compute_capability and not (api(device) == "CUDA" and edge == 0)
    )
    return "floats" if floats_gain else "paired"


def _adds_halves(problem: Laplace, device: DeviceInfo) -> bool:
    """Whether sums of bytes are computed in half precision."""
    return problem.dtype == "uint8" and device.ptx >= HALVES_CAPABILITY


def _interior(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> Interior:
    """Whether tiles that meet no border run code of their own.

    On an H200 up to a quarter faster where pixels outside are constants, and up to an eighth for bytes, of
    which an item computes most; nothing for wider elements, and one channel of uint16 in the cache is 4 %
    slower (reports/examples, sweep-interior). Nor for images of few groups, which are 1 to 2 % slower with it
    in OpenCL and as fast in CUDA (sweep-interior-small, sweep-three-bounds). NVIDIA's compiler of OpenCL
    takes more registers for it with some masks of several channels, but for the border constant; groups that
    take tiles in turn then do not all run at a time, and it is up to a third slower (sweep-interior-opencl).
    Three channels and four have a bound; of four it is faster where stores alone stream, slower where loads
    do (sweep-hints-2560).
    """
    if variant.groups == PER_PROBLEM and groups_a_unit(problem, variant, device) < _FEW_GROUPS:
        return "general"
    gains = problem.border == "constant" or problem.element.itemsize == 1
    fits = api(device) == "CUDA" or problem.border == "constant" or problem.channels in (1, NO_LOAD)
    fits |= _is_in_words(problem, device) and variant.cache_hint == "streaming_stores"
    return "specialized" if gains and (fits or variant.groups == PER_PROBLEM) else "general"


def _filter_groups(
    problem: Laplace, hint: CacheHint, pixels: Pixels, traversal: Traversal, device: DeviceInfo
) -> Groups:
    """A group for each tile, or groups that take tiles in turn.

    With these a compute unit has the same tiles in each call. On an H200 up to a quarter faster where the
    cache is to keep the source and the result goes past it, but for smaller ones; of larger ones and from
    memory up to a tenth slower (reports/examples, sweep-turns-sizes, sweep-turns-hints,
    sweep-registers-sizes, sweep-traversal-masks and sweep-traversal-edge).
    """
    is_large = problem.source_bytes >= _TURNS_SHARE * device.cache_bytes
    in_turn = hint in ("streaming", "streaming_stores") and is_large and _stays(problem, device)
    if not in_turn or _takes_many_registers(problem, hint, pixels, device):
        return PER_PROBLEM
    takes_more = all(problem.coefficients) and not _is_in_words(problem, device) and traversal == "forward"
    return _TURNS_OF_MORE if takes_more or problem.channels == NO_LOAD else _TURNS


def _takes_many_registers(problem: Laplace, hint: CacheHint, pixels: Pixels, device: DeviceInfo) -> bool:
    """Whether too few groups that take tiles in turn would run at a time: of aligned loads of two bytes an
    element, and in OpenCL of four channels of bytes where corners weigh and loads stream
    (sweep-turns-masks).
    """
    if pixels == "aligned":
        return problem.element.itemsize == _NARROW
    *_, corner = problem.coefficients
    streams = corner != 0 and hint == "streaming" and api(device) == "OpenCL"
    return streams and problem.dtype == "uint8" and problem.channels == PIXEL_WORD


def _is_in_words(problem: Laplace, device: DeviceInfo) -> bool:
    """Whether a pixel is one word of bytes that are added in half precision: 72 registers are enough then."""
    return _adds_halves(problem, device) and problem.channels == PIXEL_WORD


def _taller(variant: LaplaceVariant, device: DeviceInfo) -> Iterator[LaplaceVariant]:
    """A variant, then ever taller groups: more rows an item, more items, at last narrower groups."""
    yield variant
    while variant.rows_per_item < _MOST_ROWS:
        variant = replace(variant, rows_per_item=2 * variant.rows_per_item)
        yield variant
    while 2 * group_items(variant) <= device.max_group_size:
        variant = replace(variant, group_height=2 * variant.group_height)
        yield variant
    while variant.group_width > 1:
        width, height = variant.group_width // 2, 2 * variant.group_height
        variant = replace(variant, group_width=width, group_height=height)
        yield variant


def _fits_down(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> bool:
    return laplace_tiles(problem, variant)[1] <= max_groups_down(device)

"""What NVIDIA's compilers are told of a filter by default: the most registers, and the order of loads.

What each rule rests on is a recorded sweep, which its docstring names.
"""

from __future__ import annotations

import math

from harness.devices import DeviceInfo
from harness.kernels.geometry import api, laplace_tiles
from harness.kernels.occupancy import REGISTERS
from harness.kernels.widths import NO_LOAD, PIXEL_WORD
from harness.problems import Laplace
from harness.variants.axes import (
    BOUNDS,
    PER_PROBLEM,
    UNBOUNDED,
    LaplaceVariant,
    LoadOrder,
    Registers,
    group_items,
)

ROWS = 4
"""Rows of a GPU's work-item, but for those of small and of tall images."""
LAST_TURN = range(5, 9)
"""Groups a compute unit, rounded down, with which the last of them have much of the device to themselves: as
many as run at a time with their registers, or a few more. Of one channel."""
_ONE_CHANNEL, _THREE_CHANNELS = {"CUDA": 72, "OpenCL": 64}, 72
"""Registers of an item that filters bytes, where a bound makes for faster code. Of one channel, of three."""
_STREAMED_UINT16 = 72
"""The same of one channel of uint16 with streaming loads in turn."""
_SEVERAL_GROUPS = 2
"""Groups a compute unit from which on it does so in OpenCL."""
_GROUP = 128
"""Work-items of the groups that all these numbers count."""


def groups_a_unit(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> int:
    """Groups of the usual size that a compute unit has of an image, rounded down, whatever size they have."""
    items = math.prod(laplace_tiles(problem, variant)) * group_items(variant)
    return items // (_GROUP * max(1, device.compute_units))


def most_registers(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> Registers:
    """The bound on the registers of items that filter bytes, or uint16 in turn; others gain nothing by one.

    With a bound NVIDIA's compilers arrange the loads of a kernel otherwise: of one channel on an H100 up to a
    tenth faster, in CUDA where all neighbours weigh 1 (but in about one turn, where a fence does more), in
    OpenCL where they do not all weigh and there are several groups a compute unit; elsewhere slower. Of three
    channels on an H200 OpenCL's are up to a twelfth faster where corners weigh (sweep-three-bounds). Groups
    that take tiles in turn should all run at a time: without a bound OpenCL's take too many registers for
    that, and are up to a third slower (reports/examples, sweep-registers, sweep-registers-sizes,
    sweep-registers-loads and sweep-hints-2560).
    """
    if variant.groups != PER_PROBLEM:
        items = variant.groups * group_items(variant)
        return _most_registers_in_turn(problem, variant, items, device)
    if variant.stencil != "halves":
        return UNBOUNDED
    _, edge, corner = problem.coefficients
    if api(device) == "CUDA":
        in_one_turn = groups_a_unit(problem, variant, device) in LAST_TURN
        gains = problem.channels == 1 and edge == corner == 1 and not in_one_turn
        return _ONE_CHANNEL["CUDA"] if gains else UNBOUNDED
    if math.prod(laplace_tiles(problem, variant)) < _SEVERAL_GROUPS * device.compute_units:
        return UNBOUNDED
    if problem.channels == NO_LOAD:
        return _THREE_CHANNELS if corner else UNBOUNDED
    return _ONE_CHANNEL["OpenCL"] if problem.channels == 1 and not (edge and corner) else UNBOUNDED


def _most_registers_in_turn(
    problem: Laplace, variant: LaplaceVariant, items: int, device: DeviceInfo
) -> Registers:
    """Of bytes the most with which all ``items`` of a compute unit run at a time, where a bound does it: back
    and forth with every mask, where that is up to a sixth faster (sweep-traversal-masks).
    """
    if variant.stencil != "halves":
        return _most_registers_of_uint16(problem, variant, device)
    is_cuda, all_weigh = api(device) == "CUDA", all(problem.coefficients)
    always = problem.channels == NO_LOAD or (problem.channels == PIXEL_WORD and not is_cuda)
    always |= variant.traversal != "forward"
    if not always and is_cuda != all_weigh:
        return UNBOUNDED
    return max((bound for bound in BOUNDS if bound <= REGISTERS // items), default=UNBOUNDED)


def _most_registers_of_uint16(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> Registers:
    """The bound where groups take tiles of uint16 in turn and loads stream, too.

    At 4096x4096 an H200 takes a fifth less time so in OpenCL where corners weigh, up to a fortieth less in
    CUDA; OpenCL's plain masks take as much, or more (reports/examples, sweep-traversal-types and
    sweep-traversal-edge-types).
    """
    *_, corner = problem.coefficients
    gains = api(device) == "CUDA" or corner != 0
    is_one = problem.dtype == "uint16" and problem.channels == 1
    is_bound = device.ptx and is_one and gains and variant.cache_hint == "streaming"
    return _STREAMED_UINT16 if is_bound else UNBOUNDED


def load_order(problem: Laplace, variant: LaplaceVariant, device: DeviceInfo) -> LoadOrder:
    """Whether a fence keeps the loads of all rows together, which NVIDIA's compilers may else issue late.

    OpenCL's does so with bytes where groups take tiles in turn, CUDA's with bytes where corners weigh and all
    groups run in about one turn: from memory the fence makes these slower. Of three channels and of uint16
    neither gains (reports/examples, sweep-load-order, sweep-load-sizes, sweep-registers-loads,
    sweep-interior-small and sweep-three-bounds). OpenCL's plain masks of uint16 in turn take
    up to a fifth longer with it (sweep-fence-uint16).
    """
    if not device.ptx or variant.pixels == "async_tile":
        return "compiler"
    is_cuda, in_turn = api(device) == "CUDA", variant.groups != PER_PROBLEM
    if problem.element.is_float:
        gains = _fenced_floats_gain(problem, variant, is_cuda=is_cuda)
    elif not is_cuda:
        gains = in_turn and problem.element.itemsize == 1
    else:
        *_, corner = problem.coefficients
        # With fewer rows, as small images have, one channel is up to 2 % slower.
        few_rows = problem.channels == 1 and variant.rows_per_item < ROWS
        gains = (
            problem.element.itemsize == 1
            and problem.channels != NO_LOAD
            and corner != 0
            and variant.most_registers == UNBOUNDED
            and not (in_turn or few_rows)
            and groups_a_unit(problem, variant, device) < LAST_TURN.stop
        )
    return "fenced" if gains else "compiler"


def _fenced_floats_gain(problem: Laplace, variant: LaplaceVariant, *, is_cuda: bool) -> bool:
    """Of one channel CUDA's all do, but where loads stream in turn (fence-in-turn), and OpenCL's in turn or
    where all neighbours weigh; of four both APIs' where corners alone weigh, but not CUDA's in turn.
    """
    _, edge, _ = problem.coefficients
    in_turn = variant.groups != PER_PROBLEM
    if in_turn and not is_cuda:
        return True
    if problem.channels == PIXEL_WORD:
        return edge == 0 and not in_turn
    if problem.channels != 1:
        return False
    if is_cuda:
        return not (in_turn and variant.cache_hint == "streaming")
    return all(problem.coefficients)

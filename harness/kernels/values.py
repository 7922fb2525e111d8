"""What is known of the values of a reduction's axes beside their kernel files: one class each.

The tables are in the order in which the default of a GPU prefers their values. Those of ``finish`` are in
:mod:`harness.kernels.finish`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from harness.devices import DeviceInfo
from harness.kernels.cache_hint import gains_back_and_forth, gains_by_segments
from harness.problems import Reduction
from harness.problems.dtypes import Dtype
from harness.variants import axes
from harness.variants.axes import ReductionVariant

REDUX_CAPABILITY: Final = 80
"""The first of NVIDIA's GPUs with instructions that combine the integers of a sub-group (redux.sync)."""
TEXEL: Final = 4
"""Elements of a texel."""
CHANNEL_BYTES: Final = 4
WORD_BYTES: Final = 4
SHUFFLES: Final = ("shuffles",)
"""The file of kernels that move values between the work-items of a sub-group."""
NO_SHUFFLES: Final = "this API cannot move values inside a sub-group (warp) of this device"
"""Why a device cannot run them."""

PACKED_OPS: Final = ("min", "max", "minmax", "minmaxloc", "sum", "count_nonzero")
"""The operations that have a kernel file for whole words."""

_INSTRUCTIONS: Final = frozenset({np.minimum, np.maximum, np.add})
"""What instructions of a sub-group, and atomics, compute: ``combine_lanes`` and ``combine_into`` in ops/."""


def channel(element: Dtype) -> str:
    """The type of 32 bits as which a texel's channels are read."""
    return "float" if element.is_float else "int" if element.lowest.startswith("(-") else "uint"


def has_instructions(problem: Reduction) -> bool:
    """Whether GPUs have instructions that combine the values of partial results.

    No instruction of a sub-group adds floats, and atomics would add them in another order each time.
    """
    return _INSTRUCTIONS.issuperset(problem.parts.combine.values()) and not problem.adds_floats


def atomic_bits(problem: Reduction) -> int:
    """Bits of the atomics that combine partial results as they are: 32 or 64; 0 where none do."""
    fields = problem.partial_fields
    if not has_instructions(problem) or "place" in fields.values():
        # A place is found by comparing values, unless a key holds both.
        return 0
    return 8 * max(problem.partial_dtype[name].itemsize for name in fields)


class Value:
    """A value that every device and problem can have."""

    def is_preferred(self, problem: Reduction, device: DeviceInfo) -> bool:
        """Whether the default of a GPU prefers it to those that come after it."""
        return True

    def violations(self, variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> Iterator[str]:
        """Why ``device`` cannot have this value in ``variant`` on ``problem``; nothing where it can."""
        return iter(())


class _Image(Value):
    def violations(self, variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> Iterator[str]:
        if variant.vector_width != TEXEL:
            yield f"a texel has {TEXEL} elements, not {variant.vector_width}"
        if variant.packing == "packed":
            yield "texels are read element by element, not packed"
        if problem.element.itemsize > CHANNEL_BYTES:
            yield f"no channel of a texel has the 64 bits of {problem.dtype}"
        if problem.size % TEXEL:
            yield f"{problem.size} elements are no whole number of texels of {TEXEL}"
        if variant.cache_hint != "none":
            yield "texels are loaded without a hint to the caches"
        if problem.size > TEXEL * device.max_texels:
            yield f"{-(-problem.size // TEXEL)} texels are over the device's limit of {device.max_texels}"


class _BackAndForth(Value):
    def is_preferred(self, problem: Reduction, device: DeviceInfo) -> bool:
        return gains_back_and_forth(problem, device)

    def violations(self, variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> Iterator[str]:
        if problem.parts.places:
            yield "the first of several equal values is found by reading forward"


class _Segments(_BackAndForth):
    def is_preferred(self, problem: Reduction, device: DeviceInfo) -> bool:
        return gains_by_segments(problem, device)

    def violations(self, variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(variant, problem, device)
        if variant.groups == axes.PER_PROBLEM:
            yield "a group for each part reads it at once: there are no segments; give a number of groups"


TRAVERSALS: Final[dict[axes.ReductionTraversal, Value]] = {
    "back_and_forth": _BackAndForth(),
    "segments": _Segments(),
    "forward": Value(),
}
STORAGES: Final[dict[axes.Storage, Value]] = {"buffer": Value(), "image": _Image()}


class Tree(Value):
    """Local memory holds the partial results of all work-items. ``shared``: files that it needs before those
    of the operation. ``uses_words``: whether it holds words in their place, which atomics combine.
    """

    shared: tuple[str, ...] = ()
    uses_words = False

    def scratch_partials(self, variant: ReductionVariant, device: DeviceInfo) -> int:
        """Partial results that a group keeps in local memory."""
        return variant.group_size

    def uses_redux(self, problem: Reduction, device: DeviceInfo) -> bool:
        """Whether instructions combine the partial results of a sub-group, in place of shuffles."""
        return False


class _SubGroup(Tree):
    """Sub-groups combine theirs by shuffles; local memory holds one for each sub-group."""

    shared = SHUFFLES

    def violations(self, variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> Iterator[str]:
        if not device.shuffles:
            yield NO_SHUFFLES

    def scratch_partials(self, variant: ReductionVariant, device: DeviceInfo) -> int:
        return -(-variant.group_size // max(1, device.sub_group_width))

    def uses_redux(self, problem: Reduction, device: DeviceInfo) -> bool:
        return device.compute_capability >= REDUX_CAPABILITY and has_instructions(problem)


class _LocalAtomics(Tree):
    """Atomics combine them in words of local memory: values of 32 bits, and sums of integers in parts."""

    shared = ("reduction/local_words",)
    uses_words = True

    def is_preferred(self, problem: Reduction, device: DeviceInfo) -> bool:
        # NVIDIA's assembler combines a sub-group by one instruction before. Other GPUs were not measured.
        return device.compute_capability >= REDUX_CAPABILITY

    def violations(self, variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> Iterator[str]:
        bits = atomic_bits(problem)
        is_in_parts = np.add in problem.parts.combine.values()
        if not bits or (bits > 8 * WORD_BYTES and not is_in_parts):
            yield f"no atomics on 32 bits combine the partial results of {problem.op} on {problem.dtype}"

    def scratch_partials(self, variant: ReductionVariant, device: DeviceInfo) -> int:
        # The three words of a sum are no more than three partial results of any kind.
        return 3


TREES: Final[dict[axes.Tree, Tree]] = {
    # On an H200 up to 5 % faster than sub_group, up to 8 % than quad (reports/examples, sweep-local-atomics).
    "local_atomics": _LocalAtomics(),
    "sub_group": _SubGroup(),
    # Half as many barriers: on an H200 a fifth faster than sequential (reports/examples, h200-modern).
    "quad": Tree(),
    "sequential": Tree(),
    "unrolled": Tree(),
    "half_store": Tree(),
    "naive": Tree(),
}


class Packing(Value):
    """How a work-item accumulates: by an operation's files of the packings ``accumulates_by``."""

    finds_positions = False
    """Whether a work-item keeps positions of vectors, in which the element is looked for at the end."""

    def __init__(self, *accumulates_by: axes.Packing) -> None:
        self.accumulates_by = accumulates_by


class _Packed(Packing):
    finds_positions = True

    def violations(self, variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> Iterator[str]:
        element, width = problem.element, variant.vector_width
        # Words are added up as they are: no term of an element is.
        if problem.parts.kernel not in PACKED_OPS or problem.parts.adds_others:
            yield f"{problem.op} is computed element by element"
        if element.is_float or element.itemsize >= WORD_BYTES:
            yield f"words hold several integers of 8 or 16 bits, not of {problem.dtype}"
        if width * element.itemsize < WORD_BYTES:
            yield f"{width} of {problem.dtype} do not fill a word of 32 bits"


PACKINGS: Final[dict[axes.Packing, Packing]] = {
    "packed": _Packed("packed"),
    "scalar": Packing("scalar"),
    # What is left of the loads in flight is accumulated element by element.
    "batched": Packing("scalar", "batched"),
}

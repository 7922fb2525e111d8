"""How the groups' partial results become one: each finish is one class, with all that is known of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Final

import numpy as np

from harness.devices import DeviceInfo
from harness.kernels.geometry import turn_of
from harness.kernels.plan import (
    Argument,
    Buffer,
    KernelPlan,
    PlannedLaunch,
    Scalar,
    Source,
    SourceImageBuffer,
)
from harness.kernels.values import Value, atomic_bits
from harness.problems import Reduction
from harness.problems.dtypes import integer_range
from harness.variants import axes
from harness.variants.axes import ReductionVariant

MERGED_PER_ITEM = 16
"""Partial results that a work-item of a merging launch combines, at the most but for the last launch."""

PLACES = 8
"""Buffers that take turns as the answer. The speed of atomics depends on where in a GPU's cache they go: the
time of a small reduction is not to depend on what one allocation got.
"""
PLACE_BYTES = 4096
"""From one answer to the next, so that not all lie in one part of the cache; every partial result fits."""

_ZERO: Final = bytes(1)
_UNORDERED: Final = "this API cannot order the work-groups of one launch on this device"


class Finish(Value, ABC):
    """What a finish adds to the plan of a reduction, and what it asks of a GPU's default."""

    is_combined_at_once: ClassVar[bool] = False
    """Whether every group adds its partial result to the answer by itself, and none waits for the others."""
    local_bytes: ClassVar[int] = 0
    """Of local memory that a group takes for it (FINISH_LOCALS)."""

    @abstractmethod
    def plan(self, problem: Reduction, variant: ReductionVariant, groups: int) -> KernelPlan:
        """The plan of ``groups`` work-groups that end so, with the files of this finish only."""

    def atomic_bits(self, problem: Reduction) -> int:
        """Bits of the atomics that combine the partial results in memory: 32 or 64; 0 where none does."""
        return 0

    def group_size(self, problem: Reduction) -> int:
        """The fewest work-items of a group in a GPU's default."""
        return 256

    def far_vectors(self, problem: Reduction) -> int:
        """The most vectors that a work-item reads in a GPU's default where the source lies in memory.

        With fewer, what all read at the same time lies nearer together: on an H200 a gibibyte takes 2 % less
        time with 32 than with 250. But more groups leave more to combine: with flags 64 take up to 1 % less,
        and where four fields have them 3 to 6 % more (reports/examples, sweep-more-groups).
        """
        return 64 * len(problem.partial_fields)


def _reduce(problem: Reduction, variant: ReductionVariant, groups: int, *buffers: str) -> PlannedLaunch:
    source = SourceImageBuffer() if variant.storage == "image" else Source()
    turn = turn_of(problem, variant, groups)
    arguments: tuple[Argument, ...] = (source, Scalar(problem.size), *turn, *map(Buffer, buffers))
    return PlannedLaunch("reduce", (groups,), (variant.group_size,), arguments)


class _Host(Finish):
    """The host combines the partial results when it fetches them."""

    def plan(self, problem: Reduction, variant: ReductionVariant, groups: int) -> KernelPlan:
        return KernelPlan(
            files=("reduction/finish/host",),
            launches=(_reduce(problem, variant, groups, "partials"),),
            buffers={"partials": groups * problem.partial_dtype.itemsize},
            result="partials",
            result_dtype=problem.partial_dtype,
            result_count=groups,
            result_location="parts" if groups > 1 else "device",
        )


class _Relaunch(_Host):
    """Further launches combine what the first one leaves as for the host."""

    def plan(self, problem: Reduction, variant: ReductionVariant, groups: int) -> KernelPlan:
        first = super().plan(problem, variant, groups)
        launches, buffers = list(first.launches), dict(first.buffers)
        result, count = first.result, groups
        while count > 1:
            merged = -(-count // (variant.group_size * MERGED_PER_ITEM))
            name = f"merged_{merged}"
            merge = (Buffer(result), Scalar(count, "uint32"), Buffer(name))
            launches.append(PlannedLaunch("merge", (merged,), (variant.group_size,), merge))
            buffers[name] = merged * problem.partial_dtype.itemsize
            result, count = name, merged
        return replace(
            first,
            files=(*first.files, "reduction/finish/relaunch"),
            launches=tuple(launches),
            buffers=buffers,
            result=result,
            result_count=1,
            result_location="device",
        )


class _LastGroup(Finish):
    """The last group to take a ticket combines them."""

    local_bytes = 4

    def violations(self, variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> Iterator[str]:
        if not device.orders_groups:
            yield _UNORDERED

    def plan(self, problem: Reduction, variant: ReductionVariant, groups: int) -> KernelPlan:
        partial_bytes = problem.partial_dtype.itemsize
        return KernelPlan(
            files=("reduction/ticket", "reduction/finish/last_group"),
            launches=(_reduce(problem, variant, groups, "partials", "tickets", "answer"),),
            buffers={"partials": groups * partial_bytes, "tickets": 4, "answer": partial_bytes},
            result="answer",
            result_dtype=problem.partial_dtype,
            initial={"tickets": _ZERO},
        )


class _Flagged(Finish):
    """The last group to start combines them, waiting for the flags of the others.

    On an H200 up to a fifth faster than a fence and a ticket (reports/examples, sweep-finish).
    """

    def violations(self, variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> Iterator[str]:
        if not device.awaits_groups:
            yield "a work-group might keep those it waits for from running on this device"
        elif not device.atomics64:
            yield "the device has no atomics on 64 bits"

    def plan(self, problem: Reduction, variant: ReductionVariant, groups: int) -> KernelPlan:
        partial_bytes = problem.partial_dtype.itemsize
        # Two words of 64 bits for each 64 bits of a partial result; a buffer cannot be empty.
        words = max(1, groups - 1) * 2 * -(-partial_bytes // 8)
        return KernelPlan(
            files=("reduction/finish/flagged",),
            launches=(_reduce(problem, variant, groups, "answer", "published"),),
            buffers={"answer": partial_bytes, "published": 8 * words},
            result="answer",
            result_dtype=problem.partial_dtype,
            initial={"published": _ZERO},
        )

    def group_size(self, problem: Reduction) -> int:
        # Several fields are so many flags a group that half as many groups are 4 % faster (sweep-places).
        return 512 if len(problem.partial_fields) > 1 else 256


class _ByAtomics(Finish):
    def violations(self, variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> Iterator[str]:
        if not atomic_bits(problem):
            yield f"no atomics combine the partial results of {problem.op} on {problem.dtype}"
        elif self.atomic_bits(problem) == 64 and not device.atomics64:
            yield "the device has no atomics on 64 bits"

    def atomic_bits(self, problem: Reduction) -> int:
        return atomic_bits(problem)


class _Atomic(_ByAtomics):
    """Atomics combine them, and the last group to take a ticket moves the result into the answer."""

    def violations(self, variant: ReductionVariant, problem: Reduction, device: DeviceInfo) -> Iterator[str]:
        if not device.orders_groups:
            yield _UNORDERED
        yield from super().violations(variant, problem, device)

    def plan(self, problem: Reduction, variant: ReductionVariant, groups: int) -> KernelPlan:
        partial_bytes = problem.partial_dtype.itemsize
        return KernelPlan(
            files=("reduction/ticket", "reduction/finish/atomic"),
            launches=(_reduce(problem, variant, groups, "answer", "tickets", "combined"),),
            buffers={"answer": partial_bytes, "tickets": 4, "combined": partial_bytes},
            result="answer",
            result_dtype=problem.partial_dtype,
            initial={"tickets": _ZERO, "combined": _identity(problem)},
        )


class _Alternating(_ByAtomics):
    """Atomics combine them in answers that take turns: none of the groups waits.

    On an H200 up to a fourth faster than flags where the source is small (sweep-alternating).
    """

    is_combined_at_once = True

    def plan(self, problem: Reduction, variant: ReductionVariant, groups: int) -> KernelPlan:
        places = ("answer", "spare", *(f"spare_{place}" for place in range(2, PLACES)))
        return KernelPlan(
            files=("reduction/finish/alternating",),
            launches=(_reduce(problem, variant, groups, "answer", "spare"),),
            buffers=dict.fromkeys(places, PLACE_BYTES),
            result="answer",
            result_dtype=problem.partial_dtype,
            initial=dict.fromkeys(places, _identity(problem)),
            ring=places,
        )

    def far_vectors(self, problem: Reduction) -> int:
        return 32


def _identity(problem: Reduction) -> bytes:
    """The partial result of no element, as the kernels' ``identity()``."""
    identity, ordered = np.zeros(1, problem.partial_dtype), problem.ordered
    least, greatest = (-np.inf, np.inf) if ordered.is_float else integer_range(ordered.name)
    for name, ufunc in problem.parts.combine.items():
        if ufunc is not np.add:
            identity[name] = greatest if ufunc is np.minimum else least
    return identity.tobytes()


FINISHES: Final[dict[axes.Finish, Finish]] = {
    "alternating": _Alternating(),
    "flagged": _Flagged(),
    "last_group": _LastGroup(),
    "relaunch": _Relaunch(),
    "atomic": _Atomic(),
    "host": _Host(),
}
"""In the order in which the default of a GPU prefers them."""

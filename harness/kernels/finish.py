"""How the groups' partial results become one: launches, buffers and pieces of kernel of each finish."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from harness.devices import ResultLocation
from harness.kernels.plan import Argument, Buffer, PlannedLaunch, Scalar, Source
from harness.problems import Reduction
from harness.problems.dtypes import integer_range
from harness.variants.axes import ReductionVariant

MERGED_PER_ITEM = 16
"""Partial results that a work-item of a merging launch combines, at the most but for the last launch."""

PLACES = 8
"""Answers that take turns. Where in a GPU's cache an answer lies makes its atomics, and with them a small
reduction, faster or slower: a call's time shall not hang on the place that one allocation got."""
PLACE_BYTES = 4096
"""From one answer to the next, so that not all lie in one part of the cache; every partial result fits."""

BY_ATOMICS: Final = frozenset({"atomic", "alternating"})
"""The finishes in which atomics combine partial results in memory."""
_INSTRUCTIONS: Final = frozenset({np.minimum, np.maximum, np.add})
"""What instructions of a sub-group, and atomics, compute: ``combine_lanes`` and ``combine_into`` in ops/."""
_ZERO: Final = bytes(1)


@dataclass(frozen=True, slots=True)
class Finishing:
    """What a finish takes: the fields are those of :class:`harness.kernels.plan.Plan`; ``pieces`` are its
    files of the source.
    """

    pieces: tuple[str, ...]
    launches: tuple[PlannedLaunch, ...]
    buffers: Mapping[str, int]
    result: str
    result_count: int = 1
    result_location: ResultLocation = "device"
    initial: Mapping[str, bytes] = field(default_factory=dict)
    ring: tuple[str, ...] = ()


def finishing(problem: Reduction, variant: ReductionVariant, groups: int) -> Finishing:
    """The finish of ``variant`` after ``groups`` work-groups have reduced the source."""
    return _FINISHES[variant.finish](problem, variant, groups)


def has_instructions(problem: Reduction) -> bool:
    """Whether GPUs have instructions that combine the values of partial results. None of a sub-group adds
    floats; of memory there is one, but it would add them in another order each time.
    """
    return _INSTRUCTIONS.issuperset(problem.parts.combine.values()) and not problem.adds_floats


def combines_by_atomics(problem: Reduction) -> bool:
    """Whether atomics can combine partial results: not with positions, unless keys hold them."""
    return has_instructions(problem) and "place" not in problem.partial_fields.values()


def atomic_bits(problem: Reduction) -> int:
    """Bits of the atomics that combine a problem's partial results: 32 or 64."""
    return 8 * max(problem.partial_dtype[name].itemsize for name in problem.partial_fields)


def _reduce(variant: ReductionVariant, groups: int, *arguments: Argument, size: int) -> PlannedLaunch:
    source = Source(is_image=variant.storage == "image")
    return PlannedLaunch("reduce", (groups,), (variant.group_size,), (source, Scalar(size), *arguments))


def _on_host(problem: Reduction, variant: ReductionVariant, groups: int) -> Finishing:
    return Finishing(
        pieces=("finish/host",),
        launches=(_reduce(variant, groups, Buffer("partials"), size=problem.size),),
        buffers={"partials": groups * problem.partial_dtype.itemsize},
        result="partials",
        result_count=groups,
        result_location="parts" if groups > 1 else "device",
    )


def _relaunch(problem: Reduction, variant: ReductionVariant, groups: int) -> Finishing:
    """What is merged by a launch is left as for the host."""
    first = _on_host(problem, variant, groups)
    launches, buffers = list(first.launches), dict(first.buffers)
    result, count = first.result, groups
    while count > 1:
        merged = -(-count // (variant.group_size * MERGED_PER_ITEM))
        name = f"merged_{merged}"
        merge = (Buffer(result), Scalar(count, "uint32"), Buffer(name))
        launches.append(PlannedLaunch("merge", (merged,), (variant.group_size,), merge))
        buffers[name] = merged * problem.partial_dtype.itemsize
        result, count = name, merged
    return Finishing((*first.pieces, "finish/relaunch"), tuple(launches), buffers, result)


def _last_group(problem: Reduction, variant: ReductionVariant, groups: int) -> Finishing:
    arguments = (Buffer("partials"), Buffer("tickets"), Buffer("answer"))
    partial_bytes = problem.partial_dtype.itemsize
    return Finishing(
        pieces=("ticket", "finish/last_group"),
        launches=(_reduce(variant, groups, *arguments, size=problem.size),),
        buffers={"partials": groups * partial_bytes, "tickets": 4, "answer": partial_bytes},
        result="answer",
        initial={"tickets": _ZERO},
    )


def _atomic(problem: Reduction, variant: ReductionVariant, groups: int) -> Finishing:
    arguments = (Buffer("answer"), Buffer("tickets"), Buffer("combined"))
    partial_bytes = problem.partial_dtype.itemsize
    return Finishing(
        pieces=("ticket", "finish/atomic"),
        launches=(_reduce(variant, groups, *arguments, size=problem.size),),
        buffers={"answer": partial_bytes, "tickets": 4, "combined": partial_bytes},
        result="answer",
        initial={"tickets": _ZERO, "combined": _identity(problem)},
    )


def _flagged(problem: Reduction, variant: ReductionVariant, groups: int) -> Finishing:
    partial_bytes = problem.partial_dtype.itemsize
    # Two words of 64 bits for each 64 of a partial result; memory of no size there is none.
    words = max(1, groups - 1) * 2 * -(-partial_bytes // 8)
    return Finishing(
        pieces=("finish/flagged",),
        launches=(_reduce(variant, groups, Buffer("answer"), Buffer("published"), size=problem.size),),
        buffers={"answer": partial_bytes, "published": 8 * words},
        result="answer",
        initial={"published": _ZERO},
    )


def _alternating(problem: Reduction, variant: ReductionVariant, groups: int) -> Finishing:
    places = ("answer", "spare", *(f"spare_{place}" for place in range(2, PLACES)))
    return Finishing(
        pieces=("finish/alternating",),
        launches=(_reduce(variant, groups, Buffer("answer"), Buffer("spare"), size=problem.size),),
        buffers=dict.fromkeys(places, PLACE_BYTES),
        result="answer",
        initial=dict.fromkeys(places, _identity(problem)),
        ring=places,
    )


def _identity(problem: Reduction) -> bytes:
    """The partial result of no element, as the kernels' ``identity()``."""
    identity, ordered = np.zeros(1, problem.partial_dtype), problem.ordered
    least, greatest = (-np.inf, np.inf) if ordered.is_float else integer_range(ordered.name)
    for name, ufunc in problem.parts.combine.items():
        if ufunc is not np.add:
            identity[name] = greatest if ufunc is np.minimum else least
    return identity.tobytes()


_FINISHES: Final[dict[str, Callable[[Reduction, ReductionVariant, int], Finishing]]] = {
    "relaunch": _relaunch,
    "host": _on_host,
    "last_group": _last_group,
    "flagged": _flagged,
    "alternating": _alternating,
    "atomic": _atomic,
}

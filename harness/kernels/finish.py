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

_IN_CELLS: Final[dict[np.ufunc, str]] = {np.minimum: "LEAST", np.maximum: "GREATEST", np.add: "ADDED"}
"""How the kernels combine a field into a cell of memory by atomics."""
_ZERO: Final = bytes(1)


@dataclass(frozen=True, slots=True)
class Finishing:
    """What a finish takes: the fields are those of :class:`harness.kernels.plan.Plan`; ``pieces`` and
    ``macros`` are its part of the source.
    """

    pieces: tuple[str, ...]
    launches: tuple[PlannedLaunch, ...]
    buffers: Mapping[str, int]
    result: str
    result_count: int = 1
    result_location: ResultLocation = "device"
    initial: Mapping[str, bytes] = field(default_factory=dict)
    ring: tuple[str, ...] = ()
    macros: Mapping[str, str | int] = field(default_factory=dict)


def finishing(problem: Reduction, variant: ReductionVariant, groups: int) -> Finishing:
    """The finish of ``variant`` after ``groups`` work-groups have reduced the source."""
    return _FINISHES[variant.finish](problem, variant, groups)


def cell_fields(problem: Reduction) -> dict[str, str]:
    """The fields of a partial result with how atomics combine each; empty where they cannot combine all."""
    found = _combined_in_memory(problem)
    integers = all(problem.partial_dtype[name].kind in "iu" for name in found)
    return found if integers else {}


def alternating_fields(problem: Reduction) -> dict[str, str]:
    """As :func:`cell_fields`, where a field stays what it is: of floats the bits are compared. Their sums are
    not: added in another order each time, they would differ.
    """
    found = _combined_in_memory(problem)
    floats = {name for name in found if problem.partial_dtype[name].kind == "f"}
    return {} if any(found[name] == "ADDED" for name in floats) else found


def _combined_in_memory(problem: Reduction) -> dict[str, str]:
    parts = problem.parts
    fields = problem.partial_fields
    kinds = {name: _IN_CELLS.get(parts.combine[name]) for name in fields if name in parts.combine}
    found = {name: kind for name, kind in kinds.items() if kind}
    return found if len(found) == len(fields) else {}


def cell_bits(problem: Reduction) -> int:
    """Bits of the atomics that combine a problem's partial results: 32 or 64."""
    names = problem.partial_fields
    return max(32, *(8 * problem.partial_dtype[name].itemsize for name in names))


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
    arguments = (Buffer("answer"), Buffer("tickets"), Buffer("cells"))
    bits, kinds = cell_bits(problem), cell_fields(problem)
    fields = (f"FIELD({at}, {name}, {kind})" for at, (name, kind) in enumerate(kinds.items()))
    cells: dict[str, str | int] = {
        "CELL": {32: "uint", 64: "ulong"}[bits],
        "CELL_BITS": bits,
        "CELL_LOWEST": problem.ordered.lowest,
        "CELL_HIGHEST": problem.ordered.highest,
        "CELL_FIELDS": " ".join(fields),
    }
    return Finishing(
        pieces=("ticket", "finish/atomic"),
        launches=(_reduce(variant, groups, *arguments, size=problem.size),),
        buffers={"answer": problem.partial_dtype.itemsize, "tickets": 4, "cells": len(kinds) * bits // 8},
        result="answer",
        initial={"tickets": _ZERO, "cells": _ZERO},
        macros=cells,
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
    kinds = alternating_fields(problem)
    identity = _identity(problem, kinds)
    places = ("answer", "spare", *(f"spare_{place}" for place in range(2, PLACES)))
    cells: dict[str, str | int] = {
        "CELL": problem.ordered.kept,
        "CELL_BITS": cell_bits(problem),
        "CELL_IS_FLOAT": int(any(problem.partial_dtype[name].kind == "f" for name in kinds)),
        "CELL_FIELDS": " ".join(f"FIELD({name}, {kind})" for name, kind in kinds.items()),
    }
    return Finishing(
        pieces=("finish/alternating",),
        launches=(_reduce(variant, groups, Buffer("answer"), Buffer("spare"), size=problem.size),),
        buffers=dict.fromkeys(places, PLACE_BYTES),
        result="answer",
        initial=dict.fromkeys(places, identity),
        ring=places,
        macros=cells,
    )


def _identity(problem: Reduction, kinds: Mapping[str, str]) -> bytes:
    """The partial result of no element, as the kernels' ``identity()``."""
    identity, ordered = np.zeros(1, problem.partial_dtype), problem.ordered
    for name, kind in kinds.items():
        if kind != "ADDED":
            least, greatest = (-np.inf, np.inf) if ordered.is_float else integer_range(ordered.name)
            identity[name] = greatest if kind == "LEAST" else least
    return identity.tobytes()


_FINISHES: Final[dict[str, Callable[[Reduction, ReductionVariant, int], Finishing]]] = {
    "relaunch": _relaunch,
    "host": _on_host,
    "last_group": _last_group,
    "flagged": _flagged,
    "alternating": _alternating,
    "atomic": _atomic,
}

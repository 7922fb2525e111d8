"""The plan of a reduction: which pieces of kernel, how many groups, how partial results become one."""

from __future__ import annotations

from typing import Final

import numpy as np

from backends.base import DeviceInfo
from harness.plans import Buffer, Plan, PlannedLaunch, Scalar, Source
from harness.problems import Reduction
from harness.reduction_limits import scratch_partials
from harness.variants import PER_PROBLEM, Groups, ReductionVariant

_FINISH_PIECES = {"relaunch": ("host", "relaunch")}
"""Where a finish is more than the piece of its name: what is merged by a launch is left as for the host."""

_REDUX: Final[dict[np.ufunc, str]] = {np.minimum: "min", np.maximum: "max"}
"""What redux.sync, an instruction of NVIDIA's GPUs, does across a wave with integers of 32 bits or less."""
_REDUX_CAPABILITY = 80

MERGED_PER_ITEM = 16
"""Partial results that a work-item of a merging launch folds, at the most but for the last launch."""


def plan(problem: Reduction, variant: ReductionVariant, device: DeviceInfo) -> Plan:
    """One launch over the source; with finish ``relaunch``, more merge the partial results."""
    groups = num_groups(
        problem.size,
        variant.vector_width * variant.loads_in_flight,
        variant.group_size,
        variant.groups,
        device,
    )
    partial_bytes = problem.partial_dtype.itemsize
    arguments = (Source(), Scalar(problem.size), Buffer("partials"))
    launches = [PlannedLaunch("reduce", (groups,), (variant.group_size,), arguments)]
    buffers = {"partials": groups * partial_bytes}
    result, count = "partials", groups
    zeroed = frozenset[str]()
    if variant.finish == "last_group":
        finishing = (*arguments, Buffer("tickets"), Buffer("answer"))
        launches = [PlannedLaunch("reduce", (groups,), (variant.group_size,), finishing)]
        buffers |= {"tickets": 4, "answer": partial_bytes}
        result, count, zeroed = "answer", 1, frozenset({"tickets"})
    elif variant.finish == "relaunch":
        while count > 1:
            merged = -(-count // (variant.group_size * MERGED_PER_ITEM))
            name = f"merged_{merged}"
            merge = (Buffer(result), Scalar(count, "uint32"), Buffer(name))
            launches.append(PlannedLaunch("merge", (merged,), (variant.group_size,), merge))
            buffers[name] = merged * partial_bytes
            result, count = name, merged
    return Plan(
        files=_files(problem, variant),
        macros=_macros(problem, variant, device),
        buffers=buffers,
        launches=tuple(launches),
        result=result,
        result_dtype=problem.partial_dtype,
        result_count=count,
        result_location="device",
        zeroed=zeroed,
    )


def num_groups(size: int, elements_per_item: int, group_size: int, groups: Groups, device: DeviceInfo) -> int:
    """Work-groups for ``size`` elements: what the problem needs, at most ``groups`` x compute units."""
    needed = max(1, -(-size // (elements_per_item * group_size)))
    return needed if groups == PER_PROBLEM else min(needed, groups * device.compute_units)


def _files(problem: Reduction, variant: ReductionVariant) -> tuple[str, ...]:
    folder = "reduction"
    return (
        "dialect",
        "vector",
        "words",
        f"{folder}/compare/{variant.compare}",
        f"{folder}/load/{variant.storage}",
        f"{folder}/ops/{problem.op}",
        f"{folder}/packing/{variant.packing}",
        f"{folder}/packing/{variant.packing}/{problem.op}",
        f"stride/{variant.stride}",
        f"{folder}/tree/{variant.tree}",
        *(f"{folder}/finish/{piece}" for piece in _FINISH_PIECES.get(variant.finish, (variant.finish,))),
        f"{folder}/reduce",
    )


def _macros(problem: Reduction, variant: ReductionVariant, device: DeviceInfo) -> dict[str, str | int]:
    element = problem.element
    totals = {"int64": "long", "uint64": "ulong", "float64": "double"}
    redux = _redux_fields(problem, device)
    return {
        "ELEMENT": element.kernel,
        "STORED": element.stored,
        "STORED_IS_HALF": int(element.name == "float16"),
        "ELEMENT_IS_FLOAT": int(element.is_float),
        "ELEMENT_BITS": 8 * element.kernel_numpy.itemsize,
        "COMPUTE_CAPABILITY": device.compute_capability,
        "LOWEST": element.lowest,
        "HIGHEST": element.highest,
        "TOTAL": totals[element.total],
        "VECTOR_WIDTH": variant.vector_width,
        "VECTOR_BYTES": variant.vector_width * element.itemsize,
        "LOADS_IN_FLIGHT": variant.loads_in_flight,
        "FINDS_PLACES": int(bool(problem.parts.places)),
        "GROUP_SIZE": variant.group_size,
        "WAVE_WIDTH": max(1, device.wave_width),
        "SCRATCH_PARTIALS": scratch_partials(variant, device),
        "USES_REDUX": int(bool(redux)),
        "REDUX_FIELDS": redux,
    }


def _redux_fields(problem: Reduction, device: DeviceInfo) -> str:
    """The fields of a partial result with what redux.sync does to each; empty where it cannot serve all."""
    element, parts = problem.element, problem.parts
    suits = not element.is_float and element.itemsize <= 4 and set(parts.fields.values()) == {"element"}
    if not suits or device.compute_capability < _REDUX_CAPABILITY:
        return ""
    suffix = "s32" if element.lowest.startswith("(-") else "u32"
    return " ".join(f'FIELD({name}, "{_REDUX[ufunc]}.{suffix}")' for name, ufunc in parts.combine.items())

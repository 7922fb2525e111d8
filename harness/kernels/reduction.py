"""The plan of a reduction: which pieces of kernel, how many groups, how partial results become one."""

from __future__ import annotations

from typing import Final

from harness.devices import DeviceInfo
from harness.kernels.finish import BY_ATOMICS, atomic_bits, finishing, has_instructions
from harness.kernels.geometry import num_groups
from harness.kernels.plan import Plan
from harness.kernels.reduction_requirements import scratch_partials
from harness.problems import Reduction
from harness.problems.dtypes import Dtype
from harness.variants.axes import ReductionVariant

_REDUX_CAPABILITY: Final = 80
"""From which on NVIDIA's GPUs have instructions that combine the integers of a sub-group (redux.sync)."""


def plan(problem: Reduction, variant: ReductionVariant, device: DeviceInfo) -> Plan:
    """One launch over the source, and what the variant's finish adds."""
    groups = num_groups(problem.size, variant, device)
    finish = finishing(problem, variant, groups)
    return Plan(
        files=_files(problem, variant, device, finish.pieces),
        macros=_macros(problem, variant, device),
        buffers=finish.buffers,
        launches=finish.launches,
        result=finish.result,
        result_dtype=problem.partial_dtype,
        result_count=finish.result_count,
        result_location=finish.result_location,
        initial=finish.initial,
        ring=finish.ring,
    )


def _files(
    problem: Reduction, variant: ReductionVariant, device: DeviceInfo, finish: tuple[str, ...]
) -> tuple[str, ...]:
    folder = "reduction"
    return (
        "dialect",
        "vector",
        "words",
        f"{folder}/compare/{variant.compare}",
        f"{folder}/storage/{variant.storage}",
        *((f"{folder}/terms/{problem.parts.term}",) if problem.parts.term else ()),
        *((f"{folder}/redux",) if _uses_redux(problem, variant, device) else ()),
        *((f"{folder}/atomics",) if variant.finish in BY_ATOMICS else ()),
        f"{folder}/ops/{problem.parts.kernel}",
        f"{folder}/packing/{variant.packing}",
        *(f"{folder}/packing/{packing}/{problem.parts.kernel}" for packing in _folds(variant.packing)),
        f"stride/{variant.stride}",
        f"{folder}/tree/{variant.tree}",
        *(f"{folder}/{piece}" for piece in finish),
        f"{folder}/reduce",
    )


def _folds(packing: str) -> tuple[str, ...]:
    """The packings whose pieces a work-item folds with: batches, and what is left of its loads one by one."""
    return ("scalar", "batched") if packing == "batched" else (packing,)


def _macros(problem: Reduction, variant: ReductionVariant, device: DeviceInfo) -> dict[str, str | int]:
    element = problem.element
    totals = {"int64": "long", "uint64": "ulong", "float64": "double"}
    return {
        "ELEMENT": element.kernel,
        "KEPT": element.kept,
        "STORED": element.stored,
        "CHANNEL": _channel(element),
        "STORED_IS_HALF": int(element.name == "float16"),
        "ELEMENT_IS_FLOAT": int(element.is_float),
        "ELEMENT_BITS": 8 * element.kernel_numpy.itemsize,
        "COMPUTE_CAPABILITY": device.compute_capability,
        "LOWEST": element.lowest,
        "HIGHEST": element.highest,
        "TOTAL": totals[problem.total],
        "VECTOR_WIDTH": variant.vector_width,
        "VECTOR_BYTES": variant.vector_width * element.itemsize,
        "LOADS_IN_FLIGHT": variant.loads_in_flight,
        # Packed, a work-item keeps the places of vectors only.
        "FINDS_PLACES": int(bool(problem.parts.places) and variant.packing == "packed"),
        "PLACE": problem.place.kernel,
        "IS_KEYED": int(problem.is_keyed),
        "GROUP_SIZE": variant.group_size,
        "SUB_GROUP_WIDTH": max(1, device.wave_width),
        "SCRATCH_PARTIALS": scratch_partials(variant, device),
        "USES_REDUX": int(_uses_redux(problem, variant, device)),
        "ATOMIC_BITS": atomic_bits(problem) if variant.finish in BY_ATOMICS else 0,
    }


def _channel(element: Dtype) -> str:
    """The type of 32 bits as which a texel's channels are read."""
    return "float" if element.is_float else "int" if element.lowest.startswith("(-") else "uint"


def _uses_redux(problem: Reduction, variant: ReductionVariant, device: DeviceInfo) -> bool:
    """Whether instructions combine the partial results of a sub-group, in place of shuffles."""
    can = device.compute_capability >= _REDUX_CAPABILITY and has_instructions(problem)
    return can and variant.tree == "sub_group"

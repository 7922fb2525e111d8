"""The plan of a reduction: which pieces of kernel, how many groups, how partial results become one."""

from __future__ import annotations

from dataclasses import replace

from harness.devices import DeviceInfo
from harness.kernels.cache_hint import HINTS
from harness.kernels.finish import FINISHES
from harness.kernels.geometry import SEGMENTS_AN_END, num_groups
from harness.kernels.occupancy import MOST_REGISTERS, REGISTERS
from harness.kernels.plan import KernelPlan
from harness.kernels.values import PACKINGS, TREES, channel
from harness.problems import Reduction
from harness.variants.axes import PER_PROBLEM, ReductionVariant

_REGISTER_STEP, _FEWEST_REGISTERS = 8, 32
"""Of a work-item: NVIDIA's GPUs give them out in such steps, and with fewer a loop over vectors spills."""


def plan(problem: Reduction, variant: ReductionVariant, device: DeviceInfo) -> KernelPlan:
    """One launch over the source, and what the variant's finish adds."""
    groups = num_groups(problem.size, variant, device)
    finished = FINISHES[variant.finish].plan(problem, variant, groups)
    files = (*_files(problem, variant, device), *finished.files, "reduction/reduce")
    most_registers = _most_registers(variant, device)
    macros = {**_macros(problem, variant, device), "MOST_REGISTERS": most_registers}
    return replace(finished, files=files, macros=macros, most_registers=most_registers)


def _most_registers(variant: ReductionVariant, device: DeviceInfo) -> int:
    """Of a work-item that reads segments, which takes many, the most with which all groups of a compute unit
    run at a time, where NVIDIA's compilers can be told; else 0. Left to themselves they took up to 64 on an
    H200, so that the last groups ran alone: up to half as long again (reports/examples,
    h200-sweep-segments-tree).
    """
    if variant.traversal != "segments" or not device.ptx or isinstance(variant.groups, str):
        return 0
    fitting = REGISTERS // (variant.groups * variant.group_size) // _REGISTER_STEP * _REGISTER_STEP
    return fitting if _FEWEST_REGISTERS <= fitting < MOST_REGISTERS else 0


def _files(problem: Reduction, variant: ReductionVariant, device: DeviceInfo) -> tuple[str, ...]:
    folder, kernel = "reduction", problem.parts.kernel
    return (
        "language",
        f"dialect/{variant.dialect}",
        "vector",
        f"cache_hint/{HINTS[variant.cache_hint].file}",
        "words",
        *TREES[variant.tree].shared,
        f"{folder}/compare/{variant.compare}",
        f"{folder}/storage/{variant.storage}",
        f"{folder}/tracked",
        *((f"{folder}/terms/{problem.parts.term}",) if problem.parts.term else ()),
        *((f"{folder}/redux",) if TREES[variant.tree].uses_redux(problem, device) else ()),
        *((f"{folder}/atomics",) if FINISHES[variant.finish].atomic_bits(problem) else ()),
        f"{folder}/ops/{kernel}",
        f"{folder}/packing/{variant.packing}",
        *(f"{folder}/packing/{packing}/{kernel}" for packing in PACKINGS[variant.packing].accumulates_by),
        f"stride/{variant.stride}",
        f"traversal/{variant.traversal}",
        *((f"{folder}/one_segment",) if variant.traversal != "segments" else ()),
        f"{folder}/tree/{variant.tree}",
    )


def _macros(problem: Reduction, variant: ReductionVariant, device: DeviceInfo) -> dict[str, str | int]:
    element = problem.element
    totals = {"int64": "long", "uint64": "ulong", "float64": "double"}
    return {
        **HINTS[variant.cache_hint].macros(problem, variant, device),
        "ELEMENT": element.kernel,
        "KEPT": element.kept,
        "STORED": element.stored,
        "CHANNEL": channel(element),
        "STORED_IS_HALF": int(element.name == "float16"),
        "ELEMENT_IS_FLOAT": int(element.is_float),
        "ELEMENT_BITS": 8 * element.kernel_numpy.itemsize,
        "COMPUTE_CAPABILITY": device.ptx,
        "LOWEST": element.lowest,
        "HIGHEST": element.highest,
        "TOTAL": totals[problem.total],
        "VECTOR_WIDTH": variant.vector_width,
        "VECTOR_BYTES": variant.vector_width * element.itemsize,
        "LOADS_IN_FLIGHT": variant.loads_in_flight,
        "FINDS_POSITIONS": int(bool(problem.parts.places) and PACKINGS[variant.packing].finds_positions),
        "POSITION": problem.place.kernel,
        "IS_KEYED": int(problem.is_keyed),
        "ONE_PART_A_GROUP": int(variant.groups == PER_PROBLEM),
        "SEGMENTS_AN_END": SEGMENTS_AN_END,
        "GROUP_SIZE": variant.group_size,
        "SUB_GROUP_WIDTH": max(1, device.sub_group_width),
        "SCRATCH_PARTIALS": TREES[variant.tree].scratch_partials(variant, device),
        "USES_REDUX": int(TREES[variant.tree].uses_redux(problem, device)),
        "USES_LOCAL_WORDS": int(TREES[variant.tree].uses_words),
        "ATOMIC_BITS": FINISHES[variant.finish].atomic_bits(problem),
    }

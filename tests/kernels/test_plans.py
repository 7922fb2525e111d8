"""Plans and sources: launches that cover the problem, buffers that hold it, files and macros that exist."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.kernels.finish import FINISHES, MERGED_PER_ITEM, PLACE_BYTES, PLACES
from harness.kernels.geometry import MAX_GROUPS
from harness.kernels.plan import Argument, Buffer, KernelPlan, Scalar
from harness.kernels.planner import plan
from harness.kernels.requirements import violations
from harness.kernels.source import MACROS, Dialect, assemble, needed_macros, source_hash
from harness.problems import (
    BORDERS,
    DIRECTIONS,
    IMAGE_DTYPES,
    MASKS,
    OPS,
    OUTPUTS,
    Bandwidth,
    Empty,
    Laplace,
    Problem,
    Reduction,
)
from harness.problems.dtypes import DTYPES
from harness.variants.axes import (
    AXES,
    PER_PROBLEM,
    BandwidthVariant,
    CacheHint,
    LaplaceVariant,
    LaunchVariant,
    LibraryVariant,
    ReductionVariant,
    Variant,
    variant_from_json,
)
from tests.support.checks import Point, pairwise
from tests.support.machines import CPU, GPU
from tests.support.samples import FEW_KEPT, axes_of

ROOT = Path(__file__).parents[2]
DIALECTS: tuple[Dialect, ...] = ("cl", "cu")
SIZES = (1, 255, 4097, 70001, 2**26, 2**31 + 3)


def point_of(kind: str, point: Point) -> tuple[dict[str, Any], Variant]:
    """A point's problem parameters, and its variant."""
    axes = {name: value for name, value in point.items() if name in AXES[kind]}
    return {name: point[name] for name in point if name not in axes}, variant_from_json(
        {"kind": kind, **axes}
    )


def reduction_of(point: Point) -> tuple[Reduction, Variant]:
    """A point's reduction, and its variant."""
    parameters, variant = point_of("reduction", point)
    return Reduction(parameters["op"], parameters["dtype"], (parameters["size"],)), variant


def laplace_of(point: Point) -> tuple[Laplace, Variant]:
    """A point's filter, and its variant."""
    parameters, variant = point_of("laplace", point)
    return Laplace(**parameters), variant


def _violations(problem: Problem, variant: Variant) -> list[str]:
    return violations(variant, problem, GPU)


@cache
def samples() -> list[tuple[Problem, Variant]]:
    """Problems and variants such that each pair of values of two axes is in one of them."""
    found: list[tuple[Problem, Variant]] = []
    reductions = {"op": list(OPS), "dtype": list(DTYPES), "size": SIZES, **axes_of("reduction")}
    found += [
        reduction_of(point)
        for point in pairwise(reductions, lambda point: not _violations(*reduction_of(point)))
    ]
    axes = {"mask": list(MASKS), "border": BORDERS, "output": OUTPUTS, "dtype": IMAGE_DTYPES}
    sizes = {"channels": (1, 3, 4), "height": (1, 17, 8192), "width": (1, 33, 8192)}
    filters = {**axes, **sizes, **axes_of("laplace")}
    found += [
        laplace_of(point) for point in pairwise(filters, lambda point: not _violations(*laplace_of(point)))
    ]
    copies = axes_of("bandwidth", kept_sixteenths=FEW_KEPT)
    for point in pairwise({"direction": DIRECTIONS, "dtype": list(DTYPES), "size": SIZES, **copies}):
        parameters, variant = point_of("bandwidth", point)
        found.append((Bandwidth(**parameters), variant))
    runnable = [(problem, variant) for problem, variant in found if not _violations(problem, variant)]
    return [*runnable, (Empty((((3,), (64,)), ((2, 5), (8, 4)))), LaunchVariant())]


def covered(problem: Problem, variant: Variant, made: KernelPlan) -> bool:
    """Whether the first launch has a work-item for each share of the problem, or as many as asked for."""
    first = made.launches[0]
    items = math.prod(first.num_groups) * math.prod(first.group_size)
    if isinstance(problem, Laplace) and isinstance(variant, LaplaceVariant):
        (across, down), (width, height) = first.num_groups, first.group_size
        columns, rows = width * variant.vector_width, height * variant.rows_per_item
        if variant.groups != PER_PROBLEM:
            tiles = math.ceil(problem.row_elements / columns) * math.ceil(problem.height / rows)
            asked = variant.groups * GPU.compute_units
            return math.prod(made.launches[-1].num_groups) == min(tiles, asked)
        return across * columns >= problem.row_elements and down * rows >= problem.height
    if isinstance(problem, (Reduction, Bandwidth)):
        assert isinstance(variant, (ReductionVariant, BandwidthVariant))
        fixed = variant.groups != PER_PROBLEM and first.num_groups[0] == variant.groups * GPU.compute_units
        elements = math.prod(problem.shape) if isinstance(problem, Reduction) else problem.size
        return fixed or items * variant.vector_width * variant.loads_in_flight >= elements
    return isinstance(problem, Empty)


def test_plans_cover_their_problems() -> None:
    assert len(samples()) > 1000
    for problem, variant in samples():
        made = plan(problem, variant, GPU)
        assert covered(problem, variant, made), (problem, variant)
        assert made.result in made.buffers
        if not isinstance(problem, Empty):
            assert made.buffers[made.result] >= made.result_count * made.result_dtype.itemsize


def test_arguments_name_buffers_that_there_are() -> None:
    for problem, variant in samples():
        made = plan(problem, variant, GPU)
        for launch in (*made.launches, *made.readback, *made.release):
            assert len(launch.num_groups) == len(launch.group_size) in (1, 2)
            assert min(*launch.num_groups, *launch.group_size) >= 1
            assert launch.num_groups[0] <= MAX_GROUPS
            for argument in launch.arguments:
                assert isinstance(argument, Argument)
                if isinstance(argument, Buffer):
                    assert argument.name in made.buffers
                if isinstance(argument, Scalar):
                    assert 0 <= argument.value < 2 ** (32 if argument.dtype == "uint32" else 64)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_sources_assemble_with_their_macros_in_front(dialect: Dialect) -> None:
    for problem, variant in samples():
        made = plan(problem, variant, GPU)
        source = assemble(dialect, made.files, made.macros)
        for name in made.files:
            assert f'#line 1 "kernels_{dialect}/{name}.{dialect}"' in source
            assert (ROOT / f"kernels_{dialect}" / f"{name}.{dialect}").is_file()
        for macro, value in made.macros.items():
            assert f"#define {macro} {value}\n" in source


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", ["reduction", "laplace", "bandwidth"])
def test_a_missing_macro_is_refused_by_name(dialect: Dialect, kind: str) -> None:
    refused = set()
    for problem, variant in samples():
        if problem.kind != kind:
            continue
        made = plan(problem, variant, GPU)
        for macro in made.macros:
            if not any(macro in needed_macros(dialect, name) for name in made.files):
                continue
            rest = {name: value for name, value in made.macros.items() if name != macro}
            with pytest.raises(ValueError, match=rf"kernels_{dialect}/\S+ needs the macro {macro} \("):
                assemble(dialect, made.files, rest)
            refused.add(macro)
    expected = {
        "reduction": {
            "ELEMENT",
            "GROUP_SIZE",
            "VECTOR_WIDTH",
            "LOADS_IN_FLIGHT",
            "USES_REDUX",
            "ATOMIC_BITS",
        },
        "laplace": {"CENTRE", "EDGE", "CORNER", "CHANNELS", "HALO_LOAD", "BORDER_VALUE", "GROUP_HEIGHT"},
        "bandwidth": {"STORED", "VECTOR_WIDTH", "VECTOR_BYTES", "LOADS_IN_FLIGHT", "GROUP_SIZE"},
    }
    assert refused >= expected[kind]


def test_what_a_file_only_asks_about_is_not_needed() -> None:
    assert "GROUP_SIZE" not in needed_macros("cl", "dialect/vendor")
    assert "GROUP_SIZE" in needed_macros("cl", "stride/global")


def test_a_macro_that_is_not_declared_is_refused() -> None:
    with pytest.raises(ValueError, match="macro WIDTH is not declared"):
        assemble("cl", ("language",), {"WIDTH": 4})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_condition_asks_for_what_nobody_defines(dialect: Dialect) -> None:
    """In ``#if`` a name that is not defined is 0, silently: whatever is asked for is declared."""
    texts = {path: path.read_text() for path in (ROOT / f"kernels_{dialect}").rglob(f"*.{dialect}")}
    defined = {name for text in texts.values() for name in re.findall(r"#define (\w+)", text)}
    vendors = {"__NV_CL_C_VERSION", "__AMDGCN__", "__AVX2__", "cl_intel_vec_len_hint"}
    compilers = {"defined", "__clang__", "__OPTIMIZE__", *vendors}
    for path, text in texts.items():
        for condition in re.findall(r"(?m)^\s*#\s*(?:if|elif) (.*)", text):
            asked = set(re.findall(r"[A-Za-z_]\w*", condition))
            assert asked <= defined | MACROS.keys() | compilers, (path, condition)


def test_hashes_tell_sources_apart() -> None:
    made = plan(Reduction("min", "int32", (9,)), ReductionVariant(), GPU)
    sources = {
        assemble(dialect, made.files, macros)
        for dialect in DIALECTS
        for macros in (made.macros, {**made.macros, "VECTOR_WIDTH": 2})
    }
    assert len({source_hash(source) for source in sources}) == 4
    assert source_hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_a_missing_file_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"no_such_tree\.cl"):
        assemble("cl", ("reduction/tree/no_such_tree",), {})


def test_groups_are_as_many_as_needed_and_no_more_than_asked() -> None:
    base = ReductionVariant(vector_width=4, loads_in_flight=2, group_size=256)
    for size, groups, expected in (
        (1, PER_PROBLEM, 1),
        (2048, PER_PROBLEM, 1),
        (2049, PER_PROBLEM, 2),
        (2**26, PER_PROBLEM, 2**15),
        (2**26, 8, 8 * GPU.compute_units),
        (2049, 8, 2),
    ):
        variant = ReductionVariant(**{**_axes(base), "groups": groups})
        made = plan(Reduction("min", "int32", (size,)), variant, GPU)
        assert made.launches[0].num_groups == (expected,), (size, groups)
    assert plan(Reduction("min", "int32", (2**26,)), replace(base, groups=4), CPU).launches[0].num_groups == (
        8,
    )


def _axes(variant: ReductionVariant) -> dict[str, Any]:
    return {name: getattr(variant, name) for name in AXES["reduction"]}


@pytest.mark.parametrize("size", [1, 256, 257, 2**20, 2**30])
def test_relaunching_ends_with_one_partial_result(size: int) -> None:
    variant = ReductionVariant(group_size=64)
    made = plan(Reduction("max", "uint8", (size,)), variant, GPU)
    left = made.launches[0].num_groups[0]
    for launch in made.launches[1:]:
        assert launch.kernel == "merge"
        count = next(argument for argument in launch.arguments if isinstance(argument, Scalar))
        assert count.value == left
        assert launch.num_groups[0] == -(-left // (64 * MERGED_PER_ITEM)) < left
        left = launch.num_groups[0]
    assert (left, made.result_count) == (1, 1)
    on_host = plan(Reduction("max", "uint8", (size,)), replace(variant, finish="host"), GPU)
    assert len(on_host.launches) == 1
    assert on_host.result_count == on_host.launches[0].num_groups[0]
    assert made.result_location == "device"
    assert on_host.result_location == ("parts" if on_host.result_count > 1 else "device")


def test_a_variant_of_another_kind_is_refused() -> None:
    for problem, variant in (
        (Reduction("min", "int32", (9,)), LaplaceVariant()),
        (Bandwidth("read", "int32", 9), LibraryVariant()),
    ):
        with pytest.raises(TypeError, match="no plan for"):
            plan(problem, variant, GPU)


def test_what_changes_places_is_no_sources_own() -> None:
    made = plan(Reduction("min", "int32", (4097,)), ReductionVariant(finish="alternating"), GPU)
    assert made.ring[:2] == ("answer", "spare")
    assert len(set(made.ring)) == PLACES
    assert {made.initial[name] for name in made.ring} == {(2**31 - 1).to_bytes(4, "little")}
    assert {made.buffers[name] for name in made.ring} == {PLACE_BYTES}
    problems = [Reduction(op, dtype, (9,)) for op in OPS for dtype in DTYPES]
    lacks, variant = FINISHES["alternating"].violations, ReductionVariant()
    sizes = {each.partial_dtype.itemsize for each in problems if not any(lacks(variant, each, GPU))}
    assert not any(PLACE_BYTES % size for size in sizes), "a place is filled with whole partial results"
    with pytest.raises(ValueError, match="each source has a result of its own"):
        replace(made, per_source=True)


def test_atomics_combine_extremes_of_floats_and_begin_with_the_identity() -> None:
    for op, start in (("min", b"\0\0\x80\x7f"), ("max", b"\0\0\x80\xff"), ("count_nonzero", bytes(8))):
        problem, variant = Reduction(op, "float32", (4097,)), ReductionVariant(finish="atomic")
        assert not violations(variant, problem, GPU)
        assert plan(problem, variant, GPU).initial["combined"] == start


@pytest.mark.parametrize("hint", AXES["reduction"]["cache_hint"])
def test_only_a_window_is_told_to_the_stream_and_to_no_load(
    hint: CacheHint,
) -> None:
    device = replace(GPU, platform="CUDA", compute_capability=90, cache_bytes=60 * 2**20)
    reduced = Reduction("max", "uint8", (8192, 8192))
    filtered = Laplace("four", "wrap", "laplacian", "uint8", 8192, 8192)
    read, copied = (Bandwidth(each, "uint8", 2**26) for each in ("read", "copy"))
    # Of 64 MiB 0.57 of the cache holds eight sixteenths, and a fifth of it, beside a result, three.
    of_kind: list[tuple[int, Problem, ReductionVariant | LaplaceVariant | BandwidthVariant]] = [
        (8, reduced, ReductionVariant(vector_width=16)),
        (3, filtered, LaplaceVariant(vector_width=16, border_code="mapped")),
        (3, filtered, LaplaceVariant(vector_width=16, border_code="padded")),
        (8, read, BandwidthVariant(vector_width=16)),
        (3, copied, BandwidthVariant(vector_width=16)),
        # Of 32 MiB it holds all, but a copy is faster with nine.
        (9, Bandwidth("copy", "uint8", 2**25), BandwidthVariant(vector_width=16)),
    ]
    for sixteenths, problem, variant in of_kind:
        hinted, plain = (plan(problem, replace(variant, cache_hint=each), device) for each in (hint, "none"))
        assert hinted.kept == (sixteenths / 16 if hint == "window" else 0)
        # Only lines that are kept by their loads have to be given up: of all that the launches read.
        loaded = {launch.arguments[0] for launch in hinted.launches} if hint == "resident" else set()
        assert {launch.arguments[0] for launch in hinted.release} == loaded
        assert {launch.kernel for launch in hinted.release} <= {"release"}
        if hint == "window":
            assert replace(hinted, kept=0.0) == plain
        else:
            assert f"cache_hint/{hint}" in hinted.files


def test_what_is_kept_can_be_asked_for_in_place_of_the_rules_part() -> None:
    device = replace(GPU, platform="CUDA", compute_capability=90, cache_bytes=60 * 2**20)
    of_kind: list[tuple[Problem, ReductionVariant | LaplaceVariant | BandwidthVariant]] = [
        (Reduction("max", "uint8", (8192, 8192)), ReductionVariant(vector_width=16)),
        (Laplace("four", "wrap", "laplacian", "uint8", 8192, 8192), LaplaceVariant(vector_width=16)),
        (Bandwidth("copy", "uint8", 2**26), BandwidthVariant(vector_width=16)),
    ]
    for problem, plain in of_kind:
        for sixteenths in (1, 16):
            asked = replace(plain, cache_hint="resident", kept_sixteenths=sixteenths)
            assert violations(asked, problem, device) == []
            assert plan(problem, asked, device).macros["KEPT_SIXTEENTHS"] == sixteenths
            assert plan(problem, replace(asked, cache_hint="window"), device).kept == sixteenths / 16
            reason = "the cache hint streaming has no part of the source kept"
            assert violations(replace(asked, cache_hint="streaming"), problem, device) == [
                f"kept_sixteenths {sixteenths}: {reason}"
            ]

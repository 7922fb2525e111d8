"""The variant that a device gets when nobody names one: what it can run, and what the sweeps found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.devices import PORTABLE_OPENCL, DeviceInfo
from harness.kernels.cache_hint import (
    RESIDENT_SHARE,
    kept_sixteenths,
    kept_sixteenths_beside,
    kept_sixteenths_of_copy,
)
from harness.kernels.defaults import default_variant
from harness.kernels.planner import plan
from harness.kernels.requirements import violations
from harness.problems import IMAGE_DTYPES, OPS, Bandwidth, Empty, Laplace, Problem, Reduction
from harness.problems.dtypes import DTYPES
from harness.variants.axes import (
    LaplaceVariant,
    ReductionVariant,
    variant_from_json,
    variant_to_json,
)
from tests.support.machines import CPU, GPU, H200, SMALL_GPU


@pytest.mark.parametrize(
    "device",
    [GPU, SMALL_GPU, CPU, replace(CPU, vector_elements=64)],
    ids=["gpu", "small gpu", "cpu", "wide cpu"],
)
def test_defaults_run_everywhere(device: DeviceInfo) -> None:
    problems: list[Problem] = [Reduction(op, dtype, (9, 9)) for op in OPS for dtype in DTYPES]
    problems += [
        Laplace("four", "wrap", "laplacian", dtype, 9, 9, channels)
        for dtype in IMAGE_DTYPES
        for channels in (1, 3, 4)
    ]
    problems += [Bandwidth(direction, dtype, 9) for direction in ("read", "copy") for dtype in DTYPES]
    problems.append(Empty((((1,), (1,)),)))
    for problem in problems:
        variant = default_variant(problem, device)
        assert variant_from_json(variant_to_json(variant)) == variant, "a default is a point on the axes"
        reasons = violations(variant, problem, device)
        if device.float64 or not _needs_float64(problem):
            assert reasons == [], problem.label
        else:
            assert reasons == ["the device has no float64 arithmetic"], problem.label


@pytest.mark.parametrize(
    ("dtype", "width"),
    [("uint8", 64), ("int16", 32), ("float16", 16), ("int32", 16), ("float64", 8)],
)
def test_a_processors_vectors_fill_a_register_where_its_compiler_has_them(dtype: str, width: int) -> None:
    for elements, most in ((64, width), (16, min(16, width))):
        device = replace(CPU, vector_elements=elements)
        variant = default_variant(Reduction("max", dtype, (4097,)), device)
        assert isinstance(variant, ReductionVariant)
        assert variant.vector_width == most
        assert violations(variant, Reduction("max", dtype, (4097,)), device) == []


@pytest.mark.parametrize(
    ("op", "dtype", "side", "shape_of_launch"),
    [
        ("min", "int32", 2560, (4, 4, 256)),
        ("max", "float64", 2560, (4, 4, 256)),
        ("minmax", "int32", 2560, (4, 4, 256)),
        ("sum", "float32", 2560, (4, 4, 256)),
        ("min", "int8", 2560, (4, 4, 256)),
        ("min", "int16", 2560, (4, 4, 256)),
        ("min", "float64", 4096, (2, 4, 512)),
        ("min", "int32", 8192, (2, 8, 512)),
        ("min", "float64", 8192, (2, 16, 512)),
        ("sum", "float64", 8192, (2, 8, 512)),
        ("minmaxloc", "float64", 8192, (2, 4, 512)),
        ("min", "uint8", 32768, (4, 32, 512)),
        ("minmaxloc", "uint8", 32768, (4, 32, 512)),
        ("max", "int32", 32768, (2, 64, 512)),
        ("min", "int16", 8192, (4, 4, 512)),
        ("min", "uint8", 64, (1, 4, 256)),
        ("min", "uint8", 65, (1, 4, 256)),
        ("min", "uint8", 256, (1, 4, 256)),
        ("sum", "float32", 32, (1, 4, 256)),
        ("sum", "float32", 45, (2, 4, 256)),
        ("sum", "float32", 64, (4, 4, 256)),
        ("sum", "float32", 65, (1, 4, 256)),
        ("min", "uint8", 660, (1, 4, 256)),
        ("min", "uint8", 900, (4, 4, 256)),
        ("min", "uint8", 1280, (4, 4, 256)),
    ],
)
def test_a_gpus_default_is_what_the_recorded_sweeps_found(
    op: str, dtype: str, side: int, shape_of_launch: tuple[int, int, int]
) -> None:
    swept = replace(GPU, compute_units=132, cache_bytes=60 * 2**20)
    variant = default_variant(Reduction(op, dtype, (side, side)), swept)
    assert isinstance(variant, ReductionVariant)
    assert (variant.loads_in_flight, variant.groups, variant.group_size) == shape_of_launch


@pytest.mark.parametrize(
    ("dtype", "side", "hint", "shape_of_launch"),
    [
        # What the cache holds stays there by itself.
        ("uint8", 4096, "none", (4, 4, 256)),
        ("int32", 2560, "none", (4, 4, 256)),
        ("float64", 2560, "resident", (4, 5, 256)),
        ("uint8", 8192, "resident", (4, 5, 256)),
        ("int32", 4096, "resident", (4, 5, 256)),
        ("int32", 8192, "resident", (4, 5, 256)),
        ("uint8", 16384, "resident", (4, 5, 256)),
        # Less than a sixteenth would stay.
        ("uint8", 32768, "none", (4, 32, 512)),
        # It has a load of its own, and is gone through back and forth.
        ("float16", 8192, "none", (4, 5, 256)),
    ],
)
def test_of_what_the_cache_does_not_hold_a_part_stays(
    dtype: str, side: int, hint: str, shape_of_launch: tuple[int, int, int]
) -> None:
    problem = Reduction("max", dtype, (side, side))
    variant = default_variant(problem, H200)
    assert isinstance(variant, ReductionVariant)
    assert variant.cache_hint == hint
    assert (variant.loads_in_flight, variant.groups, variant.group_size) == shape_of_launch
    assert violations(variant, problem, H200) == []


@pytest.mark.parametrize(
    "changes", [{"compute_capability": 0}, {"compute_capability": 75}, {"cache_bytes": 0}], ids=str
)
def test_only_a_gpu_that_can_keep_a_part_is_asked_to(changes: dict[str, int]) -> None:
    problem = Reduction("max", "uint8", (8192, 8192))
    variant = default_variant(problem, replace(H200, **changes))  # type: ignore[arg-type]
    assert isinstance(variant, ReductionVariant)
    assert variant.cache_hint == "none"
    assert violations(replace(variant, cache_hint="resident"), problem, replace(H200, **changes))  # type: ignore[arg-type]


def test_the_part_that_stays_fits_into_the_cache() -> None:
    cache = 60 * 2**20
    for source in (1, 2**20, cache // 2, cache, 2 * cache, 9 * cache, 10 * cache, 2**40):
        kept = kept_sixteenths(source, cache)
        assert 0 <= kept <= 16
        assert kept in (0, 16) or source * kept / 16 <= RESIDENT_SHARE * cache < source * (kept + 1) / 16
        beside = kept_sixteenths_beside(source, cache)
        # Nearest to a fifth of the cache where the source does not fit.
        assert beside == kept == 16 or abs(source * beside / 16 - cache / 5) <= source / 32
    assert kept_sixteenths(cache // 2, cache) == 16
    assert kept_sixteenths(10 * cache, cache) == 0
    for eighths, sixteenths in ((4, 16), (5, 5), (8, 3), (16, 2), (64, 0)):
        assert kept_sixteenths_beside(eighths * cache // 8, cache) == sixteenths


def test_a_copy_keeps_the_less_of_its_source_the_larger_that_is() -> None:
    cache = H200.cache_bytes
    # The best of the sweeps, or as fast, by megabytes (sweep-kept-shares and sweep-cache-edge).
    best = {23: (15, 16), 26: (13, 16), 29: (11, 15), 34: (8, 10), 38: (6, 9), 42: (5, 6), 50: (3, 5)}
    for megabytes, (least, most) in best.items():
        assert least <= kept_sixteenths_of_copy(megabytes * 10**6, cache) <= most
    kept = [kept_sixteenths_of_copy(size, cache) for size in range(2**20, 2**30, 2**20)]
    assert kept == sorted(kept, reverse=True)
    assert (kept[0], kept[-1]) == (16, 0)


@pytest.mark.parametrize(
    ("op", "dtype", "side", "loads", "groups"),
    [
        ("max", "uint8", 2560, 2, 8),
        ("min", "int8", 4096, 2, 8),
        ("minmax", "uint8", 2560, 4, 4),
        ("sum", "int8", 2560, 4, 4),
        ("max", "uint16", 2560, 4, 4),
        # It goes back and forth.
        ("max", "uint8", 8192, 4, 5),
    ],
)
def test_portable_extremes_of_bytes_have_twice_the_groups_in_opencl(
    op: str, dtype: str, side: int, loads: int, groups: int
) -> None:
    problem = Reduction(op, dtype, (side, side))
    variant = default_variant(problem, H200, "portable")
    assert isinstance(variant, ReductionVariant)
    assert (variant.loads_in_flight, variant.groups, variant.group_size) == (loads, groups, 256)
    for other in (
        default_variant(problem, H200),
        default_variant(problem, replace(H200, platform="CUDA"), "portable"),
        default_variant(problem, replace(H200, compute_capability=0), "portable"),
    ):
        assert isinstance(other, ReductionVariant)
        assert other.loads_in_flight == 4


def test_portable_extremes_of_bytes_from_far_memory_keep_four_loads() -> None:
    variant = default_variant(Reduction("max", "uint8", (32768, 32768)), H200, "portable")
    assert isinstance(variant, ReductionVariant)
    assert (variant.loads_in_flight, variant.traversal) == (4, "forward")


@pytest.mark.parametrize(
    ("op", "dtype", "size", "lacks", "finish"),
    [
        ("sum", "uint32", 1024, (), "relaunch"),
        ("sum", "uint32", 1025, (), "alternating"),
        ("sum", "float32", 4096, (), "relaunch"),
        ("sum", "uint32", 4097, (), "alternating"),
        ("sum", "uint32", 4097, ("awaits_groups", "orders_groups"), "alternating"),
        ("sum", "uint32", 4097, ("atomics64",), "last_group"),
        ("min", "float32", 4097, ("atomics64", "awaits_groups", "orders_groups"), "alternating"),
        ("sum", "float32", 4097, (), "flagged"),
        ("sum", "float32", 4097, ("atomics64",), "last_group"),
        ("minmaxloc", "int32", 4097, (), "alternating"),
        ("minmaxloc", "float32", 4097, ("atomics64",), "last_group"),
        ("minmaxloc", "int64", 4097, (), "flagged"),
        ("minmaxloc", "int64", 4097, ("awaits_groups",), "last_group"),
        ("minmaxloc", "int64", 4097, ("awaits_groups", "orders_groups"), "relaunch"),
    ],
)
def test_groups_are_joined_in_their_launch_where_the_device_can(
    op: str, dtype: str, size: int, lacks: tuple[str, ...], finish: str
) -> None:
    device = replace(GPU, **dict.fromkeys(lacks, False))  # type: ignore[arg-type]
    variant = default_variant(Reduction(op, dtype, (size,)), device)
    assert isinstance(variant, ReductionVariant)
    assert variant.finish == finish


@pytest.mark.parametrize(
    ("op", "dtype", "lacks", "tree", "finish"),
    [
        ("max", "uint8", (), "local_atomics", "alternating"),
        ("sum", "float32", (), "quad", "flagged"),
        ("sum", "float32", ("awaits_groups",), "quad", "relaunch"),
        ("sum", "float32", ("atomics64",), "quad", "relaunch"),
    ],
)
def test_a_portable_default_has_what_the_language_has(
    op: str, dtype: str, lacks: tuple[str, ...], tree: str, finish: str
) -> None:
    opencl = replace(H200, portable=PORTABLE_OPENCL, **dict.fromkeys(lacks, False))  # type: ignore[arg-type]
    problem = Reduction(op, dtype, (8192, 8192))
    variant = default_variant(problem, opencl, "portable")
    assert isinstance(variant, ReductionVariant)
    assert (variant.dialect, variant.tree, variant.finish) == ("portable", tree, finish)
    assert variant.cache_hint == "none"
    assert violations(variant, problem, opencl) == []
    assert plan(problem, variant, opencl).macros["COMPUTE_CAPABILITY"] == 0
    assert plan(problem, default_variant(problem, opencl), opencl).macros["COMPUTE_CAPABILITY"] == 90


@pytest.mark.parametrize(
    ("op", "dtype", "loads"),
    [
        ("sum", "uint8", 4),
        ("sum", "int16", 4),
        ("sum", "int32", 2),
        ("sum", "float32", 2),
        ("max", "float32", 4),
        ("max", "float64", 2),
    ],
)
def test_portable_loads_in_flight(op: str, dtype: str, loads: int) -> None:
    """Of most wide elements two, where our own have four."""
    opencl = replace(H200, portable=PORTABLE_OPENCL)
    problem = Reduction(op, dtype, (1280, 1280))
    own, portable = (default_variant(problem, opencl, dialect) for dialect in ("vendor", "portable"))
    assert isinstance(own, ReductionVariant)
    assert isinstance(portable, ReductionVariant)
    assert (own.loads_in_flight, portable.loads_in_flight) == (4, loads)


@pytest.mark.parametrize(
    ("op", "dtype", "size"),
    [("sum", "float32", (2, 512)), ("sum", "uint8", (4, 256)), ("max", "int64", (4, 256))],
)
def test_portable_flags_are_few(op: str, dtype: str, size: tuple[int, int]) -> None:
    """Groups of twice the size where atomics would read the flags of the others."""
    opencl = replace(H200, portable=PORTABLE_OPENCL)
    variant = default_variant(Reduction(op, dtype, (1280, 1280)), opencl, "portable")
    assert isinstance(variant, ReductionVariant)
    assert (variant.groups, variant.group_size) == size


def test_groups_combine_by_atomics_where_a_sub_group_does_by_one_instruction() -> None:
    problem = Reduction("max", "uint8", (1280, 1280))
    for device, tree in ((H200, "local_atomics"), (GPU, "sub_group")):
        variant = default_variant(problem, device)
        assert isinstance(variant, ReductionVariant)
        assert variant.tree == tree


@pytest.mark.parametrize(
    ("platform", "mask", "stencil"),
    [
        ("NVIDIA CUDA", "four", "floats"),
        ("NVIDIA CUDA", "diagonal", "floats"),
        ("CUDA", "four", "floats"),
        ("CUDA", "diagonal", "paired"),
    ],
)
def test_portable_filters_of_bytes_are_saturated_as_floats(platform: str, mask: str, stencil: str) -> None:
    portable = replace(H200, platform=platform, portable={} if platform == "CUDA" else PORTABLE_OPENCL)
    problem = Laplace(mask, "reflect_101", "laplacian", "uint8", 2560, 2560)
    for device, dialect, expected in (
        (portable, "portable", stencil),
        (portable, "vendor", "halves"),
        (replace(portable, compute_capability=0, takes_ptx=False), "portable", "paired"),
    ):
        variant = default_variant(problem, device, dialect)  # type: ignore[arg-type]
        assert isinstance(variant, LaplaceVariant)
        assert variant.stencil == expected


def _needs_float64(problem: Problem) -> bool:
    if not isinstance(problem, Reduction):
        return isinstance(problem, Bandwidth) and problem.dtype == "float64"
    totalled = "total" in problem.parts.fields.values()
    is_wide = not problem.parts.wraps and problem.element.itemsize >= (
        4 if problem.parts.term == "square" else 8
    )
    return problem.dtype == "float64" or (totalled and (is_wide or problem.element.is_float))


@pytest.mark.parametrize("most", [1, 3, 16, 64, 192, 255])
def test_defaults_fit_into_small_and_odd_groups(most: int) -> None:
    for device in (replace(GPU, max_group_size=most), replace(CPU, max_group_size=most)):
        for problem in (
            Reduction("sum", "float32", (2560, 2560)),
            Laplace("four", "wrap", "laplacian", "uint8", 2560, 2560),
            Bandwidth("read", "uint32", 2**20),
        ):
            assert not violations(default_variant(problem, device), problem, device)

"""From a suite and devices to cases: which, in which order, and why not."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from harness.devices import PORTABLE_OPENCL, DeviceInfo
from harness.kernels.defaults import default_variant
from harness.problems import Bandwidth, Empty, Laplace, Problem, Reduction
from harness.results.record import Case
from harness.suites.expand import expand, skip_reason
from harness.suites.files import load_suite, suite_names
from harness.suites.schema import Suite
from harness.variants.axes import (
    BandwidthVariant,
    CommandVariant,
    Dialect,
    LaunchVariant,
    LibraryVariant,
    ReductionVariant,
    Variant,
    variant_from_json,
    variant_to_json,
)
from harness.variants.ladders import LADDERS
from tests.support.machines import CPU, CUDA, CUPY, DEVICES, GPU, NUMPY
from tests.support.suites import reductions, written

RUNGS = {rung for ladder in LADDERS.values() for rung in ladder.rungs}


def _compared(cases: list[Case]) -> list[Case]:
    return [case for case in cases if case.role == "compare"]


def test_every_device_runs_every_problem_once_side_by_side(tmp_path: Path) -> None:
    cases = _compared(expand(written(tmp_path, reductions()), DEVICES))
    problems = [problem for problem, _ in groupby(case.problem for case in cases)]
    assert problems == [Reduction("min", "int32", (100, 3)), Reduction("sum", "int32", (100, 3))]
    for problem in problems:
        measured = [(case.backend, case.device) for case in cases if case.problem == problem]
        # GPUs first, and on each device our own kernels.
        ordered = [GPU, CUDA, CUPY, CPU, NUMPY]
        assert measured == [(device.backend, device.index) for device in ordered]


def test_default_variant_is_the_devices_own_and_a_librarys_is_plain(tmp_path: Path) -> None:
    problem = Reduction("min", "int32", (100, 3))
    cases = _compared(expand(written(tmp_path, reductions()), DEVICES))
    chosen = {(c.backend, c.device): c.variant for c in cases if c.problem == problem}
    assert chosen["opencl", 0] == chosen["cuda", 0] == default_variant(problem, GPU)
    assert chosen["opencl", 1] == default_variant(problem, CPU) != chosen["opencl", 0]
    assert chosen["cupy", 0] == chosen["numpy", 0] == LibraryVariant()


def test_a_change_of_a_default_is_one_of_each_devices_own(tmp_path: Path) -> None:
    gpu = replace(GPU, portable=PORTABLE_OPENCL)
    change = "group_size = 64"
    choices = f'"default", {{base = "default", {change}}}, {{base = "portable", {change}}}'
    suite = written(tmp_path, reductions(f"variants = [{choices}]"))
    problem = Reduction("sum", "int32", (100, 3))
    cases = [case for case in expand(suite, [gpu, CPU]) if case.problem == problem]
    bases: list[tuple[DeviceInfo, list[Dialect]]] = [(gpu, ["vendor", "portable"]), (CPU, ["vendor"])]
    for device, dialects in bases:
        defaults = [default_variant(problem, device, dialect) for dialect in dialects]
        changed = [variant_from_json({**variant_to_json(each), "group_size": 64}) for each in defaults]
        chosen = [case.variant for case in cases if case.device == device.index]
        assert chosen == [defaults[0], *changed]


def test_gpus_run_the_portable_default_too(tmp_path: Path) -> None:
    problem = Reduction("sum", "int32", (100, 3))
    gpu = replace(GPU, portable=PORTABLE_OPENCL)
    suite = written(tmp_path, reductions('variants = ["default", "portable"]'))
    chosen: dict[tuple[str, int], list[Variant]] = {}
    for case in _compared(expand(suite, [gpu, CUDA, CUPY, CPU])):
        if case.problem == problem:
            chosen.setdefault((case.backend, case.device), []).append(case.variant)
    for device in (gpu, CUDA):
        portable = default_variant(problem, device, "portable")
        assert chosen[device.backend, 0] == [default_variant(problem, device), portable]
    assert isinstance(portable, ReductionVariant)
    assert (portable.dialect, portable.tree) == ("portable", "sub_group"), "CUDA has shuffles without PTX"
    assert chosen["opencl", 1] == [default_variant(problem, CPU)]
    assert chosen["cupy", 0] == [LibraryVariant()]


def test_libraries_add_narrowly_too_where_they_do(tmp_path: Path) -> None:
    suite = written(tmp_path, reductions(dtypes='"float32", "float64", "uint8"'))
    cases = _compared(expand(suite, [CUDA, CUPY, NUMPY, replace(CUPY, backend="cub")]))
    asked = {
        (c.backend, c.problem.label) for c in cases if c.variant == LibraryVariant(accumulator="element")
    }
    assert asked == {
        ("cupy", "sum float32 100x3"),
        ("cub", "sum float32 100x3"),
        ("cub", "sum uint8 100x3"),
    }


def test_libraries_run_a_ladders_problem_once(tmp_path: Path) -> None:
    suite = written(tmp_path, reductions('variants = ["modern", {vector_width = 2}]'))
    cases = _compared(expand(suite, [CUDA, CUPY]))
    rungs = (*LADDERS["modern"].rungs, ReductionVariant(vector_width=2))
    first = Reduction("min", "int32", (100, 3))
    assert [c.variant for c in cases if c.backend == "cuda" and c.problem == first] == list(rungs)
    assert sum(case.backend == "cupy" for case in cases) == 2


def test_blocks_for_one_kind_of_device(tmp_path: Path) -> None:
    text = reductions('only = "gpu"') + reductions('only = "cpu"', '"uint8"')
    cases = _compared(expand(written(tmp_path, text), [*DEVICES, replace(GPU, index=7, kind="accelerator")]))
    on_cpu = {("opencl", 1), ("numpy", 0)}
    for case in cases:
        runs_on_cpu = (case.backend, case.device) in on_cpu
        assert isinstance(case.problem, Reduction)
        assert case.problem.dtype == ("uint8" if runs_on_cpu else "int32")
    assert ("opencl", 7) in {(case.backend, case.device) for case in cases}


def test_a_problem_of_two_blocks_is_one_case(tmp_path: Path) -> None:
    twice = written(tmp_path, reductions() * 2)
    once = written(tmp_path, reductions())
    assert expand(twice, DEVICES) == expand(once, DEVICES)


def test_cases_of_a_problem_follow_each_other_whatever_blocks_name_it(tmp_path: Path) -> None:
    two = reductions() + reductions('variants = ["tutorial"]')
    found = [case.problem for case in _compared(expand(written(tmp_path, two), [GPU, CUPY]))]
    assert len(found) > 2 * len(set(found))
    assert [problem for problem, _ in groupby(found)] == list(dict.fromkeys(found))


def test_limits_of_each_size_and_cache_state(tmp_path: Path) -> None:
    laplace = """
[[laplace]]
masks = ["four"]
borders = ["wrap"]
outputs = ["laplacian"]
dtypes = ["uint8"]
channels = [3]
sizes = [[7, 5]]
"""
    suite = written(tmp_path, reductions('caches = ["hot", "cold"]', '"uint8", "int8", "int16"') + laplace)
    limits = [case for case in expand(suite, DEVICES) if case.role == "limit"]
    assert {(c.problem, c.cache) for c in limits} == {
        (Bandwidth("copy", "uint32", 27), "hot"),  # 7 x 5 x 3 bytes in words of 4, rounded up
        (Bandwidth("read", "uint32", 75), "hot"),
        (Bandwidth("read", "uint32", 75), "cold"),
        (Bandwidth("read", "uint32", 150), "hot"),
        (Bandwidth("read", "uint32", 150), "cold"),
    }
    assert {(c.backend, c.device) for c in limits} == {("opencl", 0), ("opencl", 1), ("cuda", 0)}
    kernels = [c.variant for c in limits if isinstance(c.variant, BandwidthVariant) and c.device == 1]
    assert {variant.group_size for variant in kernels} == {1}
    # The API's own command can copy, and cannot read.
    commands = [c for c in limits if isinstance(c.variant, CommandVariant)]
    assert {(c.backend, c.device) for c in commands} == {("opencl", 0), ("opencl", 1), ("cuda", 0)}
    assert {c.problem.direction for c in commands} == {"copy"}  # type: ignore[union-attr]
    assert len(commands) + sum(isinstance(c.variant, BandwidthVariant) for c in limits) == len(limits)


def _hints(cases: list[Case]) -> set[str]:
    return {case.variant.cache_hint for case in cases}  # type: ignore[union-attr]


def test_candidates_for_a_limit_that_a_device_cannot_run_are_none(tmp_path: Path) -> None:
    suite = written(tmp_path, reductions())
    hopper = replace(CUDA, compute_capability=90)
    limits = [case for case in expand(suite, [hopper, GPU, CPU]) if case.role == "limit"]
    by_device = {
        key: [c for c in limits if c.device_key == key] for key in ("cuda:0", "opencl:0", "opencl:1")
    }
    assert _hints(by_device["cuda:0"]) == {"none", "streaming", "resident"}
    assert _hints(by_device["opencl:0"]) == _hints(by_device["opencl:1"]) == {"none"}
    assert len(by_device["cuda:0"]) == 3 * len(by_device["opencl:0"])
    # Where none can be run, one says why.
    text = reductions() + '[limits.gpu]\ncache_hint = ["resident", "streaming"]'
    (only,) = {c for c in expand(written(tmp_path, text), [GPU]) if c.role == "limit"}
    assert skip_reason(only, GPU, suite)


def test_a_suite_can_name_sizes_for_the_limits(tmp_path: Path) -> None:
    text = """
[[limits.of]]
only = "gpu"
directions = ["copy"]
source_bytes = [4096, 8190]
caches = ["cold"]
"""
    cases = expand(written(tmp_path, text), [*DEVICES, CUPY])
    assert {case.role for case in cases} == {"limit"}
    assert {case.device_key for case in cases} == {"opencl:0", "cuda:0"}
    assert {(c.problem, c.cache) for c in cases} == {
        (Bandwidth("copy", "uint32", size), "cold") for size in (1024, 2048)
    }


def test_limits_can_be_left_out(tmp_path: Path) -> None:
    suite = written(tmp_path, reductions() + "[limits]\nmeasure = false")
    assert {case.role for case in expand(suite, DEVICES)} == {"compare"}


def test_sizes_of_images_are_width_and_height(tmp_path: Path) -> None:
    text = _laplace("[[640, 480], [17, 3]]")
    cases = _compared(expand(written(tmp_path, text), [NUMPY]))
    assert [(c.problem.height, c.problem.width) for c in cases] == [(480, 640), (3, 17)]  # type: ignore[union-attr]


def test_the_border_value_is_the_suites(tmp_path: Path) -> None:
    text = _laplace("[[17, 3]]").replace("wrap", "constant") + "border_value = 7\n"
    (case,) = _compared(expand(written(tmp_path, text), [NUMPY]))
    assert case.problem == Laplace("four", "constant", "laplacian", "uint8", 3, 17, 1, 7.0)


def test_the_users_photograph_gives_the_size(tmp_path: Path) -> None:
    suite = written(tmp_path, _laplace("[[640, 480], [17, 3]]"))
    cases = _compared(expand(suite, [NUMPY], image_size=(11, 22)))
    assert [case.problem for case in cases] == [Laplace("four", "wrap", "laplacian", "uint8", 11, 22)]


def _laplace(sizes: str) -> str:
    return (
        '[[laplace]]\nmasks = ["four"]\nborders = ["wrap"]\noutputs = ["laplacian"]\n'
        f'dtypes = ["uint8"]\nchannels = [1]\nsizes = {sizes}\n'
    )


def test_what_cannot_run_stays_among_the_cases_with_its_reason(tmp_path: Path) -> None:
    small = replace(GPU, max_group_size=64, float64=False)
    suite = written(tmp_path, reductions("variants = [{group_size = 128}]", '"float64"'))
    cases = _compared(expand(suite, [small]))
    assert len(cases) == 2
    reason = skip_reason(cases[0], small, suite)
    assert reason is not None
    assert "128 work-items" in reason
    assert "float64" in reason
    assert skip_reason(cases[0], GPU, suite) is None


def test_a_source_that_a_library_cannot_hold_is_known_beforehand(tmp_path: Path) -> None:
    suite = written(tmp_path, reductions())
    (case, *_) = _compared(expand(suite, [CUPY]))
    nbytes = case.problem.source_bytes
    reason = skip_reason(case, replace(CUPY, max_allocation_bytes=nbytes - 1), suite)
    assert reason == f"a source of {nbytes} bytes is over the device's limit of {nbytes - 1}"
    assert skip_reason(case, replace(CUPY, max_allocation_bytes=nbytes), suite) is None


def test_the_reference_is_spared_large_sources(tmp_path: Path) -> None:
    text = reductions(dtypes='"uint8", "int32"') + "[measure]\nreference_limit_bytes = 1199"
    suite = written(tmp_path, text)
    reasons = {
        (case.backend, case.problem.dtype): skip_reason(case, NUMPY, suite)  # type: ignore[union-attr]
        for case in _compared(expand(suite, [NUMPY, CUPY]))
    }
    assert "reference_limit_bytes" in (reasons.pop(("numpy", "int32")) or "")
    assert set(reasons.values()) == {None}


def _named(suite: Suite) -> set[Variant]:
    """The forms of reductions that a suite names, by their axes or as the rungs of a ladder."""
    choices = [choice for block in suite.reduction for choice in block.variants]
    return {form for choice in choices if isinstance(choice, tuple) for form in choice}


@pytest.mark.parametrize("name", suite_names())
def test_default_variants_of_the_suites_run_on_ordinary_devices(name: str) -> None:
    suite = load_suite(name)
    by_key = {(device.backend, device.index): device for device in DEVICES}
    for case in expand(suite, [GPU, CPU, CUDA, CUPY]):
        device = by_key[case.backend, case.device]
        if isinstance(case.variant, LaunchVariant) or case.variant in {*RUNGS, *_named(suite)}:
            continue  # Studies of every way to launch, and of every step: some have reasons to skip.
        assert skip_reason(case, device, suite) is None


@pytest.mark.parametrize(
    ("name", "ladders"),
    [
        ("yan2011", ["yan2011", "yan2011_image"]),
        ("pcl", ["pcl"]),
        ("tutorial", ["tutorial"]),
        ("modern", ["modern"]),
    ],
)
def test_a_study_has_each_of_its_rungs_on_gpus_and_on_processors(name: str, ladders: list[str]) -> None:
    rungs = {rung for ladder in ladders for rung in LADDERS[ladder].rungs}
    suite = load_suite(name)
    named = _named(suite)
    for device in (GPU, CPU, CUDA):
        cases = _compared(expand(suite, [device]))
        by_problem: dict[Problem, set[Variant]] = {}
        for case in cases:
            by_problem.setdefault(case.problem, set()).add(case.variant)
        for problem, variants in by_problem.items():
            assert {*rungs, default_variant(problem, device)} <= variants
            assert variants <= {*named, default_variant(problem, device)}


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32"])
def test_every_rung_from_portable_to_vendor_runs_on_nvidias_gpus(dtype: str) -> None:
    gpu = replace(GPU, compute_capability=90, portable=PORTABLE_OPENCL)
    suite = load_suite("dialects")
    rungs = LADDERS["dialects"].rungs
    cases = {
        case.variant: case
        for case in _compared(expand(suite, [gpu]))
        if case.problem == Reduction("sum", dtype, (8192, 8192))
    }
    assert set(rungs) <= set(cases)
    assert {
        default_variant(cases[rungs[0]].problem, gpu, dialect) for dialect in ("portable", "vendor")
    } <= set(cases)
    refused = [rung for rung in rungs if skip_reason(cases[rung], gpu, suite)]
    # The last rung packs integers of 8 bits.
    assert refused == ([] if dtype == "uint8" else [rungs[-1]])


def test_cases_survive_the_run_file() -> None:
    for case in expand(load_suite("ladder"), DEVICES):
        assert Case.from_json(case.to_json()) == case


BANDWIDTH = """
[[bandwidth]]
directions = ["read", "copy"]
dtypes = ["uint8", "float64"]
source_bytes = [4096]
caches = ["hot", "cold"]
"""


def test_a_study_of_bandwidth_takes_every_width_where_there_are_kernels_of_ours(tmp_path: Path) -> None:
    cases = expand(written(tmp_path, BANDWIDTH), [*DEVICES, CUPY])
    assert {case.role for case in cases} == {"compare"}, "a limit needs no limit"
    assert {case.backend for case in cases} == {"opencl", "cuda"}
    assert {case.problem.source_bytes for case in cases} == {4096}
    of_one = [case for case in cases if (case.backend, case.device) == ("cuda", 0)]
    assert len(of_one) == 2 * 2 * 2 * 5
    assert {case.variant.vector_width for case in of_one} == {1, 2, 4, 8, 16}  # type: ignore[union-attr]


def test_a_study_beside_a_comparison_adds_no_limits(tmp_path: Path) -> None:
    text = reductions() + BANDWIDTH
    limits = [case for case in expand(written(tmp_path, text), DEVICES) if case.role == "limit"]
    assert limits
    assert 4096 not in {case.problem.source_bytes for case in limits}


def test_a_study_can_sweep_other_axes_too(tmp_path: Path) -> None:
    text = BANDWIDTH + "gpu = {vector_width = [4], group_size = [64, 128]}\n"
    cases = expand(written(tmp_path, text), [CUDA])
    assert {(c.variant.vector_width, c.variant.group_size) for c in cases} == {(4, 64), (4, 128)}  # type: ignore[union-attr]


LAUNCHES = """
[[launch]]
groups = [2]
group_sizes = [64]
launches = [1, 3]
queues = ["in_order", "out_of_order"]
events = ["off", "on"]
"""


def test_a_study_of_launching_takes_every_way_where_there_are_kernels_of_ours(tmp_path: Path) -> None:
    cases = expand(written(tmp_path, LAUNCHES), [CUDA, CUPY])
    assert {case.backend for case in cases} == {"cuda"}
    assert len(cases) == len(set(cases)) == 2 * 2 * 2
    geometry = ((2 * CUDA.compute_units,), (64,))
    assert {case.problem for case in cases} == {Empty((geometry,)), Empty((geometry,) * 3)}
    assert {case.variant for case in cases} == {
        LaunchVariant(queue=queue, events=events)
        for queue in ("in_order", "out_of_order")
        for events in ("off", "on")
    }

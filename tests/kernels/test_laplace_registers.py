"""What NVIDIA's compilers alone are told of a filter: a bound on registers, and a fence behind the loads."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from backends.base import Backend
from backends.common.kernel_backend import OwnKernelBackend
from backends.errors import BackendUnavailable
from harness.kernels.laplace import plan
from harness.kernels.requirements import violations
from harness.kernels.source import assemble
from harness.variants.axes import BOUNDS, LaplaceVariant
from tests.support.checks import Point, spelled
from tests.support.compiling import NVIDIA
from tests.support.laplace import IMAGE, check
from tests.support.samples import BOUNDED, bounded_of

SHAPE = LaplaceVariant(
    border_code="mapped", vector_width=8, rows_per_item=4, loads_in_flight=4, group_height=4
)
DECLARED = {"cl": "reqd_work_group_size(GROUP_WIDTH", "cu": "__launch_bounds__(GROUP_WIDTH"}


@pytest.mark.parametrize("point", BOUNDED, ids=spelled)
def test_results_are_right_within_a_bound_and_the_bound_is_kept(own_backend: Backend, point: Point) -> None:
    problem, variant = bounded_of(point)
    source = problem.make_source(seed=1)
    check(own_backend, problem, variant, source)
    with own_backend.prepare(problem, variant, [own_backend.upload(problem.pack(source))]) as prepared:
        taken = [launch.registers for launch in prepared.launches]
    assert all(registers is None or registers <= point["most_registers"] for registers in taken), taken


@pytest.mark.parametrize("most", BOUNDS)
def test_cudas_compiler_keeps_a_bound(most: int) -> None:
    nvrtc = pytest.importorskip("backends.cuda.nvrtc")
    variant = replace(SHAPE, vector_width=16, stencil="halves", most_registers=most)
    planned = plan(replace(IMAGE, mask="diagonal", channels=3), variant, NVIDIA)
    source = assemble("cu", planned.files, planned.macros)
    try:
        log = nvrtc.compile_source(source, (9, 0), ("--ptxas-options=-v",)).log
    except BackendUnavailable as error:
        pytest.skip(str(error))
    [taken] = re.findall(r"Used (\d+) registers", log)
    assert int(taken) <= most


@pytest.mark.parametrize("language", ["cl", "cu"])
def test_a_bound_takes_the_place_of_the_declared_size(language: str) -> None:
    for variant, told in ((SHAPE, 0), (replace(SHAPE, most_registers=72), 72)):
        planned = plan(IMAGE, variant, NVIDIA)
        text = assemble("cl" if language == "cl" else "cu", planned.files, planned.macros)
        assert planned.most_registers == told
        assert f"#define MOST_REGISTERS {told}\n" in text
        assert DECLARED[language] in text.partition("#if MOST_REGISTERS")[2].partition("#else")[2]


def test_a_group_that_may_not_fit_a_compute_unit_is_refused() -> None:
    fitting = replace(SHAPE, group_width=32, group_height=16, most_registers=128)
    assert violations(fitting, IMAGE, NVIDIA) == []
    [reason] = violations(replace(fitting, group_height=32), IMAGE, NVIDIA)
    assert reason == "most_registers 128: a group of 1024 work-items may not fit a compute unit"


def test_nvidias_opencl_is_told_by_an_option() -> None:
    opencl = pytest.importorskip("backends.opencl.backend")
    with opencl.OpenClBackend.open(0) as backend:
        assert isinstance(backend, OwnKernelBackend)
        assert backend.build_options(72) == (*backend.build_options(), "-cl-nv-maxrregcount=72")


def test_a_fence_behind_the_loads_needs_rows_in_flight() -> None:
    assert violations(replace(SHAPE, load_order="fenced"), IMAGE, NVIDIA) == []
    variant = LaplaceVariant(scheme="per_pixel", stencil="unrolled", load_order="fenced")
    [reason] = violations(variant, IMAGE, NVIDIA)
    assert reason == "load_order fenced: the scheme per_pixel has no rows in flight"

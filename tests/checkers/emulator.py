"""Our defaults and rungs for AMD's GPUs, in an emulator of their instructions: ``tox -e emulator``.

It takes minutes a target, and a checkout of tinygrad's repository, which no package index has: this file is
named not to be among the functional tests. It says whether answers are right, and nothing of time.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from pathlib import Path

import pytest

from backends.errors import BackendUnavailable
from harness.kernels.requirements import violations
from harness.kernels.targets import TARGETS, Case, Target, cases
from harness.problems import BORDERS, IMAGE_DTYPES, MASKS, OUTPUTS, Bandwidth, Laplace, Problem, Reduction
from harness.variants.axes import LaplaceVariant
from tests.support.amd_emulator import ARCHITECTURES, EMULATOR, Lacking, emulated
from tests.support.checks import Point, pairwise, spelled

pytestmark = pytest.mark.skipif(
    not os.environ.get(EMULATOR),
    reason=f"{EMULATOR} names no checkout of tinygrad's repository, which has the emulator",
)


def small(problem: Problem) -> Problem:
    """The problem on a source that an emulator gets through in seconds, no multiple of anything."""
    if isinstance(problem, Reduction):
        return replace(problem, shape=(37, 29))
    if isinstance(problem, Laplace):
        return replace(problem, height=7, width=41)
    assert isinstance(problem, Bandwidth)
    return replace(problem, size=1037)


def one_unit(target: Target) -> Target:
    """The target with one compute unit, which has fewer work-groups to emulate."""
    return replace(target, device=replace(target.device, compute_units=1))


# The emulator knows one width of sub-groups of each, the first.
EMULATED = {
    target.architecture: one_unit(target)
    for target in reversed(TARGETS)
    if target.architecture in ARCHITECTURES
}
CASES = [
    pytest.param(target, case, id=f"{name}-{case.name}-{case.problem.label}")
    for name, target in sorted(EMULATED.items())
    for case in cases(target.device)
]


@pytest.mark.parametrize(("target", "case"), CASES)
def test_answers_are_right(tmp_path: Path, target: Target, case: Case) -> None:
    problem = small(case.problem)
    if reasons := violations(case.variant, problem, target.device):
        pytest.skip("; ".join(reasons))
    host = problem.make_source(5)
    try:
        answer = emulated(problem, case.variant, target, host, tmp_path)
    except (BackendUnavailable, Lacking) as error:
        pytest.skip(str(error))
    outcome = problem.verify(answer, host)
    assert outcome.ok, outcome.message


def neighbouring(point: Point, target: Target) -> LaplaceVariant:
    """A filter in groups of one sub-group across, or of two, whose neighbours come as the point says."""
    rows, loads = point["rows"]
    return LaplaceVariant(
        border_code="mapped",
        pixels=point["pixels"],
        scheme=point["scheme"],
        vector_width=point["vector_width"],
        rows_per_item=rows,
        loads_in_flight=loads,
        group_width=point["sub_groups"] * target.wave,
        group_height=2,
    )


def image(point: Point, width: int, height: int = 5) -> Laplace:
    """The point's problem at a size."""
    dtype, channels = point["pixel"]
    parameters = {name: point[name] for name in ("mask", "border", "output")}
    return Laplace(dtype=dtype, height=height, width=width, channels=channels, border_value=7, **parameters)


def can_run(point: Point) -> bool:
    """Whether an AMD GPU can run it."""
    target = EMULATED["gfx1100"]
    return not violations(neighbouring(point, target), image(point, 1), target.device)


NEIGHBOURS = pairwise(
    {
        "pixel": tuple(itertools.product(IMAGE_DTYPES, (1, 3, 4))),
        "border": BORDERS,
        "pixels": ("shuffle", "aligned"),
        "vector_width": (1, 2, 4, 8, 16),
        "rows": ((1, 1), (2, 2), (4, 1), (8, 4)),
        "scheme": ("march", "per_pixel"),
        "sub_groups": (1, 2),
        "mask": tuple(MASKS),
        "output": OUTPUTS,
    },
    can_run,
)


@pytest.mark.parametrize("architecture", ["gfx90a", "gfx1100"])
@pytest.mark.parametrize("point", NEIGHBOURS, ids=spelled)
def test_neighbours_are_right(tmp_path: Path, architecture: str, point: Point) -> None:
    """Rows of one pixel, of a vector, of one pixel more, and of about one sub-group and two."""
    target = EMULATED[architecture]
    variant = neighbouring(point, target)
    vector, whole = (
        -(-items * variant.vector_width // image(point, 1).channels) for items in (1, target.wave)
    )
    for width in (1, vector, vector + 1, whole, 2 * whole - 1):
        problem = image(point, width)
        host = problem.make_source(width)
        try:
            answer = emulated(problem, variant, target, host, tmp_path)
        except (BackendUnavailable, Lacking) as error:
            pytest.skip(str(error))
        outcome = problem.verify(answer, host)
        assert outcome.ok, f"{width} pixels: {outcome.message}"


def test_a_wrong_kernel_is_seen(tmp_path: Path) -> None:
    """The sum's kernel holds against the answer of the sum, not against that of the minimum."""
    target = EMULATED["gfx1100"]
    case = next(each for each in cases(target.device) if each.problem.label.startswith("sum int32"))
    problem = small(case.problem)
    assert isinstance(problem, Reduction)
    host = problem.make_source(5)
    try:
        answer = emulated(problem, case.variant, target, host, tmp_path)
    except (BackendUnavailable, Lacking) as error:
        pytest.skip(str(error))
    assert not replace(problem, op="min").verify(answer, host).ok

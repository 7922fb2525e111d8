"""Our defaults and rungs for AMD's GPUs, in an emulator of their instructions: ``tox -e emulator``.

It takes minutes a target, and a checkout of tinygrad's repository, which no package index has: this file is
named not to be among the functional tests. It says whether answers are right, and nothing of time.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from backends.errors import BackendUnavailable
from harness.kernels.requirements import violations
from harness.kernels.targets import TARGETS, Case, Target, cases
from harness.problems import Bandwidth, Laplace, Problem, Reduction
from tests.support.amd_emulator import ARCHITECTURES, EMULATOR, Lacking, emulated

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

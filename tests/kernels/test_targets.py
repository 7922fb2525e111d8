"""Devices that need not be here, and what is compiled for them."""

from __future__ import annotations

import pytest

from harness.kernels.requirements import violations
from harness.kernels.targets import GPU, KERNELS, TARGETS, Target, cases, targets
from harness.problems import Reduction
from harness.problems.dtypes import DTYPES
from harness.variants.ladders import LADDERS


def test_an_architecture_has_its_widths_of_sub_groups() -> None:
    assert [target.label for target in targets("gfx1100")] == ["gfx1100, waves of 32", "gfx1100, waves of 64"]
    assert [target.wave for target in targets("gfx942")] == [64]
    assert [target.device.sub_group_width for target in targets("gfx1201", 64)] == [64]
    assert [target.device.compute_capability for target in targets("sm_75")] == [75]


@pytest.mark.parametrize(
    ("name", "wave", "said"),
    [
        ("gfx943", 0, "target 'gfx943' is unknown.*did you mean 'gfx942'"),
        ("gfx942", 32, "gfx942 has waves of 64, not of 32"),
        ("sm_90", 64, "sm_90 has waves of 32, not of 64"),
    ],
)
def test_another_target_is_a_mistake(name: str, wave: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        targets(name, wave)


def test_all_defaults_and_rungs_are_compiled() -> None:
    found = cases(GPU)
    assert len({(case.problem, case.name) for case in found}) == len(found)
    defaults = {(c.problem.op, c.problem.dtype) for c in found if isinstance(c.problem, Reduction)}
    assert defaults == {(op, dtype) for op in KERNELS for dtype in DTYPES}
    rungs = {f"{name}:{i}" for name, ladder in LADDERS.items() for i in range(len(ladder.rungs))}
    assert rungs <= {case.name for case in found}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.label)
def test_only_what_a_target_can_run_is_compiled(target: Target) -> None:
    found = cases(target.device)
    assert not [case for case in found if violations(case.variant, case.problem, target.device)]
    assert {case.name for case in found} >= {"default", "modern:0"}


def test_one_problem_alone() -> None:
    problem = Reduction("sum", "float32", (100,))
    found = cases(GPU, problem)
    assert {case.problem for case in found} == {problem}
    assert [case.name for case in found][:2] == ["default", "portable default"]

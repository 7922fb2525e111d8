"""What our defaults take of GPUs that are not here, by their compilers: ``tox -e clang``.

A default whose registers are spilled to memory is slow. It takes minutes, so this file is named not to be
among the functional tests; nothing is run on any of those GPUs.
"""

from __future__ import annotations

import pytest

from backends.errors import BackendUnavailable
from harness.cli.compiled_view import compiled
from harness.kernels.targets import TARGETS, Case, Target, cases, targets
from harness.kernels.view import problem_from_text, variant_of

KNOWN = {
    "gfx1100, waves of 32": {"norm_l1 int8 2560x2560"},
    "gfx1201, waves of 32": {"norm_l1 int8 2560x2560"},
    "sm_86, waves of 32": {
        "norm_l1 int64 2560x2560",
        "norm_l1 uint64 2560x2560",
    },
    "sm_90, waves of 32": {
        "norm_l1 int64 2560x2560",
    },
    "sm_100, waves of 32": {
        "product float32 2560x2560",
        "sum float32 2560x2560",
        "laplacian four constant(0) uint16C1 2560x2560",
        "laplacian four constant(0) int16C1 2560x2560",
    },
    "sm_120, waves of 32": {
        "product float32 2560x2560",
        "sum float32 2560x2560",
        "laplacian eight reflect_101 uint8C1 2560x2560",
        "laplacian four constant(0) uint16C1 2560x2560",
        "laplacian four constant(0) int16C1 2560x2560",
    },
}
"""Defaults that spill, by target; why, says docs/platforms.md."""
MOST_BYTES = 16
"""That they keep in memory."""


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.label)
def test_no_other_default_spills(target: Target) -> None:
    defaults = [case for case in cases(target.device) if case.name.endswith("default")]
    assert len(defaults) > 100
    try:
        kernels = compiled(target, defaults)["kernels"]
    except BackendUnavailable as error:
        pytest.skip(str(error))
    assert len(kernels) >= len(defaults)
    assert [row for row in kernels if "error" in row] == []
    spilling = [row for row in kernels if row["spills"] or row["scalar_spills"] or row["stack_bytes"]]
    known = KNOWN.get(target.label, set())
    # Another version of a compiler may spill less.
    assert [row for row in spilling if row["problem"] not in known or row["stack_bytes"] > MOST_BYTES] == []


@pytest.mark.parametrize(("name", "wave"), [("gfx1100", 64), ("sm_75", 32)])
def test_spills_are_seen(name: str, wave: int) -> None:
    """Many vectors of 16 in flight, which no register file holds."""
    [target] = targets(name, wave)
    problem = problem_from_text("minmax float64")
    axes = {"vector_width": 16, "loads_in_flight": 8, "group_size": 1024 if target.language == "cu" else 256}
    variant = variant_of(problem, target.device, axes)
    try:
        [row] = compiled(target, [Case(problem, "much in flight", variant)])["kernels"]
    except BackendUnavailable as error:
        pytest.skip(str(error))
    assert row["spills"] > 0
    assert row["stack_bytes"] > 0

"""The finishes that leave something for the next call: calls one after the other, on processors too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from backends import Backend
from harness.dtypes import DTYPES
from harness.problems import Reduction
from harness.variants import PER_PROBLEM, ReductionVariant
from tests.checks import KERNELS, require, skipping

POCL = "Portable Computing Language"


@pytest.fixture
def waiting_backend(own_backend: Backend, monkeypatch: pytest.MonkeyPatch) -> Backend:
    """A backend whose device's groups may wait: PoCL starts them in the order of their numbers, though
    OpenCL promises that of nobody.
    """
    device = own_backend.device
    if not device.awaits_groups and device.platform != POCL:
        pytest.skip(f"{device.key}: its work-groups may not wait for each other")
    monkeypatch.setattr(own_backend, "device", replace(device, awaits_groups=True))
    return own_backend


@pytest.mark.parametrize("finish", ["flagged", "alternating"])
@pytest.mark.parametrize("op", KERNELS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 70, 4097])
def test_calls_one_after_the_other_leave_nothing_to_the_next(
    waiting_backend: Backend, finish: str, op: str, dtype: str, size: int
) -> None:
    """Answers to two sources in turn: had a call left a flag, the next would read the former's results."""
    variant = ReductionVariant(group_size=4, groups=PER_PROBLEM, finish=finish)
    problem = Reduction(op, dtype, (size,))
    require(waiting_backend, problem, variant)
    arrays = [problem.make_source(seed) for seed in (3, 4)]
    sources = [waiting_backend.upload(np.ascontiguousarray(array)) for array in arrays]
    with skipping(), waiting_backend.prepare(problem, variant, sources) as prepared:
        for call in (0, 1, 0, 0, 1):
            prepared.enqueue(call)
            found = problem.verify(prepared.result(), arrays[call])
            assert found.ok, found.message
        # Timed by the API's clock a call leaves no less.
        prepared.event_seconds(1)
        prepared.enqueue(0)
        assert problem.verify(prepared.result(), arrays[0]).ok
        prepared.poison()
        prepared.enqueue(1)
        assert problem.verify(prepared.result(), arrays[1]).ok

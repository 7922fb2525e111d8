"""Arrays beyond 2^31 elements and 2^32 bytes, on GPUs with the memory for them: every index is of 64 bits."""

from __future__ import annotations

import numpy as np
import psutil
import pytest

from backends import Backend
from harness.problems import Array, Reduction
from harness.variants.axes import ReductionVariant
from tests.support.checks import require

SHAPES = {"uint8": 2**32 + 3, "int16": 2**31 + 3, "float32": 2**31 + 3}
HOST_COPIES = 3
"""Memory of the host in sources: the array, what NumPy makes of it meanwhile, and room."""

VARIANTS = {
    "default": None,
    "per problem": ReductionVariant(vector_width=4, finish="relaunch"),
    "few items": ReductionVariant(vector_width=4, stride="local", groups=1, group_size=64),
}


@pytest.fixture(scope="module", params=SHAPES)
def huge(request: pytest.FixtureRequest, own_backend: Backend) -> Array:
    """Small values, twice a lowest one beyond 2^31 elements, and a highest one at the end."""
    dtype, size = request.param, SHAPES[request.param]
    device, needed = own_backend.device, size * np.dtype(dtype).itemsize
    if device.kind != "gpu":
        pytest.skip(f"{device.key} is no GPU: it would take minutes")
    if device.max_allocation_bytes < needed:
        pytest.skip(f"{device.key} allocates {device.max_allocation_bytes} bytes, not {needed}")
    if psutil.virtual_memory().available < HOST_COPIES * needed:
        pytest.skip(f"the host has not the memory for {HOST_COPIES} times {needed} bytes")
    block = np.random.default_rng(1).integers(1, 100, 2**20 + 7).astype(dtype)
    array = np.resize(block, size)
    array[[2**31, 2**31 + 1]] = 0
    array[-1] = 101
    return array


@pytest.mark.parametrize("op", ["minmaxloc", "sum", "count_nonzero"])
def test_every_element_counts(own_backend: Backend, huge: Array, op: str) -> None:
    problem = Reduction(op, huge.dtype.name, huge.shape)
    expected = problem.reference(huge)
    source = own_backend.upload(huge)
    for name, variant in VARIANTS.items():
        chosen = variant or own_backend.default_variant(problem)
        require(own_backend, problem, chosen)
        with own_backend.prepare(problem, chosen, [source]) as prepared:
            prepared.enqueue(0)
            assert prepared.result() == expected, name

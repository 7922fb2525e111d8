"""Sums of narrow integers by the instructions of processors that add neighbours at once, and of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from backends import available, open_backend
from harness.problems import Reduction
from harness.variants.axes import ReductionVariant
from tests.support.contract import wrong

if TYPE_CHECKING:
    import pyopencl as cl

    from backends.opencl.backend import OpenClBackend
else:
    cl = pytest.importorskip("pyopencl")
    from backends.opencl.backend import OpenClBackend

LACKING = {"all that there are": "", "AVX2": "#undef __AVX512BW__\n", "none": "#undef __AVX2__\n"}


@pytest.mark.parametrize("lacking", LACKING.values(), ids=LACKING)
@pytest.mark.parametrize("op", ["sum", "mean"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
def test_integers_are_added_by_whatever_instructions(
    monkeypatch: pytest.MonkeyPatch, dtype: str, op: str, lacking: str
) -> None:
    devices = available()["opencl"]
    if isinstance(devices, str):
        pytest.skip(devices)
    if devices[0].kind != "cpu" or devices[0].vector_elements < 64:
        pytest.skip("the first device has no vectors of 64 bytes")
    real = OpenClBackend._compiled

    def with_less(self: OpenClBackend, source: str, options: Sequence[str]) -> cl.Program:
        return real(self, lacking + source, options)

    monkeypatch.setattr(OpenClBackend, "_compiled", with_less)
    rng = np.random.default_rng(5)
    with open_backend("opencl") as backend:
        for size in (1, 63, 64, 511, 512, 4096 + 17, 100_003):
            problem = Reduction(op, dtype, (size,))
            variant = backend.default_variant(problem)
            assert isinstance(variant, ReductionVariant)
            assert variant.packing == "batched"
            assert variant.vector_width * problem.element.itemsize == 64
            extremes = np.iinfo(dtype)
            for source in (
                rng.integers(extremes.min, extremes.max, size, dtype, endpoint=True),
                np.full(size, extremes.max, dtype),
                np.full(size, extremes.min, dtype),
            ):
                assert not wrong(problem, backend.compute(problem, source, variant), source)

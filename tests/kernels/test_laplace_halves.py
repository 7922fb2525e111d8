"""Sums of bytes in half precision: exact for every mask and output, as NumPy's float16 rounds."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from harness.kernels.defaults import default_variant
from harness.kernels.laplace import plan
from harness.kernels.requirements import violations
from harness.problems import MASKS, OUTPUTS, Laplace
from harness.variants.axes import LaplaceVariant
from tests.support.compiling import NVIDIA
from tests.support.laplace import GPU, IMAGE
from tests.support.machines import CPU

VARIANT = LaplaceVariant(border_code="mapped", stencil="halves", vector_width=16)
Halves = NDArray[np.float16]


def halves(bits: Any) -> Halves:
    """Words of 16 bits as the halves that have these bits."""
    return np.asarray(bits, np.uint16).view(np.float16)


def fma(a: Halves, b: Halves, c: Halves) -> Halves:
    """a * b + c, rounded once: float64 holds it exactly."""
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(np.float16)


def neighbourhoods() -> NDArray[np.int64]:
    """Nine bytes each: every choice of the least and the largest values, and random ones."""
    ends = np.array(list(itertools.product((0, 1, 254, 255), repeat=9)))
    return np.concatenate([ends, np.random.default_rng(1).integers(0, 256, (100_000, 9))])


def filtered(problem: Laplace, nine: NDArray[np.int64]) -> NDArray[np.uint8]:
    """What the kernel computes of each neighbourhood, step by step, with its macros."""
    macros = plan(problem, VARIANT, NVIDIA).macros
    outer_weight, own_weight = (
        halves(int(str(macros[name]).removesuffix("u"), 16) & 0xFFFF)
        for name in ("OUTER_HALVES", "OWN_HALVES")
    )
    _, edge, corner = problem.coefficients
    one = halves(0x3C00)
    rows = halves(nine.astype(np.uint16)).reshape(-1, 3, 3)

    def outer(row: Halves) -> Halves:
        if corner == 0:
            return row[:, 1]
        sides = fma(row[:, 0], one, row[:, 2])
        return fma(sides, one, row[:, 1]) if edge == corner else sides

    sums = outer(rows[:, 0])
    if edge == corner:
        sums = fma(sums, one, outer(rows[:, 1]))
    elif edge != 0:
        sums = fma(sums, one, fma(rows[:, 1, 0], one, rows[:, 1, 2]))
    begun = fma(rows[:, 1, 1], own_weight, fma(sums, outer_weight, halves(0)))
    finished = np.maximum(fma(outer(rows[:, 2]), outer_weight, begun), halves(0))
    bits = np.minimum(finished, halves(255)).view(np.uint16)
    assert bits.max() <= 255
    return bits.astype(np.uint8)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_halves_hold_every_sum_of_bytes(mask: str, output: str) -> None:
    problem = replace(IMAGE, mask=mask, output=output)
    centre, edge, corner = problem.coefficients
    nine = neighbourhoods()
    weights = np.array([corner, edge, corner, edge, centre, edge, corner, edge, corner])
    expected = np.clip(nine @ weights, 0, 255)
    np.testing.assert_array_equal(filtered(problem, nine), expected)


def test_only_gpus_of_nvidia_from_sm_80_on_have_them() -> None:
    assert violations(VARIANT, IMAGE, NVIDIA) == []
    for device in (GPU, CPU, replace(NVIDIA, compute_capability=75), NVIDIA.in_dialect("portable")):
        assert any("half precision" in reason for reason in violations(VARIANT, IMAGE, device))


@pytest.mark.parametrize(
    ("capability", "stencil"), [(0, "paired"), (75, "paired"), (80, "halves"), (90, "halves")]
)
def test_they_are_the_default_of_bytes_there(capability: int, stencil: str) -> None:
    device = replace(NVIDIA, compute_capability=capability)
    found = [default_variant(replace(IMAGE, dtype=dtype), device) for dtype in ("uint8", "uint16")]
    assert [each.stencil for each in found if isinstance(each, LaplaceVariant)] == [stencil, "symmetric"]

"""Results of sums of bytes in single precision: exact for every sum of 16 bits, fused or not."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from harness.kernels.requirements import violations
from harness.variants.axes import LaplaceVariant
from tests.support.compiling import NVIDIA
from tests.support.laplace import GPU, IMAGE
from tests.support.recorded import ROOT

VARIANT = LaplaceVariant(border_code="mapped", stencil="floats", vector_width=16)
Floats = NDArray[np.float32]


def number(file: str, name: str) -> int:
    """A constant of a kernel file."""
    text = (ROOT / "kernels_cl" / "laplace" / file).read_text(encoding="utf-8")
    return int(re.findall(rf"^#define {name} (0x[0-9a-f]+)$", text, re.MULTILINE)[0], 16)


BIAS, TO_LOWEST_BITS = number("biased.cl", "BIAS"), number("stencil/floats.cl", "TO_LOWEST_BITS")


def saturated(words: NDArray[np.uint32]) -> Floats:
    """The kernel's share of 255, of sums of 16 bits."""
    sums = (words | np.uint32(0x4B00 << 16)).view(np.float32)
    shares = (sums - np.float32(TO_LOWEST_BITS + BIAS)) * (np.float32(1) / np.float32(255))
    return np.asarray(np.minimum(np.maximum(shares, np.float32(0)), np.float32(1)), np.float32)


def multiplied_and_added(a: Floats, b: int, c: Floats, *, fused: bool) -> Floats:
    """a * b + c as compilers may round it: once or twice. float64 holds it exactly."""
    product = a.astype(np.float64) * b
    kept = product if fused else product.astype(np.float32).astype(np.float64)
    return (kept + c.astype(np.float64)).astype(np.float32)


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "in two steps"])
@pytest.mark.parametrize("upper", [-2295, 0, 1, 127, 128, 254, 255, 256, 2295])
def test_two_results_are_joined_exactly(upper: int, fused: bool) -> None:
    words = np.arange(2**16, dtype=np.uint32)
    added = np.full(len(words), TO_LOWEST_BITS, np.float32)
    lower = multiplied_and_added(saturated(words), 255, added, fused=fused)
    uppers = saturated(np.full(len(words), upper + BIAS, np.uint32))
    joined = multiplied_and_added(uppers, 255 * 256, lower, fused=fused).view(np.uint32) & 0xFFFF
    expected = np.clip(words.astype(np.int64) - BIAS, 0, 255) + 256 * np.clip(upper, 0, 255)
    np.testing.assert_array_equal(joined, expected)


def test_any_device_can_have_them() -> None:
    for device in (NVIDIA, NVIDIA.in_dialect("portable"), GPU):
        assert violations(VARIANT, IMAGE, device) == []

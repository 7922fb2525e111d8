"""What is known of the values of a filter's axis ``stencil`` beside their kernel files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from harness.devices import DeviceInfo
from harness.kernels.filter_pixels import WHOLE_ROWS
from harness.kernels.filter_value import FilterValue, Part
from harness.kernels.values import WORD_BYTES
from harness.problems import Laplace
from harness.variants import axes
from harness.variants.axes import LaplaceVariant

_MOST_PAIRED: Final = 32
"""Bytes that become OpenCL C's widest vector of pairs."""
HALVES_CAPABILITY: Final = 80
"""The first of NVIDIA's GPUs whose instructions on two halves can also replace negative results by 0."""
_MATRIX_CAPABILITY: Final = 80
"""The first of NVIDIA's GPUs whose tensor cores multiply bytes in the shapes that the kernel has."""
_TENSOR_ITEMS: Final = 32
"""Work-items of a sub-group of NVIDIA's GPUs, which multiply together."""


class Symmetric(FilterValue):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        if variant.mask_memory != "inline":
            yield (
                "the compiler must know the mask's weights (mask_memory inline), which are in "
                f"{variant.mask_memory} memory"
            )

    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        return Part(files=("laplace/terms", "laplace/three_rows"))


class _Packed(Symmetric):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(variant, problem, device)
        if problem.dtype != "uint8":
            yield f"only sums of uint8 fit 16 bits, not of {problem.dtype}"
        if variant.border_code != "peeled":
            yield f"it takes rows as bytes, as border_code peeled reads them, {variant.border_code} does not"
        if variant.vector_width < WORD_BYTES:
            yield f"{variant.vector_width} bytes do not fill a word of 32 bits"


class _Paired(Symmetric):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(variant, problem, device)
        if problem.dtype != "uint8":
            yield f"only sums of uint8 fit 16 bits, not of {problem.dtype}"
        if variant.border_code != "mapped" or variant.pixels not in WHOLE_ROWS:
            yield (
                f"it takes rows as words, as border_code mapped reads them from pixels "
                f"{' or '.join(WHOLE_ROWS)}, {variant.border_code} from {variant.pixels} does not"
            )
        if not WORD_BYTES <= variant.vector_width <= _MOST_PAIRED:
            yield f"{variant.vector_width} elements, not {WORD_BYTES} to {_MOST_PAIRED}, that it takes apart"

    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        part = super().part(variant, problem, device)
        return replace(part, needed=("laplace/pairs", "laplace/biased"), macros={"KEEPS_WORDS": 1})


class _Halves(_Paired):
    """Sums of bytes as halves, of which the kernel's file says why they are exact."""

    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(variant, problem, device)
        if device.ptx < HALVES_CAPABILITY:
            yield f"sums in half precision are PTX for sm_{HALVES_CAPABILITY}, which the device does not take"

    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        part = super().part(variant, problem, device)
        centre, edge, corner = problem.coefficients
        # Of the pixel itself; where all neighbours weigh the same, the row's sum has it once already.
        own = centre - edge if edge == corner else centre
        weights = {"OUTER_HALVES": _two_halves(edge or corner), "OWN_HALVES": _two_halves(own)}
        macros = {**part.macros, **weights}
        return replace(part, needed=("laplace/pairs",), files=("laplace/three_rows",), macros=macros)


class _Matrix(_Paired):
    """Sums of bytes by the tensor cores: whole sub-groups compute products of matrices."""

    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(variant, problem, device)
        if device.ptx < _MATRIX_CAPABILITY:
            yield f"products of matrices are PTX for sm_{_MATRIX_CAPABILITY}, which the device does not take"
        if variant.group_width % _TENSOR_ITEMS:
            yield f"{variant.group_width} work-items across are no whole sub-groups of {_TENSOR_ITEMS}"

    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        part = super().part(variant, problem, device)
        macros = {**part.macros, "ITEMS_TOGETHER": _TENSOR_ITEMS}
        return replace(part, needed=(), files=("laplace/three_rows",), macros=macros)


def _two_halves(weight: int) -> str:
    """A word of two halves (IEEE binary16), each a weight of a mask."""
    bits = int(np.float16(weight).view(np.uint16))
    return f"0x{bits << 16 | bits:08x}u"


STENCILS: Final[dict[axes.Stencil, FilterValue]] = {
    "nine_terms": FilterValue(),
    "unrolled": FilterValue(),
    "symmetric": Symmetric(),
    "packed": _Packed(),
    "paired": _Paired(),
    "floats": _Paired(),
    "halves": _Halves(),
    "matrix": _Matrix(),
}

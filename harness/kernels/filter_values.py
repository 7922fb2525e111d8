"""What is known of the values of a filter's axes beside their kernel files: one class or row each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from harness.devices import DeviceInfo
from harness.kernels.filter_pixels import PIXELS, WHOLE_ROWS
from harness.kernels.filter_stencils import STENCILS, Symmetric
from harness.kernels.filter_value import FilterValue, Part
from harness.kernels.geometry import laplace_tiles, max_groups_down
from harness.kernels.plan import Argument, Buffer, PlannedLaunch, Scalar, Source
from harness.problems import Laplace
from harness.problems.laplace import PITCH_ALIGNMENT
from harness.variants import axes
from harness.variants.axes import LaplaceVariant

_WEIGHTS_BYTES: Final = 64
"""Of the buffer that holds the mask's nine weights: the next power of two, for OpenCL fills memory so."""


class _Mapped(FilterValue):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        if variant.pixels in WHOLE_ROWS and not isinstance(STENCILS[variant.stencil], Symmetric):
            yield f"reads whole rows, and the stencil {variant.stencil} each neighbour by itself"


class _Padded(FilterValue):
    """A launch before the filter's copies the source into an image with a border; it is part of each call."""

    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        nbytes = self._nbytes(problem)
        if nbytes > device.max_allocation_bytes:
            limit = device.max_allocation_bytes
            yield f"the padded image of {nbytes} bytes is over the device's limit of {limit}"

    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        arguments: tuple[Argument, ...] = (Source(), Buffer("padded"), *shape_arguments(problem))
        group_size = (variant.group_width, variant.group_height)
        across, down = laplace_tiles(problem, variant)
        # Its groups take turns down the image, whatever the filter's own launch does.
        groups = (across, min(down, max_groups_down(device)))
        pad = PlannedLaunch("pad", groups, group_size, arguments)
        return Part(
            macros={"PADDING": self._padding(problem)},
            buffers={"padded": self._nbytes(problem)},
            before=(pad,),
            source=Buffer("padded"),
        )

    @staticmethod
    def _padding(problem: Laplace) -> int:
        """Elements on each side of a row: at least a pixel, and rows stay aligned."""
        return PITCH_ALIGNMENT // problem.element.itemsize

    def _nbytes(self, problem: Laplace) -> int:
        pitch = problem.pitch + 2 * self._padding(problem)
        return (problem.height + 2) * pitch * problem.element.itemsize


class _Peeled(_Mapped):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(variant, problem, device)
        if variant.pixels != "global":
            yield f"a work-item reads its rows itself, not from {variant.pixels}"
        if variant.vector_width < problem.channels:
            yield f"{variant.vector_width} elements do not hold a pixel of {problem.channels} channels"


BORDER_CODES: Final[dict[axes.BorderCode, FilterValue]] = {
    "branches": FilterValue(),
    "padded": _Padded(),
    "select": FilterValue(),
    "mapped": _Mapped(),
    "peeled": _Peeled(),
}


class _PerPixel(FilterValue):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        if variant.loads_in_flight > 1:
            yield f"it keeps no rows, of which {variant.loads_in_flight} could be loads in flight"


class _March(FilterValue):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        if not isinstance(STENCILS[variant.stencil], Symmetric):
            yield (
                "it adds up what whole rows contribute, as the stencil symmetric tells, "
                f"{variant.stencil} does not"
            )


SCHEMES: Final[dict[axes.Scheme, FilterValue]] = {"per_pixel": _PerPixel(), "march": _March()}


class _Fenced(FilterValue):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        if not device.ptx:
            yield "the fence is PTX"
        if variant.scheme != "march":
            yield f"the scheme {variant.scheme} has no rows in flight"


LOAD_ORDERS: Final[dict[axes.LoadOrder, FilterValue]] = {"compiler": FilterValue(), "fenced": _Fenced()}


class _GlobalMask(FilterValue):
    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        held = np.array(problem.weights, problem.accumulator).tobytes().ljust(_WEIGHTS_BYTES, b"\0")
        return Part(
            buffers={"weights": _WEIGHTS_BYTES}, initial={"weights": held}, arguments=(Buffer("weights"),)
        )


MASK_MEMORIES: Final[dict[axes.MaskMemory, FilterValue]] = {
    "inline": FilterValue(),
    "constant": FilterValue(),
    "global": _GlobalMask(),
}

INTERIORS: Final[dict[axes.Interior, FilterValue]] = {
    "general": FilterValue(),
    "specialized": FilterValue(),
}

FILTER_VALUES: Final[Mapping[str, Mapping[Any, FilterValue]]] = {
    "interior": INTERIORS,
    "mask_memory": MASK_MEMORIES,
    "border_code": BORDER_CODES,
    "pixels": PIXELS,
    "stencil": STENCILS,
    "load_order": LOAD_ORDERS,
    "scheme": SCHEMES,
}
"""The axes of a filter that are folders, in the order in which a source has their files."""


def shape_arguments(problem: Laplace) -> tuple[Scalar, ...]:
    """What a kernel is told of an image: its height, the elements of a row and those up to the next row."""
    return tuple(Scalar(value, "uint32") for value in (problem.height, problem.row_elements, problem.pitch))

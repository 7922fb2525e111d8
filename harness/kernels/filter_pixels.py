"""What is known of the values of a filter's axis ``pixels`` beside their kernel files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from harness.devices import DeviceInfo
from harness.kernels.cache_hint import HINTS
from harness.kernels.filter_value import FilterValue, Part
from harness.kernels.plan import SourceImage2d
from harness.kernels.values import NO_SHUFFLES, SHUFFLES, TEXEL, channel
from harness.problems import Laplace
from harness.variants import axes
from harness.variants.axes import LaplaceVariant

WHOLE_ROWS: Final = ("global", "shuffle", "aligned", "async_tile")
"""Where pixels come from as ``border_code`` reads rows."""
_ALIGNED: Final = 4
"""Elements of an aligned load beside an item's own."""
_SECTOR_BYTES: Final = 32
"""Which a GPU's cache delivers at a time."""


class _Tile(FilterValue):
    """A group's results and what is beside them lie in local memory."""

    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        elements = variant.group_width * variant.vector_width + 2 * self._margin(variant, problem)
        height = variant.group_height * variant.rows_per_item + 2
        nbytes = elements * height * problem.element.itemsize
        if nbytes > device.local_memory_bytes:
            limit = device.local_memory_bytes
            yield f"a group's tile needs {nbytes} bytes of local memory, the device has {limit}"
        if variant.groups != axes.PER_PROBLEM:
            # PoCL's compiler cannot translate the barriers of a loop over tiles.
            yield f"a group fills local memory once, not for each of several tiles ({variant.groups}/unit)"

    def _margin(self, variant: LaplaceVariant, problem: Laplace) -> int:
        """Elements on each side of a row of results: a pixel."""
        return problem.channels


class _Image2d(FilterValue):
    """The source is an image whose texels are pixels of four channels, or single elements."""

    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        image = self._image(problem)
        if variant.border_code != "select":
            yield (
                "what lies outside it finds itself, or where coordinates are selected before (border_code "
                f"select), not by {variant.border_code}"
            )
        if HINTS[variant.cache_hint].is_loaded_with:
            yield "texels are loaded without a hint to the caches"
        across, down = device.image_sides
        if not (across and down):
            yield "the device has no images of two dimensions"
        elif image.width > across or image.height > down:
            yield f"{image.width}x{image.height} texels are over the device's limit of {across}x{down}"
        elif 0 < device.image_row_bytes < image.pitch_bytes:
            yield f"rows of {image.pitch_bytes} bytes are over the device's limit of {device.image_row_bytes}"

    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        image = self._image(problem)
        border = {"": 0, "edge": 1, "zero": 2}[image.outside]
        macros: dict[str, str | int] = {
            "TEXEL_ELEMENTS": image.texel,
            "IMAGE_BORDER": border,
            "CHANNEL": channel(problem.element),
        }
        return Part(macros=macros, source=image)

    @staticmethod
    def _image(problem: Laplace) -> SourceImage2d:
        texel = TEXEL if problem.channels == TEXEL else 1
        outside: Literal["", "edge", "zero"] = ""
        # The next texel must be the next pixel.
        if texel == problem.channels and problem.border in ("replicate", "reflect"):
            outside = "edge"
        elif texel == problem.channels and problem.border == "constant" and problem.border_value == 0:
            outside = "zero"
        pitch_bytes = problem.pitch * problem.element.itemsize
        return SourceImage2d(texel, problem.row_elements // texel, problem.height, pitch_bytes, outside)


class _ReadApart(FilterValue):
    """A work-item's own elements are one load, and its neighbours come in another way."""

    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(variant, problem, device)
        if variant.border_code != "mapped":
            yield (
                "own elements and neighbours are read apart, as by border_code mapped, not by "
                f"{variant.border_code}"
            )


class _Aligned(_ReadApart):
    """Neighbours are among the four elements before and behind an item's own."""

    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(variant, problem, device)
        if variant.vector_width % _ALIGNED:
            yield f"{variant.vector_width} elements do not begin and end where {_ALIGNED} elements do"

    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        return Part(needed=("laplace/fours",))


class _VectorsTile(_Aligned, _Tile):
    """A tile of whole vectors, with more on each side, which are copied as they are."""

    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(variant, problem, device)
        if HINTS[variant.cache_hint].is_loaded_with:
            yield "copies into local memory carry no hint to the caches"

    def _margin(self, variant: LaplaceVariant, problem: Laplace) -> int:
        return max(variant.vector_width, _SECTOR_BYTES // problem.element.itemsize)


class _Shuffle(_ReadApart):
    """Whole sub-groups go along a row: a work-item gets neighbours from the items beside it."""

    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(variant, problem, device)
        width, channels = variant.vector_width, problem.channels
        if width < channels and channels % width:
            yield f"{width} elements are neither pixels of {channels} channels nor a whole part of one"
        items = device.sub_group_width
        if not device.shuffles:
            yield NO_SHUFFLES
        elif items <= 1:
            yield "how wide sub-groups are is not known before a kernel runs"
        elif variant.group_width % items:
            yield f"{variant.group_width} work-items across are no whole sub-groups of {items}"

    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        items = max(1, device.sub_group_width)
        return Part(shared=SHUFFLES, macros={"SUB_GROUP_WIDTH": items, "ITEMS_TOGETHER": items})


PIXELS: Final[dict[axes.Pixels, FilterValue]] = {
    "global": FilterValue(),
    "local_tile": _Tile(),
    "image2d": _Image2d(),
    "shuffle": _Shuffle(),
    "aligned": _Aligned(),
    "async_tile": _VectorsTile(),
}

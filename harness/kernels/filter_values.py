"""What is known of the values of a filter's axes beside their kernel files: one class or row each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np

from harness.devices import DeviceInfo
from harness.kernels.cache_hint import HINTS
from harness.kernels.geometry import laplace_tiles
from harness.kernels.plan import Argument, Buffer, PlannedLaunch, Scalar, Source, SourceImage2d
from harness.kernels.values import NO_SHUFFLES, SHUFFLES, TEXEL, WORD_BYTES, channel
from harness.problems import Laplace
from harness.problems.laplace import PITCH_ALIGNMENT
from harness.variants import axes
from harness.variants.axes import LaplaceVariant

_WHOLE_ROWS: Final = ("global", "shuffle", "aligned", "async_tile")
"""Where pixels come from as ``border_code`` reads rows."""
_WEIGHTS_BYTES: Final = 64
"""Of the buffer that holds the mask's nine weights: the next power of two, for OpenCL fills memory so."""
_ALIGNED: Final = 4
"""Elements of an aligned load beside an item's own."""
_SECTOR_BYTES: Final = 32
"""Which a GPU's cache delivers at a time."""
_MOST_PAIRED: Final = 32
"""Bytes that become OpenCL C's widest vector of pairs."""
HALVES_CAPABILITY: Final = 80
"""The first of NVIDIA's GPUs whose instructions on two halves can also replace negative results by 0."""
_MATRIX_CAPABILITY: Final = 80
"""The first of NVIDIA's GPUs whose tensor cores multiply bytes in the shapes that the kernel has."""
_TENSOR_ITEMS: Final = 32
"""Work-items of a sub-group of NVIDIA's GPUs, which multiply together."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a value adds to the plan of a filter.

    That is files before and behind its own, files that other kinds of kernels have, too, macros, buffers with
    what they hold first, launches before the filter's, arguments behind its others, and the source that it
    reads.
    """

    needed: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    macros: Mapping[str, str | int] = field(default_factory=dict)
    buffers: Mapping[str, int] = field(default_factory=dict)
    initial: Mapping[str, bytes] = field(default_factory=dict)
    before: tuple[PlannedLaunch, ...] = ()
    arguments: tuple[Argument, ...] = ()
    source: Argument | None = None


class FilterValue:
    """A value that every device and problem can have, beside every value of the other axes."""

    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        """Why ``device`` cannot have this value in ``variant`` on ``problem``; nothing where it can."""
        return iter(())

    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        """What it adds to the plan."""
        return Part()


class _Mapped(FilterValue):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        if variant.pixels in _WHOLE_ROWS and not isinstance(STENCILS[variant.stencil], _Symmetric):
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
        pad = PlannedLaunch("pad", laplace_tiles(problem, variant), group_size, arguments)
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


class _Symmetric(FilterValue):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        if variant.mask_memory != "inline":
            yield (
                "the compiler must know the mask's weights (mask_memory inline), which are in "
                f"{variant.mask_memory} memory"
            )

    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        return Part(files=("laplace/terms", "laplace/three_rows"))


class _Packed(_Symmetric):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(variant, problem, device)
        if problem.dtype != "uint8":
            yield f"only sums of uint8 fit 16 bits, not of {problem.dtype}"
        if variant.border_code != "peeled":
            yield f"it takes rows as bytes, as border_code peeled reads them, {variant.border_code} does not"
        if variant.vector_width < WORD_BYTES:
            yield f"{variant.vector_width} bytes do not fill a word of 32 bits"


class _Paired(_Symmetric):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(variant, problem, device)
        if problem.dtype != "uint8":
            yield f"only sums of uint8 fit 16 bits, not of {problem.dtype}"
        if variant.border_code != "mapped" or variant.pixels not in _WHOLE_ROWS:
            yield (
                f"it takes rows as words, as border_code mapped reads them from pixels "
                f"{' or '.join(_WHOLE_ROWS)}, {variant.border_code} from {variant.pixels} does not"
            )
        if not WORD_BYTES <= variant.vector_width <= _MOST_PAIRED:
            yield f"{variant.vector_width} elements, not {WORD_BYTES} to {_MOST_PAIRED}, that it takes apart"

    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        part = super().part(variant, problem, device)
        return replace(part, needed=("laplace/pairs",), macros={"KEEPS_WORDS": 1})


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
        return replace(part, files=("laplace/three_rows",), macros={**part.macros, **weights})


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
    "symmetric": _Symmetric(),
    "packed": _Packed(),
    "paired": _Paired(),
    "halves": _Halves(),
    "matrix": _Matrix(),
}


class _PerPixel(FilterValue):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        if variant.loads_in_flight > 1:
            yield f"it keeps no rows, of which {variant.loads_in_flight} could be loads in flight"


class _March(FilterValue):
    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        if not isinstance(STENCILS[variant.stencil], _Symmetric):
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
        centre, edge, corner = problem.coefficients
        weights = np.array([corner, edge, corner, edge, centre, edge, corner, edge, corner])
        held = weights.astype(problem.accumulator).tobytes().ljust(_WEIGHTS_BYTES, b"\0")
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

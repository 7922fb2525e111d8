"""How a problem is computed: a point on the axes of the kernels, and the published ladders of such points.

A variant is frozen data. Each axis is one field, whose type has its values; where a value is a piece of code,
it is one file of the folder of that name under ``kernels_cl`` and ``kernels_cu``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Annotated, Any, Final, Literal, get_args, get_type_hints

from pydantic import Field, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import core_schema
from pydantic_core.core_schema import CoreSchema

from harness.checked import Whole, checked

MOST_GROUPS: Final = 64
"""The most that the axis ``groups`` has for each compute unit."""
PER_PROBLEM: Final = "per_problem"
UNBOUNDED: Final = "unbounded"
BY_SIZE: Final = "by_size"
SIXTEENTHS: Final = 16
"""In how many parts what a cache is to keep of a source is told."""
BOUNDS: Final = (32, 48, 64, 72, 80, 96, 128)
"""Registers of a work-item with which 16, 10, 8, 7, 6, 5 and 4 groups of 128 fit a compute unit."""
Order = Literal["in_order", "out_of_order"]
"""Whether a queue's (stream's) launches run one after the other."""
Events = Literal["off", "on", "profiled"]
"""Whether each launch leaves an event to wait for, and whether that tells times."""
Stride = Literal["global", "local"]
"""Whether work-items stride by the whole grid or inside the chunk of their group."""
Traversal = Literal["forward", "back_and_forth"]
"""Whether each call reads the source from its front, or every second one from its end."""
ReductionTraversal = Literal[Traversal, "segments"]
"""The same of a reduction, which may also take segments from the last to the first, and each forward."""
Storage = Literal["buffer", "image"]
"""Where the source lies."""
CacheHint = Literal["none", "streaming", "streaming_stores", "resident", "window"]
"""What the caches are told: nothing, to give up first what is loaded and stored, to give up first what is
stored alone, or to keep a part of the source and give up the rest first: by each load, or by the stream.
"""
Tree = Literal["naive", "sequential", "half_store", "unrolled", "quad", "local_atomics", "sub_group"]
"""How a work-group reduces the partial results of its work-items."""
Compare = Literal["operator", "builtin"]
"""How the lesser of two is found."""
Packing = Literal["scalar", "packed", "batched"]
"""Whether a work-item computes element by element, on the words in which elements are loaded, or element by
element on the loads in flight before what it has so far.
"""
Finish = Literal["relaunch", "host", "last_group", "flagged", "alternating", "atomic"]
"""How the groups' partial results become one."""
Dialect = Literal["vendor", "portable"]
"""Whether a kernel may use what one vendor's compiler has, such as NVIDIA's PTX, or the language alone."""
Accumulator = Literal["wide", "element"]
"""Whether a library adds in the problem's accumulator, or in the type of elements that are not widened
(:attr:`harness.problems.Reduction.narrower_accumulator`).
"""
BorderCode = Literal["branches", "padded", "select", "mapped", "peeled"]
"""How a pixel outside the image is found: by if and else, in a copy of the image with a border around it, at
an address selected before, at addresses computed once, with one wide load of a work-item's own elements, or
so at the ends of a row alone, elsewhere neighbours being wide loads, too.
"""
Pixels = Literal["global", "local_tile", "image2d", "shuffle", "aligned", "async_tile"]
"""Where a filter's neighbours come from: global memory, the group's local memory, an image, registers of the
work-items beside one, by shuffles, aligned loads of four elements of global memory, or a tile of whole
vectors that asynchronous copies bring into local memory.
"""
Interior = Literal["general", "specialized"]
"""Whether tiles that meet no border are compiled separately, without what handles it."""
Scheme = Literal["per_pixel", "march"]
"""Whether a work-item computes each result by itself, or goes down its rows and keeps what they add."""
Stencil = Literal["nine_terms", "unrolled", "symmetric", "packed", "paired", "floats", "halves", "matrix"]
"""How the mask is applied: a loop over its nine weights, the same written out, by its symmetry, so in packed
sums of 16 bits, so with two such sums in a word of 32 bits, so with results saturated in single precision,
so with the two in half precision, or by the tensor cores.
"""
LoadOrder = Literal["compiler", "fenced"]
"""Whether the compiler decides when a filter's rows are loaded, or a fence keeps all loads in front of the
first use.
"""
MaskMemory = Literal["global", "constant", "inline"]
"""Where the mask's weights are: in memory, or in the instructions."""


def _listed(values: tuple[Any, ...]) -> str:
    return ", ".join(map(str, values)) if len(values) < 20 else f"{values[0]}, {values[1]} to {values[-1]}"


class _Values:
    """The values that an axis may take, where its type has more."""

    def __init__(self, *values: int | str) -> None:
        self.values = values

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        steps = [handler(source), core_schema.literal_schema(list(self.values))]
        allowed = f"allowed are {_listed(self.values)}"
        return core_schema.custom_error_schema(
            core_schema.chain_schema(steps), custom_error_type="axis_value", custom_error_message=allowed
        )


Width = Annotated[Whole, _Values(1, 2, 4, 8, 16)]
WiderWidth = Annotated[Whole, _Values(1, 2, 4, 8, 16, 32, 64)]
"""The widest only some compilers have (:attr:`harness.devices.DeviceInfo.vector_elements`)."""
Loads = Annotated[Whole, _Values(1, 2, 4, 8)]
_Rows = Annotated[Whole, _Values(*range(1, 9), 16, 32)]
"""Also numbers that are no power of two: of an image's rows they make other numbers of tiles."""
_RowLoads = Annotated[Whole, _Values(*range(1, 9))]
Groups = Annotated[Whole | Literal["per_problem"], _Values(PER_PROBLEM, *range(1, MOST_GROUPS + 1))]
"""As many work-groups as the problem needs, or this many times the compute units of the device."""
Registers = Annotated[Whole | Literal["unbounded"], _Values(UNBOUNDED, *BOUNDS)]
"""As many as the compiler finds best for the group's size, or at most so many."""
Kept = Annotated[Whole | Literal["by_size"], _Values(BY_SIZE, *range(1, SIXTEENTHS + 1))]
"""As many sixteenths of a source as the rule for its size has the cache keep, or this many."""
GroupSize = Annotated[Whole, _Values(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)]
_GroupHeight = Annotated[Whole, _Values(*range(1, 9), 16, 32, 64, 128, 256, 512, 1024)]


@checked
class ReductionVariant:
    """One way to reduce.

    vector_width: elements a work-item (thread) loads at once. loads_in_flight: such loads before the first
    use. groups: number of work-groups (blocks). group_size: work-items a group. The other axes: see
    their types.
    """

    kind: Literal["reduction"] = field(default="reduction", kw_only=True, repr=False)
    storage: Storage = "buffer"
    vector_width: WiderWidth = 1
    loads_in_flight: Loads = 1
    stride: Stride = "global"
    groups: Groups = PER_PROBLEM
    group_size: GroupSize = 256
    tree: Tree = "sequential"
    compare: Compare = "operator"
    packing: Packing = "scalar"
    finish: Finish = "relaunch"
    traversal: ReductionTraversal = "forward"
    cache_hint: CacheHint = "none"
    kept_sixteenths: Kept = BY_SIZE
    dialect: Dialect = "vendor"


@checked
class LaplaceVariant:
    """One way to filter. A work-group (block) computes a tile at a time.

    vector_width: elements a work-item (thread) loads and computes at once along a row. rows_per_item: rows
    that it computes one after the other, keeping in registers what the next ones need of them.
    loads_in_flight: rows loaded before the first of them is used, besides the two that the first result needs
    above. group_width, group_height: shape of a work-group. groups: one for each tile, or so many that take
    tiles in turn. most_registers: of a work-item. The other axes: see their types.
    """

    kind: Literal["laplace"] = field(default="laplace", kw_only=True, repr=False)
    border_code: BorderCode = "branches"
    pixels: Pixels = "global"
    interior: Interior = "general"
    scheme: Scheme = "march"
    stencil: Stencil = "symmetric"
    mask_memory: MaskMemory = "inline"
    vector_width: WiderWidth = 1
    rows_per_item: _Rows = 1
    loads_in_flight: _RowLoads = 1
    groups: Groups = PER_PROBLEM
    group_width: GroupSize = 32
    group_height: _GroupHeight = 8
    most_registers: Registers = UNBOUNDED
    load_order: LoadOrder = "compiler"
    traversal: Traversal = "forward"
    cache_hint: CacheHint = "none"
    kept_sixteenths: Kept = BY_SIZE
    dialect: Dialect = "vendor"


@checked
class BandwidthVariant:
    """One way to read or copy: the axes as in :class:`ReductionVariant`."""

    kind: Literal["bandwidth"] = field(default="bandwidth", kw_only=True, repr=False)
    vector_width: Width = 1
    loads_in_flight: Loads = 1
    stride: Stride = "global"
    groups: Groups = 8
    group_size: GroupSize = 256
    traversal: Traversal = "forward"
    cache_hint: CacheHint = "none"
    kept_sixteenths: Kept = BY_SIZE
    dialect: Dialect = "vendor"


@checked
class CommandVariant:
    """The API's own command (cudaMemcpyAsync, clEnqueueCopyBuffer), which has no axes."""

    kind: Literal["command"] = field(default="command", kw_only=True, repr=False)


@checked
class LaunchVariant:
    """One way to enqueue launches."""

    kind: Literal["launch"] = field(default="launch", kw_only=True, repr=False)
    queue: Order = "in_order"
    events: Events = "off"


@checked
class LibraryVariant:
    """A library's call. accumulator: of a sum, which a library's plain call may add in a narrower type."""

    kind: Literal["plain"] = field(default="plain", kw_only=True, repr=False)
    accumulator: Accumulator = "wide"


Variant = Annotated[
    ReductionVariant | LaplaceVariant | BandwidthVariant | CommandVariant | LaunchVariant | LibraryVariant,
    Field(discriminator="kind"),
]
_KINDS: Final[tuple[type[Any], ...]] = get_args(get_args(Variant)[0])
_VARIANT: Final[TypeAdapter[Variant]] = TypeAdapter(Variant)


def _axes(variant: type[Any]) -> tuple[str, dict[str, tuple[Any, ...]]]:
    """The kind of a class of variants, and its axes with the values that their types allow."""
    hints = get_type_hints(variant, include_extras=True)
    values = {name: getattr(get_args(hint)[-1], "values", get_args(hint)) for name, hint in hints.items()}
    (kind,) = values.pop("kind")
    return kind, values


_NUMBER = re.compile("[0-9]{1,18}")
"""What counts as a whole number: Python refuses to read one of thousands of digits."""

AXES: Final = dict(map(_axes, _KINDS))
"""Every axis by kind of variant, with the values it may take."""


def variant_to_json(variant: Variant) -> dict[str, Any]:
    """The variant as plain data: ``kind`` and its axes."""
    return asdict(variant)


def variant_from_json(data: Mapping[str, Any]) -> Variant:
    """The variant from :func:`variant_to_json`'s form; axes left out have their defaults.

    Raises:
        ValueError: on an unknown kind or axis, or a value that the axis does not have; it names what is
        allowed.
    """
    try:
        return _VARIANT.validate_python(data)
    except ValidationError as error:
        mistake = error.errors()[0]
    if not mistake["loc"]:
        raise ValueError(f"variant kind {data.get('kind')!r} is unknown; known are {', '.join(AXES)}")
    kind, name, *_ = mistake["loc"]
    axes = AXES[str(kind)]
    if name not in axes:
        raise ValueError(f"a {kind} variant has no axis {name!r}; its axes are {', '.join(axes)}")
    raise ValueError(f"{name} = {data[str(name)]!r}: allowed are {_listed(axes[str(name)])}")


def axis_and_value(text: str) -> tuple[str, str | int]:
    """The name of an axis and the value from ``name=value``, a whole number if it is one. Whether there are
    such an axis and value :func:`variant_from_json` tells.

    Raises:
        ValueError: if the text is no such pair, or names several axes; it says how to give them.
    """
    name, _, value = text.partition("=")
    if not (name and value):
        raise ValueError("give an axis and its value, as in group_size=256")
    if "=" in value:
        raise ValueError("it names several axes; give each by a --variant of its own")
    return name, int(value) if _NUMBER.fullmatch(value) else value


def require_variant(variant: object) -> None:
    """Refuses what is no variant.

    Raises:
        TypeError: if it is of another type.
    """
    if not isinstance(variant, _KINDS):
        kinds = f"one of {', '.join(kind.__name__ for kind in _KINDS)} from harness.variants.axes"
        raise TypeError(f"variant must be None, for the default, or {kinds}, not {variant!r}")


def label(variant: Variant) -> str:
    """Short and unique among the variants of a kind, as shown in tables: every axis, in order, but for a
    ``traversal`` that goes forward, a ``cache_hint`` that gives none, what the rule has the cache keep, the
    dialect of vendors, and what is a filter's default.
    """
    pieces = [_label(variant)]
    if isinstance(variant, (ReductionVariant, LaplaceVariant, BandwidthVariant)):
        kept = f"{variant.kept_sixteenths}/{SIXTEENTHS}"
        usual = ("forward", "none", f"{BY_SIZE}/{SIXTEENTHS}", "vendor")
        special = variant.traversal, variant.cache_hint, kept, variant.dialect
        pieces += [piece for piece in special if piece not in usual]
    return " ".join(pieces)


def _label(variant: Variant) -> str:
    if isinstance(variant, (ReductionVariant, BandwidthVariant)):
        groups = "groups per problem" if variant.groups == PER_PROBLEM else f"{variant.groups}/unit"
        loads = f"w{variant.vector_width} l{variant.loads_in_flight}"
        text = f"{loads} {variant.stride} {groups} of {variant.group_size}"
        if isinstance(variant, BandwidthVariant):
            return text
        how = f"{variant.tree} {variant.compare} {variant.packing} {variant.finish}"
        return f"{variant.storage} {text} {how}"
    if isinstance(variant, LaplaceVariant):
        shape = f"{variant.group_width}x{variant.group_height}"
        rows = f"rows{variant.rows_per_item} l{variant.loads_in_flight}"
        usual = LaplaceVariant()
        pieces = [
            (variant.pixels, usual.pixels),
            (variant.interior, usual.interior),
            (variant.scheme, usual.scheme),
            (variant.stencil, usual.stencil),
            (f"mask {variant.mask_memory}", f"mask {usual.mask_memory}"),
            (f"{variant.groups}/unit", f"{usual.groups}/unit"),
            (f"{variant.most_registers} registers", f"{usual.most_registers} registers"),
            (variant.load_order, usual.load_order),
        ]
        unusual = (value for value, default in pieces if value != default)
        return " ".join((f"{variant.border_code} w{variant.vector_width} {rows} {shape}", *unusual))
    if isinstance(variant, CommandVariant):
        return "the API's own command"
    if isinstance(variant, LaunchVariant):
        return f"{variant.queue} events {variant.events}"
    return "library" if variant.accumulator == "wide" else "library, narrow sums"


def difference(before: Variant, after: Variant) -> dict[str, Any]:
    """The axes in which ``after`` differs from ``before``, with the new values: what a rung changes."""
    if type(before) is not type(after):
        raise ValueError(f"{label(before)!r} and {label(after)!r} are of different kinds")
    return {axis: value for axis, value in asdict(after).items() if value != getattr(before, axis)}


def group_items(variant: Variant) -> int:
    """Work-items of one work-group."""
    if isinstance(variant, LaplaceVariant):
        return variant.group_width * variant.group_height
    return 1 if isinstance(variant, (CommandVariant, LaunchVariant, LibraryVariant)) else variant.group_size

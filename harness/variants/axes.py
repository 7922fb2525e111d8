"""How a problem is computed: a point on the axes of the kernels, and the published ladders of such points.

A variant is frozen data. Each axis is one field; its values are one row of :data:`AXES`, and, where the value
is a piece of code, one file of the folder of that name under ``kernels_cl`` and ``kernels_cu``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Final, Literal

PER_PROBLEM: Final = "per_problem"
Groups = int | Literal["per_problem"]
"""As many work-groups as the problem needs, or this many times the compute units of the device."""
Order = Literal["in_order", "out_of_order"]
"""Whether a queue's (stream's) launches run one after the other."""
Events = Literal["off", "on", "profiled"]
"""Whether each launch leaves an event to wait for, and whether that tells times."""
MOST_GROUPS: Final = 64
"""For each compute unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReductionVariant:
    """One way to reduce.

    storage: where the source lies. vector_width: elements a work-item (thread) loads at once.
    loads_in_flight: such loads before the first use. stride: work-items stride by the whole grid (global) or
    inside the chunk of their group (local). groups: number of work-groups (blocks). group_size: work-items a
    group. tree: how a group reduces. compare: how the lesser of two is found. packing: whether a work-item
    computes element by element (scalar), on the words in which they are loaded (packed), or element by
    element on the loads in flight before what it has so far (batched). finish: how the groups' partial
    results become one.
    """

    storage: str = "buffer"
    vector_width: int = 1
    loads_in_flight: int = 1
    stride: str = "global"
    groups: Groups = PER_PROBLEM
    group_size: int = 256
    tree: str = "sequential"
    compare: str = "operator"
    packing: str = "scalar"
    finish: str = "relaunch"
    kind: ClassVar[str] = "reduction"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceVariant:
    """One way to filter.

    border_code: how a pixel outside the image is found. vector_width: elements a work-item (thread) loads and
    computes at once along a row. rows_per_item: rows it marches down, keeping in registers what the next ones
    need of them. loads_in_flight: rows loaded before the first of them is used, besides the two that the
    first result needs above. group_width, group_height: shape of a work-group (block).
    """

    border_code: str = "branches"
    vector_width: int = 1
    rows_per_item: int = 1
    loads_in_flight: int = 1
    group_width: int = 32
    group_height: int = 8
    kind: ClassVar[str] = "laplace"


@dataclass(frozen=True, slots=True, kw_only=True)
class BandwidthVariant:
    """One way to read or copy: the axes as in :class:`ReductionVariant`."""

    vector_width: int = 1
    loads_in_flight: int = 1
    stride: str = "global"
    groups: Groups = 8
    group_size: int = 256
    kind: ClassVar[str] = "bandwidth"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchVariant:
    """One way to launch: the axes of :class:`harness.kernels.plan.Submission`."""

    queue: Order = "in_order"
    events: Events = "off"
    kind: ClassVar[str] = "launch"


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryVariant:
    """No axes: a library's one call."""

    kind: ClassVar[str] = "plain"


Variant = ReductionVariant | LaplaceVariant | BandwidthVariant | LaunchVariant | LibraryVariant

_WIDTHS = (1, 2, 4, 8, 16)
_WIDER = (32, 64)
"""Of vectors that only some compilers have (:attr:`harness.devices.DeviceInfo.vector_elements`)."""
_GROUP_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

AXES: dict[str, dict[str, tuple[Any, ...]]] = {
    "reduction": {
        "storage": ("buffer", "image"),
        "vector_width": (*_WIDTHS, *_WIDER),
        "loads_in_flight": (1, 2, 4, 8),
        "stride": ("global", "local"),
        "groups": (PER_PROBLEM, *range(1, MOST_GROUPS + 1)),
        "group_size": _GROUP_SIZES,
        "tree": ("naive", "sequential", "half_store", "unrolled", "quad", "sub_group"),
        "compare": ("operator", "builtin"),
        "packing": ("scalar", "packed", "batched"),
        "finish": ("relaunch", "host", "last_group", "flagged", "alternating", "atomic"),
    },
    "laplace": {
        "border_code": ("branches", "select", "mapped"),
        "vector_width": _WIDTHS,
        "rows_per_item": (1, 2, 4, 8, 16, 32),
        "loads_in_flight": (1, 2, 4, 8),
        "group_width": _GROUP_SIZES,
        "group_height": _GROUP_SIZES,
    },
    "bandwidth": {
        "vector_width": _WIDTHS,
        "loads_in_flight": (1, 2, 4, 8),
        "stride": ("global", "local"),
        "groups": (PER_PROBLEM, *range(1, MOST_GROUPS + 1)),
        "group_size": _GROUP_SIZES,
    },
    "launch": {"queue": ("in_order", "out_of_order"), "events": ("off", "on", "profiled")},
    "plain": {},
}
"""Every axis by kind of variant, with the values it may take."""

_KINDS: dict[str, type[Any]] = {
    v.kind: v for v in (ReductionVariant, LaplaceVariant, BandwidthVariant, LaunchVariant, LibraryVariant)
}


def variant_to_json(variant: Variant) -> dict[str, Any]:
    """The variant as plain data: ``kind`` and its axes."""
    return {"kind": variant.kind, **asdict(variant)}


def variant_from_json(data: Mapping[str, Any]) -> Variant:
    """The variant from :func:`variant_to_json`'s form; axes left out have their defaults.

    Raises:
        ValueError: on an unknown kind or axis, or a value that the axis does not have; it names what is
        allowed.
    """
    kind = str(data.get("kind"))
    if kind not in _KINDS:
        raise ValueError(f"variant kind {kind!r} is unknown; known are {', '.join(_KINDS)}")
    axes = AXES[kind]
    for name, value in data.items():
        if name == "kind":
            continue
        if name not in axes:
            raise ValueError(
                f"a {kind} variant has no axis {name!r}; its axes are {', '.join(axes) or 'none'}"
            )
        if value not in axes[name] or isinstance(value, (bool, float)):
            raise ValueError(f"{name} = {value!r}: allowed are {_listed(axes[name])}")
    variant: Variant = _KINDS[kind](**{name: value for name, value in data.items() if name != "kind"})
    return variant


def require_variant(variant: object) -> None:
    """Refuses what is no variant, or none on the axes.

    Raises:
        TypeError: if it is of another type.
        ValueError: on a value that an axis does not have.
    """
    if not isinstance(variant, Variant):
        kinds = ", ".join(kind.__name__ for kind in _KINDS.values())
        raise TypeError(
            f"variant must be None, for the default, or one of {kinds} from harness.variants.axes, "
            f"not {variant!r}"
        )
    variant_from_json(variant_to_json(variant))


def _listed(values: tuple[Any, ...]) -> str:
    return ", ".join(map(str, values)) if len(values) < 20 else f"{values[0]}, {values[1]} to {values[-1]}"


def label(variant: Variant) -> str:
    """Short and unique among the variants of a kind, as shown in tables: every axis, in order."""
    if isinstance(variant, ReductionVariant):
        groups = f"{variant.groups}xCU" if variant.groups != PER_PROBLEM else "groups per problem"
        loads = f"w{variant.vector_width} l{variant.loads_in_flight}"
        text = f"{loads} {variant.stride} {groups} of {variant.group_size}"
        how = f"{variant.tree} {variant.compare} {variant.packing} {variant.finish}"
        return f"{variant.storage} {text} {how}"
    if isinstance(variant, LaplaceVariant):
        shape = f"{variant.group_width}x{variant.group_height}"
        march = f"rows{variant.rows_per_item} l{variant.loads_in_flight}"
        return f"{variant.border_code} w{variant.vector_width} {march} {shape}"
    if isinstance(variant, BandwidthVariant):
        groups = f"{variant.groups}xCU" if variant.groups != PER_PROBLEM else "groups per problem"
        loads = f"w{variant.vector_width} l{variant.loads_in_flight}"
        return f"{loads} {variant.stride} {groups} of {variant.group_size}"
    if isinstance(variant, LaunchVariant):
        return f"{variant.queue} events {variant.events}"
    return "library"


def difference(before: Variant, after: Variant) -> dict[str, Any]:
    """The axes in which ``after`` differs from ``before``, with the new values: what a rung changes."""
    if type(before) is not type(after):
        raise ValueError(f"{label(before)!r} and {label(after)!r} are of different kinds")
    return {
        f.name: getattr(after, f.name)
        for f in fields(before)
        if getattr(before, f.name) != getattr(after, f.name)
    }  # fmt: skip


def group_items(variant: Variant) -> int:
    """Work-items of one work-group."""
    if isinstance(variant, LaplaceVariant):
        return variant.group_width * variant.group_height
    return 1 if isinstance(variant, (LaunchVariant, LibraryVariant)) else variant.group_size

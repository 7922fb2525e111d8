"""What a compiler sees of a problem: found from a label, for a device that need not be there."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from harness.devices import DeviceInfo
from harness.kernels.defaults import default_variant
from harness.kernels.planner import plan
from harness.kernels.requirements import violations
from harness.kernels.source import Dialect, assemble
from harness.kernels.targets import CPU, GPU
from harness.problems import (
    BORDERS,
    DIRECTIONS,
    IMAGE_DTYPES,
    MASKS,
    OPS,
    OUTPUTS,
    Bandwidth,
    Laplace,
    Problem,
    Reduction,
)
from harness.problems.dtypes import DTYPES
from harness.variants.axes import Dialect as TextDialect
from harness.variants.axes import Variant, variant_from_json, variant_to_json
from harness.variants.ladders import LADDERS

Kind = Literal["gpu", "cpu"]

_ASSUMED: Final[Mapping[Kind, DeviceInfo]] = {"gpu": GPU, "cpu": CPU}

_SIZES = re.compile(r"[0-9]{1,18}(x[0-9]{1,18})*")
_CHANNELS = re.compile(r"\b(u?int(?:8|16)|float32)C([0-9])\b")
_SIDE = 2560


def assumed(kind: Kind, language: Dialect) -> DeviceInfo:
    """The device that a source is assembled for: an NVIDIA GPU, or a processor with PoCL."""
    device = _ASSUMED[kind]
    return replace(device, nontemporal=True, portable={}) if language == "cu" else device


def problem_from_text(text: str) -> Problem:
    """The problem of a label such as ``minmax int32 2560x2560`` or ``laplace four uint8 2560x2560``.

    The words may stand in any order. A shape or a value left out is that of ``harness run``: 2560x2560,
    float32 or uint8, reflect_101, laplacian. Channels are written as in ``uint8C3``.

    Raises:
        ValueError: on a word that means nothing, two of one meaning, or a problem that there is not.
    """
    found: dict[str, str] = {}
    for word in _CHANNELS.sub(r"\1 \2_channels", text).split():
        key, value = _meaning(word)
        if key in found:
            raise ValueError(f"{text!r} names two: {found[key]} and {value}")
        found[key] = value
    filters = [key for key in ("laplace", "mask", "border", "output", "channels") if key in found]
    named = [key for key in ("op", "direction") if key in found]
    if len(named) + bool(filters) != 1:
        raise ValueError(f"{text!r} must name one problem: an op ({', '.join(OPS)}), laplace, read or copy")
    sizes = tuple(map(int, found.get("sizes", f"{_SIDE}x{_SIDE}").split("x")))
    if filters:
        return _filter(text, found, sizes)
    dtype = found.get("dtype", "float32")
    if "op" in found:
        return Reduction(found["op"], dtype, sizes)
    size = 1
    for each in sizes:
        size *= each
    return Bandwidth(found["direction"], dtype, size)


def _meaning(word: str) -> tuple[str, str]:
    """What a word of a label names, and its value."""
    known = {
        "laplace": ("laplace",),
        "op": tuple(OPS),
        "direction": DIRECTIONS,
        "mask": tuple(MASKS),
        "border": BORDERS,
        "output": OUTPUTS,
        "dtype": tuple(DTYPES),
    }
    for key, values in known.items():
        if word in values:
            return key, word
    if word.endswith("_channels"):
        return "channels", word.removesuffix("_channels")
    if _SIZES.fullmatch(word):
        if not all(map(int, word.split("x"))):
            raise ValueError(f"{word!r} is no shape; give numbers above 0, as in {_SIDE}x{_SIDE}")
        return "sizes", word
    raise ValueError(_unknown("word", word, (each for values in known.values() for each in values)))


def _unknown(what: str, value: str, known: Iterable[str]) -> str:
    return f"{what} {value!r} is unknown; known are {', '.join(known)}"


def _filter(text: str, found: Mapping[str, str], sizes: Sequence[int]) -> Laplace:
    if len(sizes) != 2:
        raise ValueError(f"{text!r}: an image has a width and a height, as in {_SIDE}x{_SIDE}")
    dtype = found.get("dtype", "uint8")
    if dtype not in IMAGE_DTYPES:
        raise ValueError(_unknown("dtype of an image", dtype, IMAGE_DTYPES))
    return Laplace(
        found.get("mask", "four"),
        found.get("border", "reflect_101"),
        found.get("output", "laplacian"),
        dtype,
        sizes[1],
        sizes[0],
        int(found.get("channels", 1)),
    )


def variant_of(
    problem: Problem, device: DeviceInfo, axes: Mapping[str, Any] | None = None, rung: str = ""
) -> Variant:
    """The default of the device or a rung such as ``modern:7`` (from 0, the base), with values of axes.

    Raises:
        ValueError: on an unknown ladder, rung, axis or value, or where the device cannot run the variant.
    """
    dialect: TextDialect = "portable" if (axes or {}).get("dialect") == "portable" else "vendor"
    variant = _rung(problem, rung) if rung else default_variant(problem, device, dialect)
    variant = variant_from_json({**variant_to_json(variant), **(axes or {})})
    if found := violations(variant, problem, device):
        raise ValueError(f"{problem.label} on {device.name}: {'; '.join(found)}")
    return variant


def _rung(problem: Problem, rung: str) -> Variant:
    name, _, number = rung.partition(":")
    ladders = {each.name: each for each in LADDERS.values() if each.kind == problem.kind}
    if name not in ladders:
        raise ValueError(_unknown(f"ladder of a {problem.kind}", name, ladders))
    rungs = ladders[name].rungs
    if not (number.isdecimal() and int(number) < len(rungs)):
        raise ValueError(f"rung {rung!r}: {name} has the rungs {name}:0 to {name}:{len(rungs) - 1}")
    return rungs[int(number)]


def source_of(problem: Problem, variant: Variant, device: DeviceInfo, dialect: Dialect) -> str:
    """The whole source, each part behind a ``#line`` mark that names its file."""
    made = plan(problem, variant, device)
    return assemble(dialect, made.files, made.macros)


def difference(before: str, after: str, names: tuple[str, str]) -> str:
    """The unified diff of two texts, empty where they are the same."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")
    return "\n".join(lines)

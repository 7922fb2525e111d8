"""A suite of one block, made from the options of a command line or of a call in place of a TOML file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from harness.explain import validation
from harness.suites.files import load_suite
from harness.suites.schema import LaplaceBlock, ReductionBlock, SuiteError
from harness.variants.axes import axis_and_value

MEASURE: Final = {"gpu_contexts_s": 120.0, "reference_limit_bytes": 0}
"""How long to measure: as the suite quick does, but for these. One block needs less time in all, and what is
asked for by name is measured on the reference backend too."""

_SIDE = "[1-9][0-9]{0,17}"
_SHAPE, _SIZE = re.compile(f"{_SIDE}(x{_SIDE})*"), re.compile(f"{_SIDE}x{_SIDE}")
_MOST_IN_A_NAME = 3
_REDUCTION = {"op": "ops", "dtype": "dtypes", "shape": "shapes", "cache": "caches", "variant": "variants"}
_LAPLACE = {
    "laplace": "masks",
    "border": "borders",
    "output": "outputs",
    "dtype": "dtypes",
    "channels": "channels",
    "shape": "sizes",
    "cache": "caches",
    "variant": "variants",
}
_DEFAULTS: dict[str, dict[str, list[Any]]] = {
    "reduction": {"dtypes": ["float32"], "shapes": [[2560, 2560]]},
    "laplace": {
        "borders": ["reflect_101"],
        "outputs": ["laplacian"],
        "dtypes": ["uint8"],
        "channels": [1],
        "sizes": [[2560, 2560]],
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problems:
    """The problems that are asked for: all combinations of the values, each field an option of that name.

    ``op`` names reductions and ``laplace`` masks: one of the two. ``shape`` is text such as ``3000x2000``
    (of an image the width and the height). ``variant`` has ladders, ``default``, and values of axes such as
    ``group_size=256``, in the device's default with ``base=default``. What is empty has a default.
    """

    op: Sequence[str] = ()
    laplace: Sequence[str] = ()
    dtype: Sequence[str] = ()
    shape: Sequence[str] = ()
    border: Sequence[str] = ()
    output: Sequence[str] = ()
    channels: Sequence[int] = ()
    cache: Sequence[str] = ()
    variant: Sequence[str] = ()

    @property
    def given(self) -> list[str]:
        """The options that have a value."""
        return [f"--{name}" for name, values in asdict(self).items() if values]


def adhoc_suite(problems: Problems, image_size: tuple[int, int] | None = None) -> tuple[str, str]:
    """The name and the TOML text of the suite that has these problems in its one block.

    Args:
        problems: what is asked for.
        image_size: (height, width) of the photograph that the filter takes, in place of a shape.

    Raises:
        SuiteError: if a value is not valid or options do not belong together; names the option and what is
            allowed.
    """
    kind = _kind(problems)
    options = _REDUCTION if kind == "reduction" else _LAPLACE
    asked: dict[str, Any] = asdict(problems)
    asked["shape"] = [_shape(text, kind) for text in problems.shape]
    asked["variant"] = _variants(problems.variant)
    if image_size is not None:
        if kind != "laplace" or problems.shape:
            raise SuiteError("--image: a photograph goes with --laplace, and has the shape itself")
        asked["shape"] = [[image_size[1], image_size[0]]]
    given = {key: _distinct(asked[option]) for option, key in options.items() if asked[option]}
    block = {**_DEFAULTS[kind], **given}
    _check(ReductionBlock if kind == "reduction" else LaplaceBlock, block, options)
    name = _name(block[key] for option, key in options.items() if option not in ("cache", "variant"))
    measure = {**load_suite("quick").measure.model_dump(exclude_unset=True), **MEASURE}
    tables = [*_table("[measure]", measure), *_table(f"[[{kind}]]", block)]
    return name, "\n".join([f"title = {_toml(name)}", *tables, ""])


def _kind(problems: Problems) -> str:
    if problems.op and problems.laplace:
        raise SuiteError("--op and --laplace are two kinds of problem; give one of them")
    if not (problems.op or problems.laplace):
        raise SuiteError(f"{', '.join(problems.given)}: of which problem? give --op or --laplace, too")
    kind, options = ("reduction", _REDUCTION) if problems.op else ("laplace", _LAPLACE)
    if foreign := [option for option in problems.given if option.removeprefix("--") not in options]:
        allowed = ", ".join(f"--{option}" for option in options)
        raise SuiteError(f"{', '.join(foreign)}: a {kind} has no such option; it has {allowed}")
    return kind


def _shape(text: str, kind: str) -> list[int]:
    if kind == "laplace" and not _SIZE.fullmatch(text):
        raise SuiteError(f"--shape: {text!r} is no size of an image; give width and height, as in 3000x2000")
    if not _SHAPE.fullmatch(text):
        raise SuiteError(f"--shape: {text!r} is no shape; give numbers above 0, as in 3000x2000")
    return [int(number) for number in text.split("x")]


def _variants(texts: Sequence[str]) -> list[str | dict[str, Any]]:
    """The ladders named, then the variants that are all combinations of the axes' values.

    Raises:
        SuiteError: if a text names several axes, or an axis without a value.
    """
    axes: dict[str, list[Any]] = {}
    for text in texts:
        if "=" in text:
            try:
                name, value = axis_and_value(text)
            except ValueError as error:
                raise SuiteError(f"--variant {text!r}: {error}") from None
            axes.setdefault(name, []).append(value)
    combined: list[dict[str, Any]] = [{}]
    for name, values in axes.items():
        combined = [{**variant, name: value} for variant in combined for value in _distinct(values)]
    return [*(text for text in texts if "=" not in text), *(variant for variant in combined if variant)]


def _check(model: type[BaseModel], block: Mapping[str, Any], options: Mapping[str, str]) -> None:
    try:
        model.model_validate(block)
    except ValidationError as error:
        raise SuiteError("\n".join(_mistake(dict(each), model, options) for each in error.errors())) from None


def _mistake(mistake: Mapping[str, Any], model: type[BaseModel], options: Mapping[str, str]) -> str:
    """As :func:`harness.explain.validation`, by the option in place of the key."""
    message = validation({**mistake, "loc": ()}, model)
    option = next((option for option, key in options.items() if key in mistake["loc"][:1]), None)
    return f"--{option}: {message}" if option else message


def _name(axes: Iterable[Sequence[Any]]) -> str:
    """As in ``sum-float32-3000x2000``; what has many values is counted."""
    parts = []
    for values in axes:
        texts = ["x".join(map(str, each)) if isinstance(each, list) else str(each) for each in values]
        shown = texts if len(texts) <= _MOST_IN_A_NAME else [texts[0], f"{len(texts) - 1}more"]
        parts.append("+".join(shown))
    return "-".join(parts)


def _distinct(values: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _table(header: str, values: Mapping[str, Any]) -> list[str]:
    return [header, *(f"{key} = {_toml(value)}" for key, value in values.items())]


def _toml(value: Any) -> str:
    """A value in TOML: what JSON and TOML write alike, and inline tables."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)

"""What there is to choose from, as rows of plain data: the contents of ``harness list``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Row = Mapping[str, Any]


def problems() -> list[Row]:
    """The problems: kind, name, and what it takes."""
    from harness.problems import BORDERS, DIRECTIONS, IMAGE_DTYPES, MASKS, OPS, OUTPUTS
    from harness.problems.dtypes import DTYPES

    reductions = [{"kind": "reduction", "name": op, "takes": {"dtypes": list(DTYPES)}} for op in OPS]
    images = {
        "masks": list(MASKS),
        "borders": list(BORDERS),
        "dtypes": list(IMAGE_DTYPES),
        "channels": [1, 3, 4],
    }
    filters = [{"kind": "laplace", "name": output, "takes": images} for output in OUTPUTS]
    limits = [
        {"kind": "bandwidth", "name": direction, "takes": {"dtypes": list(DTYPES)}}
        for direction in DIRECTIONS
    ]
    return [*reductions, *filters, *limits]


def variants() -> list[Row]:
    """The axes with their values, then the rungs of the ladders."""
    from harness.variants.axes import AXES
    from harness.variants.ladders import LADDERS

    axes = [
        {"kind": kind, "what": "axis", "name": name, "values": list(values)}
        for kind, rows in AXES.items()
        for name, values in rows.items()
    ]
    ladders = [
        {"kind": ladder.kind, "what": "ladder", "name": ladder.name, "values": list(ladder.labels)}
        for ladder in LADDERS.values()
    ]
    return [*axes, *ladders]


def suites() -> list[Row]:
    """The suites that come with the harness."""
    from harness.suites.files import load_suite, suite_names

    loaded = map(load_suite, suite_names())
    return [
        {"name": s.name, "title": s.title, "description": " ".join(s.description.split())} for s in loaded
    ]


def backends() -> list[Row]:
    """The registry: what each backend is, its side of a ratio, how to install what it needs."""
    from backends import REGISTRY

    return [
        {"name": name, "role": e.role, "about": e.about, "install": e.remedy, "by_default": e.by_default}
        for name, e in REGISTRY.items()
    ]


CONTENTS: dict[str, Callable[[], list[Row]]] = {
    "problems": problems,
    "variants": variants,
    "suites": suites,
    "backends": backends,
}
"""What can be listed, by the word on the command line."""


def text(value: object) -> str:
    """A cell of the table: lists joined, long ranges of numbers cut to their ends."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {text(item)}" for name, item in value.items())
    if isinstance(value, list):
        short = value if len(value) <= 12 else [*value[:3], "...", value[-1]]
        return ", ".join(map(str, short))
    return str(value)

"""What is computed: the problems, by kind, and their plain-data form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from harness.problems.bandwidth import DIRECTIONS, Bandwidth
from harness.problems.base import Array, Problem, Verification
from harness.problems.empty import Empty
from harness.problems.laplace import BORDERS, IMAGE_DTYPES, MASKS, OUTPUTS, Laplace
from harness.problems.operations import OPS, MinMaxLoc
from harness.problems.reduction import Reduction

__all__ = [
    "BORDERS",
    "DIRECTIONS",
    "IMAGE_DTYPES",
    "MASKS",
    "OPS",
    "OUTPUTS",
    "Array",
    "Bandwidth",
    "Empty",
    "Laplace",
    "MinMaxLoc",
    "Problem",
    "Reduction",
    "Verification",
    "problem_from_json",
    "problem_to_json",
]

_KINDS: dict[str, type[Any]] = {kind.kind: kind for kind in (Reduction, Laplace, Bandwidth, Empty)}


def problem_to_json(problem: Problem) -> dict[str, Any]:
    """The problem as plain data: ``kind`` and its fields, numbers that strict JSON lacks as text."""
    values = {f.name: getattr(problem, f.name) for f in fields(problem) if f.init}  # type: ignore[arg-type]
    return {"kind": problem.kind, **{name: _written(value) for name, value in values.items()}}


def problem_from_json(data: Mapping[str, Any]) -> Problem:
    """The problem from :func:`problem_to_json`'s form.

    Raises:
        ValueError: on an unknown kind, a missing or unknown field, or a value the problem refuses.
    """
    values = {name: _frozen(value) for name, value in data.items() if name != "kind"}
    kind = _KINDS.get(str(data.get("kind")))
    if kind is None:
        raise ValueError(f"problem kind {data.get('kind')!r} is unknown; known are {', '.join(_KINDS)}")
    try:
        problem: Problem = kind(**values)
    except TypeError as error:
        raise ValueError(f"problem {dict(data)!r}: {error}") from error
    return problem


def _written(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _frozen(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(item) for item in value)
    return float(value) if value in ("nan", "inf", "-inf") else value

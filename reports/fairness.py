"""In what the two sides of a pair differ beside their speed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

_PLACES = {"device": "on the device", "host": "on the host", "parts": "in parts that the host must join"}
"""In words, of :data:`harness.devices.ResultLocation`."""


Measured = Mapping[str, Any] | pd.Series
"""One row of the frame by its columns."""


def differences(first: Measured, second: Measured) -> list[str]:
    """What is timed on one side and not on the other, one sentence each; what a side does not tell differs
    in nothing.

    Args:
        first, second: rows of :func:`reports.dataset.frame`.
    """
    found = []
    if _differ(first, second, "location"):
        found.append(f"the result is {_place(first)} against {_place(second)}")
    if _differ(first, second, "launches"):
        found.append(f"a call is {first['launches']} launches against {second['launches']}")
    if _differ(first, second, "calls"):
        found.append(f"a result takes {first['calls']} calls against {second['calls']}")
    if _arithmetic(first["accumulator"]) != _arithmetic(second["accumulator"]) and _told(
        first, second, "accumulator"
    ):
        found.append(f"it is computed in {first['accumulator']} against {second['accumulator']}")
    if _differ(first, second, "gate"):
        found.append(f"the calls are held back by a {first['gate']} against a {second['gate']}")
    return found


def _place(row: Measured) -> str:
    location = str(row["location"])
    return _PLACES.get(location, location)


def _told(first: Measured, second: Measured, column: str) -> bool:
    return bool(first[column]) and bool(second[column])


def _differ(first: Measured, second: Measured, column: str) -> bool:
    return _told(first, second, column) and first[column] != second[column]


def _arithmetic(types: str) -> str:
    """The types without their signs: int64 and uint64 are the same work."""
    return types.replace("uint", "int")

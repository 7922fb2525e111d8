"""What the record of a candidate for a limit says of the sweep that it is of, as written and as read back."""

from __future__ import annotations

import re
from collections.abc import Iterable

from harness.results.record import Record

SWEEP = "sweep"
"""Of a record's provenance."""

_REMEMBERED = re.compile(r"the fastest (\d+) of (\d+), found on ")


def of_this_run(candidates: int) -> str:
    """The text where a run measures every candidate."""
    return f"{candidates} candidates in this run"


def remembered(fastest: int, candidates: int, day: str) -> str:
    """The text where a run measures only those that an earlier one, of that ``day``, found the fastest."""
    return f"the fastest {fastest} of {candidates}, found on {day}"


def left_out(records: Iterable[Record]) -> int:
    """How many cases a run did not measure, as an earlier one had found other candidates faster."""
    each: dict[object, int] = {}
    for record in records:
        found = _REMEMBERED.match(str(record.provenance.get(SWEEP, "")))
        if record.case.role == "limit" and found:
            fastest, candidates = map(int, found.groups())
            each[record.case.device_key, record.case.problem, record.case.cache] = candidates - fastest
    return sum(each.values())

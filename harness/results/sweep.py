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
    """How many cases a run did not measure, as an earlier one had found other candidates faster.

    records: one a case. A run that is gone on with may have measured some of them before these were known.
    """
    of_limits: dict[object, list[str]] = {}
    for record in records:
        if record.case.role == "limit":
            limit = record.case.device_key, record.case.problem, record.case.cache
            of_limits.setdefault(limit, []).append(str(record.provenance.get(SWEEP, "")))
    count = 0
    for texts in of_limits.values():
        known = next(filter(None, map(_REMEMBERED.match, texts)), None)
        if known:
            fastest, candidates = map(int, known.groups())
            count += candidates - max(fastest, len(texts))
    return count

"""One record of a case from those of the blocks in which it was measured.

The file keeps a line a block; nothing measured is lost in merging but which block took how many calls a
sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.results.record import Case, Record, Samples, Status

REMARKS = ("note", "disagreement", "no_kernel_clock", "gate")
"""What provenance says in words; where the blocks say several things, these are joined."""
SECONDS = ("timing_seconds", "wall_seconds")
"""What provenance tells of the time that a case took; added up over its blocks."""
_GRAVITY: tuple[Status, ...] = ("ok", "skipped", "failed", "wrong")
"""Of several outcomes of one case the last of these is the case's."""


def merged(records: Iterable[Record]) -> list[Record]:
    """A record for each case, in the order of their first ones."""
    by_case: dict[Case, list[Record]] = {}
    for record in records:
        by_case.setdefault(record.case, []).append(record)
    return [_one(group) for group in by_case.values()]


def _one(group: Sequence[Record]) -> Record:
    if len(group) == 1:
        return group[0]
    gravest = max(group, key=lambda record: _GRAVITY.index(record.status))
    measured = [record for record in group if record.clocks] or group
    names = dict.fromkeys(name for record in measured for name in record.clocks)
    return replace(
        measured[0],
        status=gravest.status,
        reason=f"in process {gravest.process}: {gravest.reason}" if gravest.reason else "",
        error=_largest(record.error for record in group),
        tolerance=_largest(record.tolerance for record in group),
        clocks={name: merged_clock([r.clocks[name] for r in measured if name in r.clocks]) for name in names},
        provenance=_provenance([record.provenance for record in measured]),
        process=0,
        block=0,
    )


def merged_clock(parts: Sequence[Samples]) -> Samples:
    """The samples one after the other; ``calls`` are the fewest behind one."""
    return Samples(
        tuple(second for part in parts for second in part.seconds),
        min(part.calls for part in parts),
        _joined(part.note for part in parts),
        tuple(block for part in parts for block in part.blocks),
        _joined(part.stopped for part in parts),
        sum(part.anew for part in parts),
    )


def _provenance(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first one's, but all remarks, all that was watched and all seconds spent."""
    together = dict(parts[0])
    together |= {name: _joined(map(str, texts)) for name in REMARKS if (texts := _found(parts, name))}
    together |= {name: sum(values) for name in SECONDS if (values := _found(parts, name))}
    if watched := _found(parts, "watch"):
        together["watch"] = [entry for entries in watched for entry in entries]
    return together


def _found(parts: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    return [part[name] for part in parts if name in part]


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(text for text in texts if text))


def _largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)

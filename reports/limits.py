"""The limits that a run found: the fastest reading and copying of each size and cache state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.results.runfile import Run
from harness.results.sweep import SWEEP
from reports.dataset import frame, memory_rates
from reports.shares import lasting


@dataclass(frozen=True, slots=True)
class Limit:
    """The fastest of the kernels that read or copied a source on one physical device.

    through: the backend and device that it ran through, ``opencl:0``. kernel: its variant's label.
    memory_share: of what the device's memory can give at most; None where that is not known. sweep: which
    candidates there were; empty where nobody noted it.
    """

    device: str
    physical: str
    direction: str
    source_bytes: int
    cache: str
    bytes_per_second: float
    seconds: float
    memory_share: float | None
    through: str
    kernel: str
    sweep: str


def limits_of(run: Run) -> list[Limit]:
    """The limits in a run, by device, direction, size and cache state."""
    rows = frame(run)
    rows = rows[(rows["kind"] == "bandwidth") & (rows["status"] == "ok") & (rows["bytes_per_second"] > 0)]
    rates = memory_rates(run.environment)
    found = []
    for _, of_limit in rows.groupby(["physical", "op", "source_bytes", "cache"]):
        candidates: list[Any] = list(of_limit.itertuples(index=False))
        row = max(lasting(candidates), key=lambda limit: limit.bytes_per_second)
        rate = rates.get(row.physical)
        limit = Limit(
            device=row.device_name,
            physical=row.physical,
            direction=row.op,
            source_bytes=int(row.source_bytes),
            cache=row.cache,
            bytes_per_second=row.bytes_per_second,
            seconds=row.queue,
            memory_share=row.bytes_per_second / rate if rate else None,
            through=row.device,
            kernel=row.variant,
            sweep=str(run.records[row.number].provenance.get(SWEEP, "")),
        )
        found.append(limit)
    return found

"""The state of a device around a measurement: clocks, power, temperature, and whether it is throttled.

Taken by the runner, not by the worker that measures, and never while it does.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from harness.nvidia import NvmlUnavailable, answers, open_nvml
from harness.results.record import Case, Record

Snapshot = dict[str, Any]
"""sm_clock_mhz, memory_clock_mhz, power_watts, temperature_c, reasons, thermal_ns; of a processor mhz, load.
What the device does not tell is absent."""

REASONS = {
    0x1: "idle", 0x2: "application clocks", 0x4: "power cap", 0x8: "hardware slowdown", 0x10: "sync boost",
    0x20: "thermal slowdown by the driver", 0x40: "thermal slowdown by hardware", 0x80: "power brake",
    0x100: "display clocks",
}  # fmt: skip
"""NVML's bits of what keeps the clocks below their maximum (nvml.h, nvmlClocksEventReasons)."""
MATTERING = {REASONS[bit] for bit in (0x8, 0x20, 0x40, 0x80)}
"""Those that are a fault of the machine or its cooling. The power cap is part of the device as it is sold."""
RECENT_S = 0.01
"""What was seen after one measurement counts as seen before the next, so many seconds later: to look takes
0.7 ms on an H100, and a run has thousands of measurements of 10 ms or so.
"""
_THERMAL_POLICY = 1
"""NVML's counter of the nanoseconds for which the temperature held the clocks down. A counter also shows what
happened between two looks."""


def throttled(before: Snapshot, after: Snapshot) -> list[str]:
    """Why the clocks were held down between two looks, as far as it matters; empty when nothing did."""
    seen = {*before.get("reasons", ()), *after.get("reasons", ())} & MATTERING
    held = after.get("thermal_ns", 0) - before.get("thermal_ns", 0) if "thermal_ns" in before else 0
    return sorted(seen) + (["thermal limit"] if held > 0 else [])


@dataclass(frozen=True)
class Look:
    """What a measurement gave and what the device was like around it."""

    record: Record
    before: Snapshot
    after: Snapshot

    @property
    def troubles(self) -> list[str]:
        """See :func:`throttled`."""
        return throttled(self.before, self.after)

    def as_watched(self) -> dict[str, Any]:
        """As provenance has it."""
        return {"before": self.before, "after": self.after}


def watched(measure: Callable[[], Record], look: Callable[[float], Snapshot]) -> Record:
    """The record of a measurement with ``watch`` in its provenance; taken again if the device was throttled.

    Throttled again, the note of its queue clock says so, which marks whatever is told of that. Only what was
    measured is repeated, not what was skipped or failed.
    ``look`` returns the device's state, seen less than so many seconds ago or now.
    """
    looks = [_watched_once(measure, look, RECENT_S)]
    if looks[0].troubles and looks[0].record.status == "ok":
        looks.append(_watched_once(measure, look, 0.0))
    record, troubles = looks[-1].record, looks[-1].troubles
    seen = [each.as_watched() for each in looks if each.before or each.after]
    provenance = {**record.provenance, **({"watch": seen} if seen else {})}
    clocks = dict(record.clocks)
    if troubles and "queue" in clocks:
        note = f"throttled while it was measured, twice: {', '.join(troubles)}"
        clocks["queue"] = replace(clocks["queue"], note="; ".join(filter(None, [clocks["queue"].note, note])))
    return replace(record, clocks=clocks, provenance=provenance)


def _watched_once(measure: Callable[[], Record], look: Callable[[float], Snapshot], within_s: float) -> Look:
    before = look(within_s)
    record = measure()
    return Look(record, before, look(0.0))


class Watch:
    """Looks at the devices of a run.

    Args:
        physical: of each device, by its backend and index.
        nvml: open, where there is NVML; None elsewhere.
    """

    def __init__(
        self,
        physical: Mapping[tuple[str, int], str],
        nvml: Any,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._physical, self._nvml, self._timer = physical, nvml, timer
        self._handles: dict[str, Any] = {}
        # By physical device, when it was looked at last and what was seen.
        self._last: dict[str, tuple[float, Snapshot]] = {}

    def look(self, case: Case, within_s: float = 0.0) -> Snapshot:
        """The state of the device that a case runs on; empty where nothing tells.

        within_s: what was seen less than so many seconds ago is taken, unless the device was throttled.
        """
        physical = self._physical.get((case.backend, case.device), "")
        seen_at, seen = self._last.get(physical, (-math.inf, {}))
        if self._timer() - seen_at < within_s and not throttled(seen, seen):
            return seen
        if physical == "cpu":
            seen = processor()
        else:
            seen = self._gpu(physical) if self._nvml and ":" in physical else {}
        self._last[physical] = self._timer(), seen
        return seen

    def _gpu(self, physical: str) -> Snapshot:
        nvml = self._nvml
        if physical not in self._handles:
            bus = physical.encode()
            self._handles |= answers(nvml, {physical: lambda: nvml.nvmlDeviceGetHandleByPciBusId(bus)})
        handle = self._handles[physical]
        if isinstance(handle, nvml.NVMLError):
            return {}
        queries: dict[str, Callable[[], Any]] = {
            "sm_clock_mhz": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
            "memory_clock_mhz": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
            "power_watts": lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
            "temperature_c": lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
            "reasons": lambda: _names(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
            "thermal_ns": lambda: nvml.nvmlDeviceGetViolationStatus(handle, _THERMAL_POLICY).violationTime,
        }
        told = answers(nvml, queries)
        return {name: value for name, value in told.items() if not isinstance(value, nvml.NVMLError)}


@contextmanager
def watching(physical: Mapping[tuple[str, int], str]) -> Iterator[Watch]:
    """A watch on the devices; NVML is open meanwhile, where there is NVML."""
    with ExitStack() as opened:
        nvml = None
        with suppress(NvmlUnavailable):
            nvml = opened.enter_context(open_nvml())
        yield Watch(physical, nvml)


def _names(bits: int) -> list[str]:
    return [name for bit, name in REASONS.items() if bits & bit]


def processor() -> Snapshot:
    """Load average of the last minute and, where the system tells, the processor's mean frequency."""
    import psutil

    frequency = psutil.cpu_freq() if hasattr(psutil, "cpu_freq") else None
    told = {"mhz": round(frequency.current)} if frequency else {}
    return {"load": round(psutil.getloadavg()[0], 2), **told}

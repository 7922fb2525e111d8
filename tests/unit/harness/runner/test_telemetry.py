"""The watch on a device, on an NVML that is played."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from harness.problems import Reduction
from harness.results.record import Case, Record, Samples
from harness.runner.telemetry import (
    MATTERING,
    RECENT_S,
    Snapshot,
    Watch,
    throttled,
    watched,
    watching,
)
from harness.variants.axes import LibraryVariant

CASE = Case("cuda", 0, Reduction("min", "int32", (10,)), LibraryVariant())
PCI = "0000:3b:00.0"
CLOCKS = {"queue": Samples((1.0,), note="host-bound"), "launch": Samples((0.5,))}
OK = Record(CASE, "ok", clocks=CLOCKS, provenance={"note": "cold"})
HOT: Snapshot = {"reasons": ["idle", "thermal slowdown by hardware"]}
CALM: Snapshot = {"reasons": ["idle", "application clocks", "power cap"]}


class NVMLError(Exception):
    """As pynvml's."""


class FakeNvml(ModuleType):
    """What the watch asks of pynvml, on one GPU."""

    NVMLError = NVMLError
    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    def __init__(self) -> None:
        super().__init__("pynvml")
        self.open = 0
        self.broken = False
        self.watts, self.reasons = 123_400, 0x1 | 0x80

    def nvmlInit(self) -> None:  # noqa: N802
        if self.broken:
            raise NVMLError("driver not loaded")
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open -= 1

    def nvmlDeviceGetHandleByPciBusId(self, bus: bytes) -> str:  # noqa: N802
        if bus != PCI.encode():
            raise NVMLError("not found")
        return "gpu"

    def nvmlDeviceGetClockInfo(self, handle: str, which: int) -> int:  # noqa: N802
        return {1: 1980, 2: 3201}[which]

    def nvmlDeviceGetPowerUsage(self, handle: str) -> int:  # noqa: N802
        return self.watts

    def nvmlDeviceGetTemperature(self, handle: str, sensor: int) -> int:  # noqa: N802
        raise NVMLError("not supported")

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: str) -> int:  # noqa: N802
        return self.reasons

    def nvmlDeviceGetViolationStatus(self, handle: str, policy: int) -> Any:  # noqa: N802
        return SimpleNamespace(violationTime=1000 + policy)


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    fake = FakeNvml()
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    return fake


def test_a_gpu_tells_what_it_can_and_nvml_is_closed_again(nvml: FakeNvml) -> None:
    with watching({("cuda", 0): PCI}) as watch:
        assert watch.look(CASE) == {
            "sm_clock_mhz": 1980,
            "memory_clock_mhz": 3201,
            "power_watts": 123.4,
            "reasons": ["idle", "power brake"],
            "thermal_ns": 1001,
        }
        assert nvml.open == 1
    assert nvml.open == 0


@pytest.mark.usefixtures("nvml")
def test_a_gpu_that_nvml_does_not_know_tells_nothing() -> None:
    with watching({("cuda", 0): "0000:ff:00.0"}) as watch:
        assert watch.look(CASE) == {}


@pytest.mark.parametrize("missing", [True, False])
def test_without_nvml_a_gpu_tells_nothing(
    nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch, missing: bool
) -> None:
    nvml.broken = True
    if missing:
        monkeypatch.setitem(sys.modules, "pynvml", None)
    with watching({("cuda", 0): PCI}) as watch:
        assert watch.look(CASE) == {}


def test_a_processor_tells_its_load() -> None:
    with watching({("cuda", 0): "cpu"}) as watch:
        assert watch.look(CASE)["load"] >= 0


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ({}, {}, []),
        (CALM, CALM, []),
        (CALM, HOT, ["thermal slowdown by hardware"]),
        (HOT, CALM, ["thermal slowdown by hardware"]),
        (
            {"reasons": ["power brake"]},
            {"reasons": ["hardware slowdown"]},
            ["hardware slowdown", "power brake"],
        ),
        ({"thermal_ns": 5}, {"thermal_ns": 5}, []),
        ({"thermal_ns": 5}, {"thermal_ns": 6}, ["thermal limit"]),
        ({}, {"thermal_ns": 6}, []),
    ],
)
def test_only_what_is_wrong_with_the_machine_is_throttling(
    before: Snapshot, after: Snapshot, why: list[str]
) -> None:
    assert throttled(before, after) == why


def test_neither_idleness_nor_settings_nor_the_power_cap_matter() -> None:
    assert not {"idle", "application clocks", "power cap"} & MATTERING


def test_what_was_seen_a_moment_ago_is_not_looked_at_again(nvml: FakeNvml) -> None:
    now = [100.0]
    watch = Watch({("cuda", 0): PCI, ("opencl", 0): PCI, ("cuda", 1): "0000:ff:00.0"}, nvml, lambda: now[0])
    nvml.reasons = 0x1
    first = watch.look(CASE)
    nvml.watts = 200_000
    now[0] += RECENT_S / 2
    assert watch.look(replace(CASE, backend="opencl"), RECENT_S) == first, "it is the same GPU"
    assert watch.look(replace(CASE, device=1), RECENT_S) == {}, "it is another GPU"
    second = watch.look(CASE)
    assert second["power_watts"] == 200.0, "what comes after a measurement is seen anew"
    nvml.watts = 300_000
    now[0] += 1.5 * RECENT_S
    assert watch.look(CASE, RECENT_S)["power_watts"] == 300.0, "that was long ago"


def test_a_device_that_was_throttled_is_looked_at_again(nvml: FakeNvml) -> None:
    watch = Watch({("cuda", 0): PCI}, nvml, lambda: 100.0)
    assert watch.look(CASE)["reasons"] == ["idle", "power brake"]
    nvml.reasons = 0x1
    assert watch.look(CASE, RECENT_S)["reasons"] == ["idle"]


def run(looks: list[Snapshot], record: Record = OK) -> tuple[Record, int]:
    """The record watched on a device in these states, one a look, and how often it was measured."""
    measured: list[Record] = []
    asked: list[float] = []
    states: Iterator[Snapshot] = iter(looks)

    def measure() -> Record:
        measured.append(record)
        return record

    def look(within_s: float) -> Snapshot:
        asked.append(within_s)
        return next(states)

    found = watched(measure, look)
    assert next(states, None) is None, "a state was not looked at"
    assert asked == [RECENT_S, *[0.0] * (len(looks) - 1)]
    return found, len(measured)


def test_a_calm_device_is_measured_once_and_the_states_are_kept() -> None:
    record, times = run([CALM, CALM])
    assert times == 1
    assert record.provenance == {"note": "cold", "watch": [{"before": CALM, "after": CALM}]}


def test_a_throttled_case_is_measured_once_more() -> None:
    record, times = run([CALM, HOT, CALM, CALM])
    assert times == 2
    assert record.provenance["note"] == "cold"
    assert len(record.provenance["watch"]) == 2


def test_throttled_twice_it_is_marked() -> None:
    record, times = run([HOT, HOT, HOT, HOT])
    assert times == 2
    assert record.provenance["note"] == "cold"
    assert record.clocks["queue"].note == (
        "host-bound; throttled while it was measured, twice: thermal slowdown by hardware"
    )
    assert record.clocks["launch"].note == ""


def test_what_failed_is_not_repeated() -> None:
    record, times = run([HOT, HOT], Record(CASE, "failed", "lost"))
    assert times == 1
    assert "note" not in record.provenance


def test_a_device_that_tells_nothing_leaves_the_provenance_as_it_was() -> None:
    assert run([{}, {}])[0] == OK

"""Every case of a suite, measured by the harness; pytest-benchmark is given the device's time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from backends import DeviceInfo
from harness.measure.budget import Share, brief
from harness.results.record import Case, Record
from harness.results.run_lines import strict_json
from harness.results.runfile import Run
from harness.variants.axes import label
from reports.dataset import frame
from tests.benchmarks.conftest import MeasurerOf


class DeviceClock:
    """A timer that stands still but for the device seconds that it is told of.

    Only ``benchmark.pedantic`` can use it: whatever calibrates would wait for it to tick for ever.
    """

    def __init__(self) -> None:
        self._seconds = 0.0

    def device_seconds(self) -> float:
        """Device seconds so far."""
        return self._seconds

    def advance(self, seconds: float) -> None:
        """Lets that many seconds pass."""
        self._seconds += seconds


CLOCK = DeviceClock()


@pytest.fixture(scope="session")
def limits() -> list[Record]:
    """The records of the devices' limits measured so far: they are the suite's first cases."""
    return []


@pytest.mark.benchmark(timer=CLOCK.device_seconds)
def test_case(
    benchmark: BenchmarkFixture,
    case: Case,
    measurer_of: MeasurerOf,
    share: Share,
    devices: list[DeviceInfo],
    limits: list[Record],
) -> None:
    """Verifies, measures, verifies again; the rounds are the samples of the queue's clock, seconds a call."""
    record = measurer_of(case).measure(case, brief(share) if case.role == "limit" else share)
    if record.status == "skipped":
        pytest.skip(record.reason)
    assert record.status == "ok", f"{record.status}: {record.reason}"
    if case.role == "limit":
        limits.append(record)
    benchmark.group = f"{case.problem.label}, {case.cache}"
    benchmark.extra_info.update(extra_info(record, limits, devices))
    samples = iter(record.clocks["queue"].seconds)
    rounds = len(record.clocks["queue"].seconds)
    benchmark.pedantic(lambda: CLOCK.advance(next(samples)), rounds=rounds, iterations=1)


def extra_info(record: Record, limits: list[Record], devices: list[DeviceInfo]) -> dict[str, Any]:
    """What a reader of the JSON file wants at hand, and the whole record, from which the report is made."""
    row = frame(Run({"devices": [asdict(device) for device in devices]}, [*limits, record], [])).iloc[-1]
    queue = record.clocks["queue"]
    information = {
        "backend": record.case.backend,
        "device": row["device_name"],
        "variant": label(record.case.variant),
        "cache": record.case.cache,
        "role": record.case.role,
        "GB/s": row["bytes_per_second"] / 1e9,
        "share of limit": row["share"],
        "limit GB/s": row["limit"] / 1e9,
        "calls a sample": queue.calls,
        "note": queue.note,
        "record": record.to_json(),
    }
    loaded: dict[str, Any] = json.loads(strict_json(information))
    return loaded


def test_the_device_clock_counts_only_device_seconds() -> None:
    clock = DeviceClock()
    ticks: Iterator[float] = iter([1e-6, 2e-6])
    before = clock.device_seconds()
    for seconds in ticks:
        clock.advance(seconds)
    assert before == 0
    assert clock.device_seconds() == pytest.approx(3e-6)

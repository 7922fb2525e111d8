"""The limits in a run, and the line of what the memory can give at most."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import reports
from harness.problems import Bandwidth
from harness.variants.axes import BandwidthVariant
from reports.dataset import memory_rates
from reports.limits import limits_of
from tests.support.report_data import GPU, device, limit, record, reduction, run_of

H200: dict[str, Any] = {"physical": GPU, "memory_clock_max_mhz": 3201, "memory_bus_bits": 6144}
READ, COPY = (Bandwidth(direction, "uint32", 2**24) for direction in ("read", "copy"))


def test_the_memorys_rate_is_two_transfers_a_clock_on_the_whole_bus() -> None:
    assert memory_rates({"nvml": [H200]}) == {GPU: pytest.approx(4916.7e9, rel=1e-4)}


@pytest.mark.parametrize(
    "nvml",
    [
        None,
        "not available: no driver",
        [{"physical": GPU}],
        [{**H200, "memory_bus_bits": "not available: Not Supported"}],
        [{**H200, "memory_clock_max_mhz": 0}],
    ],
)
def test_where_it_is_not_told_there_is_none(nvml: object) -> None:
    assert memory_rates({"nvml": nvml}) == {}


def test_the_fastest_of_each_size_direction_and_cache_state() -> None:
    fast = BandwidthVariant(vector_width=4, cache_hint="streaming")
    run = run_of(
        record("opencl", READ, 20e-6, role="limit"),
        replace(
            record("cuda", READ, 16e-6, variant=fast, role="limit"), provenance={"sweep": "18 candidates"}
        ),
        record("cuda", READ, 30e-6, role="limit", cache="cold"),
        record("cuda", COPY, 40e-6, role="limit"),
        record("cuda", reduction(), 1e-6),
        record("opencl", COPY, role="limit", status="failed", reason="no"),
        nvml=[H200],
    )
    copied, cold, hot = limits_of(run)
    assert (hot.direction, hot.cache, hot.through, hot.source_bytes) == ("read", "hot", "cuda:0", 2**26)
    assert hot.seconds == pytest.approx(16e-6)
    assert hot.bytes_per_second == pytest.approx(2**26 / 16e-6)
    assert hot.memory_share == pytest.approx(2**26 / 16e-6 / 4916.7e9, rel=1e-4)
    assert "streaming" in hot.kernel
    assert hot.sweep == "18 candidates"
    assert (cold.direction, cold.cache) == ("read", "cold")
    assert cold.seconds == pytest.approx(30e-6)
    assert copied.bytes_per_second == pytest.approx(2 * 2**26 / 40e-6)


def test_another_devices_memory_says_nothing() -> None:
    elsewhere = (device("opencl", physical="0000:01:00.0"),)
    (found,) = limits_of(run_of(record("opencl", READ, 1e-5, role="limit"), devices=elsewhere, nvml=[H200]))
    assert found.memory_share is None


@pytest.mark.parametrize(("nvml", "named"), [([H200], True), ("not available", False)])
def test_the_chart_of_bandwidths_has_a_line_at_the_memorys_rate(nvml: object, named: bool) -> None:
    size = reduction().source_bytes
    run = run_of(limit("read", size, 4e12), record("cuda", reduction(), 1e-5), nvml=nvml)
    assert ("memory clock x bus width: 4,917 GB/s" in reports.render(run, "x")) is named

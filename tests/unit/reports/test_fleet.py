"""The chapter of a fleet: devices beside those of their kind, hosts that differ by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.results.runfile import Run
from reports import page as pages
from reports import render, write_report
from reports.dataset import frame
from reports.fleet import MOST_SECTIONS, Kind, kinds_of
from tests.support.report_data import GPU, device, environment, record, reduction


def of_device(
    host: str, factor: float = 1.0, *, cap: float = 700.0, driver: str = "580.0", **gpu: Any
) -> Run:
    """A run of a GPU that takes ``factor`` times as long as another."""
    sensors = {"physical": GPU, "power_cap_watts": cap, "ecc": "on", "sm_clock_max_mhz": 1980, **gpu}
    devices = [{**device(name), "driver": driver} for name in ("opencl", "cuda")]
    fleet = {"device": f"{host}/{GPU}", "host": host}
    about = environment(*devices, nvml=[sensors], fleet=fleet)
    records = [record("opencl", reduction(op), 10e-6 * factor) for op in ("min", "max")] + [
        record("cuda", reduction(op), 20e-6 * factor) for op in ("min", "max")
    ]
    return Run(about, records, [], None, records)


def kinds(*runs: Run) -> list[Kind]:
    return kinds_of(runs, list(map(frame, runs)))


def cells(kind: Kind) -> list[tuple[str, ...]]:
    return [tuple(cell.text for cell in line.cells) for line in kind.table.lines]


def test_a_device_stands_beside_the_median_of_its_kind() -> None:
    (kind,) = kinds(of_device("a"), of_device("b", 1.1), of_device("c"))
    assert kind.title == "NVIDIA H200 · a platform 580.0 · 700 W"
    assert kind.answer == "3 devices on 3 hosts; times over the median of the kind: 1.00 to 1.10"
    assert cells(kind)[1] == ("b", GPU, "OpenCL over CUDA", "2.00", "1.10", "1.10", "1.10", "")


@pytest.mark.parametrize("other", [{"cap": 350.0}, {"driver": "570.0"}])
def test_another_power_cap_or_driver_is_another_kind(other: dict[str, Any]) -> None:
    found = kinds(of_device("a"), of_device("b", 2.0, **other), of_device("c"))
    assert [[line[0] for line in cells(kind)] for kind in found] == [["a", "c"], ["b"]]
    assert cells(found[0])[0][4] == "1.00"
    assert cells(found[1])[0][4] == "–"


def test_a_host_that_differs_is_named_and_no_part_of_the_median() -> None:
    runs = [of_device("a"), of_device("b", 3.0, ecc="off", sm_clock_max_mhz=1000), of_device("c")]
    (kind,) = kinds(*runs)
    assert kind.answer.endswith("1.00 to 3.00; to mind: b")
    mind = "ECC off, most on; SM clock at most, MHz 1000, most 1980"
    assert [line[7] for line in cells(kind)] == ["", mind, ""]


def test_the_page_of_a_fleet_is_named_by_its_folder(tmp_path: Path) -> None:
    runs = [replace(of_device(host), path=tmp_path / "rack" / f"{host}.jsonl") for host in "abcdefghijk"]
    assert write_report(runs, tmp_path).name == "rack.html"
    assert write_report(runs, tmp_path).name == "rack.html"
    assert write_report(runs[:1], tmp_path).name == "rack-a.html"


def test_throttling_is_told() -> None:
    run = of_device("a")
    watch = [{"before": {"reasons": []}, "after": {"reasons": ["power brake"]}}]
    seen = replace(run.trials[0], provenance={"watch": watch})
    (kind,) = kinds(replace(run, trials=[seen]), of_device("b"))
    assert cells(kind)[0][7] == "throttled around 1 measurements: power brake"


def test_one_device_or_runs_of_no_fleet_have_no_chapter() -> None:
    alone = of_device("a")
    strangers = [replace(alone, environment={**alone.environment, "fleet": None})] * 2
    assert not kinds(alone)
    assert not kinds(*strangers)
    assert 'id="fleet"' not in render(alone, "harness run")


def test_a_large_fleet_has_a_section_a_kind() -> None:
    runs = [of_device(f"n{number}") for number in range(MOST_SECTIONS)] + [of_device("x", cap=350.0)]
    text = pages.page(runs, ["harness run"] * len(runs))
    assert text.count('<section class="run" id="r') == 2
    assert "Of 9 devices 2 follow in full, one of each kind" in text
    assert "n7" in text
    few = pages.page(runs[:3], ["harness run"] * 3)
    assert few.count('<section class="run" id="r') == 3
    assert 'id="fleet"' in few

"""The description of the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import cpuinfo as cpuinfo_module
from harness.cpuinfo import seconds_without_core, usable_cores
from harness.devices import DeviceInfo
from harness.results.record import FORMAT
from harness.runner import environment
from harness.runner.environment import cpu_name, describe, differences
from tests.support.command import python
from tests.support.machines import CPU, DEVICES, GPU


def test_describe_has_what_the_report_shows() -> None:
    data = describe("quick", "harness run quick", DEVICES, {"rocm": "not here"})
    assert data["type"] == "environment"
    assert data["format"] == FORMAT
    assert (data["suite"], data["command"]) == ("quick", "harness run quick")
    assert datetime.fromisoformat(data["started"]).tzinfo is not None
    assert data["host"]["cores"] >= 1
    assert data["host"]["memory_bytes"] > 2**20
    assert data["host"]["cpu"]
    assert data["packages"]["numpy"]
    assert [device["name"] for device in data["devices"]] == [device.name for device in DEVICES]
    assert data["missing"] == {"rocm": "not here"}
    assert "nvml" in data
    json.dumps(data, allow_nan=False)


@pytest.fixture
def _no_named_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """HARNESS_COMMIT stands in for a checkout: who set it for this run does not mean these tests."""
    monkeypatch.delenv("HARNESS_COMMIT", raising=False)


@pytest.mark.usefixtures("_no_named_commit")
def test_commit_is_the_checkouts_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.invalid"]
    if subprocess.run([*git, "init", "-q"], capture_output=True, check=False).returncode:
        pytest.skip("git is not installed")
    source = tmp_path / "file"
    source.write_text("1", encoding="utf-8")
    for arguments in (["add", "file"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *arguments], check=True)
    monkeypatch.setattr(environment, "_SOURCE", tmp_path.resolve())
    clean = environment.commit()
    assert len(clean["commit"]) == 40
    assert clean["dirty"] is False
    source.write_text("2", encoding="utf-8")
    assert environment.commit() == {"commit": clean["commit"], "dirty": True}
    inside = tmp_path / "site-packages"
    inside.mkdir()
    monkeypatch.setattr(environment, "_SOURCE", inside.resolve())
    assert environment.commit() == {"commit": None, "dirty": None}


@pytest.mark.usefixtures("_no_named_commit")
def test_commit_without_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment.commit() == {"commit": None, "dirty": None}


def test_cpu_name_is_the_makers(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: Fast CPU 9\nflags\t: fpu\n", encoding="utf-8")
    assert cpu_name(cpuinfo) == "Fast CPU 9"
    cpuinfo.write_text("processor\t: 0\n", encoding="utf-8")
    assert cpu_name(cpuinfo) != "Fast CPU 9"
    assert cpu_name(tmp_path / "none") == cpu_name(cpuinfo)


class _FakeNvml(SimpleNamespace):
    """As much of pynvml as is asked; the GPU does not know MIG."""

    NVMLError = type("NVMLError", (Exception,), {})
    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    def __getattr__(self, name: str) -> Any:
        values = {
            "nvmlDeviceGetCount": 1,
            "nvmlSystemGetDriverVersion": "580.1",
            "nvmlDeviceGetName": "Big GPU",
            "nvmlDeviceGetUUID": "GPU-1",
            "nvmlDeviceGetPciInfo": SimpleNamespace(domain=0, bus=0x3B, device=0),
            "nvmlDeviceGetEnforcedPowerLimit": 700_000,
            "nvmlDeviceGetPowerManagementDefaultLimit": 700_000,
            "nvmlDeviceGetEccMode": (1, 1),
            "nvmlDeviceGetComputeRunningProcesses": [],
            "nvmlDeviceGetMemoryBusWidth": 6144,
        }
        if name == "nvmlDeviceGetMigMode":
            return self._fail
        if name == "nvmlDeviceGetMaxClockInfo":
            return lambda _, clock: {self.NVML_CLOCK_SM: 1980, self.NVML_CLOCK_MEM: 3201}[clock]
        return lambda *_: values.get(name, 0)

    def _fail(self, *_: object) -> Any:
        raise self.NVMLError("Not Supported")


def test_nvml_tells_what_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", _FakeNvml())
    answer = environment.nvml()
    assert isinstance(answer, list)
    (gpu,) = answer
    assert gpu["driver"] == "580.1"
    assert gpu["power_cap_watts"] == 700
    assert (gpu["physical"], gpu["uuid"]) == ("0000:3b:00.0", "GPU-1")
    assert gpu["ecc"] == "on"
    assert (gpu["sm_clock_max_mhz"], gpu["memory_clock_max_mhz"], gpu["memory_bus_bits"]) == (
        1980,
        3201,
        6144,
    )
    assert gpu["mig"] == "not available: Not Supported"


def test_nvml_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    answer = environment.nvml()
    assert isinstance(answer, str)
    assert answer.startswith("not available: ")


def test_differences_of_devices() -> None:
    def plain(*devices: DeviceInfo) -> list[dict[str, Any]]:
        return [asdict(device) for device in devices]

    before = plain(GPU, CPU)
    assert differences(before, plain(CPU, GPU)) == []
    (changed,) = differences(before, plain(replace(GPU, driver="2.0"), CPU))
    assert changed == "opencl:0 was Big GPU (driver 1.0), now Big GPU (driver 2.0)"
    assert differences(before, plain(GPU)) == ["opencl:1 was Small CPU (driver 1.0), now absent"]
    assert differences(plain(GPU), before) == ["opencl:1 was absent, now Small CPU (driver 1.0)"]


def test_the_kernels_hash_is_of_every_name_and_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "files", lambda name: tmp_path / name)
    for place in ("kernels_cl/tree/naive.cl", "kernels_cl/empty.cl", "kernels_cu/empty.cu"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("x", encoding="utf-8")
    seen = {environment.kernels_hash()}
    (tmp_path / "kernels_cl/notes.txt").write_text("no kernel", encoding="utf-8")
    assert {environment.kernels_hash()} == seen
    (tmp_path / "kernels_cl/tree/naive.cl").write_text("y", encoding="utf-8")
    seen.add(environment.kernels_hash())
    (tmp_path / "kernels_cl/tree/naive.cl").rename(tmp_path / "kernels_cl/tree/other.cl")
    seen.add(environment.kernels_hash())
    assert len(seen) == 3


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process to cores")
def test_cores_are_those_that_the_process_may_use() -> None:
    code = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
    code += "from harness.cpuinfo import usable_cores\nfrom backends.libraries.numpy import NumpyBackend\n"
    code += "print(usable_cores(), NumpyBackend.devices()[0].compute_units)"
    assert python("-c", code).stdout == "1 1\n"


def test_commit_of_a_copy_is_what_the_copier_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HARNESS_COMMIT", "0123abc")
    # In a checkout too: what was copied over it may be another commit.
    assert environment.commit() == {"commit": "0123abc", "dirty": None}
    monkeypatch.setattr(environment, "_SOURCE", tmp_path)
    assert environment.commit() == {"commit": "0123abc", "dirty": None}
    monkeypatch.delenv("HARNESS_COMMIT")
    assert environment.commit() == {"commit": None, "dirty": None}


def test_what_a_thread_waited_for_a_core_is_read_where_the_system_tells(tmp_path: Path) -> None:
    (tmp_path / "schedstat").write_text("123456 2500000000 7\n")
    assert seconds_without_core(tmp_path / "schedstat") == 2.5
    assert seconds_without_core(tmp_path / "absent") == 0.0


@pytest.mark.parametrize(
    ("quota", "cores"), [("150000 100000", 2), ("10000 100000", 1), ("900000 100000", 4), ("max 100000", 4)]
)
def test_a_share_of_the_time_counts_as_fewer_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, cores: int
) -> None:
    monkeypatch.setattr(cpuinfo_module, "_allowed_cores", lambda: 4)
    monkeypatch.setattr(cpuinfo_module, "QUOTA", tmp_path / "cpu.max")
    assert usable_cores() == 4
    (tmp_path / "cpu.max").write_text(f"{quota}\n")
    assert usable_cores() == cores

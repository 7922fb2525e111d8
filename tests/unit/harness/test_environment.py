"""The description of the machine, and the examination of it by ``harness doctor``."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from backends import BackendUnavailable
from backends.libraries.numpy import NumpyBackend
from harness.cli import doctor
from harness.devices import DeviceInfo
from harness.results.record import FORMAT
from harness.runner import environment
from harness.runner.environment import cpu_name, describe, differences
from tests.support.command import python
from tests.unit.harness.test_cases import CPU, DEVICES, GPU


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
    clean = environment._commit()
    assert len(clean["commit"]) == 40
    assert clean["dirty"] is False
    source.write_text("2", encoding="utf-8")
    assert environment._commit() == {"commit": clean["commit"], "dirty": True}
    inside = tmp_path / "site-packages"
    inside.mkdir()
    monkeypatch.setattr(environment, "_SOURCE", inside.resolve())
    assert environment._commit() == {"commit": None, "dirty": None}


@pytest.mark.usefixtures("_no_named_commit")
def test_commit_without_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment._commit() == {"commit": None, "dirty": None}


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
            "nvmlDeviceGetPciInfo": SimpleNamespace(domain=0, bus=0x3B, device=0),
            "nvmlDeviceGetEnforcedPowerLimit": 700_000,
            "nvmlDeviceGetPowerManagementDefaultLimit": 700_000,
            "nvmlDeviceGetEccMode": (1, 1),
            "nvmlDeviceGetComputeRunningProcesses": [],
        }
        if name == "nvmlDeviceGetMigMode":
            return self._fail
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
    assert gpu["physical"] == "0000:3b:00.0"
    assert gpu["ecc"] == "on"
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


def _device(**changes: object) -> dict[str, Any]:
    return {"key": "opencl:0", "name": "X", "vendor": "V", "error": "", "repaired": "", **changes}


@pytest.mark.parametrize(
    ("name", "answer", "nvidia", "status"),
    [
        ("opencl", {"devices": [_device()]}, False, "ok"),
        ("opencl", {"devices": [_device(repaired="treated as haswell")]}, False, "note"),
        ("opencl", {"devices": [_device(error="BuildError: no")]}, False, "broken"),
        ("opencl", {"missing": "no platform", "remedy": "pip install pyopencl"}, False, "broken"),
        ("cuda", {"missing": "no pycuda", "remedy": "pip install pycuda"}, False, "absent"),
        ("cuda", {"missing": "no pycuda", "remedy": ""}, True, "broken"),
        ("cuda", {"crash": "ended with SIGSEGV"}, False, "broken"),
    ],
)
def test_a_backends_finding(name: str, answer: dict[str, Any], nvidia: bool, status: str) -> None:
    (finding,) = doctor._backend(name, answer, nvidia)
    assert finding.status == status
    if status == "broken":
        assert finding.remedy
    if "missing" in answer:
        assert "pip install" in finding.remedy
        assert "pip install" not in finding.detail


def test_a_reason_and_its_remedy_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    error = BackendUnavailable("no driver (it is old; or absent)", "install one; then restart")
    monkeypatch.setattr(NumpyBackend, "devices", Mock(side_effect=error))
    (finding,) = doctor._backend("numpy", doctor._answer("numpy"), nvidia=False)
    assert finding.detail == "no driver (it is old; or absent)"
    assert finding.remedy == "install one; then restart"


def test_probe_that_dies_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    real = doctor._python
    monkeypatch.setattr(doctor, "_python", lambda *_: real("-c", kill))
    assert "SIGSEGV" in doctor._probe("opencl")["crash"]


def test_probe_that_hangs_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    real = doctor._python
    monkeypatch.setattr(doctor, "_PROBE_SECONDS", 0.2)
    monkeypatch.setattr(doctor, "_python", lambda *_: real("-c", "import time; time.sleep(60)"))
    assert doctor._probe("opencl") == {"crash": "no answer within 0.2 s"}


def test_probe_of_a_working_backend() -> None:
    (device,) = doctor._probe("numpy")["devices"]
    assert device["key"] == "numpy:0"
    assert device["error"] == ""


@pytest.mark.parametrize(
    ("vendor", "loads", "status", "remedy"),
    [
        ("NVIDIA Corporation", True, "ok", ""),
        ("pocl", True, "broken", "nvidia.icd"),
        ("pocl", False, "broken", "NVIDIA_DRIVER_CAPABILITIES"),
    ],
)
def test_nvidias_opencl(
    monkeypatch: pytest.MonkeyPatch, vendor: str, loads: bool, status: str, remedy: str
) -> None:
    def load(name: str) -> object:
        if not loads:
            raise OSError(f"{name}: cannot open shared object file")
        return object()

    monkeypatch.setattr(ctypes, "CDLL", load)
    finding = doctor._nvidia_opencl([_device(vendor=vendor)])
    assert finding.status == status
    assert remedy in finding.remedy


@pytest.mark.parametrize(
    ("code", "remedy"), [(100, "CUDA_VISIBLE_DEVICES"), (803, "reboot"), (4711, "nvidia-smi")]
)
def test_driver_that_does_not_start(monkeypatch: pytest.MonkeyPatch, code: int, remedy: str) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(cuInit=lambda _: code))
    finding = doctor._libcuda()
    assert finding.status == "broken"
    assert str(code) in finding.detail
    assert remedy in finding.remedy


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process to cores")
def test_cores_are_those_that_the_process_may_use() -> None:
    code = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
    code += "from harness.cpuinfo import usable_cores\nfrom backends.libraries.numpy import NumpyBackend\n"
    code += "print(usable_cores(), NumpyBackend.devices()[0].compute_units)"
    assert python("-c", code).stdout == "1 1\n"


def test_busy_machine_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (1000.0, 0.0, 0.0))
    assert doctor._load().status == "note"
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    assert doctor._load().status == "ok"


def test_commit_of_a_copy_is_what_the_copier_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environment, "_SOURCE", tmp_path)
    monkeypatch.setenv("HARNESS_COMMIT", "0123abc")
    assert environment._commit() == {"commit": "0123abc", "dirty": None}

"""The examination of the machine: ``harness doctor``."""

from __future__ import annotations

import ctypes
import os
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from backends import BackendUnavailable
from backends.libraries.numpy import NumpyBackend
from harness.cli import doctor
from harness.problems import Problem, Reduction
from harness.variants.axes import Variant


def _device(**changes: object) -> dict[str, Any]:
    return {
        "key": "opencl:0",
        "name": "X",
        "vendor": "V",
        "tried": "filter",
        "error": "",
        "repaired": "",
        **changes,
    }


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


def test_a_backend_is_tried_at_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(_: NumpyBackend, problem: Problem, __: Variant) -> str | None:
        return "filters alone" if isinstance(problem, Reduction) else None

    assert doctor._try("numpy", 0) == {"tried": "reduction", "error": ""}
    monkeypatch.setattr(NumpyBackend, "unsupported", unsupported)
    assert doctor._try("numpy", 0) == {"tried": "filter", "error": ""}
    (finding,) = doctor._backend("numpy", {"devices": [_device()]}, nvidia=False)
    assert finding.detail == "a small filter is right"


@pytest.mark.parametrize(
    ("compute", "error"),
    [(Mock(side_effect=OSError("no\nmemory")), "OSError: no"), (Mock(return_value=(0, 0)), "got")],
    ids=["fails", "wrong"],
)
def test_what_a_device_does_wrongly_is_told(
    compute: Mock, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NumpyBackend, "compute", compute)
    assert error in doctor._try("numpy", 0)["error"]


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


def test_busy_machine_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (1000.0, 0.0, 0.0))
    assert doctor._load().status == "note"
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    assert doctor._load().status == "ok"

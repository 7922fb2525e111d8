"""Devices are looked for in another process: a library that crashes or hangs there costs itself only."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import pytest

import backends
from harness.devices import DeviceInfo
from harness.runner import discovery
from tests.support import faulty_discovery
from tests.support.command import python
from tests.support.machines import GPU


@pytest.fixture
def _faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "REGISTRY", faulty_discovery.ROWS)
    monkeypatch.setattr(discovery, "_MODULE", faulty_discovery.__name__)


def leave(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Only these rows, in this order."""
    monkeypatch.setattr(discovery, "REGISTRY", {name: faulty_discovery.ROWS[name] for name in names})


@pytest.mark.usefixtures("_faulty")
def test_what_ends_the_process_costs_itself_only(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("first", "crashing", "raising", "leaving", "printing", "numpy")
    leave(monkeypatch, *names)
    found = discovery.available()
    assert tuple(found) == names
    reasons = {name: str(answer) for name, answer in found.items()}
    for name in ("first", "printing", "numpy"):
        assert [device.key for device in found[name] if isinstance(device, DeviceInfo)] == ["numpy:0"]
    assert (
        "crashing: looking for its devices was killed by SIGSEGV: the driver is broken" in reasons["crashing"]
    )
    assert "harness doctor" in reasons["crashing"]
    assert "raising: it cannot be imported: OSError: wrong ELF class" in reasons["raising"]
    assert "leaving: looking for its devices ended with exit code 3" in reasons["leaving"]


@pytest.mark.usefixtures("_faulty")
def test_a_library_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "LIMIT_S", 0.2)
    leave(monkeypatch, "hanging")
    assert "hanging: looking for its devices took longer than 0.2 s" in str(discovery.available()["hanging"])


@pytest.mark.usefixtures("_faulty")
def test_answers_from_before_the_limit_count(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        asked.append(command[command.index(faulty_discovery.__name__) + 1 :])
        if len(asked) == 1:
            raise subprocess.TimeoutExpired(command, 1, output=b'["first", []]\n["hanging", [')
        return subprocess.CompletedProcess(command, 0, b'["numpy", "numpy: none"]\n', b"")

    monkeypatch.setattr(subprocess, "run", run)
    leave(monkeypatch, "first", "hanging", "numpy")
    found = discovery.available()
    assert asked == [["first", "hanging", "numpy"], ["numpy"]]
    assert (found["first"], found["numpy"]) == ([], "numpy: none")
    assert "took longer than" in str(found["hanging"])


def test_it_finds_what_is_found_in_this_process() -> None:
    def named(found: Mapping[str, list[DeviceInfo] | str]) -> dict[str, list[tuple[str, ...]] | str]:
        # Without the memory: a virtual machine's may grow between the two looks.
        return {
            name: devices if isinstance(devices, str) else [(d.key, d.name, d.driver) for d in devices]
            for name, devices in found.items()
        }

    assert named(discovery.available()) == named(backends.available())


def test_the_runners_process_imports_no_library() -> None:
    code = (
        "import json, sys; from harness.runner.planning import discover; discover()\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    loaded = set(json.loads(python("-c", code).stdout))
    assert "backends" in loaded
    assert not loaded & {"pyopencl", "pycuda", "cupy", "cuda", "torch", "cv2"}


def test_a_device_that_went_through_json_is_the_same() -> None:
    device = replace(GPU, queues=("in_order", "out_of_order"), image_sides=(2**14, 2**14))
    back = DeviceInfo.from_plain(json.loads(json.dumps(asdict(device))))
    assert back == device
    assert hash(back) == hash(device)

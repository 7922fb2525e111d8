"""Which devices and baselines a suite measures: by default, and as they are named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.runner import planning, session
from harness.runner.plan import Request
from harness.suites.expand import measured_by_default, select_devices
from tests.support.machines import CPU, CUDA, CUPY, DEVICES, GPU, NUMPY
from tests.support.suites import reductions, written


@pytest.mark.parametrize(
    ("backends", "patterns", "expected"),
    [
        ((), (), ["opencl:0", "cuda:0", "cupy:0", "opencl:1", "numpy:0"]),
        (("opencl",), (), ["opencl:0", "opencl:1"]),
        ((), ("opencl:1",), ["opencl:1"]),
        ((), ("gpu",), ["opencl:0", "cuda:0", "cupy:0"]),
        ((), ("pocl", "CUPY:0"), ["cupy:0", "opencl:1"]),
        (("opencl",), ("0000:3B:00.0",), ["opencl:0"]),
        (("opencl", "numpy"), ("small",), ["opencl:1", "numpy:0"]),
    ],
)
def test_devices_are_chosen(
    backends: tuple[str, ...], patterns: tuple[str, ...], expected: list[str]
) -> None:
    assert [device.key for device in select_devices(DEVICES, backends, patterns)] == expected


def test_two_apis_of_one_device_are_locked_as_one() -> None:
    found = {GPU.physical: ["opencl:0", "cuda:0"], CPU.physical: ["opencl:1"]}
    assert session.names_of([GPU, CUDA, CPU]) == found


def test_a_key_does_not_choose_a_longer_one() -> None:
    ten = replace(GPU, index=10)
    assert select_devices([replace(GPU, index=1), ten], patterns=["opencl:1"]) == [replace(GPU, index=1)]


@pytest.mark.parametrize(
    ("backends", "patterns", "message"),
    [
        (("opnecl",), (), "backend 'opnecl' is unknown; .*did you mean 'opencl'"),
        ((), ("",), "no device matches ''; there are numpy:0"),
        ((), (" ",), "no device matches ' '; there are numpy:0"),
        ((), ("Radeon",), r"no device matches 'Radeon'; there are numpy:0 \(Small CPU\)"),
        (("numpy",), ("opencl:0",), r"no device matches 'opencl:0'; there are numpy:0 \(Small CPU\)$"),
    ],
)
def test_filter_that_matches_nothing(
    backends: tuple[str, ...], patterns: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        select_devices(DEVICES, backends, patterns)


def test_some_baselines_are_measured_only_when_asked_for(tmp_path: Path) -> None:
    beside = replace(GPU, backend="cupy_no_cub")
    devices = [GPU, CUPY, beside]
    suite = written(tmp_path, reductions())
    assert measured_by_default(devices, suite) == [GPU, CUPY]
    assert measured_by_default(devices, suite, ["cupy_no_cub"]) == devices
    assert measured_by_default(devices, suite, (), ["cupy_no_cub:0"]) == devices
    every = written(tmp_path, "[measure]\nall_libraries = true\n" + reductions())
    assert measured_by_default(devices, every) == devices


def test_processors_of_a_backend_with_a_gpu_are_measured_only_when_asked_for(tmp_path: Path) -> None:
    suite = written(tmp_path, reductions())
    assert measured_by_default(DEVICES, suite) == [d for d in DEVICES if d != CPU]
    assert measured_by_default(DEVICES, suite, ["opencl"]) == [d for d in DEVICES if d != CPU]
    assert measured_by_default(DEVICES, suite, (), ["cpu"]) == DEVICES
    assert measured_by_default(DEVICES, suite, (), ["pocl"]) == DEVICES
    without_gpu = [CUDA, CPU, NUMPY]
    assert measured_by_default(without_gpu, suite) == without_gpu


def test_the_seed_that_is_asked_for_is_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "discover", lambda: ([GPU], {}))
    plan = planning.plan_run(Request("smoke", seed=7))
    assert plan.for_worker()["seed"] == 7


def test_only_a_measured_gpu_has_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    processor = replace(GPU, backend="numpy", kind="cpu", physical="cpu")
    monkeypatch.setattr(planning, "discover", lambda: ([GPU, CUDA, CUPY, processor], {}))

    def contexts(*backends: str) -> dict[str, int]:
        return dict(planning.plan_run(Request("smoke", backends, contexts=5)).contexts)

    assert contexts("opencl", "cuda", "cupy") == {"opencl:0": 5, "cuda:0": 5}
    assert contexts("numpy") == {}

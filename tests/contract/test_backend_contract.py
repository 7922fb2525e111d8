"""What every backend promises beside right answers: devices, opening and closing."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from backends import REGISTRY, Backend, BackendError, BackendUnavailable, DeviceInfo, open_backend
from harness.measure.budget import every_clock, plain
from harness.results.record import Case
from harness.runner.worker_process import Worker
from tests.conftest import found, opened
from tests.support.contract import PROBLEMS, some_problem, wrong

pytestmark = pytest.mark.smoke


@pytest.mark.parametrize("name", REGISTRY)
def test_a_backend_has_devices_or_says_what_is_missing(name: str) -> None:
    devices = found()[name]
    if isinstance(devices, str):
        assert devices.startswith(f"{name}: "), "the reason names the backend"
        with pytest.raises(BackendUnavailable) as caught:
            open_backend(name)
        assert caught.value.remedy
        assert caught.value.remedy not in caught.value.what
        pytest.skip(devices)
    assert devices
    assert [device.index for device in devices] == list(range(len(devices)))


def test_device_info(any_device: DeviceInfo) -> None:
    device = any_device
    assert device.key == f"{device.backend}:{device.index}"
    assert device.name == device.name.strip() != ""
    assert device.kind in ("cpu", "gpu", "accelerator")
    assert device.physical == "cpu" if device.kind == "cpu" else ":" in device.physical
    assert device.compute_units >= 1
    assert device.memory_bytes >= device.max_allocation_bytes > 2**20
    assert device.cache_bytes >= 0
    again = replace(device, details=dict(device.details))
    assert {device: "found"}.get(again) == "found"
    if REGISTRY[device.backend].role in ("opencl", "cuda"):
        assert device.max_group_size >= 1
        assert device.local_memory_bytes >= 2**14
        assert device.driver


def test_a_worker_goes_on_in_a_fresh_context(any_device: DeviceInfo) -> None:
    with opened(any_device) as backend:
        problem = some_problem(backend)
        case = Case(any_device.backend, any_device.index, problem, backend.default_variant(problem))
    worker = Worker(case.backend, case.device, {})
    try:
        worker.wait_until_open()
        for _ in range(2):
            share = plain(every_clock(3, 0.05))
            answer = worker.ask({"case": case.to_json(), "share": share}, 60)
            assert (answer["record"]["status"], answer["record"]["reason"]) == ("ok", "")
            worker.tell({"renew": True})
            worker.wait_until_open()
        worker.finish()
    finally:
        worker.kill()


def test_what_is_compiled_ahead_computes(any_device: DeviceInfo) -> None:
    with opened(any_device) as backend:
        problem = some_problem(backend)
        source = problem.make_source(3)
        for variant in 2 * [backend.default_variant(problem)]:
            backend.compile(problem, variant)
            assert not wrong(problem, backend.compute(problem, source, variant), source)


def test_memory_that_is_reserved_is_the_devices(any_device: DeviceInfo) -> None:
    with opened(any_device) as backend:
        kept = backend.reserve(3 * 2**20)
        assert kept.nbytes == 3 * 2**20
        problem = some_problem(backend)
        source = problem.make_source(3)
        assert not wrong(problem, backend.compute(problem, source), source)


def test_close_twice(any_device: DeviceInfo) -> None:
    with opened(any_device) as backend:
        assert backend.device == any_device
        problem = some_problem(backend)
        source = problem.make_source(0)
        assert not wrong(problem, backend.compute(problem, source), source)
    backend.close()


def test_a_closed_backend_refuses_to_compute(any_device: DeviceInfo) -> None:
    with opened(any_device) as backend:
        problem = some_problem(backend)
        source = problem.make_source(0)
        uploaded = backend.upload(problem.pack(source))
    again = re.escape(f"{any_device.key} is closed; open it again with open_backend(")
    for call in (
        lambda: backend.compute(problem, source),
        lambda: backend.prepare(problem, backend.default_variant(problem), [uploaded]),
        lambda: backend.reduce("sum", np.ones(3)),
        lambda: backend.reduce("sum", np.ones(0)),
        lambda: backend.laplace(np.ones((3, 3), np.uint8)),
    ):
        with pytest.raises(BackendError, match=again):
            call()


def test_the_default_variant_is_supported(any_backend: Backend) -> None:
    for problem in PROBLEMS:
        if REGISTRY[any_backend.name].role in ("opencl", "cuda"):
            assert any_backend.unsupported(problem, any_backend.default_variant(problem)) is None

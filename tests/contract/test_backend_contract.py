"""What every backend promises beside right answers: devices, prepared calls, gates, closing."""

from __future__ import annotations

import math
import re
import threading
import time
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, get_args

import numpy as np
import pytest

from backends import (
    REGISTRY,
    Backend,
    BackendError,
    BackendUnavailable,
    DeviceInfo,
    Unsupported,
    open_backend,
)
from harness.devices import ResultLocation
from harness.measure.measurer import Share
from harness.problems import Array, Bandwidth, Empty, Laplace, Problem, Reduction
from harness.results.record import Case
from harness.runner.settings import RunOptions
from harness.runner.worker_process import Worker
from harness.variants.axes import BandwidthVariant, LaplaceVariant, LaunchVariant, ReductionVariant, Variant
from tests.conftest import found, opened
from tests.support.checks import require, runs

PROBLEMS: list[Problem] = [
    Reduction("minmax", "int32", (70001,)),
    Reduction("sum", "uint8", (1000, 37)),
    Reduction("count_nonzero", "float32", (4097,)),
    Laplace("eight", "wrap", "laplacian", "uint8", 33, 70),
    Laplace("eight_negated", "replicate", "laplacian", "uint8", 33, 70),
    Laplace("four", "reflect_101", "sharpened", "float32", 19, 21, 3),
    Bandwidth("copy", "uint32", 4099),
]
all_problems = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.label)


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


@pytest.mark.parametrize("index", [-1, 10_000])
def test_a_device_out_of_range_is_refused(any_device: DeviceInfo, index: int) -> None:
    last = len(found()[any_device.backend]) - 1
    with pytest.raises(BackendUnavailable, match=rf"{index}.*{last}"):
        open_backend(any_device.backend, index)


def some_problem(backend: Backend) -> Problem:
    """One that the backend runs by its default."""
    for problem in PROBLEMS:
        if runs(backend, problem):
            return problem
    pytest.skip(f"{backend.device.key} runs none of the problems here")


def test_a_worker_goes_on_in_a_fresh_context(any_device: DeviceInfo) -> None:
    with opened(any_device) as backend:
        problem = some_problem(backend)
        case = Case(any_device.backend, any_device.index, problem, backend.default_variant(problem))
    worker = Worker(case.backend, case.device, RunOptions().for_worker())
    try:
        worker.wait_until_open(60)
        for _ in range(2):
            share = asdict(Share(3, 0.05))
            answer = worker.ask({"case": case.to_json(), "crop": False, "share": share}, 60)
            assert (answer["record"]["status"], answer["record"]["reason"]) == ("ok", "")
            worker.tell({"renew": True})
            worker.wait_until_open(60)
        worker.finish()
    finally:
        worker.kill()


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(ValueError, match=r"backend 'metal' is unknown; known are numpy, opencl"):
        open_backend("metal")


@pytest.mark.parametrize("device", ["0", None, 0.0, [0]])
def test_a_device_that_is_no_number_is_refused(device: Any) -> None:
    with pytest.raises(TypeError, match=re.escape(f"`harness devices`, not {device!r}")):
        open_backend("numpy", device)


@pytest.mark.parametrize("name", [["numpy"], None, 0])
def test_a_backend_that_is_no_name_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"backend {name!r} is unknown; known are numpy")):
        open_backend(name)


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


def test_an_unsupported_variant_is_refused_with_its_reason(any_backend: Backend) -> None:
    problem = Reduction("min", "int32", (5,))
    assert any_backend.unsupported(problem, LaplaceVariant())
    with pytest.raises(Unsupported, match=r"min int32 5: "):
        any_backend.prepare(problem, LaplaceVariant(), [])


def test_an_image_of_a_wrong_shape_is_refused(any_backend: Backend) -> None:
    for image, message in (
        (np.zeros(5, np.uint8), r"shape \(height, width\)"),
        (np.zeros((2, 2, 2), np.uint8), r"channels 2 is not supported"),
        (np.zeros((0, 4), np.uint8), r"has no pixels"),
        (np.zeros((4, 4), np.int32), r"dtype 'int32' is not supported"),
    ):
        with pytest.raises(ValueError, match=message):
            any_backend.laplace(image)
    for name in ("mask", "border", "output"):
        with pytest.raises(ValueError, match=rf"{name} 'x' is not supported; supported are"):
            any_backend.laplace(np.zeros((4, 4), np.uint8), **{name: "x"})  # type: ignore[arg-type]


@pytest.mark.parametrize("variant", ["x", "", 0, {}, ReductionVariant])
def test_what_is_no_variant_is_refused(any_backend: Backend, variant: Any) -> None:
    problem = some_problem(any_backend)
    source = problem.make_source(0)
    for call in (
        lambda: any_backend.compute(problem, source, variant),
        lambda: any_backend.prepare(problem, variant, []),
        lambda: any_backend.reduce("sum", np.ones(3), variant),
        lambda: any_backend.laplace(np.ones((3, 3), np.uint8), variant=variant),
    ):
        with pytest.raises(TypeError, match=re.escape(f"from harness.variants.axes, not {variant!r}")):
            call()


def test_a_variant_beside_the_axes_is_refused(any_backend: Backend) -> None:
    for variant, message in (
        (ReductionVariant(tree="x"), "tree = 'x': allowed are naive"),
        (ReductionVariant(vector_width=3), "vector_width = 3: allowed are 1"),
    ):
        with pytest.raises(ValueError, match=message):
            any_backend.reduce("min", np.ones(3), variant)


def test_a_masked_array_is_refused_with_the_remedy(any_backend: Backend) -> None:
    image = np.ma.array(np.ones((3, 3), np.uint8), mask=np.eye(3, dtype=bool))
    remedy = r"mask would be lost; give array\.compressed\(\).*filled\(value\)"
    for call in (lambda: any_backend.reduce("sum", image), lambda: any_backend.laplace(image)):
        with pytest.raises(TypeError, match=remedy):
            call()


def test_a_border_value_that_is_no_number_is_refused(any_backend: Backend) -> None:
    value: Any
    for value in ("x", None, [1]):
        with pytest.raises(ValueError, match=re.escape(f"border_value {value!r} is no number")):
            any_backend.laplace(np.zeros((4, 4), np.uint8), border="constant", border_value=value)


def sources_of(backend: Backend, problem: Problem, count: int) -> tuple[list[Array], list[Any]]:
    """``count`` different sources, on the host and uploaded."""
    require(backend, problem)
    hosts = [problem.make_source(seed) for seed in range(count)]
    if isinstance(problem, Reduction):
        # The extremes are the same in every source, and the zeros about as many: set the sources apart.
        hosts = [(host / (seed + 1)).astype(problem.dtype) for seed, host in enumerate(hosts)]
        for seed, host in enumerate(hosts):
            host.flat[: seed * host.size // 8] = 0
    return hosts, [backend.upload(problem.pack(host)) for host in hosts]


def wrong(problem: Problem, answer: Any, host: Array) -> str:
    """What is wrong with ``answer`` for ``host``; empty when it is right."""
    return problem.verify(answer, host).message


@all_problems
def test_a_call_answers_for_its_own_source(any_backend: Backend, problem: Problem) -> None:
    hosts, uploaded = sources_of(any_backend, problem, 3)
    assert wrong(problem, problem.reference(hosts[0]), hosts[1]), "the sources must differ"
    with any_backend.prepare(problem, any_backend.default_variant(problem), uploaded) as prepared:
        for calls in ([0], [1], [0, 1, 2], [2, 1], [4]):
            for i in calls:
                prepared.enqueue(i)
            assert not wrong(problem, prepared.result(), hosts[calls[-1] % 3]), calls


@all_problems
def test_poison_is_found_out(any_backend: Backend, problem: Problem) -> None:
    hosts, uploaded = sources_of(any_backend, problem, 2)
    with any_backend.prepare(problem, any_backend.default_variant(problem), uploaded) as prepared:
        prepared.enqueue(1)
        assert not wrong(problem, prepared.result(), hosts[1])
        prepared.poison()
        # Garbage, or where nothing is left to overwrite, an error; never the answer of the call before.
        with suppress(BackendError):
            assert wrong(problem, prepared.result(), hosts[1]), "the old answer survived"
        prepared.enqueue(1)
        assert not wrong(problem, prepared.result(), hosts[1])


@pytest.mark.parametrize(
    ("problem", "host"),
    [
        (Reduction("max", "int32", (4097,)), np.zeros(4097, np.int32)),
        (Reduction("minmax", "float32", (4097,)), np.zeros(4097, np.float32)),
        (Laplace("eight_negated", "replicate", "laplacian", "uint8", 33, 70), np.full((33, 70), 9, np.uint8)),
        (Bandwidth("copy", "uint32", 4099), np.zeros(4099, np.uint32)),
    ],
    ids=lambda value: getattr(value, "label", ""),
)
def test_poison_is_no_zero(any_backend: Backend, problem: Problem, host: Array) -> None:
    """Memory that nobody wrote is often zero, and so are many answers.

    Of a sum zero may be what a call finds and adds to: no poison tells it apart.
    """
    require(any_backend, problem)
    uploaded = [any_backend.upload(problem.pack(host))]
    with any_backend.prepare(problem, any_backend.default_variant(problem), uploaded) as prepared:
        prepared.enqueue(0)
        assert not wrong(problem, prepared.result(), host)
        prepared.poison()
        with suppress(BackendError):
            assert wrong(problem, prepared.result(), host)


@all_problems
def test_the_ledger_of_own_kernels(own_backend: Backend, problem: Problem) -> None:
    _, uploaded = sources_of(own_backend, problem, 1)
    variant = own_backend.default_variant(problem)
    with own_backend.prepare(problem, variant, uploaded) as prepared:
        assert prepared.launches
        for launch in prepared.launches:
            assert launch.kernel
            assert len(launch.num_groups) == len(launch.group_size) in (1, 2)
            assert min(launch.num_groups) >= 1
            assert 1 <= math.prod(launch.group_size) <= own_backend.device.max_group_size
            assert launch.local_bytes >= 0
        assert prepared.result_location in get_args(ResultLocation)
        assert len(prepared.source_hash) == 64
        first = prepared.source_hash
    with own_backend.prepare(problem, variant, uploaded) as again:
        assert again.source_hash == first
    again.close()


def test_one_element_a_work_item_launches_as_many_as_elements(own_backend: Backend) -> None:
    cases: list[tuple[Problem, Variant, int]] = [
        (Reduction("max", "int16", (70001,)), ReductionVariant(group_size=64), 70001),
        (Bandwidth("read", "uint8", 999), BandwidthVariant(groups="per_problem", group_size=32), 999),
        (Laplace("four", "wrap", "laplacian", "uint8", 33, 70, 3), LaplaceVariant(), 33 * 70 * 3),
    ]
    for problem, variant, needed in cases:
        _, uploaded = sources_of(own_backend, problem, 1)
        with own_backend.prepare(problem, variant, uploaded) as prepared:
            first = prepared.launches[0]
            assert math.prod(first.num_groups) * math.prod(first.group_size) >= needed


def test_sources_tell_variants_apart(own_backend: Backend) -> None:
    problem = Reduction("max", "int16", (70001,))
    _, uploaded = sources_of(own_backend, problem, 1)
    hashes = set()
    for variant in (ReductionVariant(), ReductionVariant(vector_width=2), ReductionVariant(tree="naive")):
        with own_backend.prepare(problem, variant, uploaded) as prepared:
            hashes.add(prepared.source_hash)
    assert len(hashes) == 3


@all_problems
def test_event_seconds(any_backend: Backend, problem: Problem) -> None:
    hosts, uploaded = sources_of(any_backend, problem, 2)
    with any_backend.prepare(problem, any_backend.default_variant(problem), uploaded) as prepared:
        prepared.enqueue(0)
        seconds = [prepared.event_seconds(i) for i in (0, 1, 3)]
        if None in seconds:
            assert seconds == [None] * 3
            pytest.skip(f"{any_backend.device.key} has no timer of its own")
        assert all(value is not None and 0 < value < 60 for value in seconds), seconds
        prepared.enqueue(1)
        assert not wrong(problem, prepared.result(), hosts[1])


@pytest.mark.timeout(120)
@all_problems
def test_nothing_passes_a_closed_gate(any_backend: Backend, problem: Problem) -> None:
    hosts, uploaded = sources_of(any_backend, problem, 2)
    with any_backend.prepare(problem, any_backend.default_variant(problem), uploaded) as prepared:
        for i in (0, 1):
            prepared.enqueue(i)
        any_backend.synchronize()
        prepared.poison()
        start = time.perf_counter()
        gate = any_backend.gate(prepared, 0.5)
        if gate is None:
            pytest.skip(f"{any_backend.device.key} is host-bound: it has no gate")
        opened: list[float] = []
        calls = any_backend.max_gated_launches // 8
        for i in range(calls):
            prepared.enqueue(i)

        def open_it() -> None:
            gate.submit()
            if any_backend.gate_kind == "user event":
                # The other kind has waited by itself, and opens by itself.
                time.sleep(0.3)
            opened.append(time.perf_counter())
            gate.open()

        thread = threading.Thread(target=open_it)
        thread.start()
        any_backend.synchronize()
        ended = time.perf_counter()
        thread.join()
        assert ended > min(opened[0] - 1e-3, start + 0.5), "the work ended before the gate was opened"
        assert not wrong(problem, prepared.result(), hosts[(calls - 1) % 2])


@pytest.mark.timeout(120)
def test_gates_follow_each_other(any_backend: Backend) -> None:
    problem = PROBLEMS[0]
    hosts, uploaded = sources_of(any_backend, problem, 1)
    with any_backend.prepare(problem, any_backend.default_variant(problem), uploaded) as prepared:
        prepared.enqueue(0)
        any_backend.synchronize()
        for calls in (1, 0, 3, any_backend.max_gated_launches // 4):
            gate = any_backend.gate(prepared, 0.2)
            if gate is None:
                pytest.skip(f"{any_backend.device.key} is host-bound: it has no gate")
            for _ in range(calls):
                prepared.enqueue(0)
            gate.submit()
            start = time.perf_counter()
            gate.open()
            any_backend.synchronize()
            assert time.perf_counter() - start < 1, "the gate did not open"
        assert not wrong(problem, prepared.result(), hosts[0])


def test_empty_launches(own_backend: Backend) -> None:
    problem = Empty((((3,), (64,)), ((2, 5), (8, 4))))
    source = own_backend.upload(problem.make_source(0))
    with own_backend.prepare(problem, LaunchVariant(), [source]) as prepared:
        prepared.enqueue(0)
        own_backend.synchronize()
        launched = tuple((launch.num_groups, launch.group_size) for launch in prepared.launches)
        assert launched == problem.geometry

"""What every backend promises of prepared calls: their sources, poison, launches, timers and gates."""

from __future__ import annotations

import math
import threading
import time
from contextlib import suppress
from typing import get_args

import numpy as np
import pytest

from backends import Backend, BackendError
from backends.base import POISON, HostMemory
from harness.devices import ResultLocation
from harness.problems import Array, Bandwidth, Empty, Laplace, Problem, Reduction
from harness.variants.axes import BandwidthVariant, LaplaceVariant, LaunchVariant, ReductionVariant, Variant
from tests.support.checks import require
from tests.support.contract import PROBLEMS, all_problems, sources_of, wrong


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
def test_an_answer_may_be_fetched_into_memory_that_is_there(any_backend: Backend, problem: Problem) -> None:
    hosts, uploaded = sources_of(any_backend, problem, 2)
    memory = HostMemory()
    # More than it takes, and not empty.
    memory.array(problem.source_bytes + 1000, np.uint8).fill(POISON)
    with any_backend.prepare(problem, any_backend.default_variant(problem), uploaded) as prepared:
        for i, host in enumerate(hosts):
            prepared.enqueue(i)
            assert not wrong(problem, prepared.result(memory), host)
        assert not wrong(problem, prepared.result(), hosts[-1])


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
def test_the_provenance_of_own_kernels(own_backend: Backend, problem: Problem) -> None:
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
            # A gate that does not open is ended by the test's time limit.
            gate.open()
            any_backend.synchronize()
        assert not wrong(problem, prepared.result(), hosts[0])


def test_empty_launches(own_backend: Backend) -> None:
    problem = Empty((((3,), (64,)), ((2, 5), (8, 4))))
    source = own_backend.upload(problem.make_source(0))
    with own_backend.prepare(problem, LaunchVariant(), [source]) as prepared:
        prepared.enqueue(0)
        own_backend.synchronize()
        launched = tuple((launch.num_groups, launch.group_size) for launch in prepared.launches)
        assert launched == problem.geometry

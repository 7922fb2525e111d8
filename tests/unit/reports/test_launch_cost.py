"""The study of launching: ways to enqueue, and their table."""

from __future__ import annotations

import pytest

from backends import Backend, open_backend
from backends.errors import DeviceLost
from harness.problems import Empty, Reduction
from harness.variants.axes import LaunchVariant, ReductionVariant
from reports import render
from reports.dataset import frame
from reports.launch_cost import launch_table
from tests.support.report_data import record, run_of

EMPTY = Empty((((3,), (8,)),) * 2)


@pytest.mark.parametrize("events", ["off", "on", "profiled"])
@pytest.mark.parametrize("queue", ["in_order", "out_of_order"])
def test_every_way_to_launch_waits_behind_a_gate(own_backend: Backend, queue: str, events: str) -> None:
    variant = LaunchVariant(queue=queue, events=events)  # type: ignore[arg-type]
    reason = own_backend.unsupported(EMPTY, variant)
    if reason:
        pytest.skip(reason)
    source = own_backend.upload(EMPTY.make_source(0))
    with own_backend.prepare(EMPTY, variant, [source]) as prepared:
        assert prepared.submission == f"{queue} queue, events {events}"
        prepared.enqueue(0)
        own_backend.synchronize()
        gate = own_backend.gate(prepared, 0.5)
        assert gate
        prepared.enqueue(1)
        gate.submit()
        gate.open()
        own_backend.synchronize()


def test_what_is_enqueued_without_an_event_can_fail() -> None:
    cl = pytest.importorskip("pyopencl")
    from backends.opencl.launch import can_go_without_event, without_event

    assert can_go_without_event()
    with open_backend("opencl") as backend:
        queue = backend._queue  # type: ignore[attr-defined]
        program = cl.Program(queue.context, "__kernel void nothing(void) {}").build()
        enqueue = without_event(queue, cl.Kernel(program, "nothing"), (7,), (2,))
        with pytest.raises(DeviceLost, match="INVALID_WORK_GROUP_SIZE"):
            enqueue()


def test_the_table_sets_each_way_beside_the_plain_one() -> None:
    ways = {"off": 3e-6, "on": 4.5e-6, "profiled": 9e-6}
    records = [
        record("opencl", EMPTY, seconds, variant=LaunchVariant(events=events))  # type: ignore[arg-type]
        for events, seconds in ways.items()
    ]
    run = run_of(*records)
    table = launch_table(frame(run))
    assert [line.cells[-1].text for line in table.lines] == ["1.00", "1.50", "3.00"]
    assert "What launching costs" in render(run, "harness run launch")


def test_without_a_study_there_is_no_table() -> None:
    run = run_of(record("opencl", Reduction("min", "int32", (9,)), 1e-6, variant=ReductionVariant()))
    assert not launch_table(frame(run)).lines
    assert "What launching costs" not in render(run, "harness run quick")

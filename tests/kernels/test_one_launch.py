"""What a finish leaves for the next call: calls one after the other, with nothing restored between them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from backends import Backend
from backends.base import Prepared
from backends.common.kernel_backend import PreparedPlan
from harness.kernels.targets import KERNELS
from harness.problems import Array, Reduction
from harness.problems.dtypes import DTYPES
from harness.variants.axes import AXES, PER_PROBLEM, Finish, ReductionVariant
from tests.support.checks import Axes, Point, pairwise, require, skipping

POCL = "Portable Computing Language"
NAN_BITS = {"float16": 0x7E01, "float32": 0x7FC00001, "float64": 0x7FF8000000000001}


@pytest.fixture
def waiting_backend(own_backend: Backend, monkeypatch: pytest.MonkeyPatch) -> Backend:
    """A backend whose device's groups may wait: PoCL starts them in the order of their numbers, though
    OpenCL promises that of nobody.
    """
    device = own_backend.device
    if not device.awaits_groups and device.platform != POCL:
        pytest.skip(f"{device.key}: its work-groups may not wait for each other")
    monkeypatch.setattr(own_backend, "device", replace(device, awaits_groups=True))
    return own_backend


@contextmanager
def prepared_on(
    backend: Backend, problem: Reduction, finish: Finish, arrays: Sequence[Array]
) -> Iterator[Prepared]:
    """The problem with that finish in many small groups, on these sources."""
    variant = ReductionVariant(group_size=4, groups=PER_PROBLEM, finish=finish)
    require(backend, problem, variant)
    sources = [backend.upload(np.ascontiguousarray(array)) for array in arrays]
    with skipping(), backend.prepare(problem, variant, sources) as prepared:
        yield prepared


def calls() -> list[Point]:
    """Each operation with each finish on two types; of the other types and sizes each pair."""
    axes: Axes = {"op": list(KERNELS), "finish": AXES["reduction"]["finish"]}
    whole = [("int32", 70), ("float32", 70)]
    sources = [*((dtype, 70) for dtype in DTYPES), ("int32", 1), ("uint8", 4097), ("float32", 4097)]
    product = itertools.product(whole, *axes.values())
    found = [dict(zip(("source", *axes), values, strict=True)) for values in product]
    found += pairwise({"source": [source for source in sources if source not in whole], **axes})
    return [
        {"dtype": dtype, "size": size, **point} for point in found for dtype, size in [point.pop("source")]
    ]


@pytest.mark.parametrize(("dtype", "size", "op", "finish"), [tuple(point.values()) for point in calls()])
def test_calls_one_after_the_other_leave_nothing_to_the_next(
    waiting_backend: Backend, dtype: str, size: int, op: str, finish: Finish
) -> None:
    """A result that is left in its place is added to the next one or, as it is more extreme, hides it."""
    problem = Reduction(op, dtype, (size,))
    extreme = problem.make_source(3)
    arrays = [extreme, problem.unlike(extreme)]
    with prepared_on(waiting_backend, problem, finish, arrays) as prepared:

        def check(source: int) -> None:
            found = problem.verify(prepared.result(), arrays[source])
            assert found.ok, found.message

        rounds = prepared.answers + 1
        for source in [0] * rounds + [1] * rounds + [0, 1]:
            prepared.enqueue(source)
            check(source)
        # Nobody looks at what these leave, as while the queue's clock runs.
        for _ in range(3 * rounds):
            prepared.enqueue(0)
        # Timed by the API's clock a call leaves no less.
        prepared.event_seconds(0)
        prepared.enqueue(1)
        check(1)
        prepared.poison()
        prepared.enqueue(0)
        check(0)


@pytest.mark.parametrize("finish", AXES["reduction"]["finish"])
@pytest.mark.parametrize("op", ["minmaxloc", "sum"])
def test_a_call_restores_what_it_began_with(waiting_backend: Backend, finish: Finish, op: str) -> None:
    """A flag that stays up does harm only where groups run side by side; the memory always shows it."""
    problem = Reduction(op, "int64", (41,))
    with prepared_on(waiting_backend, problem, finish, [problem.make_source(3)]) as prepared:
        assert isinstance(prepared, PreparedPlan)
        for _ in range(prepared.answers + 1):
            prepared.enqueue(0)
            prepared.result()
            for name, (found, initial) in buffers(prepared).items():
                assert found == initial, name


def buffers(prepared: PreparedPlan) -> dict[str, tuple[bytes, bytes]]:
    """What is in the buffers that have an initial content, and that content: of a ring in the next place."""
    plan, turn = prepared._plan, prepared._turn
    there = dict(plan.initial)
    if plan.ring:
        following = plan.ring[(plan.ring.index(plan.result) + turn + 1) % len(plan.ring)]
        there = {
            name: content for name, content in there.items() if name not in plan.ring or name == following
        }
    found = {}
    for name, content in there.items():
        # A partial result lies at the start of its place; what is behind it nobody reads.
        nbytes = len(content) if name in plan.ring else plan.buffers[name]
        host = np.empty(nbytes, np.uint8)
        prepared._backend._download(prepared._buffers[0][name], host)
        found[name] = host.tobytes(), (content * nbytes)[:nbytes]
    return found


@pytest.mark.parametrize("finish", AXES["reduction"]["finish"])
@pytest.mark.parametrize("op", ["min", "max", "minmaxloc", "sum"])
@pytest.mark.parametrize("dtype", NAN_BITS)
@pytest.mark.parametrize("sign", [0, 1])
def test_a_nan_of_either_sign_passes_every_finish(
    waiting_backend: Backend, finish: Finish, op: str, dtype: str, sign: int
) -> None:
    """Between numbers of either sign: the bits of a NaN may lie below all others or above them."""
    word = f"u{DTYPES[dtype].itemsize}"
    nan = np.array(NAN_BITS[dtype] | sign << (8 * DTYPES[dtype].itemsize - 1), word).view(dtype)
    numbers = np.linspace(-9, 9, 41).astype(dtype)
    arrays = [numbers, -np.abs(numbers), np.abs(numbers)]
    for array in arrays:
        array[7] = nan
    problem = Reduction(op, dtype, numbers.shape)
    with prepared_on(waiting_backend, problem, finish, arrays) as prepared:
        for source, array in enumerate(arrays):
            prepared.enqueue(source)
            found = problem.verify(prepared.result(), array)
            assert found.ok, found.message

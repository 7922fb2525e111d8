"""What each clock adds to the work, found with empty kernels of the same geometry; the profiler's clock."""

from __future__ import annotations

import time

from backends.base import Backend
from harness.devices import KernelTimes, Launch
from harness.measure.budget import Budget
from harness.measure.clocks import Timer, event_seconds, queue_seconds
from harness.measure.rotation import Rotation
from harness.problems import Empty
from harness.results.record import Samples
from harness.results.statistics import quartiles, usable
from harness.variants.axes import LaunchVariant


def kernel_seconds(
    rotation: Rotation, queue: Samples | None, budget: Budget
) -> tuple[Samples | None, KernelTimes | None]:
    """Samples of the sum of a call's kernel durations by the API's profiler, and what else it saw.

    Args:
        rotation: the calls of the case.
        queue: its queue clock, which says how many calls fit the budget.
        budget: at most so many samples and seconds.

    Returns:
        No clock where the profiler failed; neither where there is none.
    """
    taken = usable(queue.seconds) if queue else []
    fitting = int(budget.seconds / quartiles(taken).median) if taken else budget.samples
    times = rotation.kernel_times(max(budget.least, min(budget.samples, fitting)))
    if times is None or not times.seconds:
        return None, times
    return Samples(times.seconds, 1, _what(times)), times


def _what(times: KernelTimes) -> str:
    kernels = f"{len(times.kernels)} kernel{'s' * (len(times.kernels) > 1)} a call"
    transfers = f"{times.transfers} cop{'ies or fills' if times.transfers > 1 else 'y or fill'} not counted"
    return f"{kernels}; {transfers}" if times.transfers else kernels


def launch_clocks(
    backend: Backend,
    launches: tuple[Launch, ...],
    budget: Budget,
    timer: Timer = time.perf_counter,
    primary_only: bool = False,
) -> dict[str, Samples]:
    """Every clock's samples on empty kernels of the same geometry, by the names of
    :data:`harness.results.clock_agreement.BIAS_OF`; only the queue's if ``primary_only``.

    Empty where the launches are not known or the backend has no empty kernel.
    """
    if not launches:
        return {}
    problem = Empty(tuple((launch.num_groups, launch.group_size) for launch in launches))
    if backend.unsupported(problem, LaunchVariant()):
        return {}
    source = backend.upload(problem.pack(problem.make_source(0)))
    with backend.prepare(problem, LaunchVariant(), [source]) as prepared:
        rotation = Rotation(prepared)
        queue = queue_seconds(backend, rotation, budget, timer)
        found: dict[str, Samples | None] = {"launch": queue}
        if not primary_only:
            found["launch_event"] = event_seconds(rotation, budget, timer)
            found["launch_kernel"] = kernel_seconds(rotation, queue, budget)[0]
    return {name: clock for name, clock in found.items() if clock is not None}

"""What each clock adds to the work, found with empty kernels, and whether the clocks agree given that.

An empty kernel of the same geometry does no work: what a clock shows of it is its bias. A clock's bias can
hide behind work, the queue's launches behind the kernel that runs, so the work lies somewhere between the
clock's time less its bias and its time. Clocks whose bounds do not meet contradict each other.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import combinations

import numpy as np

from backends.base import Backend
from harness.devices import KernelTimes, Launch
from harness.measure.clocks import Budget, Timer, event_seconds, queue_seconds
from harness.measure.rotation import Rotation
from harness.problems import Empty
from harness.results.record import Samples
from harness.results.statistics import quartiles, usable
from harness.variants.axes import LaunchVariant

BIAS_OF = {"queue": "launch", "event": "launch_event", "kernel": "launch_kernel"}
"""The clocks that time the device, with the clock of the empty kernel for each."""

SLACK = 0.02
"""Share of a time by which two clocks may differ beyond their bounds."""


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
    """Every clock's samples on empty kernels of the same geometry, by the names of :data:`BIAS_OF`; only the
    queue's if ``primary_only``.

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


def disagreement(clocks: Mapping[str, Samples]) -> str:
    """Which clocks contradict each other beyond bias and noise, in words; empty where none do."""
    bounds = {name: _bounds(clocks, name) for name in BIAS_OF if name in clocks}
    known = {name: found for name, found in bounds.items() if found}
    found = []
    for (first, (low, high)), (second, (other_low, other_high)) in combinations(known.items(), 2):
        slack = 1 + SLACK
        if low > other_high * slack or other_low > high * slack:
            found.append(
                f"by the {first} clock the work takes {low * 1e6:.2f} to {high * 1e6:.2f} us, "
                f"by the {second} clock {other_low * 1e6:.2f} to {other_high * 1e6:.2f} us"
            )
    return "; ".join(found)


def _bounds(clocks: Mapping[str, Samples], name: str) -> tuple[float, float] | None:
    """Between which seconds a clock says the work lies, noise allowed for; None without a sample."""
    samples = usable(clocks[name].seconds)
    if not samples:
        return None
    short, long = _ends(samples)
    if name == "kernel" and BIAS_OF[name] not in clocks:
        # A kernel's own duration has hardly any bias; the others without an empty kernel bound nothing below.
        return short, long
    bias = usable(clocks[BIAS_OF[name]].seconds) if BIAS_OF[name] in clocks else []
    # A host's cost of enqueueing can hide the device's whole work, or show on top of it.
    weak = bool(clocks[name].note) and name != "kernel"
    return (max(0.0, short - _ends(bias)[1]) if bias and not weak else 0.0), long


def _ends(samples: list[float]) -> tuple[float, float]:
    """Most samples lie between: the first and the last tenth are left out."""
    low, high = np.percentile(samples, (10, 90))
    return float(low), float(high)

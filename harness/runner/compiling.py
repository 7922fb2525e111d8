"""Compiles what a run measures on all cores before anything is measured.

A kernel of ours compiles for less than a tenth of a second, one of CuPy's or PyTorch's for seconds, CUB's of
a type for seventeen, and each runs for microseconds, so a run would compile most of its time: one after the
other in each worker. Here several processes a device share that. What they compile stays in the caches on
disk, which the drivers, PoCL, libraries, :mod:`backends.cuda.nvrtc` and :mod:`backends.cuda.nvcc` keep; the
workers find it there. They end before the first measurement.
"""

from __future__ import annotations

import logging
import math
import queue
import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sized
from contextlib import suppress

from backends import REGISTRY
from harness.cpuinfo import usable_cores
from harness.results.record import Case
from harness.runner.plan import RunPlan
from harness.runner.worker_process import Worker, WorkerFailed

WORTH_S = 0.5
"""Seconds of compiling that are worth a process, as starting one takes about as long."""
LEAST, MOST = 4, 16
"""Processes: fewer are no faster than the workers, which compile beside each other, too; more would wait for
the disk and the driver.
"""
HOST_BYTES, DEVICE_BYTES = 2**30, 2**31
"""Memory for each process: of the host's that is free, and of the GPU's."""

_log = logging.getLogger(__name__)

_Key = tuple[str, int]
"""A backend's name and its device's number."""


def compile_ahead(plan: RunPlan, cases: Iterable[Case], progress: Callable[[int, int], None]) -> None:
    """Compiles what these cases of a plan need, each once; does nothing where they are too few, or the cores.

    A process that fails is not replaced: the worker that comes to its case fails, too, and reports it.

    Args:
        plan: says which devices there are, and how workers are started.
        cases: of the plan; those that nothing is compiled for (``compiles`` of the registry) are left alone.
        progress: called with how many cases are done, and how many there are.
    """
    work = _by_device(plan, cases)
    total = sum(map(len, work.values()))
    helpers = list(_helpers(plan, work))
    if len(helpers) < LEAST:
        return
    done: queue.SimpleQueue[bool] = queue.SimpleQueue()
    at_work: list[tuple[Worker, threading.Thread]] = []
    try:
        for name, device in helpers:
            try:
                worker = Worker(plan.classes.get(name, name), device, plan.for_worker(), plan.held)
            except WorkerFailed as error:
                # With fewer processes, or none, it takes longer.
                _log.info("no process that compiles: %s", error)
                break
            told = worker, work[name, device], done, plan.suite.measure.limit_s
            at_work.append((worker, threading.Thread(target=_compile_each, args=told)))
            at_work[-1][1].start()
        compiled, left = 0, len(at_work)
        while left:
            progress(compiled, total)
            goes_on = done.get()
            compiled += goes_on
            left -= not goes_on
    finally:
        # They have ended, unless this was interrupted.
        for worker, _ in at_work:
            worker.stop()
        for _, thread in at_work:
            thread.join()


def _compile_each(worker: Worker, work: deque[Case], done: queue.SimpleQueue[bool], limit_s: float) -> None:
    """Has a worker compile what is left of the work of its device, and ends it; tells True after each case,
    False at the end.
    """
    try:
        worker.wait_until_open()
        for case in _taken(work):
            worker.ask({"compile": True, "case": case.to_json()}, limit_s)
            done.put(True)
    except WorkerFailed as error:
        _log.info("a process that compiles ended: %s", error)
    finally:
        worker.finish()
        done.put(False)


def _taken(work: deque[Case]) -> Iterator[Case]:
    """What is left, which other threads take from, too."""
    with suppress(IndexError):
        while True:
            yield work.popleft()


def _by_device(plan: RunPlan, cases: Iterable[Case]) -> dict[_Key, deque[Case]]:
    """The cases that something is compiled for, by device; of those with the same code the first."""
    found: dict[_Key, dict[Hashable, Case]] = {}
    for case in cases:
        entry = REGISTRY.get(case.backend)
        if not (entry and entry.compiles) or case in plan.skipped:
            continue
        code = entry.compiles.code(case.problem, case.variant)
        if code is not None:
            found.setdefault((case.backend, case.device), {}).setdefault(code, case)
    return {key: deque(of_device.values()) for key, of_device in found.items()}


def _helpers(plan: RunPlan, work: Mapping[_Key, Sized]) -> Iterator[_Key]:
    """The device of each process: of each device one, and then each of that whose processes need longest, as
    long as there are cores, memory and cases enough.
    """
    import psutil

    def needed(key: _Key) -> tuple[float, float]:
        """Seconds until its processes are done, and of all of its work; infinite where it has none yet."""
        cases, seconds = len(work[key]), each[key]
        return seconds * math.ceil(cases / helpers[key]) if helpers[key] else math.inf, seconds * cases

    of = {(device.backend, device.index): device for device in plan.devices}
    physical = {key: of[key].physical if key in of else "" for key in work}
    # OpenCL, CUDA and the libraries have contexts on one and the same GPU.
    room = dict.fromkeys(physical.values(), MOST)
    room |= {device.physical: _fitting(device.kind, device.memory_bytes) for device in of.values()}
    each = {key: compiles.seconds for key in work if (compiles := REGISTRY[key[0]].compiles)}
    helpers = dict.fromkeys(each, 0)
    for _ in range(min(MOST, usable_cores(), psutil.virtual_memory().available // HOST_BYTES)):
        takers = [
            key
            for key, n in helpers.items()
            if room[physical[key]] and n < len(work[key]) and each[key] * len(work[key]) / (n + 1) >= WORTH_S
        ]
        if not takers:
            return
        longest = max(takers, key=needed)
        helpers[longest] += 1
        room[physical[longest]] -= 1
        yield longest


def _fitting(kind: str, memory_bytes: int) -> int:
    """How many processes may hold a context of a device."""
    return MOST if kind == "cpu" or not memory_bytes else memory_bytes // DEVICE_BYTES

"""Compiles what a run measures on all cores before anything is measured.

A kernel of ours compiles for a tenth of a second or more, one of CUB's or CuPy's for seconds, and each runs
for microseconds, so a run would compile most of its time: one after the other in each worker. Here several
processes a device share that. What they compile stays in the caches on disk, which the drivers, PoCL,
libraries, :mod:`backends.cuda.nvrtc` and :mod:`backends.cuda.nvcc` keep; the workers find it there. They end
before the first measurement.
"""

from __future__ import annotations

import logging
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

FEWEST_CASES = 8
"""Cases of ours a process, as starting one takes as long as compiling some kernels. A library's take longer.
"""
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
            worker = Worker(plan.classes.get(name, name), device, plan.for_worker(), plan.held)
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
        if entry and entry.compiles and case not in plan.skipped:
            of_device = found.setdefault((case.backend, case.device), {})
            of_device.setdefault(entry.compiles(case.problem, case.variant), case)
    return {key: deque(of_device.values()) for key, of_device in found.items()}


def _helpers(plan: RunPlan, work: Mapping[_Key, Sized]) -> Iterator[_Key]:
    """The device of each process: in turn, as long as there are cores, memory and cases enough."""
    import psutil

    of = {(device.backend, device.index): device for device in plan.devices}
    wanted = {key: len(found) // _fewest(key[0]) for key, found in work.items()}
    # OpenCL, CUDA and the libraries have contexts on one and the same GPU.
    room = {device.physical: _fitting(device.kind, device.memory_bytes) for device in of.values()}
    left = min(MOST, usable_cores(), psutil.virtual_memory().available // HOST_BYTES)
    while left and any(wanted.values()):
        for key in work:
            physical = of[key].physical if key in of else ""
            if not room.setdefault(physical, MOST):
                wanted[key] = 0
            if left and wanted[key]:
                wanted[key] -= 1
                room[physical] -= 1
                left -= 1
                yield key


def _fewest(backend: str) -> int:
    """Cases that are worth a process."""
    return 1 if REGISTRY[backend].role == "library" else FEWEST_CASES


def _fitting(kind: str, memory_bytes: int) -> int:
    """How many processes may hold a context of a device."""
    return MOST if kind == "cpu" or not memory_bytes else memory_bytes // DEVICE_BYTES

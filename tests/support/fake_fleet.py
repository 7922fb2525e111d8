"""Hosts with fake devices, each of them a Dask worker on this machine: in a thread of the test's process, or
in a process of its own, which loads this module (``--preload tests.support.fake_fleet``).

A worker's name says what it is: ``a`` is host a with one device, ``a@2`` another worker of the same host,
``a*3`` has three devices, ``old+a`` has other versions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster, Worker, get_worker

from backends import REGISTRY
from backends.registry import Entry
from harness.devices import DeviceInfo
from harness.fleet import versions as fleet_versions
from harness.fleet import worker as fleet_worker
from harness.fleet.device_run import DeviceRun
from harness.results.record import Case, Record, Samples
from harness.runner import environment, planning, pool
from harness.runner.plan import RunPlan
from tests.support.fake_backend import DEVICE
from tests.support.fake_runs import CLASSES

ENTRY = Entry("fake", CLASSES["fake"], "library", "nothing", packages=())
SUITE = """
title = "a tiny one"
[measure]
samples = 3
case_seconds = 0.05
limit_s = 20.0
controls = false
[[reduction]]
ops = ["min", "max", "sum"]
dtypes = ["int32"]
shapes = [[1000]]
[limits]
measure = false
"""
CASES = 3
"""Of a device in SUITE."""


def _name() -> str:
    return str(get_worker().name)


def host_name() -> str:
    """The host of the worker whose task this is."""
    return _name().removeprefix("old+").partition("@")[0].partition("*")[0]


def available() -> dict[str, list[DeviceInfo] | str]:
    """The devices of that host."""
    return {"fake": devices_of(host_name(), int(_name().partition("@")[0].partition("*")[2] or 1))}


def devices_of(host: str, count: int = 1) -> list[DeviceInfo]:
    """The devices of a host."""
    bus = hashlib.sha256(host.encode()).hexdigest()[:8]
    return [replace(DEVICE, index=n, physical=f"{bus}:{n:02x}:00.0") for n in range(count)]


def versions() -> dict[str, str]:
    """The versions on that host."""
    return {**_VERSIONS(), **({"numpy": "1.0"} if _name().startswith("old+") else {})}


_VERSIONS = cache(fleet_versions.versions)
"""The real ones. To find them takes a while: hundreds of hosts in one process do it once."""
_real_plan = planning.plan_on


def plan_on(*arguments: Any) -> RunPlan:
    """The plan, whose workers find the fake."""
    return replace(_real_plan(*arguments), classes=CLASSES)


PATCHES: dict[tuple[Any, str], Any] = {
    (planning, "available"): available,
    (planning, "plan_on"): plan_on,
    (fleet_worker, "host_name"): host_name,
    (fleet_worker, "versions"): versions,
    (environment, "packages"): cache(environment.packages),
    (environment, "commit"): cache(environment.commit),
    (environment, "kernels_hash"): cache(environment.kernels_hash),
}


def dask_setup(_: Any) -> None:
    """Makes the process of a worker such a host."""
    REGISTRY["fake"] = ENTRY
    for (owner, name), value in PATCHES.items():
        setattr(owner, name, value)


class InstantWorker:
    """Takes the place of a worker process: each answer is there at once, after ``before`` has been called."""

    before: Callable[[Case], None] = staticmethod(lambda _: None)

    def __init__(
        self, backend: str, device: int, options: Mapping[str, Any], held: Sequence[int] = ()
    ) -> None:
        self._case: Case | None = None

    def wait_until_open(self) -> None:
        """It is."""

    def tell(self, request: Mapping[str, Any]) -> None:
        """Takes a request."""
        self._case = Case.from_json(request["case"])

    def answer(self, limit_s: float) -> dict[str, Any]:
        """The record."""
        assert self._case
        type(self).before(self._case)
        return {
            "record": Record(self._case, "ok", clocks={"queue": Samples((1e-6,) * 3)}).to_json(),
            "last": False,
        }

    def finish(self) -> None:
        """Nothing is left."""

    dismiss = kill = finish


class Hosts:
    """A cluster in threads of this process, whose workers come and go as a test says."""

    def __init__(self, cluster: LocalCluster) -> None:
        self.cluster, self.workers = cluster, {}  # type: ignore[var-annotated]

    def come(self, *names: str, port: int = 0) -> None:
        """Starts workers, at this port or any."""

        async def start() -> None:
            for name in names:
                self.workers[name] = await Worker(
                    self.cluster.scheduler_address, name=name, nthreads=1, memory_limit=0, port=port
                )

        self.cluster.sync(start)

    def leave(self, name: str) -> None:
        """Ends a worker."""
        self.cluster.sync(self.workers.pop(name).close, timeout=1, executor_wait=False)

    @contextmanager
    def client(self) -> Iterator[Any]:
        """A client."""
        with Client(self.cluster.scheduler_address, set_as_default=False) as client:
            yield client


_SETTINGS = {
    "distributed.comm.timeouts.connect": "1s",
    # What each worker does beside its work is too much for a hundred in a process.
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.worker.profile.enabled": False,
}


@contextmanager
def hosts(monkeypatch: pytest.MonkeyPatch, *names: str) -> Iterator[Hosts]:
    """Hosts in threads, whose devices answer at once."""
    monkeypatch.setitem(REGISTRY, "fake", ENTRY)
    for (owner, name), value in PATCHES.items():
        monkeypatch.setattr(owner, name, value)
    _VERSIONS()
    environment.packages()
    monkeypatch.setattr(pool, "Worker", InstantWorker)
    monkeypatch.setattr(InstantWorker, "before", staticmethod(lambda _: None))
    local = {"processes": False, "dashboard_address": None, "protocol": "tcp", "silence_logs": 50}
    with dask.config.set(_SETTINGS), LocalCluster(n_workers=0, **local) as cluster:
        found = Hosts(cluster)
        found.come(*names)
        try:
            yield found
        finally:
            for name in list(found.workers):
                found.leave(name)


class Notes:
    """A screen that keeps what it is told."""

    def __init__(self, on_show: Callable[[Sequence[DeviceRun]], None] = lambda _: None) -> None:
        self.notes: list[str] = []
        self._on_show = on_show

    def note(self, text: str) -> None:
        """Keeps a note."""
        self.notes.append(text)

    def show(self, runs: Sequence[DeviceRun], workers: int) -> None:
        """Calls what the test wants."""
        self._on_show(runs)

"""Hands the devices of a fleet to the workers that report them, and keeps what they measure.

Dask runs the tasks and tells who is there. What is added here is the lease: a device has one task at a time,
whose token every message bears; a task that is lost, or silent for too long, loses the token, and what it
still sends is refused. The device's run then goes on from the records there are, wherever the device is
reported next.
"""

from __future__ import annotations

import math
import queue
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from harness.devices import DeviceInfo
from harness.fleet import worker
from harness.fleet.device_run import DeviceRun, LostMessages
from harness.fleet.folder import Folder
from harness.fleet.roster import Roster
from harness.fleet.scheduler import Scheduler
from harness.fleet.unit import FleetError, Lease, Unit, units_of
from harness.runner.planning import plan_on, suite_of

POLL_S = 0.5
"""Seconds between two looks at who is there."""
PAUSE_S = 2.0
"""Seconds before a unit that was lost, or whose device is busy, is tried again."""
MOST_LOSSES = 3
"""Leases in a row that may be lost without a record before a unit is given up."""
SILENCE_S = 600.0
"""Seconds that a worker may be silent beside what measuring takes: kernels are compiled meanwhile."""
SILENT_LIMITS = 4
"""Times the suite's limit of a case that it may be silent besides."""


class Screen(Protocol):
    """Where a fleet tells what it does."""

    def note(self, text: str) -> None:
        """Says what a person should know."""

    def show(self, runs: Sequence[DeviceRun], workers: int) -> None:
        """Shows where all devices are."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How long a fleet waits. ``workers``: so many are awaited before it begins; ``wait_s``: for them;
    ``lost_s``: for a device that no worker reports or another process holds, None is as long. ``silence_s``:
    that a worker may be silent; None is what the suite implies.
    """

    workers: int = 1
    wait_s: float = 60.0
    lost_s: float | None = None
    silence_s: float | None = None


class Fleet:
    """One run of a suite on all devices that the workers of a Dask cluster report.

    Args:
        client: of Dask.
        folder: where the run files go.
        terms: how long to wait.
        screen: where to tell what happens.
    """

    def __init__(self, client: Any, folder: Folder, terms: Terms, screen: Screen) -> None:
        self._client, self._folder, self._terms, self._screen = client, folder, terms, screen
        self._request = folder.asked()
        self._suite, _ = suite_of(self._request)
        self._topic = f"harness-{uuid.uuid4().hex}"
        self._inbox: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._scheduler = Scheduler(client, folder.path)
        self._roster = Roster(self._scheduler, terms.wait_s, screen.note, self._inbox.put, self._admit)
        self._is_begun = False
        # Workers that did not end a task that was given up, by its token.
        self._hung: dict[str, str] = {}
        self._leases: dict[str, DeviceRun] = {}
        self._runs: dict[str, DeviceRun] = {}
        self._epoch = 0
        self._over_since = math.inf
        self.refused_messages = 0
        measure = self._suite.measure
        self._lost_s = terms.wait_s if terms.lost_s is None else terms.lost_s
        self._silence_s = terms.silence_s or SILENCE_S + SILENT_LIMITS * measure.limit_s
        for entry in folder.manifest.devices:
            self._add(entry.unit)

    @property
    def runs(self) -> list[DeviceRun]:
        """The devices, in the order in which they were found."""
        return list(self._runs.values())

    def measure(self) -> list[DeviceRun]:
        """Measures all devices; gives them, each done or failed for a reason.

        Raises:
            FleetError: if no worker comes, their versions differ, or the scheduler is lost.
            OSError: if a record cannot be written.
        """
        self._client.subscribe_topic(self._topic, self._receive)
        try:
            while not self._is_over():
                self._look()
                self._begin()
                self._hand_out()
                self._take(POLL_S)
                self._screen.show(self.runs, len(self._roster.told))
        finally:
            self._stop()
        return self.runs

    # What arrives, from threads of Dask's.

    def _receive(self, event: tuple[float, dict[str, Any]]) -> None:
        self._inbox.put(lambda: self._message(event[1]))

    def _take(self, seconds: float) -> None:
        """Does what arrives within so long."""
        ends_at = time.monotonic() + seconds
        with suppress(queue.Empty):
            while (left := ends_at - time.monotonic()) > 0:
                self._inbox.get(timeout=left)()

    def _message(self, message: dict[str, Any]) -> None:
        run = self._leases.get(message["token"])
        if run is None:
            self.refused_messages += 1
            if "ended" in message:
                # It hangs no longer.
                self._hung.pop(message["token"], None)
            return
        try:
            if not run.take(message, time.monotonic()):
                self.refused_messages += 1
        except LostMessages as error:
            self._give_up(run, str(error))
        except ValueError as error:
            self._conclude(run, f"what its worker sends cannot be read: {error}")
        else:
            if run.ended:
                self._end(run)

    def _end(self, run: DeviceRun) -> None:
        ended = run.ended
        assert ended
        if ended["lost"]:
            self._give_up(run, ended["reason"])
        elif ended["busy"]:
            self._wait_for(run, ended["reason"])
        else:
            self._conclude(run, ended["reason"])

    def _wait_for(self, run: DeviceRun, holder: str) -> None:
        """Tries again for a while what another process measures on."""
        now = time.monotonic()
        if run.busy_since is None:
            run.busy_since = now
            self._screen.note(f"{run.unit.label}: {holder}")
        if now - run.busy_since > self._lost_s:
            self._conclude(run, holder)
        else:
            self._give_up(run, "")

    def _task_over(self, token: str, future: Any) -> None:
        """Dask says that a task is over; where its last message is not there, it was lost."""
        run = self._leases.get(token)
        if run is None:
            return
        if future.status == "error":
            from distributed.scheduler import KilledWorker

            error = future.exception()
            if not isinstance(error, KilledWorker):
                self._conclude(run, f"{type(error).__name__}: {error}")
                return
        self._give_up(run, "its task ended without a word")

    # Who is there.

    def _look(self) -> None:
        """Takes the units from workers that are gone or silent."""
        self._roster.look(self._hung.values())
        there = self._roster.there.keys()
        self._hung = {token: address for token, address in self._hung.items() if address in there}
        now = time.monotonic()
        for run in self.runs:
            run.workers &= there
            if run.state == "running" and run.address not in there:
                self._give_up(run, "its worker is gone")
            elif run.state == "running" and now - run.heard > self._silence_s:
                self._abandon(run, now)
            elif self._is_begun and run.state == "waiting" and not run.workers:
                self._miss(run, now)

    def _miss(self, run: DeviceRun, now: float) -> None:
        """Gives up a device that no worker has reported for too long."""
        if now - run.heard > self._lost_s:
            keys = ", ".join(run.unit.keys)
            self._conclude(run, f"no worker has reported it, as {keys}, for {self._lost_s:g} s")

    def _begin(self) -> None:
        """Admits the workers once so many are there, or the time to wait for them is over."""
        if self._is_begun or not self._roster.close(self._terms.workers):
            return
        self._is_begun = True
        for address in list(self._roster.told):
            self._admit(address)
        if not self._runs:
            raise FleetError(f"no worker has a device for suite {self._suite.name}")
        for run in self.runs:
            run.heard = time.monotonic()

    def _admit(self, address: str) -> None:
        """Adds the devices that a worker reports."""
        told = self._roster.told[address]
        devices = [DeviceInfo.from_plain(raw) for raw in told["devices"]]
        try:
            units = units_of(plan_on(self._request, devices, told["missing"]), told["host"], told["uuids"])
        except ValueError as error:
            self._screen.note(f"{told['host']}: nothing is measured there: {error}")
            return
        for unit in units:
            run = self._add(unit)
            # Another order of the devices: the records' names of this one would be another's there.
            if run.unit.keys == unit.keys:
                run.workers.add(address)

    def _add(self, unit: Unit) -> DeviceRun:
        if unit.identity not in self._runs:
            entry = self._folder.entry(unit)
            path = self._folder.path / entry.file
            self._runs[unit.identity] = DeviceRun(unit, path, entry, time.monotonic())
        return self._runs[unit.identity]

    # Leases.

    def _hand_out(self) -> None:
        """Gives every unit that waits to a worker that is free, as many at a time as a host may measure."""
        on_host = Counter(run.unit.host for run in self._leases.values())
        on_worker = Counter([*(run.address for run in self._leases.values()), *self._hung.values()])
        now = time.monotonic()
        for run in self.runs:
            if run.state != "waiting" or now < run.not_before:
                continue
            if on_host[run.unit.host] >= self._suite.measure.devices_at_once:
                continue
            there = sorted(run.workers & self._roster.told.keys())
            free = [each for each in there if on_worker[each] < self._roster.there.get(each, 0)]
            if free:
                self._grant(run, free[0])
                on_host[run.unit.host] += 1
                on_worker[free[0]] += 1

    def _grant(self, run: DeviceRun, address: str) -> None:
        self._epoch += 1
        token = f"{self._topic}-{self._epoch}"
        lease: Lease = {
            "token": token,
            "topic": self._topic,
            "worker": self._roster.told[address]["worker"],
            "identity": run.unit.identity,
            "host": run.unit.host,
            "physical": run.unit.physical,
            "keys": list(run.unit.keys),
            "request": asdict(replace(self._request, devices=run.unit.keys)),
            "command": self._folder.manifest.command,
            "begun": run.begun,
        }
        self._leases[token] = run
        future = self._scheduler.submit(worker.measure, address, token, lease)
        run.grant(token, address, future, time.monotonic())
        future.add_done_callback(lambda done: self._inbox.put(lambda: self._task_over(token, done)))

    def _give_up(self, run: DeviceRun, why: str) -> None:
        """Takes the lease from a task; the unit waits for another."""
        del self._leases[run.token]
        future, address = run.future, run.address
        run.give_up(time.monotonic(), PAUSE_S)
        self._scheduler.cancel(future)
        if why:
            self._roster.forget(address)
            run.losses += 1
            self._screen.note(f"{run.unit.label}: {why}; goes on from {run.records} records")
        if run.losses >= MOST_LOSSES:
            self._conclude(run, f"lost {run.losses} times in a row: {why}")

    def _abandon(self, run: DeviceRun, now: float) -> None:
        """Takes the lease from a worker that hangs, and has Dask restart that."""
        address, token = run.address, run.token
        self._give_up(run, f"its worker {address} was silent for {now - run.heard:.0f} s")
        self._hung[token] = address
        threading.Thread(target=self._restart, args=(address,), daemon=True).start()

    def _restart(self, address: str) -> None:
        try:
            self._client.restart_workers([address], timeout=SILENCE_S, raise_for_error=True)
        except (
            Exception
        ) as error:  # What a thread of its own cannot raise is told: the run does without the worker.
            why = f"worker {address} hangs and cannot be restarted: {error!r}; end it"
            self._inbox.put(lambda: self._screen.note(why))

    def _conclude(self, run: DeviceRun, reason: str) -> None:
        self._leases.pop(run.token, None)
        run.conclude(reason)
        self._folder.save()
        self._screen.note(f"{run.unit.label}: {reason or f'done, {run.records} records'}")

    # The end.

    def _is_over(self) -> bool:
        """Whether all that is known is done; workers that were asked what they have may say for a while."""
        if not self._is_begun or any(run.state not in ("done", "failed") for run in self.runs):
            self._over_since = math.inf
            return False
        now = time.monotonic()
        self._over_since = min(self._over_since, now)
        return not self._roster.is_asking or now - self._over_since > self._terms.wait_s

    def _stop(self) -> None:
        """Ends what is under way: tasks end between two measurements."""
        for run in self.runs:
            run.close()
        with suppress(OSError, TimeoutError):  # The scheduler may be gone: that is on its way up.
            for run in self._leases.values():
                run.future.cancel()
            self._client.unsubscribe_topic(self._topic)

"""Which workers there are, what each has, and which of them can be used."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any

from harness.fleet import worker
from harness.fleet.scheduler import Scheduler
from harness.fleet.unit import FleetError, Told
from harness.fleet.versions import client_versions, differing

CLIENT = "this process"


class Roster:
    """The workers of a cluster.

    Args:
        scheduler: tells who is there.
        wait_s: how long workers are awaited, and a worker's answer.
        note: says what a person should know.
        post: has a call made later by the thread that calls everything here.
        joined: called with the address of a worker that comes after the roster was closed.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        wait_s: float,
        note: Callable[[str], None],
        post: Callable[[Callable[[], None]], None],
        joined: Callable[[str], None],
    ) -> None:
        self._scheduler, self._wait_s = scheduler, wait_s
        self._note, self._post, self._joined = note, post, joined
        self._began = time.monotonic()
        self._is_closed = False
        self._threads: dict[str, int] = {}
        self._told: dict[str, Told] = {}
        # Futures of workers that were asked what they have, by address.
        self._asked: dict[str, Any] = {}
        self._refused: set[str] = set()

    @property
    def there(self) -> Mapping[str, int]:
        """How many tasks each worker runs at a time, by address; also of those that cannot be used."""
        return self._threads

    @property
    def told(self) -> Mapping[str, Told]:
        """What the workers that can be used have told, by address."""
        return self._told

    @property
    def is_asking(self) -> bool:
        """Whether a worker has yet to tell what it has."""
        return bool(self._asked)

    def look(self, hung: Collection[str]) -> None:
        """Notes who is gone, and asks those who are new what they have, but not those that hang.

        Raises:
            SchedulerLost: if nobody can be asked.
        """
        self._threads = self._scheduler.threads()
        for address in [address for address in self._told if address not in self._threads]:
            self._note(f"{self._told.pop(address)['host']}: worker {address} is gone")
        self._refused &= self._threads.keys()
        known = {*self._told, *self._asked, *self._refused, *hung}
        for address in self._threads.keys() - known:
            self._ask(address)
        for address in [address for address in self._asked if address not in self._threads]:
            del self._asked[address]

    def forget(self, address: str) -> None:
        """Has a worker asked again: what is at that address now may be another process."""
        self._told.pop(address, None)

    def close(self, wanted: int) -> bool:
        """Whether so many workers are there, or the time to wait for them is over. From then on whoever comes
        must have the same versions.

        Raises:
            FleetError: if none came in that time, or their versions differ.
        """
        is_late = time.monotonic() - self._began > self._wait_s
        if not is_late and (self._asked or len(self._told) < max(1, wanted)):
            return False
        if not self._told:
            raise FleetError(
                f"no worker that can be used came within {self._wait_s:g} s; start workers, or wait "
                "longer with --wait"
            )
        if len(self._told) < wanted:
            self._note(f"{len(self._told)} of {wanted} workers came; it begins with these")
        if found := differing(self._versions()):
            raise FleetError(
                "versions differ between the hosts, so that their times say nothing of their devices: "
                f"{'; '.join(found)}; install the same on all"
            )
        self._is_closed = True
        return True

    def _ask(self, address: str) -> None:
        future = self._scheduler.submit(worker.tell, address, f"harness-tell-{uuid.uuid4().hex}")
        self._asked[address] = future
        future.add_done_callback(lambda done: self._post(lambda: self._answered(address, done)))

    def _answered(self, address: str, future: Any) -> None:
        """What a worker has."""
        if address not in self._asked or self._asked[address] is not future:
            return
        del self._asked[address]
        if future.status == "error":
            why = f"worker {address} cannot be used: {future.exception()!r}; install the same harness there"
            self._refuse(address, why)
        if future.status != "finished":
            return
        try:
            told: Told = future.result(timeout=self._wait_s)
        except (OSError, TimeoutError) as error:
            # It is gone, as the next look will tell, or is asked once more.
            self._note(f"worker {address} did not answer: {error!r}")
            return
        if self._is_closed and (
            found := differing({**self._versions(), _label(told, address): told["versions"]})
        ):
            self._refuse(address, f"{told['host']} is refused, its versions differ: {'; '.join(found)}")
            return
        self._told[address] = told
        if self._is_closed:
            self._joined(address)

    def _refuse(self, address: str, why: str) -> None:
        self._refused.add(address)
        self._note(why)

    def _versions(self) -> dict[str, dict[str, str]]:
        by_host = {_label(told, address): told["versions"] for address, told in self._told.items()}
        return {CLIENT: client_versions(), **dict(sorted(by_host.items()))}


def _label(told: Told, address: str) -> str:
    return f"{told['host']} ({address})"

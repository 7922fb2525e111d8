"""Dask's scheduler, as a fleet asks it: who is there, and tasks for one worker each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.fleet.unit import SchedulerLost


class Scheduler:
    """What is asked of a client of Dask's. ``folder`` is where the run files are, for a message.

    Every method raises :class:`SchedulerLost` where the scheduler is gone.
    """

    def __init__(self, client: Any, folder: Path) -> None:
        self._client, self._folder = client, folder

    def threads(self) -> dict[str, int]:
        """How many tasks each worker runs at a time, by address."""
        with self._errors():
            if self._client.status != "running":
                raise OSError("the connection is closed")
            return dict(self._client.nthreads())

    def submit(self, function: Callable[..., Any], address: str, key: str, *arguments: Any) -> Any:
        """The future of a call on that worker and no other, which is not repeated where it is lost."""
        pinned = {"workers": [address], "allow_other_workers": False}
        with self._errors():
            return self._client.submit(function, *arguments, **pinned, pure=False, retries=0, key=key)

    def cancel(self, future: Any) -> None:
        """Has a call end."""
        with self._errors():
            future.cancel()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, TimeoutError) as error:
            raise SchedulerLost(
                f"the scheduler is lost ({error}); what was measured is in {self._folder}: `harness run "
                f"--resume {self._folder}` with a scheduler or cluster goes on"
            ) from error

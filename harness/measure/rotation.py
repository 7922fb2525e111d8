"""The calls that the clocks make: the sources of a case take turns, over all of its clocks."""

from __future__ import annotations

from typing import Any

from backends.base import Prepared
from harness.devices import KernelTimes, Launch


class Rotation:
    """Calls of a prepared problem on its first ``sources`` sources in turn.

    One object serves all clocks of a case. If each clock had an order of its own, it could begin with the
    sources that the clock before it used last. Those are in the cache: a cold case would be timed hot.
    """

    def __init__(self, prepared: Prepared, sources: int = 1) -> None:
        if sources < 1:
            raise ValueError(f"sources {sources}: a call needs at least one source")
        self._prepared, self._sources, self._made = prepared, sources, 0

    @property
    def prepared(self) -> Prepared:
        """What is called."""
        return self._prepared

    @property
    def launches(self) -> tuple[Launch, ...]:
        """Those of one call."""
        return self._prepared.launches

    def enqueue(self, calls: int = 1) -> None:
        """Enqueues so many calls, each on the next source."""
        enqueue = self._prepared.enqueue
        for source in self._take(calls):
            enqueue(source)

    def result(self) -> Any:
        """See :meth:`backends.base.Prepared.result`."""
        return self._prepared.result()

    def event_seconds(self) -> float | None:
        """Seconds of one call on the next source by the API's own timer; None where the API has none."""
        return self._prepared.event_seconds(*self._take(1))

    def kernel_times(self, calls: int) -> KernelTimes | None:
        """``calls`` calls under the API's profiler, after one that does not count; None where it has none."""
        return self._prepared.kernel_times(self._take(calls + 1))

    def _take(self, calls: int) -> list[int]:
        """The sources of the next calls."""
        first = self._made
        self._made += calls
        return [i % self._sources for i in range(first, self._made)]

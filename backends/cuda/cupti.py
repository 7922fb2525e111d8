"""Kernel durations by CUPTI, NVIDIA's profiling interface, for every backend that runs on CUDA.

CUPTI is told to record only while :func:`kernel_times` runs, so that it disturbs no other clock. Whatever
goes wrong in it costs this clock and nothing else: it is remembered for the rest of the process and told in
the note.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import TracebackType
from typing import Any, Self

from harness.devices import KernelTimes, Launch
from harness.nvidia import is_cupti_off

_BUFFER_BYTES = 2**20
_FORCED = 1
"""CUPTI_ACTIVITY_FLAG_FLUSH_FORCED: deliver also what does not fill a buffer."""
_NS = 1e-9


class Session:
    """CUPTI's activity records of this process. A context manager: it records inside.

    ``broken`` says what went wrong; from then on everything here does nothing.
    """

    def __init__(self, cupti: Any, broken: str = "") -> None:
        self._cupti = cupti
        self.broken = broken
        self._kernels: list[tuple[int, int, Launch]] = []
        self._transfers = 0
        self._kinds: tuple[Any, ...] = ()
        self._kernel_kind = -1
        self._enabled: list[Any] = []
        self._try("setting up", self._set_up)

    def _set_up(self) -> None:
        kind = self._cupti.ActivityKind
        self._kernel_kind = int(kind.CONCURRENT_KERNEL)
        self._kinds = (kind.CONCURRENT_KERNEL, kind.MEMCPY, kind.MEMSET)
        # Any number of records may fill a buffer: 0.
        self._cupti.activity_register_callbacks(lambda: (_BUFFER_BYTES, 0), self._completed)

    def __enter__(self) -> Self:
        self._try("switching it on", self._enable)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        enabled, self._enabled = self._enabled, []
        for what in enabled:
            # Even where something broke: what was switched on would go on recording.
            try:
                self._cupti.activity_disable(what)
            except Exception as fault:
                self._break("switching it off", fault)

    def _enable(self) -> None:
        for what in self._kinds:
            self._cupti.activity_enable(what)
            self._enabled.append(what)

    def flush(self) -> None:
        """Has CUPTI hand over all records; the device must have ended its work."""
        self._try("handing over its records", lambda: self._cupti.activity_flush_all(_FORCED))

    def clear(self) -> None:
        """Forgets the records handed over so far."""
        self._kernels, self._transfers = [], 0

    def times(self, calls: int) -> KernelTimes:
        """The records since :meth:`clear`, which are those of ``calls`` equal calls one after the other."""
        if self.broken:
            return KernelTimes(note=self.broken)
        count, rest = divmod(len(self._kernels), calls)
        if rest or not count:
            return KernelTimes(note=f"CUPTI saw {len(self._kernels)} kernels in {calls} equal calls")
        ordered = sorted(self._kernels, key=lambda kernel: kernel[0])
        if any(not 0 < start < end for start, end, _ in ordered):
            return KernelTimes(note="CUPTI saw kernels that never started or never ended")
        seconds = tuple(
            sum(end - start for start, end, _ in ordered[first : first + count]) * _NS
            for first in range(0, len(ordered), count)
        )
        launches = tuple(launch for _, _, launch in ordered[:count])
        return KernelTimes(seconds, launches, round(self._transfers / calls))

    def _completed(self, activities: Sequence[Any]) -> None:
        """Called by CUPTI; the records are its own and gone when this returns."""
        try:
            for activity in activities:
                if int(activity.kind) == self._kernel_kind:
                    self._kernels.append((int(activity.start), int(activity.end), _launch(activity)))
                else:
                    self._transfers += 1
        except Exception as error:
            # Out of a callback no error would reach anybody.
            self._break("reading its records", error)

    def _try(self, doing: str, work: Callable[[], object]) -> None:
        if self.broken:
            return
        try:
            work()
        except Exception as error:
            # Whatever it is: a profiler that fails is no reason to lose a case.
            self._break(doing, error)

    def _break(self, doing: str, error: Exception) -> None:
        self.broken = self.broken or f"CUPTI failed {doing}: {type(error).__name__}: {error}"


def _launch(activity: Any) -> Launch:
    return Launch(
        kernel=str(activity.name),
        num_groups=_extent(activity.grid_x, activity.grid_y, activity.grid_z),
        group_size=_extent(activity.block_x, activity.block_y, activity.block_z),
        local_bytes=int(activity.static_shared_memory) + int(activity.dynamic_shared_memory),
        registers=int(activity.registers_per_thread),
        spills=int(activity.local_memory_per_thread),
    )


def _extent(x: int, y: int, z: int) -> tuple[int, ...]:
    """The dimensions as ours: without those at the end that are 1."""
    return (int(x), int(y), int(z)) if z > 1 else (int(x), int(y)) if y > 1 else (int(x),)


def kernel_times(
    enqueue: Callable[[int], object], synchronize: Callable[[], object], sources: Sequence[int]
) -> KernelTimes | None:
    """The kernels of a call on each source but the first, which does not count; None where CUPTI is not
    installed.

    Args:
        enqueue: enqueues one call on the source of that number; its errors pass.
        synchronize: waits for all work of the calls; its errors pass.
        sources: their numbers, at least two.
    """
    session = _session()
    if session is None:
        return None
    if session.broken:
        return KernelTimes(note=session.broken)
    synchronize()
    with session:
        # The first call under CUPTI pays for its start.
        enqueue(sources[0])
        synchronize()
        session.flush()
        session.clear()
        for i in sources[1:]:
            enqueue(i)
        synchronize()
        session.flush()
    times = session.times(len(sources) - 1)
    session.clear()
    return times


@cache
def _session() -> Session | None:
    """The one of this process; None where there is no CUPTI for Python."""
    if is_cupti_off():
        return None
    try:
        from cupti import cupti
    except ModuleNotFoundError:
        return None  # doctor and the run's environment say so, once
    except Exception as error:
        return Session(None, f"CUPTI cannot be loaded: {type(error).__name__}: {error}")
    return Session(cupti)

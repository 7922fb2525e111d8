"""The kernel clock on a fake CUPTI: what it records, and that no fault of it costs a case."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from backends.cuda import cupti
from backends.errors import DeviceLost
from harness.devices import KernelTimes, Launch
from harness.nvidia import CUPTI_SWITCH


class Kind(IntEnum):
    """Those of the real one that are used."""

    MEMCPY = 1
    MEMSET = 2
    CONCURRENT_KERNEL = 10


def kernel(start: int, end: int, name: str = "reduce") -> Any:
    """A record of a kernel; times in nanoseconds."""
    return SimpleNamespace(
        kind=10, start=start, end=end, name=name, grid_x=264, grid_y=2, grid_z=1, block_x=512, block_y=1,
        block_z=1, static_shared_memory=4096, dynamic_shared_memory=16, registers_per_thread=24,
        local_memory_per_thread=8,
    )  # fmt: skip


class FakeCupti:
    """Keeps records as the real one does: only of what is enabled, handed over when flushed.

    ``fails`` names a function that raises; ``call`` makes the records of one call.
    """

    ActivityKind = Kind

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.enabled: set[int] = set()
        self.ever: list[str] = []
        self.now = 1000
        self.calls: list[int] = []
        self._waiting: list[Any] = []
        self._completed: Callable[[Sequence[Any]], None] = lambda _: None

    def activity_register_callbacks(self, requested: Any, completed: Any) -> None:
        self._did("register")
        size, records = requested()
        assert size >= 2**16
        assert records == 0, "any number of records fits into a buffer"
        self._completed = completed

    def activity_enable(self, kind: Kind) -> None:
        self._did("enable")
        self.enabled.add(kind)

    def activity_disable(self, kind: Kind) -> None:
        self._did("disable")
        self.enabled.discard(kind)

    def activity_flush_all(self, flag: int) -> None:
        self._did("flush")
        records, self._waiting = self._waiting, []
        self._completed(records)

    def enqueue(self, i: int) -> None:
        """A call: a kernel of 5000 + i ns, a gap, a kernel of 1000 ns, a copy."""
        self.calls.append(i)
        if Kind.CONCURRENT_KERNEL in self.enabled:
            first = kernel(self.now, self.now + 5000 + i)
            second = kernel(first.end + 300, first.end + 1300, "merge")
            # Not in the order of time: nothing promises that.
            self._waiting += [second, first, SimpleNamespace(kind=int(Kind.MEMCPY))]
        self.now += 100_000

    def _did(self, what: str) -> None:
        self.ever.append(what)
        if what == self.fails:
            raise RuntimeError(f"CUPTI_ERROR: {what}")


@pytest.fixture(autouse=True)
def _no_session() -> Iterator[None]:
    cupti._session.cache_clear()
    yield
    cupti._session.cache_clear()


def install(monkeypatch: pytest.MonkeyPatch, fake: FakeCupti) -> FakeCupti:
    """Makes the fake what ``from cupti import cupti`` imports."""
    package = ModuleType("cupti")
    package.cupti = fake  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupti", package)
    return fake


def times(fake: FakeCupti, calls: int = 3) -> KernelTimes | None:
    return cupti.kernel_times(fake.enqueue, lambda: None, range(calls + 1))


def test_a_calls_kernels_are_summed_without_gaps_and_the_first_call_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake = install(monkeypatch, FakeCupti())
    for _ in range(2):  # a second time nothing of the first is left
        found = times(fake)
        assert found is not None
        assert found.seconds == pytest.approx((6.001e-6, 6.002e-6, 6.003e-6), rel=1e-12)
        assert found.kernels == (
            Launch("reduce", (264, 2), (512,), 4112, 24, 8),
            Launch("merge", (264, 2), (512,), 4112, 24, 8),
        )
        assert (found.transfers, found.note) == (1, "")
    assert fake.calls == [0, 1, 2, 3] * 2
    assert fake.ever.count("register") == 1, "the callbacks are those of the process"


def test_nothing_is_recorded_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch, FakeCupti())
    times(fake)
    assert not fake.enabled


def test_without_the_package_there_is_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupti", None)
    fake = FakeCupti()
    assert times(fake) is None
    assert not fake.calls, "nothing is run for nothing"


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch, FakeCupti())
    monkeypatch.setenv(CUPTI_SWITCH, "off")
    assert times(fake) is None
    assert not fake.ever


@pytest.mark.parametrize("fails", ["register", "enable", "flush", "disable"])
def test_a_fault_of_cupti_is_a_note_and_told_again_without_trying(
    monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    fake = install(monkeypatch, FakeCupti(fails))
    first = times(fake)
    assert first is not None
    assert first.seconds == ()
    assert f"RuntimeError: CUPTI_ERROR: {fails}" in first.note
    assert fake.enabled == set() or fails == "disable"
    done = len(fake.calls)
    assert times(fake) == first
    assert len(fake.calls) == done


def test_a_package_that_cannot_be_loaded_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = ModuleType("cupti")  # it has no cupti inside, as one whose library is missing
    monkeypatch.setitem(sys.modules, "cupti", broken)
    found = times(FakeCupti())
    assert found is not None
    assert found.note.startswith("CUPTI cannot be loaded: ImportError")


def test_what_is_enabled_when_a_device_dies_is_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch, FakeCupti())

    def lost() -> None:
        if fake.enabled:
            raise DeviceLost("an illegal address")

    with pytest.raises(DeviceLost):
        cupti.kernel_times(fake.enqueue, lost, range(4))
    assert not fake.enabled


@pytest.mark.parametrize(
    ("records", "note"),
    [
        ([], "CUPTI saw 0 kernels in 2 equal calls"),
        ([kernel(1, 2)] * 3, "CUPTI saw 3 kernels in 2 equal calls"),
        ([kernel(1, 2), kernel(5, 0)], "CUPTI saw kernels that never started or never ended"),
    ],
)
def test_records_that_cannot_be_right_are_no_times(
    monkeypatch: pytest.MonkeyPatch, records: list[Any], note: str
) -> None:
    fake = install(monkeypatch, FakeCupti())
    handed = iter([[], records])
    monkeypatch.setattr(fake, "activity_flush_all", lambda _: fake._completed(next(handed)))
    assert times(fake, 2) == KernelTimes(note=note)


def test_a_record_that_cannot_be_read_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch, FakeCupti())
    monkeypatch.setattr(fake, "activity_flush_all", lambda _: fake._completed([SimpleNamespace(kind=10)]))
    found = times(fake)
    assert found is not None
    assert "failed reading its records: AttributeError" in found.note

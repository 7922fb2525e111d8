"""Gates held by a kernel that spins: when they open, and what is void."""

from __future__ import annotations

import pytest

from backends.base import Gate
from backends.common.blocking_kernel import LATEST, timed_gate
from backends.errors import GateExpired


class Host:
    """A host's clock that only moves where a test, or a gate that waits, says so; and what a gate did."""

    def __init__(self) -> None:
        self.now = 100.0
        self.spins: list[int] = []
        self.submitted = 0
        self.slept: list[float] = []

    def gate(self, seconds: float) -> Gate:
        return timed_gate(
            lambda nanoseconds: self.spins.append(int(nanoseconds)),
            seconds,
            self._submit,
            self._time,
            self._sleep,
        )

    def _submit(self) -> None:
        self.submitted += 1

    def _time(self) -> float:
        self.now += 1e-6
        return self.now

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.mark.parametrize("seconds", [3e-4, 0.05])
def test_submitting_waits_until_the_gate_is_open(seconds: float) -> None:
    host = Host()
    start = host.now
    gate = host.gate(seconds)
    assert (host.spins, host.submitted) == ([int(seconds * 1e9)], 1)
    host.now += seconds / 2
    gate.submit()
    assert host.submitted == 2
    assert start + seconds < host.now < start + seconds + 1e-5
    # Oversleeping would start the clock too late; a short wait is no sleep at all.
    assert sum(host.slept) == pytest.approx(max(0.0, seconds / 2 - 1e-3) * (seconds > 1e-3), abs=1e-5)
    gate.open()
    assert host.spins == [int(seconds * 1e9)]


@pytest.mark.parametrize("away", [0.0, 5e-3])
def test_a_gate_tells_how_much_earlier_it_may_open(away: float) -> None:
    host = Host()
    submit = host._submit

    def slow() -> None:
        submit()
        host.now += away

    host._submit = slow  # type: ignore[method-assign]
    assert host.gate(1e-2).unsure == pytest.approx(away + 1e-6)


def test_the_time_counts_from_when_the_kernel_was_submitted() -> None:
    host, delay = Host(), 7e-5

    def spin(_: object) -> None:
        host.now += delay

    began = host.now
    gate = timed_gate(spin, 3e-4, timer=host._time, sleep=host._sleep)
    assert gate.opens == pytest.approx(began + delay + 3e-4, abs=5e-6)
    gate.submit()
    assert began + delay + 3e-4 < host.now < began + delay + 3e-4 + 1e-5


def test_a_host_that_sleeps_too_long_knows_when_the_gate_opened() -> None:
    host = Host()
    began = host.now
    gate = timed_gate(
        lambda _: None, 0.05, timer=host._time, sleep=lambda seconds: host._sleep(seconds + 7e-3)
    )
    gate.submit()
    assert host.now > began + 0.055
    assert gate.opens == pytest.approx(began + 0.05, abs=5e-6)


@pytest.mark.parametrize(("share", "late"), [(LATEST - 0.01, False), (LATEST + 0.01, True), (3.0, True)])
def test_what_was_enqueued_too_late_is_void(share: float, late: bool) -> None:
    host = Host()
    gate = host.gate(0.01)
    host.now += share * 0.01
    if late:
        with pytest.raises(GateExpired, match=r"ms, and the gate holds for 10 ms: .* void"):
            gate.submit()
    else:
        gate.submit()

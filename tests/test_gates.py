"""Gates held by a kernel: who opens which, and what is void."""

from __future__ import annotations

import numpy as np
import pytest

from backends.errors import GateExpired
from backends.gates import GATE_LIMIT_SECONDS, KernelGates, mapped_gates


class Device:
    """A device whose gate kernels are not run: a test says what they leave, and what time it is."""

    def __init__(self) -> None:
        self.launched: list[tuple[int, int]] = []
        self.opened: list[int] = []
        self.expired = 0
        self.asked = 0
        self.submitted = 0
        self.now = 100.0
        self.gates = KernelGates(
            lambda ticket, limit: self.launched.append((int(ticket), int(limit))),
            lambda ticket: self.opened.append(int(ticket)),
            self._take_expired,
            self._submit,
            lambda: self.now,
            self._sleep,
        )

    def _take_expired(self) -> int:
        self.asked += 1
        expired, self.expired = self.expired, 0
        return expired

    def _submit(self) -> None:
        self.submitted += 1

    def _sleep(self, seconds: float) -> None:
        assert not self.opened, "opened before the kernel can have begun"
        self.now += seconds


def test_each_gate_has_its_ticket() -> None:
    device = Device()
    first, second = device.gates.shut(), device.gates.shut()
    limit = int(GATE_LIMIT_SECONDS * 1e9)
    assert device.launched == [(1, limit), (2, limit)]
    assert (device.opened, device.submitted) == ([], 2)
    first.open()
    second.submit()
    second.open()
    device.gates.check()
    assert (device.opened, device.submitted) == ([1, 2], 3)


def test_a_gate_that_ended_by_itself_is_told_once() -> None:
    device = Device()
    device.gates.shut()
    device.now += GATE_LIMIT_SECONDS + 0.1
    device.expired = 1
    # Opening it now, or in time but without effect, makes no difference.
    device.gates.release()
    with pytest.raises(GateExpired, match=r"not opened within 2 s"):
        device.gates.check()
    device.gates.check()
    device.gates.shut().open()
    device.gates.check()


def test_the_first_of_several_gates_may_be_the_one_that_ended() -> None:
    device = Device()
    device.gates.shut()
    device.now += GATE_LIMIT_SECONDS + 0.1
    device.gates.shut()
    device.expired = 1
    with pytest.raises(GateExpired):
        device.gates.check()


def test_long_work_behind_a_gate_is_not_void() -> None:
    device = Device()
    device.gates.shut().open()
    device.now += 60
    device.gates.check()
    assert device.asked == 1


def test_nothing_is_fetched_from_the_device_before_a_gate_can_have_ended() -> None:
    device = Device()
    for _ in range(3):
        device.gates.shut().open()
        device.now += GATE_LIMIT_SECONDS / 2
        device.gates.check()
    device.gates.check()
    assert device.asked == 0


def test_release_opens_all() -> None:
    device = Device()
    device.gates.shut()
    device.gates.shut()
    device.gates.release()
    assert device.opened == [2]


@pytest.mark.parametrize("works", [True, False])
def test_a_trial_shows_whether_a_gate_opens(works: bool) -> None:
    device = Device()

    def synchronize() -> None:
        assert device.opened == [1]
        device.expired = 0 if works else 1

    assert device.gates.works(synchronize) == works
    assert device.launched == [(1, 250_000_000)]
    # Whatever came of it, the next gate is shut, and is no trial's.
    device.gates.shut()
    assert device.launched[-1][0] == 2
    device.gates.check()


def test_mapped_gates_share_two_words() -> None:
    words = np.full(2, 99, np.uint32)
    tickets: list[int] = []
    gates = mapped_gates(words, lambda ticket, limit: tickets.append(int(ticket)))  # noqa: ARG005
    assert words.tolist() == [0, 0]
    first, second = gates.shut(), gates.shut()
    first.open()
    assert words.tolist() == [1, 0]
    second.open()
    assert words.tolist() == [2, 0]
    assert tickets == [1, 2]
    words[1] = 2  # what the kernel writes when its time is over
    assert not gates.works(lambda: None)
    assert words.tolist() == [3, 0]

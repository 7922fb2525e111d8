"""Gates held by a kernel: who opens which, and what is void."""

from __future__ import annotations

import numpy as np
import pytest

from backends.errors import GateExpired
from backends.gates import GATE_LIMIT_SECONDS, KernelGates


class Host:
    """Gates whose kernel is never run, and a host's clock to be set by hand."""

    def __init__(self) -> None:
        self.launched: list[tuple[int, int]] = []
        self.opened: list[int] = []
        self.submitted = 0
        self.now = 100.0
        self.gates = KernelGates(self._launch, self._write, self._submit, lambda: self.now)

    def _launch(self, ticket: np.uint32, limit: np.uint64) -> None:
        self.launched.append((int(ticket), int(limit)))

    def _write(self, ticket: np.uint32) -> None:
        self.opened.append(int(ticket))

    def _submit(self) -> None:
        self.submitted += 1


def test_each_gate_has_its_ticket() -> None:
    host = Host()
    first, second = host.gates.shut(), host.gates.shut()
    assert [ticket for ticket, _ in host.launched] == [1, 2]
    assert host.opened == []
    first.open()
    second.submit()
    second.open()
    host.gates.check()
    assert host.opened == [1, 2]
    assert host.submitted == 1


def test_the_kernel_waits_longer_than_the_host_allows() -> None:
    host = Host()
    host.gates.shut()
    (_, limit), *_ = host.launched
    assert GATE_LIMIT_SECONDS < limit * 1e-9 < 1.1 * GATE_LIMIT_SECONDS


def test_a_gate_opened_too_late_is_told_once() -> None:
    host = Host()
    gate = host.gates.shut()
    host.now += GATE_LIMIT_SECONDS + 0.1
    gate.open()
    with pytest.raises(GateExpired, match=r"not opened within 2 s"):
        host.gates.check()
    host.gates.check()
    host.gates.shut().open()
    host.gates.check()


def test_release_opens_all() -> None:
    host = Host()
    host.gates.shut()
    host.gates.shut()
    host.gates.release()
    assert host.opened == [2]


@pytest.mark.parametrize(("seconds", "works"), [(1e-4, True), (0.25, False)])
def test_a_gate_that_only_its_limit_ends_does_not_work(seconds: float, works: bool) -> None:
    host = Host()

    def synchronize() -> None:
        host.now += seconds

    assert host.gates.works(synchronize) == works
    ((ticket, limit),) = host.launched
    assert (ticket, limit) == (1, 250_000_000)
    assert (host.opened, host.submitted) == ([1], 1)
    # Whatever came of it, the next gate is shut.
    host.gates.shut()
    assert host.launched[-1][0] == 2

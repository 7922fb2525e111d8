"""A case and a measurer on a device whose true times are known."""

from __future__ import annotations

from harness.measure.budget import every_clock
from harness.measure.measurer import Measurer
from harness.problems import Reduction
from harness.results.record import Case
from harness.variants.axes import LibraryVariant
from tests.support.fake_backend import FakeBackend, FakeClock

CASE = Case("fake", 0, Reduction("max", "int32", (1000,)), LibraryVariant())
FOUR = every_clock(4)


def measurer(clock: FakeClock) -> Measurer:
    """A measurer of the fake backend, on its clock."""
    backend = FakeBackend(clock)
    return Measurer(backend, backend.clock.time)

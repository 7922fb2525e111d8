"""Sources lie elsewhere in each context of a GPU: memory of random size is taken before them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.measure.budget import every_clock
from harness.measure.measurer import Measurer
from harness.measure.placement import LEAST_SHARE, MOST_PAGES, PAGE_BYTES, padding
from tests.support.fake_backend import DEVICE, FakeBackend, FakeClock
from tests.support.fake_runs import CASES, planned, run

ROOMY = replace(DEVICE, memory_bytes=LEAST_SHARE * 4 * PAGE_BYTES)


def on(memory_bytes: int) -> FakeBackend:
    backend = FakeBackend(FakeClock())
    backend.device = replace(DEVICE, memory_bytes=memory_bytes)
    return backend


@pytest.mark.parametrize(
    ("memory_bytes", "most"), [(0, 0), (LEAST_SHARE * 4 * PAGE_BYTES, 4), (2**50, MOST_PAGES)]
)
def test_whole_pages_are_taken_at_most_a_share_of_the_memory(memory_bytes: int, most: int) -> None:
    class Most:
        def integers(self, low: int, high: int, endpoint: bool) -> int:
            assert (low, high, endpoint) == (0, most, True)
            return min(high, 2)

    taken = padding(on(memory_bytes), Most())  # type: ignore[arg-type]
    assert (taken.nbytes if taken else 0) == min(most, 2) * PAGE_BYTES


def test_contexts_differ() -> None:
    rng = np.random.default_rng(1)
    backend = on(ROOMY.memory_bytes)
    sizes = [taken.nbytes if (taken := padding(backend, rng)) else 0 for _ in range(50)]
    assert set(sizes) == {pages * PAGE_BYTES for pages in range(5)}


def test_where_memory_is_full_nothing_is_taken() -> None:
    backend = on(ROOMY.memory_bytes)
    backend.lost = True
    assert {padding(backend, np.random.default_rng(seed)) for seed in range(9)} == {None}


def test_a_record_says_how_much_was_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = on(ROOMY.memory_bytes)
    three = backend.upload(np.zeros(3, np.uint8))
    monkeypatch.setattr("harness.measure.placement.padding", lambda *_: three)
    for shifts, expected in ((True, 3), (False, None)):
        record = Measurer(backend, shifts=shifts).measure(CASES[0], every_clock(3, 0.01))
        assert record.provenance.get("padding_bytes") == expected


def test_only_devices_with_several_contexts_shift(tmp_path: Path) -> None:
    plan = planned(CASES[:1], contexts={"fake:0": 2})
    assert plan.for_worker(key="fake:0")["shifts"]
    assert not plan.for_worker(key="fake:1")["shifts"]
    assert not planned().for_worker(key="fake:0")["shifts"]
    assert {record.status for record in run(tmp_path, plan).records} == {"ok"}

"""Stripes of an array, which several threads work on."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from harness.problems import stripes
from harness.problems.stripes import by_stripes


@pytest.mark.parametrize(
    ("length", "step", "expected"),
    [
        (0, 4, []),
        (1, 4, [(0, 1)]),
        (4, 4, [(0, 4)]),
        (9, 4, [(0, 4), (4, 8), (8, 9)]),
        (3, 1, [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_stripes_cover_the_length_once_and_in_order(
    length: int, step: int, expected: list[tuple[int, int]]
) -> None:
    assert by_stripes(lambda start, end: (start, end), length, step) == expected


def test_as_many_stripes_at_a_time_as_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stripes, "usable_cores", lambda: 3)
    at_once = threading.Barrier(3, timeout=30)

    def together(start: int, _: int) -> int:
        at_once.wait()
        return start

    assert by_stripes(together, 6, 1) == [0, 1, 2, 3, 4, 5]


def test_one_stripe_needs_no_thread() -> None:
    assert by_stripes(lambda *_: threading.current_thread(), 4, 4) == [threading.current_thread()]


@pytest.mark.parametrize("step", [1, 2])
def test_errors_and_the_callers_context_pass_through(step: int) -> None:
    def root(start: int, _: int) -> float:
        return float(np.sqrt(np.float64(start - 1)))

    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        by_stripes(root, 2, step)
    with np.errstate(invalid="ignore"):
        assert np.isnan(by_stripes(root, 2, step)[0])

"""What the records of candidates for a limit say of their sweep."""

from __future__ import annotations

import pytest

from harness.problems import Bandwidth
from harness.results.record import Case, Record
from harness.results.sweep import SWEEP, left_out, of_this_run, remembered
from harness.variants.axes import BandwidthVariant

HERE, KNOWN = of_this_run(5), remembered(3, 5, "2026-11-28")


def records(texts: list[str], size: int = 1000) -> list[Record]:
    """Of the candidates for the limit of a size so many as there are texts, each with its own."""
    problem = Bandwidth("read", "uint32", size)
    return [
        Record(
            Case("fake", 0, problem, BandwidthVariant(groups=2**place), role="limit"),
            "ok",
            provenance={SWEEP: text},
        )
        for place, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        ([HERE] * 5, 0),
        ([KNOWN] * 3, 2),
        # The run was ended before the third.
        ([KNOWN] * 2, 2),
        # Gone on with, after another run had found the fastest.
        ([HERE, KNOWN, KNOWN, KNOWN], 1),
        ([HERE, HERE], 0),
        ([], 0),
    ],
)
def test_candidates_that_are_known_to_be_slower_are_counted(texts: list[str], count: int) -> None:
    assert left_out(records(texts)) == count
    assert left_out([*records(texts), *records([KNOWN] * 3, size=2000)]) == count + 2

"""The controls in the report: what is measured twice, and the empty kernel alone and beside cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.problems import Empty, Reduction
from harness.results.record import Case, Record, Samples
from harness.variants.axes import LaunchVariant
from reports import render
from reports.controls import control_table
from tests.support.report_data import record, run_of

EMPTY = Case("cuda", 0, Empty((((8,), (64,)),)), LaunchVariant(), role="control")
STEADY = [1e-6, 1.001e-6] * 6


def reduction(*seconds: float, role: str = "compare") -> Record:
    """A reduction's record, one sample a context."""
    made = record("cuda", Reduction("sum", "int32", (64,)), 1e-6)
    clock = Samples(seconds, blocks=tuple(range(len(seconds))))
    return replace(made, case=replace(made.case, role=role), clocks={"queue": clock})  # type: ignore[arg-type]


def empty(*seconds: float, first: int = 0) -> Record:
    """The empty kernel's, from context ``first`` on."""
    blocks = tuple(range(first, first + len(seconds)))
    return Record(EMPTY, "ok", clocks={"queue": Samples(seconds, blocks=blocks)})


def lines(*records: Record) -> list[list[str]]:
    return [[cell.text for cell in line.cells] for line in control_table(run_of(*records)).lines]


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "same"), (0.5, "slower"), (2.0, "faster")])
def test_a_twin_is_set_beside_its_case(factor: float, verdict: str) -> None:
    twin = reduction(*(factor * each for each in STEADY), role="control")
    (line,) = lines(reduction(*STEADY), twin)
    assert line[:3] == ["A/A: sum int32 64", "cuda:0", "12, 12"]
    assert (line[5], line[7]) == (f"{factor:.2f}", verdict)


def test_the_empty_kernels_own_contexts_are_set_beside_the_others() -> None:
    (line,) = lines(empty(*STEADY, *(2 * each for each in STEADY)), reduction(*STEADY))
    assert line[:3] == ["empty kernel: beside cases, alone", "cuda:0", "12, 12"]
    assert line[3:6] == ["1.00", "2.00", "2.00"]
    assert line[7] == "faster"


@pytest.mark.parametrize(
    "records",
    [
        (),
        (reduction(*STEADY),),
        (empty(*STEADY), reduction(*STEADY)),
        (empty(*STEADY, first=50), reduction(*STEADY)),
        (reduction(*STEADY), Record(reduction(*STEADY, role="control").case, "failed", "it crashed")),
    ],
    ids=["nothing", "no controls", "always beside cases", "never beside cases", "a twin that failed"],
)
def test_without_anything_to_compare_there_is_no_line(records: tuple[Record, ...]) -> None:
    assert lines(*records) == []
    assert "come out as nothing" not in render(run_of(*records), "c")


def test_the_report_shows_them() -> None:
    page = render(run_of(reduction(*STEADY), reduction(*STEADY, role="control")), "c")
    assert "come out as nothing" in page
    assert "A/A: sum int32 64" in page

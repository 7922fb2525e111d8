"""The controls in the report: what is measured twice, and the empty kernel alone and beside cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.problems import Empty, Reduction
from harness.results.record import Case, Record, Samples
from harness.variants.axes import LaunchVariant
from reports import render, terminal_table
from reports.controls import ONE_CONTEXT, control_table, controls_of
from reports.dataset import frame
from reports.headline import headlines, troubles
from reports.ratios import comparisons
from tests.support.report_data import record, run_of, with_blocks

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
    return [[cell.text for cell in line.cells] for line in control_table(controls_of(run_of(*records))).lines]


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


def test_one_context_a_side_tells_nothing_and_says_why() -> None:
    case, twin = (with_blocks(reduction(each), each) for each in (1e-6, 2e-6))
    twin = replace(twin, case=replace(twin.case, role="control"))
    run = run_of(case, twin)
    (line,) = control_table(controls_of(run)).lines
    assert line.cells[5].text == "2.00"
    assert (line.cells[7].text, line.cells[7].chip, line.cells[7].title) == (
        "ambiguous†",
        "ambiguous",
        ONE_CONTEXT,
    )
    assert list(troubles(frame(run), controls_of(run))) == []


def test_a_control_that_failed_is_told_before_all_else() -> None:
    twin = reduction(*(2 * each for each in STEADY), role="control")
    run = run_of(reduction(*STEADY), twin)
    told = (
        "A control of cuda:0 failed (A/A: sum int32 64): the same, measured twice, differs: 2.00x "
        "(2.000 to 2.000), faster. So differences of cuda as small as this may be errors of the run."
    )
    (headline,) = headlines(frame(run), comparisons(frame(run)), controls_of(run))
    assert headline.above == (told,)
    page = render(run, "c")
    assert page.index(told) < page.index('class="answer"')
    assert str(terminal_table(run).title) == told
    good = run_of(reduction(*STEADY), reduction(*STEADY, role="control"))
    assert list(troubles(frame(good), controls_of(good))) == []
    # Of another device it is no trouble.
    assert list(troubles(frame(good).iloc[:0], controls_of(run))) == []

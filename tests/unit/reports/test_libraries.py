"""The table that sums up our kernels beside each library by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.problems import Reduction
from harness.results.record import Record
from reports import render
from reports.dataset import frame
from reports.libraries import library_table, pick_heats, pick_table, picks
from reports.ratios import library_pairs
from reports.tables import Table
from tests.support.report_data import (
    BOTH,
    GPU,
    LAPLACE,
    device,
    laplace,
    limit,
    record,
    reduction,
    run_of,
    with_blocks,
)

DEVICES = tuple(device(name) for name in ("opencl", "cuda", "cub", "cupy"))


def summed(*records: Record, devices: tuple[dict[str, Any], ...] = DEVICES) -> Table:
    """The table of a run of these records."""
    return library_table(library_pairs(frame(run_of(*records, devices=devices))))


def texts(table: Table) -> list[list[str]]:
    """What the lines show, but for the device and the kind of problem."""
    return [[cell.text for at, cell in enumerate(line.cells) if at not in (0, 3)] for line in table.lines]


def test_each_library_is_by_itself_and_sizes_come_smallest_first_then_all() -> None:
    least, most, small = reduction("min"), reduction("max"), reduction("min", side=10)
    table = summed(
        record("cuda", least, 2e-6),
        record("cub", least, 8e-6),
        record("cupy", least, 2e-6),
        record("cuda", most, 2e-6),
        record("cub", most, 4e-6),
        record("cuda", small, 4e-6),
        record("cub", small, 1e-6),
    )
    assert texts(table) == [
        ["cuda", "cub", "hot", "10x10", "1", "0.25", "0.25", "1 slower"],
        ["cuda", "cub", "hot", "2560x2560", "2", "2.83", "2.00", "2 faster"],
        ["cuda", "cub", "hot", "all sizes", "3", "1.26", "0.25", "2 faster, 1 slower"],
        ["cuda", "cupy", "hot", "2560x2560", "1", "1.00", "1.00", "1 ambiguous"],
    ]
    assert all(len(line.cells) == len(table.headings) for line in table.lines)
    assert table.filters == {"ours": ("cuda",), "library": ("cub", "cupy"), "cache": ("hot",)}
    assert table.lines[3].filters == {"ours": "cuda", "library": "cupy", "cache": "hot"}
    assert table.lines[1].cells[8].title == f"{most.label}: faster"


def test_a_line_is_of_one_side_kind_and_cache_state_and_of_the_fastest_variants() -> None:
    slow = record("opencl", laplace(), 9e-6, variant=replace(LAPLACE, vector_width=1))
    table = summed(
        record("opencl", reduction(), 2e-6),
        record("cuda", reduction(), 1e-6),
        record("cub", reduction(), 4e-6),
        record("opencl", reduction(), 3e-6, cache="cold"),
        record("cub", reduction(), 6e-6, cache="cold"),
        slow,
        record("opencl", laplace(), 3e-6),
        record("cub", laplace(), 3e-6),
        record("opencl", reduction("sum"), 1e-6, role="limit"),
    )
    speeds = {tuple(line.cells[at].text for at in (1, 3, 4)): line.cells[7].text for line in table.lines}
    assert speeds == {
        ("opencl", "reductions", "hot"): "2.00",
        ("opencl", "reductions", "cold"): "2.00",
        ("opencl", "Laplace filters", "hot"): "1.00",
        ("cuda", "reductions", "hot"): "4.00",
    }


def test_cases_with_a_note_are_counted() -> None:
    noted = record("cub", reduction(), 4e-6, note="host-bound")
    table = summed(record("cuda", reduction(), 2e-6), noted)
    cell = table.lines[0].cells[6]
    assert (cell.text, cell.title) == ("1†", "1 of them with a note, such as a host-bound side")


def test_only_the_same_hardware_is_compared_and_nothing_to_compare_is_no_table() -> None:
    records = record("cuda", reduction(), 2e-6), record("cub", reduction(), 4e-6)
    elsewhere = (device("cuda"), device("cub", physical="0000:99:00.0"))
    assert summed(*records, devices=elsewhere).lines == ()
    assert summed(record("cub", reduction(), 4e-6), record("cupy", reduction(), 4e-6)).lines == ()
    assert "Beside each library" not in render(run_of(*records, devices=elsewhere), "")
    page = render(run_of(*records, devices=(device("cuda"), device("cub", physical=GPU))), "")
    assert "Beside each library" in page
    assert 'href="#r0-libraries"' in page


def test_the_fastest_library_is_named_with_its_penalty_and_what_to_mind() -> None:
    problem = Reduction("sum", "float32", (4096,))
    told = {"accumulator": "float64", "note": "a NaN may be passed over, not propagated"}
    fast = replace(record("cub", problem, 3e-6), provenance={"result_location": "device", **told})
    run = run_of(
        fast,
        record("npp", problem, 4.5e-6),
        record("numpy", problem, 1e-6),
        record("cuda", problem, 2e-6),
        record("opencl", problem, 2.5e-6),
        limit("read", problem.source_bytes, problem.source_bytes / 1.5e-6),
        devices=(*BOTH, device("cub"), device("npp"), device("numpy")),
    )
    (pick,) = picks(frame(run))
    (line,) = pick_table([pick]).lines
    assert [cell.text for cell in line.cells[1:]] == [
        "sum", "float32", "4096", "hot", "cub", "3.00", "2.00", "1.50", "npp 1.50",
        "computed in float64; a NaN may be passed over, not propagated",
    ]  # fmt: skip
    (heat,) = pick_heats([pick], "r0-picks")
    assert (heat.columns, heat.rows[0][0]) == (("4096",), "sum float32")
    (cell,) = heat.rows[0][1]
    assert cell is not None
    assert (cell.text, cell.mark, cell.href) == (
        "cub 2.00x",
        "†",
        "#r0-picks?case=sum%20float32%204096%20hot",
    )


@pytest.mark.parametrize(
    ("fast", "slow", "is_tie"),
    [
        ((1e-6,), (1.05e-6,), True),
        ((1e-6,), (1.07e-6,), False),
        ((1e-6,) * 8, (1.05e-6,), True),
        ((1e-6,) * 8, (1.05e-6,) * 8, False),
        ((1e-6, 1.2e-6) * 6, (1.1e-6, 1.3e-6) * 3 + (0.95e-6, 1.15e-6) * 3, True),
    ],
    ids=["one context", "far apart", "one context on a side", "several that differ", "an interval over 1"],
)
def test_a_library_within_noise_of_the_next_is_no_winner(
    fast: tuple[float, ...], slow: tuple[float, ...], is_tie: bool
) -> None:
    problem = Reduction("sum", "int32", (4096,))
    records = (
        with_blocks(record(name, problem, 1e-6), *times) for name, times in (("cub", fast), ("cupy", slow))
    )
    (pick,) = picks(frame(run_of(*records, devices=DEVICES)))
    assert (pick.row.backend, pick.tie) == ("cub", is_tie)
    named, mind = ("cub or cupy", "tie with cupy") if is_tie else ("cub", "")
    (line,) = pick_table([pick]).lines
    assert (line.cells[5].text, line.cells[10].text) == (named, mind)
    (cell,) = pick_heats([pick], "r0-picks")[0].rows[0][1]
    assert cell
    assert (cell.text, cell.mark) == (named, "†" if is_tie else "")


def test_where_no_library_measured_none_is_picked() -> None:
    assert picks(frame(run_of(record("numpy", Reduction("sum", "float32", (9,)), 1e-6)))) == []

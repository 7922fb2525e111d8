"""One kernel by several clocks, and what else than speed differs between the sides of a pair."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from harness.problems import Bandwidth, Laplace, Problem, Reduction
from harness.results.record import Record, Samples
from harness.variants.axes import BandwidthVariant, LibraryVariant
from reports import render
from reports.clock_comparison import agreement_table, agreements, mean_table
from reports.dataset import frame
from reports.fairness import differences
from reports.ratios import comparisons
from reports.saturation import widths
from tests.support.html import tables
from tests.support.report_data import GPU, LAPLACE, device, gpu_run, record, reduction, run_of


def by_clocks(backend: str, provenance: Mapping[str, Any] | None = None, **microseconds: float) -> Record:
    """A record with exact clocks."""
    clocks = {name: Samples((us * 1e-6,) * 3) for name, us in microseconds.items()}
    made = record(backend, reduction(), 1.0)
    return replace(made, clocks=clocks, provenance={"result_location": "device", **(provenance or {})})


CUDA = by_clocks(
    "cuda", queue=6.26, launch=1.43, event=10.94, launch_event=5.94, kernel=5.50, launch_kernel=0.9
)
OPENCL = by_clocks("opencl", queue=8.55, launch=4.1, event=9.20, launch_event=2.20)


def test_the_table_of_the_design() -> None:
    """Ratios 0.73, 1.09, 1.19 and 0.60 of one kernel at 2560x2560 on an H200, by the clock alone."""
    (found,) = agreements(frame(run_of(CUDA, OPENCL)))
    assert found.queue == pytest.approx(0.73, abs=0.005)
    assert found.queue_net == pytest.approx(1.09, abs=0.006)
    assert found.event == pytest.approx(1.19, abs=0.005)
    assert found.kernel == pytest.approx(0.60, abs=0.005)
    assert math.isnan(found.event_net), "more than half of CUDA's event is launching"
    assert found.kernel_net == pytest.approx(4.6 / 7.0)
    assert found.span == pytest.approx(found.event / found.kernel)


def test_a_clock_that_is_missing_gives_no_ratio() -> None:
    (found,) = agreements(frame(run_of(by_clocks("cuda", queue=6, event=9), OPENCL)))
    assert not math.isnan(found.event)
    assert all(map(math.isnan, (found.queue_net, found.event_net, found.kernel, found.kernel_net)))
    alone = agreements(frame(run_of(by_clocks("cuda", queue=6), by_clocks("opencl", queue=6))))
    assert math.isnan(alone[0].span)


def test_only_the_same_variant_on_the_same_device_is_one_kernel() -> None:
    other = replace(OPENCL, case=replace(OPENCL.case, variant=LAPLACE))
    assert agreements(frame(run_of(CUDA, other))) == []
    elsewhere = (device("opencl", physical="0000:99:00.0"), device("cuda"))
    assert agreements(frame(run_of(CUDA, OPENCL, devices=elsewhere))) == []
    library = replace(OPENCL, case=replace(OPENCL.case, backend="cupy", variant=LibraryVariant()))
    assert agreements(frame(run_of(CUDA, library))) == []


def marked(page: str) -> list[str]:
    """The tables of the cells with the mark of clocks that contradict each other."""
    return [name for name, rows in tables(page).items() for row in rows for cell in row if cell.endswith("‡")]


def test_the_page_shows_the_clocks_and_marks_contradictions() -> None:
    page = render(run_of(CUDA, OPENCL), "")
    assert "The same kernel by each clock" in page
    assert not marked(page)
    run = run_of(by_clocks("cuda", queue=6, launch=1, event=50, launch_event=5), OPENCL)
    page = render(run, "")
    assert sorted(marked(page)) == ["r0-agreement", "r0-all"], "the line of the pair, the event of the record"
    assert "In 1 case clocks contradict each other" in page
    (line,) = agreement_table(agreements(frame(run))).lines
    assert "CUDA: by the queue clock the work takes 5.00 to 6.00 us, by the event" in line.cells[-2].title
    assert "clocks disagree" in comparisons(frame(run))[0].pairs["marks"].iloc[0]


def test_means_are_by_kind_and_size_the_smallest_first() -> None:
    def pair(problem: Problem, opencl_us: float, cuda_us: float) -> list[Record]:
        sides = by_clocks("opencl", queue=opencl_us), by_clocks("cuda", queue=cuda_us, event=9)
        return [replace(side, case=replace(side.case, problem=problem)) for side in sides]

    large, small = ((2000, 1000), (20, 10))
    records = [
        *pair(Reduction("min", "int8", large), 4, 8),
        *pair(Laplace("four", "wrap", "laplacian", "uint8", *large), 5, 5),
        *pair(Reduction("max", "int8", small), 6, 3),
        *pair(Reduction("sum", "int8", large), 2, 1),
        *pair(Reduction("count_nonzero", "int8", large), 2, 8),
    ]
    table = mean_table(agreements(frame(run_of(*records))))
    assert [len(line.cells) for line in table.lines] == [len(table.headings)] * 3
    texts = [[cell.text for cell in line.cells[1:7]] for line in table.lines]
    size = {shape: f"{shape[0]}x{shape[1]}" for shape in (large, small)}
    missing = agreement_table(agreements(frame(run_of(*records)))).lines[0].cells[6].text
    # 2, 0.5 and 4 at the large size.
    assert texts[:2] == [
        ["reductions", size[small], "hot", "1", "0.50", missing],
        ["reductions", size[large], "hot", "3", "1.59", missing],
    ]
    assert texts[2][0] == "Laplace filters"
    assert table.lines[1].cells[5].title == "3 of 3: 0.50 to 4.00"
    assert table.lines[1].cells[6].title == "no kernel has this ratio"


def test_a_page_without_both_apis_has_no_such_table() -> None:
    assert "The same kernel by each clock" not in render(run_of(CUDA), "")


def sides(**changes: Any) -> list[str]:
    """The differences of two rows of which the second has ``changes``."""
    same = {"location": "device", "launches": 2, "calls": 1, "accumulator": "int64", "gate": "kernel"}
    return differences(pd.Series(same), pd.Series({**same, **changes}))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"location": "host"}, ["the result is on the device against on the host"]),
        ({"launches": 4}, ["a call is 2 launches against 4"]),
        ({"calls": 2}, ["a result takes 1 calls against 2"]),
        ({"accumulator": "float64"}, ["it is computed in int64 against float64"]),
        ({"accumulator": "uint64"}, []),
        ({"gate": "user event"}, ["the calls are held back by a kernel against a user event"]),
        ({"location": "", "launches": 0, "calls": 0, "accumulator": "", "gate": ""}, []),
    ],
)
def test_a_pair_says_what_else_differs(changes: dict[str, Any], expected: list[str]) -> None:
    assert sides(**changes) == expected


def test_the_provenance_of_a_library_marks_its_pairs() -> None:
    kernels = [{"kernel": "cub", "num_groups": (1,), "group_size": (256,)}] * 3
    library = record("cupy", reduction(), 9e-6)
    library = replace(library, provenance={**library.provenance, "kernels": kernels, "calls_per_result": 2})
    own = record("opencl", reduction(), 8e-6)
    own = replace(own, provenance={**own.provenance, "launches": kernels[:1], "calls_per_result": 1})
    devices = (device("opencl"), device("cupy"))
    marks = comparisons(frame(run_of(own, library, devices=devices)))[0].pairs["marks"].iloc[0]
    assert marks == "a call is 1 launches against 3; a result takes 1 calls against 2"


def study(width: int, dtype: str, rate: float, backend: str = "opencl") -> Record:
    """A copy at a rate of bytes a second."""
    problem = Bandwidth("copy", dtype, 1_000_000)
    return record(backend, problem, problem.bytes_moved / rate, variant=BandwidthVariant(vector_width=width))


def test_the_study_of_the_limits_has_its_chart() -> None:
    records = [study(w, d, 1e12, b) for w in (1, 4) for d in ("uint8", "float64") for b in ("opencl", "cuda")]
    table = frame(run_of(*records))
    found = widths(table, GPU, "hot")
    assert [re.findall(r'class="t">([^<]+)<', panel) for panel in found.panels] == [
        ["copy, opencl"],
        ["copy, cuda"],
    ]
    assert re.findall(r"</svg>([^<]+)<", found.legend) == ["uint8", "float64"]
    page = render(run_of(*records), "")
    assert "Reading and copying by vector width" in page
    assert "No bandwidth was measured" not in page


def test_a_run_without_the_study_has_no_such_chart() -> None:
    assert "Reading and copying by vector width" not in render(gpu_run(), "")

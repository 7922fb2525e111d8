"""Which limit a case is held against, and what share of it it reaches."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import pytest
from rich.console import Console
from rich.table import Table

import reports
from harness.problems import Bandwidth
from harness.results.record import Samples
from harness.results.runfile import Run
from harness.variants.axes import BandwidthVariant, ReductionVariant
from reports.dataset import frame
from reports.limits import limits_of
from reports.tables import record_table
from reports.terminal import terminal_table
from tests.support.report_data import (
    GPU,
    device,
    laplace,
    limit,
    record,
    reduction,
    row_of,
    run_of,
    with_blocks,
)  # fmt: skip


def test_limit_is_the_fastest_of_equal_source_on_the_same_device_and_cache() -> None:
    size = reduction().source_bytes
    run = run_of(
        limit("read", size, 3e12),
        limit("read", size, 4e12),
        limit("read", size * 2, 9e12),
        limit("copy", size, 8e12),
        limit("read", size, 7e12, "cold"),
        record("cuda", reduction(), size / 2e12),
    )
    row = row_of(frame(run), 5)
    assert (row["limit"], row["limit_by"], row["limit_exact"]) == (pytest.approx(4e12), "opencl:0", True)
    assert row["share"] == pytest.approx(0.5)
    assert not row["above_limit"]


def test_limit_of_another_device_does_not_count() -> None:
    elsewhere = (device("opencl", physical="cpu"), device("cuda"))
    run = run_of(
        limit("read", reduction().source_bytes, 1e10), record("cuda", reduction(), 1e-5), devices=elsewhere
    )
    assert math.isnan(row_of(frame(run), 1)["share"])


def test_nearest_limit_is_taken_and_said() -> None:
    size = reduction().source_bytes
    run = run_of(
        limit("read", size // 16, 1e12),
        limit("read", size * 2, 5e12),
        record("cuda", reduction(), size / 1e12),
    )
    row = row_of(frame(run), 2)
    assert (row["limit_bytes"], row["limit_exact"], row["share"]) == (size * 2, False, pytest.approx(0.2))
    assert "≈" in reports.render(run, "x")


def test_images_are_measured_against_the_copy_limit() -> None:
    problem = laplace(2560)
    run = run_of(
        limit("copy", problem.source_bytes, 2e12),
        limit("read", problem.source_bytes, 4e12),
        record("cuda", problem, problem.bytes_moved / 1e12),
    )
    assert row_of(frame(run), 2)["share"] == pytest.approx(0.5)


@pytest.mark.parametrize(("excess", "flagged"), [(1.01, False), (1.014, False), (1.017, True)])
def test_half_a_per_cent_above_the_limit_and_its_noise_is_flagged(excess: float, flagged: bool) -> None:
    # The quartiles of these samples are half a per cent off their medians, on both sides.
    size = reduction().source_bytes
    run = run_of(limit("read", size, 1e12), record("cuda", reduction(), size / (excess * 1e12)))
    assert bool(row_of(frame(run), 1)["above_limit"]) is flagged
    page = reports.render(run, "x")
    assert ("1 case above the measured limit" in page) is flagged
    if flagged:
        assert page.index("1 case above the measured limit") < page.index('class="answer"')
        assert "<code>harness limits</code> measures" in page
    shown = _printed(terminal_table(run))
    assert shown.lstrip().startswith("1 case above the measured limit") is flagged
    assert ("`harness limits`" in " ".join(shown.split())) is flagged


def _printed(table: Table) -> str:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def test_a_backend_that_the_limit_was_measured_through_gets_no_launch_off() -> None:
    problem = reduction()
    read = Bandwidth("read", "uint32", problem.size)
    both = [
        record(api, read, us * 1e-6, launch=4e-6, role="limit") for api, us in (("opencl", 10), ("cuda", 11))
    ]
    run = run_of(*both, record("cuda", problem, 7e-6))
    assert row_of(frame(run), 2)["above_limit"]


def test_a_candidate_that_was_once_as_fast_counts_too() -> None:
    problem = reduction()
    read = Bandwidth("read", "uint32", problem.size)
    steady = record("cuda", read, 10e-6, role="limit")
    scattered = record("cuda", read, 10.5e-6, variant=BandwidthVariant(vector_width=2), role="limit")
    scattered = replace(scattered, clocks={"queue": Samples((9e-6, 9e-6, 10.5e-6, 12e-6, 12e-6))})
    case = record("cuda", problem, 9.5e-6)
    assert row_of(frame(run_of(steady, case)), 1)["above_limit"]
    assert not row_of(frame(run_of(steady, scattered, case)), 2)["above_limit"]


@pytest.mark.parametrize(("fastest", "flagged"), [(18e-6, True), (11e-6, False)])
def test_a_limit_that_was_as_fast_in_one_context_counts_too(fastest: float, flagged: bool) -> None:
    problem = reduction()
    read = Bandwidth("read", "uint32", problem.size)
    slow = with_blocks(record("cuda", read, 1.0, role="limit"), *[18e-6] * 5, fastest)
    run = run_of(slow, record("cuda", problem, 11.5e-6))
    assert bool(row_of(frame(run), 1)["above_limit"]) is flagged


@pytest.mark.parametrize(("physical", "expected"), [("cpu", 1.0), (GPU, 1.5)])
def test_on_a_processor_a_share_is_of_the_processes_of_both(physical: str, expected: float) -> None:
    """In the last process the host was slow, and the case, whose verdict was settled, not measured."""
    problem = reduction()
    read = Bandwidth("read", "uint32", problem.size)
    limit_ = with_blocks(record("opencl", read, 1.0, role="limit"), 10e-6, 10e-6, 25e-6)
    case = with_blocks(record("opencl", problem, 1.0), 10e-6, 10e-6)
    run = run_of(limit_, case, devices=(device("opencl", physical=physical),))
    assert row_of(frame(run), 1)["share"] == pytest.approx(expected)


def test_a_share_has_the_interval_of_both_times() -> None:
    problem = reduction()
    read = Bandwidth("read", "uint32", problem.size)
    limit_ = with_blocks(record("cuda", read, 1.0, role="limit"), 9.8e-6, 10e-6, 10.2e-6)
    case = with_blocks(record("cuda", problem, 1.0), 12.4e-6, 12.5e-6, 12.6e-6)
    run = run_of(limit_, case)
    row = row_of(frame(run), 1)
    assert row["share"] == pytest.approx(0.8, rel=1e-3)
    assert 0.75 < row["share_low"] < 0.79
    assert 0.81 < row["share_high"] < 0.85
    ends = f"({row['share_low'] * 100:.1f} to {row['share_high'] * 100:.1f})"
    page = reports.render(run, "x").replace("\u00a0", " ")
    assert f"cuda {row['share'] * 100:.1f} % {ends}" in page
    assert f"95 % interval {ends[1:-1]} %" in _share_of_limit(run)


def _share_of_limit(run: Run) -> str:
    """What hovering over a share in the table of records shows."""
    table = record_table(frame(run))
    place = [heading for heading, _ in table.headings].index("% of limit")
    return table.lines[-1].cells[place].title


def test_a_share_of_few_samples_has_no_interval() -> None:
    problem = reduction()
    few = replace(record("cuda", problem, 1.0), clocks={"queue": Samples((1e-5, 1e-5))})
    run = run_of(limit("read", problem.source_bytes, 4e12), few)
    row = row_of(frame(run), 1)
    assert row["share"] > 0
    assert math.isnan(row["share_low"])
    assert "interval" not in _share_of_limit(run)


def test_a_candidate_that_was_given_up_is_no_limit() -> None:
    """In one context it was the fastest of all; in four another one was."""
    problem = reduction()
    read = Bandwidth("read", "uint32", problem.size)
    lasting = with_blocks(record("cuda", read, 1.0, role="limit"), *[10e-6] * 4)
    given_up = with_blocks(
        record("cuda", read, 1.0, role="limit", variant=BandwidthVariant(vector_width=2)), 8e-6, 8e-6
    )
    run = run_of(given_up, lasting, record("cuda", problem, 12.5e-6))
    assert row_of(frame(run), 2)["share"] == pytest.approx(0.8, rel=1e-3)
    (found,) = limits_of(run)
    assert found.seconds == pytest.approx(10e-6, rel=1e-3)


def test_a_candidate_that_was_given_up_is_no_limit_of_a_case_in_few_processes_either() -> None:
    """A library that is far off on a processor is in one process, in which every candidate is, too."""
    problem = reduction()
    read = Bandwidth("read", "uint32", problem.size)
    lasting = with_blocks(record("opencl", read, 1.0, role="limit"), *[10e-6] * 4)
    given_up = with_blocks(
        record("opencl", read, 1.0, role="limit", variant=BandwidthVariant(vector_width=2)), 8e-6, 8e-6
    )
    library = with_blocks(record("numpy", problem, 1.0), 20e-6)
    devices = (device("opencl", physical="cpu"), device("numpy", physical="cpu"))
    run = run_of(lasting, given_up, library, devices=devices)
    assert row_of(frame(run), 2)["share"] == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize(
    ("backend", "dialect", "flagged"),
    [("opencl", "vendor", True), ("opencl", "portable", True), ("cuda", "vendor", False)],
)
def test_another_api_is_held_against_the_limit_net_of_its_launch(
    backend: str, dialect: Literal["vendor", "portable"], flagged: bool
) -> None:
    problem = reduction()
    read = Bandwidth("read", "uint32", problem.size)
    variant = ReductionVariant(dialect=dialect)
    run = run_of(
        record("opencl", read, 10e-6, launch=4e-6, role="limit"),
        record(backend, problem, 7e-6, variant=variant),
    )
    assert bool(row_of(frame(run), 1)["above_limit"]) is flagged

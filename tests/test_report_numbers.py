"""What the report derives from a run: medians, limits, ratios, tables, against known times."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

import reports
from harness.problems import Bandwidth
from harness.records import Clock, Record
from harness.runs import Run
from harness.variants import ReductionVariant
from reports import format as write
from reports.frame import frame, ordered_sizes, ordered_types
from reports.headline import headlines
from reports.published import published
from reports.ratios import FASTEST, FASTEST_IS_IDENTICAL, IDENTICAL, Comparison, comparisons
from reports.tables import ratio_table, reasons, record_table
from tests.report_data import (
    BOTH,
    GPU,
    REDUCTION,
    cpu_run,
    device,
    gpu_run,
    laplace,
    limit,
    record,
    reduction,
    run_of,
)  # fmt: skip


def row_of(table: pd.DataFrame, number: int = 0) -> Any:
    """One row of a table."""
    return table.iloc[number]


def only(run: Run) -> Comparison:
    """The one comparison of a run."""
    (comparison,) = comparisons(frame(run))
    return comparison


def test_frame_derives_median_net_and_bandwidth() -> None:
    row = row_of(frame(run_of(record("opencl", reduction(), 10e-6, launch=4e-6))))
    assert row["queue"] == pytest.approx(10e-6)
    assert row["queue_p25"] == pytest.approx(9.95e-6)
    assert row["net"] == pytest.approx(6e-6)
    assert row["bytes_per_second"] == pytest.approx(2560 * 2560 * 4 / 10e-6)


def test_laplace_moves_its_image_twice() -> None:
    row = row_of(frame(run_of(record("opencl", laplace(1000), 1e-3))))
    assert row["bytes_per_second"] == pytest.approx(2e9)
    assert (row["op"], row["type"], row["size"]) == ("laplacian four reflect_101", "uint8C1", "1000x1000")


def test_net_is_absent_where_launching_costs_as_much_as_the_call() -> None:
    row = row_of(frame(run_of(record("opencl", reduction(), 4e-6, launch=4.1e-6))))
    assert math.isnan(row["net"])


def test_samples_that_are_no_times_are_left_out_and_said() -> None:
    good = record("opencl", reduction(), 2e-6)
    odd = replace(good, clocks={"queue": Clock((math.nan, 2e-6, math.inf, -1.0), 1)})
    row = row_of(frame(run_of(odd)))
    assert row["queue"] == 2e-6
    assert row["note"] == "3 of 4 samples are no times and were left out"


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


@pytest.mark.parametrize(("excess", "flagged"), [(1.01, False), (1.03, False), (1.04, True)])
def test_two_per_cent_above_the_limit_and_its_noise_is_flagged(excess: float, flagged: bool) -> None:
    # The quartiles of these samples are half a per cent off their medians, on both sides.
    size = reduction().source_bytes
    run = run_of(limit("read", size, 1e12), record("cuda", reduction(), size / (excess * 1e12)))
    assert bool(row_of(frame(run), 1)["above_limit"]) is flagged
    assert ("1 case above the measured limit" in reports.render(run, "x")) is flagged


@pytest.mark.parametrize(("backend", "flagged"), [("opencl", True), ("cuda", False)])
def test_another_api_is_held_against_the_limit_net_of_its_launch(backend: str, flagged: bool) -> None:
    problem = reduction()
    read = Bandwidth("read", "uint32", problem.size)
    run = run_of(record("opencl", read, 10e-6, launch=4e-6, role="limit"), record(backend, problem, 7e-6))
    assert bool(row_of(frame(run), 1)["above_limit"]) is flagged


def test_ratio_is_cuda_time_over_opencl_time_gross_and_net() -> None:
    # design.md's measurement at 2560x2560: gross 0.73, net 1.09.
    comparison = only(
        run_of(
            record("opencl", reduction(), 8.55e-6, launch=4.1e-6),
            record("cuda", reduction(), 6.26e-6, launch=1.43e-6),
        )
    )
    pair = row_of(comparison.pairs)
    assert (comparison.first, comparison.second, pair["pairing"]) == ("OpenCL", "CUDA", FASTEST_IS_IDENTICAL)
    assert pair["gross"] == pytest.approx(0.732, abs=1e-3)
    assert pair["net"] == pytest.approx(1.085, abs=1e-3)


def with_blocks(original: Record, *medians: float) -> Record:
    """The record with eight samples in each of several contexts."""
    seconds = [median * (1 + 1e-4 * step) for median in medians for step in range(8)]
    clock = Clock(tuple(seconds), 100, "", tuple(block for block in range(len(medians)) for _ in range(8)))
    return replace(original, clocks={"queue": clock})


def test_pair_has_the_interval_and_verdict_of_its_samples() -> None:
    slow, fast = record("opencl", reduction(), 8e-6), record("cuda", reduction(), 6e-6)
    pair = row_of(only(run_of(slow, fast)).pairs)
    assert pair["low"] < pair["gross"] < pair["high"] < 0.98
    assert pair["verdict"] == "slower"


def test_interval_holds_what_differs_from_context_to_context() -> None:
    opencl, cuda = record("opencl", reduction(), 1e-6), record("cuda", reduction(), 1e-6)
    alike = run_of(with_blocks(opencl, 1e-6, 1e-6, 1e-6), with_blocks(cuda, 1e-6, 1e-6, 1e-6))
    differing = run_of(with_blocks(opencl, 0.95e-6, 1e-6, 1.05e-6), with_blocks(cuda, 1e-6, 1e-6, 1e-6))
    assert row_of(only(alike).pairs)["verdict"] == "same"
    assert row_of(only(differing).pairs)["verdict"] == "ambiguous"


@pytest.mark.parametrize(
    ("medians", "precise"),
    [((1e-6,), True), ((1e-6, 1e-6, 1.0001e-6), True), ((0.97e-6, 1e-6, 1.03e-6), False)],
)
def test_a_time_is_known_as_well_as_its_contexts_agree(medians: tuple[float, ...], precise: bool) -> None:
    run = run_of(with_blocks(record("opencl", reduction(), 1e-6), *medians))
    assert row_of(frame(run))["precise"] == precise


def test_a_gpu_measured_in_one_context_is_told_of() -> None:
    def told(*blocks: float, physical: str = GPU) -> bool:
        rows = [with_blocks(record(name, reduction(), 1e-6), *blocks) for name in ("opencl", "cuda")]
        run = run_of(*rows, devices=tuple(device(name, physical=physical) for name in ("opencl", "cuda")))
        (headline,) = headlines(frame(run), comparisons(frame(run)))
        return any("in one context" in sentence for sentence in headline.rest)

    assert told(1e-6)
    assert not told(1e-6, 1e-6, 1e-6)
    assert not told(1e-6, physical="cpu")


def test_pair_of_too_few_samples_is_ambiguous_and_says_why() -> None:
    two = replace(record("opencl", reduction(), 1e-6), clocks={"queue": Clock((1e-6, 1.1e-6))})
    comparison = only(run_of(two, record("cuda", reduction(), 9e-6)))
    pair = row_of(comparison.pairs)
    assert (pair["verdict"], math.isnan(pair["low"])) == ("ambiguous", True)
    interval = ratio_table(comparison).lines[0].cells[8]
    assert (interval.text, interval.sort) == ("–", "nan")
    assert "fewer than 3 samples" in interval.title


def test_net_ratio_has_an_interval_of_its_own() -> None:
    opencl = record("opencl", reduction(), 8.55e-6, launch=4.1e-6)
    cuda = record("cuda", reduction(), 6.26e-6, launch=1.43e-6)
    comparison = only(run_of(opencl, cuda))
    pair = row_of(comparison.pairs)
    assert pair["net_low"] < pair["net"] < pair["net_high"]
    assert "interval 1.03 to 1.15" in ratio_table(comparison).lines[0].cells[10].title


def test_summary_counts_verdicts() -> None:
    run = run_of(
        record("opencl", reduction("min"), 1e-6), record("cuda", reduction("min"), 2e-6),
        record("opencl", reduction("max"), 2e-6), record("cuda", reduction("max"), 1e-6),
        record("opencl", reduction("sum"), 3e-6), record("cuda", reduction("sum"), 1e-6),
    )  # fmt: skip
    comparison = only(run)
    assert comparison.summaries()[0].verdicts == (("faster", 1), ("slower", 2))
    (headline,) = headlines(frame(run), [comparison])
    assert "3 cases: 1 faster, 2 slower" in headline.answer


def test_headline_of_one_pair_has_its_interval() -> None:
    run = run_of(record("opencl", reduction(), 8e-6), record("cuda", reduction(), 6e-6))
    (headline,) = headlines(frame(run), comparisons(frame(run)))
    assert headline.tiles[0].verdicts == (("slower", 1),)
    assert any(detail.startswith("1 case, interval 0.7") for detail in headline.tiles[0].details)


def test_no_net_ratio_with_one_launch_clock() -> None:
    comparison = only(
        run_of(record("opencl", reduction(), 8e-6, launch=4e-6), record("cuda", reduction(), 6e-6))
    )
    assert math.isnan(row_of(comparison.pairs)["net"])
    assert comparison.summaries()[0].net is None


@pytest.mark.parametrize(
    "other",
    [
        record("cuda", reduction(), 1e-6, cache="cold"),
        record("cuda", reduction(dtype="float32"), 1e-6),
        record("cuda", reduction(), 1e-6, index=1),
        record("cuda", reduction(), status="skipped", reason="no"),
        record("cuda", reduction(), math.nan),
        replace(
            record("cuda", reduction(), 1e-6), clocks={"event": Clock((1e-6,)), "round_trip": Clock((1e-6,))}
        ),
        record("cuda", reduction(), 1e-6, role="limit"),
    ],
    ids=["cache", "problem", "device", "skipped", "no time", "other clocks", "limit"],
)
def test_what_differs_in_more_than_the_backend_is_no_pair(other: Any) -> None:
    run = run_of(
        record("opencl", reduction(), 1e-6),
        other,
        devices=(*BOTH, device("cuda", 1, physical="0000:01:00.0")),
    )
    assert comparisons(frame(run)) == []
    assert "No two backends measured the same problem on the same hardware." in reports.render(run, "x")


def test_devices_that_the_environment_does_not_know_are_not_paired() -> None:
    run = run_of(record("opencl", reduction(), 1e-6), record("cuda", reduction(), 1e-6), devices=())
    assert comparisons(frame(run)) == []


def test_fastest_of_each_side_and_identical_variants_beside_it() -> None:
    other = ReductionVariant(vector_width=1)
    run = run_of(
        record("opencl", reduction(), 4e-6, variant=REDUCTION),
        record("opencl", reduction(), 5e-6, variant=other),
        record("cuda", reduction(), 6e-6, variant=REDUCTION),
        record("cuda", reduction(), 2e-6, variant=other),
    )
    pairs = only(run).pairs
    assert dict(
        zip(pairs["first_variant"] + "|" + pairs["pairing"], pairs["gross"].round(6), strict=True)
    ) == {
        pairs["first_variant"][0] + "|" + FASTEST: 0.5,
        pairs["first_variant"][0] + "|" + IDENTICAL: 1.5,
        pairs["first_variant"][2] + "|" + IDENTICAL: 0.4,
    }
    assert only(run).summaries()[0].count == 1


def test_geometric_mean_by_kind() -> None:
    run = run_of(
        record("opencl", reduction("min"), 1e-6), record("cuda", reduction("min"), 2e-6),
        record("opencl", reduction("max"), 2e-6), record("cuda", reduction("max"), 1e-6),
        record("opencl", laplace(), 1e-6), record("cuda", laplace(), 3e-6),
    )  # fmt: skip
    means = {summary.kind: summary.gross for summary in only(run).summaries()}
    assert means == {"reduction": pytest.approx(1.0), "laplace": pytest.approx(3.0)}


def test_without_cuda_the_best_library_stands_in_and_the_page_says_so() -> None:
    run = cpu_run()
    (headline,) = headlines(frame(run), comparisons(frame(run)))
    assert "best library here, numpy" in headline.answer
    assert any("CUDA has no result on this device" in sentence for sentence in headline.rest)
    assert any("host-bound" in sentence for sentence in headline.rest)


@pytest.mark.parametrize("location", ["parts", "device"])
def test_a_variant_that_leaves_work_to_the_host_is_not_a_gpus_fastest(location: str) -> None:
    # "device": as files from before there was a word for parts have it.
    in_parts = replace(REDUCTION, finish="host")
    records = [
        record("opencl", reduction(), 5e-6, variant=in_parts, location=location),
        record("opencl", reduction(), 6e-6),
        record("cuda", reduction(), 4e-6, variant=in_parts, location=location),
    ]
    pair, same = (row_of(only(run_of(*records)).pairs, number) for number in range(2))
    assert (pair["pairing"], pair["first_queue"]) == (FASTEST, pytest.approx(6e-6))
    assert pair["marks"] == "the result is on the device against in parts that the host must join"
    assert (same["pairing"], same["marks"]) == (IDENTICAL, "")


def test_one_group_leaves_no_parts() -> None:
    alone = record("opencl", reduction(), 5e-6, variant=replace(REDUCTION, finish="host"))
    launch = {"kernel": "reduce", "num_groups": [1], "group_size": [256]}
    run = run_of(replace(alone, ledger={**alone.ledger, "launches": [launch]}))
    assert row_of(frame(run))["location"] == "device"


def test_a_processor_joins_its_parts_itself() -> None:
    opencl, numpy = ({**device(name, physical="cpu"), "kind": "cpu"} for name in ("opencl", "numpy"))
    in_parts = record("opencl", reduction(), 5e-6, variant=replace(REDUCTION, finish="host"))
    whole, other = record("opencl", reduction(), 6e-6), record("numpy", reduction(), 9e-6)
    run = run_of(in_parts, whole, other, devices=(opencl, numpy))
    assert row_of(only(run).pairs)["first_queue"] == pytest.approx(5e-6)


def test_host_bound_and_other_places_are_marked() -> None:
    devices = (device("opencl", physical="cpu"), device("numpy", physical="cpu"))
    run = run_of(
        record("opencl", reduction(), 1e-6),
        record("numpy", reduction(), 2e-6, note="host-bound: no gate", location="host"),
        devices=devices,
    )
    marks = row_of(only(run).pairs)["marks"]
    assert marks == "numpy: host-bound: no gate; the result is on the device against on the host"


def test_reasons_are_grouped_the_gravest_first() -> None:
    found = reasons(frame(gpu_run()))
    assert [(reason.status, reason.backend, reason.count) for reason in found] == [
        ("wrong", "opencl", 1), ("failed", "cuda", 1), ("skipped", "cupy", 7),
    ]  # fmt: skip
    assert len(found[2].problems) == 7


def test_record_table_has_every_record_and_sorts_by_numbers() -> None:
    run = gpu_run()
    table = record_table(frame(run))
    assert len(table.lines) == len(run.records)
    assert all(len(line.cells) == len(table.headings) for line in table.lines)
    queue = table.lines[1].cells[7]
    assert float(queue.sort) == pytest.approx(row_of(frame(run), 1)["queue"])
    assert "p25 to p75" in queue.title


def test_order_of_types_and_sizes() -> None:
    assert ordered_types(["float64", "uint8C4", "int32", "uint8C1", "uint8", "odd"]) == [
        "uint8", "uint8C1", "uint8C4", "int32", "float64", "odd",
    ]  # fmt: skip
    assert ordered_sizes(frame(run_of(*(record("cuda", reduction(side=s)) for s in (2560, 64, 512))))) == [
        "64x64", "512x512", "2560x2560",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (write.us(6.264e-6), "6.26"), (write.us(1234.56e-6), "1,234.6"), (write.us(0.1), "100,000"),
        (write.us(math.nan), "–"), (write.gb_s(4.23456e12), "4,235"), (write.gb_s(1.234e9), "1.23"),
        (write.gb_s(12.34e9), "12.3"), (write.gb_s(1.5e6), "0.0015"), (write.gb_s(math.inf), "–"),
        (write.percent(0.8876), "88.8"), (write.ratio(0.7315), "0.73"), (write.ratio(math.nan), "–"),
        (write.interval(0.7315, 0.7512), "0.73 to 0.75"), (write.interval(1.0012, 1.0034), "1.001 to 1.003"),
        (write.interval(99.0, 1234.0), "99 to 1,234"), (write.interval(math.nan, math.nan), "–"),
        (write.size(26214400), "25 MiB"), (write.size(0), "–"), (write.size(1638400), "1.56 MiB"),
    ],
)  # fmt: skip
def test_numbers_are_written(text: str, expected: str) -> None:
    assert text == expected


def test_published_tables_are_those_of_the_papers() -> None:
    table = published("yan2011_table5_c2050_time")
    cuda = table[table["implementation"] == "cuda"].iloc[0]
    assert (cuda["uint8"], cuda["float64"]) == (242.14, 627.98)
    with pytest.raises(ValueError, match="'nothing' is unknown; known are claims"):
        published("nothing")


def test_gpu_and_processor_are_told_apart() -> None:
    run = gpu_run()
    found = comparisons(frame(run))
    assert [(c.physical, c.first, c.second) for c in found] == [
        (GPU, "OpenCL", "CUDA"), (GPU, "OpenCL", "the best library"), (GPU, "CUDA", "the best library"),
    ]  # fmt: skip
    assert [headline.answer for headline in headlines(frame(run), found)][1:] == [
        "Nothing to compare: numpy alone was measured here."
    ]

"""What the report derives from a run: medians and tables, against known times."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest

from harness.problems import Empty
from harness.results.record import Case, Record, Samples
from harness.variants.axes import LaunchVariant
from reports import format as write
from reports.dataset import frame, ordered_sizes, ordered_types
from reports.published import published
from reports.tables import reasons, record_table, without_beaten
from tests.support.report_data import (
    REDUCTION,
    device,
    gpu_run,
    laplace,
    record,
    reduction,
    row_of,
    run_of,
    with_blocks,
)  # fmt: skip


def test_frame_derives_median_net_and_bandwidth() -> None:
    row = row_of(frame(run_of(record("opencl", reduction(), 10e-6, launch=4e-6))))
    assert row["queue"] == pytest.approx(10e-6)
    assert row["queue_p25"] == pytest.approx(9.95e-6)
    assert row["net"] == pytest.approx(6e-6)
    assert row["bytes_per_second"] == pytest.approx(2560 * 2560 * 4 / 10e-6)


def test_the_quartiles_are_at_the_mean_cost_of_launching_as_the_time_is() -> None:
    # The case met the dear kind of context in twelve of sixteen; all contexts are of both kinds alike.
    mine = [1.6e-6] * 12 + [1.4e-6] * 4
    costs = mine + [1.4e-6] * 24 + [1.6e-6] * 16
    empty = Record(
        Case("opencl", 0, Empty((((8,), (64,)),)), LaunchVariant(), role="control"),
        "ok",
        clocks={"queue": Samples(tuple(costs), blocks=tuple(range(len(costs))))},
    )
    taken = Samples(tuple(2e-6 + cost for cost in mine), blocks=tuple(range(16)))
    case = replace(record("opencl", reduction(), 2e-6), clocks={"queue": taken})
    row = row_of(frame(run_of(empty, case)).iloc[1:])
    assert [row[name] for name in ("queue_p25", "queue", "queue_p75")] == pytest.approx([3.5e-6] * 3)


def test_samples_that_were_taken_anew_stand_beside_the_others() -> None:
    whole = record("opencl", reduction(), 10e-6)
    clock = replace(whole.clocks["queue"], anew=2, stopped="interval")
    row = row_of(frame(run_of(replace(whole, clocks={"queue": clock}))))
    assert row["sampling"] == (
        "3 samples of 100 calls behind a lead, in 1 fresh context, 2 more taken anew, ended by: interval"
    )


def test_laplace_moves_its_image_twice() -> None:
    row = row_of(frame(run_of(record("opencl", laplace(1000), 1e-3))))
    assert row["bytes_per_second"] == pytest.approx(2e9)
    assert (row["op"], row["type"], row["size"]) == ("laplacian four reflect_101", "uint8C1", "1000x1000")


def test_net_is_absent_where_launching_costs_as_much_as_the_call() -> None:
    row = row_of(frame(run_of(record("opencl", reduction(), 4e-6, launch=4.1e-6))))
    assert math.isnan(row["net"])


def test_samples_that_are_no_times_are_left_out_and_said() -> None:
    good = record("opencl", reduction(), 2e-6)
    odd = replace(good, clocks={"queue": Samples((math.nan, 2e-6, math.inf, -1.0), 1)})
    row = row_of(frame(run_of(odd)))
    assert row["queue"] == 2e-6
    assert row["note"] == "3 of 4 samples are no times and were left out"


@pytest.mark.parametrize(
    ("medians", "precise"),
    [((1e-6,), True), ((1e-6, 1e-6, 1.0001e-6), True), ((0.97e-6, 1e-6, 1.03e-6), False)],
)
def test_a_time_is_known_as_well_as_its_contexts_agree(medians: tuple[float, ...], precise: bool) -> None:
    run = run_of(with_blocks(record("opencl", reduction(), 1e-6), *medians))
    assert row_of(frame(run))["precise"] == precise


def test_one_group_leaves_no_parts() -> None:
    alone = record("opencl", reduction(), 5e-6, variant=replace(REDUCTION, finish="host"))
    launch = {"kernel": "reduce", "num_groups": (1,), "group_size": (256,)}
    run = run_of(replace(alone, provenance={**alone.provenance, "launches": [launch]}))
    assert row_of(frame(run))["location"] == "device"


def test_reasons_are_grouped_the_gravest_first() -> None:
    found = reasons(frame(gpu_run()))
    assert [(reason.status, reason.backend, reason.count) for reason in found] == [
        ("wrong", "opencl", 1), ("failed", "cuda", 1), ("skipped", "cupy", 7),
    ]  # fmt: skip
    assert len(found[2].problems) == 7


def test_candidates_that_lost_are_left_out_and_others_are_not() -> None:
    rows = frame(gpu_run())
    (limit,) = rows[rows["purpose"] == "limit"].head(1).to_dict("records")
    seconds = {"fastest": 1e-6, "near": 1.02e-6, "beaten": 1.1e-6, "failed": math.nan}
    candidates = [
        limit | {"variant": name, "queue": time, "status": "failed" if name == "failed" else "ok"}
        for name, time in seconds.items()
    ]
    elsewhere = limit | {"variant": "slow, alone", "cache": "cold", "queue": 1.0}
    compared = rows[rows["purpose"] == "compare"]
    table = pd.concat([compared, pd.DataFrame([*candidates, elsewhere])], ignore_index=True)
    left = without_beaten(table)
    assert set(table["variant"]) - set(left["variant"]) == {"beaten"}
    assert len(left) == len(table) - 1


def test_record_table_has_every_record_and_sorts_by_numbers() -> None:
    run = gpu_run()
    table = record_table(frame(run))
    assert len(table.lines) == len(run.records)
    assert all(len(line.cells) == len(table.headings) for line in table.lines)
    queue = table.lines[1].cells[7]
    assert 1e-6 * float(queue.text) == pytest.approx(row_of(frame(run), 1)["queue"], rel=0.01)
    assert "p25 to p75" in queue.title


NUMBERS = {
    "queue us": ("queue", write.us), "launch us": ("launch", write.us), "net us": ("net", write.us),
    "round trip us": ("round_trip", write.us), "event us": ("event", write.us),
    "kernel us": ("kernel", write.us), "GB/s": ("bytes_per_second", write.gb_s),
    "% of limit": ("share", write.percent),
}  # fmt: skip


def test_each_number_stands_below_its_heading() -> None:
    run = gpu_run()
    kernel = Samples((3e-6, 3.1e-6))
    records = [replace(r, clocks={**r.clocks, "kernel": kernel}) if r.clocks else r for r in run.records]
    table = frame(replace(run, records=records))
    shown = record_table(table)
    headings = [heading for heading, _ in shown.headings]
    assert [headings[place] for place in sorted(shown.numeric)] == list(NUMBERS)
    told = [[line.cells[headings.index(name)].text for name in NUMBERS] for line in shown.lines]
    known = table[[column for column, _ in NUMBERS.values()]]
    expected = [[form(row[column]) for column, form in NUMBERS.values()] for row in table.to_dict("records")]
    assert [[text.rstrip(" †‡≈") for text in line] for line in told] == expected
    assert known.nunique(axis=1).max() == len(NUMBERS), "no two are alike everywhere"


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
        (write.ratio(9.994), "9.99"), (write.ratio(9.996), "10.0"), (write.ratio(28.62), "28.6"),
        (write.ratio(99.96), "100"), (write.ratio(12345.6), "12,346"),
        (write.interval(0.7315, 0.7512), "0.73 to 0.75"), (write.interval(1.0012, 1.0034), "1.001 to 1.003"),
        (write.interval(99.0, 1234.0), "99 to 1,234"), (write.interval(math.nan, math.nan), "–"),
        (write.duration(45.4), "45 s"), (write.duration(544), "9 min 4 s"),
        (write.duration(7530), "2 h 5 min"), (write.duration(math.inf), "–"),
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


def test_what_a_launch_takes_of_the_device_is_shown() -> None:
    launch = {"kernel": "reduce", "num_groups": [264], "group_size": [16, 8]}
    told = {**launch, "registers": 40, "spills": 0, "local_bytes": 1024}
    known = replace(record("cuda", reduction(), 1e-6), provenance={"launches": [told, launch]})
    (line,) = record_table(frame(run_of(known))).lines
    shown = "264 groups of 16x8, 40 registers, 0 B spilled, 1024 B local; 264 groups of 16x8"
    assert line.cells[-1].text == shown


def test_the_occupancy_is_computed_where_the_device_is_known() -> None:
    launch = {"kernel": "reduce", "num_groups": (264,), "group_size": (32, 8), "spills": 0}
    told = {**launch, "registers": 33, "local_bytes": 72}
    known = replace(
        record("cuda", reduction(), 1e-6), provenance={"launches": [told, {**told, "registers": None}]}
    )
    hopper = tuple({**device(name), "compute_capability": 90} for name in ("opencl", "cuda"))
    assert row_of(frame(run_of(known, devices=hopper))).resources == (
        "264 groups of 32x8, 33 registers, 0 B spilled, 72 B local, computed occupancy 75.0 % (registers); "
        "264 groups of 32x8, 0 B spilled, 72 B local"
    )
    assert "occupancy" not in row_of(frame(run_of(known))).resources

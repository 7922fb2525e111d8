"""Which variant of each side is compared: the fastest, and what is not one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from harness.variants.axes import ReductionVariant
from reports.ratios import FASTEST, IDENTICAL
from tests.support.report_data import (
    REDUCTION,
    device,
    only,
    record,
    reduction,
    row_of,
    run_of,
    with_blocks,
)  # fmt: skip


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


def test_of_equal_variants_none_is_faster_for_having_been_chosen() -> None:
    """The fastest of 18 that scatter by 3 % alike: chosen and judged on the same contexts it would be 1.4 %
    faster than it is."""
    rng = np.random.default_rng(5)
    many = [
        ReductionVariant(vector_width=width, groups=groups) for width in (1, 2, 4) for groups in range(1, 7)
    ]
    ratios = []
    for side in range(100, 140):
        problem = reduction(side=side)
        records = [
            with_blocks(record(backend, problem, variant=variant), *rng.normal(1e-6, 3e-8, 16))
            for backend, variants in (("opencl", many), ("cuda", many[:1]))
            for variant in variants
        ]
        ratios.append(only(run_of(*records)).fastest["gross"].iloc[0])
    assert np.mean(ratios) == pytest.approx(1, abs=4 * np.std(ratios) / math.sqrt(len(ratios)))
    assert np.std(ratios) / math.sqrt(len(ratios)) < 0.002


def test_a_variant_that_is_the_fastest_keeps_its_time() -> None:
    other = ReductionVariant(vector_width=1)
    run = run_of(
        with_blocks(record("opencl", reduction(), variant=REDUCTION), *[4e-6] * 8),
        with_blocks(record("opencl", reduction(), variant=other), *[5e-6] * 8),
        with_blocks(record("cuda", reduction(), variant=REDUCTION), *[2e-6] * 8),
    )
    assert only(run).fastest["gross"].iloc[0] == pytest.approx(0.5)


def test_a_variant_that_was_given_up_is_no_sides_fastest() -> None:
    """It had a few contexts only, before the machine became slower."""
    other = ReductionVariant(vector_width=1)
    run = run_of(
        with_blocks(record("opencl", reduction(), variant=REDUCTION), *[4e-6] * 4, *[4.4e-6] * 5),
        with_blocks(record("opencl", reduction(), variant=other), *[4.1e-6] * 4),
        with_blocks(record("cuda", reduction(), variant=REDUCTION), *[4e-6] * 4, *[4.4e-6] * 5),
    )
    (pair,) = only(run).fastest.to_dict("records")
    assert (pair["first_variant"], pair["gross"]) == (pair["second_variant"], pytest.approx(1))


def test_a_fastest_with_blocks_of_two_variants_is_not_called_a_pair_of_one() -> None:
    other = ReductionVariant(vector_width=1)
    run = run_of(
        with_blocks(record("opencl", reduction(), variant=REDUCTION), *[1.0e-6, 1.04e-6] * 4),
        with_blocks(record("opencl", reduction(), variant=other), *[1.06e-6, 1.0e-6] * 4),
        with_blocks(record("cuda", reduction(), variant=REDUCTION), *[1.02e-6] * 8),
    )
    pairs = only(run).pairs
    assert list(pairs["pairing"]) == [FASTEST, IDENTICAL]
    fastest, identical = pairs["gross"]
    assert (fastest < 0.98, identical) == (True, pytest.approx(1))


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


def test_a_processor_joins_its_parts_itself() -> None:
    opencl, numpy = ({**device(name, physical="cpu"), "kind": "cpu"} for name in ("opencl", "numpy"))
    in_parts = record("opencl", reduction(), 5e-6, variant=replace(REDUCTION, finish="host"))
    whole, other = record("opencl", reduction(), 6e-6), record("numpy", reduction(), 9e-6)
    run = run_of(in_parts, whole, other, devices=(opencl, numpy))
    assert row_of(only(run).pairs)["first_queue"] == pytest.approx(5e-6)

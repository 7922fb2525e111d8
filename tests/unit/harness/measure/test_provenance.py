"""Provenance: what a record says of what was timed."""

from __future__ import annotations

import pytest

from backends import open_backend
from harness.measure.budget import every_clock
from harness.measure.measurer import Measurer
from harness.problems import Bandwidth, Laplace, Problem, Reduction
from harness.results.record import Case
from harness.variants.axes import ReductionVariant


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (Reduction("minmax", "uint8", (9,)), "uint8"),
        (Reduction("max", "float16", (9,)), "float32"),
        (Reduction("sum", "int8", (9,)), "int64"),
        (Reduction("sum", "float32", (9,)), "float64"),
        (Reduction("count_nonzero", "float64", (9,)), "uint64"),
        (Laplace("four", "wrap", "laplacian", "uint8", 3, 3, 1), "int32"),
        (Laplace("four", "wrap", "laplacian", "float32", 3, 3, 1), "float32"),
        (Bandwidth("read", "uint8", 9), ""),
    ],
)
def test_the_type_that_our_kernels_compute_in(problem: Problem, expected: str) -> None:
    assert problem.accumulator == expected


def test_a_record_says_what_was_timed() -> None:
    case = Case("opencl", 0, Reduction("sum", "int32", (50_000,)), ReductionVariant(group_size=4, groups=2))
    with open_backend("opencl") as backend:
        record = Measurer(backend).measure(case, every_clock(3, 0.05))
    provenance = record.provenance
    assert record.status == "ok"
    assert provenance["build_options"][0] == "-cl-std=CL1.2"
    assert (provenance["accumulator"], provenance["bytes_moved"]) == ("int64", 200_000)
    assert (provenance["calls_per_result"], provenance["result_location"]) == (1, "device")
    first, *others = (launch["kernel"] for launch in provenance["launches"])
    # How often the groups' results are merged depends on how many compute units there are.
    assert (first, set(others)) == ("reduce", {"merge"})
    assert set(provenance["launches"][0]) >= {
        "num_groups",
        "group_size",
        "local_bytes",
        "registers",
        "spills",
    }
    assert provenance["gate"] in ("kernel", "user event")
    assert "kernels" not in provenance, "OpenCL has no profiler here"
    assert {"event", "launch_event"} <= set(record.clocks)

"""Performance portability across devices: by its definition, of synthetic and of recorded runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from harness.results.record import Record
from harness.results.runfile import Run
from harness.variants.axes import ReductionVariant, label
from reports.cascades import cascades, portability_table
from reports.dataset import frame
from reports.page import page
from reports.portability import (
    FASTEST,
    Application,
    applications,
    cascade,
    portability,
)
from tests.support.html import tables
from tests.support.recorded import run_of as recorded
from tests.support.recorded import table
from tests.support.report_data import device, limit, record, reduction, run_of

SLOW, FAST = ReductionVariant(groups=2), ReductionVariant(vector_width=4)
PROBLEM = reduction("min")
LIMIT = 1e-6
"""Seconds that the limit's rate takes for PROBLEM."""


@pytest.mark.parametrize(
    ("efficiencies", "expected"),
    [([1.0, 0.5], 2 / 3), ([0.25], 0.25), ([0.9, 0.0], 0.0), ([math.nan, 0.0], 0.0), ([0.5, 0.5, 0.5], 0.5)],
)
def test_it_is_the_harmonic_mean_and_zero_where_one_fails(efficiencies: list[float], expected: float) -> None:
    assert portability(efficiencies) == pytest.approx(expected)


def test_what_is_not_known_is_not_told() -> None:
    assert math.isnan(portability([0.5, math.nan]))
    assert math.isnan(portability([]))


def test_a_cascade_goes_from_the_best_to_the_worst() -> None:
    steps = cascade({"a": 0.5, "b": 1.0, "c": 0.0})
    assert [name for name, *_ in steps] == ["b", "a", "c"]
    assert [so_far for *_, so_far in steps] == pytest.approx([1.0, 2 / 3, 0.0])


def on(name: str, *records: Record, devices: tuple[str, ...] = ("opencl", "cuda")) -> Run:
    """A run on a GPU of this name, whose limit is known."""
    there: tuple[dict[str, Any], ...] = tuple(device(backend, name=name) for backend in devices)
    bound = limit("read", PROBLEM.source_bytes, PROBLEM.bytes_moved / LIMIT)
    return run_of(bound, *records, devices=there)


def of(*runs: Run) -> dict[tuple[str, str], Application]:
    """What is told of these runs, by backend and variant."""
    return {(each.backend, each.variant): each for each in applications(list(map(frame, runs)))}


def two() -> tuple[Run, Run]:
    """Two GPUs; CUDA runs on the first alone, and the fastest form is another on each."""
    first = on(
        "A",
        record("opencl", PROBLEM, 2e-6, variant=SLOW),
        record("opencl", PROBLEM, 1.25e-6, variant=FAST),
        record("cuda", PROBLEM, 1e-6, variant=FAST),
    )
    second = on(
        "B",
        record("opencl", PROBLEM, 2e-6, variant=SLOW),
        record("opencl", PROBLEM, 4e-6, variant=FAST),
        record("cuda", PROBLEM, variant=FAST, status="failed", reason="BuildError: no such thing"),
    )
    return first, second


def test_a_backend_is_its_fastest_form_on_each_device() -> None:
    found = of(*two())["opencl", FASTEST]
    assert found.of_limit == pytest.approx({"A": 0.8, "B": 0.5})
    assert found.of_best == pytest.approx({"A": 0.8, "B": 1.0})
    assert found.why == ""


def test_a_variant_is_the_same_everywhere() -> None:
    found = of(*two())
    assert found["opencl", label(SLOW)].of_limit == pytest.approx({"A": 0.5, "B": 0.5})
    assert found["opencl", label(FAST)].of_limit == pytest.approx({"A": 0.8, "B": 0.25})


def test_what_fails_on_a_device_is_zero_with_the_reason() -> None:
    found = of(*two())["cuda", FASTEST]
    assert found.of_limit == pytest.approx({"A": 1.0, "B": 0.0})
    assert found.why == f"B: failed: BuildError: no such thing ({PROBLEM.label})"


def test_what_was_not_asked_for_on_a_device_is_not_known() -> None:
    first, second = two()
    second = replace(second, records=second.records[:-1])
    for missing, why in (
        ((), f"B: not asked for there ({PROBLEM.label})"),
        ([{}, {"cuda": "no module"}], "B: not installed there"),
    ):
        found = applications([frame(first), frame(second)], missing)
        (cuda,) = (each for each in found if (each.backend, each.variant) == ("cuda", FASTEST))
        assert cuda.of_limit == pytest.approx({"A": 1.0, "B": math.nan}, nan_ok=True)
        assert cuda.of_best == pytest.approx({"A": 1.0, "B": math.nan}, nan_ok=True)
        assert cuda.why == why
        line = next(each for each in portability_table(found).lines if each.cells[0].text == "cuda")
        assert [cell.text for cell in line.cells[3:9]] == ["100.0", "–", "–", "100.0", "–", "–"]
        (backends, *_) = cascades(found)
        assert backends.title.endswith("share of the measured limit")
        assert "nan" not in backends.chart


def test_one_problem_that_fails_is_enough() -> None:
    other = reduction("max")
    first, second = two()
    both = [
        on(n, *run.records[1:], record("opencl", other, 2e-6), record("cuda", other, 2e-6))
        for n, run in (("A", first), ("B", second))
    ]
    found = of(*both)["cuda", FASTEST]
    assert found.problems == 2
    assert found.of_limit["B"] == 0
    assert 0 < found.of_limit["A"] < 1


def test_only_problems_that_every_device_measured_count() -> None:
    first, second = two()
    more = replace(first, records=[*first.records, record("opencl", reduction("max"), 9e-6)])
    assert of(more, second)["opencl", FASTEST].problems == 1


def test_of_several_runs_of_one_device_the_last_counts() -> None:
    first, second = two()
    again = on("A", record("opencl", PROBLEM, 1e-6, variant=FAST))
    found = of(first, second, again)
    assert found["opencl", label(FAST)].of_limit["A"] == pytest.approx(1.0)
    assert set(found["opencl", FASTEST].of_limit) == {"A", "B"}


def test_one_device_has_no_portability() -> None:
    first, _ = two()
    assert of(first) == of(first, first) == {}
    assert cascades([]) == []


def test_without_a_limit_it_is_of_the_fastest() -> None:
    runs = [replace(run, records=run.records[1:]) for run in two()]
    (backends, variants) = cascades(applications(list(map(frame, runs))))
    assert backends.title.endswith("share of the fastest measured")
    assert backends.platforms == (("A", "A"), ("B", "B"))
    assert "one variant on every device" in variants.title


def test_recorded_runs_of_a_gpu_and_a_processor() -> None:
    names = ("h200-quick", "cpu-quick")
    found = applications(list(map(table, names)), [recorded(name).environment["missing"] for name in names])
    told = {(each.kind, each.backend): each for each in found if each.variant == FASTEST}
    opencl, cuda = told["reduction", "opencl"], told["reduction", "cuda"]
    assert set(opencl.of_limit) == {"NVIDIA H200", "pthread-AMD EPYC"}
    assert opencl.why == ""
    reached = list(opencl.of_limit.values())
    assert 0 < min(reached) <= portability(reached) <= max(reached) <= 1
    assert cuda.of_limit["NVIDIA H200"] > 0.8
    assert math.isnan(portability(list(cuda.of_limit.values())))
    assert cuda.why == "pthread-AMD EPYC: not installed there"
    rows = portability_table(found).lines
    assert len(rows) == len(found)


def test_the_page_has_it_where_there_are_several_devices() -> None:
    runs = [recorded("h200-quick"), recorded("cpu-quick")]
    text = page(runs, ["", ""])
    assert text.count('aria-label="Cascade plot of efficiency') == len(
        cascades(applications([table("h200-quick"), table("cpu-quick")]))
    )
    assert tables(text)["across-all"]
    assert 'id="across"' not in page(runs[:1], [""])

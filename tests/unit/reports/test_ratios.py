"""The ratios of a report: which rows are a pair, intervals, verdicts, the headline, against known times."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

import reports
from harness.problems import Empty
from harness.results.record import Case, Record, Samples, Status
from harness.results.runfile import Run
from harness.variants.axes import LaunchVariant
from reports.dataset import frame
from reports.headline import headlines
from reports.ratios import FASTEST_IS_IDENTICAL, comparisons
from reports.tables import ratio_table
from reports.terminal import conclusion
from tests.support.html import Page
from tests.support.report_data import (
    BOTH,
    GPU,
    REDUCTION,
    cpu_run,
    device,
    gpu_run,
    laplace,
    only,
    record,
    reduction,
    row_of,
    run_of,
    with_blocks,
)  # fmt: skip


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


def test_portable_opencl_is_a_side_of_its_own() -> None:
    # Faster than what it is beside: it must not stand for OpenCL.
    portable = replace(REDUCTION, dialect="portable", finish="relaunch")
    run = run_of(
        record("opencl", reduction(), 8e-6),
        record("opencl", reduction(), 4e-6, variant=portable),
        record("cuda", reduction(), 6e-6),
        record("cuda", reduction(), 3e-6, variant=portable),
    )
    found = comparisons(frame(run))
    told = [(each.first, each.second, round(float(row_of(each.pairs)["gross"]), 2)) for each in found]
    assert told == [("OpenCL", "CUDA", 0.75), ("Portable OpenCL", "CUDA", 1.5)]
    assert [len(each.pairs) for each in found] == [1, 1]
    (headline,) = headlines(frame(run), found)
    assert "0.75x" in headline.findings[0]
    assert headline.findings[1].startswith("Portable OpenCL's speed over that of CUDA: 1.50x in")
    assert not any("Portable" in line for line in headline.rest)
    variants = [str(cell).endswith(" portable") for cell in reports.terminal_table(run).columns[-1].cells]
    assert variants == [True, True, False, False], "a row each, the fastest first"


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


def test_pair_of_too_few_samples_is_ambiguous_and_says_why() -> None:
    two = replace(record("opencl", reduction(), 1e-6), clocks={"queue": Samples((1e-6, 1.1e-6))})
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
    assert "interval 1.02 to 1.15" in ratio_table(comparison).lines[0].cells[10].title


def test_each_number_of_a_pair_stands_below_its_heading() -> None:
    opencl = record("opencl", reduction(), 8.55e-6, launch=4.1e-6)
    comparison = only(run_of(opencl, record("cuda", reduction(), 6.26e-6, launch=1.43e-6)))
    table = ratio_table(comparison)
    shown = {name: cell for (name, _), cell in zip(table.headings, table.lines[0].cells, strict=True)}
    told = {name: float(shown[name].text) for name in ("OpenCL us", "CUDA us", "gross", "net")}
    expected = {"OpenCL us": 8.55, "CUDA us": 6.26, "gross": 6.26 / 8.55, "net": 4.83 / 4.45}
    assert told == pytest.approx(expected, abs=0.005)
    assert (shown["verdict"].text, shown["interval"].text) == ("slower", "0.71 to 0.76")
    (summary,) = comparison.summaries()
    assert (summary.gross, summary.net) == pytest.approx((expected["gross"], expected["net"]))


def test_what_slows_both_sides_at_a_time_slows_no_ratio() -> None:
    blocks = [1e-6 * (1 + place / 20) for place in range(9)]
    sides = [with_blocks(record(name, reduction(), 1e-6), *blocks) for name in ("opencl", "cuda")]
    pair = row_of(only(run_of(*sides)).pairs)
    assert (pair["low"], pair["high"]) == pytest.approx((1, 1))


def test_summary_counts_verdicts() -> None:
    run = run_of(
        record("opencl", reduction("min"), 1e-6), record("cuda", reduction("min"), 2e-6),
        record("opencl", reduction("max"), 2e-6), record("cuda", reduction("max"), 1e-6),
        record("opencl", reduction("sum"), 3e-6), record("cuda", reduction("sum"), 1e-6),
    )  # fmt: skip
    comparison = only(run)
    assert comparison.summaries()[0].verdicts == (("faster", 1), ("slower", 2))
    (headline,) = headlines(frame(run), [comparison])
    assert "3 cases: 1 faster, 2 slower" in headline.findings[0]
    assert headline.answer == (
        "In one context: OpenCL is slower in 2 of 3 cases, up to 3.00 times as slow; "
        "OpenCL is faster in 1, up to 2.00 times as fast."
    )
    assert headline.findings[1].startswith("The largest difference is 0.33x (")
    assert headline.findings[1].endswith("in sum int32 2560x2560, hot.")


def test_the_answer_begins_with_the_verdict() -> None:
    def steady(backend: str, op: str, seconds: float) -> Record:
        return with_blocks(record(backend, reduction(op), seconds), *[seconds, seconds * 1.001] * 8)

    ops = ("min", "max", "minmax", "sum")
    pairs = [steady(name, op, 1e-6) for op in ops for name in ("opencl", "cuda")]
    pairs += [steady("opencl", "count_nonzero", 1e-6), steady("cuda", "count_nonzero", 1.1e-6)]
    run = run_of(*pairs)
    (headline,) = headlines(frame(run), comparisons(frame(run)))
    assert (
        headline.answer == "No difference found in 4 of 5 cases; OpenCL is faster in 1, by up to 10.0\xa0%."
    )


def _of_contexts(count: int) -> Run:
    return run_of(
        *(with_blocks(record(each, reduction(), 1e-6), *[1e-6] * count) for each in ("opencl", "cuda"))
    )


@pytest.mark.parametrize(
    ("run", "is_told"),
    [
        (_of_contexts(1), True),
        (_of_contexts(2), False),
        # A processor has one context in a process, and its times are told by process.
        (cpu_run(), False),
    ],
    ids=["one", "two", "processor"],
)
def test_an_answer_that_rests_on_one_context_says_so(run: Run, is_told: bool) -> None:
    (headline,) = headlines(frame(run), comparisons(frame(run)))
    said = "All cases had one context of the device, and no interval holds what another would have drawn"
    assert headline.caveat.startswith(said) == is_told
    assert headline.answer.startswith("In one context: ") == is_told
    assert (said in " ".join(Page(reports.render(run, "harness run quick")).text)) == is_told
    assert (said in " ".join(conclusion(run))) == is_told


def test_what_is_undecided_is_told_last_unless_it_is_the_most() -> None:
    def answer(*last: float) -> str:
        ops = ("min", "max", "sum")
        sides = [with_blocks(record("cuda", reduction(op), 1e-6), 1e-6, 1e-6, 1e-6) for op in ops]
        sides += [
            with_blocks(record("opencl", reduction(op), 1e-6), 1e-6, 1e-6, at)
            for op, at in zip(ops, last, strict=True)
        ]
        run = run_of(*sides)
        (headline,) = headlines(frame(run), comparisons(frame(run)))
        return headline.answer

    assert answer(1e-6, 1e-6, 1.2e-6) == "No difference found in 2 of 3 cases; 1 undecided at 2\xa0%."
    assert answer(1e-6, 1.2e-6, 1.2e-6) == "2 of 3 cases undecided at 2\xa0%; no difference found in 1."


def test_what_would_decide_an_ambiguous_verdict_is_told_everywhere() -> None:
    blocks = [1e-6 * (1 + 0.03 * math.sin(place)) for place in range(20)]
    sides = [with_blocks(record("opencl", reduction(), 1e-6), *blocks)]
    sides.append(with_blocks(record("cuda", reduction(), 1e-6), *reversed(blocks)))
    # Twenty contexts of 0.1 s each, and of 2 s to open each, on both sides.
    sides = [replace(side, provenance={**side.provenance, "wall_seconds": 2.0}) for side in sides]
    empty = Case("opencl", 0, Empty((((8,), (64,)),)), LaunchVariant(), role="control")
    clocks = {"queue": Samples((1e-6,), blocks=(0,))}
    controls = [
        Record(replace(empty, backend=name), "ok", clocks=clocks, provenance={"wall_seconds": 40.0})
        for name in ("opencl", "cuda")
    ]
    run = run_of(*sides, *controls)
    comparison = only(run)
    pair = row_of(comparison.pairs)
    assert pair["verdict"] == "ambiguous"
    assert 1 <= pair["more"] == pytest.approx(pair["more_seconds"] / 4.2)
    cell = ratio_table(comparison).lines[0].cells[9]
    seconds = math.ceil(pair["more_seconds"])
    assert cell.title == f"about {pair['more']} more contexts, some {seconds} s would decide it"
    (headline,) = headlines(frame(run), [comparison])
    assert f"1 ambiguous; {pair['more']} more contexts would decide 1)" in headline.findings[0]
    assert headline.answer == "1 of 1 case undecided at 2\xa0%."
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(reports.terminal_table(run))
    assert f"ambiguous +{pair['more']} " in console.export_text()


def test_at_an_edge_of_the_band_no_number_of_contexts_decides() -> None:
    sides = [with_blocks(record("opencl", reduction(), 1e-6), *[1e-6, 1.001e-6] * 8)]
    sides.append(with_blocks(record("cuda", reduction(), 1e-6), *[1.021e-6, 1.01998e-6] * 8))
    comparison = only(run_of(*sides))
    assert row_of(comparison.pairs)["verdict"] == "ambiguous"
    assert "no number of contexts" in ratio_table(comparison).lines[0].cells[9].title
    assert comparison.summaries()[0].decidable == 0


@pytest.mark.parametrize("contexts", [(1, 1), (1, 8)])
def test_of_one_context_nobody_knows_how_many_more_would_decide(contexts: tuple[int, int]) -> None:
    sides = [
        with_blocks(record(name, reduction(), 1e-6), *([1e-6, 1.03e-6] * 4)[:count])
        for name, count in zip(("opencl", "cuda"), contexts, strict=True)
    ]
    wide = [replace(each, clocks={"queue": _spread(each.clocks["queue"])}) for each in sides]
    comparison = only(run_of(*wide))
    pair = row_of(comparison.pairs)
    assert (pair["verdict"], pair["contexts"], pair["more"]) == ("ambiguous", 1, math.inf)
    assert math.isfinite(pair["low"])
    title = ratio_table(comparison).lines[0].cells[9].title
    assert title.startswith("one context on a side")
    assert comparison.summaries()[0].decidable == 0
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(reports.terminal_table(run_of(*wide)))
    assert re.search("ambiguous(?! [+][0-9])", console.export_text())


def _spread(clock: Samples) -> Samples:
    """The samples, five per cent apart in turn."""
    return replace(
        clock, seconds=tuple(each * (1.05 if at % 2 else 1) for at, each in enumerate(clock.seconds))
    )


@pytest.mark.parametrize("side", ["opencl", "cuda"])
@pytest.mark.parametrize(("launch", "is_told"), [(4.9e-6, True), (5.1e-6, False)])
def test_no_net_ratio_where_launching_is_most_of_a_sides_time(
    side: str, launch: float, is_told: bool
) -> None:
    launches = {"opencl": 1e-6, "cuda": 1e-6, side: launch}
    comparison = only(run_of(*(record(name, reduction(), 10e-6, launch=launches[name]) for name in launches)))
    pair = row_of(comparison.pairs)
    told = [not math.isnan(pair[name]) for name in ("net", "net_low", "net_high")]
    assert told == [is_told] * 3
    assert comparison.summaries()[0].net_count == int(is_told)
    assert (ratio_table(comparison).lines[0].cells[10].text == "–") is not is_told


@pytest.mark.parametrize("status", ["wrong", "failed", "skipped"])
def test_what_is_not_right_has_no_ratio(status: Status) -> None:
    """Though the file tells a time of it."""
    wrong = replace(record("opencl", reduction(), 1e-6), status=status)
    assert comparisons(frame(run_of(wrong, record("cuda", reduction(), 2e-6)))) == []


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
            record("cuda", reduction(), 1e-6),
            clocks={"event": Samples((1e-6,)), "round_trip": Samples((1e-6,))},
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


def test_geometric_mean_by_kind() -> None:
    run = run_of(
        record("opencl", reduction("min"), 1e-6), record("cuda", reduction("min"), 2e-6),
        record("opencl", reduction("max"), 2e-6), record("cuda", reduction("max"), 1e-6),
        record("opencl", laplace(), 1e-6), record("cuda", laplace(), 3e-6),
    )  # fmt: skip
    means = {summary.kind: summary.gross for summary in only(run).summaries()}
    assert means == {"reduction": pytest.approx(1.0), "laplace": pytest.approx(3.0)}


def test_without_cuda_the_reference_stands_in_and_the_page_says_so() -> None:
    run = cpu_run()
    (headline,) = headlines(frame(run), comparisons(frame(run)))
    assert headline.answer.startswith(
        "CUDA has no result on this device, so this is not OpenCL against CUDA."
    )
    assert "Beside the reference numpy: OpenCL is faster in" in headline.answer
    assert "best library" not in reports.render(run, "x")
    assert any("host-bound" in sentence for sentence in headline.rest)


def test_host_bound_and_other_places_are_marked() -> None:
    devices = (device("opencl", physical="cpu"), device("numpy", physical="cpu"))
    run = run_of(
        record("opencl", reduction(), 1e-6),
        record("numpy", reduction(), 2e-6, note="host-bound: no gate", location="host"),
        devices=devices,
    )
    marks = row_of(only(run).pairs)["marks"]
    assert marks == "numpy: host-bound: no gate; the result is on the device against on the host"


def test_gpu_and_processor_are_told_apart() -> None:
    run = gpu_run()
    found = comparisons(frame(run))
    assert [(c.physical, c.first, c.second) for c in found] == [
        (GPU, "OpenCL", "CUDA"), (GPU, "OpenCL", "the best library"), (GPU, "CUDA", "the best library"),
    ]  # fmt: skip
    # The processor, on which the reference alone ran, has no headline beside what is compared.
    assert [headline.physical for headline in headlines(frame(run), found)] == [GPU]
    assert [headline.answer for headline in headlines(frame(run), [])][1:] == [
        "Nothing to compare: numpy alone was measured here."
    ]
    alone = run_of(
        *(record(name, reduction(), 1e-6) for name in ("opencl", "cuda")),
        record("opencv", reduction(), 1e-6),
        devices=(device("opencl"), device("cuda"), device("opencv", physical="cpu")),
    )
    assert len(headlines(frame(alone), comparisons(frame(alone)))) == 2, "a library alone is told"
    both = run_of(
        *(record(name, reduction(), 1e-6) for name in ("numpy", "opencv")),
        devices=(device("numpy", physical="cpu"), device("opencv", physical="cpu")),
    )
    (told,) = headlines(frame(both), [])
    assert told.answer == "Nothing to compare: numpy and opencv alone were measured here."

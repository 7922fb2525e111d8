"""What a page says first: the troubles of a run, means of the same cases, shares of the limit."""

from __future__ import annotations

import re

import reports
from reports.dataset import frame
from reports.headline import headlines
from reports.ratios import comparisons
from tests.support.report_data import device, limit, record, reduction, run_of


def test_the_mean_net_of_launch_stands_beside_the_gross_one_of_the_same_cases() -> None:
    run = run_of(
        # Half of the second is launching, of the first more.
        record("opencl", reduction("min"), 4e-6, launch=3e-6),
        record("cuda", reduction("min"), 2e-6, launch=1e-6),
        record("opencl", reduction("max"), 2e-6, launch=1e-6),
        record("cuda", reduction("max"), 3e-6, launch=1e-6),
    )
    (told,) = headlines(frame(run), comparisons(frame(run)))
    assert (
        "0.87x in hot reductions (2.00x net of launch against 1.50x with it in the 1 where"
        in told.findings[0]
    )
    whole = run_of(*run.records[2:])
    (told,) = headlines(frame(whole), comparisons(frame(whole)))
    assert "1.50x in hot reductions (2.00x net of launch, 1 case: 1 faster)" in told.findings[0]


def test_wrong_results_and_failures_come_before_the_answer() -> None:
    records = [record(name, reduction(op), 1e-6) for name in ("opencl", "cuda") for op in ("min", "max")]
    run = run_of(
        *records,
        record("opencl", reduction("sum"), status="wrong", reason="other"),
        record("cuda", reduction("sum"), status="failed", reason="lost"),
        record("cuda", reduction("mean"), status="failed", reason="lost"),
        record("cuda", reduction("norm_l1"), status="skipped", reason="why"),
    )
    told = "1 case gave a wrong result and 2 cases failed: what is told here is of the others."
    (headline,) = headlines(frame(run), comparisons(frame(run)))
    assert headline.above == (told,)
    page = reports.render(run, "x")
    assert page.index(told) < page.index('class="answer"')
    assert headlines(frame(run_of(*records)), comparisons(frame(run_of(*records))))[0].above == ()


def test_a_share_says_of_how_many_problems_it_is_where_not_of_all() -> None:
    sources = reduction().source_bytes
    run = run_of(
        limit("read", sources, 4e12),
        *(record("cuda", reduction(op), sources / 2e12) for op in ("min", "max")),
        *(record("cupy", reduction(op), sources / 1e12) for op in ("min", "max")),
        record("npp", reduction("min"), sources / 3e12),
        devices=tuple(map(device, ("opencl", "cuda", "cupy", "npp"))),
    )
    (headline,) = headlines(frame(run), comparisons(frame(run)))
    (shares,) = [each for each in (*headline.findings, *headline.rest) if each.startswith("Share")]
    assert re.search(
        r": npp 75.0.% \(\S+ to \S+; 1 of 2 problems\), cuda 50.0.% \([^;]+\) and cupy 25.0.% \([^;]+\)\.",
        shares,
    )

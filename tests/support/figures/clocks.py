"""What is said of the event clock: with the head start and without, on either GPU."""

from __future__ import annotations

import re

from reports.clock_comparison import agreements, mean_table
from tests.support.figures import MAIN, RESULTS, Figure
from tests.support.figures.h100 import H100, RUN
from tests.support.figures.verdicts import BEFORE, OTHER
from tests.support.recorded import FOLDER, OWN, ends, table, where

FORMER = "h100-quick-before"
"""Of the H100, whose OpenCL events are without a head start, as those of BEFORE and OTHER on the H200."""
TRIED = FOLDER / "h100-head-start.txt"


def contradicting(*runs: str) -> list[int]:
    """How many of OpenCL's cases have clocks that contradict each other."""
    apis = ["opencl", "portable opencl"]
    return [len(where(table(run), not_disagreement="", backend=apis)) for run in runs]


def in_none_here() -> list[int]:
    """The same of the H200's run on another host, where the main run has none."""
    here, there = contradicting(MAIN, OTHER)
    assert not here
    return [there]


def events() -> list[float]:
    """By events on the former host: the ratios in the mean by size. Then of one minmax the event clock on
    three hosts, and the queue clock.
    """
    lines = [[cell.text for cell in line.cells] for line in mean_table(agreements(table(BEFORE))).lines]
    means = [float(line[7]) for line in lines if line[1] == "reductions"]
    wanted = {"problem": "minmax int32 2560x2560", "backend": "opencl", "purpose": "compare"}
    of = [where(table(run), **wanted).iloc[0] for run in (OTHER, BEFORE, MAIN)]
    return [*means, *(1e6 * float(row[clock]) for clock in ("event", "queue") for row in of)]


def head_start(api: str) -> list[float]:
    """By an API's events minmax of int32 at 2560x2560: without a head start and with one of 100 us."""
    text = TRIED.read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith(f"{api:<8}minmax int32 2560x2560"))
    without, _, with_one, _ = (float(median) for median in re.findall(r"([\d.]+) \(", line))
    return [without, with_one]


def empties() -> list[float]:
    """An empty kernel by OpenCL's events without a head start, the ends; and with one."""
    text = TRIED.read_text(encoding="utf-8")
    found = re.findall(r"^opencl +empty kernel +([\d.]+) .*?\) +([\d.]+) ", text, re.M)
    return [end for times in zip(*found, strict=True) for end in ends([float(time) for time in times])]


SENTENCES: list[Figure] = [
    (RESULTS, "on the other host in {} of OpenCL's cases, here in none.", in_none_here),
    (
        RESULTS,
        "{:.2f}, {:.2f} and {:.2f} on that of [the run before](../reports/examples/h200-quick-before.jsonl"
        ".xz). OpenCL's of minmax of int32 at 2560x2560 is {:.1f} us on the other host, {:.1f} there and "
        "{:.1f} here, where the queue clock says {:.2f}, {:.2f} and {:.2f}.",
        events,
    ),
    (
        H100,
        "has {} cases of OpenCL whose event clock contradicts the queue clock, this one {}: of a sum",
        lambda: contradicting(FORMER, RUN),
    ),
    (
        H100,
        "takes {:.2f} us by OpenCL's and {:.2f} by CUDA's, with it {:.2f} and {:.2f} (",
        lambda: [time for pair in zip(*map(head_start, OWN), strict=True) for time in pair],
    ),
    (
        "docs/measurement.md",
        "takes {:.2f} to {:.2f} us by OpenCL's events, as the host is, with it {:.2f} to {:.2f} (",
        empties,
    ),
]

ROWS: list[Figure] = []

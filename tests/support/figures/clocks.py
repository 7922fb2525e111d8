"""What is said of the event clock: with the head start and without, on either GPU."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import partial

import numpy as np

from harness.results.record import Case
from tests.support.figures import MAIN, RESULTS, Figure
from tests.support.figures.h100 import H100, RUN
from tests.support.recorded import FOLDER, OWN, are_off, ends, run_of, table, where

FORMER = "h100-quick-before"
"""Of the H100, whose OpenCL events are without a head start."""
INTERRUPTED = "h200-quick-interrupted"
"""Beside another run, and before samples were taken anew."""
TRIED = FOLDER / "h100-head-start.txt"
GATES = FOLDER / "h200-gates.txt"


def contradicting(*runs: str) -> list[int]:
    """How many of OpenCL's cases have clocks that contradict each other."""
    apis = ["opencl", "portable opencl"]
    return [len(where(table(run), not_disagreement="", backend=apis)) for run in runs]


def one_here() -> list[float]:
    """Of the main run one minmax by OpenCL's events and by the queue clock; and so the one case of OpenCL
    whose clocks contradict each other.
    """
    rows = where(table(MAIN), backend="opencl", purpose="compare")
    assert contradicting(MAIN) == [1]
    assert list(where(rows, not_disagreement="")["problem"]) == ["sum int8 2560x2560"]
    found = [where(rows, problem=f"{each} 2560x2560").iloc[0] for each in ("minmax int32", "sum int8")]
    return [1e6 * float(each[clock]) for each in found for clock in ("event", "queue")]


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


def off_their_median(run: str) -> list[int]:
    """The samples of the queue clock where a case has three or more; how many of them are shorter by a fifth
    than their case's median, and how many longer by a quarter.
    """
    found: defaultdict[Case, list[float]] = defaultdict(list)
    for record in run_of(run).records:
        if record.status == "ok" and "queue" in record.clocks:
            found[record.case] += record.clocks["queue"].seconds
    several = [each for each in found.values() if len(each) > 2]
    shares = np.concatenate([np.array(each) / np.median(each) for each in several])
    return [len(shares), int((shares < 0.8).sum()), int((shares > 1.25).sum())]


def taken_anew() -> list[int]:
    """The samples of the main run that were taken anew, and :func:`off_their_median` of the others."""
    clocks = [record.clocks["queue"] for record in run_of(MAIN).records if "queue" in record.clocks]
    return [sum(clock.anew for clock in clocks), *off_their_median(MAIN)]


def slow_gates() -> list[int]:
    """OpenCL's gates that took long to submit, and all; all of CUDA's, none of which did."""
    text = GATES.read_text(encoding="utf-8")
    (all_gates,) = re.findall(r"^gates +(\d+) +(\d+)$", text, re.M)
    (slow,) = re.findall(r"^over the least by .* (\d+) +(\d+)$", text, re.M)
    assert slow[1] == "0"
    return [int(count) for count in (slow[0], *all_gates)]


def contexts_off() -> int:
    """Contexts of our kernels in the interrupted run whose median is as far off that of their case."""
    rows = where(table(INTERRUPTED), purpose="compare", backend=OWN, status="ok")
    medians = [[float(np.median(block)) for block in blocks] for blocks in rows["queue_blocks"]]
    return sum(int(are_off(each).sum()) for each in medians if len(each) > 2)


SENTENCES: list[Figure] = [
    (
        "docs/recorded-runs.md",
        "Of the {} samples of h200-quick-other-host {} are shorter by a fifth than the median of their case, "
        "{} longer by a quarter;",
        partial(off_their_median, "h200-quick-other-host"),
    ),
    (
        "docs/recorded-runs.md",
        "of the {} samples of h200-quick-interrupted {} are shorter by a fifth than the median of their "
        "case, {} longer by a quarter, of the {} of h200-quick-forward {} and {}.",
        lambda: [*off_their_median(INTERRUPTED), *off_their_median("h200-quick-forward")],
    ),
    (
        "docs/measurement.md",
        "on an H200 {} of {} took so long in OpenCL, none of {} in CUDA",
        slow_gates,
    ),
    (
        "docs/recorded-runs.md",
        "so {} contexts of h200-quick-interrupted are off their case by as much. In h200-quick {} were taken "
        "anew, beside {}, of which {} and {} are so far off",
        lambda: [contexts_off(), *taken_anew()],
    ),
    (
        RESULTS,
        "OpenCL's of minmax of int32 at 2560x2560 is {:.1f} us, where the queue clock says {:.2f}. A record "
        "says where its clocks contradict each other: in this run one of OpenCL's does, a sum of int8 at "
        "2560x2560, of {:.1f} us by the only sample of its events and {:.2f} by the queue clock.",
        one_here,
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

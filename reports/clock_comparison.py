"""The same kernel by each clock: what a ratio without its clock is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from harness.results.ratio import speed_ratio
from harness.results.statistics import geometric_mean, usable
from reports import format as write
from reports.dataset import measured
from reports.fairness import Measured
from reports.headline import KINDS
from reports.ratios import LEAST_WORK, SIDES, grouped
from reports.tables import Cell, Line, Table

_SIZE = (
    ("size", "shape of the array; width x height of an image; bytes of a source"),
    ("cache", "hot or cold"),
)
_NET = "the same, each less its empty kernel, where that is at most half of it"
_CLOCKS = (
    ("queue", "gated queue of both"),
    ("queue net", _NET),
    ("event", "each API's own timer"),
    ("event net", _NET),
    ("kernel / event", "CUDA's kernels by CUPTI against OpenCL's event, the nearest that it has"),
    ("kernel / event net", _NET),
)
HEADINGS = (
    ("problem", "operation; for images output, mask and border"),
    ("type", "element type; images with channels"),
    *_SIZE,
    *_CLOCKS,
    ("span", "the largest of these over the smallest"),
    ("variant", "the same on both sides"),
)
MEAN_HEADINGS = (
    ("device", "the hardware"),
    ("problems", "all that were measured of this kind"),
    *_SIZE,
    ("kernels", "how many, each the same on both sides"),
    *_CLOCKS,
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Speed of OpenCL over speed of CUDA for one variant of one problem, by pairs of clocks; NaN where one is
    missing, and of the net ones where launching is most of a side's time (:data:`reports.ratios.LEAST_WORK`).
    ``span`` is the largest over the smallest.
    """

    opencl: Measured
    cuda: Measured
    queue: float
    queue_net: float
    event: float
    event_net: float
    kernel: float
    kernel_net: float

    @property
    def ratios(self) -> tuple[float, ...]:
        """All of them, in the order of the table."""
        return self.queue, self.queue_net, self.event, self.event_net, self.kernel, self.kernel_net

    @property
    def span(self) -> float:
        """NaN where only one clock tells."""
        known = usable(self.ratios)
        return max(known) / min(known) if len(known) > 1 else math.nan


def agreements(table: pd.DataFrame) -> list[Agreement]:
    """One for each variant that OpenCL and CUDA both ran on one device, in the order of measurement."""
    groups = grouped(measured(table), "physical", "problem", "cache", "variant")
    return [found for group in groups for found in _agreement(group)]


def _agreement(group: Sequence[Measured]) -> Iterator[Agreement]:
    sides = [[row for row in group if row["role"] in SIDES[side]] for side in ("OpenCL", "CUDA")]
    if not all(sides):
        return
    # Two platforms may offer the device to OpenCL: the faster stands for it, as in the ratios.
    first, second = (min(side, key=lambda row: row["queue"]) for side in sides)

    def ratio(of_first: str, of_second: str) -> float:
        return speed_ratio(first[of_first], second[of_second])

    def net(of_first: str, bias: str, of_second: str, other_bias: str) -> float:
        clocks = (first[of_first], first[bias]), (second[of_second], second[other_bias])
        if not all(time - launch >= LEAST_WORK * time for time, launch in clocks):
            return math.nan
        return speed_ratio(*(time - launch for time, launch in clocks))

    yield Agreement(
        first,
        second,
        queue=ratio("queue", "queue"),
        queue_net=net("queue", "launch", "queue", "launch"),
        event=ratio("event", "event"),
        event_net=net("event", "launch_event", "event", "launch_event"),
        kernel=ratio("event", "kernel"),
        kernel_net=net("event", "launch_event", "kernel", "launch_kernel"),
    )


def agreement_table(found: list[Agreement]) -> Table:
    """The ratios side by side."""
    return Table(HEADINGS, tuple(map(_line, found)), frozenset(range(4, 11)), {})


def mean_table(found: list[Agreement]) -> Table:
    """Geometric means of the ratios, by device, kind of problem, size (smallest first) and cache state."""
    kinds = list(dict.fromkeys((each.opencl["physical"], each.opencl["kind"]) for each in found))
    groups: dict[tuple[int, str, str], list[Agreement]] = {}
    for each in sorted(found, key=lambda agreement: agreement.opencl["elements"]):
        row = each.opencl
        # Kinds of problem in the order of measurement.
        key = (kinds.index((row["physical"], row["kind"])), row["size"], row["cache"])
        groups.setdefault(key, []).append(each)
    lines = (_mean_line(groups[key]) for key in sorted(groups, key=lambda key: key[0]))
    return Table(MEAN_HEADINGS, tuple(lines), frozenset(range(4, 11)), {})


def _mean_line(found: list[Agreement]) -> Line:
    row = found[0].opencl
    cells = (
        Cell(row["device_name"]),
        Cell(KINDS[row["kind"]]),
        Cell(row["size"], str(row["elements"])),
        Cell(row["cache"]),
        Cell(str(len(found))),
        *(_mean_cell(ratios) for ratios in zip(*(each.ratios for each in found), strict=True)),
    )
    return Line(cells, {})


def _mean_cell(ratios: Sequence[float]) -> Cell:
    known = usable(ratios)
    if not known:
        return _cell(math.nan, "no kernel has this ratio")
    title = f"{len(known)} of {len(ratios)}: {write.ratio(min(known))} to {write.ratio(max(known))}"
    return _cell(geometric_mean(known), title)


def _line(found: Agreement) -> Line:
    row = found.opencl
    sides = (("OpenCL", found.opencl), ("CUDA", found.cuda))
    times = "; ".join(
        f"{side}: {name.replace('_', ' ')} {write.us(of[name])}"
        for side, of in sides
        for name in ("queue", "launch", "event", "launch_event", "kernel", "launch_kernel")
        if math.isfinite(of[name])
    )
    disagree = "; ".join(f"{side}: {of['disagreement']}" for side, of in sides if of["disagreement"])
    title = f"us: {times}" + (f"; clocks disagree: {disagree}" if disagree else "")
    mark = "‡" if disagree else ""
    cells = (
        Cell(row["op"], title=row["problem"], style="wrap"),
        Cell(row["type"]),
        Cell(row["size"], str(row["elements"])),
        Cell(row["cache"]),
        *(_cell(value, title) for value in found.ratios),
        _cell(found.span, title, mark),
        Cell(row["variant"], style="variant"),
    )
    return Line(cells, {})


def _cell(value: float, title: str, mark: str = "") -> Cell:
    return Cell(write.ratio(value) + mark, f"{value:.9g}", title)

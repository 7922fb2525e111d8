"""The controls of a run as a table: what must come out as nothing, and what it came out as."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.results import ratio
from harness.results.launch_correction import Launches, is_control
from harness.results.ratio import BAND, Ratio, Side
from harness.results.record import Record
from harness.results.runfile import Run
from harness.results.statistics import CONFIDENCE, Blocks, by_block
from harness.suites.control_cases import twins
from reports import format as write
from reports.tables import Cell, Line, Table, number_cell

HEADINGS = (
    ("control", "what is measured twice"),
    ("device", ""),
    ("contexts", "in which the one was measured, and the other"),
    ("us", "gated device time a call"),
    ("other us", "the same once more"),
    ("ratio", "the other's time over the one's: 1 but for chance"),
    ("interval", f"{write.percent(CONFIDENCE)} % confidence, by bootstrap"),
    ("verdict", "same or ambiguous, or the run's other verdicts are not to be believed"),
)


ONE_CONTEXT = "one context a side: how much another would differ, its samples do not tell"
"""Why such a control has no verdict."""


@dataclass(frozen=True, slots=True)
class Control:
    """What is measured twice on the device of ``record``: both sides' samples by context, and their ratio."""

    what: str
    record: Record
    first: Blocks
    second: Blocks
    found: Ratio

    @property
    def tells(self) -> bool:
        """Whether it can: samples of one context say nothing of what differs from context to context."""
        return len(self.first) > 1 or len(self.second) > 1

    @property
    def verdict(self) -> str:
        """What the ratio says, ambiguous where it cannot tell."""
        return self.found.verdict if self.tells else "ambiguous"

    @property
    def failed(self) -> bool:
        """Whether the same came out as something else."""
        return self.verdict in ("faster", "slower")


def controls_of(run: Run, band: float = BAND) -> list[Control]:
    """The A/A pairs, and the empty kernels that have contexts of their own: those are compared with the ones
    shared with other cases, as all together level these (:mod:`harness.results.launch_correction`).

    ``band`` is the equivalence band of the verdicts.
    """
    return [*_twins(run, band), *_empties(run, band)]


def control_table(controls: Sequence[Control]) -> Table:
    """A line for each control of a run (:func:`controls_of`)."""
    return Table(HEADINGS, tuple(map(_line, controls)), frozenset((3, 4, 5)), {})


def _twins(run: Run, band: float) -> Iterator[Control]:
    launches = Launches(run.records)
    for pair in twins(run.records):
        if all(record.status == "ok" for record in pair):
            # What the two share of error no ratio of them has.
            first, second = (
                launches.corrected(record.case.device_key, record.clocks.get("queue")).blocks
                for record in pair
            )
            if first and second:
                found = ratio.compare(Side(first), Side(second), band, paired=True)
                yield Control(f"A/A: {pair[0].case.problem.label}", pair[0], first, second, found)


def _empties(run: Run, band: float) -> Iterator[Control]:
    for record in run.records:
        clock = record.clocks.get("queue")
        if not is_control(record.case) or record.status != "ok" or clock is None:
            continue
        shared = {
            block
            for other in run.records
            if other.case.device_key == record.case.device_key and not is_control(other.case)
            for each in other.clocks.values()
            for block in each.blocks
        }
        found = by_block(clock.seconds, clock.blocks)
        beside = [samples for block, samples in found.items() if block in shared]
        alone = [samples for block, samples in found.items() if block not in shared]
        if beside and alone:
            compared = ratio.compare(Side(beside), Side(alone), band)
            yield Control("empty kernel: beside cases, alone", record, beside, alone, compared)


def _line(control: Control) -> Line:
    sides, found = (control.first, control.second), control.found
    mark, why = ("", "") if control.tells else ("†", ONE_CONTEXT)
    cells = (
        Cell(control.what, style="wrap"),
        Cell(write.plain(control.record.case.device_key)),
        Cell(", ".join(str(len(side)) for side in sides)),
        *(number_cell(Side(side).seconds, write.us) for side in sides),
        number_cell(found.value, write.ratio),
        Cell(write.interval(found.interval.low, found.interval.high)),
        Cell(f"{control.verdict}{mark}", title=why, chip=control.verdict),
    )
    return Line(cells, {})

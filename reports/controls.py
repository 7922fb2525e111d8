"""The controls of a run as a table: what must come out as nothing, and what it came out as."""

from __future__ import annotations

from collections.abc import Iterator

from harness.results import ratio
from harness.results.launch_correction import Launches, is_control
from harness.results.ratio import BAND, Side
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


def control_table(run: Run, band: float = BAND) -> Table:
    """A line for each A/A pair, and one for each device whose empty kernel has contexts of its own: those are
    compared with the ones that it shares with other cases, as all together level these
    (:mod:`harness.results.launch_correction`). No lines of a run without controls.

    ``band`` is the equivalence band of the verdicts.
    """
    lines = [*_twins(run, band), *_empties(run, band)]
    return Table(HEADINGS, tuple(lines), frozenset((3, 4, 5)), {})


def _twins(run: Run, band: float) -> Iterator[Line]:
    launches = Launches(run.records)
    for pair in twins(run.records):
        if all(record.status == "ok" for record in pair):
            # What the two share of error no ratio of them has.
            first, second = (
                launches.corrected(record.case.device_key, record.clocks.get("queue")).blocks
                for record in pair
            )
            if first and second:
                yield _line(f"A/A: {pair[0].case.problem.label}", pair[0], first, second, band, paired=True)


def _empties(run: Run, band: float) -> Iterator[Line]:
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
            yield _line("empty kernel: beside cases, alone", record, beside, alone, band)


def _line(
    what: str, record: Record, first: Blocks, second: Blocks, band: float, paired: bool = False
) -> Line:
    sides = Side(first), Side(second)
    found = ratio.compare(*sides, band, paired)
    cells = (
        Cell(what, style="wrap"),
        Cell(write.plain(record.case.device_key)),
        Cell(f"{len(first)}, {len(second)}"),
        *(number_cell(side.seconds, write.us) for side in sides),
        number_cell(found.value, write.ratio),
        Cell(write.interval(found.interval.low, found.interval.high)),
        Cell(found.verdict, chip=found.verdict),
    )
    return Line(cells, {})

"""The end of a run that was measured: what is said of it, and its page."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.cli.mistakes import MistakeError
from harness.cli.options import DEFAULT_BAND, GENERATED
from harness.cli.render import plain_case
from harness.cli.terminal import complain, print_table, say, show_json, show_table
from harness.files import is_full
from harness.results.record import Status
from harness.results.runfile import Run
from harness.results.statistics import CONFIDENCE
from harness.runner.signals import Ended
from reports.compiled import Target
from reports.repeatability import Told, pairs_of

SPARE = ("variant", "of fastest", "interval", "GB/s", "% of limit")
LAST = ("OpenCL is", "ratio")
"""Columns of a run's table that a narrow terminal does without; see
:func:`harness.cli.terminal.print_table`.
"""

_STATUSES: tuple[Status, ...] = ("ok", "skipped", "wrong", "failed")


def conclude(measured: Run, folder: Path, band: float, as_json: bool) -> bool:
    """Shows what was found and where it is, and writes the report; whether cases were measured, none was
    wrong or failed, and the report is there.
    """
    from reports import terminal_table
    from reports.terminal import conclusion

    counts = Counter(record.status for record in measured.records)
    with _stoppable([measured], folder, band):
        if not as_json:
            print_table(terminal_table(measured, band), SPARE, LAST)
        tell = complain if as_json else say
        for sentence in conclusion(measured, band):
            tell(sentence)
        tell(", ".join(f"{counts[status]} {status}" for status in _STATUSES if counts[status]))
        tell(f"run file: {measured.path}")
        page = _page_of([measured], folder, band)
        if as_json:
            about = {"run": str(measured.path), "report": page and str(page), "counts": counts}
            show_json(about | _found(measured, band))
    return _ended_well(counts, page, tell)


def conclude_fleet(measured: Sequence[Run], folder: Path, band: float, as_json: bool) -> bool:
    """Says what was found on each device of a fleet, and writes the report of its runs; whether cases were
    measured, none was wrong or failed, and the report is there.
    """
    from reports.dataset import frame
    from reports.fleet import kinds_of
    from reports.terminal import conclusion

    if not measured:
        complain("error: nothing was measured")
        return False
    tell = complain if as_json else say
    counts = Counter(record.status for run in measured for record in run.records)
    with _stoppable(measured, folder, band):
        kinds = kinds_of(measured, list(map(frame, measured)), band)
        for kind in kinds:
            if not as_json:
                rows = [[cell.text for cell in line.cells] for line in kind.table.lines]
                show_table(kind.title, [heading for heading, _ in kind.table.headings], rows)
            tell(f"{kind.title}: {kind.answer}")
        for run in measured if not kinds else ():
            for sentence in conclusion(run, band):
                tell(sentence)
        for run in measured:
            tell(f"run file: {run.path}")
        tell(", ".join(f"{counts[status]} {status}" for status in _STATUSES if counts[status]))
        page = _page_of(measured, folder, band)
        if as_json:
            runs = [
                {"run": str(run.path), "fleet": run.environment.get("fleet")} | _found(run, band)
                for run in measured
            ]
            show_json({"report": page and str(page), "counts": counts, "runs": runs})
    return _ended_well(counts, page, tell)


def report_of(
    runs: Sequence[Run],
    folder: Path,
    band: float,
    studies: Sequence[str] = (),
    targets: Sequence[Target] = (),
) -> Path:
    """The page of a report, written; what is in its way, or a full disk, is the user's to mend."""
    from reports import write_report
    from reports.pages import RunInTheWay

    try:
        return write_report(runs, folder, band, studies, targets)
    except RunInTheWay as error:
        raise MistakeError(str(error)) from error
    except OSError as error:
        room = "make room, or " if is_full(error) else ""
        raise MistakeError(
            f"{folder}: the page cannot be written: {error.strerror or error}; {room}name another folder by "
            "--report"
        ) from error


def _page_of(runs: Sequence[Run], folder: Path, band: float) -> Path | None:
    """The page of runs that were measured just now; None where it cannot be written, which is told: nothing
    measured depends on it.
    """
    from reports import write_report
    from reports.pages import RunInTheWay

    try:
        return write_report(runs, folder, band)
    except RunInTheWay as error:
        complain(f"error: {error}")
    except OSError as error:
        mend = "make room" if is_full(error) else "mend that"
        complain(
            f"error: the report cannot be written to {folder}: {error.strerror or error}; {mend}, then "
            f"{_later(runs, folder, band)}"
        )
    return None


def _later(runs: Sequence[Run], folder: Path, band: float) -> str:
    """The command that writes the page of runs that were measured."""
    files = [shlex.quote(str(run.path)) for run in runs]
    if len(runs) > 1 and runs[0].path:
        files = [f"{shlex.quote(str(runs[0].path.parent))}/*.jsonl"]
    to = [] if folder == GENERATED else ["--report", shlex.quote(str(folder))]
    by = [] if band == DEFAULT_BAND else ["--band", f"{band:g}"]
    return f"`{' '.join(['harness', 'report', *files, *to, *by])}`"


@contextmanager
def _stoppable(runs: Sequence[Run], folder: Path, band: float) -> Iterator[None]:
    """Around what comes after the last case: who stops it is told that nothing measured is lost."""
    try:
        yield
    except (KeyboardInterrupt, Ended):
        # The terminal may be gone.
        with suppress(OSError):
            is_whole = all(run.is_whole is not False for run in runs)
            kept = "the run is whole" if is_whole else "what was measured is kept"
            complain(f"stopped; {kept}: {_later(runs, folder, band)} writes its page")
        raise


def _ended_well(counts: Counter[Status], page: Path | None, tell: Callable[[str], None]) -> bool:
    """Says where the page is, and what is not as it should be; whether the page is there, cases were
    measured, and none was wrong or failed.
    """
    if page:
        tell(f"report:   {page}")
    if counts["wrong"] or counts["failed"]:
        complain(f"error: {counts['wrong']} wrong and {counts['failed']} failed cases; the report says why")
        return False
    if not counts["ok"]:
        complain("error: nothing was measured; the report says why")
    return bool(counts["ok"]) and page is not None


def _found(measured: Run, band: float) -> dict[str, Any]:
    """The cases and ratios of a run as plain data: seconds, null for what is unknown."""
    from reports.dataset import frame
    from reports.ratios import comparisons

    table = frame(measured)
    return {
        "ratio": "speed of the first side over speed of the second: above 1 the first is faster",
        "band": band,
        "confidence": CONFIDENCE,
        "cases": [
            {
                **plain_case(r.case),
                "status": r.status,
                "reason": r.reason,
                "seconds": seconds if seconds > 0 else None,
            }
            for r, seconds in zip(measured.records, table["queue"], strict=True)
        ],
        "ratios": [
            {
                "device": pair.device_name,
                "problem": pair.problem,
                "cache": pair.cache,
                "first": sides.first,
                "first_backend": pair.first_backend,
                "first_variant": pair.first_variant,
                "first_seconds": pair.first_queue,
                "second": sides.second,
                "second_backend": pair.second_backend,
                "second_variant": pair.second_variant,
                "second_seconds": pair.second_queue,
                **Told.of(pair).to_json(),
                "notes": pair.marks,
            }
            for sides in comparisons(table, band)
            for pair in pairs_of(sides)
        ],
    }

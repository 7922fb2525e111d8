"""Records to tables, charts and one HTML file. Nothing heavy is imported before something is rendered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from harness.results.runfile import Run
    from reports.compiled import Target

__all__ = ["render", "terminal_table", "write_report"]


def render(run: Run, command: str) -> str:
    """One self-contained HTML page of a run. ``command`` is what made the run, as typed."""
    from reports import page

    return page.page([run], [command])


def write_report(
    runs: Sequence[Run],
    output: Path,
    band: float | None = None,
    studies: Sequence[str] = (),
    compiled: Sequence[Target] = (),
) -> Path:
    """Writes the page of ``runs``, a section each, into a file of ``output`` that is named by them, and
    returns its path. Pictures of the runs go beside it as PNG files. ``output/index.html`` becomes the list
    of all pages there, the newest run first.

    Each file is replaced in one step: who reads it meanwhile sees the old page or the new one, never a half.
    A page of other runs with the same name stays: the new one gets a number.

    Args:
        runs: at least one.
        output: the folder; made if it is not there.
        band: equivalence band of the verdicts, as a share of one; :data:`harness.results.ratio.BAND`
        when None.
        studies: those that get a chapter (:data:`reports.studies.STUDIES`), from all runs together.
        compiled: what kernels take of GPUs on which they did not run (:func:`reports.compiled.load`).

    Raises:
        ValueError: if there is no run, a study is unknown, the band is below zero or not finite, or a file of
            the report would take the place of a run file (:class:`reports.pages.RunInTheWay`).
        OSError: if the folder or the file cannot be written.
    """
    from harness.results.ratio import BAND
    from reports import page

    return page.write_page(runs, output, BAND if band is None else band, studies, compiled)


def terminal_table(run: Run, band: float | None = None) -> Table:
    """A run for the terminal: problem, backend, queue time, GB/s, share of limit, ratio, verdict, variant.

    ``band`` as of :func:`write_report`.
    """
    from harness.results.ratio import BAND
    from reports.terminal import terminal_table as table

    return table(run, BAND if band is None else band)

"""Records to tables, charts and one HTML file. Nothing heavy is imported before something is rendered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from harness.runs import Run

__all__ = ["render", "terminal_table", "write_report"]


def render(run: Run, command: str) -> str:
    """One self-contained HTML page of a run. ``command`` is what made the run, as typed."""
    from reports import page

    return page.page([run], [command])


def write_report(runs: Sequence[Run], output: Path) -> Path:
    """Writes the page of ``runs``, a section each, to ``output/index.html`` and returns that path.

    The file is replaced in one step: who reads it meanwhile sees the old page or the new one, never a half.

    Raises:
        ValueError: if there is no run.
        OSError: if the folder or the file cannot be written.
    """
    from reports import page

    return page.write_page(runs, output)


def terminal_table(run: Run) -> Table:
    """A run for the terminal: problem, backend, queue time, GB/s, share of limit, ratio, verdict, variant."""
    from reports.terminal import terminal_table as table

    return table(run)

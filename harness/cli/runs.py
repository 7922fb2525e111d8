"""Run files, as the verbs that read them take them."""

from __future__ import annotations

from pathlib import Path

from harness.cli.terminal import complain
from harness.results.runfile import Run, load_run


def loaded(path: Path) -> Run:
    """A run file's run; what the file lacks is told on stderr.

    Raises:
        ValueError: as :func:`harness.results.runfile.load_run`.
    """
    run = load_run(path)
    for lack in run.lacks:
        complain(f"note: {path}: {lack}")
    return run

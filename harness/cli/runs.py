"""Run files, as the verbs that read them take them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

from harness.cli.terminal import complain
from harness.results.runfile import Run, load_run


def loaded(path: Path, is_own: bool = False) -> Run:
    """A run file's run; what the file lacks is told on stderr.

    Raises:
        ValueError: as :func:`harness.results.runfile.load_run`.
    """
    run = load_run(path, is_own)
    for lack in run.lacks:
        complain(f"note: {path}: {lack}")
    return run


def try_folder(folder: Path) -> None:
    """Makes the report's folder and writes to it: an error should come before hours of measuring.

    Raises:
        ValueError: if no report can be written there.
    """
    from reports.pages import INDEX, require_no_run

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            file.write(b"a byte")
    except OSError as error:
        raise ValueError(
            f"no report can be written to {folder}: {error.strerror}; choose another folder with --report"
        ) from error
    require_no_run(folder / INDEX)

"""The verbs that write what was measured for other programs: export and chart."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.mistakes import user_input
from harness.cli.options import DEFAULT_BAND, Band, RunFile, among, starting
from harness.explain import unknown
from harness.files import is_full, replacing

_FORMATS = ("csv", "parquet", "pytest-benchmark")
"""As :data:`reports.export.FORMATS`, which is not worth importing pandas for whatever is asked."""
_CHARTS = ("ratio",)
_SIDES = ("opencl/cuda", "portable-opencl/cuda", "opencl/library", "cuda/library")
_CACHES = ("hot", "cold")


def export(
    run_file: RunFile,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT|FILE",
            help=f"{', '.join(_FORMATS)}: to standard output; or a file that ends in .csv, .parquet or .json "
            "(pytest-benchmark).",
            autocompletion=starting(lambda: _FORMATS),
        ),
    ],
) -> None:
    """Write a run for other programs: one row a record, times in seconds, bandwidths in bytes a second.

    For pytest-benchmark: the cases that have a time. Parquet needs the extra "parquet".
    """
    from harness.cli.runs import loaded
    from harness.cli.terminal import complain
    from reports.export import FORMATS

    by_ending = dict(FORMATS.values())
    file = None if to in FORMATS else Path(to)
    with user_input():
        if file:
            if file.suffix not in by_ending:
                endings = f"or a file that ends in {', '.join(by_ending)}"
                raise ValueError(f"--to: {unknown('format', to, FORMATS)}; {endings}")
            _require_place(file, run_file)
        write = by_ending[file.suffix] if file else FORMATS[to][1]
        data = write(loaded(run_file))
        if file:
            with _to(file), replacing(file) as part:
                part.write_bytes(data)
    if file:
        complain(f"written: {file}")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def _require_place(to: Path, run_file: Path) -> None:
    """Refuses a file to write that cannot be there, or is the run that is read."""
    if not to.parent.is_dir():
        raise ValueError(f"--to {to}: there is no folder {to.parent}; make it, or name another file")
    if to.is_dir():
        raise ValueError(f"--to {to}: it is a folder; name a file")
    if to.exists() and run_file.exists() and to.samefile(run_file):
        raise ValueError(f"--to {to}: it is the run itself; name another file")


@contextmanager
def _to(file: Path) -> Iterator[None]:
    """Around what writes a file: its errors say what to do.

    Raises:
        ValueError: if it cannot be written.
    """
    try:
        yield
    except OSError as error:
        room = "make room, or " if is_full(error) else ""
        raise ValueError(f"{file}: {error.strerror or error}; {room}name another file") from error


def chart(
    what: Annotated[str, typer.Argument(**among("chart", _CHARTS, "WHAT", ": which chart"))],
    run_file: RunFile,
    to: Annotated[Path, typer.Option("--to", metavar="FILE", help="A file that ends in .svg or .png.")],
    *,
    device: Annotated[
        str, typer.Option(metavar="TEXT", help="Part of the device's name or PCI address.")
    ] = "",
    sides: Annotated[str | None, typer.Option(**among("pair of sides", _SIDES, "A/B"))] = None,
    cache: Annotated[str | None, typer.Option(**among("cache state", _CACHES, "STATE"))] = None,
    band: Band = DEFAULT_BAND,
) -> None:
    """Draw one chart of a run into a file, as for a paper: the first that fits of those that there are."""
    from harness.cli.runs import loaded
    from harness.cli.terminal import complain, say
    from reports.figures import write_ratio_chart

    with user_input():
        _require_place(to, run_file)
        run = loaded(run_file)
        with _to(to):
            drawn, others = write_ratio_chart(run, to, band, device, sides or "", cache or "")
    say(f"{what} chart: {to}: {drawn}")
    for other in others:
        complain(f"note: there is also {other}")

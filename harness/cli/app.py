"""The command ``harness``: its verbs and its end. Nothing heavy is imported before the verb that needs it."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

import typer

import harness
from harness.cli import compiled_view, exporting, machine, measuring, reading, source_view
from harness.cli.mistakes import FAILURE, INTERRUPTED, USAGE, MistakeError
from harness.cli.options import NO_VALUE
from harness.cli.streams import Remembered, remembered, tell_broken, tell_closed

app = typer.Typer(
    name="harness",
    help="Is OpenCL as fast as CUDA here, and how far is each from the device's limit?",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

app.command("run")(measuring.run)
app.command("selftest")(measuring.selftest)
app.command("limits")(measuring.limits)
app.command("report")(reading.report)
app.command("compare")(reading.compare)
app.command("repeat")(reading.repeat)
app.command("export")(exporting.export)
app.command("chart")(exporting.chart)
app.command("devices")(machine.devices)
app.command("list")(machine.list_things)
app.command("source")(source_view.source)
app.command("compile")(compiled_view.compile_kernels)
app.command("doctor")(machine.doctor)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"harness {harness.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            metavar=NO_VALUE,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Is OpenCL as fast as CUDA here, and how far is each from the device's limit?"""


def main() -> None:
    """The entry point. A mistake or a failure is one message on stderr and an exit code, not a traceback.

    Exit codes: 0 all well, 1 a failure or a wrong result, 2 a mistake in what was asked, 3 runs that are not
    comparable, 128 and a signal's number (130 Ctrl-C, 143 SIGTERM, 129 SIGHUP) ended by that.
    """
    if tell_closed():
        sys.exit(FAILURE)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A device's name must not end the command because the locale is ASCII.
            stream.reconfigure(errors="backslashreplace")
    with remembered() as streams:
        code = _outcome(streams)
        is_broken = tell_broken(streams)
    sys.exit(code or FAILURE if is_broken else code)


def _outcome(streams: Mapping[str, Remembered]) -> int:
    """The exit code of what was asked for, done."""
    from harness.runner.signals import ended_by_signals

    try:
        with ended_by_signals():
            app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILURE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        # An error of a full stream cannot be printed there; `tell_broken` prints it on the other one.
        with suppress(OSError):
            if os.environ.get("HARNESS_DEBUG") == "1":
                traceback.print_exc()
            elif not any(error is each for stream in streams.values() for each in stream.errors):
                _explain(error)
        return USAGE if isinstance(error, MistakeError) else FAILURE
    return 0


def _explain(error: Exception) -> None:
    from backends.errors import BackendError
    from harness.cli.terminal import complain
    from harness.results.run_writer import LineUnwritten

    if isinstance(error, (MistakeError, BackendError, LineUnwritten)):
        complain(f"error: {error}")
        return
    hint = "HARNESS_DEBUG=1 shows where; `harness doctor` finds what is broken here"
    complain(f"error: {type(error).__name__}: {error} ({hint})")

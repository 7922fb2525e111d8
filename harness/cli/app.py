"""The command ``harness``. Only the command line: nothing heavy is imported before the verb that needs it."""

from __future__ import annotations

import io
import math
import os
import shlex
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.cli.streams import Remembered
    from harness.devices import DeviceInfo
    from harness.results.comparable import Difference
    from harness.results.runfile import Run
    from harness.runner.session import Plan

app = typer.Typer(
    name="harness",
    help="Is OpenCL as fast as CUDA here, and how far is each from the device's limit?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

GENERATED = Path("reports/generated")
"""Where runs and reports go unless told otherwise, below the current folder."""

_FAILURE, _USAGE, _NOT_COMPARABLE, _INTERRUPTED = 1, 2, 3, 130

_DEVICE_HELP = "Only devices of this key (opencl:0), kind, PCI address or part of a name; repeatable."

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Backends = Annotated[
    list[str] | None, typer.Option("--backend", metavar="NAME", help="Only this backend; repeatable.")
]
Devices = Annotated[list[str] | None, typer.Option("--device", metavar="TEXT", help=_DEVICE_HELP)]
DEFAULT_BAND = 0.02
"""As :data:`harness.results.ratio.BAND`, which is not worth importing NumPy for whatever is asked."""
Band = Annotated[float, typer.Option(help="Ratios within 1 +- this are the same speed.")]
Force = Annotated[bool, typer.Option("--force", help="Compare even where the machines differ.")]
ReportFolder = Annotated[Path, typer.Option(metavar="DIR", help="Where the report goes.", file_okay=False)]


MOST_SAMPLES, MOST_SECONDS = 1_000_000, 7 * 24 * 3600
"""As in :mod:`harness.suites.schema`, likewise."""


def _number(value: float | None) -> float | None:
    """A number of seconds: NaN is within every range."""
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is no number")
    return value


class MistakeError(Exception):
    """Something asked for that there is not, or that is not valid: the user's to mend. Exit code 2."""


@contextmanager
def _asked() -> Iterator[None]:
    """Around what checks the user's words and files: its errors are mistakes, not failures."""
    try:
        yield
    except ValueError as error:
        raise MistakeError(str(error)) from error
    except OSError as error:
        named = error.filename is not None and error.strerror
        raise MistakeError(f"{error.filename}: {error.strerror}" if named else str(error)) from error


class Listed(StrEnum):
    """What ``harness list`` can list."""

    PROBLEMS = "problems"
    VARIANTS = "variants"
    SUITES = "suites"
    BACKENDS = "backends"


class FailOn(StrEnum):
    """What ``harness compare`` can fail on: a verdict, or a case that only run A measured."""

    SLOWER = "slower"
    FASTER = "faster"
    AMBIGUOUS = "ambiguous"
    LOST = "lost"


@app.command("devices")
def show_devices(as_json: Json = False) -> None:
    """Show the devices found here, and what is missing for which backend and how to get it."""
    from dataclasses import asdict

    from harness.cli.terminal import say, show_json, show_table
    from harness.runner.session import discover

    devices, missing = discover()
    if as_json:
        show_json({"devices": [{"key": d.key, **asdict(d)} for d in devices], "missing": missing})
        return
    columns = ("key", "device", "platform", "driver", "kind", "compute units", "memory GB", "physical")
    show_table("Devices", columns, map(_device_row, devices))
    for reason in missing.values():
        say(f"not available: {reason}")


def _device_row(d: DeviceInfo) -> tuple[object, ...]:
    memory = f"{d.memory_bytes / 1e9:.1f}"
    return (d.key, d.name, d.platform, d.driver, d.kind, d.compute_units, memory, d.physical)


@app.command("list")
def list_things(
    what: Annotated[Listed | None, typer.Argument(help="Everything when left out.")] = None,
    as_json: Json = False,
) -> None:
    """List the problems, variants (axes and ladders), suites and backends there are."""
    from harness.cli import listing
    from harness.cli.terminal import show_json, show_table

    chosen = [what] if what else list(Listed)
    contents = {entry.value: listing.CONTENTS[entry.value]() for entry in chosen}
    if as_json:
        show_json(contents)
        return
    for title, rows in contents.items():
        show_table(
            title.capitalize(), list(rows[0]), ([listing.text(v) for v in row.values()] for row in rows)
        )


@app.command()
def run(
    context: typer.Context,
    suite: Annotated[str, typer.Argument(help="A suite's name, or the path of a TOML file.")] = "quick",
    *,
    backend: Backends = None,
    device: Devices = None,
    output: Annotated[Path | None, typer.Option(help="The run file to write.", dir_okay=False)] = None,
    report: ReportFolder = GENERATED,
    image: Annotated[Path | None, typer.Option(metavar="FILE", help="A photograph for the filter.")] = None,
    samples: Annotated[
        int | None, typer.Option(min=3, max=MOST_SAMPLES, help="Samples a case, in place of the suite's.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the random data.")] = 1,
    processes: Annotated[
        int | None, typer.Option(min=1, max=99, help="Fresh processes a case, in place of the suite's.")
    ] = None,
    contexts: Annotated[
        int | None, typer.Option(min=1, max=99, help="Fresh contexts of a GPU a process, likewise.")
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            min=1,
            max=MOST_SECONDS,
            callback=_number,
            metavar="SECONDS",
            help="Time to measure all cases in, in place of the suite's a case.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the cases and skip reasons.")] = False,
    resume: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Go on with a run that was ended.")
    ] = None,
) -> None:
    """Measure a suite on this machine's devices, print a table and write the run file and the report."""
    from harness.cli import render
    from harness.cli.terminal import complain
    from harness.runner.session import Request, gone_since, plan_resumed, plan_run

    request = Request(
        suite=suite,
        backends=tuple(backend or ()),
        devices=tuple(device or ()),
        image=str(image) if image else None,
        samples=samples,
        seed=seed,
        processes=processes,
        contexts=contexts,
        budget=budget,
    )
    with _asked():
        others = _typed(context) - {"--resume", "--report", "--dry-run"}
        if resume and others:
            raise ValueError(
                "a resumed run keeps its suite, options and file; give nothing else with --resume: "
                f"no {', '.join(sorted(others))}"
            )
        plan = plan_resumed(resume) if resume else plan_run(request)
    render.announce(plan)
    if dry_run:
        render.show_cases(plan)
        return
    path = resume or output or _new_path(plan.suite.name)
    for gone in gone_since(path.parent, plan):
        complain(f"warning: {gone}")
    with _asked():
        _try_folder(report)
    measured = _measured(plan, path, resuming=resume is not None)
    if not render.conclude(measured, report):
        raise typer.Exit(_FAILURE)


def _typed(context: typer.Context) -> set[str]:
    """The arguments that were given, a default's value too: options by their long names."""
    return {
        parameter.opts[0] if parameter.param_type_name == "option" else parameter.opts[0].upper()
        for parameter in context.command.params
        if (source := context.get_parameter_source(str(parameter.name))) and source.name == "COMMANDLINE"
    }


def _try_folder(folder: Path) -> None:
    """Makes the report's folder and writes to it, before hours of measuring that it is to tell of."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            file.write(b"a byte")
    except OSError as error:
        raise ValueError(
            f"no report can be written to {folder}: {error.strerror}; choose another folder with --report"
        ) from error


def _new_path(suite: str) -> Path:
    return GENERATED / f"{suite}-{datetime.now():%Y%m%d-%H%M%S}.jsonl"


def _measured(plan: Plan, path: Path, resuming: bool) -> Run:
    from harness.cli.terminal import Watcher, complain
    from harness.runner import session
    from harness.runner.device_lock import DeviceBusy, LockUnusable
    from harness.runner.signals import Ended

    try:
        with Watcher() as watcher:
            if resuming:
                return session.resume(plan, path, watcher)
            return session.measure(plan, path, shlex.join(["harness", *sys.argv[1:]]), watcher)
    except (FileExistsError, DeviceBusy, LockUnusable) as error:
        raise MistakeError(str(error)) from error
    except (KeyboardInterrupt, Ended):
        if path.exists():
            # Of a terminal that is gone nobody reads it.
            with suppress(OSError):
                complain(f"stopped; `harness run --resume {shlex.quote(str(path))}` goes on")
        raise


@app.command()
def selftest(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN]...", help="Recorded runs to split into halves, in place of measuring."),
    ] = None,
    *,
    comparisons: Annotated[
        int, typer.Option(min=1, max=MOST_SAMPLES, help="At least so many a device.")
    ] = 200,
    processes: Annotated[
        int | None, typer.Option(min=1, max=99, help="Fresh processes a comparison: 5 where not given.")
    ] = None,
    backend: Backends = None,
    device: Devices = None,
    as_json: Json = False,
) -> None:
    """Compare every device with itself, many times; exit code 1 if too often a difference is found."""
    from harness.cli import render
    from harness.cli.terminal import complain
    from harness.runner.device_lock import DeviceBusy, LockUnusable
    from harness.runner.session import self_tests, self_tests_of

    with _asked():
        if runs and (backend or device or processes):
            raise ValueError("of recorded runs everything is compared; give only --comparisons with them")
        if runs:
            tests = self_tests_of(runs, comparisons)
        else:
            tests = self_tests(backend or (), device or (), comparisons, processes, complain)
    try:
        passed = render.show_selftest(tests, as_json)
    except (DeviceBusy, LockUnusable) as error:
        raise MistakeError(str(error)) from error
    if not passed:
        raise typer.Exit(_FAILURE)


@app.command("report")
def write_reports(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run or pytest-benchmark JSON files.")],
    output: ReportFolder = GENERATED,
    band: Band = DEFAULT_BAND,
) -> None:
    """Write the HTML report of one or more runs."""
    from harness.cli.terminal import say
    from harness.results.ratio import check_band
    from harness.results.runfile import load_run
    from reports import write_report

    with _asked():
        check_band(band)
        loaded = [load_run(path) for path in runs]
        output.mkdir(parents=True, exist_ok=True)
    say(f"report: {write_report(loaded, output, band)}")


@app.command("compare")
def compare_runs(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="The run to compare with.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="The run that is judged.")],
    *,
    band: Band = DEFAULT_BAND,
    fail_on: Annotated[
        list[FailOn] | None, typer.Option(help="Exit with 1 if a case has this verdict; repeatable.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Compare the cases of two runs: speed of B over A, interval and verdict.

    Exit codes: 0 fine, 1 a --fail-on verdict, 2 a file that cannot be read or shares no case, 3 environments
    that differ in what matters.
    """
    from harness.cli.render import show_comparison
    from harness.cli.terminal import show_json
    from harness.results.compare import compare
    from harness.results.runfile import load_run

    with _asked():
        found = compare(load_run(run_a), load_run(run_b), band)
    _refuse_other_machines(found.differences, force)
    if as_json:
        show_json(found.to_json())
    else:
        show_comparison(found)
    if any(found.counts[word] for word in fail_on or ()):
        raise typer.Exit(_FAILURE)


def _refuse_other_machines(differences: Sequence[Difference], force: bool) -> None:
    """Says what differs between the machines of two runs, and ends with exit code 3 if it matters: a ratio
    then says as much of the machines as of the cases.
    """
    from harness.cli.render import tell_differences
    from harness.cli.terminal import complain

    tell_differences(differences)
    if any(difference.matters for difference in differences) and not force:
        complain("error: these runs are not comparable; --force compares them all the same")
        raise typer.Exit(_NOT_COMPARABLE)


@app.command("repeat")
def compare_verdicts(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="A run.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="The same suite once more.")],
    *,
    band: Band = DEFAULT_BAND,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Compare what two runs tell: how many verdicts on OpenCL against CUDA, and each library, are the same.

    Exit codes: 0 fine, 1 fewer than 95 % are, 2 a file that cannot be read or shares no ratio, 3 environments
    that differ in what matters.
    """
    from harness.cli.render import show_repeated
    from harness.results.compare import machine_differences
    from harness.results.runfile import load_run
    from reports.repeatability import repeated

    with _asked():
        a, b = load_run(run_a), load_run(run_b)
        _refuse_other_machines(machine_differences(a, b), force)
        found = repeated(a, b, band)
    if not show_repeated(found, as_json):
        raise typer.Exit(_FAILURE)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Find what is broken here, and say what to do about it; exit code 1 if something is."""
    from dataclasses import asdict

    from harness.cli.doctor import examine
    from harness.cli.terminal import show_json, show_table

    findings = list(examine())
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        rows = ((f.status, f.subject, f.detail, f.remedy) for f in findings)
        show_table("Findings", ("status", "subject", "what", "what to do"), rows)
    if any(finding.status == "broken" for finding in findings):
        raise typer.Exit(_FAILURE)


def main() -> None:
    """The entry point. A mistake or a failure is one message on stderr and an exit code, not a traceback.

    Exit codes: 0 all well, 1 a failure or a wrong result, 2 a mistake in what was asked, 3 runs that are not
    comparable, 128 and a signal's number (130 Ctrl-C, 143 SIGTERM, 129 SIGHUP) ended by that.
    """
    from harness.cli.streams import remembered, tell_broken, tell_closed

    if tell_closed():
        sys.exit(_FAILURE)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A device's name must not end the command because the locale is ASCII.
            stream.reconfigure(errors="backslashreplace")
    with remembered() as streams:
        code = _outcome(streams)
        is_broken = tell_broken(streams)
    sys.exit(code or _FAILURE if is_broken else code)


def _outcome(streams: Mapping[str, Remembered]) -> int:
    """The exit code of what was asked for, done."""
    from harness.runner.signals import ended_by_signals

    try:
        with ended_by_signals():
            app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else _FAILURE
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        # What cannot be told on a stream that is full, the stream remembers: that is told in its place.
        with suppress(OSError):
            if os.environ.get("HARNESS_DEBUG") == "1":
                traceback.print_exc()
            elif not any(error is stream.error for stream in streams.values()):
                _explain(error)
        return _USAGE if isinstance(error, MistakeError) else _FAILURE
    return 0


def _explain(error: Exception) -> None:
    from backends.errors import BackendError
    from harness.cli.terminal import complain

    if isinstance(error, (MistakeError, BackendError)):
        complain(f"error: {error}")
        return
    hint = "HARNESS_DEBUG=1 shows where; `harness doctor` finds what is broken here"
    complain(f"error: {type(error).__name__}: {error} ({hint})")

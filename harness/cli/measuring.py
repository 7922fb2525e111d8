"""The verbs that measure: run, selftest and limits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.mistakes import FAILURE, MistakeError, user_input
from harness.cli.options import (
    DEFAULT_BAND,
    GENERATED,
    MOST_SAMPLES,
    NO_VALUE,
    Backends,
    Band,
    Devices,
    Json,
    ReportFolder,
)


def run(
    context: typer.Context,
    suite: options.Suite = "quick",
    *,
    op: options.Ops = None,
    laplace: options.Laplaces = None,
    dtype: options.Dtypes = None,
    shape: options.Shapes = None,
    border: options.Borders = None,
    output: options.Outputs = None,
    channels: options.Channels = None,
    cache: options.Caches = None,
    variant: options.Variants = None,
    image: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A photograph for the Laplace filter.")
    ] = None,
    backend: Backends = None,
    device: Devices = None,
    run_file: options.NewRun = None,
    report: ReportFolder = GENERATED,
    band: Band = DEFAULT_BAND,
    samples: Annotated[
        int | None,
        typer.Option(**options.number(int, 3, MOST_SAMPLES), help="Samples a case, in place of the suite's."),
    ] = None,
    seed: Annotated[
        int, typer.Option(**options.number(int, 0, 2**63 - 1), help="Seed of the random data.")
    ] = 1,
    processes: Annotated[
        int | None,
        typer.Option(
            **options.number(int, 1, 99),
            help="Fresh processes a case, in place of the suite's: no more, no less.",
        ),
    ] = None,
    contexts: Annotated[
        int | None,
        typer.Option(**options.number(int, 1, 99), help="Fresh contexts of a GPU a process, likewise."),
    ] = None,
    budget: options.Budget = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar=NO_VALUE, help="Only list the cases and skip reasons.")
    ] = False,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Go on with a run that was interrupted; of a fleet, its folder."),
    ] = None,
    scheduler: options.Scheduler = None,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    wait: options.Wait = None,
    as_json: Json = False,
) -> None:
    """Measure a suite, or the problems named by options, on the devices of this machine, or of many.

    Prints a table, and writes the run file and the report. Without a suite: harness run --op sum --dtype
    float32 --shape 3000x2000, or harness run --laplace four --image photo.jpg. Of a backend that has a GPU,
    processors are measured only if --device names them.
    """
    from harness.cli import conclusion, render
    from harness.cli.progress import measure
    from harness.cli.runs import try_folder
    from harness.cli.terminal import complain
    from harness.results.runfile import load_run
    from harness.runner.plan import Request
    from harness.runner.planning import gone_since, plan_resumed, plan_run
    from harness.suites.adhoc import Problems

    problems = Problems(
        op=tuple(op or ()),
        laplace=tuple(laplace or ()),
        dtype=tuple(dtype or ()),
        shape=tuple(shape or ()),
        border=tuple(border or ()),
        output=tuple(output or ()),
        channels=tuple(channels or ()),
        cache=tuple(cache or ()),
        variant=tuple(variant or ()),
    )
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
        band=band,
    )
    with user_input():
        typed = _typed(context)
        others = typed - {"--resume", "--report", "--band", "--dry-run", "--json", *_OF_FLEETS}
        if resume and others:
            raise ValueError(
                "a resumed run keeps its suite, options and file; give nothing else with --resume: "
                f"no {', '.join(sorted(others))}"
            )
        if problems.given and "SUITE" in typed:
            raise ValueError(
                f"the suite {suite} and {', '.join(problems.given)}: give a suite, or problems in its place"
            )
        asked = request.of_problems(problems) if problems.given else request
        is_fleet = _is_fleet(typed, resume)
        if is_fleet:
            try_folder(report)
    if is_fleet:
        from harness.cli.fleet import Where, run_fleet

        where = Where(scheduler, cluster, workers, wait)
        if not run_fleet(where, asked, resume, run_file, report, band, as_json):
            raise typer.Exit(FAILURE)
        return
    with user_input():
        plan = plan_resumed(resume) if resume else plan_run(asked)
    render.announce(plan)
    if dry_run:
        recorded = {record.case for record in load_run(resume).records} if resume else set()
        render.show_cases(plan, as_json, recorded)
        return
    path = resume or run_file or options.new_run(plan.suite.name)
    for gone in gone_since(path.parent, plan):
        complain(f"warning: {gone}")
    with user_input():
        try_folder(report)
    measured = measure(plan, path, resuming=resume is not None)
    if not conclusion.conclude(measured, report, band, as_json):
        raise typer.Exit(FAILURE)


_OF_FLEETS = {"--scheduler", "--cluster", "--workers", "--wait"}


def _is_fleet(typed: set[str], resume: Path | None) -> bool:
    """Whether the run is one on a cluster's workers.

    Raises:
        ValueError: if what was typed fits neither that nor a run on this machine.
    """
    is_fleet = bool(typed & {"--scheduler", "--cluster"})
    if {"--scheduler", "--cluster"} <= typed:
        raise ValueError("--scheduler and --cluster: give the address of a scheduler, or a cluster to make")
    if not is_fleet and (others := typed & _OF_FLEETS):
        raise ValueError(f"{', '.join(sorted(others))}: of a fleet only; give --scheduler or --cluster")
    if is_fleet and "--dry-run" in typed:
        raise ValueError("--dry-run lists the cases of this machine; leave --scheduler and --cluster out")
    if resume and resume.is_dir():
        from harness.fleet import folder

        if not folder.is_fleet(resume):
            raise ValueError(
                f"{resume} is a folder without a fleet's run, which has {folder.NAME}; "
                "give the file of a run, or the folder of a fleet's"
            )
    if resume and resume.is_dir() != is_fleet:
        what = (
            "the folder of a fleet: add --scheduler or --cluster"
            if resume.is_dir()
            else ("the run of one machine: leave --scheduler and --cluster out")
        )
        raise ValueError(f"{resume} is {what}")
    return is_fleet


def _typed(context: typer.Context) -> set[str]:
    """The arguments that the user typed, even if equal to the default: options by their long names."""
    return {
        parameter.opts[0] if parameter.param_type_name == "option" else parameter.opts[0].upper()
        for parameter in context.command.params
        if (source := context.get_parameter_source(str(parameter.name))) and source.name == "COMMANDLINE"
    }


def selftest(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN", help="Recorded runs to split into halves, in place of measuring."),
    ] = None,
    *,
    comparisons: Annotated[
        int, typer.Option(**options.number(int, 1, MOST_SAMPLES), help="At least so many a device.")
    ] = 200,
    processes: Annotated[
        int | None,
        typer.Option(**options.number(int, 1, 99), help="Fresh processes a comparison: 5 where not given."),
    ] = None,
    backend: Backends = None,
    device: Devices = None,
    as_json: Json = False,
) -> None:
    """Compare every device with itself, many times; exit code 1 if too often a difference is found."""
    from harness.cli import render
    from harness.cli.runs import loaded
    from harness.cli.terminal import complain
    from harness.runner.device_lock import DeviceBusy, LockUnusable
    from harness.runner.session import self_tests, self_tests_of

    with user_input():
        if runs and (backend or device or processes):
            raise ValueError("of recorded runs everything is compared; give only --comparisons with them")
        if runs:
            tests = self_tests_of([loaded(path) for path in runs], comparisons)
        else:
            tests = self_tests(backend or (), device or (), comparisons, processes, complain)
    try:
        passed = render.show_selftest(tests, as_json)
    except (DeviceBusy, LockUnusable) as error:
        raise MistakeError(str(error)) from error
    if not passed:
        raise typer.Exit(FAILURE)


def limits(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN", help="Recorded runs to show, in place of measuring."),
    ] = None,
    *,
    backend: Backends = None,
    device: Devices = None,
    run_file: options.NewRun = None,
    budget: options.Budget = None,
    as_json: Json = False,
) -> None:
    """Measure how fast the devices read and copy at best, by size and state of the cache.

    Everything is measured anew, and the next runs take these as their limits' candidates.
    """
    from harness.cli import render
    from harness.cli.progress import measure
    from harness.cli.runs import loaded
    from harness.runner.plan import Request
    from harness.runner.planning import plan_run

    with user_input():
        if runs and (backend or device or run_file or budget):
            raise ValueError("what recorded runs hold is shown; give nothing but --json with them")
        found = [loaded(path) for path in runs or ()]
        asked = Request("limits", tuple(backend or ()), tuple(device or ()), budget=budget)
        plan = None if runs else plan_run(asked)
    if plan:
        render.announce(plan)
        found = [measure(plan, run_file or options.new_run("limits"), resuming=False)]
    if not render.show_limits(found, as_json):
        raise typer.Exit(FAILURE)

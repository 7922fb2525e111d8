"""The verbs that read what was measured: report, compare, repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.mistakes import FAILURE, one_of, user_input
from harness.cli.options import DEFAULT_BAND, GENERATED, Band, Force, Json, ReportFolder, among, starting

_STUDIES = ("yan2011", "pcl", "jia2012")
"""As :data:`reports.studies.STUDIES`, which is not worth importing pandas for whatever is asked."""
_EVERY = "all"
_FAIL_ON = ("slower", "faster", "ambiguous", "lost")


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run or pytest-benchmark JSON files.")],
    folder: ReportFolder = GENERATED,
    band: Band = DEFAULT_BAND,
    study: Annotated[
        list[str] | None,
        typer.Option(**among("study", (*_STUDIES, _EVERY), "NAME", ": adds its chapter; repeatable")),
    ] = None,
    compiled: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="What `harness compile --json` printed: shown as compiled, not run; repeatable.",
        ),
    ] = None,
) -> None:
    """Write the HTML report of one or more runs.

    With --study the figures and tables of a published study are redone from all of the runs together.
    """
    from harness.cli.conclusion import report_of
    from harness.cli.runs import loaded, try_folder
    from harness.cli.terminal import say
    from reports.compiled import load as load_compiled

    with user_input():
        found = [loaded(path) for path in runs]
        targets = [target for path in compiled or () for target in load_compiled(path)]
        try_folder(folder)
    studies = _STUDIES if _EVERY in (study or ()) else study
    say(f"report: {report_of(found, folder, band, studies or (), targets)}")


def compare(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="The run to compare with.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="The run that is judged.")],
    *,
    band: Band = DEFAULT_BAND,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="|".join(_FAIL_ON),
            help="Exit with 1 if a case has this verdict, or is lost: only A measured it; repeatable.",
            callback=one_of("verdict", _FAIL_ON),
            autocompletion=starting(lambda: _FAIL_ON),
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Compare the cases of two runs: speed of B over A, interval and verdict.

    Exit codes: 0 fine, 1 a --fail-on verdict, 2 a file that cannot be read or shares no case, 3 environments
    that differ in what matters.
    """
    from harness.cli.render import refuse_other_machines, show_comparison
    from harness.cli.runs import loaded
    from harness.cli.terminal import show_json
    from harness.results import compare as runs

    with user_input():
        found = runs.compare(loaded(run_a), loaded(run_b), band)
    refuse_other_machines(found.differences, force)
    if as_json:
        show_json(found.to_json())
    else:
        show_comparison(found)
    if any(found.counts[word] for word in fail_on or ()):
        raise typer.Exit(FAILURE)


def repeat(
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
    from harness.cli.render import refuse_other_machines, show_repeated
    from harness.cli.runs import loaded
    from harness.results.compare import machine_differences
    from reports.repeatability import repeated

    with user_input():
        a, b = loaded(run_a), loaded(run_b)
        refuse_other_machines(machine_differences(a, b), force)
        found = repeated(a, b, band)
    if not show_repeated(found, as_json):
        raise typer.Exit(FAILURE)

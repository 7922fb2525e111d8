"""The verb that compiles the kernels for a GPU that need not be here, and shows what they take of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.mistakes import FAILURE, user_input
from harness.cli.options import NO_VALUE, number

if TYPE_CHECKING:
    from harness.kernels.targets import Case, Target

COMPILERS = {"cl": "backends.opencl.clang", "cu": "backends.cuda.resources"}
"""By the language of the kernels, the module that compiles them, which is loaded when it is needed."""
_COLUMNS = (
    *("problem", "variant", "kernel", "registers", "scalar", "spills", "scalar spills"),
    *("stack bytes", "local bytes", "waves/SIMD"),
)
_FIELDS = (
    *("problem", "variant", "kernel", "registers", "scalar_registers", "spills", "scalar_spills"),
    *("stack_bytes", "local_bytes", "waves"),
)


def compile_kernels(
    target: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="As in gfx942 or sm_90; repeatable. A wrong one lists all."),
    ],
    problem: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROBLEM", help="As in minmax int32; all that differ if left out."),
    ] = None,
    wave: Annotated[
        int, typer.Option(**number(int, 0), help="Sub-groups (waves) of 32 or 64 only, on AMD's GPUs.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", metavar=NO_VALUE, help="Print JSON.")] = False,
) -> None:
    """Compile every default and rung for a GPU that need not be here, and run nothing."""
    from harness.cli.terminal import show_json
    from harness.kernels.targets import cases, targets
    from harness.kernels.view import problem_from_text

    with user_input():
        asked = problem_from_text(" ".join(problem)) if problem else None
        chosen = [each for name in dict.fromkeys(target) for each in targets(name, wave)]
    found = [compiled(each, cases(each.device, asked)) for each in chosen]
    if as_json:
        show_json({"targets": found})
    else:
        for each in found:
            _show(each)
    if any("error" in row for each in found for row in each["kernels"]):
        raise typer.Exit(FAILURE)


def compiled(target: Target, cases: Sequence[Case]) -> dict[str, Any]:
    """What the compiler of a target says of these cases: a row a kernel, or why there is none.

    Raises:
        BackendUnavailable: if the compiler is not installed.
    """
    from importlib import import_module

    from backends.errors import BuildError
    from harness.kernels.planner import plan
    from harness.kernels.source import assemble

    compiler = import_module(COMPILERS[target.language])
    version: str = compiler.version()

    def rows(case: Case) -> list[dict[str, Any]]:
        made = plan(case.problem, case.variant, target.device)
        launches = {launch.kernel: launch for launch in made.launches}
        named = {"problem": case.problem.label, "variant": case.name}
        try:
            found = compiler.resources(assemble(target.language, made.files, made.macros), target, launches)
        except BuildError as error:
            said = f"{error.args[0]}: {_first(error.log)}"
            return [{**named, "kernel": ", ".join(launches), "error": said}]
        return [{**named, **asdict(each)} for each in found]

    # Compilers are processes of their own, or let others run.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        kernels = [row for of_case in pool.map(rows, cases) for row in of_case]
    return {"target": target.architecture, "wave": target.wave, "compiler": version, "kernels": kernels}


def _first(log: str) -> str:
    """The first line of a log that tells an error, or its first."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line), lines[0] if lines else "no more is said")


def _show(found: dict[str, Any]) -> None:
    from harness.cli.terminal import complain, say, show_table

    title = f"{found['target']}, waves of {found['wave']}: compiled by {found['compiler']}, not run"
    kernels = [row for row in found["kernels"] if "error" not in row]
    show_table(title, _COLUMNS, map(_cells, kernels))
    spilling = [row for row in kernels if row["spills"]]
    say(f"{len(kernels)} kernels, {len(spilling)} with spills")
    for row in found["kernels"]:
        if "error" in row:
            complain(f"{row['problem']}, {row['variant']}: {row['error']}")


def _cells(row: dict[str, Any]) -> list[object]:
    return ["-" if row[name] is None else row[name] for name in _FIELDS]

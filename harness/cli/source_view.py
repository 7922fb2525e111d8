"""The verb that shows what a compiler sees of a kernel, and what CUDA's compiler makes of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from harness.cli.mistakes import MistakeError, user_input
from harness.cli.options import NO_VALUE
from harness.kernels.source import Dialect


class _Dialect(StrEnum):
    CL = "cl"
    CU = "cu"


class _Kind(StrEnum):
    GPU = "gpu"
    CPU = "cpu"


def source(
    problem: Annotated[
        list[str],
        typer.Argument(metavar="PROBLEM", help="As in minmax int32 2560x2560, or laplace four uint8."),
    ],
    dialect: Annotated[_Dialect, typer.Option(help="OpenCL C or CUDA C++.")] = _Dialect.CL,
    kind: Annotated[_Kind, typer.Option("--for", help="The device that is assumed.")] = _Kind.GPU,
    variant: Annotated[
        list[str] | None, typer.Option(metavar="AXIS=VALUE", help="In place of the default's; repeatable.")
    ] = None,
    rung: Annotated[
        str, typer.Option(metavar="LADDER:N", help="A rung of a ladder, from 0, in place of the default.")
    ] = "",
    diff: Annotated[
        str, typer.Option(metavar="LADDER:N|cl|cu", help="Only what differs from that rung or dialect.")
    ] = "",
    ptx: Annotated[
        bool, typer.Option("--ptx", metavar=NO_VALUE, help="What NVRTC makes of it for sm_90.")
    ] = False,
    sass: Annotated[
        bool, typer.Option("--sass", metavar=NO_VALUE, help="The machine code for sm_90, disassembled.")
    ] = False,
) -> None:
    """Show the source that the compiler gets for a problem, with the file of each part. Needs no device."""
    from harness.kernels.view import assumed, difference, problem_from_text, source_of, variant_of

    if ptx and sass:
        raise MistakeError("--ptx and --sass are two forms; give one of them")
    compiled = "compile_ptx" if ptx else "disassemble" if sass else ""
    chosen: Dialect = "cu" if compiled else dialect.value
    if compiled and (diff in ("cl", "cu") or kind is _Kind.CPU):
        raise MistakeError("--ptx and --sass are of CUDA on a GPU; leave out --for cpu and --diff cl or cu")
    other: Dialect = "cl" if diff == "cl" else "cu" if diff == "cu" else chosen
    with user_input():
        asked, axes = problem_from_text(" ".join(problem)), _axes(variant or [])

        def text_of(language: Dialect, at: str) -> str:
            device = assumed(kind.value, language)
            return source_of(asked, variant_of(asked, device, axes, at), device, language)

        before_rung = diff if diff and diff not in ("cl", "cu") else rung
        texts = [text_of(chosen, rung)]
        if diff:
            texts.insert(0, text_of(other, before_rung))
    if compiled:
        texts = [_compiled(compiled, text) for text in texts]
    if diff:
        names = (diff, rung or (chosen if diff in ("cl", "cu") else "default"))
        texts = [difference(texts[0], texts[1], names)]
        if not texts[0]:
            typer.echo(f"the two are the same: {' and '.join(names)}", err=True)
            return
    typer.echo(texts[0].rstrip("\n"))


def _axes(texts: list[str]) -> dict[str, Any]:
    from harness.variants.axes import axis_and_value

    axes: dict[str, Any] = {}
    for text in texts:
        try:
            name, value = axis_and_value(text)
        except ValueError as error:
            raise MistakeError(f"--variant {text!r}: {error}") from None
        if text == "base=default":
            # As of a run, whose variants are else those of no device.
            continue
        if name in axes:
            raise MistakeError(f"--variant {text!r}: {name} is given twice; give it once")
        axes[name] = value
    return axes


def _compiled(form: str, text: str) -> str:
    """PTX or disassembled machine code. CUDA's compiler is loaded by its path, as backends are."""
    from importlib import import_module

    nvrtc = import_module("backends.cuda.nvrtc")
    return str(getattr(nvrtc, form)(text, (9, 0)))

"""The options that several verbs have: each has one name, one meaning and one help text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from harness.cli.mistakes import one_of

GENERATED = Path("reports/generated")
"""Where runs and reports go unless told otherwise, below the current folder."""
DEFAULT_BAND = 0.02
"""As :data:`harness.results.ratio.BAND`, which is not worth importing NumPy for whatever is asked."""
MOST_BAND = 0.5
"""As :data:`harness.results.ratio.MOST_BAND`, likewise."""
MOST_SAMPLES, MOST_SECONDS = 1_000_000, 7 * 24 * 3600
"""As in :mod:`harness.suites.schema`, likewise."""

_DEVICE_HELP = "Only devices of this key (opencl:0), kind, PCI address or part of a name; repeatable."


def new_run(suite: str) -> Path:
    """Where a run of a suite goes unless told otherwise."""
    return GENERATED / f"{suite}-{datetime.now():%Y%m%d-%H%M%S}.jsonl"


def starting(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Completes to those of the names that begin so."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def _backends() -> Iterable[str]:
    from backends import REGISTRY

    return REGISTRY


def _suites() -> Iterable[str]:
    from harness.suites.files import suite_names

    return suite_names()


def _problems(table: str) -> Callable[[str], list[str]]:
    def names() -> Iterable[str]:
        import harness.problems

        return map(str, getattr(harness.problems, table))

    return starting(names)


def _dtypes() -> Iterable[str]:
    from harness.problems.dtypes import DTYPES

    return DTYPES


def _variants() -> Iterable[str]:
    from harness.variants.axes import AXES
    from harness.variants.ladders import LADDERS

    axes = {f"{axis}={value}": None for rows in AXES.values() for axis in rows for value in rows[axis]}
    return ["default", *LADDERS, "base=default", "base=portable", *axes]


def among(what: str, names: Iterable[str], metavar: str, text: str = "") -> dict[str, Any]:
    """What typer needs of an argument or option whose value is one of the names: they are in the help, before
    the text, and complete; a mistake is told (:func:`harness.cli.mistakes.one_of`).
    """
    listed = list(names)
    return {
        "metavar": metavar,
        "help": f"{', '.join(listed)}{text}.",
        "callback": one_of(what, listed),
        "autocompletion": starting(lambda: listed),
    }


def number(
    kind: type[int] | type[float], least: float, most: float = math.inf, metavar: str = "N"
) -> dict[str, Any]:
    """What typer needs of an option whose value is a number: its range is in the help, and a mistake names
    the value, too, which typer's own messages do not.
    """
    what = "a whole number" if kind is int else "a number"
    is_bounded = most < math.inf
    allowed = f"{what} from {least} to {most}" if is_bounded else f"{what} of at least {least}"

    def read(text: Any) -> int | float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        # NaN is within no range.
        if not least <= value <= most:
            raise typer.BadParameter(f"{text!r} is not {allowed}")
        return value

    return {"parser": read, "metavar": f"{metavar} [{f'{least}..{most}' if is_bounded else f'>={least}'}]"}


NO_VALUE: Final = ""
"""The metavar of an option that takes no value: by itself Typer shows ``<bool>``, as if it took one."""
Json = Annotated[bool, typer.Option("--json", metavar=NO_VALUE, help="Print JSON instead of a table.")]
Backends = Annotated[
    list[str] | None,
    typer.Option(
        "--backend",
        metavar="NAME",
        help="Only this backend; repeatable.",
        autocompletion=starting(_backends),
    ),
]
Devices = Annotated[list[str] | None, typer.Option("--device", metavar="TEXT", help=_DEVICE_HELP)]
Band = Annotated[
    float,
    typer.Option(
        **number(float, 0, MOST_BAND, "SHARE"),
        help="Ratios from 1 / (1 + this) to 1 + this count as the same speed.",
    ),
]
Force = Annotated[
    bool, typer.Option("--force", metavar=NO_VALUE, help="Compare even where the machines differ.")
]
ReportFolder = Annotated[
    Path, typer.Option("--report", metavar="DIR", help="The folder for the report.", file_okay=False)
]
NewRun = Annotated[
    Path | None,
    typer.Option("--run", metavar="FILE", help="The run file to write; of a fleet, a folder."),
]
Budget = Annotated[
    float | None,
    typer.Option(
        **number(float, 1, MOST_SECONDS, "SECONDS"),
        help="Time to measure all cases in, in place of the suite's a case.",
    ),
]
_FLEET = "A fleet: the devices of many hosts, on Dask (extra fleet)"
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Of a Dask scheduler, tcp://host:8786: its workers' devices.",
        rich_help_panel=_FLEET,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="local|FILE",
        help="A Dask cluster to make: on this host, or as a YAML file says.",
        rich_help_panel=_FLEET,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        **number(int, 1),
        help="Begin when so many workers are there: 1, or the file's.",
        rich_help_panel=_FLEET,
    ),
]
Wait = Annotated[
    float | None,
    typer.Option(
        **number(float, 0, MOST_SECONDS, "SECONDS"),
        help="For workers, and for a device that was lost: 60 where not given.",
        rich_help_panel=_FLEET,
    ),
]
RunFile = Annotated[Path, typer.Argument(metavar="RUN", help="A run file.")]
Suite = Annotated[
    str,
    typer.Argument(help="A suite's name, or the path of a TOML file.", autocompletion=starting(_suites)),
]

_PANEL = "Problems in place of a suite (all combinations; every option is repeatable)"


def _texts(
    option: str, metavar: str, text: str, completion: Callable[[str], list[str]] | None = None
) -> typer.models.OptionInfo:
    found: typer.models.OptionInfo = typer.Option(
        option, metavar=metavar, help=text, rich_help_panel=_PANEL, autocompletion=completion
    )
    return found


Ops = Annotated[list[str] | None, _texts("--op", "NAME", "A reduction, such as sum.", _problems("OPS"))]
Laplaces = Annotated[
    list[str] | None,
    _texts("--laplace", "MASK", "A mask of the Laplace filter, such as four.", _problems("MASKS")),
]
Dtypes = Annotated[
    list[str] | None,
    _texts("--dtype", "NAME", "Type: float32, of images uint8 where not given.", starting(_dtypes)),
]
Shapes = Annotated[
    list[str] | None,
    _texts("--shape", "AxB", "Shape, of images WIDTHxHEIGHT: 2560x2560 where not given."),
]
Borders = Annotated[
    list[str] | None,
    _texts("--border", "NAME", "Border of the filter: reflect_101 where not given.", _problems("BORDERS")),
]
Outputs = Annotated[
    list[str] | None,
    _texts("--output", "NAME", "Output of the filter: laplacian where not given.", _problems("OUTPUTS")),
]
Channels = Annotated[
    list[int] | None,
    typer.Option(
        "--channels",
        # What is no number is told as an unknown one is: with what there is.
        parser=lambda text: int(text) if str(text).isdecimal() else text,
        metavar="N",
        help="Of an image: 1 where not given.",
        rich_help_panel=_PANEL,
    ),
]
Caches = Annotated[
    list[str] | None,
    _texts(
        "--cache",
        "STATE",
        "State of the cache, hot or cold: hot where not given.",
        starting(lambda: ("hot", "cold")),
    ),
]
Variants = Annotated[
    list[str] | None,
    _texts(
        "--variant",
        "TEXT",
        "A ladder, or the value of an axis as in group_size=256, with base=default in the device's default; "
        "that default where nothing is given.",
        starting(_variants),
    ),
]

"""The lines of a run file: what each must be, what is told of one that is not, and how one is written."""

from __future__ import annotations

import io
import json
import math
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.results.file_content import GIVE, parsed
from harness.results.record import FORMAT, READABLE
from harness.results.schema import read

_LONGEST_MESSAGE = 2000
_REMOVE = "remove that line, or measure again"


def lines_of(path: Path, data: bytes) -> Iterator[dict[str, Any] | None]:
    """The file's JSON objects; None for a last line without its newline that is no whole one."""
    for number, raw in enumerate(io.BytesIO(data), 1):
        # What has no first line is no run file.
        remedy = _REMOVE if number > 1 else GIVE
        try:
            line = parsed(raw)
        except ValueError as error:
            if not raw.endswith(b"\n"):
                yield None
                return
            raise ValueError(f"{path}, line {number} is not JSON: {error}; {remedy}") from error
        if not isinstance(line, dict):
            raise ValueError(f"{path}, line {number} is not a JSON object; {remedy}")
        yield line


def environment_of(where: str, line: dict[str, Any]) -> dict[str, Any]:
    """The environment that a first line holds.

    Raises:
        ValueError: if it is of an unknown format, or not valid; ``where`` is what the message calls it.
    """
    if line.get("format") not in READABLE or isinstance(line["format"], (bool, float)):
        raise ValueError(
            f"{where}: format {reprlib.repr(line.get('format'))}, this harness reads up to {FORMAT}; "
            "use the harness that wrote it, or measure again"
        )
    # Whether this file is torn, its reader alone can tell.
    line = {key: value for key, value in line.items() if key != "torn"}
    part_of(where, line)
    return line


def part_of(where: str, line: dict[str, Any]) -> Any:
    """What any line holds, checked: a record, or the plain data of another one.

    Raises:
        ValueError: if it is not valid; ``where`` is what the message calls it.
    """
    with located(where):
        return read(line)


@contextmanager
def located(where: str) -> Iterator[None]:
    """Around what reads a part of a file: its errors say which, and what to do, and are no longer than that
    they can be read.
    """
    try:
        yield
    except RecursionError:
        raise ValueError(f"{where}: it is nested too deeply; {_REMOVE}") from None
    except ValueError as error:
        raise ValueError(f"{where}: {str(error)[:_LONGEST_MESSAGE]}; {_REMOVE}") from error


def strict_json(data: Any) -> str:
    """One line of strict JSON: NumPy scalars as numbers, paths as text, non-finite floats as null."""
    return json.dumps(_strict(data), allow_nan=False)


def _strict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value

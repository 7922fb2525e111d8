"""What the lines of a run file must look like, in full: nothing else is let into the harness and its reports.

A record's line is described by :class:`harness.results.record.Record`, the others here.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from harness.explain import mistakes
from harness.results.ratio import BAND, MOST_BAND
from harness.results.record import Count, Name, Place, Record, Seconds

_Processes = Annotated[int, Field(ge=1, le=99)]
_Samples = Annotated[int, Field(ge=1, le=10**6)]
_FEW = Field(max_length=1000)
_Told = str | int | float | bool | None


class _Line(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)


class _Device(_Line):
    backend: Name
    index: Place
    name: Name = ""
    platform: Name = ""
    vendor: Name = ""
    driver: Name = ""
    kind: Name = ""
    physical: Name = ""
    compute_units: Count = 0
    memory_bytes: Count = 0
    local_memory_bytes: Count = 0
    cache_bytes: Count = 0
    float64: bool = False
    details: dict[str, str] = {}


class _Host(_Line):
    cpu: str | None = None
    cores: Count | None = None
    memory_bytes: Count | None = None
    os: str | None = None
    python: str | None = None


class _Request(_Line):
    suite: str = ""
    backends: list[str] = []
    devices: list[str] = []
    image: str | None = None
    samples: _Samples | None = None
    seed: Count = 0
    processes: _Processes | None = None
    contexts: _Processes | None = None
    budget: Seconds | None = None
    text: str | None = None
    band: Annotated[float, Field(ge=0, le=MOST_BAND)] = BAND


class _Options(_Line):
    # Of two runs `harness compare` tells those that differ.
    __pydantic_extra__: dict[str, _Told]

    samples: _Samples | None = None
    case_seconds: Seconds | None = None
    limit_s: Seconds | None = None
    processes: _Processes | None = None
    contexts: dict[str, _Processes] = {}
    launch_contexts: Count | None = None
    budget: Seconds | None = None


class _Fleet(_Line):
    device: Name = ""
    host: Name = ""


class _Environment(_Line):
    suite: str | None = None
    command: str | None = None
    started: str | None = None
    commit: str | None = None
    dirty: bool | None = None
    host: _Host | None = None
    packages: dict[str, str] | None = None
    devices: Annotated[list[_Device], _FEW] | None = None
    missing: dict[str, str] | None = None
    nvml: str | Annotated[list[dict[str, _Told]], _FEW] | None = None
    request: _Request | None = None
    options: _Options | None = None
    cases: Count | None = None
    fleet: _Fleet | None = None


class _Resumed(_Line):
    started: str | None = None
    commit: str | None = None
    dirty: bool | None = None
    host: _Host | None = None
    packages: dict[str, str] | None = None


class _Image(_Line):
    title: str = ""
    backend: Name = ""
    device: Name = ""
    caption: str = ""
    png: str = ""


class _End(_Line):
    seconds: Seconds | None = None


class _Extra(_Line):
    record: dict[str, Any] | None = None


class _Benchmark(_Line):
    extra_info: _Extra = _Extra()


class _Machine(_Line):
    harness: dict[str, Any] | None = None


class _Benchmarks(_Line):
    machine_info: _Machine = _Machine()
    benchmarks: Annotated[list[_Benchmark], FailFast()]


_MODELS: dict[str, type[BaseModel]] = {
    "environment": _Environment,
    "resumed": _Resumed,
    "image": _Image,
    "end": _End,
}


def check_request(asked: Mapping[str, Any]) -> None:
    """Checks what a run is asked for, as a run file keeps it.

    Raises:
        ValueError: if it is not valid; names every mistake.
    """
    try:
        _Request.model_validate(asked)
    except ValidationError as error:
        raise ValueError("; ".join(mistakes(error, _Request))) from None


def read(line: dict[str, Any]) -> dict[str, Any] | Record:
    """A line of a run file by its ``type``: a record, or the line itself, checked.

    Raises:
        ValueError: if the type is unknown, a key is missing or has a value of another kind than is expected;
            names all such keys.
    """
    kind = line.get("type")
    if kind == "record":
        return Record.from_json(line)
    model = _MODELS.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise ValueError(f"type {reprlib.repr(kind)} is unknown")
    _check(line, model)
    return line


def check_benchmarks(document: Mapping[str, Any]) -> None:
    """Checks what surrounds the lines in a file of pytest-benchmark.

    Raises:
        ValueError: as :func:`read`.
    """
    _check(document, _Benchmarks)


def _check(data: Mapping[str, Any], model: type[BaseModel]) -> None:
    try:
        model.model_validate(data)
    except ValidationError as error:
        raise ValueError("; ".join(mistakes(error, model))) from None

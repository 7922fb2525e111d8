"""What the lines of a run file must look like, in full: nothing else is let into the harness and its reports.

Run files are input from strangers. Keys beyond these are let through, for a file may say more than is read;
but nobody reads them. A case's problem and variant check their values themselves.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError, model_validator

from harness.results.explain import validation
from harness.results.record import Role, Status

_Name = Annotated[str, Field(max_length=1000)]
"""What a table or a chart shows whole."""
_Count = Annotated[int, Field(ge=0, lt=2**63)]
_Place = Annotated[int, Field(ge=0, lt=2**31)]
_Amount = Annotated[float, Field(ge=0, le=1e18)]
_Seconds = Annotated[float, Field(ge=0, le=1e9)]
_Sizes = Annotated[list[Annotated[int, Field(gt=0, lt=2**63)]], Field(min_length=1, max_length=3)]
_Processes = Annotated[int, Field(ge=1, le=99)]
_Samples = Annotated[int, Field(ge=1, le=10**6)]
_FEW = Field(max_length=1000)
_Told = str | int | float | bool | None
_MOST_MISTAKES = 100
"""That are told one by one."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)


class _Device(_Line):
    backend: _Name
    index: _Place
    name: _Name = ""
    platform: _Name = ""
    vendor: _Name = ""
    driver: _Name = ""
    kind: _Name = ""
    physical: _Name = ""
    compute_units: _Count = 0
    memory_bytes: _Count = 0
    local_memory_bytes: _Count = 0
    cache_bytes: _Count = 0
    float64: bool = False
    details: dict[str, str] = {}


class _Host(_Line):
    cpu: str | None = None
    cores: _Count | None = None
    memory_bytes: _Count | None = None
    os: str | None = None
    python: str | None = None


class _Request(_Line):
    suite: str = ""
    backends: list[str] = []
    devices: list[str] = []
    image: str | None = None
    samples: _Samples | None = None
    seed: _Count = 0
    processes: _Processes | None = None
    contexts: _Processes | None = None
    budget: _Seconds | None = None
    text: str | None = None


class _Options(_Line):
    # Of two runs all options are told that differ.
    __pydantic_extra__: dict[str, _Told]

    samples: _Samples | None = None
    case_seconds: _Seconds | None = None
    limit_s: _Seconds | None = None
    processes: _Processes | None = None
    contexts: dict[str, _Processes] = {}
    launch_contexts: _Count | None = None
    budget: _Seconds | None = None


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


class _Case(_Line):
    backend: _Name
    device: _Place
    problem: dict[str, Any]
    variant: dict[str, Any]
    cache: Literal["hot", "cold"]
    role: Literal[get_args(Role)]  # type: ignore[valid-type]


class _Clock(_Line):
    seconds: Annotated[list[_Seconds | None], FailFast()]
    calls: Annotated[int, Field(ge=1, lt=2**63)]
    note: str
    blocks: Annotated[list[_Place], FailFast()] = []
    stopped: str = ""

    @model_validator(mode="after")
    def _has_a_block_a_sample(self) -> Self:
        if self.blocks and len(self.blocks) != len(self.seconds):
            raise ValueError(f"there are {len(self.seconds)} seconds and {len(self.blocks)} blocks")
        return self


class _Launch(_Line):
    kernel: str
    num_groups: _Sizes
    group_size: _Sizes


class _Ledger(_Line):
    launches: Annotated[list[_Launch], FailFast()] = []
    kernels: Annotated[list[_Launch], FailFast()] = []
    result_location: _Name | None = None
    source_hash: str | None = None
    accumulator: str | None = None
    calls_per_result: _Count | None = None
    gate: str | None = None
    note: str | None = None
    disagreement: str | None = None
    no_kernel_clock: str | None = None
    timing_seconds: _Amount = 0.0
    wall_seconds: _Amount = 0.0
    watch: Annotated[list[dict[str, Any]], FailFast()] = []


class _Record(_Line):
    case: _Case
    status: Literal[get_args(Status)]  # type: ignore[valid-type]
    reason: str
    error: float | None
    tolerance: float | None
    clocks: dict[_Name, _Clock]
    ledger: _Ledger
    process: _Place = 0
    block: _Place = 0


class _Image(_Line):
    title: str = ""
    backend: _Name = ""
    device: _Name = ""
    caption: str = ""
    png: str = ""


class _Extra(_Line):
    record: dict[str, Any] | None = None


class _Benchmark(_Line):
    extra_info: _Extra = _Extra()


class _Machine(_Line):
    harness: dict[str, Any] | None = None


class _Benchmarks(_Line):
    machine_info: _Machine = _Machine()
    benchmarks: Annotated[list[_Benchmark], FailFast()]


_MODELS: dict[str, type[BaseModel]] = {"environment": _Environment, "record": _Record, "image": _Image}


def check(line: Mapping[str, Any]) -> None:
    """Checks a line of a run file by its ``type``.

    Raises:
        ValueError: if the type is unknown, a key is missing or has a value of another kind than is expected;
            names all such keys.
    """
    kind = line.get("type")
    model = _MODELS.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise ValueError(f"type {reprlib.repr(kind)} is unknown")
    _check(line, model)


def check_benchmarks(document: Mapping[str, Any]) -> None:
    """Checks what surrounds the lines in a file of pytest-benchmark.

    Raises:
        ValueError: as :func:`check`.
    """
    _check(document, _Benchmarks)


def _check(data: Mapping[str, Any], model: type[BaseModel]) -> None:
    try:
        model.model_validate(data)
    except ValidationError as error:
        if error.error_count() > _MOST_MISTAKES:
            raise ValueError(f"{error.error_count()} values are of another kind than expected") from None
        mistakes = error.errors(include_url=False)
        raise ValueError("; ".join(validation(dict(mistake), model) for mistake in mistakes)) from None

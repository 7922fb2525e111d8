"""What the lines of a run file must look like, as far as the harness and its reports rely on it.

Keys beyond these are let through: a file may say more than is read. A case's problem and variant check
themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.explain import validation
from harness.records import Role, Status

_Sizes = Annotated[list[Annotated[int, Field(gt=0)]], Field(min_length=1, max_length=3)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class _Device(_Line):
    backend: str
    index: int = Field(ge=0)
    name: str = ""
    kind: str = ""
    physical: str = ""


class _Environment(_Line):
    suite: str | None = None
    command: str | None = None
    devices: list[_Device] | None = None
    missing: dict[str, str] | None = None


class _Case(_Line):
    backend: str
    device: int = Field(ge=0)
    cache: Literal["hot", "cold"]
    role: Literal[get_args(Role)]  # type: ignore[valid-type]


class _Clock(_Line):
    seconds: list[Annotated[float, Field(ge=0)] | None]
    calls: int = Field(ge=1)
    note: str


class _Launch(_Line):
    kernel: str
    num_groups: _Sizes
    group_size: _Sizes


class _Ledger(_Line):
    launches: list[_Launch] = []
    result_location: str | None = None
    note: str | None = None


class _Record(_Line):
    case: _Case
    status: Literal[get_args(Status)]  # type: ignore[valid-type]
    reason: str
    error: float | None
    tolerance: float | None
    clocks: dict[str, _Clock]
    ledger: _Ledger


class _Image(_Line):
    title: str = ""
    backend: str = ""
    device: str = ""
    caption: str = ""
    png: str = ""


_MODELS: dict[str, type[BaseModel]] = {"environment": _Environment, "record": _Record, "image": _Image}


def check(line: Mapping[str, Any]) -> None:
    """Checks a line of a run file by its ``type``; an unknown type passes.

    Raises:
        ValueError: if a key is missing or has a value of another kind than is expected; names all such keys.
    """
    model = _MODELS.get(str(line.get("type")))
    try:
        if model:
            model.model_validate(dict(line))
    except ValidationError as error:
        mistakes = error.errors(include_url=False)
        raise ValueError(
            "; ".join(validation(dict(mistake), model or _Line) for mistake in mistakes)
        ) from None

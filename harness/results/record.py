"""What a run keeps: one JSON line a measured case, below one line that describes the machine.

The classes are the description of that line: what a key may hold is said here alone. Run files are input from
strangers. Keys beyond these are let through, for a file may say more than is read; but nobody reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Required, TypeVar

from pydantic import (
    AliasChoices,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    GetPydanticSchema,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    with_config,
)
from typing_extensions import TypedDict

from harness.checked import Text, Whole
from harness.explain import mistakes
from harness.problems import Problem
from harness.variants.axes import Variant

FORMAT = 2
"""Version of the run file's format. Since version 2 the last line says that the run has come to its end."""
READABLE = (1, FORMAT)
"""Versions that are read; a file of another one is refused."""

Status = Literal["ok", "skipped", "wrong", "failed"]
Role = Literal["compare", "limit", "control"]
"""compare: what the suite asks. limit: the best that the device can do. control: what must come out
as nothing (:mod:`harness.suites.control_cases`)."""
CLOCKS = ("queue", "launch", "round_trip", "event", "kernel", "launch_event", "launch_kernel")
"""queue: gated device time a call (primary). launch: the empty kernel of the same geometry by the same clock.
round_trip: enqueue to value in host memory. event: the API's own timer. kernel: the sum of a call's kernels,
start to end, by the profiler. launch_event and launch_kernel: the empty kernel by these two: their bias."""

Name = Annotated[Text, Field(max_length=1000)]
"""What a table or a chart shows whole."""
Count = Annotated[Whole, Field(ge=0, lt=2**63)]
Place = Annotated[Whole, Field(ge=0, lt=2**31)]
Seconds = Annotated[float, Field(strict=True, ge=0, le=1e9)]
_Number = Annotated[float, Field(strict=True)]
_Amount = Annotated[float, Field(strict=True, ge=0, le=1e18)]
_Sizes = Annotated[tuple[Annotated[Whole, Field(gt=0, lt=2**63)], ...], Field(min_length=1, max_length=3)]
T = TypeVar("T")

_FINITE = ConfigDict(allow_inf_nan=False)
_OPEN = ConfigDict(allow_inf_nan=False, extra="allow")
_FORMER = {"provenance": "ledger"}
"""What keys were called in older files."""


def _has(*names: str) -> WrapValidator:
    """Refuses a line without keys that every line has had, whatever Python leaves out."""

    def check(data: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        found = handler(data)
        there = data if isinstance(data, dict) else names
        missing = [name for name in names if name not in there and _FORMER.get(name) not in there]
        if missing:
            raise ValueError("; ".join(f"{name}: is missing" for name in missing))
        return found

    return WrapValidator(check)


def _without_missing(clock: Any) -> Any:
    """Leaves out the samples that were no numbers, written as null, with the blocks that they belong to."""
    seconds = clock.get("seconds") if isinstance(clock, dict) else None
    if not isinstance(seconds, list) or None not in seconds:
        return clock
    blocks = clock.get("blocks") or [0] * len(seconds)
    if not isinstance(blocks, list) or len(blocks) != len(seconds):
        return clock
    there = [place for place, second in enumerate(seconds) if second is not None]
    return {**clock, "seconds": [seconds[i] for i in there], "blocks": [blocks[i] for i in there]}


def _one_block(record: Any) -> Any:
    """Before a process had several blocks it was one."""
    is_old = isinstance(record, dict) and "process" in record and "block" not in record
    return {**record, "block": record["process"]} if is_old else record


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of one clock: seconds a call each. ``calls`` is the number of calls behind one sample; ``note``
    says what weakens it, such as a host-bound library.

    ``blocks`` tells of each sample in which block of the run it was taken, as long as ``seconds``; one block
    when left out.
    ``stopped`` says why sampling ended (:class:`harness.measure.clocks.Stop`); empty where nobody noted it.
    ``anew`` counts samples that are not among these, as the host was interrupted while they were taken.

    Raises:
        ValueError: if ``blocks`` has another length than ``seconds``.
    """

    __pydantic_config__ = _FINITE

    seconds: Annotated[tuple[Seconds, ...], FailFast()]
    calls: Annotated[Whole, Field(ge=1, lt=2**63)] = 1
    note: Text = ""
    blocks: Annotated[tuple[Place, ...], FailFast()] = ()
    stopped: Text = ""
    anew: Place = 0

    def __post_init__(self) -> None:
        if not self.blocks:
            object.__setattr__(self, "blocks", (0,) * len(self.seconds))
        if len(self.blocks) != len(self.seconds):
            raise ValueError(f"there are {len(self.seconds)} seconds and {len(self.blocks)} blocks")


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to measure: a problem on a backend's device in one variant and cache state."""

    backend: Name
    device: Place
    problem: Problem
    variant: Variant
    cache: Literal["hot", "cold"] = "hot"
    role: Role = "compare"

    @property
    def device_key(self) -> str:
        """What tells the device apart, as :attr:`harness.devices.DeviceInfo.key`."""
        return f"{self.backend}:{self.device}"

    def to_json(self) -> dict[str, Any]:
        """Plain data; :meth:`from_json` reverses it."""
        return _plain(_CASE, self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Case:
        """The case from plain data.

        Raises:
            ValueError: on anything missing, unknown or out of range; the message names it.
        """
        return _from_plain(_CASE, data)


@with_config(_OPEN)
class Launched(TypedDict, total=False):
    """One launch of a call."""

    kernel: Required[Text]
    num_groups: Required[_Sizes]
    group_size: Required[_Sizes]


@with_config(_OPEN)
class Provenance(TypedDict, total=False):
    """What :mod:`harness.measure.provenance` tells of what was timed, as far as it is read."""

    launches: Annotated[list[Launched], FailFast()]
    kernels: Annotated[list[Launched], FailFast()]
    result_location: Name | None
    source_hash: Text | None
    accumulator: Text | None
    calls_per_result: Count | None
    gate: Text | None
    note: Text | None
    disagreement: Text | None
    no_kernel_clock: Text | None
    timing_seconds: _Amount
    wall_seconds: _Amount
    watch: Annotated[list[dict[str, Any]], FailFast()]


@dataclass(frozen=True, slots=True)
class Record:
    """A measured case, or why it was not measured.

    ``error`` and ``tolerance`` are those of the verification; ``clocks`` is keyed by :data:`CLOCKS`,
    ``provenance`` as :class:`Provenance`. ``process`` is the number
    of the worker process in which it was measured, ``block`` that of the block
    (:mod:`harness.runner.schedule`); of a case measured in several both are 0 and the clocks' ``blocks`` tell
    (:func:`harness.results.merge.merged`).
    """

    __pydantic_config__ = _FINITE

    case: Annotated[Case, _has("cache", "role")]
    status: Status
    reason: Text = ""
    error: _Number | None = None
    tolerance: _Number | None = None
    clocks: dict[Name, Annotated[Samples, _has("calls", "note"), BeforeValidator(_without_missing)]] = field(
        default_factory=dict
    )
    provenance: Annotated[
        dict[str, Any],
        GetPydanticSchema(lambda _, handler: handler(Provenance)),
        Field(validation_alias=AliasChoices("provenance", _FORMER["provenance"])),
    ] = field(default_factory=dict)
    process: Place = 0
    block: Place = 0

    def in_block(self, process: int, block: int) -> Record:
        """The record as one of that process and block, its clocks' samples too."""
        clocks = {
            name: replace(clock, blocks=(block,) * len(clock.seconds)) for name, clock in self.clocks.items()
        }
        return replace(self, clocks=clocks, process=process, block=block)

    def to_json(self) -> dict[str, Any]:
        """Plain data; :meth:`from_json` reverses it."""
        return {"type": "record", **_plain(_RECORD, self)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Record:
        """The record from plain data.

        Raises:
            ValueError: on anything missing or malformed; the message names it.
        """
        return _from_plain(_RECORD, data)


_CASE: TypeAdapter[Case] = TypeAdapter(Case)
_RECORD: TypeAdapter[Record] = TypeAdapter(
    Annotated[
        Record,
        _has("reason", "error", "tolerance", "clocks", "provenance"),
        BeforeValidator(_one_block),
    ]
)


def _plain(adapter: TypeAdapter[Any], value: object) -> dict[str, Any]:
    plain: dict[str, Any] = adapter.dump_python(value, warnings=False)
    return plain


def _from_plain(adapter: TypeAdapter[T], data: Mapping[str, Any]) -> T:
    try:
        return adapter.validate_python(data)
    except ValidationError as error:
        raise ValueError("; ".join(mistakes(error))) from None

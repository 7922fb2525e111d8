"""What a run keeps: one JSON line a measured case, below one line that describes the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Self

from harness.problems import Problem, problem_from_json, problem_to_json
from harness.variants.axes import Variant, variant_from_json, variant_to_json

FORMAT = 1
"""Version of the run file's format; a file of another version is refused."""

Status = Literal["ok", "skipped", "wrong", "failed"]
Role = Literal["compare", "limit", "control"]
"""compare: what the suite asks. limit: the best that the device can do. control: what must come out
as nothing (:mod:`harness.suites.control_cases`)."""
CLOCKS = ("queue", "launch", "round_trip", "event", "kernel", "launch_event", "launch_kernel")
"""queue: gated device time a call (primary). launch: the empty kernel of the same geometry by the same clock.
round_trip: enqueue to value in host memory. event: the API's own timer. kernel: the sum of a call's kernels,
start to end, by the profiler. launch_event and launch_kernel: the empty kernel by these two: their bias."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of one clock: seconds a call each. ``calls`` is the number of calls behind one sample; ``note``
    says what weakens it, such as a host-bound library.

    ``blocks`` tells of each sample in which block of the run it was taken, as long as ``seconds``; one block
    when left out.
    ``stopped`` says why sampling ended (:class:`harness.measure.clocks.Stop`); empty where nobody noted it.

    Raises:
        ValueError: if ``blocks`` has another length than ``seconds``.
    """

    seconds: tuple[float, ...]
    calls: int = 1
    note: str = ""
    blocks: tuple[int, ...] = ()
    stopped: str = ""

    def __post_init__(self) -> None:
        if not self.blocks:
            object.__setattr__(self, "blocks", (0,) * len(self.seconds))
        if len(self.blocks) != len(self.seconds):
            raise ValueError(f"a clock has {len(self.seconds)} seconds and {len(self.blocks)} blocks")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The clock from plain data; files of before runs had several processes have no blocks nor stopped.

        Raises:
            KeyError, TypeError, ValueError: on anything missing or malformed.
        """
        return cls(
            tuple(map(float, data["seconds"])),
            int(data["calls"]),
            str(data["note"]),
            tuple(map(int, data.get("blocks", ()))),
            str(data.get("stopped", "")),
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to measure: a problem on a backend's device in one variant and cache state."""

    backend: str
    device: int
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
        return {
            "backend": self.backend,
            "device": self.device,
            "problem": problem_to_json(self.problem),
            "variant": variant_to_json(self.variant),
            "cache": self.cache,
            "role": self.role,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The case from plain data.

        Raises:
            ValueError: on anything missing, unknown or out of range; the message names it.
        """
        try:
            return cls(
                str(data["backend"]),
                int(data["device"]),
                problem_from_json(data["problem"]),
                variant_from_json(data["variant"]),
                data["cache"],
                data["role"],
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"case {data!r}: {error!r}") from error


@dataclass(frozen=True, slots=True)
class Record:
    """A measured case, or why it was not measured.

    ``error`` and ``tolerance`` are those of the verification; ``clocks`` is keyed by :data:`CLOCKS`.
    ``ledger`` says what was timed: launches, result_location, source_hash, note. ``process`` is the number
    of the worker process in which it was measured, ``block`` that of the block
    (:mod:`harness.runner.schedule`); of a case measured in several both are 0 and the clocks' ``blocks`` tell
    (:func:`harness.results.merge.merged`).
    """

    case: Case
    status: Status
    reason: str = ""
    error: float | None = None
    tolerance: float | None = None
    clocks: dict[str, Samples] = field(default_factory=dict)
    ledger: dict[str, Any] = field(default_factory=dict)
    process: int = 0
    block: int = 0

    def in_block(self, process: int, block: int) -> Record:
        """The record as one of that process and block, its clocks' samples too."""
        clocks = {
            name: replace(clock, blocks=(block,) * len(clock.seconds)) for name, clock in self.clocks.items()
        }
        return replace(self, clocks=clocks, process=process, block=block)

    def to_json(self) -> dict[str, Any]:
        """Plain data; :meth:`from_json` reverses it."""
        return {
            "type": "record",
            "case": self.case.to_json(),
            "status": self.status,
            "reason": self.reason,
            "error": self.error,
            "tolerance": self.tolerance,
            "clocks": {name: asdict(clock) for name, clock in self.clocks.items()},
            "ledger": self.ledger,
            "process": self.process,
            "block": self.block,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The record from plain data.

        Raises:
            ValueError: on anything missing or malformed; the message names it.
        """
        try:
            clocks = {name: Samples.from_json(clock) for name, clock in data["clocks"].items()}
            process = int(data.get("process", 0))
            return cls(
                Case.from_json(data["case"]),
                data["status"],
                str(data["reason"]),
                data["error"],
                data["tolerance"],
                clocks,
                dict(data["ledger"]),
                process,
                # Before a process had several blocks it was one.
                int(data.get("block", process)),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"record: {error!r} in {str(data)[:200]}") from error

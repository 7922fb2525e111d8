"""What a fleet hands out: a physical device with all its backends, for one task at a time."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from pydantic import TypeAdapter

from harness.devices import DeviceInfo
from harness.runner.plan import Request, RunPlan


class FleetError(Exception):
    """A fleet that cannot begin or go on; the message says why and what to do."""


class SchedulerLost(FleetError):
    """The scheduler is gone; what was measured is kept."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A physical device. ``identity`` is the same whichever worker reports it: the device's UUID where its
    driver tells one, else its host with its PCI address, ``cpu`` of the processor. ``keys`` are what its
    backends call it there (``opencl:0``); ``cases`` how many the suite has for it.
    """

    identity: str
    host: str
    physical: str
    name: str
    keys: tuple[str, ...]
    cases: int = 0

    @property
    def label(self) -> str:
        """How a person tells it from the others."""
        return f"{self.host} {self.physical}"


class Told(TypedDict):
    """What a worker tells of itself. ``worker`` is the identity of its process, ``uuids`` those of its GPUs
    by PCI address.
    """

    worker: str
    host: str
    devices: list[dict[str, Any]]
    missing: dict[str, str]
    uuids: dict[str, str]
    versions: dict[str, str]


class Lease(TypedDict):
    """The right to measure a unit until its token is replaced: messages with another one are refused.

    ``worker`` is the process that has it; ``begun`` the run file so far, gzip, empty of a new run; ``topic``
    where its lines go.
    """

    token: str
    topic: str
    worker: str
    identity: str
    host: str
    physical: str
    keys: list[str]
    request: dict[str, Any]
    command: str
    begun: bytes


class Ended(TypedDict):
    """How a task ended, its last message: ``busy`` if another process measures on the device, ``lost`` if the
    lease was no longer its own. ``reason`` is empty where all was measured.
    """

    reason: str
    busy: bool
    lost: bool


def request_from(raw: Mapping[str, Any]) -> Request:
    """The request from plain data.

    Raises:
        pydantic.ValidationError: if it is none.
    """
    return TypeAdapter(Request).validate_python(raw)


def identity_of(device: DeviceInfo, host: str, uuids: Mapping[str, str]) -> str:
    """See :class:`Unit`."""
    return uuids.get(device.physical) or f"{host}/{device.physical}"


def units_of(plan: RunPlan, host: str, uuids: Mapping[str, str]) -> list[Unit]:
    """The physical devices that a plan measures on, in its order, each with its cases counted."""
    by_key = {device.key: device for device in plan.devices}
    found: dict[str, dict[str, int]] = {}
    for case in plan.cases:
        keys = found.setdefault(by_key[case.device_key].physical, {})
        keys[case.device_key] = keys.get(case.device_key, 0) + 1
    return [_unit([by_key[key] for key in keys], host, uuids, sum(keys.values())) for keys in found.values()]


def _unit(devices: Sequence[DeviceInfo], host: str, uuids: Mapping[str, str], cases: int) -> Unit:
    # A processor has several names: OpenCL's and NumPy's. The first in order, so that all workers agree.
    first = min(devices, key=lambda device: device.key)
    keys = tuple(sorted(device.key for device in devices))
    return Unit(identity_of(first, host, uuids), host, first.physical, first.name, keys, cases)


def of_unit(plan: RunPlan, physical: str) -> RunPlan:
    """The plan as far as it is of one physical device.

    Raises:
        ValueError: if some of its cases are on another one: the devices have changed places.
    """
    devices = [device for device in plan.devices if device.physical == physical]
    keys = {device.key for device in devices}
    if strange := {case.device_key for case in plan.cases} - keys:
        raise ValueError(
            f"{', '.join(sorted(strange))} is not {physical} now: the devices have changed places"
        )
    return replace(plan, devices=devices)


def packed(data: bytes) -> bytes:
    """A run file's content for the way."""
    return gzip.compress(data, compresslevel=1) if data else b""


def unpacked(data: bytes) -> bytes:
    """Reverses :func:`packed`."""
    return gzip.decompress(data) if data else b""

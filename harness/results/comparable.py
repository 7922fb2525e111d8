"""Whether the machines of two runs may be compared: what differs, and whether a speed depends on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.results.record import Case

_DEVICE = ("name", "platform", "driver", "compute_units")
"""What makes a device another one, of the fields of :class:`harness.devices.DeviceInfo`."""
_GPU = ("power_cap_watts", "ecc", "mig", "sm_clock_max_mhz")
"""Settings of a GPU (:func:`harness.runner.environment.nvml`) that change its speed."""
_HOST = ("cpu", "cores")
"""What makes another processor: it matters where cases ran on it."""
BESIDE = (
    "opencl-cuda-harness",
    "scipy",
    "scikit-image",
    "pandas",
    "seaborn",
    "pytest-benchmark",
    "nvidia-ml-py",
)
"""Packages that no measured call runs through: their versions are told, but keep nothing from comparison."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between the machines of two runs; ``matters`` if a speed can depend on it."""

    what: str
    a: str
    b: str
    matters: bool

    def __str__(self) -> str:
        return f"{self.what}: {self.a} in A, {self.b} in B"


def environment_differences(
    a: Mapping[str, Any], b: Mapping[str, Any], cases: Iterable[Case]
) -> Iterator[Difference]:
    """What differs between two environments, as far as it concerns ``cases``: what matters first."""
    keys = dict.fromkeys((case.backend, case.device) for case in cases)
    found = [*_devices(a, b, keys), *_packages(a, b, {backend for backend, _ in keys})]
    found += _fields("", a, b, ("suite", "commit", "dirty"), False)
    found += _fields("host ", _mapping(a, "host"), _mapping(b, "host"), ("os", "python"), False)
    one, other = _mapping(a, "options"), _mapping(b, "options")
    # How a run measured widens or narrows intervals; the files of older versions have fewer of these.
    found += _fields("option ", one, other, [name for name in one if name in other], False)
    return iter(sorted(found, key=lambda difference: not difference.matters))


def _devices(
    a: Mapping[str, Any], b: Mapping[str, Any], keys: Iterable[tuple[str, int]]
) -> Iterator[Difference]:
    """Differences of the devices with these backends and indices, and of the hardware under them."""
    kinds = set()
    gpus: dict[tuple[str, str], None] = {}
    for key in keys:
        one, other = _device(a, key), _device(b, key)
        name = f"{key[0]}:{key[1]} "
        yield from _fields(name, one, other, _DEVICE, True)
        yield from _fields(name, one, other, ("physical",), False)
        kinds |= {one.get("kind"), other.get("kind")}
        gpus[str(one.get("physical")), str(other.get("physical"))] = None
    for physical_a, physical_b in gpus:
        one, other = _sensors(a, physical_a), _sensors(b, physical_b)
        if one and other:
            yield from _fields(f"GPU {physical_a} ", one, other, _GPU, True)
    yield from _fields("host ", _mapping(a, "host"), _mapping(b, "host"), _HOST, "cpu" in kinds)


def _device(environment: Mapping[str, Any], key: tuple[str, int]) -> Mapping[str, Any]:
    return next(
        (d for d in _mappings(environment, "devices") if (d.get("backend"), d.get("index")) == key), {}
    )


def _sensors(environment: Mapping[str, Any], physical: str) -> Mapping[str, Any]:
    return next((gpu for gpu in _mappings(environment, "nvml") if gpu.get("physical") == physical), {})


def _packages(a: Mapping[str, Any], b: Mapping[str, Any], backends: set[str]) -> Iterator[Difference]:
    """Other versions; a package of one side only is told, as its backend then has no case on the other."""
    one, other = _mapping(a, "packages"), _mapping(b, "packages")
    for name in sorted({*one, *other}):
        idle = name in BESIDE or (name == "numpy" and "numpy" not in backends)
        yield from _fields("package ", one, other, (name,), name in one and name in other and not idle)


def _fields(
    prefix: str, a: Mapping[str, Any], b: Mapping[str, Any], names: Iterable[str], matters: bool
) -> Iterator[Difference]:
    for name in names:
        one, other = a.get(name), b.get(name)
        if one != other:
            yield Difference(f"{prefix}{name}", _text(one), _text(other), matters)


def _text(value: object) -> str:
    return "not recorded" if value is None else str(value)


def _mapping(environment: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """What a run file that anybody may have written holds there, if it is a mapping."""
    value = environment.get(key)
    return value if isinstance(value, Mapping) else {}


def _mappings(environment: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The mappings of a list; none where it is text, as NVML's reason for not being there."""
    value = environment.get(key)
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []

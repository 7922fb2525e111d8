"""What a run file keeps of what its run is made of, and whether that is still the same: a file is not to hold
two runs.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from backends import REGISTRY
from harness.explain import mistakes
from harness.runner.environment import differences

_MOST_CHANGES = 8


class _Content(BaseModel):
    model_config = ConfigDict(strict=True)

    text: str
    sha256: str


class Kept(BaseModel):
    """The lines of an environment that a resumed run must agree with."""

    model_config = ConfigDict(strict=True)

    request: dict[str, Any]
    options: dict[str, Any]
    devices: list[dict[str, Any]]
    suite_content: _Content
    image_sha256: str | None
    kernels_sha256: str
    nvml: list[dict[str, Any]] | str = ""
    packages: dict[str, str] = {}
    commit: str | None = None
    dirty: bool | None = None


def suite_content(text: str) -> dict[str, str]:
    """What a run file keeps of a suite: its text, and the text's SHA-256 to tell it by."""
    return {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def image_hash(image: Path | None) -> str | None:
    """SHA-256 of a photograph's file."""
    if image is None:
        return None
    with image.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def kept(path: Path, environment: Mapping[str, Any]) -> Kept:
    """What the run in ``path`` keeps.

    Raises:
        ValueError: if it lacks some of that, as runs of earlier versions do.
    """
    try:
        return Kept.model_validate(dict(environment))
    except ValidationError as error:
        lacks = "; ".join(mistakes(error, Kept))
        raise ValueError(
            f"{path} does not keep what a resumed run must agree with, as runs of earlier versions "
            f"({lacks}); begin a new run"
        ) from None


def changes(before: Kept, now: Kept) -> list[str]:
    """What keeps a run from going on: each says what was, and what is now."""
    found = [*_suite_changes(before.suite_content.text, now.suite_content.text)]
    found += _between(before.options, now.options)
    if before.image_sha256 != now.image_sha256:
        found.append(f"the photograph {now.request.get('image')} has another content now")
    if before.kernels_sha256 != now.kernels_sha256:
        found.append("the kernels (kernels_cl, kernels_cu) are others now")
    found += differences(before.devices, now.devices)
    found += _other_cards(before, now)
    if before.packages:
        found += _between(_measured_packages(before), _measured_packages(now))
    left_out = len(found) - _MOST_CHANGES
    return found[:_MOST_CHANGES] + [f"and {left_out} more"] * (left_out > 0)


def notes(before: Kept, now: Kept) -> list[str]:
    """What a person should know who goes on with a run."""
    one, other = _version(before), _version(now)
    return [f"begun at {one}, goes on at {other}; the kernels are the same"] if one != other else []


def _version(of: Kept) -> str:
    return f"commit {of.commit or 'unknown'}{' with changes' if of.dirty else ''}"


def _other_cards(before: Kept, now: Kept) -> Iterator[str]:
    """GPUs of the same name and place that are others by their UUID. Two of a model are not equally fast: a
    limit found on one is none of the other.
    """
    one, other = _cards(before), _cards(now)
    for place, uuid in one.items():
        if uuid != other.get(place, uuid):
            yield f"the GPU at {place} was {uuid}, now {other[place]}"


def _cards(of: Kept) -> dict[str, str]:
    """The UUIDs of the GPUs that a run has measured, by their places, as far as NVML tells."""
    if isinstance(of.nvml, str):
        return {}
    measured = {str(device.get("physical")) for device in of.devices}
    cards = {str(card.get("physical")): str(card.get("uuid")) for card in of.nvml}
    return {place: uuid for place, uuid in cards.items() if place in measured and uuid.startswith("GPU-")}


def _measured_packages(of: Kept) -> dict[str, str]:
    """The versions of the packages that the run's backends are made of."""
    backends = {str(device.get("backend")) for device in of.devices} & REGISTRY.keys()
    patterns = [pattern for backend in backends for pattern in REGISTRY[backend].packages]
    return {
        name: version
        for name, version in of.packages.items()
        if any(fnmatch(name.lower(), pattern.lower()) for pattern in patterns)
    }


def _suite_changes(before: str, now: str) -> Iterator[str]:
    """By key: what only reads otherwise, such as a comment, is no change."""
    if before == now:
        return
    try:
        one, other = _leaves(tomllib.loads(before)), _leaves(tomllib.loads(now))
    except (ValueError, RecursionError) as error:
        yield f"the suite in the file is not TOML ({error})"
        return
    yield from _between(one, other, "the suite's ")


def _leaves(value: Any, key: str = "") -> dict[str, str]:
    """The values of a TOML document as text, by their keys, such as ``reduction[0].ops``."""
    if isinstance(value, Mapping):
        parts = {f"{key}.{name}".lstrip("."): each for name, each in value.items()}
    elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        parts = {f"{key}[{place}]": each for place, each in enumerate(value)}
    else:
        return {key: repr(value)}
    return {name: text for part, each in parts.items() for name, text in _leaves(each, part).items()}


def _between(before: Mapping[str, Any], now: Mapping[str, Any], whose: str = "") -> list[str]:
    return [
        f"{whose}{name} was {before.get(name, 'absent')}, now {now.get(name, 'absent')}"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]

"""The folder of a fleet's run: a run file for each device, and ``fleet.json``, which says what was asked
for and which devices are done.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.explain import mistakes
from harness.files import replacing
from harness.fleet.unit import FleetError, Unit, request_from
from harness.runner.plan import Request
from harness.runner.planning import from_anywhere

NAME = "fleet.json"
_LONGEST = 100


class Entry(BaseModel):
    """A device of a fleet, and its run file by name."""

    model_config = ConfigDict(strict=True)

    identity: str
    host: str
    physical: str
    name: str
    keys: list[str]
    cases: int
    file: str
    is_done: bool = False
    reason: str = ""

    @property
    def unit(self) -> Unit:
        """The device."""
        keys = tuple(self.keys)
        return Unit(self.identity, self.host, self.physical, self.name, keys, self.cases)


class Manifest(BaseModel):
    """What ``fleet.json`` holds: what was asked for, the suite's text, and the devices so far."""

    model_config = ConfigDict(strict=True)

    format: Literal[1] = 1
    request: dict[str, Any]
    suite_text: str
    command: str
    devices: list[Entry] = []

    def asked(self) -> Request:
        """What was asked for."""
        return request_from(self.request)


class Folder:
    """A fleet's folder, open: no other process writes to it meanwhile (:func:`begun`, :func:`resumed`)."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path, self.manifest = path, manifest

    def asked(self) -> Request:
        """What was asked for, with the suite's text: its file is not on every host."""
        return replace(self.manifest.asked(), text=self.manifest.suite_text)

    def save(self) -> None:
        """Writes ``fleet.json`` at once or not at all."""
        with replacing(self.path / NAME) as file:
            file.write_text(self.manifest.model_dump_json(indent=1) + "\n", encoding="utf-8")

    def entry(self, unit: Unit) -> Entry:
        """The entry of a unit, made and saved where it is new."""
        for entry in self.manifest.devices:
            if entry.identity == unit.identity:
                return entry
        there = {entry.file for entry in self.manifest.devices}
        entry = Entry(**{**asdict(unit), "keys": list(unit.keys)}, file=_file_name(unit, there))
        self.manifest.devices.append(entry)
        self.save()
        return entry

    def runs(self) -> list[Path]:
        """The run files that there are."""
        paths = (self.path / entry.file for entry in self.manifest.devices)
        return [path for path in paths if path.exists()]


def _file_name(unit: Unit, there: Sequence[str] | set[str]) -> str:
    stem = re.sub(r"[^\w.]+", "-", f"{unit.host}-{unit.physical}").strip("-.")[:_LONGEST] or "device"
    names = (f"{stem}{f'-{number}' * (number > 1)}.jsonl" for number in range(1, len(there) + 2))
    return next(name for name in names if name not in there)


def is_fleet(path: Path) -> bool:
    """Whether a fleet's run is in the folder."""
    return (path / NAME).is_file()


@contextmanager
def begun(path: Path, request: Request, text: str, command: str) -> Iterator[Folder]:
    """A new fleet's folder.

    Raises:
        FileExistsError: if a fleet's run is there already.
        ValueError: if no folder can be there.
        FleetError: if another process writes to it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{path} cannot be a fleet's folder: {error.strerror}; name another") from error
    with _locked(path):
        if is_fleet(path):
            raise FileExistsError(f"{path} holds a fleet's run already; resume it or name another folder")
        asked = {
            name: list(v) if isinstance(v, tuple) else v for name, v in asdict(from_anywhere(request)).items()
        }
        folder = Folder(path, Manifest(request=asked, suite_text=text, command=command))
        folder.save()
        try:
            yield folder
        except BaseException:
            if not folder.manifest.devices:
                (path / NAME).unlink()
                _remove_empty(path)
            raise


def _remove_empty(path: Path) -> None:
    with suppress(OSError):  # Something else is in it.
        path.rmdir()


@contextmanager
def resumed(path: Path) -> Iterator[Folder]:
    """The folder of a fleet that was ended.

    Raises:
        ValueError: if ``fleet.json`` cannot be read; says why.
        FleetError: if another process writes to it.
    """
    with _locked(path):
        yield Folder(path, manifest_of(path))


def manifest_of(path: Path) -> Manifest:
    """What ``fleet.json`` in a folder says.

    Raises:
        ValueError: if it cannot be read; says why.
    """
    file = path / NAME
    try:
        found = Manifest.model_validate_json(file.read_bytes())
        found.asked()
    except OSError as error:
        raise ValueError(
            f"{file} cannot be read: {error.strerror}; give the folder of a fleet's run"
        ) from error
    except ValidationError as error:
        wrong = "; ".join(mistakes(error, Manifest))
        raise ValueError(f"{file} is not a fleet's: {wrong}; begin a new run") from None
    return found


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FleetError(f"another process writes to {path}; wait until it has ended") from None
        yield
    finally:
        os.close(folder)

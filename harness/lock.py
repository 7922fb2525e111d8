"""One run at a time on a physical device: two that share it measure each other.

The lock is the operating system's (``flock``) on a file named after the device, so it goes with its holder,
however that ended. The file says who holds it and stays where it is: removing it would let two processes
lock two files of one name.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

FOLDER = "HARNESS_LOCK_DIR"
"""Names the folder of the locks in the environment; all runs on a machine must agree on it."""
_ANYBODY = 0o666
_MOST_BYTES = 4096
_TRIES = 10


class DeviceBusy(Exception):
    """Another process measures on the device; the message says which, since when, and what to do."""


@contextmanager
def locked(devices: Mapping[str, Iterable[str]], command: str) -> Iterator[None]:
    """Holds the locks of physical devices, all of them or none.

    Args:
        devices: what a person calls each (``cuda:0``), by :attr:`backends.devices.DeviceInfo.physical`.
        command: what the holder does, for whoever is refused meanwhile.

    Raises:
        DeviceBusy: if another process holds one.
        OSError: if the lock's file can be neither opened nor made.
    """
    with ExitStack() as held:
        for physical, names in sorted(devices.items()):
            held.enter_context(_locked(physical, ", ".join(names), command))
        yield


@contextmanager
def _locked(physical: str, names: str, command: str) -> Iterator[None]:
    file = _opened(lock_path(physical))
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DeviceBusy(_refusal(f"{physical} ({names})", file)) from None
        _sign(file, command)
        try:
            yield
        finally:
            os.ftruncate(file, 0)
    finally:
        os.close(file)


def lock_path(physical: str) -> Path:
    """The file that is locked for a device.

    Below /tmp, not below the user's own runtime folder: two users must meet there.
    """
    folder = os.environ.get(FOLDER) or ("/tmp" if os.access("/tmp", os.W_OK) else tempfile.gettempdir())
    return Path(folder) / f"opencl-cuda-harness-{re.sub(r'[^0-9A-Za-z.]+', '-', physical)}.lock"


def _opened(path: Path) -> int:
    """The file, made if need be, for any user to open; never a link that somebody left in its place.

    Opened without O_CREAT where it is there: Linux refuses that for another user's file in a shared folder.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    for _ in range(_TRIES):
        try:
            return os.open(path, flags)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            file = os.open(path, flags | os.O_CREAT | os.O_EXCL, _ANYBODY)
            os.fchmod(file, _ANYBODY)  # The umask took some of it.
            return file
    raise OSError(f"{path} appears and disappears; set {FOLDER} to another folder")


def _sign(file: int, command: str) -> None:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    text = json.dumps({"pid": os.getpid(), "command": command[: _MOST_BYTES // 8], "since": since})
    os.ftruncate(file, 0)
    os.pwrite(file, text.encode(), 0)


def _refusal(device: str, file: int) -> str:
    try:
        holder = json.loads(os.pread(file, _MOST_BYTES, 0))
        who = f"process {holder['pid']} since {holder['since']}: {holder['command']}"
    except (ValueError, KeyError, TypeError):
        # It has the lock and has not signed yet.
        who = "another process that began just now"
    return f"{device} is being measured by {who}; wait until it has ended, or choose another with --device"

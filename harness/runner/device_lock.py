"""One run at a time on a physical device: two that share it measure each other.

The lock is the operating system's (``flock``) on a file named after the device, so it goes with its holder,
however that ended, and with the workers that inherit the open file. The file says who holds it and stays
where it is: removing it would let two processes lock two files of one name.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = "HARNESS_LOCK_DIR"
"""Names the folder of the locks in the environment; all runs on a machine must agree on it."""
_ANYBODY = 0o666
_MOST_BYTES = 4096
_TRIES = 10
ENDING_S = 5.0
"""Seconds that the workers of a run that is no more may take to end."""
_PAUSE_S = 0.05


class DeviceBusy(Exception):
    """Another process measures on the device; the message says which, since when, and what to do."""


class LockUnusable(OSError):
    """The file of a lock can be neither opened nor made; the message says which, why and what to do."""


@contextmanager
def locked(devices: Mapping[str, Iterable[str]], command: str) -> Iterator[tuple[int, ...]]:
    """Holds the locks of physical devices, all of them or none.

    Gives the open files. A lock is held until the last process that has inherited one has closed it.

    Args:
        devices: what a person calls each (``cuda:0``), by :attr:`harness.devices.DeviceInfo.physical`.
        command: what the holder does, for whoever is refused meanwhile.

    Raises:
        DeviceBusy: if another process holds one.
        LockUnusable: if the lock's file can be neither opened nor made.
    """
    with ExitStack() as held:
        yield tuple(
            held.enter_context(_locked(physical, ", ".join(names), command))
            for physical, names in sorted(devices.items())
        )


@contextmanager
def _locked(physical: str, names: str, command: str) -> Iterator[int]:
    file = _opened(lock_path(physical))
    try:
        ends_at = time.monotonic() + ENDING_S
        while not _is_taken(file):
            if not _is_ending(file) or time.monotonic() > ends_at:
                raise DeviceBusy(_refusal(f"{physical} ({names})", file))
            time.sleep(_PAUSE_S)
        _sign(file, command)
        try:
            yield file
        finally:
            os.ftruncate(file, 0)
    finally:
        os.close(file)


def _is_taken(file: int) -> bool:
    """Whether the lock is ours now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_ending(file: int) -> bool:
    """Whether the run that signed is no more: its workers, which have the lock, are about to end."""
    holder = _holder(file)
    try:
        if holder:
            os.kill(int(holder["pid"]), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        # Another user's, or nobody's: what is in the file anybody may have written.
        return False
    return False


def lock_path(physical: str) -> Path:
    """The file that is locked for a device.

    Below /tmp, not below the user's own runtime folder: two users must meet there.
    """
    folder = os.environ.get(FOLDER)
    if folder == "":
        raise LockUnusable(f"{FOLDER} is empty; unset it, or set it to the folder of the locks")
    if folder is None:
        folder = "/tmp" if os.access("/tmp", os.W_OK) else tempfile.gettempdir()
    return Path(folder) / f"opencl-cuda-harness-{re.sub(r'[^0-9A-Za-z.]+', '-', physical)}.lock"


def _opened(path: Path) -> int:
    """The file, open."""
    try:
        return _open_or_make(path)
    except OSError as error:
        there = f"{FOLDER} is {os.environ[FOLDER]!r}" if FOLDER in os.environ else f"{FOLDER} is not set"
        why = f"the lock of a device, {path}, cannot be opened: {error.strerror or error}"
        raise LockUnusable(
            f"{why}; {there}: set it to a folder that can be written, the same for all runs on this machine"
        ) from error


def _open_or_make(path: Path) -> int:
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
    raise OSError("it appears and disappears")


def _sign(file: int, command: str) -> None:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    text = json.dumps({"pid": os.getpid(), "command": command[: _MOST_BYTES // 8], "since": since})
    os.ftruncate(file, 0)
    os.pwrite(file, text.encode(), 0)


def _refusal(device: str, file: int) -> str:
    holder = _holder(file)
    # Without one it has the lock and has not signed yet.
    who = (
        "process {pid} since {since}: {command}".format(**holder)
        if holder
        else "another process that began just now"
    )
    return f"{device} is being measured by {who}; wait until it has ended, or choose another with --device"


def _holder(file: int) -> dict[str, Any] | None:
    """Who signed the file: pid, since, command; None where nobody did so wholly."""
    try:
        signed = json.loads(os.pread(file, _MOST_BYTES, 0))
        return {"pid": int(signed["pid"]), "since": str(signed["since"]), "command": str(signed["command"])}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None

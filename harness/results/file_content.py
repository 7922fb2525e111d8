"""The bytes of a run file and the JSON in them: decompressed, and no more than fits a memory."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import stat
import sys
import zlib
from pathlib import Path
from typing import Any

_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open}
"""What opens a compressed file, by the file's first bytes."""
MAX_BYTES = "HARNESS_MAX_RUN_BYTES"
"""Names in the environment the most bytes that a run file may hold, decompressed."""
_DEFAULT_MAX_BYTES = 2**27
"""Ten times the largest that was recorded, and few enough that what a parser makes of them fits a memory."""
_MOST_DIGITS = 20
PIECE = 2**20
_PARTS = 4
"""What is parsed at once, a line or a document, is so much less: it takes thirty times the room meanwhile."""

GIVE = "give one that `harness run` wrote"
"""What to do about a file that is none."""


def content(path: Path, is_own: bool = False, give: str = GIVE) -> tuple[bytes, bool]:
    """What a file holds, decompressed, and whether it was plain.

    Args:
        path: the file.
        is_own: whether this process wrote it: then it may be of any size.
        give: what to do about a file that is none.

    Raises:
        ValueError: if it cannot be read, is damaged, or holds more than MAX_BYTES says.
    """
    most = sys.maxsize if is_own else most_bytes()
    try:
        with opened(path, give) as raw:
            opener = next(
                (opener for magic, opener in _OPENERS.items() if raw.peek(6).startswith(magic)), None
            )
            file = opener(raw) if opener else raw
            pieces, left = [], most
            while left >= 0 and (piece := file.read(min(PIECE, left + 1))):
                pieces.append(piece)
                left -= len(piece)
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{path} is not a whole file: {error}; {give}") from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; {give}") from error
    if left < 0:
        how = "" if opener is None else ", decompressed"
        raise ValueError(
            f"{path} holds more than {most} bytes{how}; {give}, or set {MAX_BYTES} to more where it is one"
        )
    return b"".join(pieces), opener is None


def opened(path: Path, give: str = GIVE) -> io.BufferedReader:
    """The file, opened; a device has no end, and a pipe may never begin. ``give``: as of :func:`content`.

    Raises:
        OSError: if it cannot be opened.
        ValueError: if it is a folder, a pipe or a device.
    """
    # Without waiting: a pipe would let nobody go on who opens it first.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        if give == GIVE and any(path.glob("*.jsonl*")):
            raise ValueError(f"{path} is a folder; give the run files in it: {path}/*.jsonl*")
        raise ValueError(f"{path} is a folder, a pipe or a device, not a file; {give}")
    return io.BufferedReader(io.FileIO(descriptor))


def most_bytes() -> int:
    """The most bytes that a file may hold, decompressed.

    Raises:
        ValueError: if what MAX_BYTES says is no such number.
    """
    text = os.environ.get(MAX_BYTES)
    if text is None:
        return _DEFAULT_MAX_BYTES
    if not (text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS and int(text)):
        raise ValueError(f"{MAX_BYTES}={text[:99]!r}: it must be a number of bytes above 0")
    return int(text)


def most_at_once() -> int:
    """The most bytes that are parsed at once, a line or a document."""
    return max(most_bytes(), _DEFAULT_MAX_BYTES) // _PARTS


def parsed(text: bytes) -> Any:
    """What a text of JSON says.

    Raises:
        ValueError: if it is none, too long, or nested too deeply.
    """
    if len(text) > (most := most_at_once()):
        raise ValueError(f"it is longer than {most} bytes, a quarter of {MAX_BYTES}")
    try:
        return json.loads(text.decode())
    except json.JSONDecodeError as error:
        # Its own message counts lines, too, from where it was asked to begin.
        raise ValueError(f"{error.msg} (character {error.pos + 1})") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None

"""Files that other processes read while they are written."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def is_full(error: OSError) -> bool:
    """Whether a file could not be written for want of room: more of it would help."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _folder_beside(target: Path, path: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder for what is to become ``path``, on its own disk."""
    try:
        return tempfile.TemporaryDirectory(dir=target.parent)
    except OSError as error:
        # Its own name is one that nobody gave.
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, whose file takes the place of ``path`` at once when the block ends; folders are
    made. Where the block raises, or writes nothing, ``path`` stays as it was. Of a link what it leads to is
    replaced.

    Raises:
        OSError: if the folder cannot be written to, the disk is full, or nothing was written; names ``path``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.resolve()
    with _folder_beside(target, path) as folder:
        whole = Path(folder) / path.name
        try:
            yield whole
            whole.replace(target)
        except OSError as error:
            # A write names no file, as on a full disk, and the part is gone when this is read.
            if error.errno and error.filename in (None, str(whole)):
                raise OSError(error.errno, error.strerror, str(path)) from error
            raise

"""Files that other processes read while they are written."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, whose file takes the place of ``path`` at once when the block ends; folders are
    made. Where the block raises, or writes nothing, ``path`` stays as it was.

    Raises:
        OSError: if the folder cannot be written to, or nothing was written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        whole = Path(folder) / path.name
        yield whole
        whole.replace(path)

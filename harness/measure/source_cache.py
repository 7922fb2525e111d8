"""What the workers of a run share in a folder: the sources of its problems and the right answers.

Random numbers by the gigabyte and references in wide types are slow on the host, and every backend needs both
in every process.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pickle
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from harness.problems import Array

MOST_BYTES = 2**30
"""What the answers may take that are no arrays; those beyond it are computed anew by each worker."""
LEAST_ARRAY_BYTES = 2**20
"""Arrays of fewer bytes are made anew: that is as fast as reading them."""
MOST_ARRAY_BYTES = 2**34
"""What the arrays may take together; one alone may take more."""
FREE_SHARE = 0.25
"""The part of the disk's free space, with what they have taken of it, that the arrays may take together."""

PREFIX = "opencl-cuda-harness-"
"""What the folders' names begin with, among the temporary files."""
LEFT_AFTER_S = 60.0
"""A folder that no run holds is younger than this only while its run begins."""

_ANSWER, _ARRAY, _HELD = ".answer", ".npy", ".lock"


@contextmanager
def shared_folder() -> Iterator[str]:
    """A folder for the workers of one run, gone at its end.

    A run that is killed leaves its own, gigabytes maybe: the next run removes what no run holds. The lock is
    the operating system's, on a file in the folder, so it goes with its holder.
    """
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if _is_left(path):
            shutil.rmtree(path, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    with (folder / f"run{_HELD}").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            yield str(folder)
        finally:
            # Before it lets go of the lock: nobody else is to remove it at the same time.
            shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    """Whether this is a folder of this user's that a run which is no more has left."""
    try:
        about = folder.lstat()
        is_ours = stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid()
        if not is_ours or time.time() - about.st_mtime < LEFT_AFTER_S:
            return False
        with (folder / f"run{_HELD}").open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        # Killed before it could hold it, or gone meanwhile.
        return True
    except OSError:
        return False
    return True


class Shared:
    """Answers and arrays by key, of one seed and image.

    Only for a folder that nobody else can write to: answers are pickled.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def answer(self, key: object, compute: Callable[[], Any]) -> Any:
        """The answer of ``key``, a problem or one of its sources, that is no large array; computed and kept
        where nobody has.
        """
        path = self._path(key, _ANSWER)
        with self._alone():
            if path.exists():
                return pickle.loads(path.read_bytes())
            answer = compute()
            data = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
            there = sum(entry.stat().st_size for entry in self._folder.glob(f"*{_ANSWER}"))
            if there + len(data) <= MOST_BYTES:
                _keep(path, lambda part: part.write_bytes(data))
            return answer

    def array(self, key: Hashable, make: Callable[[], Array]) -> Array:
        """The array of ``key``, a source or an image that is an answer; made and kept where no worker has.

        Many are kept: the cases that share one follow each other, on every device, and every context of the
        run comes to it again.
        """
        path = self._path(key, _ARRAY)
        with self._alone():
            if path.exists():
                # Mapped, not read; what is written to it would stay in this process.
                return np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
            array = make()
            if array.nbytes >= LEAST_ARRAY_BYTES and self._make_room(array.nbytes):
                _keep(path, lambda part: _save(part, array))
            return array

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One worker at a time: those that prepare for the same problem find what the first has made.

        The folder is made again where something has removed it, as cleaners of temporary files do.
        """
        with suppress(FileExistsError):
            self._folder.mkdir(mode=0o700)
        folder = os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            # The operating system's lock: it goes with a worker that is killed.
            fcntl.flock(folder, fcntl.LOCK_EX)
            _require_ours(folder, self._folder)
            yield
        finally:
            os.close(folder)

    def _make_room(self, nbytes: int) -> bool:
        """Removes arrays as far as another one needs; whether it fits then.

        Those that were kept last go first, as a run comes to its arrays in the same order again and again: if
        the oldest went, none would still be there when its turn comes. But the very last goes last: other
        workers are about to read it. To be called by one worker at a time: what is half written then a killed
        one has left.
        """
        if not self._folder.is_dir():
            # Something has removed it; the next array makes it again.
            return False
        for path in self._folder.iterdir():
            if path.suffix not in (_ANSWER, _ARRAY, _HELD):
                path.unlink(missing_ok=True)
        kept = sorted(self._folder.glob(f"*{_ARRAY}"), key=lambda path: path.stat().st_mtime_ns)
        sizes = {path: path.stat().st_size for path in kept}
        taken = sum(sizes.values())
        fitting = int(FREE_SHARE * (shutil.disk_usage(self._folder).free + taken))
        if nbytes > fitting:
            return False
        for path in [*kept[-2::-1], *kept[-1:]]:
            if taken + nbytes <= min(MOST_ARRAY_BYTES, fitting):
                break
            # Who has mapped it keeps it: only its name goes.
            path.unlink(missing_ok=True)
            taken -= sizes[path]
        return True

    def _path(self, key: object, suffix: str) -> Path:
        return self._folder / f"{hashlib.blake2b(repr(key).encode(), digest_size=20).hexdigest()}{suffix}"


def _require_ours(folder: int, path: Path) -> None:
    """Who could write to it could have this process run anything."""
    about = os.fstat(folder)
    if about.st_uid != os.getuid() or about.st_mode & 0o022:
        raise PermissionError(f"{path} is not this user's alone; remove it, or set TMPDIR to another folder")


def _save(path: Path, array: Array) -> None:
    with path.open("wb") as file:
        np.save(file, array, allow_pickle=False)


def _keep(path: Path, write: Callable[[Path], object]) -> None:
    """Whole or not at all: a worker may be killed while it writes."""
    part = path.with_suffix(f".{os.getpid()}")
    try:
        write(part)
        part.replace(path)
    except OSError:
        # A full disk costs time, not the case.
        part.unlink(missing_ok=True)

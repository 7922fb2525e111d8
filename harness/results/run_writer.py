"""Writes a run file: each line is flushed and fsynced as it is written, so that whatever ends the process,
the lines before it stand.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol, Self

from harness.closing import Closing
from harness.explain import going_on
from harness.results.file_content import most_bytes
from harness.results.record import FORMAT, Record
from harness.results.run_lines import strict_json
from harness.results.runfile import RunFileUnusable, begun, is_compressed

_log = logging.getLogger(__name__)


class Writer(Protocol):
    """Takes what is measured, as it is made."""

    def write(self, record: Record) -> None:
        """Takes a record."""

    def write_image(self, image: Mapping[str, Any]) -> None:
        """Takes a picture."""


class RunLines(Writer, Protocol):
    """Takes all lines of a run behind its first."""

    def write_resumed(self, resumed: Mapping[str, Any]) -> None:
        """Takes note of when and with what the run goes on."""

    def write_end(self, seconds: float | None) -> None:
        """Takes note that the run has come to its end, and how long it took where that is known."""


class LineUnwritten(OSError):
    """A line of the run file in ``path`` that could not be written, as on a full disk, and why; says how to
    go on. The lines before it stand.
    """

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} cannot be written ({why}); make room, then {going_on(path)}")
        self.path, self.why = path, why


class RunWriter(Closing):
    """Appends to a run file. A context manager.

    Floats that are not finite are written as null: the file is strict JSON.

    Raises:
        FileExistsError: if ``path`` holds anything already.
        RunFileUnusable: if no run file can be there or could be read, or another run is writing it.
        LineUnwritten: if a line cannot be written; of a first line no file is left.
    """

    def __init__(self, path: Path | str, environment: Mapping[str, Any]) -> None:
        self.path = Path(path)
        try:
            most_bytes()
        except ValueError as error:
            # What is written must be read again.
            raise RunFileUnusable(str(error)) from error
        if is_compressed(self.path):
            raise RunFileUnusable(
                f"{self.path}: a run file is plain text while it is written; name it "
                f"{self.path.with_suffix('')}, and compress it afterwards"
            )
        with _usable(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            is_new = not self.path.exists()
            if not is_new and not self.path.is_file():
                raise RunFileUnusable(f"{self.path} is a folder, a pipe or a device; name another file")
            # Unbuffered: what a full disk refused must not be written again when the file is closed.
            self._file: IO[bytes] = self.path.open("ab", buffering=0)
        _hold(self._file, self.path)
        if os.fstat(self._file.fileno()).st_size:
            self._file.close()
            raise FileExistsError(f"{self.path} is not empty; resume it if it is a run, or name another file")
        try:
            self._append({**environment, "type": "environment", "format": FORMAT})
        except BaseException as error:
            self._file.close()
            if is_new:
                self.path.unlink()
            if isinstance(error, LineUnwritten):
                # Nothing was written that could be gone on with.
                why = f"{self.path} cannot be written ({error.why})"
                raise RunFileUnusable(f"{why}; make room, or name another file") from error
            raise

    @classmethod
    def resume(cls, path: Path | str) -> tuple[Self, list[Record]]:
        """A writer that goes on where a killed run ended, a torn last line cut off, and the records it has,
        one a case and block.

        Raises:
            RunFileUnusable: if the file cannot be written, is not a plain run file, or is being written by
                another run.
            ValueError: as :func:`load_run`.
        """
        path = Path(path)
        data, run = begun(path)
        writer = cls.__new__(cls)
        with _usable(path):
            writer.path, writer._file = path, path.open("r+b", buffering=0)
        _hold(writer._file, path)
        if os.fstat(writer._file.fileno()).st_size != len(data):
            writer.close()
            raise RunFileUnusable(f"{path}: another run has gone on with it meanwhile; look at it anew")
        end = data.rfind(b"\n") + 1 if run.environment.get("torn") else len(data)
        writer._file.truncate(end)
        writer._file.seek(end)
        if end and data[end - 1 : end] != b"\n":
            writer._file.write(b"\n")
        return writer, run.trials

    def write(self, record: Record) -> None:
        """Appends a record; it is on the disk when this returns."""
        self._append(record.to_json())

    def write_image(self, image: Mapping[str, Any]) -> None:
        """Appends a picture: title, backend, device, caption, png (base64)."""
        self._append({**image, "type": "image"})

    def write_resumed(self, resumed: Mapping[str, Any]) -> None:
        """Appends when and with what the run goes on: started, commit, dirty, host, packages."""
        self._append({**resumed, "type": "resumed"})

    def write_end(self, seconds: float | None) -> None:
        """Appends that the run has come to its end."""
        self._append({"type": "end", "seconds": seconds})

    def close(self) -> None:
        """Closes the file. May be called twice."""
        self._file.close()

    def _append(self, line: Mapping[str, Any]) -> None:
        left = memoryview(strict_json(line).encode() + b"\n")
        try:
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise LineUnwritten(self.path, error.strerror or str(error)) from error


def _hold(file: IO[bytes], path: Path) -> None:
    """Keeps other runs from writing the file while this one has it open; closes it where one does.

    Runs on different devices may be started at the same time, and with the same file by mistake.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise RunFileUnusable(
            f"{path}: another run is writing it; wait until that has ended, or name another file"
        ) from None
    except OSError as error:
        # Some file systems of other machines have no locks.
        _log.info("%s cannot be locked: %s", path, error)


@contextmanager
def _usable(path: Path) -> Iterator[None]:
    """Around what opens a run file to write: its errors say what to do."""
    try:
        yield
    except OSError as error:
        if error.strerror is None:
            raise
        why = f"{error.strerror}: {error.filename}" if error.filename != str(path) else error.strerror
        raise RunFileUnusable(f"{path} cannot be written ({why}); name another file") from error

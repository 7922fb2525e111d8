"""A run: the records of one invocation. One append-only JSON-lines file, read back whole.

First line the environment, then one line a record or picture, each flushed and fsynced as it is written, so
that whatever ends the process, the lines before it stand. The last line says that the run came to its end.
"""

from __future__ import annotations

import fcntl
import io
import json
import logging
import math
import os
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

from harness.explain import going_on
from harness.results.file_content import GIVE, MAX_BYTES, PIECE, content, most_at_once, opened, parsed
from harness.results.merge import merged
from harness.results.record import FORMAT, READABLE, Record
from harness.results.schema import check_benchmarks, read
from harness.results.sweep import left_out

_LONGEST_MESSAGE = 2000
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Run:
    """What one file holds. ``environment["torn"]`` is True if its last line was cut off and dropped.

    ``records`` has one a case, merged from those of its blocks, which are in ``trials`` as the file
    has them. ``images`` are the lines of type ``image``: title, backend, device, caption, png (base64).
    ``is_whole``: whether the run came to its end, None where the file does not say. ``seconds``: how long it
    took; None where that is not known, as of a run that was resumed. ``is_benchmarks``: whether it was read
    from pytest-benchmark's JSON, which has neither what was skipped nor the processes.
    """

    environment: dict[str, Any]
    records: list[Record]
    images: list[dict[str, Any]]
    path: Path | None = None
    trials: list[Record] = field(default_factory=list)
    is_whole: bool | None = None
    seconds: float | None = None
    is_benchmarks: bool = False

    @property
    def lacks(self) -> list[str]:
        """What is not in the file as the run was ended before, or the file cut: a sentence each.

        Files of earlier versions do not say whether their runs came to an end, the earliest not how many
        cases these had. Of pytest-benchmark's JSON nobody can tell.
        """
        if self.is_benchmarks:
            return []
        # Candidates for a limit that were known to be slower are cases of the plan, but have no record.
        cases = (self.environment.get("cases") or 0) - left_out(self.records)
        processes = (self.environment.get("options") or {}).get("processes") or 1
        # What is skipped, or failed, has no record of a later process.
        begun = 1 + max((each.process for each in self.trials if each.status == "ok"), default=processes)
        is_resumable = self.path and not _is_compressed(self.path) and "fleet" not in self.environment
        how = f" ({going_on(self.path)})" if is_resumable else ""
        told = []
        if left := max(0, cases - len(self.records)):
            ended = "the run was ended before its last case"
            why = "lines of the run file are missing" if self.is_whole else ended
            told.append(f"{why}: {left} of {cases} have no record{how}")
        elif begun < processes and not self.is_whole:
            told.append(f"the run was ended in process {begun} of {processes}: there are fewer samples{how}")
        elif self.is_whole is False:
            told.append(f"the run was ended in its last process: there may be fewer samples{how}")
        if self.environment.get("torn"):
            told.append("the run file's last line was cut off and left out")
        return told


def load_run(path: Path | str) -> Run:
    """The run of a run file (plain, gzip or xz) or of a pytest-benchmark JSON file, told by content.

    Whatever is let in is whole and of the types that :mod:`harness.results.schema` asks for.

    Raises:
        ValueError: if the file cannot be read, is not such a file, is damaged anywhere but in its last line,
            or holds more than MAX_BYTES says; names file, line, field and remedy.
    """
    path = Path(path)
    return run_of(path, content(path)[0])


def run_of(path: Path, data: bytes) -> Run:
    """The run of a file's content, decompressed; see :func:`load_run`. ``path`` is what errors call it."""
    document = _benchmarks(path, data)
    if document is not None:
        return _benchmark_run(path, document)
    lines = _lines(path, data)
    first = next(lines, None)
    if first is None or first.get("type") != "environment":
        raise ValueError(f"{path} is not a run file: line 1 describes no machine; {GIVE}")
    environment = _environment(f"{path}, line 1", first)
    records: list[Record] = []
    images: list[dict[str, Any]] = []
    end: dict[str, Any] | None = None
    for number, line in enumerate(lines, 2):
        where = f"{path}, line {number}"
        # What stands behind an end is of a run that was resumed.
        end = None
        if line is None:
            environment["torn"] = True
        elif isinstance(found := _read(where, line), Record):
            records.append(found)
        elif line["type"] == "end":
            end = found
        elif line["type"] == "environment":
            raise ValueError(
                f"{where}: a second run begins here; give each run its own file: a report takes several"
            )
        else:
            images.append(found)
    is_whole = end is not None if environment["format"] > 1 else None
    return Run(environment, merged(records), images, path, records, is_whole, (end or {}).get("seconds"))


def first_line(path: Path) -> dict[str, Any] | None:
    """The environment of a plain run file, without reading the rest; None of any other file."""
    try:
        with opened(path) as file:
            line = json.loads(file.readline(_MOST_OF_FIRST_LINE))
        return line if line.get("type") == "environment" and read(line) else None
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None


_MOST_OF_FIRST_LINE = 2**24
"""Bytes."""


class RunFileUnusable(OSError):
    """A run file that can neither be begun nor gone on with; the message says which, why and what to do."""


class Writer(Protocol):
    """Takes the lines of a run as they are made."""

    def write(self, record: Record) -> None:
        """Takes a record."""

    def write_image(self, image: Mapping[str, Any]) -> None:
        """Takes a picture."""

    def write_end(self, seconds: float | None) -> None:
        """Takes note that the run has come to its end, and how long it took where that is known."""


class RunWriter:
    """Appends to a run file. A context manager.

    Floats that are not finite are written as null: the file is strict JSON.

    Raises:
        FileExistsError: if ``path`` holds anything already.
        RunFileUnusable: if no run file can be there, or another run is writing it.
        OSError: if a line cannot be written, as on a full disk; names the file and how to go on. The lines
            before it stand; of a first line no file is left.
    """

    def __init__(self, path: Path | str, environment: Mapping[str, Any]) -> None:
        self.path = Path(path)
        if _is_compressed(self.path):
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
            if isinstance(error.__cause__, OSError):
                # Nothing was written that could be gone on with.
                why = f"{self.path} cannot be written ({error.__cause__.strerror})"
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
        data, run = _begun(path)
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

    def write_end(self, seconds: float | None) -> None:
        """Appends that the run has come to its end."""
        self._append({"type": "end", "seconds": seconds})

    def close(self) -> None:
        """Closes the file. May be called twice."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, line: Mapping[str, Any]) -> None:
        left = memoryview(strict_json(line).encode() + b"\n")
        try:
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            how = f"{error.strerror}; make room, then {going_on(self.path)}"
            raise OSError(error.errno, how, str(self.path)) from error


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


def load_begun(path: Path) -> Run:
    """The run of a file that can be resumed.

    Raises:
        RunFileUnusable: if the file is not a plain run file.
        ValueError: as :func:`load_run`.
    """
    return _begun(path)[1]


def _begun(path: Path) -> tuple[bytes, Run]:
    data, is_plain = content(path)
    run = run_of(path, data)
    if not is_plain or run.is_benchmarks:
        raise RunFileUnusable(
            f"{path} is compressed or a pytest-benchmark file; only a plain run file can be resumed: "
            "unpack it first"
        )
    return data, run


def _is_compressed(path: Path) -> bool:
    """Whether a file is named as compressed ones are."""
    return path.suffix.lower() in (".gz", ".xz")


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


def strict_json(data: Any) -> str:
    """One line of strict JSON: NumPy scalars as numbers, paths as text, non-finite floats as null."""
    return json.dumps(_strict(data), allow_nan=False)


def _strict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


_REMOVE = "remove that line, or measure again"


def _lines(path: Path, data: bytes) -> Iterator[dict[str, Any] | None]:
    """The file's JSON objects; None for a last line without its newline that is no whole one."""
    for number, raw in enumerate(io.BytesIO(data), 1):
        try:
            line = parsed(raw)
        except ValueError as error:
            if not raw.endswith(b"\n"):
                yield None
                return
            remedy = _REMOVE if number > 1 else GIVE
            raise ValueError(f"{path}, line {number} is not JSON: {error}; {remedy}") from error
        if not isinstance(line, dict):
            remedy = _REMOVE if number > 1 else GIVE
            raise ValueError(f"{path}, line {number} is not a JSON object; {remedy}")
        yield line


def _environment(where: str, line: dict[str, Any]) -> dict[str, Any]:
    if line.get("format") not in READABLE or isinstance(line["format"], (bool, float)):
        raise ValueError(
            f"{where}: format {reprlib.repr(line.get('format'))}, this harness reads up to {FORMAT}; "
            "use the harness that wrote it, or measure again"
        )
    # Whether this file is torn, its reader alone can tell.
    line = {key: value for key, value in line.items() if key != "torn"}
    _read(where, line)
    return line


def _read(where: str, line: dict[str, Any]) -> Any:
    with _located(where):
        return read(line)


@contextmanager
def _located(where: str) -> Iterator[None]:
    """Around what reads a part of a file: its errors say which, and what to do, and are no longer than that
    they can be read.
    """
    try:
        yield
    except RecursionError:
        raise ValueError(f"{where}: it is nested too deeply; {_REMOVE}") from None
    except ValueError as error:
        raise ValueError(f"{where}: {str(error)[:_LONGEST_MESSAGE]}; {_REMOVE}") from error


def _benchmarks(path: Path, data: bytes) -> dict[str, Any] | None:
    """The file of pytest-benchmark, one JSON document, if it is one."""
    if not data[:PIECE].lstrip().startswith(b"{") or b'"benchmarks"' not in data or _is_lines(data):
        return None
    if len(data) > (most := most_at_once()):
        raise ValueError(
            f"{path} holds a document of more than {most} bytes; set {MAX_BYTES} to four times what it has"
        )
    try:
        document = parsed(data)
    except ValueError:
        return None
    return document if isinstance(document, dict) and "benchmarks" in document else None


def _is_lines(data: bytes) -> bool:
    """Whether the first line is a whole one of several."""
    first, newline, _ = data.partition(b"\n")
    try:
        return bool(newline) and "type" in parsed(first)
    except (ValueError, TypeError):
        return False


def _benchmark_run(path: Path, document: dict[str, Any]) -> Run:
    with _located(str(path)):
        check_benchmarks(document)
    machine = document.get("machine_info", {}).get("harness")
    found = [
        (f"{path}, benchmarks[{place}].extra_info.record", benchmark["extra_info"]["record"])
        for place, benchmark in enumerate(document["benchmarks"])
        if benchmark.get("extra_info", {}).get("record") is not None
    ]
    if machine is None or not found:
        raise ValueError(
            f"{path}: a pytest-benchmark file of other benchmarks; give one that tests/benchmarks wrote"
        )
    where = f"{path}, machine_info.harness"
    environment = _environment(where, {"format": FORMAT, **machine, "type": "environment"})
    records = [_read(where, {**line, "type": "record"}) for where, line in found]
    return Run(environment, merged(records), [], path, records, is_benchmarks=True)

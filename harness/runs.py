"""A run: the records of one invocation. One append-only JSON-lines file, read back whole.

First line the environment, then one line a record or picture, each flushed and fsynced as it is written, so
that whatever ends the process, the lines before it stand.
"""

from __future__ import annotations

import gzip
import json
import lzma
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from harness.lines import check
from harness.merging import merged
from harness.records import FORMAT, Record

_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open}
"""What opens a compressed file, by the file's first bytes."""


@dataclass(frozen=True)
class Run:
    """What one file holds. ``environment["torn"]`` is True if its last line was cut off and dropped.

    ``records`` has one a case, merged from those of several processes, which are in ``turns`` as the file has
    them. ``images`` are the lines of type ``image``: title, backend, device, caption, png (base64).
    """

    environment: dict[str, Any]
    records: list[Record]
    images: list[dict[str, Any]]
    path: Path | None = None
    turns: list[Record] = field(default_factory=list)


def load_run(path: Path | str) -> Run:
    """The run of a run file (plain, gzip or xz) or of a pytest-benchmark JSON file, told by content.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is not such a file or is damaged anywhere but in its last line; names file, line and
        remedy.
    """
    path = Path(path)
    text = _text(path)
    if _is_benchmark(text):
        return _benchmark_run(path, json.loads(text))
    lines = list(_lines(path, text))
    environment = _environment(path, lines[0] if lines else None)
    if lines and not text.endswith("\n") and not _parses(text.rpartition("\n")[2]):
        environment["torn"] = True
    records: list[Record] = []
    images: list[dict[str, Any]] = []
    for number, line in enumerate(lines[1:], 2):
        if line.get("type") == "image":
            images.append(_checked(path, number, line))
        elif line.get("type") == "record":
            records.append(_record(path, number, line))
        else:
            raise ValueError(f"{path}, line {number}: type {line.get('type')!r} is unknown; {_REMOVE}")
    return Run(environment, _merged(path, records), images, path, records)


def first_line(path: Path) -> dict[str, Any] | None:
    """The environment of a plain run file, without reading the rest; None of any other file."""
    try:
        with path.open("rb") as file:
            line = json.loads(file.readline(_MOST_OF_FIRST_LINE))
        check(line)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    return line if line.get("type") == "environment" else None


_MOST_OF_FIRST_LINE = 2**24
"""Bytes."""


class RunWriter:
    """Appends to a run file. A context manager.

    Floats that are not finite are written as null: the file is strict JSON.

    Raises:
        FileExistsError: if ``path`` holds anything already.
        OSError: if a line cannot be written, as on a full disk; names the file and how to go on. The lines
            before it stand; of a first line no file is left.
    """

    def __init__(self, path: Path | str, environment: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists() and self.path.stat().st_size:
            raise FileExistsError(f"{self.path} holds a run already; resume it or name another file")
        is_new = not self.path.exists()
        # Unbuffered: what a full disk refused must not be written again when the file is closed.
        self._file: IO[bytes] = self.path.open("ab", buffering=0)
        try:
            self._append({**environment, "type": "environment", "format": FORMAT})
        except BaseException:
            self._file.close()
            if is_new:
                self.path.unlink()
            raise

    @classmethod
    def resume(cls, path: Path | str) -> tuple[Self, list[Record]]:
        """A writer that goes on where a killed run ended, a torn last line cut off, and the records it has,
        one a case and process.

        Raises:
            OSError: if the file cannot be read or written.
            ValueError: as :func:`load_run`, or if the file is not a plain run file.
        """
        path = Path(path)
        run = load_run(path)
        data = path.read_bytes()
        if _opener(path) is not open or _is_benchmark(data.decode()):
            raise ValueError(
                f"{path} is compressed or a pytest-benchmark file; only a plain run file can be resumed"
            )
        writer = cls.__new__(cls)
        writer.path, writer._file = path, path.open("r+b", buffering=0)
        end = data.rfind(b"\n") + 1 if run.environment.get("torn") else len(data)
        writer._file.truncate(end)
        writer._file.seek(end)
        if end and data[end - 1 : end] != b"\n":
            writer._file.write(b"\n")
        return writer, run.turns

    def write(self, record: Record) -> None:
        """Appends a record; it is on the disk when this returns."""
        self._append(record.to_json())

    def write_image(self, image: Mapping[str, Any]) -> None:
        """Appends a picture: title, backend, device, caption, png (base64)."""
        self._append({**image, "type": "image"})

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
            how = f"{error.strerror}; make room, then `harness run --resume {self.path}` goes on"
            raise OSError(error.errno, how, str(self.path)) from error


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
_GIVE = "give one that `harness run` wrote"


def _text(path: Path) -> str:
    try:
        with _opener(path)(path, "rb") as file:
            text: str = file.read().decode()
            return text
    except (EOFError, UnicodeDecodeError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{path} is not a whole run file: {error}; {_GIVE}") from error


def _opener(path: Path) -> Any:
    with path.open("rb") as file:
        head = file.read(6)
    return next((opener for magic, opener in _OPENERS.items() if head.startswith(magic)), open)


def _parses(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _lines(path: Path, text: str) -> Iterator[dict[str, Any]]:
    """The file's JSON objects; a last line without its newline that is no whole object is left out."""
    *whole, last = text.split("\n")
    for number, line in enumerate(whole + [last] * _parses(last), 1):
        try:
            data = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number} is not JSON: {error}; {_REMOVE}") from error
        if not isinstance(data, dict):
            raise ValueError(f"{path}, line {number} is not a JSON object; {_REMOVE}")
        yield data


def _environment(path: Path, line: dict[str, Any] | None) -> dict[str, Any]:
    if line is None or line.get("type") != "environment":
        raise ValueError(f"{path} is not a run file: line 1 describes no machine; {_GIVE}")
    if line.get("format") != FORMAT:
        raise ValueError(
            f"{path}, line 1: format {line.get('format')!r}, this harness reads {FORMAT}; "
            "use the harness that wrote it, or measure again"
        )
    return _checked(path, 1, line)


def _checked(path: Path, number: int, line: dict[str, Any]) -> dict[str, Any]:
    try:
        check(line)
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: {error}; {_REMOVE}") from error
    return line


def _record(path: Path, number: int, line: dict[str, Any]) -> Record:
    _checked(path, number, line)
    try:
        for clock in line["clocks"].values():
            _drop_missing(clock)
        return Record.from_json(line)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}, line {number}: {error}; {_REMOVE}") from error


def _merged(path: Path, records: list[Record]) -> list[Record]:
    try:
        return merged(records)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: the records of one case do not fit together: {error}; {_GIVE}") from error


def _drop_missing(clock: dict[str, Any]) -> None:
    """Leaves out the samples that were no numbers, with the blocks that they belong to."""
    seconds, blocks = clock["seconds"], clock.get("blocks") or [0] * len(clock["seconds"])
    there = [pair for pair in zip(seconds, blocks, strict=True) if pair[0] is not None]
    clock["seconds"], clock["blocks"] = [pair[0] for pair in there], [pair[1] for pair in there]


def _is_benchmark(text: str) -> bool:
    """Whether the text is one JSON document with ``benchmarks`` in it."""
    if not text.lstrip().startswith("{") or '"benchmarks"' not in text:
        return False
    try:
        return "benchmarks" in json.loads(text)
    except ValueError:
        return False


def _benchmark_run(path: Path, data: dict[str, Any]) -> Run:
    environment = data.get("machine_info", {}).get("harness")
    lines = [b["extra_info"]["record"] for b in data["benchmarks"] if "record" in b.get("extra_info", {})]
    if environment is None or not lines:
        raise ValueError(
            f"{path}: a pytest-benchmark file of other benchmarks; give one that tests/benchmarks wrote"
        )
    environment = _environment(path, {"format": FORMAT, **environment, "type": "environment"})
    records = [_record(path, number, line) for number, line in enumerate(lines, 1)]
    return Run(environment, _merged(path, records), [], path, records)

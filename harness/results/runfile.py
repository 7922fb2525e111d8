"""A run: the records of one invocation, in one file of JSON lines, read back whole.

First line the environment, then one line a record or picture (:mod:`harness.results.run_writer`), and one
wherever the run was resumed. The last line says that the run came to its end.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.explain import going_on
from harness.results.benchmark_file import contents_of, document_of
from harness.results.file_content import GIVE, content, opened
from harness.results.merge import merged
from harness.results.record import Record
from harness.results.run_lines import environment_of, lines_of, part_of
from harness.results.schema import read
from harness.results.sweep import left_out


@dataclass(frozen=True)
class Run:
    """What one file holds. ``environment["torn"]`` is True if its last line was cut off and dropped.

    ``records`` has one a case, merged from those of its blocks, which are in ``trials`` as the file
    has them. ``images`` are the lines of type ``image``: title, backend, device, caption, png (base64).
    ``resumed`` are those of type ``resumed``: when the run went on, at which commit, with which packages.
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
    resumed: list[dict[str, Any]] = field(default_factory=list)

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
        is_resumable = self.path and not is_compressed(self.path) and "fleet" not in self.environment
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


def load_run(path: Path | str, is_own: bool = False) -> Run:
    """The run of a run file (plain, gzip or xz) or of a pytest-benchmark JSON file, told by content. One that
    this process wrote ``is_own``, and may be of any size.

    Whatever is let in is whole and of the types that :mod:`harness.results.schema` asks for.

    Raises:
        ValueError: if the file cannot be read, is not such a file, is damaged anywhere but in its last line,
            or holds more than MAX_BYTES says; names file, line, field and remedy.
    """
    path = Path(path)
    return run_of(path, content(path, is_own)[0])


def run_of(path: Path, data: bytes) -> Run:
    """The run of a file's content, decompressed; see :func:`load_run`. ``path`` is what errors call it."""
    document = document_of(path, data)
    if document is not None:
        environment, found = contents_of(path, document)
        return Run(environment, merged(found), [], path, found, is_benchmarks=True)
    lines = lines_of(path, data)
    first = next(lines, None)
    if first is None or first.get("type") != "environment":
        raise ValueError(f"{path} is not a run file: line 1 describes no machine; {GIVE}")
    environment = environment_of(f"{path}, line 1", first)
    records: list[Record] = []
    images: list[dict[str, Any]] = []
    resumed: list[dict[str, Any]] = []
    end: dict[str, Any] | None = None
    for number, line in enumerate(lines, 2):
        where = f"{path}, line {number}"
        # What stands behind an end is of a run that was resumed.
        end = None
        if line is None:
            environment["torn"] = True
        elif isinstance(found := part_of(where, line), Record):
            records.append(found)
        elif line["type"] == "end":
            end = found
        elif line["type"] == "resumed":
            resumed.append(found)
        elif line["type"] == "environment":
            raise ValueError(
                f"{where}: a second run begins here; give each run its own file: a report takes several"
            )
        else:
            images.append(found)
    is_whole = end is not None if environment["format"] > 1 else None
    seconds = (end or {}).get("seconds")
    return Run(environment, merged(records), images, path, records, is_whole, seconds, resumed=resumed)


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


def load_begun(path: Path) -> Run:
    """The run of a file that can be resumed.

    Raises:
        RunFileUnusable: if the file is not a plain run file.
        ValueError: as :func:`load_run`.
    """
    return begun(path)[1]


def begun(path: Path) -> tuple[bytes, Run]:
    """The content and the run of a file that can be resumed; see :func:`load_begun`."""
    data, is_plain = content(path)
    run = run_of(path, data)
    if not is_plain or run.is_benchmarks:
        raise RunFileUnusable(
            f"{path} is compressed or a pytest-benchmark file; only a plain run file can be resumed: "
            "unpack it first"
        )
    return data, run


def is_compressed(path: Path) -> bool:
    """Whether a file is named as compressed ones are."""
    return path.suffix.lower() in (".gz", ".xz")

"""Do the tests see a fault? Planted changes, each of which must make the tests named beside it fail: ``tox -e
mutants``.

Each change (mutant) is made in a copy of the checkout. It is killed when one of its tests fails by an
assertion or an error of the project's own; the same tests must pass without it. That the code does not run at
all kills nothing: such a mutant is an error, as is one whose text the code no longer has, or one whose tests
do not end within the limit.

To add one, append a table to the file of its area in ``tests/checkers/planted``::

    [[mutant]]
    name = "sum-drops-the-tail"            # unique, in lower case
    file = "kernels_cl/reduction/reduce.cl"
    old = "rest < length"                  # must occur exactly once in the file
    new = "rest + 1 < length"
    tests = "tests/contract/test_backend_reductions.py -k test_sizes"    # for pytest; a few seconds
    breaks = "the last element is left out"
    needs = "gpu"                          # if no test sees it without a CUDA device; "oclgrind", "emulator"

and run ``tox -e mutants -- sum-drops-the-tail``. It takes long in all, so it is named not to be among
the functional tests.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated, Literal
from xml.etree import ElementTree

import psutil
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

ROOT = Path(__file__).parents[2]
PLANTED = Path(__file__).parent / "planted"
LIMIT_S = 600.0
"""Seconds that the tests of a mutant may take."""
NO_FAULT = re.compile(
    r"\b(SyntaxError|IndentationError|NameError|ImportError|ModuleNotFoundError|BuildError)\b"
)
"""In the message of a failed test: the change is no code that runs."""
_FAILED_TESTS = 1
"""pytest's exit code; higher ones are of tests that were not found, not collected or interrupted."""

_Text = Annotated[str, Field(min_length=1)]


class Mutant(BaseModel):
    """A planted change. ``tests`` are arguments of pytest; ``breaks`` says what it would spoil."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    file: _Text
    old: _Text
    new: str
    tests: _Text
    breaks: _Text
    needs: Literal["", "gpu", "oclgrind", "emulator"] = ""

    def changed(self, root: Path) -> str:
        """The text of its file in a checkout, with the change made.

        Raises:
            ValueError: if the text that it replaces does not occur exactly once.
        """
        path = root / self.file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"the text that it replaces occurs {found} times in {self.file}, not once")
        return text.replace(self.old, self.new)


class Outcome(StrEnum):
    """What became of a mutant; all but the first and the last are failures."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMED_OUT = "timed out"
    ERROR = "error"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Found:
    """An outcome, what it rests on (the test that failed, or what is wrong), and the seconds it took."""

    outcome: Outcome
    why: str = ""
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        """Whether nothing is to be done."""
        return self.outcome in (Outcome.KILLED, Outcome.NOT_RUN)


def planted(folder: Path = PLANTED) -> list[Mutant]:
    """All mutants of a folder's TOML files.

    Raises:
        ValueError: if a file is not valid or a name is there twice; names it.
    """
    mutants: list[Mutant] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
            mutants += TypeAdapter(dict[Literal["mutant"], list[Mutant]]).validate_python(tables)["mutant"]
        except (tomllib.TOMLDecodeError, ValidationError, KeyError) as error:
            raise ValueError(f"{path}: {error}") from error
    names = [mutant.name for mutant in mutants]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{folder}: the name of two mutants: {', '.join(twice)}")
    return mutants


def copied(root: Path, to: Path) -> Path:
    """A copy of a checkout without what was built or installed in it."""

    def left_out(folder: str, names: list[str]) -> list[str]:
        return [
            name
            for name in names
            if name.startswith(".")
            or name in ("__pycache__", "build", "dist", "generated")
            or name.endswith(".egg-info")
            or Path(folder, name, "pyvenv.cfg").exists()
        ]

    shutil.copytree(root, to, ignore=left_out)
    return to


def outcome_of(checkout: Path, tests: str, limit_s: float) -> Found:
    """What tests say of a checkout: killed by the first that fails, or survived."""
    scratch = checkout.with_name(f"{checkout.name}-scratch")
    scratch.mkdir()
    report, output = scratch / "report.xml", scratch / "output"
    # The copy goes before what is installed, here or in PYTHONPATH.
    found_in = os.pathsep.join(filter(None, [str(checkout), os.environ.get("PYTHONPATH")]))
    start = time.monotonic()
    try:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        with output.open("wb") as file:
            process = subprocess.Popen(
                [*command, f"--junitxml={report}", *shlex.split(tests)],
                cwd=checkout,
                # With CI Hypothesis takes the same examples each time.
                env={**os.environ, "PYTHONPATH": found_in, "TMPDIR": str(scratch), "CI": "1"},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
            try:
                code = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                return Found(Outcome.TIMED_OUT, f"after {limit_s:g} s", limit_s)
            finally:
                _end(process)
        outcome, why = _judged(code, report, output)
        return Found(outcome, why, time.monotonic() - start)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that may have ended, and those that it started, in sessions of their own too."""
    if process.poll() is None:
        leader = psutil.Process(process.pid)
        _kill([*leader.children(recursive=True), leader])
        process.wait()


def _kill(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _judged(code: int, report: Path, output: Path) -> tuple[Outcome, str]:
    if code not in (0, _FAILED_TESTS):
        lines = output.read_text(errors="replace").strip().splitlines()
        return Outcome.ERROR, f"pytest ended with exit code {code}: {lines[-1] if lines else ''}"
    cases = list(ElementTree.parse(report).iter("testcase"))
    for case in cases:
        for fault in (*case.iter("failure"), *case.iter("error")):
            message = " ".join(fault.get("message", "").split())
            test = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
            if NO_FAULT.search(message):
                return Outcome.ERROR, f"does not run: {message[:200]} in {test}"
            return Outcome.KILLED, f"{test}: {message}"
    if all(case.find("skipped") is not None for case in cases):
        return Outcome.ERROR, "all of its tests were skipped"
    return Outcome.SURVIVED, ""


@contextmanager
def made(mutant: Mutant, checkout: Path) -> Iterator[None]:
    """The change in a copy of the checkout, for a time."""
    path = checkout / mutant.file
    original, about = path.read_bytes(), path.stat()
    try:
        path.write_text(mutant.changed(checkout), encoding="utf-8")
        # Python knows what it has compiled by the time of the file: each mutant has its own.
        moment = zlib.crc32(mutant.name.encode()) // 4
        os.utime(path, (moment, moment))
        yield
    finally:
        path.write_bytes(original)
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def examine(
    mutants: Sequence[Mutant],
    root: Path = ROOT,
    workers: int = 1,
    limit_s: float = LIMIT_S,
    tell: Callable[[str, Found], None] = lambda *_: None,
) -> dict[str, Found]:
    """The outcome of each mutant, by its name: first those that need no test, then that of each selection of
    tests without a change, then with each.

    ``tell`` is called with each name and outcome, and with each selection of tests.
    """
    found: dict[str, Found] = {}
    free: SimpleQueue[Path] = SimpleQueue()

    def note(name: str, outcome: Found) -> None:
        found[name] = outcome
        tell(name, outcome)

    def left() -> list[Mutant]:
        return [mutant for mutant in mutants if mutant.name not in found]

    def run(tests: str, mutant: Mutant | None = None) -> Found:
        checkout = free.get()
        try:
            with made(mutant, checkout) if mutant else nullcontext():
                return outcome_of(checkout, tests, limit_s)
        finally:
            free.put(checkout)

    for mutant in mutants:
        if known := _known(mutant, root):
            note(mutant.name, known)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(workers) as pool:
        for number in range(workers):
            free.put(copied(root, Path(folder, f"copy-{number}")))
        try:
            selections = dict.fromkeys(mutant.tests for mutant in left())
            unchanged = {}
            for tests, outcome in zip(selections, pool.map(run, selections), strict=True):
                unchanged[tests] = outcome
                tell(f"unchanged: {tests}", outcome)
            for mutant in left():
                outcome = unchanged[mutant.tests]
                if outcome.outcome is not Outcome.SURVIVED:
                    note(
                        mutant.name,
                        Found(Outcome.ERROR, f"unchanged its tests are: {outcome.outcome}, {outcome.why}"),
                    )
            rest = left()
            for mutant, outcome in zip(rest, pool.map(lambda each: run(each.tests, each), rest), strict=True):
                note(mutant.name, outcome)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            _kill(psutil.Process().children(recursive=True))
            raise
    return found


def _known(mutant: Mutant, root: Path) -> Found | None:
    """The outcome of a mutant that no test need run for."""
    try:
        mutant.changed(root)
    except ValueError as error:
        return Found(Outcome.ERROR, str(error))
    missing = _missing(mutant.needs)
    return Found(Outcome.NOT_RUN, missing) if missing else None


@cache
def _missing(needed: str) -> str:
    """Why what a mutant's tests need is not there; empty where it is."""
    if needed == "oclgrind" and not shutil.which("oclgrind"):
        return "oclgrind is not on PATH"
    if needed == "emulator":
        from tests.support.amd_emulator import EMULATOR

        return "" if os.environ.get(EMULATOR) else f"{EMULATOR} names no checkout of tinygrad's repository"
    if needed == "gpu":
        from backends import available

        return "there is no CUDA device here" if isinstance(available()["cuda"], str) else ""
    return ""


def chosen(mutants: Sequence[Mutant], patterns: Sequence[str]) -> list[Mutant]:
    """The mutants whose names match any of the patterns (``sum-*``); all where there is none.

    Raises:
        ValueError: if a pattern matches no name.
    """
    for pattern in patterns:
        if not any(fnmatchcase(mutant.name, pattern) for mutant in mutants):
            raise ValueError(f"no mutant is named {pattern!r}; --list shows their names")
    return [
        mutant
        for mutant in mutants
        if not patterns or any(fnmatchcase(mutant.name, pattern) for pattern in patterns)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 1 where a mutant was neither killed nor left out."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.checkers.mutants", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="mutants, or patterns such as 'sum-*'; else all"
    )
    parser.add_argument("-n", type=int, default=1, metavar="N", help="how many at a time (default 1)")
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="S", help="seconds for each")
    parser.add_argument("--list", action="store_true", help="only show what there is")
    asked = parser.parse_args(arguments)
    try:
        mutants = chosen(planted(), asked.names)
    except ValueError as error:
        parser.error(str(error))
    width = max(len(mutant.name) for mutant in mutants)
    if asked.list:
        for mutant in mutants:
            print(f"{mutant.name:{width}}  {mutant.file}: {mutant.breaks}")
        return 0

    def line(name: str, found: Found) -> str:
        return f"{name:{width}}  {found.outcome:9}  {found.seconds:5.1f} s  {found.why[:160]}".rstrip()

    outcomes = examine(
        mutants, ROOT, max(1, asked.n), asked.limit, lambda *told: print(line(*told), flush=True)
    )
    print()
    for name, found in sorted(outcomes.items(), key=lambda item: (item[1].is_good, item[0])):
        print(line(name, found))
    counts = Counter(found.outcome for found in outcomes.values())
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return int(not all(found.is_good for found in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())

"""Measuring from the command line: progress on stderr, and how to go on with what was stopped."""

from __future__ import annotations

import math
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from harness.cli.mistakes import MistakeError
from harness.cli.terminal import complain, console
from harness.explain import going_on
from harness.results.record import Case, Record
from harness.results.runfile import Run, RunFileUnusable
from harness.runner import session
from harness.runner.device_lock import DeviceBusy, LockUnusable
from harness.runner.plan import RunPlan
from harness.runner.run import Progress
from harness.runner.signals import Ended
from harness.variants.axes import LibraryVariant, label


def measure(plan: RunPlan, path: Path, resuming: bool) -> Run:
    """Measures a plan into a run file, or what that leaves out, and shows the progress."""
    try:
        with Watcher() as watcher:
            if resuming:
                return session.resume(plan, path, watcher)
            return session.measure(plan, path, shlex.join(["harness", *sys.argv[1:]]), watcher)
    except (FileExistsError, RunFileUnusable, DeviceBusy, LockUnusable) as error:
        raise MistakeError(str(error)) from error
    except (KeyboardInterrupt, Ended):
        if path.exists():
            # The terminal may be gone.
            with suppress(OSError):
                complain(f"stopped; {going_on(path)}")
        raise


class Watcher:
    """Shows progress on stderr: a bar on a terminal, elsewhere a line a case and one a further round. Call it
    between measurements.

    Nothing is drawn in between: a thread that redraws would take time from what is measured.
    """

    def __init__(self) -> None:
        self._console = console(sys.stderr)
        self._bar = _bar(self._console) if self._console.is_terminal else None
        self._task = self._bar.add_task("starting", total=None) if self._bar else None
        self._told: Record | None = None
        self._has_told_of_compiling = False

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Shows where the run is; a case that was not right stays visible, with the reason's first line."""
        last = progress.last
        if last and last is not self._told:
            line = self._line(last, progress)
            self._told = last
            if line:
                width = len(str(progress.total))
                self._print(f"[{progress.done:{width}}/{progress.total}] {line}")
        if progress.to_compile and not (self._bar or self._has_told_of_compiling):
            self._has_told_of_compiling = True
            self._print(f"compiling the kernels of {progress.to_compile} cases")
        if self._bar and self._task is not None:
            coming = _name(progress.next) if progress.next else "done"
            told = ", ".join(filter(None, (_undecided(progress), coming)))
            done, total = progress.done, progress.total
            if progress.to_compile:
                done, total, told = progress.compiled, progress.to_compile, "compiling kernels"
            self._bar.update(self._task, total=total, completed=done, description=told)
            self._bar.refresh()

    def _line(self, last: Record, progress: Progress) -> str:
        """What to say of the latest record; empty where there is nothing new."""
        troubled = last.status in ("wrong", "failed")
        if troubled or (last.block == 0 and not self._bar):
            return _outcome(last)
        begins = self._told is None or self._told.block != last.block
        if self._bar or not begins:
            return ""
        return ": ".join(filter(None, (f"all cases once more, round {last.block + 1}", _undecided(progress))))

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False)


def _undecided(progress: Progress) -> str:
    """How many verdicts are not settled yet, and how long further rounds may go on for them; empty in the
    first round, and where there are none.
    """
    if not progress.problems:
        return ""
    left = f", at most {math.ceil(progress.left_s)} s more" if progress.left_s else ""
    return f"{progress.undecided} of {progress.problems} undecided{left}"


def _bar(on: Console) -> Bar:
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    return Bar(*columns, console=on, auto_refresh=False)


def _name(case: Case) -> str:
    variant = "" if isinstance(case.variant, LibraryVariant) else f" ({label(case.variant)})"
    cache = " cold" if case.cache == "cold" else ""
    return f"{case.device_key} {case.problem.label}{cache}{variant}"


def _outcome(record: Record) -> str:
    """A record in a line: its median time by the primary clock, or what became of it."""
    queue = record.clocks.get("queue")
    if record.status == "ok" and queue and queue.seconds:
        return f"{_name(record.case)}: {median(queue.seconds) * 1e6:.1f} us"
    reason = record.reason.partition("\n")[0]
    return f"{_name(record.case)}: {record.status}" + (f": {reason}" if reason else "")

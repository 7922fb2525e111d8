"""``harness run`` on the workers of a Dask cluster: its client, its progress on one screen, its end."""

from __future__ import annotations

import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from harness.cli import conclusion, options
from harness.cli.mistakes import MistakeError, user_input
from harness.cli.runs import loaded
from harness.cli.terminal import complain, console
from harness.fleet import cluster, folder
from harness.fleet.device_run import DeviceRun
from harness.fleet.fleet import Fleet, Terms
from harness.fleet.unit import FleetError, SchedulerLost
from harness.results.file_content import most_bytes
from harness.results.run_writer import LineUnwritten
from harness.results.runfile import RunFileUnusable
from harness.runner.plan import Request
from harness.runner.planning import suite_of
from harness.runner.signals import Ended
from reports.format import plain

WAIT_S = 60.0
REDRAW_S = 1.0
TELL_S = 60.0
"""Seconds between two lines on where the fleet is, where there is no terminal."""
_ROOM = 4
"""Lines of the terminal that are no device's."""
_BAR = 24


class Where(NamedTuple):
    """The scheduler's address, or which cluster to make; and how many workers to wait for, and how long."""

    scheduler: str | None
    cluster: str | None
    workers: int | None
    wait: float | None


def run_fleet(
    where: Where,
    request: Request,
    resume: Path | None,
    run_folder: Path | None,
    report: Path,
    band: float,
    as_json: bool,
) -> bool:
    """Measures a fleet, or goes on with the one in a folder; whether all was measured, and right."""
    try:
        with _folder(request, resume, run_folder) as found:
            runs = _measured(where, found)
            paths = found.runs()
    except SchedulerLost as error:
        complain(f"error: {error}")
        return False
    except LineUnwritten as error:
        how = f"make room, then `{_further(found.path)}` goes on"
        complain(f"error: {error.path} cannot be written ({error.why}); {how}")
        return False
    except (FleetError, RunFileUnusable) as error:
        raise MistakeError(str(error)) from error
    failed = [run for run in runs if run.state == "failed"]
    is_right = conclusion.conclude_fleet([loaded(path, is_own=True) for path in paths], report, band, as_json)
    for run in failed:
        complain(f"error: {run.unit.label}: {run.entry.reason}")
    if failed:
        complain(f"`{_further(found.path)}` goes on")
    return is_right and not failed


@contextmanager
def _folder(request: Request, resume: Path | None, new: Path | None) -> Iterator[folder.Folder]:
    with ExitStack() as opened:
        with user_input():
            # Run files are written when records come: too late to learn that none could be read.
            most_bytes()
            if resume:
                found = opened.enter_context(folder.resumed(resume))
            else:
                suite, text = suite_of(request)
                path = new or options.new_run(suite.name).with_suffix("")
                command = shlex.join(["harness", *sys.argv[1:]])
                found = opened.enter_context(folder.begun(path, request, text, command))
        yield found


def _measured(where: Where, found: folder.Folder) -> list[DeviceRun]:
    wait_s = WAIT_S if where.wait is None else where.wait
    with _client(where, found, wait_s) as (client, workers), Screen() as screen:
        terms = Terms(where.workers or workers, wait_s)
        with user_input():
            fleet = Fleet(client, found, terms, screen)
        try:
            return fleet.measure()
        except (KeyboardInterrupt, Ended):
            # The terminal may be gone.
            with suppress(OSError):
                complain(f"stopped; `{_further(found.path)}` goes on")
            raise


def _further(path: Path) -> str:
    """The command that goes on with a fleet's run."""
    given = [text for text in sys.argv[1:] if text.startswith(("--scheduler=", "--cluster="))]
    for name in ("--scheduler", "--cluster"):
        if name in sys.argv[1:-1]:
            given += [name, sys.argv[sys.argv.index(name) + 1]]
    return shlex.join(["harness", "run", "--resume", str(path), *given])


@contextmanager
def _client(where: Where, found: folder.Folder, wait_s: float) -> Iterator[tuple[Any, int]]:
    """A client of the scheduler, or of the cluster made, and how many workers that has."""
    if where.scheduler is not None:
        with cluster.client_of(where.scheduler, wait_s) as client:
            yield client, 1
    elif where.cluster == cluster.LOCAL:
        suite, _ = suite_of(found.asked())
        with cluster.local(suite.measure.devices_at_once) as client:
            yield client, 1
    else:
        path = Path(str(where.cluster))
        with user_input():
            description = cluster.described(path)
        with cluster.made(description, path) as client:
            yield client, description.workers


class Screen:
    """All devices on one screen: a table on a terminal, elsewhere a line now and then."""

    def __init__(self) -> None:
        self._console = console(sys.stderr)
        self._live = Live(console=self._console, auto_refresh=False) if self._console.is_terminal else None
        self._drawn = time.monotonic()

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def note(self, text: str) -> None:
        """Says what a person should know; it stays visible."""
        self._console.print(plain(text), markup=False)

    def show(self, runs: Sequence[DeviceRun], workers: int) -> None:
        """Shows where the devices are, once in a while."""
        now = time.monotonic()
        if now - self._drawn < (REDRAW_S if self._live else TELL_S):
            return
        self._drawn = now
        if self._live:
            self._live.update(self._table(runs, workers), refresh=True)
        else:
            self.note(_summary(runs, workers))

    def _table(self, runs: Sequence[DeviceRun], workers: int) -> Table:
        table = Table.grid(padding=(0, 1))
        running = [run for run in runs if run.state == "running"]
        shown = running[: max(1, self._console.height - _ROOM)]
        for run in shown:
            bar = ProgressBar(total=max(1, run.total), completed=run.done, width=_BAR)
            troubles = f"{run.troubles} wrong or failed  " if run.troubles else ""
            table.add_row(plain(run.unit.label), bar, f"{run.done}/{run.total}", plain(troubles + run.next))
        more = f", {len(running) - len(shown)} more running" if len(running) > len(shown) else ""
        whole = Table.grid()
        whole.add_row(table)
        whole.add_row(_summary(runs, workers) + more)
        return whole


def _summary(runs: Sequence[DeviceRun], workers: int) -> str:
    states = Counter(run.state for run in runs)
    told = ", ".join(f"{states[state]} {state}" for state in ("done", "running", "waiting", "failed"))
    records = sum(run.records for run in runs)
    return f"{len(runs)} devices of {workers} workers: {told}; {records} records"

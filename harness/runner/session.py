"""Measuring what was planned into a run file, while no other run uses the devices."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.devices import DeviceInfo
from harness.measure.pictures import pictures
from harness.results.record import Record
from harness.results.run_writer import RunLines, RunWriter, Writer
from harness.results.runfile import Run, load_run
from harness.runner.device_lock import locked
from harness.runner.environment import describe_resumed
from harness.runner.plan import Request, RunPlan
from harness.runner.planning import discover, environment_of, require
from harness.runner.run import Progress, run_cases
from harness.runner.selftest import SelfTest, plan_selftest, selftest, selftest_of
from harness.runner.telemetry import Watch, watching
from harness.suites.expand import select_devices


def measure(plan: RunPlan, output: Path, command: str, progress: Callable[[Progress], None]) -> Run:
    """Measures a plan into a new run file and returns what it holds.

    Raises:
        FileExistsError: if ``output`` holds a run already.
        DeviceBusy: if another run measures on one of the devices; no file is begun then.
    """
    with (
        alone(plan, command) as (locked_plan, watch),
        RunWriter(output, environment_of(plan, command)) as writer,
    ):
        fill(locked_plan, writer, progress, watch)
    return load_run(output, is_own=True)


def resume(plan: RunPlan, path: Path, progress: Callable[[Progress], None]) -> Run:
    """Measures what the run in ``path``, whose plan this is, left out; returns all that the file holds.

    A budget counts anew, for what is left.

    Raises:
        DeviceBusy: if another run measures on one of the devices; the file stays as it was then.
    """
    with alone(plan, f"harness run --resume {path}") as (locked_plan, watch):
        begun = load_run(path)
        writer, _ = RunWriter.resume(path)
        with writer:
            fill(locked_plan, writer, progress, watch, begun)
    return load_run(path, is_own=True)


def fill(
    plan: RunPlan,
    lines: RunLines,
    progress: Callable[[Progress], None],
    watch: Watch,
    begun: Run | None = None,
) -> None:
    """Measures a plan whose devices are locked (:func:`alone`), but not what a run that was ``begun`` has."""
    start = time.monotonic()
    writer = _Resumed(lines) if begun else lines
    _write_pictures(plan, writer, {str(image.get("title")) for image in begun.images} if begun else ())
    written = run_cases(plan, writer, progress, begun.trials if begun else (), watch.look)
    if begun and begun.is_whole and not written:
        # It ended before, and its end says how long it took.
        return
    # How long a run that was ended before had taken is not known.
    lines.write_end(None if begun else time.monotonic() - start)


class _Resumed:
    """A writer of a run that goes on: says so before the first line that it adds."""

    def __init__(self, lines: RunLines) -> None:
        self._lines, self._is_told = lines, False

    def write(self, record: Record) -> None:
        """Takes a record."""
        self._tell()
        self._lines.write(record)

    def write_image(self, image: Mapping[str, Any]) -> None:
        """Takes a picture."""
        self._tell()
        self._lines.write_image(image)

    def _tell(self) -> None:
        if not self._is_told:
            self._lines.write_resumed(describe_resumed())
            self._is_told = True


def _write_pictures(plan: RunPlan, writer: Writer, there: Collection[str] = ()) -> None:
    """Writes the report's pictures of the filters of a run, but none whose title is ``there`` already."""
    measured = (case.problem for case in plan.cases if case not in plan.skipped)
    for picture in pictures(measured, plan.request.photograph):
        if picture["title"] not in there:
            writer.write_image(picture)


@contextmanager
def alone(plan: RunPlan, command: str) -> Iterator[tuple[RunPlan, Watch]]:
    """Locks the devices of a plan against other runs, and watches them. Gives the plan by which the workers
    hold the locks too, and the watch.

    Raises:
        DeviceBusy: if another run measures on one of them.
    """
    measured = {(case.backend, case.device) for case in plan.cases if case not in plan.skipped}
    used = [device for device in plan.devices if (device.backend, device.index) in measured]
    physical = {(device.backend, device.index): device.physical for device in used}
    with locked(names_of(used), command) as held, watching(physical) as watch:
        yield replace(plan, held=held), watch


def self_tests(
    backends: Sequence[str],
    patterns: Sequence[str],
    comparisons: int,
    processes: int | None,
    progress: Callable[[str], None],
) -> Iterator[SelfTest]:
    """Compares the chosen devices with themselves (:mod:`harness.runner.selftest`), one after the other.

    Raises:
        ValueError: at once, if a filter names something that is not there or no device is left.
        DeviceBusy: from the iterator, if a run measures on one of the devices.
    """
    devices, missing = discover()
    require(backends, missing)
    chosen = select_devices(devices, backends, patterns)
    if not chosen:
        raise ValueError(f"there is no device to test: {'; '.join(missing.values())}")
    plan = plan_selftest(chosen, Request(processes=processes))

    def measured() -> Iterator[SelfTest]:
        with alone(plan, "harness selftest") as (locked_plan, _):
            yield from selftest(locked_plan, comparisons, progress)

    return measured()


def self_tests_of(runs: Sequence[Run], comparisons: int) -> Iterator[SelfTest]:
    """Compares the devices of recorded runs with themselves (:func:`harness.runner.selftest.selftest_of`).

    Raises:
        ValueError: at once, if one has too few rounds.
    """
    found = [(run.path.name if run.path else "", selftest_of(run, comparisons)) for run in runs]
    return (
        replace(test, device=f"{name} {test.device}" if len(found) > 1 else test.device)
        for name, tests in found
        for test in tests
    )


def names_of(devices: Iterable[DeviceInfo]) -> dict[str, list[str]]:
    """What a person calls each physical device: its keys."""
    names: dict[str, list[str]] = {}
    for device in devices:
        names.setdefault(device.physical, []).append(device.key)
    return names

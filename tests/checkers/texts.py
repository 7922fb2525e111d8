"""Is one text of our kernels faster than another? Both are timed in the same contexts, in turn::

    python -m tests.checkers.texts FOLDER SUITE --device gpu --contexts 12 --seconds 200

FOLDER is another checkout (``git worktree add FOLDER COMMIT``): its kernels_cl and kernels_cu take the place
of those here; which files are chosen, macros and launches stay. SUITE is a name or a file.

``harness compare`` compares two runs. From one to the next launching alone may cost up to 0.07 us more or
less, which is as much as a change of a small kernel brings (reports/examples/h100-interior-rows.txt). This
tells times, so it is no functional test. What was measured until the time is up, or Ctrl-C, is told.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from unittest.mock import patch

from backends import BackendError, DeviceInfo, available, open_backend
from backends.common import kernel_backend
from backends.common.kernel_backend import OwnKernelBackend
from harness.cli.mistakes import INTERRUPTED
from harness.kernels import source as sources
from harness.kernels.planner import plan
from harness.kernels.source import Dialect
from harness.measure.budget import Budget
from harness.measure.clocks import queue_seconds
from harness.measure.measurer import Measurer, Ready, WrongAnswer, reason_of
from harness.measure.rotation import Rotation
from harness.measure.source_cache import shared_folder
from harness.problems import Laplace, Reduction
from harness.results import ratio
from harness.results.ratio import Ratio, Side
from harness.results.record import Case
from harness.results.statistics import geometric_mean
from harness.suites.expand import expand
from harness.suites.files import load_suite
from harness.variants.axes import label

OWN = ("opencl", "cuda")
LEAST_CONTEXTS = 2
"""Of fewer no ratio can be told."""
BUDGET = Budget(samples=5, seconds=0.03)
"""Of each of the two times that a text is looked at in a context."""

Assemble = Callable[[Dialect, Sequence[str], Mapping[str, str | int]], str]


@dataclass
class Found:
    """The seconds of a case by context, with the text here and with the other one; or why there are none."""

    here: list[list[float]] = field(default_factory=list)
    there: list[list[float]] = field(default_factory=list)
    reason: str = ""

    @property
    def ratio(self) -> Ratio:
        """The speed of the text here over that of the other one."""
        return ratio.compare(Side(self.here), Side(self.there), paired=True)


def assembler(folder: Path) -> Assemble:
    """As :func:`harness.kernels.source.assemble`, of a folder's files; they need not be there.

    Raises:
        FileNotFoundError: if the folder has no kernels.
    """
    for dialect in ("cl", "cu"):
        if not (folder / f"kernels_{dialect}").is_dir():
            raise FileNotFoundError(f"{folder} holds no kernels_{dialect}: name a checkout of this project")

    def text_of(dialect: Dialect, name: str) -> str:
        return (folder / f"kernels_{dialect}" / f"{name}.{dialect}").read_text(encoding="utf-8")

    return partial(sources.joined, text_of=text_of)


def own_cases(suite: str, backends: Sequence[str], patterns: Sequence[str]) -> dict[DeviceInfo, list[Case]]:
    """The hot cases of a suite that run our kernels, by device.

    Raises:
        ValueError: if there is no such suite, backend or device.
    """
    there = [device for name in OWN for device in _listed(available()[name])]
    cases = expand(load_suite(suite), there, backends, patterns)
    by_device: dict[DeviceInfo, list[Case]] = {}
    for device in there:
        for case in cases:
            mine = (case.backend, case.device) == (device.backend, device.index)
            if mine and case.cache == "hot" and isinstance(case.problem, (Reduction, Laplace)):
                by_device.setdefault(device, []).append(case)
    return by_device


def _listed(found: Sequence[DeviceInfo] | str) -> Sequence[DeviceInfo]:
    return () if isinstance(found, str) else found


def compare(
    found: dict[Case, Found],
    device: DeviceInfo,
    cases: Sequence[Case],
    there: Assemble,
    contexts: int,
    until: float = math.inf,
) -> None:
    """Adds both texts of each case that the device can run and whose sources differ to ``found``.

    contexts: how many, but for those that would begin after ``until``, of :func:`time.monotonic`.
    """
    with shared_folder() as shared:
        for context in range(contexts):
            if context >= LEAST_CONTEXTS and time.monotonic() > until:
                return
            with open_backend(device.backend, device.index) as backend:
                assert isinstance(backend, OwnKernelBackend)
                measurer = Measurer(backend, shared=Path(shared), shifts=True)
                for case in cases:
                    _add(found, measurer, case, there, starts_here=context % 2 == 0)


def _add(
    found: dict[Case, Found], measurer: Measurer, case: Case, there: Assemble, *, starts_here: bool
) -> None:
    backend, of_case = measurer.backend, found.get(case, Found())
    assert isinstance(backend, OwnKernelBackend)
    if of_case.reason or backend.unsupported(case.problem, case.variant):
        return
    try:
        if not _differs(case, backend, there):
            return
        _in_turn(measurer, case, there, of_case, starts_here=starts_here)
    except FileNotFoundError as missing:
        of_case.reason = f"the other text has no {missing.filename}"
    except (WrongAnswer, BackendError) as error:
        of_case.reason = reason_of(error)
    found[case] = of_case


def _differs(case: Case, backend: OwnKernelBackend, there: Assemble) -> bool:
    planned = plan(case.problem, case.variant, backend.device)
    given = (backend.dialect, planned.files, planned.macros)
    return sources.assemble(*given) != there(*given)


def _in_turn(measurer: Measurer, case: Case, there: Assemble, found: Found, *, starts_here: bool) -> None:
    """One text, the other one twice, and the first again: what changes with time is the same for both."""
    order = (True, False) if starts_here else (False, True)
    taken: dict[bool, list[float]] = {True: [], False: []}
    with ExitStack() as alive:
        ready = {here: alive.enter_context(_ready(measurer, case, None if here else there)) for here in order}
        for here in (*order, *reversed(order)):
            rotation = Rotation(ready[here].prepared, len(ready[here].sources))
            taken[here] += queue_seconds(measurer.backend, rotation, BUDGET).seconds
    found.here.append(taken[True])
    found.there.append(taken[False])


@contextmanager
def _ready(measurer: Measurer, case: Case, there: Assemble | None) -> Iterator[Ready]:
    """The case prepared, with the other text where that is given, and its answer verified."""
    with ExitStack() as alive:
        with patch.object(kernel_backend, "assemble", there or sources.assemble):
            ready = alive.enter_context(measurer.ready(case))
        ready.verify("with the text here" if there is None else "with the other text")
        yield ready


def lines(found: Mapping[Case, Found]) -> Iterator[str]:
    """A line for each case, and the geometric mean of the ratios."""
    ratios = []
    for case, of_case in found.items():
        name = f"{case.backend:<6}  {case.problem.label}, {label(case.variant)}"
        if of_case.reason:
            yield f"{name}: {of_case.reason}"
            continue
        if len(of_case.here) < LEAST_CONTEXTS:
            yield f"{name}: measured in one context, of which no ratio can be told"
            continue
        told, (here, there) = of_case.ratio, (Side(of_case.here).seconds, Side(of_case.there).seconds)
        ratios.append(told.value)
        yield (
            f"{name}: {1e6 * here:.2f} us, other {1e6 * there:.2f}: {told.value:.3f}, "
            f"{told.interval.low:.3f} to {told.interval.high:.3f}: {told.verdict}"
        )
    if ratios:
        yield f"{geometric_mean(ratios):.3f} in the mean of {len(ratios)}; above 1 the text here is faster"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.checkers.texts", description=__doc__)
    parser.add_argument("folder", type=Path, help="a checkout with the other text")
    parser.add_argument("suite", help="its name, or a file")
    parser.add_argument("--backend", action="append", default=[], choices=OWN)
    parser.add_argument("--device", action="append", default=[], help="as of harness run")
    parser.add_argument("--contexts", type=int, default=12, metavar="N", help="two or more")
    parser.add_argument(
        "--seconds", type=float, default=math.inf, metavar="S", help="no context begins later"
    )
    asked = parser.parse_args(arguments)
    try:
        if asked.contexts < LEAST_CONTEXTS:
            raise ValueError(
                f"--contexts {asked.contexts}: from fewer than {LEAST_CONTEXTS} no ratio can be told"
            )
        there = assembler(asked.folder)
        chosen = own_cases(asked.suite, asked.backend, asked.device)
    except (ValueError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    until = time.monotonic() + asked.seconds
    failed = any_differs = False
    for device, cases in chosen.items():
        found: dict[Case, Found] = {}
        try:
            compare(found, device, cases, there, asked.contexts, until)
        except KeyboardInterrupt:
            _tell(device, found, cases)
            return INTERRUPTED
        _tell(device, found, cases)
        failed |= any(each.reason for each in found.values())
        any_differs |= bool(found)
    if not any_differs:
        print("error: no case of the suite that runs here has another source there", file=sys.stderr)
        return 2
    return int(failed)


def _tell(device: DeviceInfo, found: Mapping[Case, Found], cases: Sequence[Case]) -> None:
    contexts = max((len(each.here) for each in found.values()), default=0)
    print(f"{device.key} ({device.name}): {len(found)} of {len(cases)} sources differ; contexts: {contexts}")
    for line in lines(found):
        print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())

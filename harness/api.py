"""The Python interface: recorded runs, and comparisons, as pandas DataFrames.

Use it as ``harness.load`` and ``harness.compare``.
"""

from __future__ import annotations

import os
import reprlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

import pandas as pd

from harness.results.ratio import BAND, check_band
from harness.results.runfile import Run, load_run
from harness.runner import planning, session
from harness.runner.plan import Request
from harness.runner.run import Progress
from harness.suites.adhoc import Problems
from reports.dataset import frame
from reports.export import records_table
from reports.ratios import comparisons

PathLike = str | os.PathLike[str]
Shape = str | Sequence[int]
"""As ``"3000x2000"`` or ``(3000, 2000)``."""

_PAIR_COLUMNS: Final = {
    "physical": "physical",
    "device_name": "device_name",
    "first": "first",
    "second": "second",
    "kind": "kind",
    "op": "op",
    "type": "type",
    "size": "size",
    "elements": "elements",
    "problem": "problem",
    "cache": "cache",
    "first_backend": "first_backend",
    "first_variant": "first_variant",
    "first_queue": "first_seconds",
    "second_backend": "second_backend",
    "second_variant": "second_variant",
    "second_queue": "second_seconds",
    "gross": "ratio",
    "low": "low",
    "high": "high",
    "verdict": "verdict",
    "net": "net_ratio",
    "net_low": "net_low",
    "net_high": "net_high",
    "marks": "marks",
}
"""Of :class:`reports.ratios.Pair` and its comparison, what :func:`compare` gives, and under which name."""

_T = TypeVar("_T")


def load(runs: PathLike | Iterable[PathLike]) -> pd.DataFrame:
    """The records of one or more run files, a row each, in the order of measurement.

    Args:
        runs: the path, or paths, of run files (plain, gzip or xz) or of pytest-benchmark files of this
            project.

    Returns:
        A table with the columns ``run`` (the path as given) and those of
        :data:`reports.export.RECORD_COLUMNS`. What was not measured is NaN, or empty where it is text.

        - Device: ``device`` (its key, ``opencl:0``), ``device_name``, ``physical`` (equal for two APIs on one
          device), ``backend``, ``role`` (opencl, cuda, library or reference).
        - Problem: ``kind``, ``op``, ``type``, ``size`` (text), ``elements``, ``problem`` (all in words),
          ``source_bytes`` and ``bytes_moved`` (bytes).
        - How: ``variant``, ``cache`` (hot or cold), ``purpose`` (compare, limit or control).
        - Outcome: ``status`` (ok, skipped, wrong or failed), ``reason``, ``verification``, ``note``.
        - Times in seconds a call: ``queue`` (the primary clock) with its quartiles ``queue_p25`` and
          ``queue_p75``, ``launch`` (an empty kernel), ``net`` (queue less launch), ``round_trip``, ``event``,
          ``kernel``.
        - ``bytes_per_second`` (bytes_moved over queue), ``limit`` (the fastest that the device was measured
          to move, bytes a second) and ``share`` (of that limit, 1 is all).

    Raises:
        ValueError: if a file cannot be read or is no run file; names file, line and field.
        TypeError: if what is given is no path.

    Warns:
        RuntimeWarning: if a run was ended before its last case, or its file was cut.
    """
    if isinstance(runs, (str, bytes, os.PathLike)) or not isinstance(runs, Iterable):
        runs = [runs]
    paths = [_path(path) for path in runs]
    if not paths:
        raise ValueError("there is no run to load; give the path of at least one run file")
    # A comprehension would be one more place between who calls and the warning.
    return pd.concat(list(map(records_table, map(_loaded, paths))), ignore_index=True)


def compare(
    runs: PathLike | None = None,
    *,
    suite: PathLike | None = None,
    op: str | Sequence[str] = (),
    laplace: str | Sequence[str] = (),
    dtype: str | Sequence[str] = (),
    shape: Shape | Sequence[Shape] | None = None,
    border: str | Sequence[str] = (),
    output: str | Sequence[str] = (),
    channels: int | Sequence[int] = (),
    cache: str | Sequence[str] = (),
    variant: str | Sequence[str] = (),
    image: PathLike | None = None,
    backend: str | Sequence[str] = (),
    device: str | Sequence[str] = (),
    run: PathLike | None = None,
    band: float = BAND,
    samples: int | None = None,
    seed: int = 1,
    processes: int | None = None,
    contexts: int | None = None,
    budget: float | None = None,
    progress: Callable[[str], object] | None = None,
) -> pd.DataFrame:
    """The ratios of speeds on each device: OpenCL over CUDA, and each over the best library there.

    Of a recorded run, or of what is measured here and now: a suite, or all combinations of the problems
    named. The options are those of ``harness run``, where ``harness run --help`` describes them.

    Args:
        runs: a run file; nothing is measured then, and only ``band`` may be given with it.
        suite: a suite's name or the path of its TOML file, in place of problems.
        op: reductions, such as ``"sum"``. laplace: masks of the filter, such as ``"four"``. One of the two.
        laplace: see op.
        dtype: element types; float32, of images uint8, where not given.
        shape: ``"3000x2000"`` or ``(3000, 2000)``, elements; of images (width, height). 2560x2560 where not
            given.
        border: of the filter; reflect_101 where not given.
        output: of the filter; laplacian where not given.
        channels: of images: 1, 3 or 4; 1 where not given.
        cache: ``"hot"`` or ``"cold"``; hot where not given.
        variant: ladders, or values of axes as in ``"group_size=256"``; the device's default where not given.
        image: a photograph that the filter takes; it has the shape.
        backend: only these backends.
        device: only devices of this key, kind, PCI address or part of a name.
        run: the run file to write; where it is None, none is kept.
        band: ratios within 1 +- this count as the same speed.
        samples: of a case, in place of the suite's.
        seed: of the random data.
        processes: fresh processes a case, in place of the suite's: no more, no less.
        contexts: fresh contexts of a GPU a process, in place of the suite's.
        budget: seconds to measure all cases in.
        progress: is called with a line of text before each case, as ``print`` may be.

    Returns:
        A row a problem, cache state and pair of sides, the fastest variant of each side; empty where nothing
        can be compared. Columns:

        - ``physical``, ``device_name``; ``first`` and ``second``, the sides (OpenCL, Portable OpenCL,
          CUDA, the best library).
        - ``kind``, ``op``, ``type``, ``size`` (text), ``elements``, ``problem``, ``cache``.
        - ``first_backend``, ``first_variant``, ``first_seconds`` (a call, by the queue clock), and the same
          of the second side.
        - ``ratio``: the speed of the first side over the second's, above 1 the first is faster; ``low`` and
          ``high``, its confidence interval (NaN where there are too few samples); ``verdict`` on the first
          side: same, faster, slower or ambiguous.
        - ``net_ratio``, ``net_low``, ``net_high``: the same, net of launching; NaN where that is unknown.
        - ``marks``: what makes it less than a plain pair, such as a host-bound side.

    Raises:
        ValueError: if something asked for is not valid or not there, or the file is no run file.
        FileExistsError: if ``run`` holds a run already.
        harness.results.runfile.RunFileUnusable: if ``run`` cannot be written.
        harness.runner.device_lock.DeviceBusy: if another run measures on one of the devices.

    Warns:
        RuntimeWarning: if cases failed or gave wrong results: they have no ratio; if the file's run was ended
        before its last case, or the file was cut.
    """
    check_band(band)
    problems = Problems(
        op=_several(op),
        laplace=_several(laplace),
        dtype=_several(dtype),
        shape=[] if shape is None else _shapes(shape),
        border=_several(border),
        output=_several(output),
        channels=_several(channels),
        cache=_several(cache),
        variant=_several(variant),
    )
    asked = Request(
        suite=_suite(suite),
        backends=tuple(_several(backend)),
        devices=tuple(_several(device)),
        image=None if image is None else str(image),
        samples=samples,
        seed=seed,
        processes=processes,
        contexts=contexts,
        budget=budget,
        band=band,
    )
    _require_one(runs, suite, problems)
    if runs is not None:
        if run is not None or asked != Request(band=band):
            raise ValueError(f"{runs} is measured already; give nothing with it but band")
        return _ratios(_loaded(_path(runs)), band)
    plan = planning.plan_run(asked.of_problems(problems) if problems.given else asked)
    with TemporaryDirectory() as folder:
        path = Path(folder, "run.jsonl") if run is None else Path(run)
        return _ratios(session.measure(plan, path, "harness.compare", _told(progress)), band)


def _path(given: object, what: str = "a run") -> Path:
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(
            f"{what} is given by the path of its file, text or os.PathLike, not {reprlib.repr(given)}"
        )
    return Path(given)


def _suite(given: PathLike | None) -> str:
    """A suite's name or path, as it was given."""
    if given is None:
        return "quick"
    return given if isinstance(given, str) else str(_path(given, "a suite"))


def _require_one(runs: PathLike | None, suite: PathLike | None, problems: Problems) -> None:
    given = [name for name, value in (("a run", runs), ("a suite", suite)) if value is not None]
    given += ["problems"] if problems.given else []
    if len(given) != 1:
        found = " and ".join(given) or "none"
        raise ValueError(f"give a run file, a suite or problems (op or laplace): one of them, not {found}")


def _several(values: _T | Sequence[_T] | None) -> Sequence[_T]:
    """One value or several, as several: text is one, None is none."""
    if values is None:
        return ()
    if isinstance(values, Sequence) and not isinstance(values, str):
        return tuple(values)
    return (values,)


def _shapes(shapes: Shape | Sequence[Shape]) -> list[str]:
    if isinstance(shapes, str):
        return [shapes]
    each = list(shapes) if isinstance(shapes, Iterable) else []
    if not each:
        raise ValueError(f"shape: should be text, as '3000x2000', or sizes, not {reprlib.repr(shapes)}")
    if all(isinstance(size, Integral) for size in each):
        return ["x".join(map(str, each))]
    return [shape for one in each for shape in _shapes(one)]  # type: ignore[arg-type]


def _told(progress: Callable[[str], object] | None) -> Callable[[Progress], None]:
    def tell(state: Progress) -> None:
        if progress is not None and state.next is not None and not state.to_compile:
            progress(f"[{state.done}/{state.total}] {state.next.device_key} {state.next.problem.label}")

    return tell


def _loaded(path: Path) -> Run:
    """The run of a file, for a function that users call; what the file lacks is warned of."""
    run = load_run(path)
    for lack in run.lacks:
        warnings.warn(f"{path}: {lack}", RuntimeWarning, stacklevel=3)
    return run


def _ratios(run: Run, band: float) -> pd.DataFrame:
    failed = [record for record in run.records if record.status in ("wrong", "failed")]
    if failed:
        first = failed[0]
        told = f"{first.case.device_key} {first.case.problem.label}: {first.status}: {first.reason}"
        warnings.warn(f"{len(failed)} cases have no ratio; the first: {told}", RuntimeWarning, stacklevel=3)
    found = [
        each.fastest.assign(first=each.first, second=each.second) for each in comparisons(frame(run), band)
    ]
    table = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(_PAIR_COLUMNS))
    return table[list(_PAIR_COLUMNS)].rename(columns=_PAIR_COLUMNS)

"""A run as a table: one row a record, every derived number computed here and nowhere else."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import pandas as pd

from backends import REGISTRY
from harness.problems import Bandwidth, Laplace, Problem, Reduction
from harness.problems.dtypes import DTYPES
from harness.results import statistics as stats
from harness.results.clock_agreement import disagreement
from harness.results.launch_correction import Launches
from harness.results.record import Record, Samples
from harness.results.runfile import Run
from harness.results.statistics import Blocks
from harness.results.stopping import NARROW, is_narrow, mean_is_narrow
from harness.variants.axes import label
from reports.format import plain
from reports.format import size as written_size
from reports.resources import taken

TOLERATED_EXCESS = 0.005
"""A bandwidth this much above the measured limit is an error of measurement, not a result."""

_LIMIT_SLACK_BYTES = 16
"""Sources that differ by less are of equal size: a limit kernel reads whole words."""

_LIMIT_DIRECTION = {"reduction": "read", "laplace": "copy"}


@dataclass(frozen=True, slots=True)
class Row:
    """One record. Times are seconds (:func:`harness.results.statistics.centre`), bandwidths bytes a second;
    NaN or empty where there is none.

    op: the operation, for images output, mask and border. type: dtype, for images with channels,
    ``uint8C4``. backend, role: its name, and what it is for (:class:`backends.Entry`); with "portable " in
    front where the kernels are in that dialect, so that they stand beside the others as a backend of their
    own. device: its key, ``opencl:0``. purpose: compare or limit. net: queue less launch. note: what weakens
    the queue clock, such as a host-bound library; launch_note likewise. sampling: how many samples, in how
    many contexts, and what ended them; precise: whether they know the time to NARROW. queue_blocks,
    launch_blocks: the usable samples by their blocks, corrected (:mod:`harness.results.launch_correction`),
    queue_error and launch_error what the blocks share of error. gate: what held the calls back. launch_event
    and launch_kernel: the empty kernel by these clocks. in_parts: whether a GPU leaves work to the host that
    the queue clock does not count. launches: kernels of a call, 0 where nobody tells; calls: of a library
    for one result. disagreement: clocks that contradict each other. context_seconds: of the run for one of
    its contexts, with the opening. resources: what each launch takes
    (:func:`reports.resources.taken`). width: the elements of a vector. limit: the fastest bandwidth measured
    on the same hardware, cache state and source size (limit_exact), else at the nearest size (limit_bytes).
    share: of that limit.
    """

    number: int
    kind: str
    op: str
    type: str
    size: str
    elements: int
    problem: str
    source_bytes: int
    bytes_moved: int
    backend: str
    role: str
    device: str
    device_name: str
    physical: str
    variant: str
    cache: str
    purpose: str
    status: str
    reason: str
    queue: float
    queue_p25: float
    queue_p75: float
    launch: float
    net: float
    round_trip: float
    event: float
    kernel: float
    launch_event: float
    launch_kernel: float
    note: str
    launch_note: str
    sampling: str
    precise: bool
    queue_blocks: Blocks
    launch_blocks: Blocks
    queue_error: float
    launch_error: float
    bytes_per_second: float
    location: str
    launches: int
    calls: int
    in_parts: bool
    accumulator: str
    gate: str
    disagreement: str
    width: int
    verification: str
    remark: str
    context_seconds: float
    resources: str
    limit: float = math.nan
    limit_by: str = ""
    limit_bytes: int = 0
    limit_exact: bool = False
    share: float = math.nan
    above_limit: bool = False


def frame(run: Run) -> pd.DataFrame:
    """The run's records as a table with the columns of :class:`Row`, in the order of measurement."""
    found = device_table(run.environment)
    launches = Launches(run.records)
    rows = [_row(number, record, found, launches) for number, record in enumerate(run.records)]
    opening = _opening_seconds(rows)
    rows = [replace(row, context_seconds=row.context_seconds + opening.get(row.device, 0.0)) for row in rows]
    limits = [
        row for row in rows if row.purpose == "limit" and row.status == "ok" and row.bytes_per_second > 0
    ]
    return table_of(Row, (_limited(row, limits) for row in rows))


def table_of(kind: type[Any], rows: Iterable[Any]) -> pd.DataFrame:
    """Rows of a dataclass as a table; :func:`dataclasses.asdict` would copy all that they hold."""
    names = [field.name for field in fields(kind)]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)


def _opening_seconds(rows: Sequence[Row]) -> dict[str, float]:
    """What a context takes beside its cases, by device: the empty kernel is the first in each, and alone in
    those that correct for launching.
    """
    rounds: dict[str, int] = {}
    spent: dict[str, float] = {}
    for row in rows:
        contexts = len(row.queue_blocks)
        if row.kind == "empty" and contexts and math.isfinite(row.context_seconds):
            spent[row.device] = spent.get(row.device, 0.0) + row.context_seconds * contexts
        elif row.kind != "empty":
            rounds[row.device] = max(rounds.get(row.device, 1), contexts)
    return {device: seconds / rounds.get(device, 1) for device, seconds in spent.items()}


def device_table(environment: Mapping[str, Any]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """The devices of a run's environment by backend and index."""
    return {(str(d.get("backend")), int(d.get("index", 0))): d for d in environment.get("devices") or ()}


def _row(
    number: int, record: Record, found: Mapping[tuple[str, int], Mapping[str, Any]], launches: Launches
) -> Row:
    case, problem = record.case, record.case.problem
    device = found.get((case.backend, case.device), {})
    key = case.device_key
    kind, op, type_, size, elements = _describe(problem)
    quartiles = _quartiles(record, "queue")
    queue_side, launch_side = (
        launches.corrected(key, record.clocks.get(clock)) for clock in ("queue", "launch")
    )
    queue, launch = stats.centre(queue_side.blocks), stats.centre(launch_side.blocks)
    location = _location(record)
    entry = REGISTRY.get(case.backend)
    dialect = "portable " * (getattr(case.variant, "dialect", "") == "portable")
    return Row(
        number=number,
        kind=kind,
        op=op,
        type=type_,
        size=size,
        elements=elements,
        problem=problem.label,
        source_bytes=problem.source_bytes,
        bytes_moved=problem.bytes_moved,
        backend=dialect + plain(case.backend),
        role=dialect + entry.role if entry else "",
        device=plain(key),
        device_name=plain(device.get("name") or key),
        # What the environment does not describe is nobody else's hardware: nothing is compared with it.
        physical=plain(device.get("physical") or key),
        variant=label(case.variant),
        cache=plain(case.cache),
        purpose=plain(case.role),
        status=plain(record.status),
        reason=plain(record.reason),
        queue=queue,
        queue_p25=quartiles.p25,
        queue_p75=quartiles.p75,
        launch=launch,
        net=_positive(queue - launch),
        round_trip=_centre(record, "round_trip"),
        event=_centre(record, "event"),
        kernel=_centre(record, "kernel"),
        launch_event=_centre(record, "launch_event"),
        launch_kernel=_centre(record, "launch_kernel"),
        note=_note(record.clocks.get("queue")),
        launch_note=_note(record.clocks.get("launch")),
        sampling=_sampling(record.clocks.get("queue")),
        precise=_is_precise(queue_side.blocks),
        queue_blocks=queue_side.blocks,
        launch_blocks=launch_side.blocks,
        queue_error=queue_side.error,
        launch_error=launch_side.error,
        bytes_per_second=_positive(problem.bytes_moved / queue),
        location=location,
        in_parts=location == "parts" and device.get("kind") != "cpu",
        launches=len(record.provenance.get("launches") or record.provenance.get("kernels") or ()),
        calls=record.provenance.get("calls_per_result") or 0,
        accumulator=plain(record.provenance.get("accumulator") or ""),
        gate=plain(record.provenance.get("gate") or ""),
        disagreement=disagreement(record.clocks),
        width=getattr(case.variant, "vector_width", 0),
        verification=_verification(record),
        remark=plain(record.provenance.get("note") or ""),
        context_seconds=record.provenance.get("wall_seconds", math.nan) / max(1, len(queue_side.blocks)),
        resources="; ".join(taken(each, device) for each in record.provenance.get("launches") or ()),
    )


def _is_precise(blocks: Blocks) -> bool:
    """Whether the time is known to NARROW: the mean of several blocks, or the median of the only one."""
    if len(blocks) > 1:
        return mean_is_narrow([statistics.median(block) for block in blocks], NARROW)
    return is_narrow(blocks[0], NARROW) if blocks else False


def _location(record: Record) -> str:
    """Where the result ends up; files from before there was a word for parts say "device" of them too."""
    told = plain(record.provenance.get("result_location") or "")
    by_host = getattr(record.case.variant, "finish", "") == "host"
    return "parts" if by_host and told == "device" and not _is_one_group(record) else told


def _is_one_group(record: Record) -> bool:
    launches = record.provenance.get("launches") or [{}]
    return bool(launches[0].get("num_groups") == (1,))


def _describe(problem: Problem) -> tuple[str, str, str, str, int]:
    """Kind, op, type, size and number of elements."""
    if isinstance(problem, Reduction):
        return problem.kind, problem.op, problem.dtype, "x".join(map(str, problem.shape)), problem.size
    if isinstance(problem, Laplace):
        op = f"{problem.output} {problem.mask} {problem.border}"
        pixels = problem.width * problem.height
        return (
            problem.kind,
            op,
            f"{problem.dtype}C{problem.channels}",
            f"{problem.width}x{problem.height}",
            pixels,
        )
    if isinstance(problem, Bandwidth):
        # By bytes, so that one size of different types is one size.
        nbytes = problem.source_bytes
        return problem.kind, problem.direction, problem.dtype, written_size(nbytes), nbytes
    return problem.kind, problem.label, "", "", 0


def _seconds(record: Record, clock: str) -> Sequence[float]:
    return record.clocks[clock].seconds if clock in record.clocks else ()


def _quartiles(record: Record, clock: str) -> stats.Quartiles:
    samples = stats.usable(_seconds(record, clock))
    return stats.quartiles(samples) if samples else stats.Quartiles(math.nan, math.nan, math.nan)


def _centre(record: Record, clock: str) -> float:
    return stats.centre(blocks_of(record.clocks.get(clock)))


def blocks_of(clock: Samples | None) -> Blocks:
    """The usable samples of a clock by the block that each is of, where the record says; else one block."""
    return stats.blocks(clock.seconds, clock.blocks) if clock else []


def _sampling(clock: Samples | None) -> str:
    if clock is None:
        return ""
    count, contexts = len(clock.seconds), len(set(clock.blocks))
    ended = f", ended by: {plain(clock.stopped)}" if clock.stopped else ""
    return (
        f"{count} sample{'s' * (count != 1)} of {clock.calls} calls and twice as many in "
        f"{contexts} fresh context{'s' * (contexts != 1)}{ended}"
    )


def _note(clock: Samples | None) -> str:
    if clock is None:
        return ""
    lost = len(clock.seconds) - len(stats.usable(clock.seconds))
    dropped = [f"{lost} of {len(clock.seconds)} samples are no times and were left out"] if lost else []
    return "; ".join([plain(clock.note), *dropped] if clock.note else dropped)


def _positive(value: float) -> float:
    """The value, or NaN where it is none: a difference lost in noise, a bandwidth of nothing."""
    return value if math.isfinite(value) and value > 0 else math.nan


def _verification(record: Record) -> str:
    if record.status != "ok":
        return record.status
    if record.error is None:
        return "not recorded"
    if record.error == 0:
        return "exact"
    allowed = "" if record.tolerance is None else f", {record.tolerance:.2g} allowed"
    return f"error {record.error:.2g}{allowed}"


def _limited(row: Row, limits: Sequence[Row]) -> Row:
    """The row with the limit that it is measured against and its share of it."""
    direction = _LIMIT_DIRECTION.get(row.kind)
    fitting = [
        limit
        for limit in limits
        if (limit.op, limit.physical, limit.cache) == (direction, row.physical, row.cache)
    ]
    if row.purpose != "compare" or not fitting or math.isnan(row.bytes_per_second):
        return row
    nearest = min(fitting, key=lambda limit: abs(math.log(limit.source_bytes / row.source_bytes)))
    same = [limit for limit in fitting if abs(limit.source_bytes - nearest.source_bytes) < _LIMIT_SLACK_BYTES]
    best = max(same, key=lambda limit: limit.bytes_per_second)
    share = row.bytes_per_second / best.bytes_per_second
    is_exact = abs(best.source_bytes - row.source_bytes) < _LIMIT_SLACK_BYTES
    return replace(
        row,
        limit=best.bytes_per_second,
        limit_by=best.device,
        limit_bytes=best.source_bytes,
        limit_exact=is_exact,
        share=share,
        # Another size may have a lower limit, with nothing wrong.
        above_limit=is_exact and _is_above(row, same),
    )


def _is_above(row: Row, limits: Sequence[Row]) -> bool:
    """Whether a case beats the limits of its size beyond the noise: its slow quartile against the fastest of
    their fast ones.

    A limit includes the launch of the API that it was measured through. A backend that none was measured
    through may launch faster, or not at all, as NumPy: it is held against them net of that launch.
    """
    is_net = row.backend not in {limit.backend for limit in limits}
    fastest = min(limit.queue_p25 - (limit.launch if is_net and limit.launch > 0 else 0) for limit in limits)
    bound = limits[0].bytes_moved / fastest if fastest > 0 else math.inf
    return row.bytes_moved / row.queue_p75 > bound * (1 + TOLERATED_EXCESS)


def memory_rates(environment: Mapping[str, Any]) -> dict[str, float]:
    """Bytes a second that the memory of each GPU can give at most, by its PCI address, where NVML told:
    the bus transfers twice a clock cycle.
    """
    found = {}
    gpus = environment.get("nvml")
    for gpu in gpus if isinstance(gpus, list) else ():
        mhz, bits = gpu.get("memory_clock_max_mhz"), gpu.get("memory_bus_bits")
        if isinstance(mhz, int | float) and isinstance(bits, int | float) and mhz > 0 and bits > 0:
            found[plain(gpu.get("physical"))] = mhz * 1e6 * bits * 2 / 8
    return found


def ordered_types(types: Iterable[str]) -> list[str]:
    """The distinct types, in the order of :data:`harness.problems.dtypes.DTYPES`, images by channels."""
    places = {name: place for place, name in enumerate(DTYPES)}

    def key(name: str) -> tuple[int, str]:
        return places.get(name.partition("C")[0], len(places)), name

    return sorted(set(types), key=key)


def ordered_sizes(table: pd.DataFrame) -> list[str]:
    """The distinct sizes of the rows, smallest first."""
    return [str(size) for size in table.sort_values(["elements", "size"])["size"].drop_duplicates()]


def measured(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that can be compared: cases of the comparison, verified, with a queue time."""
    return table[(table["purpose"] == "compare") & (table["status"] == "ok") & table["queue"].notna()]


def by_speed(table: pd.DataFrame) -> pd.DataFrame:
    """Fastest first, by queue time, which is all that a call takes only where nothing is left to the host:
    what is in parts comes after all that is whole.
    """
    return table.sort_values(["in_parts", "queue"], kind="stable")


def bandwidths(table: pd.DataFrame) -> pd.DataFrame:
    """The measured rows of a study of the limits themselves."""
    rows = measured(table)
    return rows[rows["kind"] == "bandwidth"]

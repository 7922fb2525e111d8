"""A record as a row of a run's table: every number that is derived of it alone."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backends import REGISTRY
from harness.problems import Bandwidth, Laplace, Problem, Reduction
from harness.results import statistics as stats
from harness.results.clock_agreement import disagreement
from harness.results.launch_correction import Launches
from harness.results.record import Record, Samples
from harness.results.statistics import Blocks
from harness.results.stopping import NARROW, is_narrow, mean_is_narrow
from harness.variants.axes import label
from reports.format import plain
from reports.format import size as written_size
from reports.resources import taken


@dataclass(frozen=True, slots=True)
class Row:
    """One record. Times are seconds (:func:`harness.results.statistics.centre`), bandwidths bytes a second;
    NaN or empty where there is none.

    op: the operation, for images output, mask and border. type: dtype, for images with channels, ``uint8C4``.
    backend, role: its name, and what it is for (:class:`backends.Entry`); with "portable " in front where the
    kernels are in that dialect, so that they stand beside the others as a backend of their own. device: its
    key, ``opencl:0``. purpose: compare or limit. net: queue less launch. note: what weakens the queue clock,
    such as a host-bound library; launch_note likewise. sampling: how many samples, in how many contexts, and
    what ended them; precise: whether they know the time to NARROW. queue_blocks, launch_blocks: the usable
    samples by their blocks, corrected (:mod:`harness.results.launch_correction`), queue_numbers the names of
    those of the queue clock, queue_error and launch_error what the blocks share of error, queue_scatter how
    much those of the queue clock differ before they are corrected. gate: what held the calls back.
    launch_event and launch_kernel: the empty kernel by these clocks. in_parts: whether a GPU leaves work to
    the host that the queue clock does not count. launches: kernels of a call, 0 where nobody tells; calls: of
    a library for one result. disagreement: clocks that contradict each other. context_seconds: of the run for
    one of its contexts, with the opening. resources: what each launch takes
    (:func:`reports.resources.taken`). width: the elements of a vector. limit: the fastest bandwidth measured
    on the same hardware, cache state and source size (limit_exact), else at the nearest size (limit_bytes).
    share: of that limit, with the ends of its interval.
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
    queue_numbers: tuple[int, ...]
    launch_blocks: Blocks
    queue_error: float
    queue_scatter: float
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
    share_low: float = math.nan
    share_high: float = math.nan
    above_limit: bool = False
    given_up: bool = False


def row_of(
    number: int, record: Record, found: Mapping[tuple[str, int], Mapping[str, Any]], launches: Launches
) -> Row:
    """The row of a record, which is the ``number``-th of its run.

    found: the devices of the run's environment by backend and index. launches: what launching costs.
    """
    case, problem = record.case, record.case.problem
    device = found.get((case.backend, case.device), {})
    key = case.device_key
    kind, op, type_, size, elements = _describe(problem)
    queue_side, launch_side = (
        launches.corrected(key, record.clocks.get(clock), clock) for clock in ("queue", "launch")
    )
    queue, launch = stats.centre(queue_side.blocks), stats.centre(launch_side.blocks)
    quartiles = _quartiles(queue_side.blocks)
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
        queue_numbers=queue_side.numbers,
        launch_blocks=launch_side.blocks,
        queue_error=queue_side.error,
        queue_scatter=queue_side.scatter,
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


def _quartiles(side: Blocks) -> stats.Quartiles:
    """Those of all samples, corrected as the time between them is."""
    samples = [value for block in side for value in block]
    return stats.quartiles(samples) if samples else stats.Quartiles(math.nan, math.nan, math.nan)


def _centre(record: Record, clock: str) -> float:
    return stats.centre(_blocks_of(record.clocks.get(clock)))


def _blocks_of(clock: Samples | None) -> Blocks:
    """The usable samples of a clock by the block that each is of, where the record says; else one block."""
    return stats.blocks(clock.seconds, clock.blocks) if clock else []


def _sampling(clock: Samples | None) -> str:
    if clock is None:
        return ""
    count, contexts = len(clock.seconds), len(set(clock.blocks))
    anew = f", {clock.anew} more taken anew" if clock.anew else ""
    ended = f", ended by: {plain(clock.stopped)}" if clock.stopped else ""
    return (
        f"{count} sample{'s' * (count != 1)} of {clock.calls} calls behind a lead, in "
        f"{contexts} fresh context{'s' * (contexts != 1)}{anew}{ended}"
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

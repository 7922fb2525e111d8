"""The provenance of a record: what was timed, so that a reader can judge what a ratio compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from backends.base import Prepared
from harness.devices import KernelTimes
from harness.problems import Problem
from harness.results.clock_agreement import disagreement
from harness.results.record import Samples


def prepared(problem: Problem, ready: Prepared, *notes: str) -> dict[str, Any]:
    """What the backend tells of a prepared problem.

    ``launches``: kernel, geometry, local memory, registers and spills of each launch of a call, none where a
    library does not tell. ``accumulator``: the type of the arithmetic. ``submission``: the order of the
    queue, and whether launches leave events. ``calls_per_result``: calls of a
    library. ``bytes_moved``: the fewest that a call must move, which bandwidths are computed from.
    """
    return {
        "launches": [asdict(launch) for launch in ready.launches],
        "result_location": ready.result_location,
        "source_hash": ready.source_hash,
        "build_options": list(ready.build_options),
        "accumulator": ready.accumulator,
        "submission": ready.submission,
        "calls_per_result": ready.calls_per_result,
        "bytes_moved": problem.bytes_moved,
        "note": "; ".join(note for note in (ready.note, *notes) if note),
    }


def profile(measured: Mapping[str, Samples], profiled: KernelTimes | None) -> dict[str, Any]:
    """What the clocks together show.

    ``disagreement``: which clocks contradict each other beyond their bias; empty where none do. ``kernels``:
    the launches of a call as the profiler saw them, a library's too. ``no_kernel_clock``: why the profiler
    gave no times, where there is one.
    """
    told: dict[str, Any] = {"disagreement": disagreement(measured)}
    if profiled is not None and profiled.note:
        told["no_kernel_clock"] = profiled.note
    elif profiled is not None:
        told["kernels"] = [asdict(launch) for launch in profiled.kernels]
        told["transfers"] = profiled.transfers
    return told

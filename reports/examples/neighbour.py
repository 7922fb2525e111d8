"""What a resident source costs a neighbour: two sums of bytes on one GPU, by the queue clock, as JSON lines.

The first source is as large as its argument says (67 MB by default), the neighbour's 30 MB, half of an
H200's L2 cache. ``alone``: each by itself. ``in turns``: a call of one, a call of the other. ``after``: the
neighbour's first call, by the API's events, after twenty calls of the first. With ``cache_hint`` none, and
resident.

    python reports/examples/neighbour.py > reports/examples/h200-neighbour.jsonl
"""

from __future__ import annotations

import json
import statistics
import sys
from contextlib import ExitStack
from copy import copy
from dataclasses import replace

from backends import REGISTRY, Backend, open_backend
from backends.base import Prepared
from harness.kernels.requirements import violations
from harness.measure.budget import Budget
from harness.measure.clocks import queue_seconds
from harness.measure.rotation import Rotation
from harness.problems import Reduction
from harness.runner.discovery import available
from harness.variants.axes import CacheHint, ReductionVariant

NEIGHBOUR_BYTES = 30_000_000
BUDGET = Budget(samples=15, seconds=0.5)
REPEATED = 21


def in_turns(first: Prepared, second: Prepared) -> Prepared:
    """The first, each call of which makes one of the second, too."""
    both = copy(first)

    def enqueue(i: int) -> None:
        first.enqueue(i)
        second.enqueue(i)

    both.enqueue = enqueue  # type: ignore[method-assign]
    return both


def prepared(backend: Backend, nbytes: int, hint: CacheHint) -> Prepared | None:
    """A sum of so many bytes with that hint; None where the device does not have it."""
    problem = Reduction("sum", "uint8", (nbytes,))
    variant = backend.default_variant(problem)
    assert isinstance(variant, ReductionVariant)
    hinted = replace(variant, cache_hint=hint)
    if violations(hinted, problem, backend.device):
        return None
    return backend.prepare(problem, hinted, [backend.upload(problem.pack(problem.make_source(1)))])


def microseconds(backend: Backend, each: Prepared) -> float:
    """Of a call, by the queue clock."""
    return statistics.median(queue_seconds(backend, Rotation(each), BUDGET).seconds) * 1e6


def first_call_after(backend: Backend, first: Prepared, neighbour: Prepared) -> float:
    """Microseconds of the neighbour's first call after twenty of the first, by the API's events."""
    found = []
    for _ in range(REPEATED):
        for _ in range(20):
            first.enqueue(0)
        backend.synchronize()
        found.append(neighbour.event_seconds(0) or float("nan"))
    return statistics.median(found) * 1e6


def main() -> None:
    """Every GPU of every backend with kernels of our own."""
    nbytes = int(sys.argv[1]) if len(sys.argv) > 1 else 2**26
    found = available()
    for name in (name for name, row in REGISTRY.items() if row.role in ("opencl", "cuda")):
        devices = found[name]
        for device in [] if isinstance(devices, str) else [one for one in devices if one.kind == "gpu"]:
            with ExitStack() as stack:
                backend = stack.enter_context(open_backend(name, device.index))
                neighbour = prepared(backend, NEIGHBOUR_BYTES, "none")
                assert neighbour is not None
                stack.enter_context(neighbour)
                for hint in ("none", "resident"):
                    first = prepared(backend, nbytes, hint)
                    if first is None:
                        continue
                    stack.enter_context(first)
                    line = {
                        "device": device.name,
                        "backend": name,
                        "cache_hint": hint,
                        "bytes": nbytes,
                        "neighbour_bytes": NEIGHBOUR_BYTES,
                        "alone_us": microseconds(backend, first),
                        "neighbour_alone_us": microseconds(backend, neighbour),
                        "in_turns_us": microseconds(backend, in_turns(first, neighbour)),
                        "neighbour_after_us": first_call_after(backend, first, neighbour),
                    }
                    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()

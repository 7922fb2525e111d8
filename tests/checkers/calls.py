"""The calls that a memory or race checker watches: every variant of our own kernels, at small odd sizes.

Run it under a checker, in one process, on one device::

    compute-sanitizer --tool racecheck --error-exitcode 9 python3 -m tests.checkers.calls --backend cuda
    oclgrind --data-races --uninitialized python3 -m tests.checkers.calls --backend opencl

The tool memcheck needs ``--report-api-errors no``, for cuda-bindings, when it is first used, asks the driver
for functions that it may not have.

Before a call, its label goes to stderr, where Oclgrind writes its reports, too: what stands below a label is
about that call. Every answer is compared with the reference. The exit code is 0 when all were right, else 1.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np

from backends import Backend, Unsupported, open_backend
from backends.common import kernel_backend
from harness.kernels import source as sources
from harness.kernels.defaults import default_variant
from harness.kernels.requirements import OPENCL_ELEMENTS, violations
from harness.kernels.source import Dialect
from harness.kernels.targets import KERNELS
from harness.kernels.values import TEXEL
from harness.problems import BORDERS, Bandwidth, Empty, Laplace, Problem, Reduction
from harness.problems.dtypes import DTYPES
from harness.variants.axes import (
    AXES,
    BandwidthVariant,
    BorderCode,
    LaplaceVariant,
    LaunchVariant,
    Pixels,
    ReductionVariant,
    Variant,
    label,
)
from harness.variants.ladders import LADDERS
from tests.support.checks import Point
from tests.support.compiling import NVIDIA
from tests.support.samples import (
    BANDWIDTHS,
    BOUNDED,
    LAPLACES,
    LEAST,
    REDUCTIONS,
    TURNS,
    bounded_of,
    turns_of,
    variant_of,
)

MARK = "call: "
"""What a label's line begins with."""

MOST_ELEMENTS = 3001
"""Of a reduction's source: a simulator takes its time."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call to watch."""

    problem: Problem
    variant: Variant

    @property
    def label(self) -> str:
        """Problem and variant, in one line."""
        return f"{self.problem.label}, {label(self.variant)}"


def calls() -> list[Call]:
    """Every pair of values of two axes, operations, dtypes and borders, as the functional tests have them;
    the ladders' rungs; what GPUs run by default; the limits; the empty kernel. Each once.
    """
    found = [*_reductions(), *_as_by_default(), *_laplaces(), *_borders(), *_turns(), *_bounded()]
    found += [*_bandwidths(), *_rungs()]
    found.append(Call(Empty((((3,), (5,)), ((2, 3), (4, 2)))), LaunchVariant()))
    return list(dict.fromkeys(found))


def _reductions() -> Iterator[Call]:
    for point in REDUCTIONS:
        variant = variant_of("reduction", point)
        assert isinstance(variant, ReductionVariant)
        yield Call(_reduction(point["op"], point["dtype"], variant), variant)


def _as_by_default() -> Iterator[Call]:
    """Every operation on every type as GPUs run it, but in a few small groups."""
    for op, dtype in itertools.product(KERNELS, DTYPES):
        default = default_variant(Reduction(op, dtype, (2**20,)), NVIDIA)
        assert isinstance(default, ReductionVariant)
        variant = replace(default, loads_in_flight=2, groups=3, group_size=64)
        yield Call(_reduction(op, dtype, variant), variant)


def _reduction(op: str, dtype: str, variant: ReductionVariant | BandwidthVariant) -> Reduction:
    elements = _elements(variant)
    if isinstance(variant, ReductionVariant) and variant.storage == "image":
        elements -= elements % TEXEL
    return Reduction(op, dtype, (elements,))


def _elements(variant: ReductionVariant | BandwidthVariant) -> int:
    """Two whole groups with all loads in flight, one vector more and an odd rest, if that is not too much."""
    vector = variant.vector_width
    group = vector * variant.loads_in_flight * variant.group_size
    return min(2 * group + vector + vector // 2 + 1, MOST_ELEMENTS)


def _laplaces() -> Iterator[Call]:
    for point in LAPLACES:
        variant = variant_of("laplace", point)
        assert isinstance(variant, LaplaceVariant)
        for height, width in _sizes(point, variant):
            parameters = {name: point[name] for name in ("mask", "border", "output", "dtype", "channels")}
            yield Call(Laplace(height=height, width=width, **parameters), variant)


def _sizes(point: Point, variant: LaplaceVariant) -> tuple[tuple[int, int], ...]:
    """Height and width: one pixel, and a little more than one group either way, within reason."""
    across = variant.vector_width * variant.group_width // point["channels"]
    down = variant.rows_per_item * variant.group_height
    return (1, 1), (min(down, 40) + 1, min(across, 60) + 3)


def _borders() -> Iterator[Call]:
    """Every border in every code on every number of channels, in global memory and in a tile: it is at
    borders that addresses go astray.
    """
    widths = itertools.cycle(width for width in AXES["laplace"]["vector_width"] if width <= OPENCL_ELEMENTS)
    codes = AXES["laplace"]["border_code"]
    points: list[tuple[Pixels, BorderCode, str, int]]
    points = [("global", *point) for point in itertools.product(codes, BORDERS, (1, 3, 4))]
    points += [("local_tile", *point) for point in itertools.product(codes, BORDERS, (3,))]
    for pixels, code, border, channels in points:
        width = next(widths)
        variant = LaplaceVariant(
            border_code=code, pixels=pixels, vector_width=width, group_width=4, group_height=2
        )
        problem = Laplace("eight", border, "laplacian", "uint8", 5, 4 * width // channels + 3, channels)
        if not violations(variant, problem, LEAST):
            yield Call(problem, variant)


def _turns() -> Iterator[Call]:
    for variant in TURNS:
        yield Call(turns_of(variant), variant)


def _bounded() -> Iterator[Call]:
    for point in BOUNDED:
        yield Call(*bounded_of(point))


def _bandwidths() -> Iterator[Call]:
    for point in BANDWIDTHS:
        variant = variant_of("bandwidth", point)
        assert isinstance(variant, BandwidthVariant)
        yield Call(Bandwidth(point["direction"], point["dtype"], _elements(variant)), variant)


def _rungs() -> Iterator[Call]:
    for ladder in LADDERS.values():
        for rung in ladder.rungs:
            if isinstance(rung, ReductionVariant):
                yield Call(_reduction("minmax", "uint8", rung), rung)
            elif isinstance(rung, LaplaceVariant):
                yield Call(Laplace("eight", "constant", "sharpened", "uint8", 19, 37, 4, 7), rung)


def planted_call() -> Call:
    """The call that faults are planted in: several groups of several sub-groups, and a merging launch."""
    return Call(Reduction("minmax", "int32", (3001,)), ReductionVariant(group_size=128))


_BARRIERS: dict[Dialect, str] = {"cl": "barrier(CLK_LOCAL_MEM_FENCE);", "cu": "__syncthreads();"}
_OWNS = "if (local_id == 0) partials["

PLANTS: dict[str, Callable[[Dialect], tuple[str, str]]] = {
    "race": lambda dialect: (_BARRIERS[dialect], ""),
    "divergence": lambda dialect: (_BARRIERS[dialect], f"if (local_id % 2) {_BARRIERS[dialect]}"),
    "overrun": lambda _: ("rest < length;", "rest <= length;"),
    "unwritten": lambda _: (_OWNS, "if (local_id == 0 && mine.lowest == HIGHEST) partials["),
}
"""Faults for the control of a checker, by name: what is replaced in the source of :func:`planted_call`, and
by what."""


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Every source that is assembled meanwhile has the fault of that name."""

    def assemble(dialect: Dialect, files: Sequence[str], macros: Mapping[str, str | int]) -> str:
        sound = sources.assemble(dialect, files, macros)
        old, new = PLANTS[name](dialect)
        assert old in sound, f"{old!r} is not in the source"
        return sound.replace(old, new)

    with patch.object(kernel_backend, "assemble", assemble):
        yield


def start_in_order(backend: Backend) -> None:
    """Lets groups wait for those of lower numbers on a simulator, which starts them in that order."""
    if backend.device.platform == "Oclgrind":
        backend.device = replace(backend.device, awaits_groups=True)


def fill_by_copy(backend: Backend) -> None:
    """Makes an OpenCL backend fill memory by copies: to Oclgrind clEnqueueFillBuffer initialises nothing."""
    if backend.name != "opencl":
        return
    import pyopencl as cl

    def fill(handle: cl.Buffer, nbytes: int, pattern: bytes) -> None:
        cl.enqueue_copy(queue, handle, np.frombuffer(pattern * (nbytes // len(pattern)), np.uint8))

    queue = vars(backend)["_queue"]
    vars(backend)["_fill"] = fill


def _is_padded(problem: Problem) -> bool:
    """Whether a partial result has bytes between its fields."""
    if not isinstance(problem, Reduction):
        return False
    dtype = problem.partial_dtype
    return sum(dtype[name].itemsize for name in dtype.names or ()) < dtype.itemsize


def run(backend: Backend, call: Call, alive: ExitStack) -> str:
    """Makes a call: ``ok``, or ``skipped: `` and why, or ``wrong: `` and how.

    A reduction is called again on another source, with nothing restored in between, until each place of an
    answer has been written twice.

    Its memory is freed with ``alive``, for no address is to be used twice: Oclgrind (21.10) loses its account
    of what is initialised there, and an access to freed memory would meet the next call's.
    """
    hosts = [call.problem.make_source(1)]
    if isinstance(call.problem, Reduction):
        hosts.append(call.problem.unlike(hosts[0]))
    sources = [backend.upload(call.problem.pack(host)) for host in hosts]
    try:
        prepared = backend.prepare(call.problem, call.variant, sources)
    except Unsupported as error:
        return f"skipped: {error}"
    alive.enter_context(prepared)
    if isinstance(call.problem, (Laplace, Empty)) or _is_padded(call.problem):
        # Fetched whole, with the padding that no kernel writes. Of the others the kernels must have written
        # all that is fetched, and all that the next launch reads: poisoned it would count as initialised.
        prepared.poison()
    for i in [0] + [len(hosts) - 1] * (prepared.answers + 1) * (len(hosts) > 1):
        prepared.enqueue(i)
        verification = call.problem.verify(prepared.result(), hosts[i])
        if not verification.ok:
            return f"wrong: {verification.message}"
    return "ok"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.checkers.calls", description=__doc__)
    parser.add_argument("--backend", choices=("opencl", "cuda"), required=True)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--only", default="", metavar="OP", help="calls whose label begins so")
    parser.add_argument("--plant", choices=PLANTS, help="a fault in one call, to see that it is reported")
    asked = parser.parse_args(arguments)
    fault = planted(asked.plant) if asked.plant else nullcontext()
    outcomes = Counter[str]()
    with open_backend(asked.backend, asked.device) as backend, fault, ExitStack() as alive:
        fill_by_copy(backend)
        start_in_order(backend)
        print(f"{backend.device.platform}: {backend.device.name}", flush=True)
        chosen = [planted_call()] if asked.plant else calls()
        for call in (call for call in chosen if call.label.startswith(asked.only)):
            print(f"{MARK}{call.label}", file=sys.stderr, flush=True)
            outcome = run(backend, call, alive)
            outcomes[outcome.partition(":")[0]] += 1
            if outcome != "ok":
                print(f"{call.label}: {outcome}", flush=True)
    print(", ".join(f"{number} {outcome}" for outcome, number in outcomes.items()))
    return int(bool(outcomes["wrong"]) or not outcomes["ok"])


if __name__ == "__main__":
    sys.exit(main())

"""What the library baselines share: what none of them runs, calls bound to their sources, and what a reader
must know of their answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from backends.base import POISON, Backend, HostMemory, Prepared
from backends.errors import BackendError
from harness.devices import Array, KernelTimes, KnownDeviation, ResultLocation
from harness.problems import Laplace, Problem, Reduction
from harness.variants.axes import LibraryVariant, Variant

_SEED = 1
_TOLD: dict[KnownDeviation, str] = {
    "nan": "a NaN may be passed over, not propagated",
    "nan_count": "a NaN may not be counted",
    "extreme": "an array of nothing but its type's extreme value is answered with 0",
    "infinity": "infinities alone, or a NaN among others, may be answered with the largest finite number",
    "subnormal": "subnormal numbers count as zero",
    "overflow": "more than 65536 neighbours of the type's lowest value may overflow",
}

Call = Callable[[], Sequence[Any]]
"""Enqueues one call; returns what holds its values: an image, or the fields of the answer one by one, or
together in one array or structure, which is fetched by one copy.
"""


@dataclass(frozen=True, slots=True)
class Calls:
    """One call a source, and what their provenance says; see :class:`backends.base.Prepared`."""

    each: Sequence[Call]
    accumulator: str = ""
    note: str = ""
    calls_per_result: int = 1
    result_location: ResultLocation = "device"


class LibraryBackend(Backend):
    """A library's own functions: no variants, no limits, and of the problems those that it has.

    ``adds_others``: whether it has sums of something else than the elements themselves.
    ``narrow_sums``: the types that its plain call adds without widening.
    """

    adds_others: ClassVar[bool] = False
    narrow_sums: ClassVar[tuple[str, ...]] = ()

    def unsupported(self, problem: Problem, variant: Variant) -> str | None:
        if not isinstance(problem, (Reduction, Laplace)):
            return "a library measures no limits here"
        if not isinstance(variant, LibraryVariant):
            return "a library has no variants"
        if too_large := self.device.too_large(problem.packed_bytes):
            return too_large
        if isinstance(problem, Reduction):
            return self._lacks_accumulator(problem, variant) or self._lacks_reduction(problem, variant)
        return self._lacks_laplace(problem)

    def _lacks_accumulator(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        """Why the library cannot add what the problem and the variant ask for; None when it can."""
        if problem.parts.adds_others and not self.adds_others:
            return f"no function of this library is used for {problem.op} here"
        narrow = problem.dtype in self.narrow_sums and problem.narrower_accumulator
        if variant.accumulator == "element" and not narrow:
            return f"this library adds {problem.label} in no narrower type than our kernels"
        return None

    def default_variant(self, problem: Problem) -> Variant:
        return LibraryVariant()

    def _compile(self, problem: Problem, variant: Variant) -> None:
        # A library compiles what a call needs before the first one, or in it.
        source = self.upload(problem.pack(problem.make_source(_SEED)))
        with self.prepare(problem, variant, [source]) as prepared:
            prepared.enqueue(0)
            self.synchronize()

    def _lacks_reduction(self, problem: Reduction, variant: LibraryVariant) -> str | None:
        """Why the library cannot run this reduction; None when it can."""
        return None

    def _lacks_laplace(self, problem: Laplace) -> str | None:
        """Why the library cannot run this filter; None when it can."""
        return None

    # --- what the prepared calls ask their backend for ---

    def _fetch(self, handle: Any) -> Array:
        """Waits for what a call left in ``handle``, as an array of the host: copied where it is elsewhere."""
        return np.asarray(handle)

    def _spoiled(self, handle: Any) -> Any:
        """``handle`` filled with garbage, or garbage in its place where it cannot be written."""
        value = np.asarray(handle)
        garbage = np.full(value.nbytes, POISON, np.uint8).view(value.dtype).reshape(value.shape)
        if value is handle:
            value[...] = garbage
            return value
        return garbage

    def _elapsed(self, calls: Sequence[Callable[[], Any]]) -> float | None:
        """Seconds of these calls by the API's own timer; None where it has none."""
        return None

    def _kernel_times(self, prepared: Prepared, sources: Sequence[int]) -> KernelTimes | None:
        """See :meth:`backends.base.Prepared.kernel_times`."""
        return None


class PreparedCalls(Prepared):
    """One call a source; ``finish`` makes the answer of the values that the last call left."""

    def __init__(self, backend: LibraryBackend, problem: Problem, calls: Calls) -> None:
        self._backend, self._problem, self._calls = backend, problem, calls.each
        self._values: Sequence[Any] = ()
        self.accumulator, self.calls_per_result = calls.accumulator, calls.calls_per_result
        self.result_location = calls.result_location
        told = (_TOLD[deviation] for deviation in sorted(backend.known_deviations(problem)))
        self.note = joined(calls.note, *told)

    def enqueue(self, i: int) -> None:
        self._values = self._calls[i % len(self._calls)]()

    def result(self, into: HostMemory | None = None) -> Any:
        if not self._values:
            raise BackendError(f"{self._backend.name}: there is no result before a call")
        values = [self._backend._fetch(value) for value in self._values]
        if isinstance(self._problem, Reduction):
            return self._problem.answer(list(chain.from_iterable(map(_fields, values))))
        return values[0]

    def poison(self) -> None:
        self._values = [self._backend._spoiled(value) for value in self._values]

    def event_seconds(self, i: int) -> float | None:
        return self._backend._elapsed([partial(self.enqueue, i)])

    def kernel_times(self, sources: Sequence[int]) -> KernelTimes | None:
        return self._backend._kernel_times(self, sources)

    def close(self) -> None:
        self._values = ()


@dataclass(frozen=True, slots=True)
class BoundCall:
    """A call of a C function with its arguments fixed: what it leaves its values in, and the memory that must
    live as long as it can be made.
    """

    run: Callable[[], None]
    values: Sequence[Any]
    memory: Sequence[Any]

    def __call__(self) -> Sequence[Any]:
        self.run()
        return self.values


def _fields(value: Array) -> list[Any]:
    """The values in what was fetched: the elements of an array, or the fields of a structure."""
    names = value.dtype.names
    return list(value.reshape(-1)) if names is None else [value.reshape(-1)[0][name] for name in names]


def each(functions: Sequence[Callable[[Any], Any]], array: Any) -> list[Any]:
    """What every function gives for one array: the call of a library with a function for each field."""
    return [function(array) for function in functions]


def joined(*remarks: str) -> str:
    """Remarks as one note; empty ones are left out."""
    return "; ".join(filter(None, remarks))


def field_types(problem: Reduction, **own: str) -> str:
    """The accumulators of a reduction's fields, joined: by what each is, of the element type but ``own``."""
    return ", ".join(
        dict.fromkeys(own.get(problem.parts.fields[name], problem.dtype) for name in problem.parts.combine)
    )


def count_type(problem: Reduction) -> str:
    """The type in which a count of a problem's elements is exact and takes the fewest instructions."""
    return "uint32" if problem.size < 2**32 else "uint64"


def nan_in_extremes(problem: Problem) -> frozenset[KnownDeviation]:
    """The deviation of a library whose minimum and maximum do not propagate NaN."""
    if (
        isinstance(problem, Reduction)
        and problem.element.is_float
        and "element" in problem.parts.fields.values()
    ):
        return frozenset({"nan"})
    return frozenset()

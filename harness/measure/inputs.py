"""What problems work on: their sources, made, kept and uploaded, and the right answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.base import Backend
from harness.devices import DeviceArray
from harness.measure.source_cache import Shared
from harness.problems import Array, Laplace, Problem, Reduction
from harness.results.record import Case

CACHES_PASSED = 4
"""A cold case's sources together are this many times the last-level cache."""
ASSUMED_CACHE_BYTES = 64 * 2**20
"""Last-level cache of a device that does not tell."""
MAX_SOURCES = 1024
MEMORY_SHARE = 0.25
"""The part of the device's memory that sources may take; results may need as much again."""
_UNLIKE = "unlike"
KEPT_SHARE = 1 / 32
"""The part of the device's memory that all sources may keep between cases: other workers need it too."""


@dataclass(frozen=True, slots=True)
class HostData:
    """A problem's source as made and as packed, and the answer expected, within a tolerance."""

    source: Array
    packed: Array
    expected: Any
    tolerance: float


@dataclass(frozen=True, slots=True)
class Unlike:
    """A reduction's source with another answer (:meth:`harness.problems.Reduction.unlike`): on the device,
    and the answer expected, within a tolerance.
    """

    uploaded: DeviceArray
    expected: Any
    tolerance: float


@dataclass(slots=True)
class Source:
    """What problems of one key work on: as made, as packed, and the copies ``uploaded`` so far."""

    array: Array
    packed: Array
    uploaded: tuple[DeviceArray, ...] = ()

    @property
    def nbytes(self) -> int:
        """What it takes, on the device or here."""
        return max(self.packed.nbytes, sum(copy.nbytes for copy in self.uploaded))


class Inputs:
    """The sources of one open backend's cases, and their answers.

    Keeps the sources used last, here and on the device, and the last problem's answer, as making and moving
    them is slow.
    """

    def __init__(self, backend: Backend, seed: int, image: Path | None, shared: Path | None) -> None:
        """``seed``, ``image`` and ``shared`` are those of :class:`harness.measure.measurer.Measurer`."""
        self._backend, self._seed, self._image = backend, seed, image
        self._shared = Shared(shared) if shared else None
        self._sources: dict[Hashable, Source] = {}
        self._data: tuple[Problem, HostData] | None = None
        self._is_owed = False

    def data(self, problem: Problem) -> HostData:
        """The source of a problem and its reference."""
        if self._data is None or self._data[0] != problem:
            self._data = problem, self._make_data(problem)
        return self._data[1]

    def uploaded(self, case: Case) -> tuple[DeviceArray, ...]:
        """The sources of a case on the device; kernels leave them as they are, so cases can share them.

        Raises:
            OutOfDeviceMemory: when they do not fit.
        """
        source, wanted = self._source_of(case.problem), self._count(case)
        self._give_back()
        source.uploaded = source.uploaded[:wanted]
        while len(source.uploaded) < wanted:
            source.uploaded += (self._backend.upload(source.packed),)
        return source.uploaded

    def unlike(self, problem: Problem) -> Unlike | None:
        """The source with another answer; None where it has no room beside the first, or where no call leaves
        anything to the next, as a reduction's leave tickets, flags and cells.

        Raises:
            OutOfDeviceMemory: when it does not fit.
        """
        if not isinstance(problem, Reduction) or not problem.size or 2 * problem.source_bytes > self._most:
            return None
        array = self._source_of(problem).array
        other = self._kept((problem.source_key, _UNLIKE), problem, lambda: problem.unlike(array))
        if not other.uploaded:
            other.uploaded = (self._backend.upload(other.packed),)
        return Unlike(other.uploaded[0], *self._answer((problem, _UNLIKE), problem, other.array))

    def thin_out(self) -> None:
        """Frees as much as all sources take more than may stay between cases; of the last one what it has on
        the device. Libraries that keep such memory are told to give it back.
        """
        while len(self._sources) > 1 and self._taken > self._most:
            self._forget_oldest()
        self._give_back()
        if self._taken > self._most:
            for last in self._sources.values():
                last.uploaded = ()
            # The case that ends still holds them: the library can give them back when the next one begins.
            self._is_owed = True

    def cold_note(self, case: Case, sources: int) -> str:
        """Why ``sources`` copies leave a cold case in the cache, or may; empty where they pass it."""
        if case.cache == "hot":
            return ""
        covered = sources * self.data(case.problem).packed.nbytes
        cache = self._backend.device.cache_bytes
        if not cache:
            return f"cold: the device does not tell its cache; {covered / 1e6:.0f} MB of sources"
        passed = covered / cache
        return "" if passed >= CACHES_PASSED else f"cold: the sources are only {passed:.2g} times the cache"

    def _make_data(self, problem: Problem) -> HostData:
        source = self._source_of(problem)
        expected, tolerance = self._answer(problem, problem, source.array)
        return HostData(source.array, source.packed, expected, tolerance)

    def _source_of(self, problem: Problem) -> Source:
        def made() -> Array:
            if isinstance(problem, Laplace):
                from harness.measure.photograph import source_image

                return source_image(problem, self._image)
            return problem.make_source(self._seed)

        return self._kept(problem.source_key, problem, made)

    def _kept(self, key: Hashable, problem: Problem, make: Callable[[], Array]) -> Source:
        """The source of that key, the last to be forgotten from now on; made where it is not kept."""
        source = self._sources.pop(key, None)
        if source is None:
            # What must go goes first: both at a time may not fit.
            if self._data and self._data[0] != problem:
                self._data = None
            while self._sources and self._taken + problem.source_bytes > self._most:
                self._forget_oldest()
            array = self._shared.array(key, make) if self._shared else make()
            source = Source(array, problem.pack(array))
        self._sources[key] = source
        return source

    @property
    def _most(self) -> float:
        """Bytes that all sources may keep between cases."""
        return KEPT_SHARE * self._backend.device.memory_bytes

    @property
    def _taken(self) -> int:
        return sum(source.nbytes for source in self._sources.values())

    def _forget_oldest(self) -> None:
        """Forgets the source that was used longest ago."""
        del self._sources[next(iter(self._sources))]
        self._is_owed = True

    def _give_back(self) -> None:
        """Has the library give back what it keeps, if anything was dropped since it last did."""
        if self._is_owed:
            self._is_owed = False
            self._backend.give_back_memory()

    def _answer(self, key: object, problem: Problem, source: Array) -> tuple[Any, float]:
        """The reference and the tolerance; once in a run, as they are slow and every worker needs them."""

        def computed() -> tuple[Any, float]:
            return problem.reference(source), problem.tolerance(source)

        if self._shared is None or not isinstance(problem, (Reduction, Laplace)):
            return computed()
        if isinstance(problem, Laplace):
            image = self._shared.array(problem, lambda: problem.reference(source))
            return image, self._shared.answer(key, lambda: problem.tolerance(source))
        found: tuple[Any, float] = self._shared.answer(key, computed)
        return found

    def _count(self, case: Case) -> int:
        """Sources that the calls rotate over: one if hot, else enough to pass the cache if memory allows."""
        if case.cache == "hot":
            return 1
        nbytes = self.data(case.problem).packed.nbytes
        device = self._backend.device
        wanted = -(-CACHES_PASSED * (device.cache_bytes or ASSUMED_CACHE_BYTES) // nbytes)
        fitting = int(MEMORY_SHARE * device.memory_bytes) // nbytes if device.memory_bytes else MAX_SOURCES
        return max(2, min(wanted, fitting, MAX_SOURCES))

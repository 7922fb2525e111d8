"""What the backends with kernels of our own share: a plan is built, allocated and bound the same way in each
dialect.

A dialect's backend says how to build, allocate, copy and launch; nothing here or there knows a variant.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from backends.base import POISON, Backend, HostMemory, Prepared
from backends.errors import Unsupported
from harness.devices import Array, DeviceArray, KernelTimes, Launch
from harness.kernels.defaults import default_variant
from harness.kernels.plan import (
    Argument,
    Buffer,
    KernelPlan,
    PlannedLaunch,
    Scalar,
    Source,
    SourceImage2d,
    SourceImageBuffer,
    Turn,
)
from harness.kernels.planner import plan
from harness.kernels.requirements import violations
from harness.kernels.source import Dialect, assemble, source_hash
from harness.problems import Problem
from harness.variants.axes import Events, LaunchVariant, Variant

Bound = Callable[[], Any]
"""Enqueues one launch with its arguments fixed."""


class Kept(Protocol):
    """Sources of which a cache keeps a part in launches that are told so."""

    def around(self, i: int, launch: Bound) -> Bound:
        """A launch that is told so of source ``i``."""

    def free(self) -> None:
        """Nothing is kept any more."""


_COMMANDS: dict[Events, int] = {"off": 1, "on": 4, "profiled": 8}
"""Of a launch and its event in NVIDIA's queue, rounded up generously: by how many fewer fit into it."""


class OwnKernelBackend(Backend):
    """A backend that runs the plans of :mod:`harness.kernels.planner` in one dialect."""

    dialect: ClassVar[Dialect]

    def __init__(self) -> None:
        self._programs: dict[str, Any] = {}

    def unsupported(self, problem: Problem, variant: Variant) -> str | None:
        return "; ".join(violations(variant, problem, self.device)) or None

    def default_variant(self, problem: Problem) -> Variant:
        return default_variant(problem, self.device)

    def reserve(self, nbytes: int) -> DeviceArray:
        # Written by the device itself: to send as many zeros there takes far longer.
        handle = self._allocate(nbytes)
        self._fill(handle, nbytes, bytes(1))
        self.synchronize()
        return DeviceArray(handle, np.dtype(np.uint8), (nbytes,))

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        return PreparedPlan(self, problem, plan(problem, variant, self.device), sources)

    def _compile(self, problem: Problem, variant: Variant) -> None:
        planned = plan(problem, variant, self.device)
        if planned.files:
            self.program(assemble(self.dialect, planned.files, planned.macros), planned.most_registers)

    def program(self, source: str, most_registers: int = 0) -> Any:
        """The built program of an assembled source; each is built once while the backend is open."""
        key = source_hash(source)
        if key not in self._programs:
            self._programs[key] = self._build(source, self.build_options(most_registers))
        return self._programs[key]

    def build_options(self, most_registers: int = 0) -> tuple[str, ...]:
        """What the compiler is told beside the source.

        most_registers: of a work-item of kernels whose group size is not declared; 0 where it decides.
        """
        return ()

    def _kernel_times(self, prepared: Prepared, sources: Sequence[int]) -> KernelTimes | None:
        """See :meth:`backends.base.Prepared.kernel_times`."""
        return None

    def _possible(self, submission: LaunchVariant) -> LaunchVariant:
        """The submission that is as near as the API can come to this one; the record tells it."""
        return submission

    # --- what a dialect's backend implements ---

    def _keep(self, sources: Sequence[DeviceArray], share: float) -> Kept:
        """Has the cache keep this part of the sources while launches run that are told so."""
        raise Unsupported(f"{self.device.key}: no queue of this API can be told what the cache is to keep")

    @abstractmethod
    def _build(self, source: str, options: tuple[str, ...]) -> Any:
        """Compiles a source into a program with these :meth:`build_options`; raises BuildError."""

    @abstractmethod
    def _kernel(self, program: Any, launch: PlannedLaunch) -> tuple[Any, Launch]:
        """A new kernel object of a program, and what the compiler tells of it."""

    @abstractmethod
    def _bind(
        self, kernel: Any, launch: PlannedLaunch, arguments: Sequence[Any], submission: LaunchVariant | None
    ) -> Bound:
        """Fixes a kernel's arguments (handles, NumPy scalars); ``submission`` is None where :meth:`_elapsed`
        will call it.
        """

    @abstractmethod
    def _bind_copy(self, source: Any, target: Any, nbytes: int, submission: LaunchVariant | None) -> Bound:
        """Fixes a copy of device memory by the API's own command; ``submission`` as for :meth:`_bind`."""

    @abstractmethod
    def _elapsed(self, calls: Sequence[Bound]) -> float:
        """Seconds from the start of the first of these launches to the end of the last, by the API's own
        timer.
        """

    @abstractmethod
    def _allocate(self, nbytes: int) -> Any:
        """Device memory; raises OutOfDeviceMemory."""

    @abstractmethod
    def _image_buffer(self, source: DeviceArray) -> Any:
        """The source as an image whose texels are four of its elements; it shares the source's memory."""

    @abstractmethod
    def _image2d(self, source: DeviceArray, image: SourceImage2d) -> Any:
        """The source as an image of two dimensions; it may hold a copy, made here."""

    @abstractmethod
    def _fill(self, handle: Any, nbytes: int, pattern: bytes) -> None:
        """Enqueues setting memory to a pattern, repeated: ``nbytes`` is a multiple of its length."""

    @abstractmethod
    def _download(self, handle: Any, host: Array) -> None:
        """Waits for all work, then copies from the start of device memory into a contiguous host array."""

    @abstractmethod
    def _free(self, handle: Any) -> None:
        """Frees device memory."""


class PreparedPlan(Prepared):
    """A plan with its memory allocated, its program built and its launches bound, once for each source."""

    def __init__(
        self, backend: OwnKernelBackend, problem: Problem, plan: KernelPlan, sources: Sequence[DeviceArray]
    ) -> None:
        self._backend, self._problem, self._plan, self._sources = backend, problem, plan, sources
        source = assemble(backend.dialect, plan.files, plan.macros)
        self.source_hash = source_hash(source)
        self.result_location = plan.result_location
        self.build_options = backend.build_options(plan.most_registers)
        self.accumulator = problem.accumulator
        self.answers = plan.turns
        self.submits = backend._possible(plan.submission)
        self.commands_per_launch = _COMMANDS[self.submits.events]
        self.submission = f"{self.submits.queue} queue, events {self.submits.events}"
        self._program = backend.program(source, plan.most_registers) if plan.files else None
        self._buffers: list[dict[str, Any]] = []
        self._images: dict[int, Any] = {}
        self._timed: dict[tuple[int, int], list[Bound]] = {}
        self._last = self._turn = 0
        self._calls: list[list[list[Bound]]] = []
        self._kept: Kept | None = None
        try:
            self._allocate()
            if plan.kept:
                self._kept = backend._keep(sources, plan.kept)
            self.launches = tuple(backend._kernel(self._program, launch)[1] for launch in plan.launches)
            self._calls = [
                [self._bound_call(i, turn, self.submits) for i in range(len(sources))]
                for turn in range(self.answers)
            ]
        except BaseException:
            self.close()
            raise

    def _allocate(self) -> None:
        shared = {} if self._plan.per_source else self._allocate_set()
        for _ in self._sources:
            self._buffers.append(self._allocate_set() if self._plan.per_source else shared)

    def _allocate_set(self) -> dict[str, Any]:
        buffers = {name: self._backend._allocate(nbytes) for name, nbytes in self._plan.buffers.items()}
        for name, pattern in self._plan.initial.items():
            self._backend._fill(buffers[name], self._plan.buffers[name], pattern)
        return buffers

    def _bound_call(self, i: int, turn: int, submission: LaunchVariant | None) -> list[Bound]:
        """All that a call on source ``i`` enqueues."""
        bound = self._bound(self._plan.launches, i, turn, submission)
        for copy in self._plan.copies:
            source, target = (self._argument(argument, i, turn) for argument in (copy.source, copy.target))
            bound.append(self._backend._bind_copy(source, target, copy.nbytes, submission))
        return bound

    def _bound(
        self, launches: Sequence[PlannedLaunch], i: int, turn: int, submission: LaunchVariant | None
    ) -> list[Bound]:
        """Launches on source ``i``, with the plan's ring moved up by ``turn`` places."""
        bound = []
        for launch in launches:
            kernel, _ = self._backend._kernel(self._program, launch)
            arguments = [self._argument(argument, i, turn) for argument in launch.arguments]
            call = self._backend._bind(kernel, launch, arguments, submission)
            bound.append(self._kept.around(i, call) if self._kept else call)
        return bound

    def _argument(self, argument: Argument, i: int, turn: int) -> Any:
        if isinstance(argument, Scalar):
            return np.dtype(argument.dtype).type(argument.value)
        if isinstance(argument, Turn):
            return np.uint64(turn % 2 * argument.value)
        if isinstance(argument, Buffer):
            return self._buffer(argument.name, i, turn)
        if isinstance(argument, Source):
            return self._sources[i].handle
        return self._image_of(i, argument)

    def _buffer(self, name: str, i: int, turn: int) -> Any:
        ring = self._plan.ring
        if name in ring:
            name = ring[(ring.index(name) + turn) % len(ring)]
        return self._buffers[i][name]

    def _image_of(self, i: int, argument: SourceImageBuffer | SourceImage2d) -> Any:
        if i not in self._images:
            source = self._sources[i]
            self._images[i] = (
                self._backend._image2d(source, argument)
                if isinstance(argument, SourceImage2d)
                else self._backend._image_buffer(source)
            )
        return self._images[i]

    def enqueue(self, i: int) -> None:
        self._last = i = i % len(self._sources)
        self._take_turn()
        for call in self._calls[self._turn][i]:
            call()

    def _take_turn(self) -> None:
        """Moves the plan's ring up for the call that comes."""
        self._turn = (self._turn + 1) % len(self._calls)

    def result(self, into: HostMemory | None = None) -> Any:
        for call in self._bound(self._plan.readback, self._last, self._turn, self.submits):
            call()
        count, dtype = self._plan.result_count, self._plan.result_dtype
        raw = into.array(count, dtype) if into else np.empty(count, dtype)
        self._backend._download(self._buffer(self._plan.result, self._last, self._turn), raw)
        return self._problem.finish(raw)

    def poison(self) -> None:
        for buffers in self._buffers if self._plan.per_source else self._buffers[:1]:
            for name, handle in buffers.items():
                self._backend._fill(
                    handle, self._plan.buffers[name], self._plan.initial.get(name, bytes([POISON]))
                )
        self._backend.synchronize()

    def event_seconds(self, i: int) -> float | None:
        i %= len(self._sources)
        self._take_turn()
        key = self._turn, i
        if key not in self._timed:
            self._timed[key] = self._bound_call(i, self._turn, None)
        return self._backend._elapsed(self._timed[key])

    def kernel_times(self, sources: Sequence[int]) -> KernelTimes | None:
        return self._backend._kernel_times(self, sources)

    def close(self) -> None:
        try:
            self._release()
        finally:
            self._free()

    def _release(self) -> None:
        """Has the cache give up what the calls had it keep."""
        calls, self._calls = self._calls, []
        if calls and self._plan.release:
            for i in range(len(self._sources)):
                for call in self._bound(self._plan.release, i, 0, self.submits):
                    call()
            # Before another process measures.
            self._backend.synchronize()

    def _free(self) -> None:
        distinct = {id(handle): handle for buffers in self._buffers for handle in buffers.values()}
        distinct |= {id(image): image for image in self._images.values()}
        self._buffers, self._images = [], {}
        for handle in distinct.values():
            self._backend._free(handle)
        kept, self._kept = self._kept, None
        if kept:
            kept.free()

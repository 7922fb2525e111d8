"""The interface that every backend implements, and what is common to all of them.

A backend is one API on one device. It uploads sources, prepares a problem (allocates and builds, nothing
timed), enqueues calls and hands back results; how that is timed is the harness's business.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from backends.errors import BackendError, Unsupported
from harness.closing import Closing
from harness.devices import (
    Array,
    DeviceArray,
    DeviceInfo,
    KernelTimes,
    KnownDeviation,
    Launch,
    ResultLocation,
)
from harness.problems import Laplace, Problem, Reduction
from harness.problems.dtypes import dtype_of
from harness.variants.axes import Variant, require_variant

POISON = 0xC5
"""The byte that results are overwritten with: no zero in any type, nor where a double is cut to a float or an
integer, and a value that no source has.
"""


class HostMemory:
    """Memory on the host into which large answers are fetched, one after the other: the system maps memory
    that is fresh page by page as it is written, which takes time for each answer.
    """

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def array(self, count: int, dtype: npt.DTypeLike) -> Array:
        """An array of ``count`` elements, where the one before was: what that held is gone."""
        size = count * np.dtype(dtype).itemsize
        if size > self._bytes.size:
            self._bytes = np.empty(size, np.uint8)
        return self._bytes[:size].view(dtype)


class Prepared(Closing, ABC):
    """A problem made ready on a device: everything allocated and built. A context manager."""

    launches: tuple[Launch, ...] = ()
    """What one call launches; empty where a library does not tell."""
    result_location: ResultLocation = "device"
    """Where the answer is when a call has ended."""
    source_hash: str = ""
    """SHA-256 of the assembled kernel source; empty for libraries."""
    calls_per_result: int = 1
    """Calls of the library that one result takes: CuPy's minimum and maximum are two."""
    accumulator: str = ""
    """The type in which the arithmetic is done; empty where a library does not tell."""
    build_options: tuple[str, ...] = ()
    """What the kernel's compiler was told beside the source; empty for libraries."""
    answers: int = 1
    """Calls one after the other that differ: in where their answer lies, or in which way they go."""
    commands_per_launch: int = 1
    """Places that a launch takes in the device's queue: more with an event than without."""
    submission: str = ""
    """How its launches are enqueued; empty for libraries, which do not tell."""
    note: str = ""
    """What else a reader of the ratio must know, such as a library that flushes subnormal numbers."""

    @abstractmethod
    def enqueue(self, i: int) -> None:
        """Enqueues one call on source ``i`` (modulo their number) and nothing else: this is what is timed."""

    @abstractmethod
    def result(self, into: HostMemory | None = None) -> Any:
        """Waits for the last call enqueued and returns its answer, finished on the host where the variant
        says so.

        into: what an array may be fetched into, where it stands until the next one is; fresh memory if None.
        An array that a library leaves in the host's memory is that one: it stands until the next call.
        """

    @abstractmethod
    def poison(self) -> None:
        """Overwrites every result buffer with garbage, so that a kernel that writes nothing is found out."""

    def event_seconds(self, i: int) -> float | None:
        """Seconds of one call on source ``i`` by the API's own timer, all launches; None where the API has
        none. Something holds the device back until the call is enqueued: else the host's time is in it.
        """
        return None

    def kernel_times(self, sources: Sequence[int]) -> KernelTimes | None:
        """Runs a call on each of these sources under the API's profiler, of which the first does not count;
        None where the API has none, or none is installed.

        Raises:
            BackendError: what enqueueing and waiting raise; never a fault of the profiler, which the note of
                the answer tells.
        """
        return None


GateKind = Literal["", "kernel", "user event"]
"""What a gate is: a kernel on the device, an event of the API's; nothing where an API has none."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Work enqueued after a gate was set waits behind it; to be submitted, and then opened.

    :attr:`submit` hands everything enqueued so far to the device, and waits for a gate that opens by the
    clock; nothing starts before that. :attr:`open` lets everything start that has not. ``submit`` raises
    GateExpired where the gate may have opened before all was enqueued. :attr:`opens` is when a gate opens by
    the clock, in the seconds of ``time.perf_counter``; None where ``open`` is what opens it. :attr:`unsure`:
    so many seconds earlier it may open.
    """

    submit: Callable[[], None] = lambda: None
    open: Callable[[], None] = lambda: None
    opens: float | None = None
    unsure: float = 0.0


class Backend(Closing, ABC):
    """One API on one device. A context manager; not to be shared between threads."""

    name: ClassVar[str]
    device: DeviceInfo
    max_gated_launches: int = 800
    """Launches that may wait behind a gate before enqueueing blocks, see Prepared.commands_per_launch; fewer
    once that has turned out to be too many.
    """
    enqueue_seconds: float = 20e-6
    """What enqueueing a call takes, as seen lately; a guess before."""
    surest_gate: float = math.inf
    """The least that :attr:`Gate.unsure` was of a gate, in seconds."""
    once_seconds: tuple[float, ...] = ()
    """What batches of calls have cost once lately, beside the calls (:mod:`harness.measure.interruption`)."""
    gate_kind: GateKind = ""
    """What holds its work back, once :meth:`gate` has been called."""
    _is_closed: bool = False

    # --- what each backend implements ---

    @classmethod
    @abstractmethod
    def devices(cls) -> list[DeviceInfo]:
        """The devices of this machine that the backend can drive.

        Raises:
            BackendUnavailable: when a package or driver is missing; it says which, and how to get it.
        """

    @classmethod
    @abstractmethod
    def open(cls, index: int) -> Self:
        """The backend on its device number ``index``.

        Raises:
            BackendUnavailable: when there is no such device.
        """

    @abstractmethod
    def unsupported(self, problem: Problem, variant: Variant) -> str | None:
        """Why this backend cannot run ``variant`` on ``problem``: the skip reason. None when it can."""

    @classmethod
    def forget(cls) -> None:
        """Gives up what a closed backend leaves in this process for the next one, such as CUDA's context: the
        next to be opened begins with a fresh one. Nothing made in the old one may be in use any more.

        Raises:
            BackendError: when something still holds it.
        """

    def reserve(self, nbytes: int) -> DeviceArray:
        """Memory of so many bytes on the device, written once: drivers allocate as late as at the first use.

        Raises:
            OutOfDeviceMemory: when it does not fit.
        """
        return self.upload(np.zeros(nbytes, np.uint8))

    def give_back_memory(self) -> None:
        """Gives the device back what the library keeps of arrays that are gone, as others need it, too. Does
        nothing where memory goes with its array.
        """

    def known_deviations(self, problem: Problem) -> frozenset[KnownDeviation]:
        """On which special values the answer may differ from the problem's definition; a record's note says
        so. Empty but for libraries.
        """
        return frozenset()

    @abstractmethod
    def default_variant(self, problem: Problem) -> Variant:
        """The variant that a person gets who names none."""

    @abstractmethod
    def upload(self, host: Array) -> DeviceArray:
        """Copies a contiguous host array to the device.

        Raises:
            OutOfDeviceMemory: when it does not fit.
        """

    @abstractmethod
    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        """What :meth:`prepare` does of a problem and variant that the backend, which is open, can run."""

    @abstractmethod
    def gate(self, prepared: Prepared, seconds: float) -> Gate | None:
        """Holds back the calls of ``prepared`` that are enqueued from now on; all work has ended. None where
        the API cannot (host-bound).

        Args:
            prepared: what is to be enqueued.
            seconds: in which it will be; for so long a gate holds that opens by the clock.
        """

    def _compile(self, problem: Problem, variant: Variant) -> None:
        """See :meth:`compile`."""

    @abstractmethod
    def synchronize(self) -> None:
        """Waits until all enqueued work has ended.

        Raises:
            DeviceLost: when the device died meanwhile.
        """

    @abstractmethod
    def _close(self) -> None:
        """Frees the device; called once."""

    # --- the same on every backend ---

    def prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        """Allocates and builds all that calls on ``sources`` (uploaded in the problem's packed form) need.

        Raises:
            BackendError: when the backend is closed.
            TypeError, ValueError: on a variant that is none.
            Unsupported: with the reason that :meth:`unsupported` gives.
            BuildError: when a kernel does not compile.
            OutOfDeviceMemory: when a buffer does not fit.
        """
        self._require_open()
        self.require(problem, variant)
        return self._prepare(problem, variant, sources)

    def compile(self, problem: Problem, variant: Variant) -> None:
        """Compiles what :meth:`prepare` would, into the caches on disk that other processes read, too. Does
        nothing where there is nothing to compile, or no such cache.

        Raises: as :meth:`prepare`.
        """
        self._require_open()
        self.require(problem, variant)
        self._compile(problem, variant)

    def close(self) -> None:
        """Frees the device: it computes and prepares nothing any more. May be called twice."""
        if not self._is_closed:
            self._is_closed = True
            self._close()

    # --- what a person calls, the same on every backend ---

    def reduce(self, op: str, array: npt.ArrayLike, variant: Variant | None = None) -> Any:
        """Reduces all elements of ``array``: any shape, contiguous or not, on the host.

        Args:
            op: one of :data:`harness.problems.OPS`, which ``harness list problems`` prints.
            array: uint8 ... uint64, int8 ... int64, float16, float32 or float64, of any byte order; not
                masked.
            variant: how; the device's default when None.

        Returns:
            What :class:`harness.problems.Reduction` says of the operation, in its types.

        Raises:
            ValueError: on an unknown op, or one that has no value for an empty array (sums, products and
                counts have).
            TypeError: on a dtype that is not supported, a masked array, or a variant that is none.
            BackendError: when the backend is closed.
            Unsupported: when this backend or device cannot run it.
        """
        host = _host_array(array)
        problem = Reduction(op, dtype_of(host).name, host.shape)
        if host.size == 0:
            self._require_open()
            if problem.parts.of_nothing is None:
                raise ValueError(f"zero-size array to reduction operation {op} which has no identity")
            return problem.answer([problem.parts.of_nothing])
        return self.compute(problem, host, variant)

    def laplace(
        self,
        image: npt.ArrayLike,
        mask: str = "four",
        border: str = "reflect_101",
        output: str = "laplacian",
        border_value: float = 0,
        variant: Variant | None = None,
    ) -> Array:
        """Filters an image with a 3x3 Laplace mask.

        Args:
            image: shape (height, width) or (height, width, 1, 3 or 4), of uint8, uint16, int16 or float32;
                rows may be strided; of any byte order, not masked.
            mask: four, eight, four_negated, eight_negated (jia2012) or diagonal (OpenCV's ksize 3).
            border: constant, replicate, reflect, reflect_101 or wrap, as OpenCV names them.
            output: laplacian (saturated to the dtype) or sharpened.
            border_value: the pixel outside the image with the constant border.
            variant: how; the device's default when None.

        Returns:
            The filtered image, of the shape and dtype of ``image``, in native byte order.

        Raises:
            ValueError: on a shape, dtype, mask, border, output or border value that is not supported.
            TypeError: on a masked array, or a variant that is none.
            BackendError: when the backend is closed.
            Unsupported: when this backend or device cannot run it.
        """
        host = _host_array(image)
        if host.ndim not in (2, 3):
            raise ValueError(
                f"an image has shape (height, width) or (height, width, channels), not {host.shape}"
            )
        channels = host.shape[2] if host.ndim == 3 else 1
        height, width = host.shape[:2]
        problem = Laplace(mask, border, output, host.dtype.name, height, width, channels, border_value)
        return np.asarray(self.compute(problem, host.reshape(problem.shape), variant)).reshape(host.shape)

    def compute(self, problem: Problem, host: Array, variant: Variant | None = None) -> Any:
        """Uploads ``host``, runs ``problem`` on it once and returns the answer."""
        self._require_open()
        chosen = self.default_variant(problem) if variant is None else variant
        self.require(problem, chosen)
        with self.prepare(problem, chosen, [self.upload(problem.pack(host))]) as prepared:
            prepared.enqueue(0)
            return prepared.result()

    def require(self, problem: Problem, variant: Variant) -> None:
        """Raises :class:`Unsupported` with the skip reason if this backend cannot run ``variant`` on
        ``problem``; TypeError or ValueError if it is no variant.
        """
        require_variant(variant)
        reason = self.unsupported(problem, variant)
        if reason:
            raise Unsupported(f"{self.device.key} cannot run {problem.label}: {reason}")

    def _require_open(self) -> None:
        if self._is_closed:
            again = f"open_backend({self.device.backend!r}, {self.device.index})"
            raise BackendError(f"{self.device.key} is closed; open it again with {again}")


def _host_array(given: npt.ArrayLike) -> Array:
    """What a person gives as an array in native byte order.

    Raises:
        TypeError: on a masked array, as the kernels know no mask.
    """
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(
            "a masked array is not supported: its mask would be lost; give array.compressed(), without what "
            "is masked, or array.filled(value)"
        )
    host = np.asarray(given)
    return host if host.dtype.isnative else host.astype(host.dtype.newbyteorder("="))

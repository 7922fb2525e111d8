"""The interface that every backend implements, and what is common to all of them.

A backend is one API on one device. It uploads sources, prepares a problem (allocates and builds, nothing
timed), enqueues calls and hands back results; how that is timed is the harness's business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from harness.problems import Problem
    from harness.variants import Variant

Array = npt.NDArray[Any]

Departure = Literal["nan", "subnormal", "extreme"]
"""A kind of special value on which a library's answer may differ from the problem's definition."""


class BackendError(Exception):
    """Something a backend could not do; the message names the value, the place and the remedy."""


class BackendUnavailable(BackendError):
    """The backend or its device does not exist on this machine; the message says what is missing and how to
    get it.
    """


class Unsupported(BackendError):
    """The backend cannot run this problem or variant; the message is the skip reason."""


class BuildError(BackendError):
    """A kernel did not compile. Carries the assembled source and the compiler's log."""

    def __init__(self, message: str, source: str, log: str) -> None:
        super().__init__(message)
        self.source = source
        self.log = log

    def __str__(self) -> str:
        numbered = "\n".join(f"{i:4} {line}" for i, line in enumerate(self.source.splitlines(), 1))
        return f"{self.args[0]}\n--- compiler ---\n{self.log.strip()}\n--- source ---\n{numbered}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.source, self.log)


class DeviceLost(BackendError):
    """The device or its context is dead (an illegal address, a hang that the driver ended): only a new
    process helps.
    """


class GateExpired(BackendError):
    """A gate was not opened within its own limit and ended by itself: what was timed behind it is void."""


class OutOfDeviceMemory(BackendError):
    """An allocation did not fit on the device."""


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device as one backend sees it. Sizes in bytes; 0 or empty where the API does not tell.

    ``physical`` is the same for every backend that drives the same hardware: the PCI address
    (``0000:3b:00.0``) of a GPU, ``cpu`` for the processor. ``wave_width`` is the sub-group (warp) width.
    ``orders_groups``: one work-group can be made to see what another wrote in the same launch. ``queues``:
    the orders in which its queues (streams) can run what they are given.
    ``compute_capability``: of an NVIDIA GPU, 90 for 9.0: which PTX instructions it has.
    ``shuffles``: a kernel can move values between the work-items of a sub-group without local memory.
    ``max_texels``: of an image over a buffer, 0 where there are none.
    ``atomics64``: it can add, compare and exchange 64-bit integers of global memory at once.
    """

    backend: str
    index: int
    name: str
    platform: str
    vendor: str
    driver: str
    kind: Literal["cpu", "gpu", "accelerator"]
    compute_units: int
    memory_bytes: int
    max_allocation_bytes: int
    local_memory_bytes: int
    max_group_size: int
    cache_bytes: int
    wave_width: int
    float64: bool
    physical: str
    details: dict[str, str] = field(default_factory=dict, hash=False)
    orders_groups: bool = False
    compute_capability: int = 0
    shuffles: bool = False
    max_texels: int = 0
    atomics64: bool = False
    queues: tuple[str, ...] = ("in_order",)

    @property
    def key(self) -> str:
        """How a person names it: ``opencl:0``."""
        return f"{self.backend}:{self.index}"


@dataclass(frozen=True, slots=True)
class DeviceArray:
    """Contiguous memory on a device, its start aligned to 128 bytes or more. ``handle`` is the API's own
    object.
    """

    handle: Any
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch, as it is timed. Registers a work-item and spilled bytes are None where the API does
    not tell.
    """

    kernel: str
    num_groups: tuple[int, ...]
    group_size: tuple[int, ...]
    local_bytes: int = 0
    registers: int | None = None
    spills: int | None = None


@dataclass(frozen=True, slots=True)
class KernelTimes:
    """What a profiler saw of some calls on the device.

    ``seconds`` is the sum of the durations, start to end, of the kernels of each call; gaps between them do
    not count. ``kernels`` are those of one call, as the profiler describes them, ``transfers`` its copies
    and fills, whose time is not counted. ``note`` says why ``seconds`` is empty where it is.
    """

    seconds: tuple[float, ...] = ()
    kernels: tuple[Launch, ...] = ()
    transfers: int = 0
    note: str = ""


class Prepared(ABC):
    """A problem made ready on a device: everything allocated and built. A context manager."""

    launches: tuple[Launch, ...] = ()
    """What one call launches; empty where a library does not tell."""
    result_location: Literal["device", "host"] = "device"
    """Where the answer is when a call has ended."""
    source_hash: str = ""
    """SHA-256 of the assembled kernel source; empty for libraries."""
    calls_per_result: int = 1
    """Calls of the library that one result takes: CuPy's minimum and maximum are two."""
    accumulator: str = ""
    """The type in which the arithmetic is done; empty where a library does not tell."""
    build_options: tuple[str, ...] = ()
    """What the kernel's compiler was told beside the source; empty for libraries."""
    submission: str = ""
    """How its launches are enqueued; empty for libraries, which do not tell."""
    note: str = ""
    """What else a reader of the ratio must know, such as a library that flushes subnormal numbers."""

    @abstractmethod
    def enqueue(self, i: int) -> None:
        """Enqueues one call on source ``i`` (modulo their number) and nothing else: this is what is timed."""

    @abstractmethod
    def result(self) -> Any:
        """Waits for the last call enqueued and returns its answer, finished on the host where the variant
        says so.
        """

    @abstractmethod
    def poison(self) -> None:
        """Overwrites every result buffer with garbage, so that a kernel that writes nothing is found out."""

    def event_seconds(self, i: int) -> float | None:
        """Seconds of one call on source ``i`` by the API's own timer, all launches; None where the API has
        none.
        """
        return None

    def kernel_times(self, calls: int) -> KernelTimes | None:
        """Runs ``calls`` calls, on one source after the other, under the API's profiler; None where it has
        none, or none is installed.

        Raises:
            BackendError: what enqueueing and waiting raise; never a fault of the profiler, which the note of
                the answer tells.
        """
        return None

    def close(self) -> None:  # noqa: B027 - some have nothing to free
        """Frees what was allocated."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Gate:
    """Work enqueued after a gate was set waits until :attr:`open` is called.

    :attr:`submit` hands everything enqueued so far to the device; call it before the clock is read, so that
    opening costs no more than opening.
    """

    open: Callable[[], None]
    submit: Callable[[], None] = lambda: None


class Backend(ABC):
    """One API on one device. A context manager; not to be shared between threads."""

    name: ClassVar[str]
    device: DeviceInfo
    max_gated_launches: ClassVar[int] = 800
    """Launches that may wait behind a gate before enqueueing blocks."""

    # --- what each backend implements ---

    @classmethod
    @abstractmethod
    def devices(cls) -> list[DeviceInfo]:
        """The devices of this machine that the backend can drive.

        Raises:
            BackendUnavailable: when a package or driver is missing; the message says which and how to get it.
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

    def departures(self, problem: Problem) -> frozenset[Departure]:
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
    def prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        """Allocates and builds all that calls on ``sources`` (uploaded in the problem's packed form) need.

        Raises:
            Unsupported: with the reason that :meth:`unsupported` gives.
            BuildError: when a kernel does not compile.
            OutOfDeviceMemory: when a buffer does not fit.
        """

    @abstractmethod
    def gate(self) -> Gate | None:
        """Holds back all work enqueued from now on until the gate is opened. None where the API cannot
        (host-bound).
        """

    @abstractmethod
    def synchronize(self) -> None:
        """Waits until all enqueued work has ended.

        Raises:
            DeviceLost: when the device died meanwhile.
        """

    @abstractmethod
    def close(self) -> None:
        """Frees the device. May be called twice."""

    # --- what a person calls, the same on every backend ---

    def reduce(self, op: str, array: npt.ArrayLike, variant: Variant | None = None) -> Any:
        """Reduces all elements of ``array``: any shape, contiguous or not, on the host.

        Args:
            op: min, max, minmax, minmaxloc, sum, count_nonzero, mean or norm_inf (the largest magnitude).
            array: uint8 ... uint64, int8 ... int64, float16, float32 or float64.
            variant: how; the device's default when None.

        Returns:
            min, max: a scalar of the array's dtype; minmax: a pair of them; minmaxloc: a
            :class:`harness.problems.MinMaxLoc`, both and their flat indices; sum: int64, uint64 or float64;
            count_nonzero: int; mean: float64; norm_inf: float64, of integers int. NaN propagates as in NumPy.

        Raises:
            ValueError: on an unknown op, or another than sum and count_nonzero of an empty array.
            TypeError: on a dtype that is not supported.
            Unsupported: when this backend or device cannot run it.
        """
        from harness.dtypes import dtype_of
        from harness.problems import Reduction

        host = np.asarray(array)
        problem = Reduction(op, dtype_of(host).name, host.shape)
        if host.size == 0:
            if not problem.parts.of_nothing:
                raise ValueError(f"zero-size array to reduction operation {op} which has no identity")
            return problem.answer([0])
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
                rows may be strided.
            mask: four, eight, four_negated, eight_negated (jia2012) or diagonal (OpenCV's ksize 3).
            border: constant, replicate, reflect, reflect_101 or wrap, as OpenCV names them.
            output: laplacian (saturated to the dtype) or sharpened.
            border_value: the pixel outside the image with the constant border.
            variant: how; the device's default when None.

        Returns:
            The filtered image, of the shape and dtype of ``image``.

        Raises:
            ValueError: on a shape, mask, border, output or border value that is not supported.
            Unsupported: when this backend or device cannot run it.
        """
        from harness.problems import Laplace

        host = np.asarray(image)
        if host.ndim not in (2, 3):
            raise ValueError(
                f"an image has shape (height, width) or (height, width, channels), not {host.shape}"
            )
        if not host.dtype.isnative:
            raise ValueError(f"an image must be in native byte order, not {host.dtype!r}")
        channels = host.shape[2] if host.ndim == 3 else 1
        value = float(border_value)
        problem = Laplace(
            mask, border, output, host.dtype.name, host.shape[0], host.shape[1], channels, value
        )
        return np.asarray(self.compute(problem, host.reshape(problem.shape), variant)).reshape(host.shape)

    def compute(self, problem: Problem, host: Array, variant: Variant | None = None) -> Any:
        """Uploads ``host``, runs ``problem`` on it once and returns the answer."""
        chosen = variant or self.default_variant(problem)
        self.require(problem, chosen)
        with self.prepare(problem, chosen, [self.upload(problem.pack(host))]) as prepared:
            prepared.enqueue(0)
            return prepared.result()

    def require(self, problem: Problem, variant: Variant) -> None:
        """Raises :class:`Unsupported` with the skip reason if this backend cannot run ``variant`` on
        ``problem``.
        """
        reason = self.unsupported(problem, variant)
        if reason:
            raise Unsupported(f"{self.device.key} cannot run {problem.label}: {reason}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

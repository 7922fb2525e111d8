"""The OpenCL backend: our kernels in OpenCL C through pyopencl, on every platform and device found."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyopencl as cl

from backends.base import Prepared
from backends.common.kernel_backend import Bound, OwnKernelBackend, PreparedPlan
from backends.common.ptxas_log import ptxas_resources
from backends.errors import BuildError
from backends.opencl.build_log import NV_OPTIONS, NV_REGISTERS, NV_VERBOSE, verbose_log
from backends.opencl.device import OpenClDevice, typed_errors
from backends.opencl.launch import can_go_without_event, copy_without_event, without_event
from harness.devices import Array, DeviceArray, DeviceInfo, Launch
from harness.kernels.plan import PlannedLaunch, SourceImage2d
from harness.kernels.source import Dialect
from harness.kernels.values import TEXEL
from harness.variants.axes import LaunchVariant

_log = logging.getLogger(__name__)

BUILD_OPTIONS = ("-cl-std=CL1.2",)
_CHANNELS = {
    "uint8": cl.channel_type.UNSIGNED_INT8,
    "uint16": cl.channel_type.UNSIGNED_INT16,
    "uint32": cl.channel_type.UNSIGNED_INT32,
    "int8": cl.channel_type.SIGNED_INT8,
    "int16": cl.channel_type.SIGNED_INT16,
    "int32": cl.channel_type.SIGNED_INT32,
    "float16": cl.channel_type.HALF_FLOAT,
    "float32": cl.channel_type.FLOAT,
}
_MOST_FILLED = 2**30
"""Bytes, a multiple of every pattern, that one fill is trusted with; what follows is a copy of them. NVIDIA's
OpenCL does not end a fill of 2^31 bytes, and loses its context where more are filled by pieces.
"""

_TIMED = LaunchVariant(events="profiled")
"""How the event clock's calls are enqueued: profiling makes every enqueue dearer, so not where others are."""


class Built(NamedTuple):
    """A program, and what NVIDIA's compiler said of it; nothing of others."""

    program: cl.Program
    log: str


class _Binary(NamedTuple):
    """What a driver made of a source, for other contexts of the same device."""

    code: bytes
    log: str


_binaries: dict[tuple[int, tuple[str, ...], str], _Binary] = {}
"""What this process has built, by device, options and source. A driver that keeps programs on disk takes some
milliseconds to find one, and a GPU has many contexts in a process, each with all programs.
"""


class OpenClBackend(OpenClDevice, OwnKernelBackend):
    """One OpenCL device, one in-order queue, and what else of queues a study of launching asks for."""

    name: ClassVar[str] = "opencl"
    dialect: ClassVar[Dialect] = "cl"

    def __init__(self, info: DeviceInfo, device: cl.Device) -> None:
        super().__init__(info, device)
        self._queues = {_properties(LaunchVariant()): self._queue}

    def build_options(self, most_registers: int = 0) -> tuple[str, ...]:
        # NVIDIA's compiler then says how many registers a kernel has; the code is the same.
        verbose = (NV_VERBOSE,) if NV_OPTIONS in self.device.details["extensions"].split() else ()
        bound = (f"{NV_REGISTERS}={most_registers}",) if most_registers else ()
        return (*BUILD_OPTIONS, *verbose, *bound)

    @property
    def _in_use(self) -> Sequence[cl.CommandQueue]:
        return tuple(self._queues.values())

    def _close(self) -> None:
        self._programs.clear()

    def _build(self, source: str, options: tuple[str, ...]) -> Built:
        with warnings.catch_warnings():
            # pyopencl warns whenever a compiler has said anything at all.
            warnings.simplefilter("ignore", cl.CompilerWarning)
            try:
                # A processor has one context in a process: nothing would be used again.
                return (
                    self._built(source, options)
                    if self.device.kind == "cpu"
                    else self._again(source, options)
                )
            except cl.RuntimeError as error:
                raise BuildError(
                    f"{self.device.key}: the kernel does not compile", source, str(error)
                ) from error

    def _built(self, source: str, options: tuple[str, ...]) -> Built:
        program = self._compiled(source, options)
        is_told = NV_VERBOSE in options
        return Built(program, verbose_log(program, source, options, self._compiled) if is_told else "")

    def _again(self, source: str, options: tuple[str, ...]) -> Built:
        """As :meth:`_built`, from the binary where another context of this process has built the source."""
        device = self._context.devices[0]
        identity = device.int_ptr, options, source
        if identity in _binaries:
            code, log = _binaries[identity]
            try:
                program = _built_with(cl.Program(self._context, [device], [code]), options)
            except (cl.RuntimeError, cl.LogicError) as error:
                _log.warning("%s: the driver does not take its own binary back: %s", self.device.key, error)
                del _binaries[identity]
            else:
                return Built(program, log)
        built = self._built(source, options)
        codes: Any = built.program.get_info(cl.program_info.BINARIES)
        if codes and codes[0]:
            _binaries[identity] = _Binary(codes[0], built.log)
        return built

    def _compiled(self, source: str, options: Sequence[str]) -> cl.Program:
        return _built_with(cl.Program(self._context, source), options)

    def _kernel(self, program: Built, launch: PlannedLaunch) -> tuple[cl.Kernel, Launch]:
        kernel = cl.Kernel(program.program, launch.kernel)
        device = self._context.devices[0]
        local = kernel.get_work_group_info(cl.kernel_work_group_info.LOCAL_MEM_SIZE, device)
        registers, spills = ptxas_resources(program.log, launch.kernel)
        return kernel, Launch(
            launch.kernel, launch.num_groups, launch.group_size, int(local), registers, spills
        )

    def _bind(
        self,
        kernel: cl.Kernel,
        launch: PlannedLaunch,
        arguments: Sequence[Any],
        submission: LaunchVariant | None,
    ) -> Bound:
        kernel.set_args(*arguments)
        size = tuple(n * g for n, g in zip(launch.num_groups, launch.group_size, strict=True))
        queue = self._queue_of(submission or _TIMED)
        if submission is not None and submission.events == "off":
            return without_event(queue, kernel, size, launch.group_size)
        return partial(cl.enqueue_nd_range_kernel, queue, kernel, size, launch.group_size)

    def _bind_copy(
        self, source: cl.Buffer, target: cl.Buffer, nbytes: int, submission: LaunchVariant | None
    ) -> Bound:
        queue = self._queue_of(submission or _TIMED)
        if submission is not None and submission.events == "off":
            return copy_without_event(queue, source, target, nbytes)
        return partial(cl.enqueue_copy, queue, target, source, byte_count=nbytes)

    def _possible(self, submission: LaunchVariant) -> LaunchVariant:
        if submission.events == "off" and not can_go_without_event():
            return replace(submission, events="on")
        return submission

    def _queue_for(self, prepared: Prepared) -> cl.CommandQueue:
        assert isinstance(prepared, PreparedPlan)
        return self._queue_of(prepared.submits)

    def _queue_of(self, submission: LaunchVariant) -> cl.CommandQueue:
        properties = _properties(submission)
        if properties not in self._queues:
            device = self._context.devices[0]
            self._queues[properties] = cl.CommandQueue(self._context, device, properties=properties)
        return self._queues[properties]

    def _elapsed(self, calls: Sequence[Bound]) -> float:
        self.synchronize()
        with typed_errors("waiting for an event"):
            gate = self._gates.head_start(self._queue_of(_TIMED))
            try:
                events = [call() for call in calls]
                gate.submit()
            finally:
                gate.open()
            events[-1].wait()
            return float(events[-1].profile.end - events[0].profile.start) * 1e-9

    def _image_buffer(self, source: DeviceArray) -> cl.Image:
        with typed_errors("making an image of the source", allocating=True):
            texels = cl.ImageFormat(cl.channel_order.RGBA, _CHANNELS[source.dtype.name])
            shape = (source.nbytes // texels.itemsize,)
            flags = cl.mem_flags.READ_ONLY
            return cl.create_image(self._context, flags, texels, shape=shape, buffer=source.handle)

    def _image2d(self, source: DeviceArray, image: SourceImage2d) -> cl.Image:
        # A copy: few devices make such an image over a buffer.
        with typed_errors("making an image of the source", allocating=True):
            order = cl.channel_order.RGBA if image.texel == TEXEL else cl.channel_order.R
            texels = cl.ImageFormat(order, _CHANNELS[source.dtype.name])
            shape = (image.width, image.height)
            made = cl.create_image(self._context, cl.mem_flags.READ_ONLY, texels, shape=shape)
            rows = np.empty(source.nbytes, np.uint8)
            cl.enqueue_copy(self._queue, rows, source.handle)
            cl.enqueue_copy(
                self._queue, made, rows, origin=(0, 0), region=shape, pitches=(image.pitch_bytes,)
            )
            return made

    def _allocate(self, nbytes: int) -> cl.Buffer:
        with typed_errors(f"allocating {nbytes} bytes", allocating=True):
            return cl.Buffer(self._context, cl.mem_flags.READ_WRITE, nbytes)

    def _fill(self, handle: cl.Buffer, nbytes: int, pattern: bytes) -> None:
        with typed_errors(f"filling {nbytes} bytes", allocating=True):
            first = min(_MOST_FILLED, nbytes)
            cl.enqueue_fill_buffer(self._queue, handle, np.frombuffer(pattern, np.uint8), 0, first)
            for start in range(first, nbytes, first):
                some = min(first, nbytes - start)
                cl.enqueue_copy(self._queue, handle, handle, byte_count=some, dst_offset=start)

    def _download(self, handle: cl.Buffer, host: Array) -> None:
        with typed_errors("fetching the result"):
            cl.enqueue_copy(self._queue, host, handle)

    def _free(self, handle: cl.Buffer) -> None:
        handle.release()


def _properties(submission: LaunchVariant) -> Any:
    """The properties of the queue that a submission takes."""
    properties = cl.command_queue_properties
    out_of_order = submission.queue == "out_of_order"
    profiled = submission.events == "profiled"
    return out_of_order * properties.OUT_OF_ORDER_EXEC_MODE_ENABLE | profiled * properties.PROFILING_ENABLE


def _built_with(program: cl.Program, options: Sequence[str]) -> cl.Program:
    """The program, built from its source or binary."""
    # The drivers cache binaries themselves; pyopencl's own cache takes False for none.
    program.build(list(options), cache_dir=False)  # type: ignore[arg-type]
    return program

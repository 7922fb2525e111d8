"""The OpenCL backend: our kernels in OpenCL C through pyopencl, on every platform and device found."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyopencl as cl

from backends.base import (
    Array,
    BackendUnavailable,
    BuildError,
    DeviceArray,
    DeviceInfo,
    DeviceLost,
    Gate,
    Launch,
    OutOfDeviceMemory,
)
from backends.nvidia_log import ptxas_resources
from backends.opencl_enqueue import OUT_OF_MEMORY, can_go_without_event, without_event
from backends.own_kernels import Bound, OwnKernelBackend
from backends.pocl import repair
from harness.plans import PlannedLaunch, Submission
from harness.sources import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOW_TO_GET = "pip install 'pyopencl[pocl]' for the CPU; a GPU's OpenCL comes with its driver"
_CUDA_L2_CACHE_SIZE = 38
_OUT_OF_ORDER = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE

BUILD_OPTIONS = ("-cl-std=CL1.2",)
NV_VERBOSE = "-cl-nv-verbose"
NV_OPTIONS = "cl_nv_compiler_options"
"""The extension of NVIDIA's that knows :data:`NV_VERBOSE`."""


class OpenClBackend(OwnKernelBackend):
    """One OpenCL device, one in-order queue, and what else of queues a study of launching asks for."""

    name: ClassVar[str] = "opencl"
    dialect: ClassVar[Dialect] = "cl"

    def __init__(self, info: DeviceInfo, device: cl.Device) -> None:
        super().__init__()
        self.device = info
        self._context = cl.Context([device])
        self._queue = cl.CommandQueue(self._context, device)
        self._queues = {_properties(Submission()): self._queue}
        # Profiling makes every enqueue dearer, so the event clock has a queue of its own.
        self._timed_queue = cl.CommandQueue(
            self._context, device, properties=cl.command_queue_properties.PROFILING_ENABLE
        )

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [_describe(index, device) for index, device in enumerate(_all_devices())]

    @classmethod
    def open(cls, index: int) -> Self:
        devices = _all_devices()
        if not 0 <= index < len(devices):
            raise BackendUnavailable(f"there is no device {index}; there are 0 to {len(devices) - 1}")
        return cls(_describe(index, devices[index]), devices[index])

    def upload(self, host: Array) -> DeviceArray:
        with _typed_errors("uploading", allocating=True):
            flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
            return DeviceArray(cl.Buffer(self._context, flags, hostbuf=host), host.dtype, host.shape)

    @property
    def build_options(self) -> tuple[str, ...]:
        # NVIDIA's compiler then says how many registers a kernel has; the code is the same.
        verbose = (NV_VERBOSE,) if NV_OPTIONS in self.device.details["extensions"].split() else ()
        return (*BUILD_OPTIONS, *verbose)

    def gate(self) -> Gate:
        event = cl.UserEvent(self._context)
        queues = tuple(self._queues.values())
        for queue in queues:
            cl.enqueue_barrier(queue, wait_for=[event])

        def submit() -> None:
            for queue in queues:
                queue.flush()

        return Gate(open=partial(event.set_status, cl.command_execution_status.COMPLETE), submit=submit)

    def synchronize(self) -> None:
        with _typed_errors("waiting for the queue"):
            for queue in self._queues.values():
                queue.finish()

    def close(self) -> None:
        self._programs.clear()

    def _build(self, source: str) -> cl.Program:
        with warnings.catch_warnings():
            # pyopencl warns whenever a compiler has said anything at all.
            warnings.simplefilter("ignore", cl.CompilerWarning)
            try:
                # The drivers cache binaries themselves; pyopencl's own cache takes False for none.
                program = cl.Program(self._context, source)
                program.build(list(self.build_options), cache_dir=False)  # type: ignore[arg-type]
                return program
            except cl.RuntimeError as error:
                raise BuildError(
                    f"{self.device.key}: the kernel does not compile", source, str(error)
                ) from error

    def _kernel(self, program: cl.Program, launch: PlannedLaunch) -> tuple[cl.Kernel, Launch]:
        kernel = cl.Kernel(program, launch.kernel)
        device = self._context.devices[0]
        local = kernel.get_work_group_info(cl.kernel_work_group_info.LOCAL_MEM_SIZE, device)
        registers, spills = self._resources(program, launch.kernel)
        return kernel, Launch(
            launch.kernel, launch.num_groups, launch.group_size, int(local), registers, spills
        )

    def _resources(self, program: cl.Program, kernel: str) -> tuple[int | None, int | None]:
        """Registers a work-item and bytes spilled, where the compiler's log tells."""
        if NV_VERBOSE not in self.build_options:
            return None, None
        log = program.get_build_info(  # type: ignore[no-untyped-call]
            self._context.devices[0], cl.program_build_info.LOG
        )
        return ptxas_resources(str(log), kernel)

    def _bind(
        self,
        kernel: cl.Kernel,
        launch: PlannedLaunch,
        arguments: Sequence[Any],
        submission: Submission | None,
    ) -> Bound:
        kernel.set_args(*arguments)
        size = tuple(n * g for n, g in zip(launch.num_groups, launch.group_size, strict=True))
        queue = self._timed_queue if submission is None else self._queue_of(submission)
        if submission is not None and submission.events == "off":
            return without_event(queue, kernel, size, launch.group_size)
        return partial(cl.enqueue_nd_range_kernel, queue, kernel, size, launch.group_size)

    def _possible(self, submission: Submission) -> Submission:
        if submission.events == "off" and not can_go_without_event():
            return replace(submission, events="on")
        return submission

    def _queue_of(self, submission: Submission) -> cl.CommandQueue:
        properties = _properties(submission)
        if properties not in self._queues:
            device = self._context.devices[0]
            self._queues[properties] = cl.CommandQueue(self._context, device, properties=properties)
        return self._queues[properties]

    def _elapsed(self, calls: Sequence[Bound]) -> float:
        self.synchronize()
        with _typed_errors("waiting for an event"):
            events = [call() for call in calls]
            events[-1].wait()
            return float(events[-1].profile.end - events[0].profile.start) * 1e-9

    def _allocate(self, nbytes: int) -> cl.Buffer:
        with _typed_errors(f"allocating {nbytes} bytes", allocating=True):
            return cl.Buffer(self._context, cl.mem_flags.READ_WRITE, nbytes)

    def _fill(self, handle: cl.Buffer, nbytes: int, byte: int) -> None:
        with _typed_errors(f"filling {nbytes} bytes", allocating=True):
            cl.enqueue_fill_buffer(self._queue, handle, np.array(byte, np.uint8), 0, nbytes)

    def _download(self, handle: cl.Buffer, host: Array) -> None:
        with _typed_errors("fetching the result"):
            cl.enqueue_copy(self._queue, host, handle)

    def _free(self, handle: cl.Buffer) -> None:
        handle.release()


def _properties(submission: Submission) -> Any:
    """The properties of the queue that a submission takes."""
    properties = cl.command_queue_properties
    out_of_order = submission.queue == "out_of_order"
    profiled = submission.events == "profiled"
    return out_of_order * properties.OUT_OF_ORDER_EXEC_MODE_ENABLE | profiled * properties.PROFILING_ENABLE


@contextmanager
def _typed_errors(doing: str, allocating: bool = False) -> Iterator[None]:
    """Turns pyopencl's errors into ours by status code."""
    try:
        yield
    except (cl.MemoryError, cl.LogicError, cl.RuntimeError) as error:
        if isinstance(error, cl.MemoryError) or (allocating and error.code in OUT_OF_MEMORY):
            raise OutOfDeviceMemory(f"OpenCL, {doing}: {error}") from error
        raise DeviceLost(f"OpenCL, {doing}: {error}") from error


def _all_devices() -> list[cl.Device]:
    try:
        platforms = cl.get_platforms()
    except cl.LogicError as error:
        raise BackendUnavailable(f"no OpenCL platform is registered ({error}); {_HOW_TO_GET}") from error
    found = []
    for platform in platforms:
        try:
            found += platform.get_devices()
        except cl.RuntimeError as error:
            # A platform whose hardware is absent (an installed driver without its card) has no devices: not
            # an error.
            if error.code != cl.status_code.DEVICE_NOT_FOUND:
                raise
    if not found:
        names = ", ".join(platform.name for platform in platforms) or "none"
        raise BackendUnavailable(f"no device on any platform (platforms: {names}); {_HOW_TO_GET}")
    return found


def _describe(index: int, device: cl.Device) -> DeviceInfo:
    kinds = {cl.device_type.CPU: "cpu", cl.device_type.GPU: "gpu"}
    kind = next((name for bit, name in kinds.items() if device.type & bit), "accelerator")
    details = {
        "version": device.version,
        "opencl_c": device.opencl_c_version,
        "extensions": device.extensions,
    }
    repaired = repair(device.int_ptr, device.version)
    if repaired:
        details["repaired"] = f"PoCL's compiler does not know this processor; told to treat it as {repaired}"
    physical = "cpu" if kind == "cpu" else _pci_address(device) or f"opencl:{index}"
    return DeviceInfo(
        backend="opencl",
        index=index,
        name=device.name.strip(),
        platform=device.platform.name.strip(),
        vendor=device.vendor.strip(),
        driver=device.driver_version.strip(),
        kind=kind,  # type: ignore[arg-type]
        compute_units=device.max_compute_units,
        memory_bytes=device.global_mem_size,
        max_allocation_bytes=device.max_mem_alloc_size,
        local_memory_bytes=device.local_mem_size,
        max_group_size=device.max_work_group_size,
        cache_bytes=_l2_bytes(physical) or device.global_mem_cache_size,
        wave_width=1 if kind == "cpu" else _first(device, "warp_size_nv", "wavefront_width_amd"),
        float64=bool(device.double_fp_config),
        physical=physical,
        details=details,
        # NVIDIA's compiler takes the PTX that orders them; a processor's atomics do.
        orders_groups=kind == "cpu" or _first(device, "warp_size_nv") > 0,
        compute_capability=10 * _first(device, "compute_capability_major_nv")
        + _first(device, "compute_capability_minor_nv"),
        queues=("in_order", *("out_of_order",) * bool(device.queue_properties & _OUT_OF_ORDER)),
    )


def _first(device: cl.Device, *names: str) -> int:
    """The first of a vendor's queries that the device answers; 0 if none."""
    for name in names:
        try:
            return int(getattr(device, name))
        except (cl.LogicError, AttributeError):
            continue
    return 0


def _pci_address(device: cl.Device) -> str | None:
    try:
        bus, slot = int(device.pci_bus_id_nv), int(device.pci_slot_id_nv)
        return f"{_first(device, 'pci_domain_id_nv'):04x}:{bus:02x}:{slot:02x}.0"
    except (cl.LogicError, AttributeError):
        pass
    try:
        place = device.topology_amd
        return f"0000:{place.bus:02x}:{place.device:02x}.{place.function}"
    except (cl.LogicError, AttributeError):
        return None


def _l2_bytes(physical: str) -> int:
    """The last-level cache of an NVIDIA GPU: NVIDIA's OpenCL tells only the first-level one; 0 elsewhere."""
    if ":" not in physical:
        return 0
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    device, size = ctypes.c_int(), ctypes.c_int()
    failed = (
        cuda.cuInit(0)
        or cuda.cuDeviceGetByPCIBusId(ctypes.byref(device), physical.encode())
        or cuda.cuDeviceGetAttribute(ctypes.byref(size), _CUDA_L2_CACHE_SIZE, device)
    )
    return 0 if failed else size.value

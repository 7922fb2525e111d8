"""One OpenCL device through pyopencl: what the backends on OpenCL share, and pyopencl's errors as ours."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Self

import pyopencl as cl

from backends.base import Backend, Gate, Prepared
from backends.errors import BackendUnavailable, DeviceLost, OutOfDeviceMemory, no_such_device
from backends.opencl.gate import BlockingKernels, UserEvents, gates
from backends.opencl.launch import OUT_OF_MEMORY, library_function
from backends.opencl.pocl import repair
from harness.devices import PORTABLE_OPENCL, Array, DeviceArray, DeviceInfo

_HOW_TO_GET = "pip install 'pyopencl[pocl]' for the CPU; a GPU's OpenCL comes with its driver"
ATOMICS64 = {"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"}
"""The extensions that add, compare and exchange 64-bit integers at once."""
SHUFFLES = "cl_khr_subgroup_shuffle_relative"
"""The extension by which a kernel moves values between the work-items of a sub-group."""
_CUDA_L2_CACHE_SIZE = 38
_PCI_BUS_INFO = 0x410F
"""CL_DEVICE_PCI_BUS_INFO_KHR."""
_POCL = "Portable Computing Language"
_POCL_NEEDS = "set POCL_CACHE_DIR to a folder that can be written: PoCL is here, but has no device without"
_CLANG = (_POCL, "AMD Accelerated Parallel Processing")
"""The platforms that compile with Clang."""
_CLANGS_ELEMENTS = 64
"""PoCL compiles for processors with Clang, whose vectors may be wider than OpenCL C's."""
_OUT_OF_ORDER = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE


class OpenClDevice(Backend):
    """A backend on one OpenCL device, its context and an in-order queue. To be named before other bases."""

    def __init__(self, info: DeviceInfo, device: cl.Device) -> None:
        super().__init__()
        self.device = info
        self._context = cl.Context([device])
        self._queue = cl.CommandQueue(self._context, device)

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [describe(cls.name, index, device) for index, device in enumerate(all_devices())]

    @classmethod
    def open(cls, index: int) -> Self:
        device = device_at(index)
        return cls(describe(cls.name, index, device), device)

    def upload(self, host: Array) -> DeviceArray:
        with typed_errors("uploading", allocating=True):
            buffer = cl.Buffer(self._context, cl.mem_flags.READ_ONLY, host.nbytes)
            # Faster than having the buffer made of the array, which NVIDIA's driver copies once more.
            cl.enqueue_copy(self._queue, buffer, host)
            return DeviceArray(buffer, host.dtype, host.shape)

    def gate(self, prepared: Prepared, seconds: float) -> Gate:
        with typed_errors("shutting a gate"):
            self.gate_kind = "kernel" if isinstance(self._gates, BlockingKernels) else "user event"
            # That queue alone: with two busy at once, NVIDIA's launches take longer ever after.
            return self._gates.shut(self._queue_for(prepared), seconds)

    @cached_property
    def _gates(self) -> BlockingKernels | UserEvents:
        """What holds this context's queues back. Its queue must be empty when that is asked first."""
        # NVIDIA's driver keeps on the host what waits for a user event.
        return gates(self._queue, by_kernel=self.device.compute_capability > 0)

    def synchronize(self) -> None:
        with typed_errors("waiting for the queue"):
            for queue in self._in_use:
                queue.finish()

    @property
    def _in_use(self) -> Sequence[cl.CommandQueue]:
        """The queues that calls may have been enqueued to."""
        return (self._queue,)

    def _queue_for(self, prepared: Prepared) -> cl.CommandQueue:
        """The one that a prepared problem's calls go to."""
        return self._queue


@contextmanager
def typed_errors(doing: str, allocating: bool = False) -> Iterator[None]:
    """Turns pyopencl's errors into ours by status code."""
    try:
        yield
    except (cl.MemoryError, cl.LogicError, cl.RuntimeError) as error:
        if isinstance(error, cl.MemoryError) or (allocating and error.code in OUT_OF_MEMORY):
            raise OutOfDeviceMemory(f"OpenCL, {doing}: {error}") from error
        raise DeviceLost(f"OpenCL, {doing}: {error}") from error


def device_at(index: int) -> cl.Device:
    """The device of that number.

    Raises:
        BackendUnavailable: if there is none.
    """
    devices = all_devices()
    if not 0 <= index < len(devices):
        raise no_such_device(index, len(devices))
    return devices[index]


def all_devices() -> list[cl.Device]:
    try:
        platforms = cl.get_platforms()
    except cl.LogicError as error:
        raise BackendUnavailable(f"no OpenCL platform is registered ({error})", _HOW_TO_GET) from error
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
        # PoCL drops its device where it can keep no kernels.
        remedy = _POCL_NEEDS if any(platform.name == _POCL for platform in platforms) else _HOW_TO_GET
        raise BackendUnavailable(f"no device on any platform (platforms: {names})", remedy)
    return found


def describe(backend: str, index: int, device: cl.Device) -> DeviceInfo:
    kinds = {cl.device_type.CPU: "cpu", cl.device_type.GPU: "gpu"}
    kind = next((name for bit, name in kinds.items() if device.type & bit), "accelerator")
    details = {
        "version": device.version,
        "opencl_c": device.opencl_c_version,
        "extensions": device.extensions,
    }
    repaired = repair(device.int_ptr, device.version, device.platform.version)
    if repaired:
        details["repaired"] = (
            f"PoCL has no functions of its own for this processor; told to treat it as {repaired}"
        )
    physical = "cpu" if kind == "cpu" else _pci_address(device) or f"opencl:{index}"
    sub_group_width = 1 if kind == "cpu" else _first(device, "warp_size_nv", "wavefront_width_amd")
    is_nvidia = _first(device, "warp_size_nv") > 0
    has_shuffles = SHUFFLES in device.extensions.split()
    return DeviceInfo(
        backend=backend,
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
        sub_group_width=sub_group_width,
        float64=bool(device.double_fp_config),
        physical=physical,
        details=details,
        # NVIDIA's compiler takes the PTX that orders them; a processor's atomics do.
        orders_groups=kind == "cpu" or is_nvidia,
        # NVIDIA's GPUs start groups in the order of their numbers, as CUB's scans take for granted; of
        # others' it is not known.
        awaits_groups=is_nvidia,
        compute_capability=10 * _first(device, "compute_capability_major_nv")
        + _first(device, "compute_capability_minor_nv"),
        # NVIDIA's and AMD's compilers have them beside the standard, and only these tell a width.
        shuffles=sub_group_width > 1 or has_shuffles,
        max_texels=device.image_max_buffer_size if device.image_support else 0,
        image_sides=(device.image2d_max_width, device.image2d_max_height) if device.image_support else (0, 0),
        atomics64=set(device.extensions.split()) >= ATOMICS64,
        nontemporal=device.platform.name in _CLANG,
        vector_elements=_CLANGS_ELEMENTS if kind == "cpu" and device.platform.name == _POCL else 16,
        portable={**PORTABLE_OPENCL, "shuffles": has_shuffles, "orders_groups": kind == "cpu"},
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
    place = _pci_bus_info(device) or _nvidias_place(device) or _amds_place(device)
    return "{:04x}:{:02x}:{:02x}.{}".format(*place) if place else None


def _pci_bus_info(device: cl.Device) -> tuple[int, ...] | None:
    """Domain, bus, device and function, by the standard's extension, which pyopencl does not know."""
    ask = library_function("clGetDeviceInfo")
    if ask is None or "cl_khr_pci_bus_info" not in device.extensions.split():
        return None
    place = (ctypes.c_uint * 4)()
    handle, name, size = ctypes.c_void_p(device.int_ptr), _PCI_BUS_INFO, ctypes.sizeof(place)
    status = ask(handle, ctypes.c_uint(name), ctypes.c_size_t(size), ctypes.byref(place), None)
    return None if status else tuple(place)


def _nvidias_place(device: cl.Device) -> tuple[int, ...] | None:
    try:
        bus, slot = int(device.pci_bus_id_nv), int(device.pci_slot_id_nv)
    except (cl.LogicError, AttributeError):
        return None
    # The slot is PCI's own byte of device (five bits) and function (three).
    return _first(device, "pci_domain_id_nv"), bus, slot >> 3, slot & 7


def _amds_place(device: cl.Device) -> tuple[int, ...] | None:
    try:
        place = device.topology_amd
    except (cl.LogicError, AttributeError):
        return None
    # Its bytes have a sign.
    return 0, place.bus & 0xFF, place.device & 0xFF, place.function & 0xFF


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

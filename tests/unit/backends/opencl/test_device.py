"""One OpenCL device: where it is, and what waiting for it means."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from backends import open_backend
from backends.errors import BackendUnavailable
from harness.problems import Empty
from harness.variants.axes import LaunchVariant

if TYPE_CHECKING:
    import pyopencl as cl
else:
    cl = pytest.importorskip("pyopencl")

from backends.opencl import device as opencl_device

_PCI_BUS_INFO = 0x410F
"""CL_DEVICE_PCI_BUS_INFO_KHR, as the extension's specification has it."""


class Device:
    """What a device answers of where it is; any other question is an error, as pyopencl has it."""

    int_ptr = 4711

    def __init__(self, extensions: str = "", **answers: Any) -> None:
        self.extensions = extensions
        self.__dict__.update(answers)


def khr(status: int, *place: int) -> Callable[[str], Any]:
    """An OpenCL library whose devices are at this domain, bus, device and function."""

    @ctypes.CFUNCTYPE(  # type: ignore[untyped-decorator, unused-ignore]
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_uint,
        ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_uint * 4),
        ctypes.c_void_p,
    )
    def get_device_info(device: int, name: int, size: int, value: Any, _: Any) -> int:
        assert (device, name, size) == (Device.int_ptr, _PCI_BUS_INFO, 16)
        value.contents[:] = place
        return status

    return {"clGetDeviceInfo": get_device_info}.get


KHR = "cl_khr_fp64 cl_khr_pci_bus_info"
NVIDIA = {"pci_domain_id_nv": 2, "pci_bus_id_nv": 0x3B, "pci_slot_id_nv": 4 << 3 | 1}
AMD = {"topology_amd": SimpleNamespace(bus=-0x3E, device=0, function=1)}
"""The bus is 0xc2: the query's bytes have a sign."""


@pytest.mark.parametrize(
    ("device", "status", "address"),
    [
        (Device(KHR), 0, "0001:af:1f.7"),
        (Device(KHR, **NVIDIA), 0, "0001:af:1f.7"),
        (Device(KHR, **AMD), 0, "0001:af:1f.7"),
        (Device(KHR, **NVIDIA), -30, "0002:3b:04.1"),
        (Device("cl_khr_fp64", **NVIDIA), 0, "0002:3b:04.1"),
        (Device("cl_khr_fp64", **AMD), 0, "0000:c2:00.1"),
        (Device(), 0, None),
    ],
)
def test_the_pci_address(
    monkeypatch: pytest.MonkeyPatch, device: Any, status: int, address: str | None
) -> None:
    monkeypatch.setattr(opencl_device, "library_function", khr(status, 1, 0xAF, 0x1F, 7), raising=False)
    assert opencl_device._pci_address(device) == address


def test_a_processor_has_no_pci_address() -> None:
    # The question itself goes to the real library, whether or not its answer is of use.
    for device in opencl_device.all_devices():
        if device.type & cl.device_type.CPU:
            assert opencl_device._pci_bus_info(device) is None


def test_synchronize_waits_for_every_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def queue(*arguments: Any, _made: Any = cl.CommandQueue, **named: Any) -> Any:
        made.append(_made(*arguments, **named))
        return made[-1]

    monkeypatch.setattr(cl, "CommandQueue", queue)
    try:
        backend = open_backend("opencl")
    except BackendUnavailable as missing:
        pytest.skip(str(missing))
    with backend:
        problem = Empty((((3,), (8,)),))
        source = backend.upload(problem.make_source(0))
        for way in (LaunchVariant(), LaunchVariant(queue="out_of_order"), LaunchVariant(events="profiled")):
            if backend.unsupported(problem, way) is None:
                with backend.prepare(problem, way, [source]) as prepared:
                    prepared.enqueue(0)
                    assert prepared.event_seconds(0) is not None
        assert len(made) > 1
        for each in made:
            gate = cl.UserEvent(each.context)
            marker = cl.enqueue_barrier(each, wait_for=[gate])
            each.flush()
            opener = threading.Timer(0.1, gate.set_status, [cl.command_execution_status.COMPLETE])
            opener.start()
            backend.synchronize()
            ended = marker.command_execution_status
            opener.join()
            each.finish()
            assert ended == cl.command_execution_status.COMPLETE

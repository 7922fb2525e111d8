"""Enqueueing an OpenCL kernel, or a copy, without an event.

pyopencl asks for an event with every launch. A driver may have to do work on the device for it, which a CUDA
launch does not do (on an H200: reports/examples, h200-launch). So the call is made directly, through the
OpenCL library that pyopencl itself is linked with.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import pyopencl as cl

from backends.errors import DeviceLost, OutOfDeviceMemory

OUT_OF_MEMORY = (
    cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE,
    cl.status_code.OUT_OF_RESOURCES,
    cl.status_code.OUT_OF_HOST_MEMORY,
    cl.status_code.INVALID_BUFFER_SIZE,
)
"""What a launch or an allocation answers where memory is short: drivers allocate as late as at a launch."""

_KERNEL, _COPY = "clEnqueueNDRangeKernel", "clEnqueueCopyBuffer"
_HANDLE = ctypes.c_void_p
_SIZES: Final = {
    _KERNEL: [_HANDLE, _HANDLE, ctypes.c_uint, *[_HANDLE] * 3],
    _COPY: [*[_HANDLE] * 3, *[ctypes.c_size_t] * 3],
}
"""The types of a function's arguments before those of events, which are the same for all."""


def can_go_without_event() -> bool:
    """Whether the OpenCL library can be called directly."""
    return _function(_KERNEL) is not None


def without_event(
    queue: cl.CommandQueue, kernel: cl.Kernel, size: tuple[int, ...], group_size: tuple[int, ...]
) -> Callable[[], None]:
    """What enqueues the kernel, its arguments set, where :func:`can_go_without_event`.

    Args:
        queue, kernel: kept alive by what is returned.
        size: work-items in each dimension; group_size: of a work-group.
    """
    sizes = ctypes.c_size_t * len(size)
    both = (sizes(*size), sizes(*group_size))
    return _call(_KERNEL, (queue.int_ptr, kernel.int_ptr, len(size), None, *both), (queue, kernel))


def copy_without_event(
    queue: cl.CommandQueue, source: cl.Buffer, target: cl.Buffer, nbytes: int
) -> Callable[[], None]:
    """What enqueues the copy of ``nbytes`` bytes from the start of a buffer to that of another, where
    :func:`can_go_without_event`; all three are kept alive by it.
    """
    arguments = (queue.int_ptr, source.int_ptr, target.int_ptr, 0, 0, nbytes)
    return _call(_COPY, arguments, (queue, source, target))


def _call(name: str, arguments: tuple[Any, ...], used: Any) -> Callable[[], None]:
    """A call of the function that waits for no event and asks for none; ``used`` lives as long as it."""
    function, whole = _function(name), (*arguments, 0, None, None)

    def enqueue(_kept: Any = used) -> None:
        status = function(*whole)
        if status:
            raise _error(name, status)

    return enqueue


def _error(function: str, status: int) -> Exception:
    name = cl.status_code.to_string(status, "status %d")  # type: ignore[operator]
    message = f"OpenCL, {function}: {name}"
    return OutOfDeviceMemory(message) if status in OUT_OF_MEMORY else DeviceLost(message)


@cache
def _function(name: str) -> Any:
    """The function that enqueues a kernel or a copy, with the types of its arguments."""
    function = library_function(name)
    if function is not None:
        function.argtypes = [*_SIZES[name], ctypes.c_uint, _HANDLE, _HANDLE]
    return function


def library_function(name: str) -> Any:
    """The OpenCL library's own function, which answers a status; None where it cannot be called directly.

    Found through pyopencl's extension module, whose library it is.
    """
    for library in (cl._cl.__file__, ctypes.util.find_library("OpenCL")):
        try:
            function = getattr(ctypes.CDLL(library), name) if library else None
        except (OSError, AttributeError):
            continue
        if function is not None:
            function.restype = ctypes.c_int
            return function
    return None

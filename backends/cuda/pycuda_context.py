"""pycuda's driver interface, its dangers taken out: the stack of contexts, errors without a code."""

from __future__ import annotations

import atexit
import logging
from contextlib import contextmanager
from typing import Any

from backends.cuda.nvidia import LOST
from backends.errors import BackendError, BackendUnavailable, DeviceLost, OutOfDeviceMemory

try:
    import pycuda.driver as drv
except ModuleNotFoundError:
    raise  # the registry says how to get pycuda
except ImportError as error:
    raise BackendUnavailable(
        f"NVIDIA's driver is missing or too old ({error})", "install the driver, or a newer one"
    ) from error

from collections.abc import Iterator

__all__ = ["contexts", "drv", "typed_errors"]

_log = logging.getLogger(__name__)


class Contexts:
    """The primary contexts of the devices in use, at most one of them on pycuda's stack, and that one ours.

    A context left on that stack at exit aborts the process, hence :meth:`leave` and the exit handler.
    """

    def __init__(self) -> None:
        self._retained: dict[int, Any] = {}
        self._pushed = False
        self._users = 0

    def enter(self, index: int) -> None:
        """One more backend is open: its device becomes the current one."""
        self.switch(index)
        self._users += 1

    def switch(self, index: int) -> None:
        """Makes a device the current one, whatever else in this process changed it."""
        self._pop()
        if index not in self._retained:
            self._retained[index] = drv.Device(index).retain_primary_context()
        self._retained[index].push()
        self._pushed = True

    def leave(self) -> None:
        """One backend is closed. The contexts stay retained: what is still referred to is freed in them."""
        self._users -= 1
        if self._users == 0:
            self._pop()

    def forget(self) -> None:
        """Destroys the contexts: those entered next are new ones.

        Raises:
            BackendError: when a backend is open, or another library holds a context.
        """
        if self._users:
            raise BackendError(f"CUDA: {self._users} backends are open in this process")
        while self._retained:
            index, context = self._retained.popitem()
            context.detach()
            if _is_active(index):
                raise BackendError(f"CUDA: another library holds the context of device {index}")

    def _pop(self) -> None:
        if not self._pushed:
            return
        self._pushed = False
        try:
            drv.Context.pop()
        except drv.Error as error:
            # A lost device: nothing is left to restore, and the error that told of it must not be hidden.
            _log.warning("CUDA: the context cannot be left (%s)", error)

    def end(self) -> None:
        """At exit."""
        self._pop()
        self._retained.clear()


contexts = Contexts()
"""Those of this process."""
atexit.register(contexts.end)


@contextmanager
def typed_errors(doing: str) -> Iterator[None]:
    """Turns pycuda's errors into ours by type and, as they carry no code, by the state of the context."""
    try:
        yield
    except drv.MemoryError as error:
        raise OutOfDeviceMemory(f"CUDA, {doing}: {error}") from error
    except drv.Error as error:
        kind = DeviceLost if _context_status() in LOST else BackendError
        raise kind(f"CUDA, {doing}: {error}") from error


def _is_active(index: int) -> bool:
    """Whether anything holds a device's primary context."""
    from cuda.bindings import driver

    _, _, active = driver.cuDevicePrimaryCtxGetState(index)
    return bool(active)


def _context_status() -> int:
    """What the current context answers to a synchronisation: an error that killed it comes back each time."""
    from cuda.bindings import driver

    (status,) = driver.cuCtxSynchronize()
    return int(status)

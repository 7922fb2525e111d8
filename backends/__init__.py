"""The backends: one file each, one row each in :mod:`backends.registry`, imported only when opened."""

from backends.base import Backend
from backends.errors import BackendError, BackendUnavailable, Unsupported
from backends.registry import REGISTRY, Entry, available, backend_class, open_backend
from harness.devices import DeviceInfo

__all__ = [
    "REGISTRY",
    "Backend",
    "BackendError",
    "BackendUnavailable",
    "DeviceInfo",
    "Entry",
    "Unsupported",
    "available",
    "backend_class",
    "open_backend",
]

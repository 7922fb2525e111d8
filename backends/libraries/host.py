"""What the backends on the host's processor share: its description, memory, calls that run at once."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import ClassVar, Self

from backends.base import Prepared
from backends.common.library_backend import LibraryBackend
from backends.errors import no_such_device
from harness.cpuinfo import cpuinfo, usable_cores
from harness.devices import Array, DeviceArray, DeviceInfo


class HostBackend(LibraryBackend):
    """The host's processor through a library whose calls have ended when they return."""

    title: ClassVar[str]
    """The library as a person writes it."""
    version: ClassVar[str]
    """The library's version, which stands where a GPU has its driver's."""

    def __init__(self, info: DeviceInfo) -> None:
        self.device = info

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [_describe(cls.name, cls.title, cls.version)]

    @classmethod
    def open(cls, index: int) -> Self:
        if index != 0:
            raise no_such_device(index, 1)
        return cls(cls.devices()[0])

    def upload(self, host: Array) -> DeviceArray:
        return DeviceArray(host.copy(), host.dtype, host.shape)

    def gate(self, prepared: Prepared, seconds: float) -> None:
        """None: there is no queue that could be held back."""

    def synchronize(self) -> None:
        """Nothing to wait for: a call has ended when it returns."""

    def _close(self) -> None:
        """Nothing to free."""


def _describe(backend: str, title: str, version: str) -> DeviceInfo:
    import psutil

    cpu = cpuinfo()
    memory = psutil.virtual_memory().total
    return DeviceInfo(
        backend=backend,
        index=0,
        name=cpu.get("model name") or platform.processor() or platform.machine(),
        platform=title,
        vendor=cpu.get("vendor_id", ""),
        driver=version,
        kind="cpu",
        compute_units=usable_cores(),
        memory_bytes=memory,
        max_allocation_bytes=memory,
        local_memory_bytes=0,
        max_group_size=1,
        cache_bytes=_last_level_cache_bytes(),
        sub_group_width=1,
        float64=True,
        physical="cpu",
    )


def _last_level_cache_bytes(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> int:
    """The largest cache of the first processor as Linux tells it (``33792K``); 0 elsewhere."""
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    sizes = [path.read_text(encoding="utf-8").strip() for path in folder.glob("index*/size")]
    return max((int(size[:-1]) * units[size[-1]] for size in sizes if size[-1:] in units), default=0)

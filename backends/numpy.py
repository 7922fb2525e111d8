"""The NumPy backend: the reference, on the host. Plain and obviously right, not fast."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np

from backends.base import Array, Backend, BackendError, BackendUnavailable, DeviceArray, DeviceInfo, Prepared
from harness.problems import Laplace, Problem, Reduction
from harness.variants import Plain, Variant

_POISON = 0xA5


class NumpyBackend(Backend):
    """The host's processor, by NumPy; calls run at once."""

    name: ClassVar[str] = "numpy"

    def __init__(self, info: DeviceInfo) -> None:
        self.device = info

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [_describe()]

    @classmethod
    def open(cls, index: int) -> Self:
        if index != 0:
            raise BackendUnavailable(f"numpy has no device {index}; its one device is 0")
        return cls(_describe())

    def unsupported(self, problem: Problem, variant: Variant) -> str | None:
        if not isinstance(problem, (Reduction, Laplace)):
            return "the reference backend measures no limits"
        return None if isinstance(variant, Plain) else "the reference backend has no variants"

    def default_variant(self, problem: Problem) -> Variant:
        return Plain()

    def upload(self, host: Array) -> DeviceArray:
        return DeviceArray(host.copy(), host.dtype, host.shape)

    def prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        self.require(problem, variant)
        arrays = [source.handle for source in sources]
        if isinstance(problem, Reduction):
            return PreparedNumpy([_reduction(problem, array) for array in arrays])
        assert isinstance(problem, Laplace)
        return PreparedNumpy([_laplace(problem, array) for array in arrays])

    def gate(self) -> None:
        """None: NumPy has no queue that could be held back."""

    def synchronize(self) -> None:
        """Nothing to wait for: a call has ended when it returns."""

    def close(self) -> None:
        """Nothing to free."""


class PreparedNumpy(Prepared):
    """One function a source; its value is the answer."""

    result_location: Literal["device", "host"] = "host"

    def __init__(self, calls: Sequence[Callable[[], Any]]) -> None:
        self._calls = calls
        self._answer: Any = None

    def enqueue(self, i: int) -> None:
        self._answer = self._calls[i % len(self._calls)]()

    def result(self) -> Any:
        if self._answer is None:
            raise BackendError("numpy: there is no result before a call")
        return self._answer

    def poison(self) -> None:
        if self._answer is not None:
            self._answer = _poisoned(self._answer)


def _poisoned(answer: Any) -> Any:
    """Garbage of the same type and shape as an answer."""
    if isinstance(answer, tuple):
        return tuple(map(_poisoned, answer))
    if isinstance(answer, int):
        return -1
    return np.full(answer.nbytes, _POISON, np.uint8).view(answer.dtype).reshape(answer.shape)[()]


def _reduction(problem: Reduction, array: Array) -> Callable[[], Any]:
    total = np.dtype(problem.element.total)
    fields: dict[str, Callable[[], Any]] = {
        "lowest": lambda: np.min(array),
        "highest": lambda: np.max(array),
        "total": lambda: np.sum(array, dtype=total),
        "count": lambda: np.count_nonzero(array),
    }
    parts = [fields[name] for name in problem.parts.fields]
    return lambda: problem.answer([part() for part in parts])


def _laplace(problem: Laplace, packed: Array) -> Callable[[], Any]:
    image = packed[:, : problem.row_elements].reshape(problem.shape)
    return lambda: problem.reference(image)


def _describe() -> DeviceInfo:
    import psutil

    cpu = _cpuinfo()
    memory = psutil.virtual_memory().total
    return DeviceInfo(
        backend="numpy",
        index=0,
        name=cpu.get("model name") or platform.processor() or platform.machine(),
        platform="NumPy",
        vendor=cpu.get("vendor_id", ""),
        driver=np.__version__,
        kind="cpu",
        compute_units=os.cpu_count() or 1,
        memory_bytes=memory,
        max_allocation_bytes=memory,
        local_memory_bytes=0,
        max_group_size=1,
        cache_bytes=_last_level_cache_bytes(),
        wave_width=1,
        float64=True,
        physical="cpu",
    )


def _cpuinfo(path: Path = Path("/proc/cpuinfo")) -> dict[str, str]:
    """What Linux tells of the first processor; empty elsewhere."""
    if not path.exists():
        return {}
    first = path.read_text(encoding="utf-8").partition("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _last_level_cache_bytes(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> int:
    """The largest cache of the first processor as Linux tells it (``33792K``); 0 elsewhere."""
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    sizes = [path.read_text(encoding="utf-8").strip() for path in folder.glob("index*/size")]
    return max((int(size[:-1]) * units[size[-1]] for size in sizes if size[-1:] in units), default=0)

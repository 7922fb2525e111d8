"""The machine that a run was measured on: everything that a reader needs to judge or repeat it."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distributions, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from backends import REGISTRY
from harness import nvidia
from harness.cpuinfo import PATH, cpuinfo, usable_cores
from harness.devices import DeviceInfo
from harness.results.record import FORMAT

PACKAGES = tuple(
    dict.fromkeys(
        (
            "opencl-cuda-harness",
            *(package for entry in REGISTRY.values() for package in entry.packages),
            *("scipy", "scikit-image", "nvidia-ml-py", "pandas", "seaborn", "pytest-benchmark"),
        )
    )
)
"""The packages whose versions a run records where they are installed; a star stands for any ending."""

_SOURCE = Path(__file__).resolve().parents[2]


def describe(
    suite: str, command: str, devices: Sequence[DeviceInfo], missing: Mapping[str, str]
) -> dict[str, Any]:
    """The first line of a run file, as plain data.

    Args:
        suite: name of the suite, or the path it was loaded from.
        command: the shell command that made the run.
        devices: all that were found, measured or not.
        missing: why a backend is not available, and how to get it, by the backend's name.
    """
    return {
        "type": "environment",
        "format": FORMAT,
        "suite": suite,
        "command": command,
        **describe_resumed(),
        "kernels_sha256": kernels_hash(),
        "devices": [asdict(device) for device in devices],
        "missing": dict(missing),
        "nvml": nvml(),
        "kernel_clock": _kernel_clock(),
    }


def describe_resumed() -> dict[str, Any]:
    """What may have changed on the same machine when a run goes on, as plain data."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": _host(),
        "packages": packages(),
        **commit(),
    }


def _host() -> dict[str, Any]:
    import psutil

    return {
        "cpu": cpu_name(),
        "cores": usable_cores(),
        "memory_bytes": psutil.virtual_memory().total,
        "os": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load": [round(value, 2) for value in psutil.getloadavg()],
    }


def cpu_name(path: Path = PATH) -> str:
    """The processor as its maker calls it, where the system tells; else its architecture."""
    return cpuinfo(path).get("model name") or platform.processor() or platform.machine()


def packages() -> dict[str, str]:
    """The versions of those of PACKAGES that are installed."""
    found = {}
    for name in PACKAGES:
        for full in _installed(name[:-1]) if name.endswith("*") else (name,):
            try:
                found[full] = version(full)
            except PackageNotFoundError:
                continue
    return found


def _installed(prefix: str) -> list[str]:
    names = (str(distribution.metadata["Name"]) for distribution in distributions())
    return sorted({name for name in names if name.lower().startswith(prefix)})


def _kernel_clock() -> str:
    """Empty where CUPTI for Python is installed, which times the kernels of CUDA; else why it is not used."""
    if find_spec("cupti") is None:
        return "cupti-python is not installed"
    return f"switched off by {nvidia.CUPTI_SWITCH}" if nvidia.is_cupti_off() else ""


def commit() -> dict[str, Any]:
    """Commit of the harness's own checkout and whether it was changed.

    HARNESS_COMMIT goes first: it says which commit a copy is of, where there is no checkout, or only that of
    another commit, as on a machine without network. None where nobody tells.
    """
    told = os.environ.get("HARNESS_COMMIT")
    if told:
        return {"commit": told, "dirty": None}
    top, commit = _git("rev-parse", "--show-toplevel"), _git("rev-parse", "HEAD")
    # Installed below somebody else's checkout, git would answer for that one.
    if top is None or commit is None or Path(top) != _SOURCE:
        return {"commit": None, "dirty": None}
    status = _git("status", "--porcelain")
    return {"commit": commit, "dirty": None if status is None else bool(status)}


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(_SOURCE), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def nvml() -> list[dict[str, Any]] | str:
    """Driver, clocks, power cap, ECC and MIG of every NVIDIA GPU, or why that cannot be told.

    Watts, MHz, degrees Celsius; what one GPU does not tell is given as its reason.
    """
    try:
        with nvidia.open_nvml() as pynvml:
            driver = pynvml.nvmlSystemGetDriverVersion()
            handles = map(pynvml.nvmlDeviceGetHandleByIndex, range(pynvml.nvmlDeviceGetCount()))
            return [{"driver": driver, **_gpu(pynvml, handle)} for handle in handles]
    except nvidia.NvmlUnavailable as error:
        return f"not available: {error}"


def _gpu(pynvml: Any, handle: Any) -> dict[str, Any]:
    on = {0: "off", 1: "on"}
    queries: dict[str, Callable[[], Any]] = {
        "name": lambda: pynvml.nvmlDeviceGetName(handle),
        "uuid": lambda: pynvml.nvmlDeviceGetUUID(handle),
        "physical": lambda: _pci(pynvml.nvmlDeviceGetPciInfo(handle)),
        "power_cap_watts": lambda: pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000,
        "power_cap_default_watts": lambda: pynvml.nvmlDeviceGetPowerManagementDefaultLimit(handle) / 1000,
        "ecc": lambda: on[pynvml.nvmlDeviceGetEccMode(handle)[0]],
        "mig": lambda: on[pynvml.nvmlDeviceGetMigMode(handle)[0]],
        "persistence": lambda: on[pynvml.nvmlDeviceGetPersistenceMode(handle)],
        "sm_clock_mhz": lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM),
        "sm_clock_max_mhz": lambda: pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_SM),
        "memory_clock_mhz": lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM),
        "memory_clock_max_mhz": lambda: pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_MEM),
        "memory_bus_bits": lambda: pynvml.nvmlDeviceGetMemoryBusWidth(handle),
        "temperature_c": lambda: pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU),
        "other_processes": lambda: len(pynvml.nvmlDeviceGetComputeRunningProcesses(handle)),
    }
    told = nvidia.answers(pynvml, queries)
    return {n: f"not available: {v}" if isinstance(v, pynvml.NVMLError) else v for n, v in told.items()}


def _pci(info: Any) -> str:
    """The address as the backends write it: four digits of domain where NVML gives eight."""
    return f"{info.domain:04x}:{info.bus:02x}:{info.device:02x}.0"


def kernels_hash() -> str:
    """SHA-256 over all kernel sources and their names."""
    digest = hashlib.sha256()
    for dialect in ("cl", "cu"):
        for name, text in sorted(_texts(files(f"kernels_{dialect}"), f".{dialect}")):
            digest.update(f"{name}\0{len(text)}\0".encode() + text)
    return digest.hexdigest()


def _texts(folder: Traversable, suffix: str, above: str = "") -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _texts(entry, suffix, f"{above}{entry.name}/")
        elif entry.name.endswith(suffix):
            yield f"{above}{entry.name}", entry.read_bytes()


def differences(before: Iterable[Mapping[str, Any]], now: Iterable[Mapping[str, Any]]) -> list[str]:
    """How the devices ``before`` (plain data) differ from those here ``now``: what was, and what is."""
    old, here = ({_key(device): _identity(device) for device in devices} for devices in (before, now))
    return [
        f"{key} was {old.get(key, 'absent')}, now {here.get(key, 'absent')}"
        for key in dict.fromkeys([*old, *here])
        if old.get(key) != here.get(key)
    ]


def _key(device: Mapping[str, Any]) -> str:
    return f"{device.get('backend')}:{device.get('index')}"


def _identity(device: Mapping[str, Any]) -> str:
    return f"{device.get('name')} (driver {device.get('driver')})"

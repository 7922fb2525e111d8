"""What is broken on this machine, and what to do about it: ``harness doctor``.

Each backend is tried in a process of its own (``python -m harness.cli.doctor NAME``): there a driver that
crashes or hangs is a finding, not the end of the examination. No GPU API is imported here.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from harness.nvidia import CUPTI_SWITCH, is_cupti_off
from harness.runner import safe_path

Status = Literal["ok", "note", "absent", "broken"]

_PROBE_SECONDS = 180
_CONTAINER = "in a container set NVIDIA_DRIVER_CAPABILITIES=compute,utility"
_VENDORS = Path("/etc/OpenCL/vendors")
_CUDA_ERRORS = {
    3: "the driver is not initialised; run nvidia-smi once as root, or load the nvidia kernel module",
    100: "no GPU is visible; is CUDA_VISIBLE_DEVICES empty, or the container started without --gpus all?",
    101: "CUDA_VISIBLE_DEVICES names a GPU that does not exist",
    802: "the system is not ready; start nvidia-fabricmanager",
    803: "libcuda and the kernel's driver are of different versions; reboot, or mount the host's libcuda",
    804: "the CUDA compatibility package does not support this GPU; remove it from LD_LIBRARY_PATH",
    999: "unknown driver error; reload the nvidia_uvm module or reboot",
}
"""What cuInit answers, with its remedy."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing examined.

    ``broken``: should work here and does not. ``absent``: nothing here could work. ``note``: works, but a
    reader of the numbers should know. ``remedy`` is what to do, empty where nothing is.
    """

    subject: str
    status: Status
    detail: str
    remedy: str = ""


def examine() -> Iterator[Finding]:
    """Everything that is examined, one finding after the other as it is known; takes some seconds."""
    nvidia = nvidia_present()
    yield _load()
    yield from _cache_folders()
    if nvidia:
        yield _libcuda()
        yield _nvrtc()
        yield _cupti()
    from backends import REGISTRY

    for name in REGISTRY:
        answer = _probe(name)
        yield from _backend(name, answer, nvidia)
        if name == "opencl" and nvidia:
            yield _nvidia_opencl(answer.get("devices", []))


def nvidia_present() -> bool:
    """Whether this machine shows an NVIDIA GPU: device files, kernel driver or management tool."""
    devices = any(Path("/dev").glob("nvidia[0-9]*"))
    return devices or Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None


def _load() -> Finding:
    from harness.cpuinfo import usable_cores

    load, cores = os.getloadavg()[0], usable_cores()
    if load > cores / 2:
        detail = f"load {load:.1f} on {cores} cores: times of CPU devices will be long and unsteady"
        return Finding("load", "note", detail, "end other work before measuring")
    return Finding("load", "ok", f"load {load:.1f} on {cores} cores")


def _cache_folders() -> Iterator[Finding]:
    """The folders where compilers keep what they built: without them everything starts slowly."""
    from backends.common import caches

    unusable = caches.unusable()
    for variable in caches.CACHES:
        if variable in unusable:
            detail = f"{unusable[variable]}; {caches.temporary_caches()} is used"
            remedy = f"set {variable} to a folder that can be written, and that is kept"
            yield Finding("kernel cache", "note", detail, remedy)
        elif folder := caches.folder_of(variable):
            yield Finding("kernel cache", "ok", str(folder))


def _libcuda() -> Finding:
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        remedy = f"install the driver's compute part (libcuda1); {_CONTAINER}"
        return Finding("CUDA driver", "broken", f"an NVIDIA GPU is here, but {error}", remedy)
    code = int(cuda.cuInit(0))
    if code:
        return Finding(
            "CUDA driver", "broken", f"cuInit answers {code}", _CUDA_ERRORS.get(code, "see nvidia-smi")
        )
    version = ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(version))
    return Finding("CUDA driver", "ok", f"CUDA {version.value // 1000}.{version.value % 1000 // 10}")


def _nvrtc() -> Finding:
    code = "from cuda.bindings import nvrtc; print('.'.join(map(str, nvrtc.nvrtcVersion()[1:])))"
    done = _python("-c", code)
    if isinstance(done, str) or done.returncode:
        why = done if isinstance(done, str) else _last_line(done.stderr)
        return Finding("NVRTC", "broken", why, "pip install cuda-bindings nvidia-cuda-nvrtc")
    return Finding("NVRTC", "ok", f"CUDA {done.stdout.strip()}")


def _cupti() -> Finding:
    """Whether the kernel clock can be had; without it everything else works."""
    if is_cupti_off():
        return Finding("CUPTI", "note", "switched off: CUDA has no kernel clock", f"unset {CUPTI_SWITCH}")
    done = _python("-c", "import cupti.cupti, importlib.metadata as m; print(m.version('cupti-python'))")
    if isinstance(done, str) or done.returncode:
        why = done if isinstance(done, str) else _last_line(done.stderr)
        return Finding("CUPTI", "note", f"CUDA has no kernel clock: {why}", "pip install cupti-python")
    return Finding("CUPTI", "ok", f"the kernel clock of CUDA, version {done.stdout.strip()}")


def _nvidia_opencl(devices: list[dict[str, Any]]) -> Finding:
    """Whether OpenCL sees the NVIDIA GPU; if not, which of the two pieces it needs is missing."""
    subject = "NVIDIA's OpenCL"
    if any("NVIDIA" in device["vendor"].upper() for device in devices):
        return Finding(subject, "ok", "registered")
    try:
        ctypes.CDLL("libnvidia-opencl.so.1")
    except OSError as error:
        remedy = f"install the driver's OpenCL part (nvidia-opencl-icd or libnvidia-compute); {_CONTAINER}"
        return Finding(subject, "broken", f"an NVIDIA GPU is here, but {error}", remedy)
    vendors = os.environ.get("OCL_ICD_VENDORS") or str(_VENDORS)
    detail = f"libnvidia-opencl.so.1 is here but not registered in {vendors}"
    return Finding(subject, "broken", detail, f"echo libnvidia-opencl.so.1 > {_VENDORS}/nvidia.icd")


def _backend(name: str, answer: dict[str, Any], nvidia: bool) -> Iterator[Finding]:
    """The findings from one probe's ``answer``."""
    from backends import REGISTRY

    entry = REGISTRY[name]
    if "crash" in answer:
        yield Finding(
            name, "broken", answer["crash"], "look at the driver; HARNESS_DEBUG=1 harness devices shows more"
        )
    elif "missing" in answer:
        # Only NVIDIA's GPUs run CUDA: without one its absence is no fault. A baseline's never is.
        needed = entry.role in ("opencl", "reference") or (nvidia and entry.role == "cuda")
        status: Status = "broken" if needed else "absent"
        yield Finding(name, status, answer["missing"], answer["remedy"] or entry.remedy)
    for device in answer.get("devices", []):
        subject, error = f"{device['key']} {device['name']}", device["error"]
        if error:
            yield Finding(
                subject,
                "broken",
                f"a small {device['tried']} fails: {error}",
                "update or reinstall its driver",
            )
        elif device["repaired"]:
            yield Finding(
                subject,
                "note",
                device["repaired"],
                "nothing; a newer PoCL or its Debian package does not need it",
            )
        else:
            yield Finding(subject, "ok", f"a small {device['tried']} is right")


def _probe(name: str) -> dict[str, Any]:
    done = _python("-m", "harness.cli.doctor", name)
    if isinstance(done, str):
        return {"crash": done}
    if done.returncode:
        how = signal.Signals(-done.returncode).name if done.returncode < 0 else f"exit code {done.returncode}"
        return {"crash": f"looking for its devices ended with {how}: {_last_line(done.stderr)}"}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _python(*arguments: str) -> subprocess.CompletedProcess[str] | str:
    """A Python process's outcome, or why it had none."""
    command, environment = safe_path.python(*arguments), safe_path.environment()
    try:
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {_PROBE_SECONDS} s"


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it says nothing"])[-1]


def _try(name: str, index: int) -> dict[str, str]:
    """What a device was asked to do, the first of a few that its backend has, and the error if it failed."""
    from backends import open_backend
    from harness.problems import Laplace, Problem, Reduction

    problems: dict[str, Problem] = {
        "reduction": Reduction("minmax", "int32", (1000,)),
        "filter": Laplace("four", "reflect_101", "laplacian", "uint8", 30, 50),
    }
    tried = "reduction"
    try:
        with open_backend(name, index) as backend:
            supported = (
                kind
                for kind, problem in problems.items()
                if not backend.unsupported(problem, backend.default_variant(problem))
            )
            tried = next(supported, tried)
            source = problems[tried].make_source(seed=0)
            verification = problems[tried].verify(backend.compute(problems[tried], source), source)
        return {"tried": tried, "error": "" if verification.ok else verification.message}
    except Exception as error:  # In a probe every error is a finding.
        return {"tried": tried, "error": f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"}


def _answer(name: str) -> dict[str, Any]:
    from backends import BackendUnavailable, backend_class

    try:
        devices = backend_class(name).devices()
    except BackendUnavailable as error:
        return {"missing": error.what.removeprefix(f"{name}: "), "remedy": error.remedy}
    return {
        "devices": [
            {
                **asdict(device),
                "key": device.key,
                "repaired": device.details.get("repaired", ""),
                **_try(name, device.index),
            }
            for device in devices
        ]
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_answer(sys.argv[1])) + "\n")

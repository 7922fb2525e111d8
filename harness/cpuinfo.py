"""What the system tells of the host's processor."""

from __future__ import annotations

import math
import os
import sys
import time
from pathlib import Path

PATH = Path("/proc/cpuinfo")
SCHEDULED = Path("/proc/thread-self/schedstat")
QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""The microseconds of cores that a container may use in a period, and those of the period (cgroup v2)."""


def usable_cores() -> int:
    """The cores that this process may use: a container may be given fewer than the machine has, by their
    numbers or by a share of the time.
    """
    return max(1, min(_allowed_cores(), _quota()))


def _allowed_cores() -> int:
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quota() -> int:
    """The cores whose time the container may use, rounded up; a very large number where it has no limit."""
    try:
        quota, _, period = QUOTA.read_text().partition(" ")
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError):
        # There is no such file, or it says max.
        return sys.maxsize


def cpuinfo(path: Path = PATH) -> dict[str, str]:
    """The entries of the first processor by their names, such as ``model name``; empty elsewhere."""
    if not path.is_file():
        return {}
    first = path.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def seconds_without_core(told: Path = SCHEDULED) -> float:
    """How long this thread was ready to run and had no core, as others had it: the second number of Linux's
    schedstat. 0 where the system does not tell.
    """
    try:
        return int(told.read_text().split()[1]) * 1e-9
    except FileNotFoundError:
        return 0.0


def seconds_of_other_threads() -> float:
    """What the threads of this process beside this one have computed."""
    return time.process_time() - time.thread_time()

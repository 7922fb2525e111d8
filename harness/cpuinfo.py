"""What the system tells of the host's processor."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

PATH = Path("/proc/cpuinfo")
SCHEDULED = Path("/proc/thread-self/schedstat")


def usable_cores() -> int:
    """The cores that this process may use: a container may be given fewer than the machine has."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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

"""Our CUDA kernels under NVIDIA's compute-sanitizer, tool by tool: ``tox -e sanitizer``, or by hand::

    compute-sanitizer --tool racecheck --error-exitcode 9 python3 -m tests.checkers.calls --backend cuda

memcheck takes the options of :data:`EXCEPTIONS` besides. The sanitizer comes with the CUDA toolkit. It takes
minutes, so the file is named not to be among the functional tests.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from backends import available
from tests.checkers.calls import PLANTS, calls

SANITIZER = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")

TOOLS = {
    "memcheck": ("overrun",),
    "racecheck": ("race",),
    "initcheck": ("unwritten",),
    "synccheck": ("divergence",),
}
"""Each tool, and the planted faults that it must report."""

REPORTED = 9
"""The exit code of a program about which something was reported."""

EXCEPTIONS: dict[str, tuple[str, ...]] = {
    # When cuda-bindings is first used (for a texture) it asks the driver for all functions that it knows; for
    # those that the driver lacks it gets CUDA_ERROR_INVALID_VALUE, 34 times on an H200 with driver 580. The
    # answers to our own calls are checked where they are made. Memory errors are reported all the same.
    "memcheck": ("--report-api-errors", "no"),
    "racecheck": (),
    "initcheck": (),
    "synccheck": (),
}
"""Options of a tool that leave reports out, each with its reason beside it."""


def missing() -> str:
    """What is missing here; empty when nothing is."""
    if SANITIZER is None:
        return "compute-sanitizer is not on PATH (it comes with the CUDA toolkit)"
    devices = available()["cuda"]
    return devices if isinstance(devices, str) else ""


@pytest.fixture(scope="module", autouse=True)
def _needed() -> None:
    reason = missing()
    if reason:
        pytest.skip(reason)


def checked(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The calls under one tool."""
    options = ["--tool", tool, "--error-exitcode", str(REPORTED), *EXCEPTIONS[tool]]
    command = [str(SANITIZER), *options, sys.executable, "-m", "tests.checkers.calls", "--backend", "cuda"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, timeout=900)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_call_is_clean(tool: str) -> None:
    done = checked(tool)
    # The sanitizer reports to stdout, the labels of the calls go to stderr.
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    ok, skipped = (_count(done.stdout, outcome) for outcome in ("ok", "skipped"))
    assert ok + skipped == len(calls())
    # Only a variant that needs more registers than a group of its size can have may be left out.
    assert skipped < ok / 20, done.stdout


def _count(stdout: str, outcome: str) -> int:
    words = next(line for line in stdout.splitlines() if " ok" in line and "call" not in line).split(", ")
    return next((int(text.split()[0]) for text in words if text.endswith(outcome)), 0)


@pytest.mark.parametrize(
    ("tool", "fault"), [(tool, fault) for tool, faults in TOOLS.items() for fault in faults]
)
def test_a_planted_fault_is_reported(tool: str, fault: str) -> None:
    done = checked(tool, "--plant", fault)
    assert done.returncode == REPORTED, done.stdout + done.stderr


def test_every_fault_has_a_tool() -> None:
    assert {fault for faults in TOOLS.values() for fault in faults} == set(PLANTS)
    assert Path(str(SANITIZER)).exists()

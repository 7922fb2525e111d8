"""Which backends and devices there are, asked in a process that is not this one: a library or driver that
crashes or hangs while it is imported or asked costs itself only.

The other process is ``python -m harness.runner.discovery NAME...``. It writes a line of JSON for each
backend, ``[NAME, devices]`` or ``[NAME, reason]``, as soon as it knows.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict

from backends import REGISTRY, BackendUnavailable
from backends.registry import devices_or_reason
from harness.devices import DeviceInfo
from harness.runner import safe_path

LIMIT_S = 120.0
"""Seconds that the libraries of all backends may take, until the one that is asked then is given up."""
_MODULE = "harness.runner.discovery"
_REMEDY = "update or reinstall its library and driver; `harness doctor` examines it alone"

Found = dict[str, list[DeviceInfo] | str]
"""Every backend's devices, or what is missing for it."""


def available() -> Found:
    """Every backend of the registry with the devices it can drive here, or with what is missing for it; as
    :func:`backends.available`, but no library is imported into this process.
    """
    found: Found = {}
    left = list(REGISTRY)
    while left:
        answers, end = _ask(left)
        found |= answers
        left = [name for name in left if name not in answers]
        if left:
            # The process ended at this one; the next goes on behind it.
            name = left.pop(0)
            found[name] = str(BackendUnavailable(f"{name}: looking for its devices {end}", _REMEDY))
    return {name: found[name] for name in REGISTRY}


def _ask(names: Sequence[str]) -> tuple[Found, str]:
    """What a process of its own answers for the backends, in their order, and how it ended."""
    try:
        done = subprocess.run(
            safe_path.python("-m", _MODULE, *names),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=safe_path.environment(),
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return _answers(error.stdout or b""), f"took longer than {LIMIT_S:g} s"
    return _answers(done.stdout), _end(done)


def _answers(output: bytes) -> Found:
    """The answers of whole lines: a process may end in the middle of one."""
    lines = output.splitlines(keepends=True)
    return {
        name: answer if isinstance(answer, str) else [DeviceInfo.from_plain(device) for device in answer]
        for name, answer in (json.loads(line) for line in lines if line.endswith(b"\n"))
    }


def _end(done: subprocess.CompletedProcess[bytes]) -> str:
    code = done.returncode
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    words = done.stderr.decode(errors="replace").strip().splitlines()
    return f"{how}: {words[-1]}" if words else how


def main(names: Sequence[str]) -> None:
    """Answers for the backends of those names, and ends the process."""
    with os.fdopen(os.dup(1), "w") as answers:
        # Libraries print.
        os.dup2(2, 1)
        for name in names:
            found = devices_or_reason(name)
            plain = found if isinstance(found, str) else [asdict(device) for device in found]
            answers.write(json.dumps([name, plain]) + "\n")
            answers.flush()
    # All is said: how libraries end does not matter.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])

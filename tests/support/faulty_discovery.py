"""Discovery among backends whose library fails at its import, in the place of the registry's own."""

from __future__ import annotations

import os
import signal
import sys
import time

from backends import registry
from backends.libraries.numpy import NumpyBackend
from backends.registry import Entry
from harness.runner import discovery


def __getattr__(name: str) -> object:
    """The class of a backend, as importing its library goes."""
    if name == "Crashing":
        os.write(2, b"a line\nthe driver is broken\n")
        os.kill(os.getpid(), signal.SIGSEGV)
    elif name == "Hanging":
        time.sleep(60)
    elif name == "Leaving":
        sys.exit(3)
    elif name == "Raising":
        raise OSError("wrong ELF class")
    elif name == "Printing":
        os.write(1, b'["numpy", "printed"]\n')
        return NumpyBackend
    raise AttributeError(name)


FAULTS = ("Printing", "Crashing", "Raising", "Hanging", "Leaving")
ROWS = {
    "first": registry.REGISTRY["numpy"],
    **{
        fault.lower(): Entry(fault.lower(), f"{__name__}:{fault}", "library", fault, packages=())
        for fault in FAULTS
    },
    "numpy": registry.REGISTRY["numpy"],
}
"""A registry of them, with sound ones around."""

if __name__ == "__main__":
    registry.REGISTRY.clear()
    registry.REGISTRY.update(ROWS)
    discovery.main(sys.argv[1:])

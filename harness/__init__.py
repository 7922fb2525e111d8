"""A comparison of OpenCL with CUDA and with libraries on the devices of this machine.

The Python interface is :func:`harness.compare` and :func:`harness.load`; the command is ``harness``.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

__all__ = ["__version__", "compare", "load"]


def __getattr__(name: str) -> Any:
    """The interface's functions, imported when they are first asked for: they need pandas."""
    if name not in __all__:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    return getattr(import_module("harness.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

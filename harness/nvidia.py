"""NVIDIA's libraries beside CUDA itself: NVML, and whether CUPTI is wanted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

CUPTI_SWITCH = "HARNESS_CUPTI"
"""Environment variable; ``off`` keeps CUPTI, and with it the kernel clock of CUDA, out of all processes."""


class NvmlUnavailable(Exception):
    """NVML is not installed, finds no driver or does not answer; the message says which."""


@contextmanager
def open_nvml() -> Iterator[Any]:
    """The module ``pynvml``, open meanwhile.

    Raises:
        NvmlUnavailable: also in place of an error of NVML's that the caller does not catch.
    """
    try:
        import pynvml
    except ImportError as error:
        raise NvmlUnavailable(str(error)) from error
    try:
        pynvml.nvmlInit()
        try:
            yield pynvml
        finally:
            # What was asked is answered, and a GPU that is lost by now has nothing to shut down.
            with suppress(pynvml.NVMLError):
                pynvml.nvmlShutdown()
    except pynvml.NVMLError as error:
        raise NvmlUnavailable(str(error)) from error


def answers(pynvml: Any, queries: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """The answer to each query, or NVML's error where this device or driver has none."""
    found = {}
    for name, query in queries.items():
        try:
            found[name] = query()
        except pynvml.NVMLError as error:
            found[name] = error
    return found


def is_cupti_off() -> bool:
    """Whether the user has switched CUPTI off."""
    return os.environ.get(CUPTI_SWITCH, "").lower() in ("off", "0")

"""The OpenCL backend with a fault of a real kernel in one case:
``tests.support.faulty_backend:FaultyBackend``.

The environment says which: ``FAULTY={"min": "endless"}`` is the reduction whose op is min, with the fault of
:data:`FAULTS` in its kernel.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from backends.base import Prepared
from backends.opencl.backend import OpenClBackend
from harness.devices import DeviceArray
from harness.problems import Problem
from harness.variants.axes import Variant

ENVIRONMENT = "FAULTY"

_START = "const uint local_id = get_local_id(0);"

FAULTS: dict[str, str] = {
    "endless": "for (volatile int i = 1; i; i = 1) {}",
    "null": "*(volatile __global int *)0 = 1;",
    "syntax": "this is no OpenCL C;",
    "wrong": "if (get_group_id(0) == 0) return;",
}
"""What is put at the start of the kernel."""

_TOO_MUCH = 2**60
"""Bytes that no device has."""


class FaultyBackend(OpenClBackend):
    """See the module."""

    _fault: str | None = None

    def _prepare(self, problem: Problem, variant: Variant, sources: Sequence[DeviceArray]) -> Prepared:
        faults: dict[str, str] = json.loads(os.environ.get(ENVIRONMENT, "{}"))
        self._fault = faults.get(getattr(problem, "op", ""))
        if self._fault == "memory":
            self._allocate(_TOO_MUCH)
        return super()._prepare(problem, variant, sources)

    def _build(self, source: str, options: tuple[str, ...]) -> Any:
        if self._fault:
            assert _START in source
            source = source.replace(_START, f"{_START}\n  {FAULTS[self._fault]}")
        return super()._build(source, options)

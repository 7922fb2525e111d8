"""Registers and stack from the log of NVIDIA's OpenCL compiler."""

from __future__ import annotations

import pytest

from backends.common.ptxas_log import ptxas_resources

LOG = """
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'merge' for 'sm_90'
ptxas info    : Function properties for merge
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 16 registers, used 1 barriers, 4096 bytes smem
ptxas info    : Compiling entry function 'reduce' for 'sm_90'
ptxas info    : Function properties for reduce
ptxas         .     24 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 255 registers, 380 bytes cmem[0]
"""


@pytest.mark.parametrize(
    ("kernel", "expected"), [("merge", (16, 0)), ("reduce", (255, 24)), ("red", (None, None))]
)
def test_each_kernel_has_its_own(kernel: str, expected: tuple[int | None, int | None]) -> None:
    assert ptxas_resources(LOG, kernel) == expected


@pytest.mark.parametrize("log", ["", "\n", "ptxas info : Function properties for reduce\n"])
def test_what_the_log_does_not_say_is_not_known(log: str) -> None:
    assert ptxas_resources(log, "reduce") == (None, None)

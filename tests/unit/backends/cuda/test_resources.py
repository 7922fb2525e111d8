"""What NVRTC's assembler says of a kernel, and how many warps there is room for."""

from __future__ import annotations

import pytest

from backends.common.resources import Resources
from backends.cuda import nvrtc, resources
from backends.errors import BuildError
from harness.kernels.occupancy import UNITS
from harness.kernels.plan import PlannedLaunch
from harness.kernels.targets import TARGETS, targets

LOG = """
ptxas info    : Compiling entry function 'reduce' for 'sm_90'
ptxas info    : Function properties for reduce
ptxas         .     24 bytes stack frame, 20 bytes spill stores, 28 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 64 bytes smem
"""
LAUNCHES = {"reduce": PlannedLaunch("reduce", (8,), (256,), ())}


def says(monkeypatch: pytest.MonkeyPatch, log: str) -> None:
    """NVRTC compiles whatever it gets, and says that."""
    monkeypatch.setattr(nvrtc, "compile_source", lambda *_: nvrtc.Compiled(b"", log))


def test_a_kernel_has_what_its_lines_say(monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, LOG)
    assert resources.resources("", targets("sm_90")[0], LAUNCHES) == [
        Resources("reduce", 32, None, spills=20, scalar_spills=None, stack_bytes=24, local_bytes=64, waves=16)
    ]


@pytest.mark.parametrize("log", ["", LOG.replace("reduce", "merge")])
def test_a_log_without_the_kernel_is_an_error(monkeypatch: pytest.MonkeyPatch, log: str) -> None:
    says(monkeypatch, log)
    with pytest.raises(BuildError, match="says nothing of the registers of reduce for sm_90, waves of 32"):
        resources.resources("", targets("sm_90")[0], LAUNCHES)


@pytest.mark.parametrize(
    ("capability", "registers", "local_bytes", "group_size", "waves"),
    [
        (90, 32, 0, 256, 16),
        # 65 registers are 72 at 8 a thread: 16384 // 2304 is 7 warps, and 28 are 3 groups of 8.
        (90, 65, 0, 256, 6),
        (90, 255, 0, 256, 2),
        # Of 228 KiB each group takes 48, and one for the system.
        (90, 32, 48 * 1024, 256, 8),
        (75, 32, 0, 256, 8),
        (75, 32, 32 * 1024, 256, 4),
        (86, 16, 0, 32, 4),
        (120, 40, 0, 1024, 8),
    ],
)
def test_a_scheduler_holds_whole_groups(
    monkeypatch: pytest.MonkeyPatch,
    capability: int,
    registers: int,
    local_bytes: int,
    group_size: int,
    waves: int,
) -> None:
    said = LOG.replace("32 registers", f"{registers} registers").replace("64 bytes", f"{local_bytes} bytes")
    says(monkeypatch, said)
    launches = {"reduce": PlannedLaunch("reduce", (8,), (group_size,), ())}
    (found,) = resources.resources("", targets(f"sm_{capability}")[0], launches)
    assert found.waves == waves


def test_every_target_has_its_limits() -> None:
    for target in TARGETS:
        if target.language == "cu":
            assert target.device.compute_capability in UNITS

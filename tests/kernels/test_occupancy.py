"""Occupancy, computed: as CUDA's own header ``cuda_occupancy.h`` (13.0) has it."""

from __future__ import annotations

import pytest

from harness.kernels.occupancy import UNITS, occupancy

GROUPS = {
    (70, 256, 32, 8192): 8,
    (75, 320, 63, 1000): 3,
    (80, 32, 16, 0): 32,
    (86, 96, 40, 16000): 6,
    (89, 768, 40, 0): 2,
    (90, 192, 24, 33000): 6,
    (90, 256, 32, 72): 8,
    (90, 256, 33, 72): 6,
    (90, 512, 64, 4096): 2,
    (120, 64, 24, 2052): 24,
}
"""Groups that a compute unit holds, as the header told: capability, group size, registers, local bytes."""


@pytest.mark.parametrize("launch", GROUPS)
def test_it_is_what_cudas_header_computes(launch: tuple[int, int, int, int]) -> None:
    found = occupancy(*launch)
    assert found
    assert found.share * UNITS[launch[0]].sub_groups == -(-launch[1] // 32) * GROUPS[launch]


@pytest.mark.parametrize(
    ("launch", "limits"),
    [
        ((90, 256, 32, 72), ""),
        ((90, 256, 33, 72), "registers"),
        ((90, 192, 24, 33000), "local memory"),
        ((80, 32, 16, 0), "groups"),
        ((86, 1024, 16, 0), "group size"),
        ((90, 384, 48, 0), "registers"),
    ],
)
def test_what_limits_it_is_told(launch: tuple[int, int, int, int], limits: str) -> None:
    found = occupancy(*launch)
    assert found
    assert found.limited_by == limits


@pytest.mark.parametrize(
    "launch",
    [
        (0, 256, 32, 0),
        (61, 256, 32, 0),
        (90, 1024, 72, 72),
        (90, 256, 0, 0),
        (90, 256, 9999, 0),
        (90, 0, 32, 0),
        (90, 256, 32, 10**9),
        (90, 256, 32, -1),
    ],
)
def test_of_what_is_not_known_or_does_not_fit_there_is_none(launch: tuple[int, int, int, int]) -> None:
    assert occupancy(*launch) is None

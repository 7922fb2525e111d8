"""Devices that are not here: a large GPU, a GPU that lacks what is optional, a processor; the same as several
backends see them.
"""

from __future__ import annotations

from dataclasses import replace

from harness.kernels import targets

GPU = replace(
    targets.GPU,
    name="Big GPU",
    platform="Vendor CUDA",
    vendor="Vendor",
    driver="1.0",
    compute_units=108,
    max_allocation_bytes=2**34,
    cache_bytes=40 * 2**20,
    physical="0000:3b:00.0",
    compute_capability=0,
    portable={},
)
H200 = replace(GPU, compute_units=132, cache_bytes=60 * 2**20, compute_capability=90)
SMALL_GPU = replace(
    GPU,
    max_group_size=256,
    local_memory_bytes=2**14,
    float64=False,
    sub_group_width=0,
    shuffles=False,
    orders_groups=False,
    awaits_groups=False,
    atomics64=False,
)
CPU = replace(
    GPU,
    index=1,
    name="Small CPU",
    platform="PoCL",
    kind="cpu",
    awaits_groups=False,
    shuffles=False,
    compute_units=2,
    max_group_size=4096,
    sub_group_width=1,
    physical="cpu",
)
CUDA = replace(GPU, backend="cuda")
CUPY = replace(GPU, backend="cupy")
NUMPY = replace(CPU, backend="numpy", index=0, platform="NumPy")
DEVICES = [NUMPY, GPU, CPU, CUDA, CUPY]
"""All that one machine with both shows."""

"""Devices that are not here: a large GPU, a GPU that lacks what is optional, a processor; the same as several
backends see them.
"""

from __future__ import annotations

from dataclasses import replace

from harness.devices import DeviceInfo

GPU = DeviceInfo(
    backend="opencl",
    index=0,
    name="Big GPU",
    platform="Vendor CUDA",
    vendor="Vendor",
    driver="1.0",
    kind="gpu",
    compute_units=108,
    memory_bytes=2**36,
    max_allocation_bytes=2**34,
    local_memory_bytes=48 * 2**10,
    max_group_size=1024,
    cache_bytes=40 * 2**20,
    sub_group_width=32,
    float64=True,
    physical="0000:3b:00.0",
    orders_groups=True,
    awaits_groups=True,
    shuffles=True,
    atomics64=True,
    max_texels=2**27,
)
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

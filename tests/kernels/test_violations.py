"""Why a device cannot run a variant on a problem: each reason once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.devices import PORTABLE_OPENCL, DeviceInfo
from harness.kernels.requirements import violations
from harness.problems import Bandwidth, Empty, Laplace, Problem, Reduction
from harness.variants.axes import (
    PER_PROBLEM,
    BandwidthVariant,
    LaplaceVariant,
    LaunchVariant,
    LibraryVariant,
    ReductionVariant,
    Variant,
)
from tests.support.machines import CPU, GPU, SMALL_GPU


@pytest.mark.parametrize(
    ("variant", "problem", "device", "reason"),
    [
        (LibraryVariant(), Reduction("min", "int8", (9,)), GPU, "takes a reduction variant, not a plain one"),
        (ReductionVariant(), Bandwidth("read", "int8", 9), GPU, "takes a bandwidth variant"),
        (
            ReductionVariant(group_size=512),
            Reduction("min", "int8", (9,)),
            SMALL_GPU,
            "512 work-items is larger",
        ),
        (
            LaplaceVariant(group_height=64),
            Laplace("four", "wrap", "laplacian", "uint8", 9, 9),
            GPU,
            "2048 work",
        ),
        (ReductionVariant(), Reduction("sum", "float32", (9,)), SMALL_GPU, "no float64 arithmetic"),
        (ReductionVariant(), Reduction("min", "int8", (2**35,)), GPU, "source of 34359738368 bytes is over"),
        (
            # Each row takes 128 bytes.
            LaplaceVariant(),
            Laplace("four", "wrap", "laplacian", "uint8", 2**28, 1),
            GPU,
            "source of 34359738368 bytes is over",
        ),
        (
            # Each counter has four of a vector's components.
            ReductionVariant(vector_width=32, groups=4, group_size=1),
            Reduction("count_nonzero", "int16", (2**38,)),
            replace(CPU, compute_units=2, vector_elements=64, max_allocation_bytes=2**40),
            "a work-item meets 1073741824 vectors and counts in 32 bits",
        ),
        (
            ReductionVariant(group_size=1024),
            Reduction("minmax", "int64", (9,)),
            replace(GPU, local_memory_bytes=2**13),
            "needs 16384 bytes of local memory, the device has 8192",
        ),
        (
            ReductionVariant(packing="packed", vector_width=2),
            Reduction("min", "int8", (9,)),
            GPU,
            "2 of int8 do not fill a word of 32 bits",
        ),
        (
            ReductionVariant(group_size=1),
            Reduction("min", "int8", (2**31,)),
            replace(GPU, platform="CUDA", compute_capability=90),
            "2147483648 groups are over CUDA's limit of 2147483647",
        ),
        (
            BandwidthVariant(groups=PER_PROBLEM, group_size=4),
            Bandwidth("read", "int8", 2**33),
            GPU,
            "2147483648 groups are over OpenCL's limit of 2147483647",
        ),
        (
            ReductionVariant(groups=1, group_size=1),
            Reduction("count_nonzero", "int8", (2**32,)),
            replace(GPU, compute_units=1),
            "meets 4294967296 vectors and counts in 32 bits",
        ),
        (
            ReductionVariant(packing="packed"),
            Reduction("min", "int32", (9,)),
            GPU,
            "8 or 16 bits, not of int32",
        ),
        (
            ReductionVariant(tree="sub_group"),
            Reduction("min", "int8", (9,)),
            SMALL_GPU,
            "tree sub_group: this API cannot move values inside a sub-group (warp) of this device",
        ),
        *(
            (ReductionVariant(storage="image", **axes), Reduction("min", dtype, (size,)), GPU, reason)
            for axes, dtype, size, reason in (
                ({"vector_width": 8}, "int32", 8, "storage image: a texel has 4 elements, not 8"),
                (
                    {"vector_width": 4, "packing": "packed"},
                    "int8",
                    8,
                    "storage image: texels are read element by element, not packed",
                ),
                ({"vector_width": 4}, "float64", 8, "no channel of a texel has the 64 bits of float64"),
                ({"vector_width": 4}, "int8", 9, "9 elements are no whole number of texels of 4"),
                ({"vector_width": 4}, "int8", 2**30, "268435456 texels are over the device's limit"),
            )
        ),
        (
            ReductionVariant(finish="atomic"),
            Reduction("sum", "float32", (9,)),
            GPU,
            "finish atomic: no atomics combine the partial results of sum on float32",
        ),
        (
            ReductionVariant(finish="atomic"),
            Reduction("sum", "uint8", (9,)),
            replace(GPU, atomics64=False),
            "finish atomic: the device has no atomics on 64 bits",
        ),
        (
            ReductionVariant(vector_width=32),
            Reduction("sum", "uint8", (9,)),
            GPU,
            "vector_width 32: the compiler's vectors have 16 elements",
        ),
        *(
            (
                ReductionVariant(vector_width=64),
                Reduction("sum", dtype, (9,)),
                replace(GPU, vector_elements=64),
                f"vector_width 64: only integers of 8 and 16 bits, not {dtype}",
            )
            for dtype in ("int32", "float16")
        ),
        (
            ReductionVariant(finish="alternating"),
            Reduction("sum", "float32", (9,)),
            GPU,
            "finish alternating: no atomics combine the partial results of sum on float32",
        ),
        (
            ReductionVariant(finish="alternating"),
            Reduction("max", "float64", (9,)),
            replace(GPU, atomics64=False),
            "finish alternating: the device has no atomics on 64 bits",
        ),
        (
            ReductionVariant(finish="flagged"),
            Reduction("sum", "uint8", (9,)),
            replace(GPU, awaits_groups=False),
            "finish flagged: a work-group might keep those it waits for from running on this device",
        ),
        (
            ReductionVariant(finish="flagged"),
            Reduction("sum", "uint8", (9,)),
            replace(GPU, atomics64=False),
            "finish flagged: the device has no atomics on 64 bits",
        ),
        *(
            (
                ReductionVariant(finish=finish),
                Reduction("min", "uint8", (9,)),
                SMALL_GPU,
                f"finish {finish}: this API cannot order the work-groups of one launch on this device",
            )
            for finish in ("last_group", "atomic")
        ),
        (
            ReductionVariant(tree="sub_group", group_size=1024),
            Reduction("minmax", "int64", (9,)),
            replace(GPU, local_memory_bytes=2**8),
            "needs 512 bytes of local memory, the device has 256",
        ),
        (
            LaplaceVariant(rows_per_item=2, loads_in_flight=8),
            Laplace("four", "wrap", "laplacian", "uint8", 9, 9),
            GPU,
            "no multiple of 8 loads in flight",
        ),
        (
            ReductionVariant(tree="sub_group", dialect="portable"),
            Reduction("min", "int8", (9,)),
            replace(GPU, portable=PORTABLE_OPENCL),
            "dialect portable: tree sub_group: this API cannot move values inside a sub-group",
        ),
        (
            ReductionVariant(finish="last_group", dialect="portable"),
            Reduction("min", "int8", (9,)),
            replace(GPU, portable=PORTABLE_OPENCL),
            "dialect portable: finish last_group: this API cannot order the work-groups of one launch",
        ),
        *(
            (
                BandwidthVariant(vector_width=16, cache_hint=hint, dialect="portable"),
                Bandwidth("read", "int8", 99),
                replace(GPU, compute_capability=90, portable=PORTABLE_OPENCL),
                f"dialect portable: cache_hint {hint}: ",
            )
            for hint in ("streaming", "resident")
        ),
        (
            ReductionVariant(cache_hint="window"),
            Reduction("sum", "uint8", (9,)),
            replace(GPU, compute_capability=90, cache_bytes=1),
            "cache_hint window: only CUDA's streams have a window, OpenCL's queues have none (see resident)",
        ),
        (
            ReductionVariant(cache_hint="window"),
            Reduction("sum", "uint8", (9,)),
            replace(GPU, platform="CUDA", compute_capability=75, cache_bytes=1),
            "cache_hint window: only NVIDIA's GPUs of compute capability 8.0 or more keep a part of a source",
        ),
        (
            ReductionVariant(cache_hint="window"),
            Reduction("sum", "uint8", (9,)),
            replace(GPU, platform="CUDA", compute_capability=80, cache_bytes=0),
            "cache_hint window: the device does not tell how large its L2 cache is",
        ),
        (
            ReductionVariant(vector_width=32, dialect="portable"),
            Reduction("sum", "uint8", (9,)),
            replace(CPU, vector_elements=64, portable=PORTABLE_OPENCL),
            "dialect portable: vector_width 32: the compiler's vectors have 16 elements",
        ),
        (
            LaunchVariant(queue="out_of_order"),
            Empty((((1,), (1,)),)),
            GPU,
            "this API has in_order queues only here",
        ),
        (
            LaplaceVariant(group_height=1),
            Laplace("four", "wrap", "laplacian", "uint8", 2**17, 1),
            replace(GPU, platform="CUDA", compute_capability=90),
            "are over CUDA's limit of 65535; more rows_per_item or a larger group_height helps",
        ),
        (
            LaplaceVariant(group_height=1),
            Laplace("four", "wrap", "laplacian", "uint8", 2**17, 1),
            replace(GPU, platform="NVIDIA CUDA", compute_capability=90),
            "are over OpenCL's limit of 65535; more rows_per_item or a larger group_height helps",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_violations(variant: Variant, problem: Problem, device: DeviceInfo, reason: str) -> None:
    reasons = violations(variant, problem, device)
    assert len(reasons) == 1
    assert reason in reasons[0]

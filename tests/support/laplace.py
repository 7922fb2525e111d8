"""What tests of the Laplace kernels share: a GPU, an image, samples of variants, the check of a result."""

from __future__ import annotations

from typing import Any

from backends import Backend, DeviceInfo
from harness.kernels.requirements import violations
from harness.problems import BORDERS, IMAGE_DTYPES, MASKS, OUTPUTS, Laplace
from harness.variants.axes import AXES, PER_PROBLEM, LaplaceVariant
from tests.support.checks import Point, pairwise, require

GPU = DeviceInfo(
    backend="cuda", index=0, name="a GPU", platform="CUDA", vendor="NVIDIA", driver="", kind="gpu",
    compute_units=132, memory_bytes=2**37, max_allocation_bytes=2**37, local_memory_bytes=2**15,
    max_group_size=1024, cache_bytes=2**25, sub_group_width=32, float64=True, physical="",
    image_sides=(2**14, 2**13),
)  # fmt: skip

IMAGE = Laplace("four", "replicate", "laplacian", "uint8", 33, 65)

PIECES = ("interior", "border_code", "pixels", "load_order", "scheme", "stencil", "mask_memory")
"""The axes whose values are kernel files of the filter alone."""

SHUFFLING = LaplaceVariant(border_code="mapped", pixels="shuffle", vector_width=4)


def problem_of(point: Point, height: int, width: int, border_value: float = 0.0) -> Laplace:
    """The point's problem at a size."""
    parameters = {name: point[name] for name in ("mask", "border", "output", "dtype", "channels")}
    return Laplace(height=height, width=width, border_value=border_value, **parameters)


def variant_of(point: Point) -> LaplaceVariant:
    """The point's variant, in a group that is no multiple of anything in the images."""
    rows, loads = point["rows"]
    return LaplaceVariant(
        **{axis: point[axis] for axis in PIECES},
        vector_width=point["vector_width"],
        rows_per_item=rows,
        loads_in_flight=loads,
        groups=point["groups"],
        group_width=4,
        group_height=2,
    )


def runs(point: Point) -> bool:
    """Whether a GPU can run it."""
    return not violations(variant_of(point), problem_of(point, 1, 1), GPU)


POINTS = pairwise(
    {
        **{axis: AXES["laplace"][axis] for axis in PIECES},
        "border": BORDERS,
        "dtype": IMAGE_DTYPES,
        "channels": (1, 3, 4),
        "vector_width": AXES["laplace"]["vector_width"],
        "groups": (PER_PROBLEM, 1),
        "rows": ((1, 1), (2, 2), (8, 1), (8, 4), (32, 8)),
        "mask": tuple(MASKS),
        "output": OUTPUTS,
    },
    runs,
)


def edge_sizes(width: int) -> list[tuple[int, int]]:
    """Heights and widths where the last vector of a row is full, one short, one over, and the only one."""
    widths = {1, 2, 3, width - 1, width, width + 1, 4 * width - 1, 4 * width + 2, 53}
    return [(1 + at % 4 * 3, w) for at, w in enumerate(sorted(widths - {0}))] + [(1, 1), (35, 1)]


def check(backend: Backend, problem: Laplace, variant: LaplaceVariant, image: Any) -> None:
    """The variant gives the reference's image and writes every pixel of it."""
    require(backend, problem, variant)
    with backend.prepare(problem, variant, [backend.upload(problem.pack(image))]) as prepared:
        prepared.poison()
        prepared.enqueue(0)
        outcome = problem.verify(prepared.result(), image)
    assert outcome.ok, f"{problem.label}, {variant}: {outcome.message}"

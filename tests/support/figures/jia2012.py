"""What is said of the steps of jia2012 on an H200, and of the libraries beside them."""

from __future__ import annotations

from functools import partial

from harness.results.statistics import geometric_mean
from tests.support.figures import RESULTS, Figure
from tests.support.figures.filters import of_default, us
from tests.support.recorded import OWN, contexts, ends, lead, leads, ratios, table, where

RUN = "h200-jia2012"
LIBRARIES = ("npp", "cvcuda", "cupy", "torch", "opencv_cuda", "halide_cuda", "halide_opencl")
STEPS = {
    "the study's first: nine reads, the mask in global memory": (
        "branches w1 rows1 l1 32x8 per_pixel nine_terms mask global"
    ),
    "the study's last: a tile in local memory, vectors, unrolled": (
        "mapped w4 rows4 l1 32x8 local_tile per_pixel unrolled mask constant"
    ),
    "16-byte loads of four rows": "mapped w16 rows4 l4 32x8",
    "sums in pairs": "mapped w16 rows4 l4 32x8 paired",
    "sums in half precision, the interior for itself": "mapped w16 rows4 l4 32x8 specialized halves",
}
"""Steps of the ladder, as the table calls them, and their variants."""


def cases() -> tuple[int, int, int]:
    """Measured filters, and in how many contexts ours were, at least and at most."""
    rows = where(table(RUN), kind="laplace", status="ok", purpose="compare")
    least, most, _ = contexts(RUN)
    return len(rows), least, most


def verdicts() -> list[float]:
    """OpenCL against CUDA: the undecided, and all; how many images of 64 MiB or more, which are all the same;
    in how many smaller ones OpenCL is slower, in how many of 2560x2560, and by how many per cent.
    """
    rows = ratios(RUN)
    far = rows[rows["elements"] * rows["type"].str.removeprefix("uint8C").astype(int) >= 2**26]
    assert set(far["verdict"]) == {"same"}
    slower = where(rows, verdict="slower")
    assert set(slower["size"]) == {"1280x1280", "2560x2560", "4096x4096"}
    assert rows[rows["verdict"] == "faster"].empty
    undecided = where(rows, verdict="ambiguous")
    behind = ends(100 * (1 / slower["gross"] - 1))
    return [
        len(undecided),
        len(rows),
        len(far),
        len(slower),
        *behind,
        len(where(slower, size="2560x2560")),
    ]


def at_2560() -> list[float]:
    """OpenCL against CUDA at 2560x2560, hot: all, the slower, and the ratios of the others."""
    rows = where(ratios(RUN), size="2560x2560", cache="hot")
    slower, others = where(rows, verdict="slower"), where(rows, verdict=["ambiguous", "same"])
    assert len(slower) + len(others) == len(rows)
    return [len(rows), len(slower), *ends(others["gross"])]


def step(variant: str, run: str = RUN) -> list[float]:
    """The plain filter at 8192x8192 on one step: of one channel, of four, in each API."""
    size = "laplacian four reflect_101 uint8C{} 8192x8192"
    return [
        us(run, side, problem=size.format(channels), variant=variant) for channels in (1, 4) for side in OWN
    ]


def by_default() -> list[float]:
    """The same of the default, which goes back and forth there."""
    rows = where(
        table(RUN), size="8192x8192", op="laplacian four reflect_101", cache="hot", purpose="compare"
    )
    rows = rows[rows["variant"].str.contains("back_and_forth")]
    return [
        1e6 * float(where(rows, type=f"uint8C{channels}", backend=side)["queue"].iloc[0])
        for channels in (1, 4)
        for side in OWN
    ]


def least(size: str) -> list[float]:
    """The least share of the default at a size, of one channel and of four."""
    return [min(of_default(RUN, size=size, type=f"uint8C{channels}")) for channels in (1, 4)]


def smallest() -> tuple[float, float]:
    """The smallest image by CUDA's default, and by PyTorch."""
    problem = "laplacian four reflect_101 uint8C1 256x256"
    return us(RUN, "cuda", problem=problem, variant="mapped w16 rows1 l1 32x4 halves"), us(
        RUN, "torch", problem=problem
    )


def counted(library: str) -> tuple[float, int, float]:
    """CUDA's lead over a library: in the mean, in how many cells, the least."""
    mean, lowest = lead(RUN, library)
    return mean, len(where(leads(RUN), second_backend=library)), lowest


def from_on(library: str, side: int) -> float:
    """CUDA's lead over a library in the mean, of images from this side on."""
    found = where(leads(RUN), second_backend=library)
    return geometric_mean(found[found["size"].str.split("x").str[0].astype(int) >= side]["gross"])


def leads_over_libraries() -> list[float]:
    """Of each library the mean lead, the cells where the sentence has them, and the least."""
    found = leads(RUN)
    behind = found[found["verdict"] != "faster"]
    assert set(behind["second_backend"]) == {"torch"}
    assert list(behind["problem"]) == [
        "laplacian four reflect_101 uint8C1 256x256",
        "laplacian four replicate uint8C4 256x256",
    ]
    assert set(found[found["size"] != "256x256"]["verdict"]) == {"faster"}
    return [value for library in LIBRARIES for value in counted(library)]


def at_1280(channels: int) -> tuple[float, float]:
    """The ends of how many times the limit's time the default takes at 1280x1280."""
    return ends(1 / share for share in of_default(RUN, size="1280x1280", type=f"uint8C{channels}"))


SENTENCES: list[Figure] = [
    (
        RESULTS,
        "on the H200 ({} cases of filters, ours in {} to {} contexts; hot",
        cases,
    ),
    (
        RESULTS,
        "{} of its {} ratios are *ambiguous*. The {} of images of 64 MiB or more are all the *same*, and "
        "OpenCL is slower in {} smaller ones, by {:.1f} to {:.1f} %, {} of them at 2560x2560, and faster in "
        "none.",
        verdicts,
    ),
    (
        RESULTS,
        "Of the {} hot ones there it is slower in {}, and the others are at {:.3f} to {:.3f}.",
        at_2560,
    ),
    (
        RESULTS,
        "the default reaches {:.2f} (one channel) and {:.2f} (four) at 8192x8192, {:.2f} and {:.2f} at "
        "16384x16384",
        lambda: [*least("8192x8192"), *least("16384x16384")],
    ),
    (
        RESULTS,
        "than NPP by {:.2f} in the geometric mean ({} cells, at least {:.2f}), CV-CUDA by {:.2f} ({}, "
        "{:.2f}), CuPy by {:.1f} ({}, {:.2f}), PyTorch's compiled expression by {:.2f} ({}, {:.2f}), "
        "OpenCV's CUDA module by {:.1f} ({}, {:.2f}), Halide by {:.2f} in CUDA ({}, {:.2f}) and {:.2f} in "
        "OpenCL ({}, {:.2f}).",
        leads_over_libraries,
    ),
    (RESULTS, "256x256 of one channel takes {:.2f} us in CUDA and {:.2f} by PyTorch", smallest),
]

ROWS: list[Figure] = [
    *(
        (RESULTS, f"| {name} | {{:.1f}} | {{:.1f}} | {{:.1f}} | {{:.1f}} |", partial(step, variant))
        for name, variant in STEPS.items()
    ),
    (
        RESULTS,
        "| the default, back and forth | {:.1f} | {:.1f} | {:.1f} | {:.1f} |",
        by_default,
    ),
    (
        RESULTS,
        "| one channel {:.2f} to {:.2f}, four {:.2f} to {:.2f} |",
        lambda: [*at_1280(1), *at_1280(4)],
    ),
    (
        RESULTS,
        "| CV-CUDA slower by 5 in the geometric mean | {:.2f} from 512x512 on, {:.2f} from 2560x2560 on |",
        lambda: [from_on("cvcuda", side) for side in (512, 2560)],
    ),
]

"""What is said of the published studies and of libraries on an H100."""

from __future__ import annotations

from functools import partial

import pandas as pd

from harness.results.statistics import geometric_mean
from tests.support.figures import LIBRARIES, Figure
from tests.support.figures.h100 import H100, SIDES, filters
from tests.support.figures.jia2012 import STEPS, step
from tests.support.figures.studies import by_steps, climbed, leads_of_yan2011, of_yan2011, same_at, verdicts
from tests.support.recorded import OWN, contexts, ends, lead, leads, ratios, table, where

JIA, YAN, PCL, MODERN = "h100-jia2012", "h100-yan2011", "h100-pcl", "h100-modern"
LIBRARIES_RUN = "h100-libraries"
SMALL = "256x256"
"""An image whose filter is little more than its launch: there PyTorch is ahead in some cells."""


def ahead_of(library: str) -> list[float]:
    """The filters larger than SMALL beside a library: how many, CUDA's mean lead and its least; none is ahead
    of either API.
    """
    for side in OWN:
        found = where(leads(JIA, backend=side), second_backend=library, not_size=SMALL)
        assert not set(found["verdict"]) & {"slower", "same"}
    gross = where(leads(JIA), second_backend=library, not_size=SMALL)["gross"]
    return [len(gross), geometric_mean(gross), gross.min()]


def small_images() -> list[float]:
    """How many of the smallest filters PyTorch is ahead in, of how many, and what CUDA's reach there."""
    found = where(leads(JIA), second_backend="torch", size=SMALL)
    behind_it = where(found, verdict="slower")
    return [len(behind_it), len(found), *behind_it["gross"].sort_values()]


def best_shares(run: str, sizes: tuple[str, ...]) -> pd.Series[float]:
    """What the fastest variant of each hot filter and API reaches of the copy limit."""
    rows = filters(run, kind="laplace", status="ok", size=sizes)
    return rows.groupby(["problem", "backend"])["share"].max()


def above() -> list[float]:
    """By how many per cent those above the limit lie above it: OpenCL's plain filters of four channels. The
    fastest copy of their size has the fewest groups of the sweep.
    """
    rows = table(JIA)
    copies = where(rows, kind="bandwidth", op="copy", cache="hot", status="ok", source_bytes=2560 * 2560 * 4)
    groups = copies.set_index("queue")["variant"].str.extract(r" (\d+)/unit ")[0].astype(float)
    assert groups[groups.index.min()] == groups.min() < groups.max()
    found = rows[rows["above_limit"].fillna(value=False).astype(bool)]
    assert set(found["backend"]) == {"opencl"}
    assert set(found["type"] + " " + found["size"]) == {"uint8C4 2560x2560"}
    assert set(found["op"].str.rsplit(n=1).str[0]) == {"laplacian four"}
    return [100 * (share - 1) for share in sorted(found["share"])]


def at_half_of_the_cache() -> list[float]:
    """By how many per cent OpenCL is slower with four channels and masks of eight neighbours, at most, and
    faster with plain ones and the border *wrap*.
    """
    found = where(ratios(JIA), first_backend="opencl", size=SIDES[0], type="uint8C4", cache="hot")
    eight = found[found["op"].str.contains("eight")]
    wrap = found[found["op"].str.contains("four") & found["op"].str.endswith("wrap")]
    assert set(eight["verdict"]) == {"slower"}
    assert set(wrap["verdict"]) == {"faster"}
    return [100 * (1 / eight["gross"].min() - 1), 100 * (wrap["gross"].max() - 1)]


def all_ahead() -> int:
    """How many verdicts there are of our reductions beside a library, which are all *faster*."""
    found = pd.concat([leads(LIBRARIES_RUN, cached, side) for cached in ("hot", "cold") for side in OWN])
    assert set(found["verdict"]) == {"faster"}
    return len(found)


def leads_of_pcl() -> list[float]:
    """How far CUDA is ahead of each library in the study's sums; one verdict beside CUB is *ambiguous*."""
    (open_one,) = where(leads(PCL), not_verdict="faster").itertuples()
    assert (open_one.problem, open_one.second_backend) == ("sum uint32 4096", "cub")
    return [value for name in ("cub", "cupy", "pycuda_array") for value in lead(PCL, name)]


def of_modern() -> list[float]:
    """Its comparisons, *same* and *ambiguous*, and the ends of their ratios."""
    return [*verdicts(MODERN), *ends(ratios(MODERN)["gross"])]


def leads_of_modern() -> list[float]:
    """How far CUDA is ahead of each library, of NPP in how many cells; none is ahead of either API."""
    for side in OWN:
        assert set(leads(MODERN, backend=side)["verdict"]) == {"faster"}
    cells = where(leads(MODERN), second_backend="npp")
    cub, npp, cupy, torch = (lead(MODERN, name) for name in LIBRARIES)
    return [*cub, len(cells), *npp, *cupy, *torch]


SENTENCES: list[Figure] = [
    (
        H100,
        "PyTorch is ahead in {} of {} cells, where CUDA's kernels have {:.3f} and {:.3f} of its speed,",
        small_images,
    ),
    (
        H100,
        "At 8192x8192 and 16384x16384 both APIs reach {:.2f} to {:.2f} of the copy limit.",
        lambda: ends(best_shares(JIA, ("8192x8192", "16384x16384"))),
    ),
    (H100, "lie above the limit**, by {:.1f} and {:.1f} %: plain filters of four channels", above),
    (
        H100,
        "are up to {:.1f} % slower in OpenCL at 2560x2560, half of the cache, and plain ones with the border "
        "*wrap* up to {:.1f} % faster",
        at_half_of_the_cache,
    ),
    (H100, "**All {} verdicts, of either API against a library, are *faster*.**", lambda: [all_ahead()]),
    (H100, "minmaxloc; up to {} contexts of ours", lambda: contexts(LIBRARIES_RUN)[1:2]),
    (H100, "({} cases, {} to {} contexts, eight minutes)", lambda: of_yan2011(YAN)[:3]),
    (
        H100,
        "all {} comparisons of OpenCL with CUDA are *same*, at {:.3f} to {:.3f} of CUDA's speed. minmax",
        partial(same_at, YAN),
    ),
    (
        H100,
        "in {} steps from {:.1f} us to {:.1f} us in OpenCL and from {:.1f} to {:.1f} in CUDA, without the "
        "part that the study leaves to the host;",
        partial(by_steps, YAN),
    ),
    (H100, "the default, which is whole, takes {:.2f} and {:.2f}.", lambda: of_yan2011(YAN)[3:]),
    (
        H100,
        "than CUB by {:.2f} in the geometric mean (at least {:.2f}), PyTorch by {:.2f} ({:.2f}), CuPy by "
        "{:.2f} ({:.2f}), NPP by {:.2f} ({:.2f}), `pycuda.gpuarray` by {:.2f} ({:.2f}). OpenCV's",
        lambda: leads_of_yan2011(YAN, ("cub", "torch", "cupy", "npp", "pycuda_array"), ()),
    ),
    (H100, "(four minutes, up to {} contexts)", lambda: contexts(PCL)[1:2]),
    (
        H100,
        "all {} comparisons of OpenCL with CUDA are *same*, at {:.3f} to {:.3f} of CUDA's speed. CUDA's",
        partial(same_at, PCL),
    ),
    (
        H100,
        "than CUB by {:.2f} (at least {:.2f}, at 4096 elements, the one verdict that is *ambiguous*), CuPy "
        "by {:.2f} ({:.2f}), `pycuda.gpuarray` by {:.2f} ({:.2f}).",
        leads_of_pcl,
    ),
    (
        H100,
        "{} cases of filters, one context)",
        lambda: [len(where(table(JIA), kind="laplace", status="ok", purpose="compare"))],
    ),
    (H100, "(seven minutes, up to {} contexts)", lambda: contexts(MODERN)[1:2]),
    (
        H100,
        "Of {} comparisons of OpenCL with CUDA {} are *same* and {} *ambiguous*, at {:.3f} to {:.3f} of",
        of_modern,
    ),
    (
        H100,
        "than CUB in all 16 cells by {:.2f} in the geometric mean (at least {:.2f}), than NPP in {} by "
        "{:.2f} ({:.2f}), than CuPy by {:.2f} ({:.2f}), than PyTorch by {:.2f} ({:.2f}).",
        leads_of_modern,
    ),
    (
        H100,
        "from {:.1f} us (OpenCL) and {:.1f} (CUDA) on its first rung to {:.2f} and {:.2f}.",
        lambda: [climbed(MODERN, -1)[place] for place in (0, 2, 1, 3)],
    ),
]

ROWS: list[Figure] = [
    *(
        (H100, f"| {name} |" + 4 * " {:.1f} |", partial(step, variant, JIA))
        for name, variant in STEPS.items()
    ),
    *(
        (H100, f"| {name} | {{}} | {{:.2f}} | {{:.2f}} |", partial(ahead_of, library))
        for name, library in (
            ("NPP", "npp"),
            ("CV-CUDA", "cvcuda"),
            ("CuPy", "cupy"),
            ("PyTorch, compiled", "torch"),
            ("OpenCV's CUDA module", "opencv_cuda"),
            ("OpenCV's OpenCL path", "opencv_opencl"),
            ("Halide, CUDA", "halide_cuda"),
            ("Halide, OpenCL", "halide_opencl"),
        )
    ),
]

"""What is said of the published studies, yan2011, pcl and modern."""

from __future__ import annotations

from harness.variants.ladders import LADDERS
from tests.support.figures import LIBRARIES, MAIN, RESULTS, Figure
from tests.support.figures.limits import same_or_ambiguous
from tests.support.figures.verdicts import OTHER_HOST
from tests.support.recorded import OWN, contexts, ends, lead, leads, ratios, run_of, steps, table, where


def by_steps(run: str = "h200-yan2011") -> list[float | str]:
    """The steps of minmax of yan2011 down to its fastest rung, which leaves its partial results to the host,
    and :func:`climbed` by them.
    """
    last = len(LADDERS["yan2011"].rungs) - 2
    rows = where(table(run), problem="minmax uint8 2560x2560", purpose="compare", backend="opencl")
    assert rows["variant"].iloc[last].endswith(" host")
    return [{8: "eight"}[last], *climbed(run, last)]


def of_modern() -> list[int | str]:
    """The minutes that modern took, and the most contexts."""
    seconds = run_of("h200-modern").seconds
    assert seconds
    return [{4: "four"}[round(seconds / 60)], contexts("h200-modern")[1]]


def leads_of_modern() -> list[float]:
    """In how many cells each library was measured, and CUDA's lead there, in the mean and at least."""
    found = leads("h200-modern")
    return [
        each
        for name in LIBRARIES
        for each in (len(where(found, second_backend=name)), *lead("h200-modern", name))
    ]


def climbed(name: str, last: int) -> tuple[float, ...]:
    """The first and another step of minmax, for each side."""
    found = steps(name, "minmax uint8 2560x2560")
    return tuple(found[side][place] for side in OWN for place in (0, last))


def of_yan2011(name: str = "h200-yan2011") -> tuple[float, ...]:
    """Its cases, the contexts of ours, and today's form of minmax in each API."""
    rows = where(table(name), purpose="compare", status="ok")
    counts = where(rows, backend=OWN)["queue_blocks"].map(len)
    of_one = where(rows, problem="minmax uint8 2560x2560")
    form = of_one[of_one["variant"].str.endswith(" alternating")].set_index("backend")["queue"]
    return len(rows), *ends(counts), *(float(form[side]) * 1e6 for side in OWN)


def leads_of_yan2011(
    run: str = "h200-yan2011",
    both: tuple[str, ...] = ("cub", "torch", "cupy", "npp", "opencv_cuda"),
    mean: tuple[str, ...] = ("pycuda_array", "pyopencl_array", "opencv_opencl"),
) -> list[float]:
    """How far CUDA is ahead of each library, in the mean, of some also at least; none is ahead of either API
    in any cell.
    """
    for side in OWN:
        assert set(leads(run, backend=side)["verdict"]) == {"faster"}
    return [
        *(value for name in both for value in lead(run, name)),
        *(lead(run, name)[0] for name in mean),
    ]


def verdicts(name: str) -> list[int]:
    """How many comparisons there are, *same* and *ambiguous*; there is no other."""
    found = ratios(name)["verdict"].value_counts()
    assert set(found.index) == {"same", "ambiguous"}
    return [int(found.sum()), int(found["same"]), int(found["ambiguous"])]


def ambiguous(name: str) -> tuple[int, int]:
    """How many comparisons of OpenCL with CUDA are *ambiguous*, and all, in a run of at most ten minutes."""
    found = where(ratios(name), first_backend="opencl")["verdict"]
    return int((found == "ambiguous").sum()), len(found)


def same_at(name: str) -> list[float]:
    """How many comparisons of OpenCL with CUDA a run has, all *same*, and the ends of their ratios."""
    found = where(ratios(name), first_backend="opencl")
    assert set(found["verdict"]) == {"same"}
    return [len(found), *ends(found["gross"])]


def small_sums() -> list[float]:
    """How fast ours is beside CUB's sum of 4096 elements, and the ends of both intervals; then what ours
    takes with a load a work-item, and with four, for each side, in us.
    """
    problem = "sum uint32 4096"
    pairs = [
        where(leads("h200-pcl", backend=side), problem=problem, second_backend="cub").iloc[0] for side in OWN
    ]
    assert {pair["verdict"] for pair in pairs} == {"ambiguous"}
    rows = where(table("h200-sweep-tiny"), problem=problem, purpose="compare")
    of = "buffer w4 l{} global 4/unit of 256 sub_group builtin scalar {}"
    shapes = (of.format(1, "alternating"), of.format(4, "relaunch"))
    times = [
        1e6 * where(rows, variant=shape, backend=side)["queue"].iloc[0] for shape in shapes for side in OWN
    ]
    assert len({f"{pair['gross']:.2f}" for pair in pairs}) == 1
    return [pairs[0]["gross"], min(p["low"] for p in pairs), max(p["high"] for p in pairs), *times]


def behind_cub() -> list[float]:
    """The problems of up to 64 KiB, and what each side reaches of CUB's speed where CUB is ahead."""
    found = [where(leads("h200-sweep-tiny", backend=side), second_backend="cub") for side in OWN]
    slower = [where(rows, verdict="slower") for rows in found]
    assert [list(rows["problem"]) for rows in slower] == [["sum float32 4096"]] * 2
    return [len(found[0]), *(rows["gross"].iloc[0] for rows in slower)]


SENTENCES: list[Figure] = [
    (
        RESULTS,
        "Of the {} problems of that sweep CUB is ahead in one: it adds 4096 elements of float32 in float32, "
        "and our kernels, which add them in float64, reach {:.2f} (OpenCL) and {:.2f} (CUDA) of its speed.",
        behind_cub,
    ),
    (
        RESULTS,
        "goes in {} steps from {:.1f} us to {:.1f} us in OpenCL and from {:.1f} to {:.1f} in CUDA, without "
        "the part that the study leaves to the host.",
        by_steps,
    ),
    (RESULTS, "({} cases, {} to {} contexts): minmax", lambda: of_yan2011()[:3]),
    (
        RESULTS,
        "Today's form, which is whole, takes {:.2f} and {:.2f}. All {} comparisons of OpenCL with CUDA are "
        "*same*, at {:.3f} to {:.3f} of CUDA's speed.",
        lambda: [*of_yan2011()[3:], *same_at("h200-yan2011")],
    ),
    (
        RESULTS,
        "than CUB by {:.2f} in the geometric mean (at least {:.2f}), PyTorch by {:.2f} ({:.2f}), CuPy by "
        "{:.2f} ({:.2f}), NPP by {:.2f} ({:.2f}), OpenCV's CUDA module by {:.2f} ({:.2f}), "
        "`pycuda.gpuarray` by {:.2f}, `pyopencl.array` by {:.2f}, OpenCV's OpenCL path by {:.0f}.",
        leads_of_yan2011,
    ),
    (
        RESULTS,
        "CUB is slower by {:.2f} (at least {:.2f}), CuPy by {:.2f} ({:.2f}), `pycuda.gpuarray` by {:.2f} "
        "({:.2f}).",
        lambda: [v for name in ("cub", "cupy", "pycuda_array") for v in lead("h200-pcl", name)],
    ),
    (
        RESULTS,
        "three minutes, up to {} contexts): the sum of uint32",
        lambda: contexts("h200-pcl")[1:2],
    ),
    (
        RESULTS,
        "Of its {} comparisons of OpenCL with CUDA {} are *same* and {} *ambiguous*, at {:.3f} to {:.3f} of "
        "CUDA's speed: that of 1024 elements.",
        lambda: same_or_ambiguous("h200-pcl"),
    ),
    (
        RESULTS,
        "At 4096 elements our sums in 64 bits have {:.2f} of the speed of CUB's in 32 bits, with intervals "
        "from {:.2f} to {:.2f}: *ambiguous*. Four groups with one load each read them there, in {:.2f} us "
        "(OpenCL) and {:.2f} (CUDA); one group with four loads takes {:.2f} and {:.2f}",
        small_sums,
    ),
    (
        RESULTS,
        "{} minutes, up to {} contexts): minmax and sum of four types",
        of_modern,
    ),
    (
        RESULTS,
        "Of {} comparisons of OpenCL with CUDA {} are *same* and {} *ambiguous*, at {:.3f} to {:.3f} of "
        "CUDA's speed.",
        lambda: same_or_ambiguous("h200-modern"),
    ),
    (
        RESULTS,
        "than CUB in all {} cells by {:.2f} in the geometric mean (at least {:.2f}), than NPP in {} by "
        "{:.2f} ({:.2f}), than CuPy in {} by {:.2f} ({:.2f}), than PyTorch in {} by {:.2f} ({:.2f})",
        leads_of_modern,
    ),
    (
        RESULTS,
        "goes from {:.1f} us (OpenCL) and {:.1f} (CUDA) on its first rung to {:.1f} and {:.1f}.",
        lambda: [climbed("h200-modern", -1)[place] for place in (0, 2, 1, 3)],
    ),
]

ROWS: list[Figure] = [
    (
        RESULTS,
        "| `quick` {} of {}, `yan2011` {} of {}, `pcl` {} of {}, `modern` {} of {}, `dialects` {} of {}; "
        "`jia2012` {} of {}; `libraries` {} of {}, in {} to {} contexts | met by `quick`, `yan2011`, "
        "`modern` and `dialects`, missed by one of `pcl`, by `jia2012` and `libraries`; on another host "
        "`quick` left {} of {}, on a fresh H100",
        lambda: [
            *ambiguous(MAIN),
            *ambiguous("h200-yan2011"),
            *(
                count
                for name in ("pcl", "modern", "dialects", "jia2012", "libraries")
                for count in ambiguous(f"h200-{name}")
            ),
            *contexts("h200-libraries")[:2],
            *ambiguous(OTHER_HOST),
        ],
    ),
]

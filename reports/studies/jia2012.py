"""The figures and tables of jia2012: the 3x3 Laplace filter by size and kind of image, step by step."""

from __future__ import annotations

from harness.variants.axes import label
from harness.variants.ladders import LADDERS
from reports.studies.claims import claimed
from reports.studies.model import Against, Base, Cases, Figure, Series, Study, Then

NAME = "jia2012"
KINDS = ("uint8C1", "uint8C4")
FILTERS = Cases("laplace", types=KINDS)
AT_ONE_SIZE = Cases("laplace", types=KINDS, sizes=("2560x2560",))
COPIES = Cases("bandwidth", ("copy",), caches=("hot", "cold"))
_NPP_DEVICES = "NVIDIA Tesla C1060 and C2050"

_LADDER = LADDERS[NAME]
STEPS = tuple(
    Series(text if place else "basic", label(rung))
    for place, (rung, text) in enumerate(zip(_LADDER.rungs, _LADDER.labels, strict=True))
)
FASTEST = Series("the fastest form", "")


def _over(name: str, number: str, base: Base, text: str, then: tuple[Then, ...]) -> Figure:
    """A figure of the fastest form over a library, which is 1."""
    return Figure(
        name,
        number,
        f"The fastest form by size and kind of image; {base} is 1",
        "relative",
        NAME,
        FILTERS,
        "size",
        (FASTEST,),
        Against(text, then=lambda: list(then)),
        base,
    )


def _npp() -> tuple[Then, ...]:
    ((low, high),) = claimed(NAME, "gain over NPP")
    ((equal, _),) = claimed(NAME, "8UC4 speed over NPP (about equal)")
    return (
        Then(_NPP_DEVICES, "8UC1 and 8UC4, stated as gains in %", 1 + low / 100, 1 + high / 100),
        Then(f"{_NPP_DEVICES}, 8UC4", "about equal", equal, equal),
    )


def _cpu() -> tuple[Then, ...]:
    ((low, high),) = claimed(NAME, "Laplace speed over OpenCV CPU without transfers")
    return (Then("all three devices", "8UC1 and 8UC4", low, high),)


FIGURES = (
    Figure("section-5", "Section 5", "The devices", "devices", suite=NAME),
    Figure(
        "table-1",
        "Table 1",
        "The time of each step",
        "climb",
        NAME,
        AT_ONE_SIZE,
        "step",
        STEPS,
        against=Against("the last step of each device against the first"),
    ),
    Figure(
        "figure-6",
        "Figure 6",
        "Copy bandwidth by vector width and type",
        "widths",
        "bandwidth",
        COPIES,
        "width",
        against=Against("vectors of four against single elements"),
    ),
    _over("figure-7", "Figure 7", "NPP", "OpenCL against NPP", _npp()),
    _over(
        "figure-8", "Figure 8", "CPU library", "OpenCL against OpenCV on the processor, no transfers", _cpu()
    ),
    Figure(
        "steps",
        "Not in the study",
        "OpenCL over CUDA on each of its steps",
        "steps",
        NAME,
        AT_ONE_SIZE,
        "step",
        STEPS,
        Against("OpenCL against CUDA, step by step"),
    ),
)
STUDY = Study(
    NAME,
    "jia2012: the Laplace filter, step by step",
    "Laplace image enhancement optimised on OpenCL, Computer Science (计算机科学) 39(5), 2012",
    FIGURES,
)

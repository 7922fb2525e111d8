"""The figures of pcl: the sum of uint32 by size, on three levels."""

from __future__ import annotations

from harness.variants.axes import label
from harness.variants.ladders import LADDERS
from reports.studies.claims import claimed
from reports.studies.model import Against, Base, Cases, Figure, Series, Study, Then

NAME, K20M, W8000 = "pcl", "NVIDIA Tesla K20M", "AMD FirePro W8000"
SUMS = Cases("reduction", ("sum",), ("uint32",))
_LADDER = LADDERS["pcl"]
_LABELS = tuple(map(label, _LADDER.rungs))

LOCAL, GLOBAL = Series("Local-Stride", _LABELS[1]), Series("Global-Stride", _LABELS[2])
NAIVE = Series("Naive", _LABELS[2])
DIVERGENCE_FREE, UNROLLED = Series("Divergence-Free", _LABELS[3]), Series("Completely-Unroll", _LABELS[4])
WHOLE = Series("all three levels", _LABELS[-1])


def _stated(item: str, quantity: str, *devices: str) -> list[Then]:
    """What the study states of a figure, a range a device."""
    return [
        Then(device, "by size", *span) for device in devices for span in claimed(NAME, quantity, item, device)
    ]


def _over(name: str, number: str, base: Base, text: str, quantity: str, *devices: str) -> Figure:
    """A figure of the whole over a library, which is 1."""
    return Figure(
        name,
        number,
        f"The whole reduction by size; the {base} is 1",
        "relative",
        NAME,
        SUMS,
        "size",
        (WHOLE,),
        Against(text, then=lambda: _stated(number[:8].lower(), quantity, *devices)),
        base,
    )


FIGURES = (
    Figure("table-1", "Table 1", "The devices", "devices", suite=NAME),
    _over(
        "figure-4",
        "Figure 4",
        "CPU library",
        "the whole against the CPU library",
        "sum speed over OpenCV CPU",
        K20M,
        W8000,
    ),
    Figure(
        "figures-5-6",
        "Figures 5 and 6",
        "The CUDA libraries, the OpenCL libraries and this, by size",
        "times",
        NAME,
        SUMS,
        "size",
        (WHOLE, Series("Global-Stride", _LABELS[2], drawn=False)),
        Against("the whole against Global-Stride alone", (("all three levels", "Global-Stride"),)),
        libraries=True,
    ),
    _over(
        "figure-5-cuda",
        "Figure 5, over the CUDA library",
        "CUDA library",
        "the whole against the CUDA library",
        "sum speed over OpenCV CUDA",
        K20M,
    ),
    _over(
        "figure-5-opencl",
        "Figure 5, over the OpenCL library",
        "OpenCL library",
        "the whole against the OpenCL library",
        "sum speed over OpenCV OpenCL",
        K20M,
    ),
    Figure(
        "figure-7",
        "Figure 7",
        "Inside a work-item: Global-Stride and Local-Stride",
        "times",
        NAME,
        SUMS,
        "size",
        (LOCAL, GLOBAL),
        Against("Global-Stride against Local-Stride", (("Global-Stride", "Local-Stride"),)),
    ),
    Figure(
        "figure-8",
        "Figure 8",
        "Inside a work-group: Naive, Divergence-Free, Completely-Unroll",
        "times",
        NAME,
        SUMS,
        "size",
        (NAIVE, DIVERGENCE_FREE, UNROLLED),
        Against("Completely-Unroll against Naive", (("Completely-Unroll", "Naive"),)),
    ),
    Figure(
        "figures-9-10",
        "Figures 9 and 10",
        "Global-Stride alone and all three levels",
        "times",
        NAME,
        SUMS,
        "size",
        (GLOBAL, WHOLE),
        Against("all three levels against Global-Stride alone", (("all three levels", "Global-Stride"),)),
    ),
    Figure(
        "steps",
        "Not in the study",
        "OpenCL over CUDA on each of its steps",
        "steps",
        NAME,
        SUMS,
        "step",
        tuple(
            Series(text if place else "base", variant)
            for place, (text, variant) in enumerate(zip(_LADDER.labels, _LABELS, strict=True))
        ),
        Against("OpenCL against CUDA, step by step"),
    ),
)
STUDY = Study(
    NAME,
    "pcl: the sum of uint32, step by step and by size",
    "PCL-Reduction, cross-platform OpenCL reduction, Computer Science (计算机科学)",
    FIGURES,
)

"""The figures and tables of yan2011: minMax by type, in a buffer and in an image, step by step."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.variants.axes import ReductionVariant, label
from harness.variants.ladders import LADDERS
from reports.published import published
from reports.studies.claims import before_and_after, claimed, numbers
from reports.studies.model import Against, Cases, Figure, Printed, Series, Study, Then

NAME, HD5850, C2050 = "yan2011", "ATI Radeon HD 5850", "NVIDIA Tesla C2050"
TYPES = ("uint8", "int8", "uint16", "int16", "int32", "float32", "float64")
SIZES = ("1280x1280", "1280x2560", "2560x2560")
ALL = Cases("reduction", ("minmax",), TYPES, SIZES)
LARGEST = Cases("reduction", ("minmax",), TYPES, SIZES, largest=True)

_HALF: dict[str, Any] = {"tree": "half_store"}
_FEW: dict[str, Any] = {**_HALF, "groups": 2, "finish": "host"}
_BUILTIN: dict[str, Any] = {**_FEW, "compare": "builtin"}


def _buffer(name: str, width: int, drawn: bool = True, **axes: Any) -> Series:
    return Series(name, label(ReductionVariant(vector_width=width, **axes)), drawn)


def _image(name: str, drawn: bool = True, **axes: Any) -> Series:
    return Series(name, label(ReductionVariant(storage="image", vector_width=4, **axes)), drawn)


def _forms(text: str, drawn: bool = True, **axes: Any) -> tuple[Series, ...]:
    """The forms that the figures from 5 on draw: vectors of 4, 8 and 16 from a buffer, and an image."""
    buffers = [_buffer(f"width {width}{text}", width, drawn, **axes) for width in (4, 8, 16)]
    return (*buffers, _image(f"Image{text}", drawn, **axes))


def _pairs(after: str, before: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (f"{form}{after}", f"{form}{before}") for form in ("width 4", "width 8", "width 16", "Image")
    )


def _of_bandwidth() -> list[Printed]:
    """Table 4 as shares of the bandwidth that the study measured on its device."""
    devices = published("devices")
    row = devices[(devices["paper"] == NAME) & (devices["device"] == HD5850)]
    measured = float(row["measured_bandwidth_gb_s"].iloc[0])
    times = numbers("yan2011_table3_hd5850_time")
    return [
        Printed(
            HD5850, kind, shape, 100 * rate / measured,
            f"{times[shape, kind]:g} us, {rate:g} GB/s of {measured:g}",
        )
        for (shape, kind), rate in numbers("yan2011_table4_hd5850_bandwidth").items()
    ]  # fmt: skip


def _over_cuda() -> list[Printed]:
    """Tables 5 and 6 as speeds over OpenCV's CUDA."""
    times, rates = numbers("yan2011_table5_c2050_time"), numbers("yan2011_table6_c2050_bandwidth")
    return [
        Printed(
            f"{C2050}: OpenCV's CUDA = 1", kind, name, times["cuda", kind] / times[row, kind],
            f"{times[row, kind]:g} us, {rates[row, kind]:g} GB/s; CUDA {times['cuda', kind]:g} us",
        )
        for row, name in (("opencl_buffer", "OpenCL, Buffer"), ("opencl_image", "OpenCL, Image"))
        for kind in TYPES
        if (row, kind) in times
    ]  # fmt: skip


def _conflicts() -> list[Printed]:
    table = numbers("yan2011_table1_bank_conflict")
    return [
        Printed(HD5850, kind, f"width {width}", lost, f"{lost:g} %") for (width, kind), lost in table.items()
    ]


def _gain() -> list[Then]:
    ((low, high),) = claimed(NAME, "gain of built-in min and max for 8/16-bit types and float64 width 16")
    return [Then(HD5850, "8- and 16-bit types, float64", 1 + low / 100, 1 + high / 100)]


def _inverse(quantity: str, of: str) -> list[Then]:
    """A published ratio of times as a ratio of speeds."""
    ((low, high),) = claimed(NAME, quantity)
    return [Then(HD5850, of, 1 / high, 1 / low)]


_ratio = partial(before_and_after, NAME, HD5850)

FIGURES = (
    Figure(
        "table-1",
        "Table 1",
        "Kernel time lost to bank conflicts of the local memory",
        "nothing",
        printed=_conflicts,
        why_not="Run files hold no profiler's counters of bank conflicts. Figure 5 shows what fewer bring.",
    ),
    Figure("table-2", "Table 2", "The devices", "devices", suite=NAME),
    Figure(
        "figure-3",
        "Figure 3",
        "Contiguous reads, one element a work-item: Buffer and Image",
        "times",
        NAME,
        LARGEST,
        series=(_buffer("Buffer", 1), _image("Image")),
        against=Against(
            "Image against Buffer",
            (("Image", "Buffer"),),
            lambda: _inverse("int32 image time over int32 buffer time", "int32"),
        ),
    ),
    Figure(
        "figure-4",
        "Figure 4",
        "Vectors of 4, 8 and 16 elements from a buffer, beside the image",
        "times",
        NAME,
        LARGEST,
        series=(_buffer("width 1", 1), *_forms("")),
        against=Against(
            "vectors of 16 against single elements",
            (("width 16", "width 1"),),
            lambda: _ratio(
                (
                    "uint8, at least",
                    "uint8 time before vectorisation",
                    "uint8 time after vectorisation (upper bound)",
                )
            ),
        ),
    ),
    Figure(
        "figure-5",
        "Figure 5",
        "Half store: only the upper half of a group writes local memory",
        "times",
        NAME,
        LARGEST,
        series=(*_forms(", half store", **_HALF), *_forms("", drawn=False)),
        against=Against(
            "half store against a tree that stores all",
            _pairs(", half store", ""),
            lambda: _ratio(
                (
                    "int32, width 4",
                    "int32 width 4 time before half-store",
                    "int32 width 4 time after half-store",
                ),
                (
                    "uint8, width 16",
                    "uint8 width 16 time before half-store",
                    "uint8 width 16 time after half-store",
                ),
                ("Image", "image time before half-store", "image time after half-store"),
            ),
        ),
    ),
    Figure(
        "figure-7",
        "Figure 7",
        "As many groups as compute units, the host finishes",
        "times",
        NAME,
        LARGEST,
        series=(
            *_forms(", 1 group a unit", **{**_FEW, "groups": 1}),
            *_forms(", half store", False, **_HALF),
        ),
        against=Against(
            "one group a compute unit against as many as the source needs",
            _pairs(", 1 group a unit", ", half store"),
        ),
    ),
    Figure(
        "figure-8",
        "Figure 8",
        "Twice as many groups as compute units, the host finishes",
        "times",
        NAME,
        LARGEST,
        series=(
            *_forms(", 2 groups a unit", **_FEW),
            _buffer("width 8, 2 groups a unit, relaunch", 8, tree="half_store", groups=2),
            _buffer("width 8, 2 groups a unit, atomic", 8, tree="half_store", groups=2, finish="atomic"),
            *_forms(", half store", False, **_HALF),
        ),
        against=Against(
            "two groups a compute unit against as many as the source needs",
            _pairs(", 2 groups a unit", ", half store"),
            lambda: _ratio(
                (
                    "uint8, width 16 before and 8 after",
                    "uint8 width 16 time after half-store",
                    "uint8 width 8 time with 36 work-groups",
                )
            ),
        ),
    ),
    Figure(
        "figures-9-10",
        "Figures 9 and 10",
        "Built-in min and max in place of comparison operators",
        "times",
        NAME,
        LARGEST,
        series=(*_forms(", built-in", **_BUILTIN), *_forms(", 2 groups a unit", False, **_FEW)),
        against=Against(
            "built-in min and max against operators", _pairs(", built-in", ", 2 groups a unit"), _gain
        ),
    ),
    Figure(
        "tables-3-4",
        "Tables 3 and 4",
        "The chosen form by shape and type: time, and share of own bandwidth",
        "shares",
        NAME,
        ALL,
        series=(_buffer("36 groups x 256, width 8, Buffer", 8, **_BUILTIN),),
        against=Against("share of the device's own measured bandwidth"),
        printed=_of_bandwidth,
    ),
    Figure(
        "tables-5-6",
        "Tables 5 and 6",
        "Buffer, Image and the CUDA library by type; the CUDA library is 1",
        "relative",
        NAME,
        LARGEST,
        base="CUDA library",
        series=(
            _buffer("Buffer", 8, group_size=512, **_BUILTIN),
            _image("Image", group_size=512, **_BUILTIN),
        ),
        against=Against(
            "OpenCL against the CUDA library",
            then=lambda: [Then(C2050, each.x, each.y, each.y) for each in _over_cuda()],
        ),
        printed=_over_cuda,
    ),
    Figure(
        "steps",
        "Not in the study",
        "OpenCL over CUDA on each of its steps, largest size",
        "steps",
        NAME,
        LARGEST,
        "step",
        series=tuple(
            Series(f"{where}{text}" if place else where.strip(": "), label(rung))
            for ladder, where in (("yan2011", "Buffer: "), ("yan2011_image", "Image: "))
            for place, (rung, text) in enumerate(
                zip(LADDERS[ladder].rungs, LADDERS[ladder].labels, strict=True)
            )
        ),
        against=Against("OpenCL against CUDA, step by step"),
    ),
)
STUDY = Study(
    NAME,
    "yan2011: minMax, step by step",
    "Reduction Algorithm Optimization Based on the OpenCL, Journal of Software 22, Suppl. 2, 2011",
    FIGURES,
)

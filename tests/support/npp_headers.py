"""The prototypes of NPP's filters, and a fake of these functions on host memory that callers must fit."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from backends.libraries.npp_functions import Context, Point, Size
from harness.problems import Array

_INTEGERS, _FLOAT = {"8u": "uint8", "16u": "uint16", "16s": "int16"}, {"32f": "float32"}
_TYPES = {**_INTEGERS, **_FLOAT}
_LAPLACE = {name: dtype for name, dtype in _TYPES.items() if name != "16u"}
_READ, _AROUND, _WRITTEN = "T* int", "NppiSize NppiPoint", "T* int NppiSize"
_COPY = f"{_READ} NppiSize {_WRITTEN} int int"

_FAMILIES = (
    ("nppiFilter", _INTEGERS, (1, 3, 4), f"{_READ} {_WRITTEN} Npp32s* NppiSize NppiPoint int"),
    ("nppiFilter", _FLOAT, (1, 3, 4), f"{_READ} {_WRITTEN} Npp32f* NppiSize NppiPoint"),
    (
        "nppiFilterBorder",
        _INTEGERS,
        (1, 3, 4),
        f"{_READ} {_AROUND} {_WRITTEN} Npp32s* NppiSize NppiPoint int NppiBorderType",
    ),
    (
        "nppiFilterBorder",
        _FLOAT,
        (1, 3, 4),
        f"{_READ} {_AROUND} {_WRITTEN} Npp32f* NppiSize NppiPoint NppiBorderType",
    ),
    ("nppiFilterLaplace", _LAPLACE, (1, 3, 4), f"{_READ} {_WRITTEN} NppiMaskSize"),
    (
        "nppiFilterLaplaceBorder",
        _LAPLACE,
        (1, 3, 4),
        f"{_READ} {_AROUND} {_WRITTEN} NppiMaskSize NppiBorderType",
    ),
    ("nppiCopyConstBorder", _TYPES, (1,), f"{_COPY} T"),
    ("nppiCopyConstBorder", _TYPES, (3, 4), f"{_COPY} T[C]"),
    ("nppiCopyWrapBorder", _TYPES, (1, 3, 4), _COPY),
)
"""What, for which types and channels, and the types of its arguments but the last, the context: T is the
image's type, C its channels. As in nppi_filtering_functions.h and nppi_data_exchange_and_initialization.h of
nvidia-npp 13.2, but for const.
"""


def _prototypes() -> Iterator[tuple[str, tuple[str, ...]]]:
    for what, types, channels, arguments in _FAMILIES:
        for suffix in types:
            for count in channels:
                typed = re.sub(r"\bT\b", f"Npp{suffix}", arguments).replace("[C]", f"[{count}]")
                yield f"{what}_{suffix}_C{count}R_Ctx", (*typed.split(), "NppStreamContext")


PROTOTYPES = dict(_prototypes())
"""The types of the arguments of every function that the backend may call for a filter."""


def of_header(text: str) -> dict[str, tuple[str, ...]]:
    """The prototypes in the text of a header, written as those here."""
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found = re.finditer(r"NppStatus\s+(\w+)\s*\(([^)]*)\)\s*;", bare)
    return {match[1]: tuple(map(_type, match[2].split(","))) for match in found}


def _type(argument: str) -> str:
    """The type of ``const Npp8u * pSrc``: ``Npp8u*``. NPP writes int and Npp32s for the same."""
    words = re.findall(r"\w+|\*|\[\d+\]", argument.replace("const ", ""))
    kind = "int" if words[0] == "Npp32s" and "*" not in words else words[0]
    return kind + "".join(word for word in words[1:] if not word[0].isalpha())


_MASK_3X3, _REPLICATE = 200, 2
_PASSED: dict[str, Any] = {
    "int": ctypes.c_int,
    "NppiBorderType": ctypes.c_int,
    "NppiMaskSize": ctypes.c_int,
    "NppiSize": Size,
    "NppiPoint": Point,
    "NppStreamContext": Context,
    "Npp8u": ctypes.c_ubyte,
    "Npp16u": ctypes.c_ushort,
    "Npp16s": ctypes.c_short,
    "Npp32f": ctypes.c_float,
}


class FakeNppFilters:
    """NPP's filters and copies on host memory. A call that does not fit the prototype fails."""

    def __init__(self) -> None:
        self.called: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., int]:
        wanted = PROTOTYPES[name]

        def function(*given: Any) -> int:
            self.called.append(name)
            assert len(given) == len(wanted), name
            for value, kind in zip(given, wanted, strict=True):
                assert isinstance(value, _passed(kind)), (name, kind, value)
            what, suffix, channels, _ = re.split(r"_C?|R_", name)
            run = _copy if what.startswith("nppiCopy") else _filter
            run(what, _TYPES[suffix], int(channels), list(given))
            return 0

        function.__name__ = name
        return function


def _passed(kind: str) -> type[Any]:
    """What ctypes passes for an argument of this type."""
    if kind.endswith("*"):
        return ctypes.c_void_p
    base, _, count = kind.rstrip("]").partition("[")
    passed: type[Any] = _PASSED[base] * int(count) if count else _PASSED[base]
    return passed


def _rows(pointer: int, step: int, height: int, width: int, channels: int, dtype: str) -> Array:
    """Memory as the pixels of an image."""
    item = np.dtype(dtype).itemsize
    nbytes = (height - 1) * step + width * channels * item
    raw = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(pointer))
    whole = raw[: nbytes // item * item].view(dtype)
    shape, strides = (height, width, channels), (step, channels * item, item)
    return np.lib.stride_tricks.as_strided(whole, shape, strides)


def _copy(what: str, dtype: str, channels: int, given: list[Any]) -> None:
    source, step, size, target, target_step, whole, top, left, *value, _ = given
    assert (top.value, left.value) == (1, 1)
    assert (whole.width, whole.height) == (size.width + 2, size.height + 2)
    image = _rows(source.value, step.value, size.height, size.width, channels, dtype)
    around = ((1, 1), (1, 1), (0, 0))
    if what == "nppiCopyWrapBorder":
        larger = np.pad(image, around, mode="wrap")
    else:
        outside = value[0].value if channels == 1 else list(value[0])
        larger = np.empty((size.height + 2, size.width + 2, channels), dtype)
        larger[...] = outside
        larger[1:-1, 1:-1] = image
    _rows(target.value, target_step.value, whole.height, whole.width, channels, dtype)[...] = larger


def _filter(what: str, dtype: str, channels: int, given: list[Any]) -> None:
    source, step, *rest, context = given
    assert context.stream == 77
    if what.endswith("Border"):
        whole, offset, target, target_step, region, *mask, border = rest
        assert border.value == _REPLICATE
    else:
        target, target_step, region, *mask = rest
        # This one function repeats the border of what it filters; the others read on around it.
        outside = 0 if (what, dtype, channels) == ("nppiFilter", "float32", 1) else 1
        whole = Size(region.width + 2 * outside, region.height + 2 * outside)
        offset = Point(outside, outside)
    padded = _with_surroundings(source.value, step.value, whole, offset, region, channels, dtype)
    total = _weighted(padded.astype("f8"), _weights(what, dtype, mask))
    if dtype != "float32":
        info = np.iinfo(dtype)
        total = total.clip(info.min, info.max)
    out = _rows(target.value, target_step.value, region.height, region.width, channels, dtype)
    out[...] = total.astype(dtype)


def _with_surroundings(
    pointer: int, step: int, whole: Size, offset: Point, region: Size, channels: int, dtype: str
) -> Array:
    """The part of an image that ``pointer`` names, and a pixel more on each side: the image's own where it
    has one, else the nearest. The part begins ``offset`` pixels into the image of size ``whole``.
    """
    assert 0 <= offset.x <= whole.width - region.width
    assert 0 <= offset.y <= whole.height - region.height
    first = pointer - offset.y * step - offset.x * channels * np.dtype(dtype).itemsize
    image = _rows(first, step, whole.height, whole.width, channels, dtype)
    larger = np.pad(image, ((1, 1), (1, 1), (0, 0)), mode="edge")
    return larger[offset.y :, offset.x :][: region.height + 2, : region.width + 2]


def _weights(what: str, dtype: str, mask: list[Any]) -> Array:
    if "Laplace" in what:
        assert [one.value for one in mask] == [_MASK_3X3]
        return np.array([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]])
    pointer, size, anchor, *divisor = mask
    assert (size.width, size.height, anchor.x, anchor.y) == (3, 3, 1, 1)
    assert [one.value for one in divisor] in ([], [1])
    kind = "float32" if dtype == "float32" else "int32"
    return _rows(pointer.value, 12, 3, 3, 1, kind)[..., 0]


def _weighted(padded: Array, weights: Array) -> Array:
    height, width = padded.shape[0] - 2, padded.shape[1] - 2
    total = np.zeros((height, width, padded.shape[2]))
    for dy in range(3):
        for dx in range(3):
            if weights[dy, dx]:
                total += weights[dy, dx] * padded[dy : dy + height, dx : dx + width]
    return total

"""CV-CUDA's Laplace filter on host memory, with the signatures of its stubs."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from enum import Enum
from types import ModuleType
from typing import Any

import numpy as np

from harness.problems import Array


class Border(Enum):
    """CV-CUDA's borders, each with NumPy's mode of padding."""

    CONSTANT = "constant"
    REPLICATE = "edge"
    REFLECT = "symmetric"
    REFLECT101 = "reflect"
    WRAP = "wrap"


class Tensor:
    """Memory as an image; ``of`` is what was given."""

    def __init__(self, of: dict[str, Any]) -> None:
        self.of = of
        height, width, channels = of["shape"]
        row, pixel, item = of["strides"]
        dtype = np.dtype(of["typestr"])
        assert (pixel, item) == (channels * dtype.itemsize, dtype.itemsize)
        assert row >= width * pixel
        nbytes = (height - 1) * row + width * pixel
        raw = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(of["data"][0]))
        self.image = np.lib.stride_tricks.as_strided(raw.view(dtype), of["shape"], of["strides"])


def as_tensor(buffer: Any, layout: str | None = None) -> Tensor:
    """An image, of what has CUDA's array interface."""
    assert layout == "HWC"
    return Tensor(buffer.__cuda_array_interface__)


def as_stream(arg: int) -> str:
    """A stream by its handle."""
    return f"stream {arg}"


def laplacian_into(
    dst: Tensor,
    src: Tensor,
    ksize: int,
    scale: float = 1.0,
    border: Border = Border.CONSTANT,
    *,
    stream: str | None = None,
) -> Tensor:
    """Filters, and saturates."""
    assert stream == "stream 77"
    assert isinstance(border, Border)
    if src.image.size == 1 and src.image.flat[0] == 13:
        raise RuntimeError("NVCV_ERROR_INTERNAL")
    total = sum(_terms(src.image, {1: (-4, 1, 0), 3: (-8, 0, 2)}[ksize], border)) * scale
    if src.image.dtype.kind != "f":
        info = np.iinfo(src.image.dtype)
        total = total.clip(info.min, info.max)
    dst.image[...] = total.astype(dst.image.dtype)
    return dst


def _terms(image: Array, coefficients: tuple[int, int, int], border: Border) -> Iterator[Any]:
    height, width = image.shape[:2]
    mode: Any = border.value
    padded = np.pad(image.astype("f8"), ((1, 1), (1, 1), (0, 0)), mode=mode)
    for dy in range(3):
        for dx in range(3):
            weight = coefficients[(dy != 1) + (dx != 1)]
            if weight:
                yield weight * padded[dy : dy + height, dx : dx + width]


def module() -> ModuleType:
    """What ``import cvcuda`` gives."""
    made = ModuleType("cvcuda")
    for each in (Border, Tensor, as_tensor, as_stream, laplacian_into):
        setattr(made, each.__name__, each)
    return made

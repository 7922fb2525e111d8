"""The 3x3 Laplace filter of an image, and the sharpened image made with it (jia2012)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import field
from numbers import Integral, Real
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import PlainSerializer, PlainValidator, model_validator

from harness.checked import Text, Whole, checked, one_of
from harness.problems.base import Array, Positive, ProblemBase, fitting
from harness.problems.dtypes import DTYPES, Dtype
from harness.problems.stripes import STRIPE_BYTES, by_stripes

MASKS: dict[str, tuple[int, int, int]] = {
    "four": (-4, 1, 0),
    "eight": (-8, 1, 1),
    "four_negated": (4, -1, 0),
    "eight_negated": (8, -1, -1),
    "diagonal": (-8, 0, 2),
}
"""Centre, edge and corner of each mask. four, eight: jia2012; diagonal: OpenCV's Laplacian with ksize 3."""

BORDERS = ("constant", "replicate", "reflect", "reflect_101", "wrap")
"""OpenCV's names. What jia2012 calls Reflect takes the opposite side of the image and is ``wrap``."""

OUTPUTS = ("laplacian", "sharpened")

IMAGE_DTYPES = ("uint8", "uint16", "int16", "float32")

PITCH_ALIGNMENT = 128
"""Bytes. Every packed row starts at a multiple of this, as with cudaMallocPitch: wide loads are aligned."""

_PAD_MODE = {
    "constant": "constant",
    "replicate": "edge",
    "reflect": "symmetric",
    "reflect_101": "reflect",
    "wrap": "wrap",
}


def fitting_border_value(value: float, dtype: str) -> float:
    """The border value of images of ``dtype``, as a float.

    Raises:
        ValueError: if the dtype does not hold it: wrapped or rounded it is another one.
    """
    if DTYPES[dtype].is_float:
        highest = float(np.finfo(dtype).max)
        # Infinity and NaN are values of the dtype.
        is_finite = isinstance(value, Integral) or math.isfinite(value)
        if is_finite and abs(value) > highest:
            raise ValueError(
                f"border_value {value!r} is outside {dtype}'s range of {-highest:g} to {highest:g}"
            )
    else:
        info = np.iinfo(dtype)
        if not (info.min <= value <= info.max and value == int(value)):
            raise ValueError(
                f"border_value {value!r} is no integer in {dtype}'s range of {info.min} to {info.max}"
            )
    # Of the two zeros one.
    return float(value) + 0.0


MaskName = Annotated[Text, one_of("mask", MASKS)]
BorderName = Annotated[Text, one_of("border", BORDERS)]
OutputName = Annotated[Text, one_of("output", OUTPUTS)]
ImageDtypeName = Annotated[Text, one_of("dtype of an image", IMAGE_DTYPES)]
Channels = Annotated[Whole, one_of("number of channels", (1, 3, 4))]

_NOT_FINITE = ("nan", "inf", "-inf")
"""As text, for strict JSON has no such numbers."""


def _number(value: Any) -> Any:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ValueError(f"border_value {value!r} is no number")
    return value


def _written(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


@checked
class Laplace(ProblemBase):
    """The Laplace filter of a ``height`` x ``width`` image of 1, 3 or 4 interleaved ``channels``.

    ``output`` is ``laplacian`` (L, saturated to the image's dtype) or ``sharpened`` (f - L for a negative
    centre of the mask, f + L for a positive one, saturated once). ``border_value`` is what lies outside with
    the ``constant`` border; other borders ignore it, and it is 0 then. Images have shape (height, width) or
    (height, width, channels).
    """

    kind: Literal["laplace"] = field(default="laplace", kw_only=True, repr=False)
    mask: MaskName
    border: BorderName
    output: OutputName
    dtype: ImageDtypeName
    height: Positive
    width: Positive
    channels: Channels = 1
    border_value: Annotated[float, PlainValidator(_number), PlainSerializer(_written)] = field(
        default=0.0, compare=False
    )
    outside: str = field(init=False, repr=False)
    """The border value as it is compared: NaN is equal to NaN, for such problems are equal."""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        is_text = isinstance(data, dict) and data.get("border_value") in _NOT_FINITE
        return {**data, "border_value": float(data["border_value"])} if is_text else data

    def __post_init__(self) -> None:
        fitting((self.height, self.width))
        border_value = (
            fitting_border_value(self.border_value, self.dtype) if self.border == "constant" else 0.0
        )
        object.__setattr__(self, "border_value", border_value)
        object.__setattr__(self, "outside", border_value.hex())

    @property
    def element(self) -> Dtype:
        """The row of the image's element type."""
        return DTYPES[self.dtype]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the image and of the result."""
        return (self.height, self.width) if self.channels == 1 else (self.height, self.width, self.channels)

    @property
    def row_elements(self) -> int:
        """Elements of one row that are pixels."""
        return self.width * self.channels

    @property
    def pitch(self) -> int:
        """Elements from one packed row to the next."""
        row_bytes = self.row_elements * self.element.itemsize
        return -(-row_bytes // PITCH_ALIGNMENT) * PITCH_ALIGNMENT // self.element.itemsize

    @property
    def coefficients(self) -> tuple[int, int, int]:
        """Centre, edge and corner of the one mask that gives the output: sharpening folds into it."""
        centre, edge, corner = MASKS[self.mask]
        if self.output == "laplacian":
            return centre, edge, corner
        sign = -1 if centre < 0 else 1
        return 1 + sign * centre, sign * edge, sign * corner

    @property
    def weights(self) -> tuple[tuple[int, int, int], ...]:
        """The same mask as its three rows."""
        centre, edge, corner = self.coefficients
        return (corner, edge, corner), (edge, centre, edge), (corner, edge, corner)

    @property
    def label(self) -> str:
        border = f"{self.border}({self.border_value:g})" if self.border == "constant" else self.border
        return f"{self.output} {self.mask} {border} {self.dtype}C{self.channels} {self.width}x{self.height}"

    @property
    def source_bytes(self) -> int:
        return self.height * self.row_elements * self.element.itemsize

    @property
    def packed_bytes(self) -> int:
        return self.height * self.pitch * self.element.itemsize

    @property
    def source_key(self) -> Hashable:
        return self.kind, self.dtype, self.shape

    @property
    def bytes_moved(self) -> int:
        return 2 * self.source_bytes

    @property
    def accumulator(self) -> str:
        return "float32" if self.element.is_float else "int32"

    def make_source(self, seed: int) -> Array:
        """A random image over the type's range (floats: -1 to 1); the suites use a photograph instead."""
        rng = np.random.default_rng(seed)
        if self.element.is_float:
            return rng.uniform(-1, 1, self.shape).astype(self.dtype)
        info = np.iinfo(self.dtype)
        return rng.integers(info.min, info.max, self.shape, dtype=self.dtype, endpoint=True)

    def pack(self, array: Array) -> Array:
        """The image in rows of :attr:`pitch` elements, shape (height, pitch), the padding zero."""
        rows = array.reshape(self.height, self.row_elements)
        if self.pitch == self.row_elements:
            return np.ascontiguousarray(rows)
        packed = np.zeros((self.height, self.pitch), self.dtype)
        packed[:, : self.row_elements] = rows
        return packed

    def finish(self, raw: Array) -> Array:
        """The image from its packed rows: the padding cut off."""
        rows = raw.reshape(self.height, self.pitch)[:, : self.row_elements]
        return np.ascontiguousarray(rows).reshape(self.shape)

    def reference(self, array: Array) -> Array:
        """Pad by one pixel, add nine shifted images, saturate; in int16 (of bytes), int32 or float64, which
        hold every sum. By stripes of rows.
        """
        wide = np.dtype(np.float64 if self.element.is_float else f"int{16 * self.element.itemsize}")
        mode = _PAD_MODE[self.border]
        border = array.dtype.type(self.border_value)
        options = {"constant_values": border} if mode == "constant" else {}
        image: Array = array.reshape(self.height, self.width, self.channels)
        # NumPy mirrors a side of one pixel onto itself for every mode but "constant", as the kernels do.
        pad: Callable[..., Array] = np.pad  # Its overloads know no mode in a variable.
        padded = pad(image, ((1, 1), (1, 1), (0, 0)), mode=mode, **options)
        result = np.empty_like(image)

        def fill(top: int, bottom: int) -> None:
            result[top:bottom] = self._filter(padded[top : bottom + 2].astype(wide), bottom - top)

        by_stripes(fill, self.height, max(1, STRIPE_BYTES // (self.row_elements * wide.itemsize)))
        return result.reshape(self.shape)

    def _filter(self, padded: Array, rows: int) -> Array:
        centre, edge, corner = self.coefficients
        total: Array = centre * padded[1:-1, 1:-1]
        for weight, places in (
            (edge, ((0, 1), (1, 0), (1, 2), (2, 1))),
            (corner, ((0, 0), (0, 2), (2, 0), (2, 2))),
        ):
            if weight:
                a, b, c, d = (padded[dy : dy + rows, dx : dx + self.width] for dy, dx in places)
                neighbours = a + b
                neighbours += c
                neighbours += d
                if weight != 1:
                    neighbours *= weight
                total += neighbours
        if self.element.is_float:
            return total
        info = np.iinfo(self.dtype)
        return np.clip(total, info.min, info.max, out=total)

    def tolerance(self, array: Array) -> float:
        """Largest allowed absolute error: 0 for integers; float32: of nine rounded products and sums."""
        if not self.element.is_float:
            return 0.0
        centre, edge, corner = map(abs, self.coefficients)
        border = abs(self.border_value) if math.isfinite(self.border_value) else 0.0
        largest = max([border, *(_largest(rows) for rows in array)])
        return 9 * float(np.finfo(self.dtype).eps) * (centre + 4 * edge + 4 * corner) * largest


def _largest(values: Array) -> float:
    """The largest finite magnitude, 0 of none."""
    return float(np.abs(values).max(where=np.isfinite(values), initial=0.0))

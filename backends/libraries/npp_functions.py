"""NPP's functions as data: names, order of arguments, types of results; its structures for ctypes.

An image function takes the source, the bytes of a row and the size; a signal function the source and its
length. Results and scratch memory follow, in an order that differs, and the context comes last.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.problems import Array, Laplace


class Size(ctypes.Structure):
    """NppiSize."""

    _fields_ = (("width", ctypes.c_int), ("height", ctypes.c_int))


class Point(ctypes.Structure):
    """NppiPoint."""

    _fields_ = (("x", ctypes.c_int), ("y", ctypes.c_int))


class Context(ctypes.Structure):
    """NppStreamContext."""

    _fields_ = (
        ("stream", ctypes.c_void_p),
        ("device", ctypes.c_int),
        ("multiprocessors", ctypes.c_int),
        ("max_threads_per_multiprocessor", ctypes.c_int),
        ("max_threads_per_block", ctypes.c_int),
        ("shared_memory_per_block", ctypes.c_size_t),
        ("capability_major", ctypes.c_int),
        ("capability_minor", ctypes.c_int),
        ("stream_flags", ctypes.c_uint),
        ("workspace", ctypes.c_uint),
    )


@dataclass(frozen=True, slots=True)
class Function:
    """One reduction of NPP.

    ``results`` are NumPy's names of what it writes; ``scratch_last``: the scratch memory follows the results;
    ``extra``: further arguments between them.
    """

    name: str
    scratch_name: str
    results: tuple[str, ...]
    signal: bool = False
    scratch_last: bool = True
    extra: tuple[tuple[Any, int], ...] = ()

    @property
    def library(self) -> str:
        """The library that has it."""
        return "npps" if self.signal else "nppist"


_IMAGES = {"uint8": "8u", "uint16": "16u", "int16": "16s", "float32": "32f"}
_SIGNALS = {"int16": "16s", "int32": "32s", "float32": "32f", "float64": "64f"}
_MORE_SIGNALS = {**_SIGNALS, "uint8": "8u", "uint16": "16u", "uint32": "32u"}
"""The types of both extremes at once."""


def _image(what: str, suffix: str, *results: str, **order: Any) -> Function:
    return Function(
        f"nppi{what}_{suffix}_C1R_Ctx", f"nppi{what}GetBufferHostSize_{suffix}_C1R_Ctx", results, **order
    )


def _signal(what: str, suffix: str, *results: str) -> Function:
    return Function(f"npps{what}_{suffix}_Ctx", f"npps{what}GetBufferSize_{suffix}_Ctx", results, signal=True)


def _image_reductions() -> Iterator[tuple[tuple[str, str], Function]]:
    for dtype, suffix in _IMAGES.items():
        yield ("min", dtype), _image("Min", suffix, dtype, scratch_last=False)
        yield ("max", dtype), _image("Max", suffix, dtype, scratch_last=False)
        yield ("minmax", dtype), _image("MinMax", suffix, dtype, dtype)
        yield ("sum", dtype), _image("Sum", suffix, "float64", scratch_last=False)
    # Of bytes alone the values that are not zero are one range.
    inside = ((ctypes.c_ubyte, 1), (ctypes.c_ubyte, 255))
    yield ("count_nonzero", "uint8"), _image("CountInRange", "8u", "int32", extra=inside)


def _signal_reductions() -> Iterator[tuple[tuple[str, str], Function]]:
    for dtype, suffix in _SIGNALS.items():
        yield ("min", dtype), _signal("Min", suffix, dtype)
        yield ("max", dtype), _signal("Max", suffix, dtype)
    for dtype, suffix in _MORE_SIGNALS.items():
        yield ("minmax", dtype), _signal("MinMax", suffix, dtype, dtype)
    yield ("sum", "float32"), _signal("Sum", "32f", "float32")
    yield ("sum", "float64"), _signal("Sum", "64f", "float64")


IMAGE_REDUCTIONS = {
    **dict(_image_reductions()),
    ("sum", "uint8"): _image("Sum", "8u64s", "int64", scratch_last=False),
}
"""Of images, by operation and element type."""
SIGNAL_REDUCTIONS = dict(_signal_reductions())
"""Of signals: one row of any length."""

LAPLACE_TYPES = frozenset({"uint8", "int16", "float32"})
"""The types of NPP's own Laplace filter, whose 3x3 mask is eight_negated."""

REPLICATED = frozenset({"replicate", "reflect"})
"""The borders that NPP's filters have themselves: one pixel outside, both are the pixel at the border."""

_COPIES = {"constant": "nppiCopyConstBorder", "wrap": "nppiCopyWrapBorder"}

BORDERS = REPLICATED | _COPIES.keys()
"""The borders that NPP has, in its filters or as a copy of the image."""

_C_TYPES = {
    "uint8": ctypes.c_ubyte,
    "uint16": ctypes.c_ushort,
    "int16": ctypes.c_short,
    "float32": ctypes.c_float,
}


@dataclass(frozen=True, slots=True)
class Filter:
    """How NPP computes a filter: what copies the image into a larger one first (empty where the filter has
    the border itself), and what filters.

    NPP's sharpening filter, nppiFilterSharpenBorder, divides its mask by 8: it is none of ours.
    """

    problem: Laplace

    @property
    def copy(self) -> str:
        """The function that adds the border; empty where none is needed."""
        what = _COPIES.get(self.problem.border, "")
        return what and self._spelled(what)

    @property
    def has_own_mask(self) -> bool:
        """Whether it is NPP's Laplace filter; else a filter with the mask as an array."""
        own = (self.problem.mask, self.problem.output) == ("eight_negated", "laplacian")
        return own and self.problem.dtype in LAPLACE_TYPES

    @property
    def takes_border(self) -> bool:
        """Whether the function that filters is told what lies around; else it reads on, outside of what it
        filters. Where the border was copied the latter does, but NPP 13's for one channel of float32 does
        not read on: seen on an H200.
        """
        return not self.copy or (self.problem.dtype, self.problem.channels) == ("float32", 1)

    @property
    def name(self) -> str:
        """The function that filters."""
        what = "nppiFilterLaplace" if self.has_own_mask else "nppiFilter"
        return self._spelled(f"{what}Border" if self.takes_border else what)

    @property
    def mask(self) -> Array:
        """The mask in the type in which NPP takes it: of integers, integers."""
        kind = np.float32 if self.problem.element.is_float else np.int32
        return np.array(self.problem.weights, kind).ravel()

    @property
    def value(self) -> Any:
        """The pixel outside as the copying function takes it: by value, of several channels an array."""
        kind: Any = _C_TYPES[self.problem.dtype]
        channels = self.problem.channels
        outside = self.problem.border_value
        one = outside if self.problem.element.is_float else int(outside)
        return kind(one) if channels == 1 else (kind * channels)(*(one,) * channels)

    def _spelled(self, what: str) -> str:
        return f"{what}_{_IMAGES[self.problem.dtype]}_C{self.problem.channels}R_Ctx"

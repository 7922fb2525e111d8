"""What every problem offers: its data, its reference, its bytes, its tolerance."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Annotated, Any, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from harness.checked import Text, Whole, one_of
from harness.problems.comparison import Verification, compare
from harness.problems.dtypes import DTYPES

Array = npt.NDArray[Any]


MAX_ELEMENTS = 2**56
"""More than any memory holds, and few enough that their bytes are counted in 64 bits."""

MAX_AXES = 64 if int(np.__version__.partition(".")[0]) >= 2 else 32
"""That an array of NumPy has."""


S = TypeVar("S", bound=Sequence[int])


def fitting(sizes: S) -> S:
    """The sizes of an array's axes.

    Raises:
        ValueError: if they are of more axes or elements than there can be.
    """
    if len(sizes) > MAX_AXES:
        raise ValueError(f"shape {sizes!r}: {len(sizes)} axes; NumPy has at most {MAX_AXES}")
    # An axis of no elements makes no other one smaller.
    if math.prod(size for size in sizes if size) > MAX_ELEMENTS:
        raise ValueError(f"shape {sizes!r}: more than {MAX_ELEMENTS} elements")
    return sizes


Positive = Annotated[Whole, Field(ge=1)]
DtypeName = Annotated[Text, one_of("dtype", DTYPES)]


class ProblemBase(ABC):
    """What is computed. Frozen dataclasses, told apart by ``kind``; equal problems are equal objects."""

    __slots__ = ()

    @property
    @abstractmethod
    def label(self) -> str:
        """Short and unique, as shown in tables: ``minmax int32 2560x2560``."""

    @property
    @abstractmethod
    def source_bytes(self) -> int:
        """Bytes of one source."""

    @property
    def packed_bytes(self) -> int:
        """Bytes that a source takes on the device, with what pads its rows."""
        return self.source_bytes

    @property
    def source_key(self) -> Hashable:
        """Problems with equal keys have equal sources for a seed, packed alike: one copy serves them all."""
        return self

    @property
    @abstractmethod
    def bytes_moved(self) -> int:
        """The fewest bytes that must cross the memory interface: each input read once, each output written
        once.
        """

    @property
    def accumulator(self) -> str:
        """The NumPy name of the type in which our kernels compute: part of what a ratio compares. Several
        names are joined; empty where there is no arithmetic.
        """
        return ""

    @abstractmethod
    def make_source(self, seed: int) -> Array:
        """A random source for this problem; the same for the same seed. Never zeros."""

    def pack(self, array: Array) -> Array:
        """The source as it is laid out on the device: contiguous, padded where the problem says so."""
        return np.ascontiguousarray(array).reshape(-1)

    @abstractmethod
    def reference(self, array: Array) -> Any:
        """The right answer for the unpacked source ``array``, computed on the host in wider types."""

    @abstractmethod
    def finish(self, raw: Array) -> Any:
        """The answer from what a device left in its result buffer: the last, serial step on the host."""

    def tolerance(self, array: Array) -> float:
        """Largest allowed absolute error of an answer for ``array``: 0 where nothing is rounded."""
        return 0.0

    def verify(self, actual: Any, array: Array) -> Verification:
        """Compares an answer with the reference for ``array``."""
        return compare(actual, self.reference(array), self.tolerance(array))

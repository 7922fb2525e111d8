"""The limits of the device: reading and copying memory, with nothing else to do."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from harness.checked import Text, Whole, checked, one_of
from harness.problems.base import MAX_ELEMENTS, Array, DtypeName, ProblemBase
from harness.problems.dtypes import DTYPES, Dtype
from harness.problems.sources import filled

DIRECTIONS = ("read", "copy")
Direction = Annotated[Text, one_of("direction", DIRECTIONS)]


@checked
class Bandwidth(ProblemBase):
    """Reads (``read``) or reads and writes (``copy``) ``size`` elements of ``dtype``.

    The answer of a read is the exclusive or of all 32-bit words, so that a kernel that skips data is found
    out; of a copy, the copied array.
    """

    kind: Literal["bandwidth"] = field(default="bandwidth", kw_only=True, repr=False)
    direction: Direction
    dtype: DtypeName
    size: Annotated[Whole, Field(ge=1, le=MAX_ELEMENTS)]

    @property
    def element(self) -> Dtype:
        """The row of the element type."""
        return DTYPES[self.dtype]

    @property
    def label(self) -> str:
        return f"{self.direction} {self.dtype} {self.size}"

    @property
    def source_bytes(self) -> int:
        return self.size * self.element.itemsize

    @property
    def bytes_moved(self) -> int:
        return self.source_bytes * (2 if self.direction == "copy" else 1)

    def make_source(self, seed: int) -> Array:
        def fill(own: np.random.Generator, part: Array) -> None:
            part[:] = np.frombuffer(own.bytes(part.size), np.uint8)

        raw = filled(np.random.default_rng(seed), np.empty(self.source_bytes, np.uint8), fill)
        return raw.view(self.dtype)

    def reference(self, array: Array) -> Any:
        raw = array.view(np.uint8)
        return raw if self.direction == "copy" else self._checksum(raw)

    def _checksum(self, raw: Array) -> int:
        """The exclusive or of all elements, each cut into words of at most 4 bytes."""
        words = raw.view(f"u{min(4, self.element.itemsize)}")
        return int(np.bitwise_xor.reduce(words))

    def finish(self, raw: Array) -> Any:
        """Folds the work-items' checksums down to the word of the element type; passes a copy through."""
        if self.direction == "copy":
            return raw.view(np.uint8)
        checksum = int(np.bitwise_xor.reduce(raw))
        # A vector load mixes neighbouring small elements into one 32-bit word: fold it back to one element.
        for bits in (16, 8):
            if self.element.itemsize * 8 <= bits:
                checksum = (checksum >> bits) ^ (checksum & (2**bits - 1))
        return checksum

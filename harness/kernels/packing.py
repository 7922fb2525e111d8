"""Packing: what a work-item can compute on words of 32 bits, several elements at a time, or in batches."""

from __future__ import annotations

from harness.problems import Reduction
from harness.problems.dtypes import Dtype

PACKED_OPS = ("min", "max", "minmax", "minmaxloc", "sum", "count_nonzero")
"""The operations that have a piece of kernel for whole words."""

WORD_BYTES = 4


def packs(problem: Reduction) -> bool:
    """Whether there is a packed form of a problem: the operation has one, and its elements share words."""
    return _has_piece(problem) and _shares_words(problem.element)


def violations(problem: Reduction, vector_width: int) -> list[str]:
    """Why ``problem`` cannot be packed in vectors of that width, on any device; empty when it can."""
    found = []
    if not _has_piece(problem):
        found.append(f"packing packed: {problem.op} is computed element by element")
    if not _shares_words(problem.element):
        found.append(f"packing packed: words hold several integers of 8 or 16 bits, not of {problem.dtype}")
    if vector_width * problem.element.itemsize < WORD_BYTES:
        found.append(f"packing packed: {vector_width} of {problem.dtype} do not fill a word of 32 bits")
    return found


def _has_piece(problem: Reduction) -> bool:
    # Words are added up as they are.
    return problem.parts.kernel in PACKED_OPS and not problem.parts.adds_others


def _shares_words(element: Dtype) -> bool:
    return not element.is_float and element.itemsize < WORD_BYTES

"""The functions of OpenCV that its backends time, the same for arrays (the processor) and UMat (OpenCL).

A reduction's source is one row: several functions run over a column many times more slowly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import cv2
import numpy as np

from backends.common.library_backend import Call, field_types, joined
from harness.devices import Array, KnownDeviation
from harness.problems import Laplace, Problem, Reduction

MAX_COLUMNS = 2**31 - 1
"""OpenCV's sizes are of C's int."""

_PROBE = 3 * 2**10
"""Elements: enough for every vectorised path, and a multiple of what one step of it takes (24 seen)."""

_SINCE_5 = frozenset({"uint32", "int64", "uint64", "float16"})
"""Types whose reductions came with OpenCV 5; before, Python's arrays of them were cast or refused."""

BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "replicate": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT,
    "reflect_101": cv2.BORDER_REFLECT_101,
}
"""The borders that OpenCV's filters have."""

_DEPTHS = {"uint16": cv2.CV_16U, "int16": cv2.CV_16S}
"""Types to which OpenCV's filter is slow where it saturates: on a processor to float32, and then to one of
these, is faster. float32 holds every sum of their pixels.
"""

_LAPLACIAN_KSIZE = {"four": 1, "diagonal": 3}
"""The masks that ``cv2.Laplacian`` has; the others take ``cv2.filter2D``, which it calls too."""


def _extremes_and_places(row: Any) -> list[Any]:
    lowest, highest, (lowest_at, _), (highest_at, _) = cv2.minMaxLoc(row)
    return [lowest, highest, lowest_at, highest_at]


_REDUCTIONS: dict[str, Callable[[Any], list[Any]]] = {
    "min": lambda row: [cv2.minMaxLoc(row)[0]],
    "max": lambda row: [cv2.minMaxLoc(row)[1]],
    "minmax": lambda row: list(cv2.minMaxLoc(row)[:2]),
    "minmaxloc": _extremes_and_places,
    "sum": lambda row: [cv2.sumElems(row)[0]],
    "count_nonzero": lambda row: [cv2.countNonZero(row)],
}

IN_FLOAT64 = "in float64: integers are exact while no partial sum passes 2^53"
"""What a record says of sums."""

_NOTES = {
    "sum": f"cv2.sumElems, {IN_FLOAT64}",
    "count_nonzero": "cv2.countNonZero",
}


def lacks_reduction(problem: Reduction) -> str | None:
    """Why OpenCV cannot run this reduction; None when it can."""
    if problem.op not in _REDUCTIONS:
        return f"OpenCV's functions are not used for {problem.op} here"
    if problem.dtype in _SINCE_5 and not hasattr(cv2, "CV_64S"):
        return f"OpenCV {cv2.__version__} has no {problem.dtype}; OpenCV 5 has"
    if problem.dtype in ("int64", "uint64") and problem.op != "count_nonzero":
        return f"OpenCV returns float64, which does not hold every {problem.dtype}"
    if problem.size > MAX_COLUMNS:
        return f"OpenCV's matrices have at most {MAX_COLUMNS} columns, not {problem.size}"
    return _answers_wrongly(problem)


def _answers_wrongly(problem: Reduction) -> str | None:
    """What this version of OpenCV does wrong, found by trying; None where nothing is known."""
    version = f"OpenCV {cv2.__version__}"
    if problem.op == "sum" and not _sums_exactly(problem.dtype, _same_tail(problem.size)):
        added = f"{version} adds some of {problem.size} {problem.dtype}"
        return f"{added} in float32" if problem.element.is_float else f"{added} in 32 bits, which overflow"
    if problem.op == "count_nonzero" and problem.element.itemsize == 8 and not _counts_whole(problem.dtype):
        return f"{version} looks at 32 bits of {problem.dtype} only"
    return None


def _same_tail(size: int) -> int:
    """The length of a short row of which as much is left over by whole vectors as of one of ``size``."""
    return size if size < _PROBE else _PROBE + size % _PROBE


@cache
def _sums_exactly(dtype: str, length: int) -> bool:
    """Whether values add up that do not in a narrower type: the vectorised sum may wrap, and so may the last
    elements, which make no whole vector and are added four at a time.
    """
    if np.dtype(dtype).kind == "f":
        # Of any four neighbours some are lost beside 1 in float32; float64 holds every sum of them.
        tiny = max(2.0**-30, float(np.finfo(dtype).smallest_subnormal))
        rows = [np.resize(np.array([1, tiny, 1, tiny, tiny], dtype), (1, length))]
    else:
        info = np.iinfo(dtype)
        rows = [np.full((1, length), extreme, dtype) for extreme in (info.min, info.max)]
    return all(cv2.sumElems(row)[0] == row.sum(dtype=np.float64) for row in rows)


@cache
def _counts_whole(dtype: str) -> bool:
    """Whether values count whose lower half is zero: in OpenCV 5.0 64-bit integers are cut to 32 bits."""
    return bool(cv2.countNonZero(np.full((1, _PROBE), 2**32, dtype)) == _PROBE)


@cache
def _counts_nan(dtype: str) -> bool:
    """Whether NaN counts, which is not zero: in some builds of OpenCV 4.14 it does not within a vector."""
    length = 2 * _PROBE - 1
    return bool(cv2.countNonZero(np.full((1, length), np.nan, dtype)) == length)


@cache
def _adds_lowest() -> bool:
    """Whether many neighbours of int16's lowest value add up: by IPP's functions for AVX2 they do not."""
    row = np.full((1, 2**16 + 1), np.iinfo(np.int16).min, np.int16)
    return bool(cv2.sumElems(row)[0] == row.sum(dtype=np.float64))


def known_deviations(problem: Problem) -> frozenset[KnownDeviation]:
    """What OpenCV answers otherwise on a processor, but for NaN among extremes; found by trying."""
    if not isinstance(problem, Reduction) or lacks_reduction(problem) is not None:
        return frozenset()
    if problem.op == "count_nonzero" and problem.element.is_float and not _counts_nan(problem.dtype):
        return frozenset({"nan_count"})
    if problem.op == "sum" and problem.dtype == "int16" and not _adds_lowest():
        return frozenset({"overflow"})
    return frozenset()


def lacks_laplace(problem: Laplace) -> str | None:
    """Why OpenCV cannot run this filter; None when it can."""
    if problem.border not in BORDERS:
        return f"OpenCV's filters have no border {problem.border}"
    if problem.border == "constant" and problem.border_value != 0:
        return "OpenCV's filters know no other constant border than 0"
    return None


def note(problem: Problem, general: bool = False) -> str:
    """Which of OpenCV's functions it is, and what to know of it; ``general`` as in :func:`laplace`."""
    if isinstance(problem, Laplace):
        then = "" if general or problem.dtype not in _DEPTHS else "to float32, then cv2.addWeighted"
        return joined("cv2.filter2D" if general or _ksize(problem) is None else "cv2.Laplacian", then)
    assert isinstance(problem, Reduction)
    return _NOTES.get(problem.op, "cv2.minMaxLoc, which finds both extremes and their places")


def between(problem: Laplace) -> Array | None:
    """What a processor is to filter into first (``between`` of :func:`laplace`), if anything."""
    return np.empty(problem.shape, np.float32) if problem.dtype in _DEPTHS else None


def accumulator(problem: Problem) -> str:
    """The type of OpenCV's arithmetic, as far as its documentation or its results tell."""
    if isinstance(problem, Reduction):
        return field_types(problem, total="float64", count="int32")
    return "float32"


def reduction(problem: Reduction, row: Any) -> Call:
    """The call that reduces a source of shape (1, size)."""
    return partial(_REDUCTIONS[problem.op], row)


def laplace(
    problem: Laplace, image: Any, target: Any, general: bool = False, between: Any | None = None
) -> Call:
    """The call that filters an image of the problem's shape into ``target``, of the same shape and type.

    Args:
        problem: the filter.
        image: its source.
        target: its result.
        general: by ``cv2.filter2D`` even where ``cv2.Laplacian`` has the mask.
        between: an image of float32 that the filter writes, before all is rounded and saturated into
            ``target``; none where the filter does so itself.
    """
    border = BORDERS[problem.border]
    ksize = None if general else _ksize(problem)
    depth, result = (-1, target) if between is None else (cv2.CV_32F, between)
    if ksize is not None:
        run = partial(cv2.Laplacian, image, depth, result, ksize, borderType=border)
    else:
        run = partial(cv2.filter2D, image, depth, weights(problem), result, borderType=border)
    if between is None:
        return lambda: [run()]
    # OpenCV's plain conversion to another type is not in its Python module.
    convert = partial(cv2.addWeighted, between, 1.0, between, 0.0, 0.0, target, _DEPTHS[problem.dtype])

    def in_two_steps() -> list[Any]:
        run()
        return [convert()]

    return in_two_steps


def _ksize(problem: Laplace) -> int | None:
    """What ``cv2.Laplacian`` takes for the mask; None where it has not got it."""
    return _LAPLACIAN_KSIZE.get(problem.mask) if problem.output == "laplacian" else None


def weights(problem: Laplace) -> Array:
    """The 3x3 mask, in float32."""
    return np.array(problem.weights, np.float32)

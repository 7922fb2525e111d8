"""The calls of CuPy that its backends time. What they allocate comes from CuPy's pool, which they reuse."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import cupy
import numpy as np

from backends.common.library_backend import Calls, each, field_types
from harness.devices import Array
from harness.problems import Laplace, Reduction
from harness.variants.axes import LibraryVariant

_CALLS = {1: "", 2: "two calls, min and max", 4: "four calls: min, max, argmin and argmax"}
"""What a reader must know of an answer with so many values: CuPy has no function that gives several."""

_MODES = {
    "constant": "constant",
    "replicate": "nearest",
    "reflect": "reflect",
    "reflect_101": "mirror",
    "wrap": "wrap",
}
"""OpenCV's borders by SciPy's names. In CuPy's filters ``wrap`` means ``grid-wrap``, as here."""


def reductions(problem: Reduction, variant: LibraryVariant, arrays: Sequence[Any]) -> Calls:
    """CuPy's reductions. They allocate their result: an ``out`` would cost them a copy."""
    total = np.dtype(problem.total if variant.accumulator == "wide" else problem.dtype)
    functions: dict[str, Callable[[Any], Any]] = {
        "lowest": cupy.min,
        "highest": cupy.max,
        "lowest_at": cupy.argmin,
        "highest_at": cupy.argmax,
        "total": lambda array: cupy.sum(array, dtype=total),
        "product": lambda array: cupy.prod(array, dtype=total),
        "count": cupy.count_nonzero,
    }
    chosen = [functions[name] for name in problem.parts.fields]
    return Calls(
        [partial(each, chosen, array) for array in arrays],
        accumulator=field_types(problem, total=total.name, count="int64"),
        note=_CALLS[len(chosen)],
        calls_per_result=len(chosen),
    )


def filters(problem: Laplace, arrays: Sequence[Any]) -> Calls:
    """``cupyx.scipy.ndimage.correlate``; integers into int32, then clipped and cast: three kernels.

    Integers do not saturate in CuPy's filters. Its ``laplace`` has the mask four alone, adds two filters in
    the image's own type, where integers wrap, and takes channels for a third direction.
    """
    integer = not problem.element.is_float
    run = _Filter(problem)
    return Calls(
        [partial(run, _view(problem, array)) for array in arrays],
        accumulator="float32",
        note="correlate into int32, clip, cast: three kernels" if integer else "correlate, one kernel",
    )


class _Filter:
    """A call of the filter, with the arrays that it writes."""

    def __init__(self, problem: Laplace) -> None:
        from cupyx.scipy.ndimage import correlate

        self._correlate, self._mode = correlate, _MODES[problem.border]
        self._image = cupy.empty(problem.shape, problem.dtype)
        self._wide = self._image if problem.element.is_float else cupy.empty(problem.shape, np.int32)
        self._weights = cupy.asarray(_weights(problem))
        self._outside = _outside(problem)

    def __call__(self, view: Any) -> list[Any]:
        self._correlate(view, self._weights, output=self._wide, mode=self._mode, cval=self._outside)
        if self._wide is not self._image:
            info = np.iinfo(self._image.dtype)
            cupy.clip(self._wide, int(info.min), int(info.max), out=self._wide)
            cupy.copyto(self._image, self._wide, casting="unsafe")
        return [self._image]


def _weights(problem: Laplace) -> Array:
    """The 3x3 mask, with a third axis for channels.

    In float32, in which CuPy then computes: exact for all our integers (24 bits), where integer weights would
    make it compute in float64.
    """
    mask = np.array(problem.weights, np.float32)
    return mask if problem.channels == 1 else mask[:, :, np.newaxis]


def _outside(problem: Laplace) -> float:
    """The pixel outside, rounded as the image's type has it; CuPy knows NaN only as NumPy's own object."""
    if problem.border != "constant":
        return 0.0
    value = float(np.dtype(problem.dtype).type(problem.border_value))
    return np.nan if math.isnan(value) else value


def _view(problem: Laplace, packed: Any) -> Any:
    """The image in its packed rows, nothing copied."""
    row, item = packed.strides
    strides = (row, item) if problem.channels == 1 else (row, problem.channels * item, item)
    return cupy.lib.stride_tricks.as_strided(packed, problem.shape, strides)

"""The Laplace filter in Halide: one algorithm and one schedule, which Halide compiles to OpenCL and to CUDA.

Nothing of it is shared with our kernels. Rows are read and written in words of 32 bits, four to a vector:
Halide's generators of OpenCL and of CUDA make the same vectors only where they are told that rows start and
lie apart at multiples of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import halide as hl
import numpy as np

from harness.problems import Laplace
from harness.problems.laplace import PITCH_ALIGNMENT

Api = Literal["opencl", "cuda"]

FUNCTION = "halide_laplace"
"""The name of the compiled function: of a device, the source, elements of a row, rows, and the target."""

_WORD = 4
"""Bytes."""
_VECTOR = 4
"""Words of a row that a work-item computes."""
_GROUP = (32, 4)
"""Work-items of a group, along a row and across."""
_FEATURES = {
    "opencl": (hl.TargetFeature.OpenCL,),
    "cuda": (hl.TargetFeature.CUDA, hl.TargetFeature.CUDACapability75),
}
_TYPES = {"uint8": hl.UInt(8), "uint16": hl.UInt(16), "int16": hl.Int(16), "float32": hl.Float(32)}


@dataclass(frozen=True, slots=True)
class Schedule:
    """How the work is shared out: rows that a work-item computes; whether what touches no border has code of
    its own. The same for OpenCL and for CUDA.
    """

    rows: int
    has_inner_code: bool


OF_GPUS = Schedule(1, True)
"""Two rows take up to 168 registers of a work-item on sm_90, where one takes 76. Not tried on a GPU."""
OF_PROCESSORS = Schedule(1, False)
"""More rows, and code of its own, are no faster on PoCL, and take it seconds to build."""


def compile_filter(problem: Laplace, api: Api, schedule: Schedule, path: Path) -> None:
    """Writes an object file with :data:`FUNCTION`, for images of any size with the problem's mask, border,
    output, type and channels; without Halide's runtime.
    """
    filtered, source, row_elements, rows = _scheduled(problem, schedule)
    target = _target(api)
    for feature in (hl.TargetFeature.NoRuntime, hl.TargetFeature.UserContext):
        target = target.with_feature(feature)
    filtered.compile_to({hl.OutputFileType.object: str(path)}, [source, row_elements, rows], FUNCTION, target)


def compile_runtime(api: Api, path: Path) -> None:
    """Writes an object file with Halide's runtime for the API."""
    hl.compile_standalone_runtime(str(path), _target(api).with_feature(hl.TargetFeature.UserContext))


def target_name(api: Api) -> str:
    """What is compiled for, in Halide's words."""
    return str(_target(api))


def _target(api: Api) -> Any:
    target = hl.get_host_target()
    for feature in _FEATURES[api]:
        target = target.with_feature(feature)
    return target


def _scheduled(problem: Laplace, schedule: Schedule) -> tuple[Any, Any, Any, Any]:
    """The filter with its schedule, and its arguments."""
    source = hl.ImageParam(hl.UInt(32), 2, "source")
    row_elements, rows = hl.Param(hl.Int(32), "row_elements"), hl.Param(hl.Int(32), "rows")
    filtered = _Algorithm(problem, source, row_elements, rows).words()
    for buffer in (source, filtered.output_buffer()):
        _tell_alignment(buffer)
    word, y = filtered.args()
    block, group_y, item, item_y, lane, row = (hl.Var(f"_{i}") for i in range(6))
    # The padding of a row is computed, too: words have no tail.
    filtered.split(word, block, lane, _VECTOR, hl.TailStrategy.RoundUp)
    filtered.split(y, group_y, row, schedule.rows, hl.TailStrategy.GuardWithIf)
    filtered.reorder(lane, row, block, group_y).vectorize(lane).unroll(row)
    filtered.gpu_tile(block, group_y, item, item_y, *_GROUP, hl.TailStrategy.GuardWithIf)
    if not schedule.has_inner_code:
        filtered.never_partition_all()
    return filtered, source, row_elements, rows


def _tell_alignment(buffer: Any) -> None:
    """That rows start at, and lie apart by, multiples of what packed rows have."""
    words = PITCH_ALIGNMENT // _WORD
    buffer.dim(0).set_min(0).set_stride(1)
    buffer.dim(1).set_min(0)
    buffer.dim(1).set_stride(buffer.dim(1).stride() // words * words)
    buffer.dim(0).set_extent(buffer.dim(0).extent() // words * words)
    buffer.set_host_alignment(PITCH_ALIGNMENT)


class _Algorithm:
    """What each word of the result is, of the source's words."""

    def __init__(self, problem: Laplace, source: Any, row_elements: Any, rows: Any) -> None:
        self._problem, self._source, self._row_elements, self._rows = problem, source, row_elements, rows
        self._type = _TYPES[problem.dtype]
        self._elements = _WORD // problem.element.itemsize
        self._bits = 8 * problem.element.itemsize

    def words(self) -> Any:
        """The result as a function of a word's place in its row, and of the row."""
        word, y = hl.Var("word"), hl.Var("y")
        filtered = hl.Func("filtered")
        unsigned = hl.UInt(32)
        parts = [
            hl.cast(
                unsigned, hl.reinterpret(hl.UInt(self._bits), self._element(word * self._elements + k, y))
            )
            << hl.cast(unsigned, self._bits * k)
            for k in range(self._elements)
        ]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole | part
        filtered[word, y] = whole
        return filtered

    def _element(self, i: Any, y: Any) -> Any:
        """Element ``i`` of a row of the result."""
        problem = self._problem
        wide = hl.Float(32) if problem.element.is_float else hl.Int(32)
        terms = []
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                weight = problem.coefficients[abs(dy) + abs(dx)]
                if weight:
                    near = self._bordered(i + dx * problem.channels, y + dy)
                    terms.append(hl.cast(wide, near) * hl.cast(wide, weight))
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        if not problem.element.is_float:
            info = np.iinfo(problem.dtype)
            total = hl.clamp(total, int(info.min), int(info.max))
        return hl.cast(self._type, total)

    def _bordered(self, i: Any, y: Any) -> Any:
        """An element that may lie outside."""
        problem, length, rows = self._problem, self._row_elements, self._rows
        inside = self._read(self._mapped(i, length, problem.channels), self._mapped(y, rows, 1))
        if problem.border != "constant":
            return inside
        is_outside = (i < 0) | (i >= length) | (y < 0) | (y >= rows)
        return hl.select(is_outside, hl.cast(self._type, self._outside), hl.likely(inside))

    @property
    def _outside(self) -> Any:
        value = self._problem.border_value
        return hl.f32(value) if self._problem.element.is_float else hl.i32(int(value))

    def _mapped(self, at: Any, size: Any, step: int) -> Any:
        """Where along a row, or column, the element is that stands for one a pixel (``step``) outside."""
        before, behind = hl.i32(0), hl.i32(0)
        if self._problem.border in ("replicate", "reflect"):
            before, behind = at + step, at - step
        elif self._problem.border == "wrap":
            before, behind = at + size, at - size
        elif self._problem.border == "reflect_101":
            back = hl.select(size > step, 2 * step, step)
            before, behind = at + back, at - back
        return hl.select(at < 0, before, hl.select(at >= size, behind, hl.likely(at)))

    def _read(self, i: Any, y: Any) -> Any:
        """An element of the source, which lies in it: Halide need not test that."""
        columns, rows = self._source.dim(0).extent(), self._source.dim(1).extent()
        at = hl.unsafe_promise_clamped(i // self._elements if self._elements > 1 else i, 0, columns - 1)
        word = self._source[at, hl.unsafe_promise_clamped(y, 0, rows - 1)]
        if self._elements == 1:
            return hl.reinterpret(self._type, word)
        shifted = word >> hl.cast(hl.UInt(32), i % self._elements * self._bits)
        return hl.reinterpret(self._type, hl.cast(hl.UInt(self._bits), shifted))

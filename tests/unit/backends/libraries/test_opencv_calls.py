"""Which of OpenCV's functions filters where, what a record says of it, what OpenCV is found to do wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from backends import Backend, BackendUnavailable, open_backend
from harness.problems import Array, Laplace, Reduction
from harness.variants.axes import LibraryVariant

cv2 = pytest.importorskip("cv2", reason="pip install opencv-python-headless")
opencv_calls = pytest.importorskip("backends.libraries.opencv_calls")


@pytest.mark.parametrize(
    ("name", "height", "function", "told"),
    [
        ("opencv", 30, "Laplacian", "cv2.Laplacian; "),
        # cv2.Laplacian filters a UMat on the processor.
        ("opencv_opencl", 30, "filter2D", "cv2.filter2D; its OpenCL kernel"),
        ("opencv_opencl", 2, "filter2D", "cv2.filter2D; falls back to the processor: a side is shorter than"),
    ],
)
def test_the_function_for_a_mask_that_both_have(
    monkeypatch: pytest.MonkeyPatch, name: str, height: int, function: str, told: str
) -> None:
    called = []

    def seen(which: str) -> Any:
        original = getattr(cv2, which)

        def function(*arguments: Any, **named: Any) -> Any:
            called.append(which)
            return original(*arguments, **named)

        return function

    for which in ("Laplacian", "filter2D"):
        monkeypatch.setattr(cv2, which, seen(which))
    problem = Laplace("four", "reflect_101", "laplacian", "uint8", height, 40)
    try:
        backend = open_backend(name)
    except BackendUnavailable as missing:
        pytest.skip(str(missing))
    with backend:
        source = problem.make_source(0)
        uploaded = [backend.upload(problem.pack(source))]
        with backend.prepare(problem, LibraryVariant(), uploaded) as prepared:
            prepared.enqueue(0)
            assert problem.verify(prepared.result(), source).ok
            assert prepared.note.startswith(told)
    assert called == [function]


@pytest.fixture
def backend() -> Iterator[Backend]:
    """OpenCV on the processor, of which nothing has been found out."""
    probes = (opencv_calls._sums_exactly, opencv_calls._counts_nan, opencv_calls._adds_lowest)
    for probe in probes:
        probe.cache_clear()
    with open_backend("opencv") as opened:
        yield opened
    for probe in probes:
        probe.cache_clear()


def adds_fours_narrowly(step: int) -> Any:
    """A ``cv2.sumElems`` as OpenCV 4's: exact in whole vectors, then of four at a time in their own type."""

    def total(row: Array) -> tuple[float, ...]:
        whole = row.size // step * step
        fours = row[0, whole : whole + (row.size - whole) // 4 * 4].reshape(-1, 4)
        rest = row[0, whole + fours.size :]
        parts = (row[0, :whole], fours.sum(axis=1, dtype=row.dtype), rest)
        return (float(sum(part.sum(dtype=np.float64) for part in parts)), 0.0, 0.0, 0.0)

    return total


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
@pytest.mark.parametrize(("mask", "function"), [("four", "Laplacian"), ("eight", "filter2D")])
def test_an_image_of_16_bits_is_filtered_in_float32(
    monkeypatch: pytest.MonkeyPatch, backend: Backend, dtype: str, mask: str, function: str
) -> None:
    depths = []
    real = getattr(cv2, function)

    def seen(image: Any, depth: int, *rest: Any, **named: Any) -> Any:
        depths.append(depth)
        return real(image, depth, *rest, **named)

    monkeypatch.setattr(cv2, function, seen)
    problem = Laplace(mask, "reflect_101", "laplacian", dtype, 30, 40)
    image = problem.make_source(seed=1)
    with backend.prepare(problem, LibraryVariant(), [backend.upload(problem.pack(image))]) as prepared:
        prepared.enqueue(0)
        assert problem.verify(prepared.result(), image).ok
        is_through = "; to float32, then cv2.addWeighted; " in prepared.note
    assert is_through == (dtype in ("uint16", "int16"))
    assert set(depths) == {cv2.CV_32F if is_through else -1}


@pytest.mark.parametrize("step", [16, 24, 32])
@pytest.mark.parametrize(
    ("dtype", "how"), [("int32", "in 32 bits, which overflow"), ("float32", "in float32")]
)
def test_a_sum_is_skipped_where_what_whole_vectors_leave_over_is_added_narrowly(
    monkeypatch: pytest.MonkeyPatch, backend: Backend, dtype: str, how: str, step: int
) -> None:
    monkeypatch.setattr(cv2, "sumElems", adds_fours_narrowly(step))
    for size in (1, 3, step, 50 * step + 3, 2**15 * step, 100003 * step + 3):
        assert backend.unsupported(Reduction("sum", dtype, (size,)), LibraryVariant()) is None, size
    for shape in ((4,), (1, 77), (step + 4,), (10**5 * step + 4,), (step + 7, 10**4 * step + 1)):
        problem = Reduction("sum", dtype, shape)
        said = f"OpenCV {cv2.__version__} adds some of {problem.size} {dtype} {how}"
        assert backend.unsupported(problem, LibraryVariant()) == said
    assert backend.unsupported(Reduction("sum", "float64", (77,)), LibraryVariant()) is None
    assert backend.unsupported(Reduction("min", dtype, (77,)), LibraryVariant()) is None


def test_a_sum_that_wraps_in_whole_vectors_is_skipped_at_every_length(
    monkeypatch: pytest.MonkeyPatch, backend: Backend
) -> None:
    monkeypatch.setattr(cv2, "sumElems", lambda row: (float(row.sum(dtype=np.int32)), 0.0, 0.0, 0.0))
    for size in (2, 77, 1024, 2**20):
        assert backend.unsupported(Reduction("sum", "int32", (size,)), LibraryVariant())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_count_that_leaves_nan_out_says_so(
    monkeypatch: pytest.MonkeyPatch, backend: Backend, dtype: str
) -> None:
    """As OpenCV 4.14's: in whole vectors of 16."""

    def count(row: Array) -> int:
        whole = row.size // 16 * 16
        return int(((row[0, :whole] > 0) | (row[0, :whole] < 0)).sum() + np.count_nonzero(row[0, whole:]))

    monkeypatch.setattr(cv2, "countNonZero", count)
    problem = Reduction("count_nonzero", dtype, (50,))
    assert backend.known_deviations(problem) == {"nan_count"}
    for other in (Reduction("count_nonzero", "int32", (50,)), Reduction("sum", "float64", (50,))):
        assert not backend.known_deviations(other)
    with backend.prepare(problem, LibraryVariant(), [backend.upload(np.ones(50, dtype))]) as prepared:
        assert "; a NaN may not be counted" in prepared.note


@pytest.mark.parametrize("overflows", [False, True])
def test_a_sum_that_overflows_says_so(
    monkeypatch: pytest.MonkeyPatch, backend: Backend, overflows: bool
) -> None:
    """As by IPP's functions for AVX2: one sum of 2^32 too much."""

    def total(row: Array) -> tuple[float, ...]:
        is_wrong = overflows and np.count_nonzero(row == -(2**15)) > 2**16
        return (row.sum(dtype=np.float64) + (2**32 if is_wrong else 0), 0.0, 0.0, 0.0)

    monkeypatch.setattr(cv2, "sumElems", total)
    problem = Reduction("sum", "int16", (50,))
    assert backend.known_deviations(problem) == (frozenset({"overflow"}) if overflows else frozenset())
    for other in (Reduction("min", "int16", (50,)), Reduction("sum", "uint16", (50,))):
        assert not backend.known_deviations(other)
    with backend.prepare(problem, LibraryVariant(), [backend.upload(np.ones(50, np.int16))]) as prepared:
        assert ("lowest value may overflow" in prepared.note) == overflows


def test_a_count_with_nan_says_nothing(monkeypatch: pytest.MonkeyPatch, backend: Backend) -> None:
    monkeypatch.setattr(cv2, "countNonZero", np.count_nonzero)
    assert not backend.known_deviations(Reduction("count_nonzero", "float64", (50,)))

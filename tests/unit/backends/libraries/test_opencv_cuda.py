"""OpenCV's CUDA functions: on our stream, over our memory, on a fake of them on host memory."""

# ruff: noqa: N802 - the names are OpenCV's.

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from backends import Backend
from backends.cuda import nvrtc
from backends.errors import BackendError
from harness.problems import IMAGE_DTYPES, Array, Laplace, Reduction
from harness.variants.axes import LibraryVariant
from tests.support.checks import check_laplace, check_reduction, runs
from tests.support.fake_cuda import FakeDriver

cv2 = pytest.importorskip("cv2", reason="pip install opencv-python-headless")
cuda_driver = pytest.importorskip("backends.cuda.driver", reason="pip install cuda-bindings")
opencv_cuda = pytest.importorskip("backends.libraries.opencv_cuda", reason="pip install cuda-bindings")

DEPTHS = {"8U": "u1", "8S": "i1", "16U": "u2", "16S": "i2", "32S": "i4", "32F": "f4", "64F": "f8"}
KINDS = {
    getattr(cv2, f"CV_{depth}C{channels}"): (np.dtype(code), channels)
    for depth, code in DEPTHS.items()
    for channels in (1, 3, 4)
}
STREAM = 77


@dataclass
class Matrix:
    """A matrix over memory of the fake device."""

    rows: int
    columns: int
    kind: int
    pointer: int
    step: int

    @property
    def array(self) -> Array:
        dtype, channels = KINDS[self.kind]
        inner = (dtype.itemsize,) if channels == 1 else (channels * dtype.itemsize, dtype.itemsize)
        shape = (self.rows, self.columns) if channels == 1 else (self.rows, self.columns, channels)
        memory = {"data": (self.pointer, False), "typestr": dtype.str, "version": 3}
        seen = type(
            "Seen", (), {"__array_interface__": memory | {"shape": shape, "strides": (self.step, *inner)}}
        )
        return np.asarray(seen())


@dataclass
class FakeOpenCv:
    """``cv2.cuda``; what it computes is OpenCV's own answer on the processor."""

    read: list[tuple[int, int]] = field(default_factory=list)
    fails: bool = False

    def wrapStream(self, handle: int) -> str:
        assert handle == STREAM
        return "our stream"

    def setDevice(self, index: int) -> None:
        assert index == 0

    def getCudaEnabledDeviceCount(self) -> int:
        return 1

    def createGpuMatFromCudaMemory(self, *arguments: int) -> Matrix:
        return Matrix(*arguments)

    def findMinMax(self, source: Matrix, *, dst: Matrix, stream: str) -> None:
        self._write(source, dst, stream, [source.array.min(), source.array.max()])

    def calcSum(self, source: Matrix, *, dst: Matrix, stream: str) -> None:
        self._write(source, dst, stream, [source.array.sum(dtype=np.float64)])

    def countNonZero(self, source: Matrix, *, dst: Matrix, stream: str) -> None:
        self._write(source, dst, stream, [np.count_nonzero(source.array)])

    def _write(self, source: Matrix, target: Matrix, stream: str, values: list[Any]) -> None:
        if self.fails:
            raise cv2.error("no kernel image")
        assert stream == "our stream"
        self.read.append((source.rows, source.columns))
        target.array[...] = [values]

    def createLinearFilter(self, source: int, target: int, weights: Array, *, borderMode: int) -> Any:  # noqa: N803
        assert source == target

        class Linear:
            def apply(self, image: Matrix, *, dst: Matrix, stream: str) -> None:
                assert stream == "our stream"
                filtered = cv2.filter2D(image.array.copy(), -1, weights, borderType=borderMode)
                dst.array[...] = filtered.reshape(dst.array.shape)

        return Linear()


@pytest.fixture
def functions() -> FakeOpenCv:
    """OpenCV's functions."""
    return FakeOpenCv()


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch, functions: FakeOpenCv) -> Iterator[Backend]:
    """The backend with these functions on a fake driver."""
    monkeypatch.setattr(cuda_driver, "driver", FakeDriver())
    monkeypatch.setattr(opencv_cuda, "_cuda", functions)
    monkeypatch.setattr(nvrtc, "version", lambda: (13, 0))
    with opencv_cuda.OpenCvCudaBackend.open(0) as opened:
        yield opened


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int32", "float32", "float64"])
@pytest.mark.parametrize("op", ["min", "max", "minmax", "sum", "count_nonzero"])
def test_reductions(backend: Backend, op: str, dtype: str) -> None:
    for shape in ((37, 11), (5000,), (), (2, 3, 4)):
        check_reduction(backend, op, Reduction(op, dtype, shape).make_source(seed=3))


@pytest.mark.parametrize("op", ["min", "max", "minmax"])
def test_the_values_of_an_answer_come_in_one_copy(backend: Backend, op: str) -> None:
    called = cuda_driver.driver.called
    words = np.array([3, -7, 5], np.int16)
    assert backend.reduce(op, words) == Reduction(op, "int16", (3,)).reference(words)
    assert called.count("cuMemcpyDtoHAsync") == 1


@pytest.mark.parametrize("op", ["min", "max", "minmax", "sum", "count_nonzero"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_infinities_alone_may_be_answered_with_a_finite_extreme(
    backend: Backend, op: str, dtype: str
) -> None:
    may = op in ("min", "max", "minmax") and dtype == "float32"
    assert ("infinity" in backend.known_deviations(Reduction(op, dtype, (3,)))) == may


def test_one_row_is_folded(backend: Backend, functions: FakeOpenCv) -> None:
    for shape in ((2560 * 2560,), (40, 50), (1009,)):
        backend.reduce("sum", np.ones(shape, np.uint8))
    assert functions.read == [(2560, 2560), (40, 50), (1, 1009)]


@pytest.mark.parametrize("channels", [1, 4])
@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
def test_filters(backend: Backend, dtype: str, channels: int) -> None:
    problem = Laplace("eight", "reflect_101", "sharpened", dtype, 5, 7, channels)
    check_laplace(backend, problem, problem.make_source(seed=3))
    assert runs(backend, problem) == (dtype != "int16")


def test_a_call_can_be_held_back_and_leaves_its_result_on_the_device(backend: Backend) -> None:
    problem = Reduction("max", "int16", (4, 5))
    source = problem.make_source(0)
    with backend.prepare(problem, LibraryVariant(), [backend.upload(source)]) as prepared:
        gate = backend.gate(prepared, 1e-3)
        assert gate is not None
        prepared.enqueue(0)
        gate.open()
        assert prepared.result() == source.max()
        assert (prepared.result_location, prepared.note[:19]) == ("device", "cv2.cuda.findMinMax")


@pytest.mark.parametrize(
    ("op", "dtype", "size", "rounds"),
    [
        ("sum", "int32", 2**22, False),
        ("sum", "int32", 2**22 + 1, True),
        ("sum", "uint16", 2**22 + 1, False),
        ("sum", "float64", 2**22 + 1, False),
        ("max", "int32", 2**22 + 1, False),
    ],
)
def test_sums_that_may_be_rounded_say_so(
    backend: Backend, op: str, dtype: str, size: int, rounds: bool
) -> None:
    problem = Reduction(op, dtype, (size,))
    with backend.prepare(problem, LibraryVariant(), [backend.upload(np.ones(size, dtype))]) as prepared:
        assert ("exact while no partial sum passes 2^53" in prepared.note) == rounds


def test_an_error_of_opencv_is_one_of_the_backend(backend: Backend, functions: FakeOpenCv) -> None:
    functions.fails = True
    with pytest.raises(BackendError, match=r"OpenCV, calling: .*no kernel image"):
        backend.reduce("sum", np.ones(3, np.uint8))


def test_what_it_lacks(backend: Backend) -> None:
    for problem, reason in (
        (Reduction("minmaxloc", "uint8", (3,)), "are not used for minmaxloc here"),
        (Reduction("min", "uint32", (3,)), "no reductions of uint32"),
        (Reduction("min", "uint8", (2**31,)), "at most 2147483647 columns"),
        (Laplace("four", "replicate", "laplacian", "uint8", 3, 3, 3), "with one or four channels"),
    ):
        assert reason in (backend.unsupported(problem, LibraryVariant()) or "")

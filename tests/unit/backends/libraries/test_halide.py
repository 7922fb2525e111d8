"""Halide's filter: compiled for both APIs, linked with a device of ours; the schedule of GPUs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from backends import Backend, BackendUnavailable, open_backend
from backends.cuda import nvrtc
from backends.errors import BackendError, BuildError
from harness.problems import BORDERS, Laplace
from harness.variants.axes import LibraryVariant
from tests.support.checks import check_laplace
from tests.support.fake_cuda import FakeDriver, seen

pytest.importorskip("halide", reason="pip install halide")
cuda_driver = pytest.importorskip("backends.cuda.driver", reason="pip install cuda-bindings")
halide_build = pytest.importorskip("backends.libraries.halide_build")
halide_schedule = pytest.importorskip("backends.libraries.halide_schedule")
halide_opencl = pytest.importorskip("backends.libraries.halide_opencl")
halide_cuda = pytest.importorskip("backends.libraries.halide_cuda")

try:
    halide_build.compiler()
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

PROBLEM = Laplace("four", "reflect_101", "laplacian", "uint8", 13, 300, 3)


@pytest.fixture
def opencl() -> Iterator[Backend]:
    """Halide on the first device of OpenCL."""
    try:
        backend = open_backend("halide_opencl")
    except BackendUnavailable as missing:
        pytest.skip(str(missing))
    with backend:
        yield backend


@pytest.mark.parametrize("border", BORDERS)
def test_the_schedule_of_gpus_gives_the_same(
    monkeypatch: pytest.MonkeyPatch, opencl: Backend, border: str
) -> None:
    """Wide enough for code that touches no border, and for a row that ends inside a vector."""
    monkeypatch.setattr(halide_opencl, "OF_PROCESSORS", halide_schedule.OF_GPUS)
    dtype, channels = {"wrap": ("float32", 4), "constant": ("uint16", 1)}.get(border, ("uint8", 3))
    problem = replace(PROBLEM, border=border, dtype=dtype, channels=channels)
    check_laplace(opencl, problem, problem.make_source(seed=2))


def test_a_border_value_is_told_in_full(opencl: Backend) -> None:
    for value in (0.1234567, 0.1234568):
        problem = Laplace("four", "constant", "laplacian", "float32", 3, 5, border_value=value)
        check_laplace(opencl, problem, np.zeros((3, 5), np.float32))


@pytest.mark.parametrize(
    ("api", "wide"), [("opencl", b"uint4 *)_source)["), ("cuda", b"ld.global.nc.v4.b32")]
)
def test_both_generators_make_vectors(tmp_path: Path, api: str, wide: bytes) -> None:
    """A wide load for each row that is read: there are fewer where stride and alignment are not told."""
    path = tmp_path / "filter.o"
    halide_schedule.compile_filter(PROBLEM, api, halide_schedule.OF_GPUS, path)
    assert path.read_bytes().count(wide) >= halide_schedule.OF_GPUS.rows + 2


@pytest.fixture
def linked() -> ctypes.CDLL:
    """Halide's filter on CUDA, which needs no CUDA to be linked."""
    built: ctypes.CDLL = halide_build._built(
        replace(PROBLEM, height=1, width=1), "cuda", halide_schedule.OF_GPUS
    )
    return built


def test_the_runtime_takes_our_context_and_stream(linked: ctypes.CDLL) -> None:
    device = halide_build.Device(None, 66, 77)
    context, stream = ctypes.c_void_p(), ctypes.c_void_p()
    for of, wanted in ((ctypes.byref(device), (66, 77)), (None, (None, None))):
        assert linked.halide_cuda_acquire_context(of, ctypes.byref(context), True) == 0
        assert linked.halide_cuda_get_stream(of, context, ctypes.byref(stream)) == 0
        assert (context.value, stream.value) == wanted


def test_what_halide_says_of_a_fault_is_told(opencl: Backend) -> None:
    assert isinstance(opencl, halide_opencl.HalideOpenClBackend)
    device = opencl._halide
    run = halide_build.load_filter(PROBLEM, "opencl", halide_schedule.OF_PROCESSORS, device)
    function = getattr(run.library, halide_schedule.FUNCTION)
    with pytest.raises(BackendError, match=r"Halide, halide_laplace: status -\d+: .*source is nullptr"):
        run._run(function, ctypes.byref(device), None, ctypes.c_int32(1), ctypes.c_int32(1), None)
    with pytest.raises(BackendError, match=r"Halide, silent: status 7: $"):
        run._run(silent)


def silent() -> int:
    """A function of Halide's that fails and says nothing."""
    return 7


class FakeFilter:
    """A filter on the fake driver's memory."""

    released = 0

    def __init__(self, problem: Laplace, api: str, schedule: object, device: ctypes.Structure) -> None:
        assert (api, schedule) == ("cuda", halide_schedule.OF_GPUS)
        assert (device.context, device.queue) == (66, 77)
        self.library = self

    def call(self, problem: Laplace, source: int, target: int) -> Callable[[], None]:
        """What filters, from memory to memory."""
        shape = (problem.height, problem.pitch)

        def run() -> None:
            image = problem.finish(seen(source, problem.dtype, shape))
            seen(target, problem.dtype, shape)[...] = problem.pack(problem.reference(image))

        return run

    def release(self) -> None:
        """Counts."""
        FakeFilter.released += 1


def test_the_backend_on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_driver, "driver", FakeDriver())
    monkeypatch.setattr(nvrtc, "version", lambda: (13, 0))
    monkeypatch.setattr(halide_build, "load_filter", FakeFilter)
    sources = [PROBLEM.make_source(seed) for seed in range(2)]
    with halide_cuda.HalideCudaBackend.open(0) as backend:
        uploaded = [backend.upload(PROBLEM.pack(source)) for source in sources]
        with backend.prepare(PROBLEM, LibraryVariant(), uploaded) as prepared:
            del uploaded
            for i in (0, 1):
                prepared.enqueue(i)
                assert PROBLEM.verify(prepared.result(), sources[i]).ok
            prepared.poison()
            assert not PROBLEM.verify(prepared.result(), sources[1]).ok
            assert prepared.note.endswith("one schedule for OpenCL and CUDA")
    assert FakeFilter.released == 1


def test_a_buffer_that_halide_cannot_count_is_refused() -> None:
    huge = Laplace("four", "wrap", "laplacian", "float32", 2**15, 2**14 + 1)
    assert halide_build.lacks(huge) == "Halide's buffers have at most 2147483647 bytes"
    assert halide_build.lacks(PROBLEM) is None


def test_without_a_compiler_there_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    halide_build.compiler.cache_clear()
    monkeypatch.setenv("PATH", "")
    try:
        with pytest.raises(BackendUnavailable, match=r"no C compiler is found.*such as gcc"):
            halide_opencl.HalideOpenClBackend.devices()
    finally:
        halide_build.compiler.cache_clear()


def test_what_cannot_be_linked_is_told(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="cannot be linked") as caught:
        halide_build._link([str(tmp_path / "missing.o")], tmp_path / "built.so")
    assert "missing.o" in caught.value.log

"""CUB's reductions: what is compiled, and how the backend calls it, on a fake of CUDA's driver."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from backends import REGISTRY, Backend
from backends.common.library_backend import count_type
from backends.cuda import nvcc, nvrtc
from backends.errors import BackendError, BackendUnavailable
from harness.problems import Reduction
from harness.variants.axes import LibraryVariant
from tests.support.fake_cuda import FakeDriver, seen

cuda_driver = pytest.importorskip("backends.cuda.driver", reason="pip install cuda-bindings")
cub = pytest.importorskip("backends.libraries.cub", reason="pip install cuda-bindings")

SCRATCH = 512


class FakeCub:
    """The compiled functions on host memory; ``status`` is what they answer."""

    def __init__(self) -> None:
        self.status, self.streams, self.macros = 0, set[int](), dict[str, str]()

    def __getattr__(self, name: str) -> Any:
        op = name.removeprefix("reduce_")

        def function(scratch: Any, needed: Any, source: Any, answer: Any, length: Any, stream: Any) -> int:
            self.streams.add(stream.value)
            if scratch is None:
                needed._obj.value = SCRATCH
                return self.status
            assert needed._obj.value == SCRATCH
            elements = seen(source.value, "int16", (length.value,))
            values = {
                "minmax": (elements.min(), elements.max()),
                "sum": (elements.sum(),),
                "narrow_sum": (elements.sum(),),
                "min": (elements.min(),),
                "count_nonzero": (np.count_nonzero(elements),),
                "long_count_nonzero": (np.count_nonzero(elements),),
            }[op]
            wide = {
                "sum": "int64",
                "narrow_sum": "int32",
                "count_nonzero": "uint32",
                "long_count_nonzero": "uint64",
            }
            dtype = wide.get(op, "int16")
            seen(answer.value, dtype, (len(values),))[:] = values
            return self.status

        function.__name__ = name
        return function


@pytest.fixture
def compiled() -> FakeCub:
    return FakeCub()


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch, compiled: FakeCub) -> Iterator[Backend]:
    """CUB on a driver of one GPU."""

    def load(source: Any, capability: int, macros: dict[str, str], includes: str) -> FakeCub:
        assert (source, capability, includes) == (cub.SOURCE, 90, "CUB 3.0.1")
        compiled.macros = macros
        return compiled

    monkeypatch.setattr(cuda_driver, "driver", FakeDriver())
    monkeypatch.setattr(nvrtc, "version", lambda: (13, 0))
    monkeypatch.setattr(nvrtc, "compile_cubin", lambda *_: b"cubin")
    monkeypatch.setattr(nvcc, "version", lambda: "13.0")
    monkeypatch.setattr(nvcc, "number", lambda *asked: {("cub/version.cuh", "CUB_VERSION"): 300001}[asked])
    monkeypatch.setattr(nvcc, "load_library", load)
    with cub.CubBackend.open(0) as opened:
        yield opened


@pytest.mark.parametrize("op", ["minmax", "sum", "count_nonzero"])
def test_the_functions_get_what_they_take(backend: Backend, compiled: FakeCub, op: str) -> None:
    words = np.random.default_rng(0).integers(-9, 9, (37, 11), dtype=np.int16)
    problem = Reduction(op, "int16", words.shape)
    assert backend.reduce(op, words) == problem.reference(words)
    assert cuda_driver.driver.called.count("cuMemcpyDtoHAsync") == 1, "both fields come in one copy"
    assert compiled.streams == {77}
    assert compiled.macros == {"ELEMENT": "short", "TOTAL": "long long", "NARROW": "int"}


def test_narrow_sums_are_added_in_32_bits(backend: Backend) -> None:
    words = np.array([2**14, 2**15 - 1, 7], np.int16)
    problem = Reduction("sum", "int16", (3,))
    uploaded = [backend.upload(words)]
    with backend.prepare(problem, LibraryVariant(accumulator="element"), uploaded) as prepared:
        assert (prepared.accumulator, prepared.note) == ("int32", "CUB 3.0.1")
        prepared.enqueue(0)
        assert prepared.result() == words.sum()


def test_counts_take_32_bits_where_these_hold_every_count(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [count_type(Reduction("count_nonzero", "uint8", (size,))) for size in (2**32 - 1, 2**32)] == [
        "uint32",
        "uint64",
    ]
    words = np.array([3, 0, 7], np.int16)
    problem = Reduction("count_nonzero", "int16", (3,))
    for dtype in ("uint32", "uint64"):
        monkeypatch.setattr(cub, "count_type", lambda _, dtype=dtype: dtype)
        with backend.prepare(problem, LibraryVariant(), [backend.upload(words)]) as prepared:
            assert prepared.accumulator == dtype
            prepared.enqueue(0)
            assert prepared.result() == 2


def test_all_of_a_type_is_compiled_at_once(backend: Backend, compiled: FakeCub) -> None:
    found = []
    for op in ("min", "sum", "count_nonzero"):
        backend.compile(Reduction(op, "int16", (5,)), LibraryVariant())
        found.append(compiled.macros)
    assert found[0] == found[1] == found[2]
    compiles = REGISTRY["cub"].compiles
    assert compiles is not None
    assert len({compiles.code(Reduction(op, "int16", (5,)), LibraryVariant()) for op in ("min", "sum")}) == 1


def test_types_without_a_narrower_one() -> None:
    """Their narrow sum, which nobody calls, is the wide one."""
    for dtype, name in (("float64", "double"), ("int64", "long long")):
        assert cub.macros(Reduction("minmax", dtype, (5,)))["NARROW"] == name


def test_refusal_of_narrow_sums(backend: Backend) -> None:
    said = backend.unsupported(Reduction("sum", "int64", (5,)), LibraryVariant(accumulator="element"))
    assert said == "this library adds sum int64 5 in no narrower type than our kernels"


def test_an_error_of_cuda_is_told(backend: Backend, compiled: FakeCub) -> None:
    compiled.status = 98
    with pytest.raises(BackendError, match="CUB, reduce_minmax: CUDA error 98"):
        backend.reduce("minmax", np.zeros(5, np.int16))


def test_what_it_lacks_is_told(backend: Backend) -> None:
    for problem, why in (
        (Reduction("minmaxloc", "int16", (5,)), "not used for minmaxloc"),
        (Reduction("sum", "float16", (5,)), "not for float16"),
    ):
        said = backend.unsupported(problem, backend.default_variant(problem))
        assert said is not None
        assert why in said


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_every_function_compiles(dtype: str) -> None:
    try:
        nvcc.version()
    except BackendUnavailable as missing:
        pytest.skip(str(missing))
    library = nvcc.load_library(cub.SOURCE, 90, cub.macros(Reduction("sum", dtype, (5,))))
    for op in ("min", "max", "minmax", "sum", "narrow_sum", "product", "count_nonzero", "long_count_nonzero"):
        assert isinstance(getattr(library, f"reduce_{op}"), ctypes._CFuncPtr)  # type: ignore[attr-defined]

"""What library baselines share, and the backends on CUDA's driver interface and NPP on fakes of these."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from backends import Backend, BackendUnavailable, open_backend
from backends.common.library_backend import nan_in_extremes
from backends.common.rows import folded
from backends.cuda import nvrtc
from backends.cuda.nvidia import NvidiaBackend
from backends.errors import BackendError, DeviceLost, OutOfDeviceMemory
from harness.problems import Laplace, Reduction
from harness.variants.axes import LibraryVariant
from tests.support.checks import check_reduction
from tests.support.fake_cuda import FakeDriver, FakeNpp

cuda_driver = pytest.importorskip("backends.cuda.driver", reason="pip install cuda-bindings")
npp = pytest.importorskip("backends.libraries.npp", reason="pip install cuda-pathfinder")


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    """A driver of one GPU, with a compiler that it knows."""
    fake = FakeDriver()
    for module in (cuda_driver, npp):
        monkeypatch.setattr(module, "driver", fake)
    monkeypatch.setattr(npp, "_library", lambda _: FakeNpp())
    monkeypatch.setattr(npp, "_version", lambda: "NPP 13.0.3")
    monkeypatch.setattr(nvrtc, "version", lambda: (13, 0))
    monkeypatch.setattr(nvrtc, "compile_cubin", lambda *_: b"cubin")
    return fake


@pytest.fixture
def backend(driver: FakeDriver) -> Iterator[Backend]:
    """NPP on that GPU."""
    assert npp.driver is driver
    with npp.NppBackend.open(0) as opened:
        yield opened


def test_the_device(backend: Backend) -> None:
    device = backend.device
    assert (device.key, device.name, device.physical) == ("npp:0", "a fake GPU", "0000:3b:00.0")
    assert (device.compute_units, device.sub_group_width, device.compute_capability) == (132, 32, 90)
    with pytest.raises(BackendUnavailable, match="there is no device 1; there are 0 to 0"):
        npp.NppBackend.open(1)


def test_reductions_of_npp(backend: Backend) -> None:
    rng = np.random.default_rng(0)
    words = rng.integers(-(2**15), 2**15, (37, 11), dtype=np.int16)
    assert backend.reduce("minmax", words) == (words.min(), words.max())
    assert backend.reduce("min", words.T) == words.min()
    assert backend.reduce("max", np.array(2.5)) == 2.5
    octets = rng.integers(0, 3, (5, 7, 3), dtype=np.uint8)
    assert backend.reduce("count_nonzero", octets) == np.count_nonzero(octets)


def test_prepared_calls(backend: Backend, driver: FakeDriver) -> None:
    problem = Reduction("minmax", "int16", (4, 5))
    hosts = [problem.make_source(seed) // (seed + 1) for seed in range(2)]
    with backend.prepare(
        problem, LibraryVariant(), [backend.upload(problem.pack(host)) for host in hosts]
    ) as ready:
        with pytest.raises(BackendError, match="npp: there is no result before a call"):
            ready.result()
        for i in (0, 1, 2):
            ready.enqueue(i)
            copies = driver.called.count("cuMemcpyDtoHAsync")
            assert ready.result() == problem.reference(hosts[i % 2])
            assert driver.called.count("cuMemcpyDtoHAsync") == copies + 1, "both fields come in one copy"
        ready.poison()
        assert ready.result() == (np.int16(-14907), np.int16(-14907))
        assert ready.event_seconds(0) == pytest.approx(2.5e-3)
        assert ready.result_location == "device"
        assert ready.accumulator == "int16"
        assert ready.note == "nppsMinMax_16s_Ctx; NPP 13.0.3"
    with backend.prepare(
        Reduction("max", "float64", (3,)), LibraryVariant(), [backend.upload(np.ones(3))]
    ) as ready:
        assert ready.note.endswith("; a NaN may be passed over, not propagated")


@pytest.mark.parametrize("name", ["numpy", "opencv"])
def test_an_answer_in_host_memory_is_not_copied(name: str) -> None:
    if name == "opencv":
        pytest.importorskip("cv2", reason="pip install opencv-python-headless")
    problem = Laplace("four", "replicate", "laplacian", "float32", 5, 7)
    image = problem.make_source(0)
    with open_backend(name) as host:
        with host.prepare(problem, LibraryVariant(), [host.upload(problem.pack(image))]) as prepared:
            prepared.enqueue(0)
            assert np.shares_memory(prepared.result(), prepared.result())
        first, second = host.compute(problem, image), host.compute(problem, image)
        kept = first.copy()
        second[...] = 0
        assert (first == kept).all()
        assert not any(np.shares_memory(answer, image) for answer in (first, second))


def test_an_event_clock_spans_every_launch_of_a_call(backend: Backend, driver: FakeDriver) -> None:
    assert isinstance(backend, NvidiaBackend)
    assert backend._elapsed([lambda: driver.called.append("first"), lambda: driver.called.append("last")])
    at = {name: driver.called.index(name) for name in ("first", "last", "cuEventRecord")}
    end = len(driver.called) - driver.called[::-1].index("cuEventRecord") - 1
    assert at["cuEventRecord"] < at["first"] < at["last"] < end
    assert driver.called.count("cuEventRecord") == 2


LEAST = np.finfo(np.float32).min
"""Where a reduction begins that goes on from finite numbers."""


def departing(monkeypatch: pytest.MonkeyPatch, deviations: str, answer: Any) -> Backend:
    """A backend that says how it departs, and gives one answer to everything."""
    opened = open_backend("numpy")
    monkeypatch.setattr(opened, "known_deviations", lambda _: frozenset(deviations.split()))
    monkeypatch.setattr(opened, "reduce", lambda *_: answer)
    return opened


@pytest.mark.parametrize(
    ("deviations", "op", "values", "answer", "is_allowed"),
    [
        ("nan", "min", [3, np.nan, 5], 5, True),
        ("nan", "min", [3, np.nan, 5], np.nan, True),
        ("nan", "min", [3, np.nan, 5], 4, False),
        ("nan", "minmax", [3, np.nan, 5], (3, 5), True),
        ("nan", "minmax", [3, np.nan, 5], (3, 6), False),
        ("nan", "min", [3, 4, 5], 4, False),
        ("nan", "max", [np.nan, np.nan], 0, True),
        ("nan", "max", [np.nan, 0], LEAST, False),
        ("nan infinity", "max", [np.nan, 0], LEAST, True),
        ("nan infinity", "max", [np.nan, 0], 1, False),
        ("nan infinity", "max", [3, 0], LEAST, False),
        ("infinity", "max", [-np.inf, -np.inf], LEAST, True),
        ("infinity", "max", [-np.inf, 0], LEAST, False),
        ("extreme", "max", [np.inf, np.inf], 0, True),
        ("extreme", "max", [np.inf, np.inf], 1, False),
        ("extreme", "max", [np.inf, 3], 0, False),
        ("nan_count", "count_nonzero", [0, np.nan, 5], 1, True),
        ("nan_count", "count_nonzero", [0, np.nan, 5], 2, True),
        ("nan_count", "count_nonzero", [0, np.nan, 5], 3, False),
        ("nan_count", "count_nonzero", [0, np.nan, 5], 0, False),
        ("nan_count", "count_nonzero", [0, 4, 5], 1, False),
    ],
)
def test_a_library_that_departs_may_not_answer_anything(
    monkeypatch: pytest.MonkeyPatch,
    deviations: str,
    op: str,
    values: list[float],
    answer: Any,
    is_allowed: bool,
) -> None:
    kind = int if op == "count_nonzero" else np.float32
    typed = tuple(map(kind, answer)) if isinstance(answer, tuple) else kind(answer)
    backend = departing(monkeypatch, deviations, typed)
    array = np.array(values, np.float32)
    if is_allowed:
        check_reduction(backend, op, array)
    else:
        with pytest.raises(AssertionError, match=op):
            check_reduction(backend, op, array)


@pytest.mark.parametrize(
    ("size", "off", "is_allowed"),
    [(2**16 + 1, 2**32, True), (2**16 + 1, 2**31, False), (2**16 + 1, 0, True), (2**16, 2**32, False)],
)
def test_a_sum_that_overflows_is_right_in_its_lower_32_bits(
    monkeypatch: pytest.MonkeyPatch, size: int, off: int, is_allowed: bool
) -> None:
    array = np.full(size, -(2**15), np.int16)
    backend = departing(monkeypatch, "overflow", np.int64(array.sum(dtype=np.int64) + off))
    if is_allowed:
        check_reduction(backend, "sum", array)
    else:
        with pytest.raises(AssertionError, match="sum"):
            check_reduction(backend, "sum", array)


def test_a_mean_propagates_nan_in_every_library() -> None:
    assert nan_in_extremes(Reduction("min", "float32", (3,))) == {"nan"}
    for op, dtype in (
        ("mean", "float32"),
        ("sum", "float32"),
        ("min", "int32"),
        ("count_nonzero", "float32"),
    ):
        assert not nan_in_extremes(Reduction(op, dtype, (3,)))


def test_a_gate_is_a_kernel_on_the_stream(backend: Backend, driver: FakeDriver) -> None:
    problem = Reduction("minmax", "int16", (4, 5))
    with backend.prepare(problem, LibraryVariant(), [backend.upload(problem.make_source(0))]) as prepared:
        for seconds, spins in ((0.25, [0, 250_000_000]), (1e-3, [0, 250_000_000, 1_000_000])):
            gate = backend.gate(prepared, seconds)
            assert gate is not None
            # The first one loads the kernel's code, so that a gate does not hold for that much less.
            assert [arguments for *_, (arguments, _), _ in driver.launched] == [(spin,) for spin in spins]
            gate.open()
    *geometry, stream, _, extra = driver.launched[-1]
    assert geometry == ["kernel", 1, 1, 1, 1, 1, 1, 0]
    assert (stream, extra) == (77, 0)
    backend.synchronize()


def test_npp_tells_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> Any:
        assert ask.restype == ctypes.POINTER(ctypes.c_int * 3)  # type: ignore[attr-defined]
        return ctypes.pointer((ctypes.c_int * 3)(13, 0, 3))

    monkeypatch.setattr(npp, "_library", {"nppc": SimpleNamespace(nppGetLibVersion=ask)}.get)
    assert npp._version.__wrapped__() == "NPP 13.0.3"


def test_what_npp_lacks(backend: Backend) -> None:
    for problem, reason in (
        (Reduction("min", "int8", (3,)), "NPP has no function for min of int8"),
        (Reduction("sum", "int32", (3,)), "NPP has no function for sum of int32"),
        (Reduction("count_nonzero", "uint8", (3, 40000)), "miscounts in rows of more than 32768 elements"),
        (Reduction("count_nonzero", "uint8", (2**14, 2**14)), "miscounts among more than 134217728 elements"),
        (
            Laplace("four", "reflect_101", "laplacian", "uint8", 3, 3),
            "NPP has the border reflect_101 neither",
        ),
    ):
        assert reason in (backend.unsupported(problem, LibraryVariant()) or "")


def test_a_status_of_npp_is_an_error(backend: Backend) -> None:
    problem = Laplace("eight_negated", "replicate", "laplacian", "uint8", 3, 3, 3)
    source = backend.upload(problem.pack(problem.make_source(0)))
    with (
        backend.prepare(problem, LibraryVariant(), [source]) as ready,
        pytest.raises(BackendError, match=r"NPP, nppiFilterLaplaceBorder_8u_C3R_Ctx: status -17"),
    ):
        ready.enqueue(0)


@pytest.mark.parametrize(("status", "kind"), [(2, OutOfDeviceMemory), (700, DeviceLost), (1, BackendError)])
def test_a_status_of_the_driver_is_an_error(
    monkeypatch: pytest.MonkeyPatch, backend: Backend, status: int, kind: type[BackendError]
) -> None:
    monkeypatch.setattr(cuda_driver, "driver", FakeDriver(cuMemAlloc=status))
    with pytest.raises(kind, match=rf"cuMemAlloc: {status}"):
        backend.upload(np.ones(3))


@pytest.mark.usefixtures("driver")
def test_a_compiler_that_is_too_new_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "version", lambda: (15, 1))
    with pytest.raises(BackendUnavailable, match=r"NVRTC 15.1 is too new for the driver, .* up to 14.0"):
        npp.NppBackend.devices()


@pytest.mark.parametrize("name", ["numpy", "opencv"])
def test_a_reason_names_the_backend(name: str) -> None:
    with pytest.raises(BackendUnavailable, match=rf"^{name}: (there is no device 3|No module)") as caught:
        open_backend(name, 3)
    assert str(caught.value) == f"{caught.value.what}; what to do: {caught.value.remedy}"
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("op", "dtype", "shape", "function", "width"),
    [
        ("minmax", "int16", (40, 50), "nppsMinMax_16s_Ctx", 50),
        ("minmax", "uint8", (1000003,), "nppsMinMax_8u_Ctx", 1000003),
        ("minmax", "uint8", (4096, 4096), "nppsMinMax_8u_Ctx", 4096),
        ("minmax", "uint8", (8192, 8192), "nppiMinMax_8u_C1R_Ctx", 8192),
        ("minmax", "int16", (8192, 8192), "nppiMinMax_16s_C1R_Ctx", 8192),
        ("minmax", "int32", (8192, 8192), "nppsMinMax_32s_Ctx", 8192),
        ("min", "int16", (40, 50), "nppiMin_16s_C1R_Ctx", 50),
        # One row is folded into several; where it cannot be, it is a signal.
        ("min", "uint8", (2560 * 2560,), "nppiMin_8u_C1R_Ctx", 2560),
        ("count_nonzero", "uint8", (1, 3 * 2**20), "nppiCountInRange_8u_C1R_Ctx", 1536),
        ("min", "int16", (1000003,), "nppsMin_16s_Ctx", 1000003),
        ("min", "uint8", (1000003,), "nppiMin_8u_C1R_Ctx", 1000003),
        ("max", "int32", (40, 50), "nppsMax_32s_Ctx", 50),
    ],
)
def test_the_function_of_npp_fits_the_shape(
    op: str, dtype: str, shape: tuple[int, ...], function: str, width: int
) -> None:
    problem = Reduction(op, dtype, shape)
    found = npp._function(problem)
    assert found is not None
    assert (found.name, folded(problem)[1]) == (function, width)


def test_sums_in_the_type_of_the_elements(backend: Backend) -> None:
    narrow = LibraryVariant(accumulator="element")
    floats, words = Reduction("sum", "float32", (40, 50)), Reduction("sum", "int16", (40, 50))
    assert backend.unsupported(floats, narrow) is None
    assert backend.unsupported(floats, LibraryVariant()) == "NPP adds float32 in float32"
    said = backend.unsupported(words, narrow)
    assert said == "this library adds sum int16 40x50 in no narrower type than our kernels"

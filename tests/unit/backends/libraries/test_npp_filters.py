"""NPP's filters: each function by its prototype, right answers on a fake of these, and the reasons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backends import Backend
from backends.cuda import nvrtc
from harness.problems import BORDERS, IMAGE_DTYPES, MASKS, OUTPUTS, Laplace
from harness.variants.axes import LibraryVariant
from tests.support.checks import check_laplace
from tests.support.fake_cuda import FakeDriver
from tests.support.npp_headers import PROTOTYPES, FakeNppFilters, of_header

cuda_driver = pytest.importorskip("backends.cuda.driver", reason="pip install cuda-bindings")
npp = pytest.importorskip("backends.libraries.npp", reason="pip install cuda-pathfinder")

_VALUES = {"uint8": 200, "uint16": 40000, "int16": -1234, "float32": -0.375}


@pytest.fixture
def functions() -> FakeNppFilters:
    """NPP's functions."""
    return FakeNppFilters()


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch, functions: FakeNppFilters) -> Iterator[Backend]:
    """NPP with these functions on a fake driver."""
    fake = FakeDriver()
    for module in (cuda_driver, npp):
        monkeypatch.setattr(module, "driver", fake)
    monkeypatch.setattr(npp, "_library", lambda _: functions)
    monkeypatch.setattr(npp, "_version", lambda: "NPP 13.0.3")
    monkeypatch.setattr(nvrtc, "version", lambda: (13, 0))
    with npp.NppBackend.open(0) as opened:
        yield opened


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@pytest.mark.parametrize("border", [border for border in BORDERS if border != "reflect_101"])
def test_every_mask_and_output(backend: Backend, border: str, dtype: str, channels: int) -> None:
    value = _VALUES[dtype] if border == "constant" else 0
    for mask in MASKS:
        for output in OUTPUTS:
            for height, width in ((1, 1), (5, 7)):
                problem = Laplace(mask, border, output, dtype, height, width, channels, value)
                check_laplace(backend, problem, problem.make_source(seed=3))


@pytest.mark.parametrize(
    ("mask", "border", "output", "dtype", "called"),
    [
        ("eight_negated", "replicate", "laplacian", "uint8", ["nppiFilterLaplaceBorder_8u_C1R_Ctx"]),
        ("eight_negated", "reflect", "laplacian", "float32", ["nppiFilterLaplaceBorder_32f_C1R_Ctx"]),
        # NPP's Laplace filter has no uint16; its sharpening filter divides the mask by 8.
        ("eight_negated", "replicate", "laplacian", "uint16", ["nppiFilterBorder_16u_C1R_Ctx"]),
        ("eight_negated", "replicate", "sharpened", "uint8", ["nppiFilterBorder_8u_C1R_Ctx"]),
        ("four", "replicate", "laplacian", "int16", ["nppiFilterBorder_16s_C1R_Ctx"]),
        (
            "eight_negated",
            "wrap",
            "laplacian",
            "int16",
            ["nppiCopyWrapBorder_16s_C1R_Ctx", "nppiFilterLaplace_16s_C1R_Ctx"],
        ),
        (
            "diagonal",
            "constant",
            "sharpened",
            "float32",
            # nppiFilter_32f_C1R reads nothing outside of what it filters.
            ["nppiCopyConstBorder_32f_C1R_Ctx", "nppiFilterBorder_32f_C1R_Ctx"],
        ),
    ],
)
def test_the_functions_and_what_a_record_says_of_them(
    backend: Backend,
    functions: FakeNppFilters,
    mask: str,
    border: str,
    output: str,
    dtype: str,
    called: list[str],
) -> None:
    """The copy that adds a border is part of every call: it is timed."""
    problem = Laplace(mask, border, output, dtype, 3, 4)
    source = backend.upload(problem.pack(problem.make_source(0)))
    with backend.prepare(problem, LibraryVariant(), [source]) as prepared:
        assert functions.called == []
        prepared.enqueue(0)
        prepared.enqueue(0)
        assert functions.called == 2 * called
        assert prepared.note == f"{', then '.join(called)}; NPP 13.0.3"
        assert prepared.calls_per_result == len(called)


def test_the_border_that_npp_lacks(backend: Backend) -> None:
    problem = Laplace("four", "reflect_101", "laplacian", "uint8", 3, 3)
    said = backend.unsupported(problem, LibraryVariant())
    assert said == "NPP has the border reflect_101 neither in its filters nor as a copy of the image"


def test_prototypes_as_headers_write_them() -> None:
    text = """
    /* NppStatus old(int a); */
    NppStatus
    nppiX_8u_C3R_Ctx(const Npp8u * pSrc, Npp32s nStep, const Npp32s * pKernel, NppiSize oSize,
                     const Npp8u aValue[3], NppStreamContext nppStreamCtx);
    """
    wanted = ("Npp8u*", "int", "Npp32s*", "NppiSize", "Npp8u[3]", "NppStreamContext")
    assert of_header(text) == {"nppiX_8u_C3R_Ctx": wanted}


def test_the_prototypes_are_those_of_the_headers() -> None:
    """Where NVIDIA's wheel is installed."""
    nvidia = pytest.importorskip("nvidia", reason="pip install nvidia-npp")
    folders = [path for root in nvidia.__path__ for path in Path(root).glob("*/include")]
    headers = [
        path
        for folder in folders
        for path in folder.glob("nppi_*.h")
        if path.stem in ("nppi_filtering_functions", "nppi_data_exchange_and_initialization")
    ]
    if len(headers) != 2:
        pytest.skip("the headers of NPP are not installed: pip install nvidia-npp")
    found = {name: types for path in headers for name, types in of_header(path.read_text("utf-8")).items()}
    assert {name: found.get(name) for name in PROTOTYPES} == PROTOTYPES

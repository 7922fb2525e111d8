"""CV-CUDA's Laplace filter on a fake of it, whose signatures are those of its stubs; what it lacks."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from backends import Backend
from backends.cuda import nvrtc
from backends.errors import BackendError
from harness.problems import BORDERS, Laplace, Reduction
from harness.variants.axes import LibraryVariant
from tests.support import fake_cvcuda
from tests.support.checks import check_laplace
from tests.support.fake_cuda import FakeDriver

cuda_driver = pytest.importorskip("backends.cuda.driver", reason="pip install cuda-bindings")
_MODULE = "backends.libraries.cvcuda"


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Backend]:
    """CV-CUDA on a fake GPU."""
    monkeypatch.setitem(sys.modules, "cvcuda", fake_cvcuda.module())
    monkeypatch.setattr(cuda_driver, "driver", FakeDriver())
    monkeypatch.setattr(nvrtc, "version", lambda: (13, 0))
    monkeypatch.delitem(sys.modules, _MODULE, raising=False)
    with importlib.import_module(_MODULE).CvCudaBackend.open(0) as opened:
        yield opened
    del sys.modules[_MODULE]


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("border", BORDERS)
def test_every_mask_that_it_has(backend: Backend, border: str, dtype: str, channels: int) -> None:
    for mask in ("four", "four_negated", "diagonal"):
        for height, width in ((1, 1), (5, 7)):
            problem = Laplace(mask, border, "laplacian", dtype, height, width, channels)
            check_laplace(backend, problem, problem.make_source(seed=3))


def test_rows_are_read_where_they_lie(backend: Backend) -> None:
    problem = Laplace("diagonal", "wrap", "laplacian", "uint16", 3, 5, 3)
    source = backend.upload(problem.pack(problem.make_source(0)))
    image = sys.modules[_MODULE]._Image(source.handle, problem, 77)
    told = image.__cuda_array_interface__
    assert (told["shape"], told["strides"]) == ((3, 5, 3), (128, 6, 2))
    assert (told["data"], told["stream"]) == ((source.handle.pointer, False), 77)


def test_what_a_record_says(backend: Backend) -> None:
    problem = Laplace("four_negated", "wrap", "laplacian", "uint8", 3, 5)
    source = backend.upload(problem.pack(problem.make_source(0)))
    with backend.prepare(problem, LibraryVariant(), [source]) as prepared:
        assert prepared.note == "cvcuda.laplacian_into, ksize 1, scale -1"
        assert prepared.accumulator == "float32"


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (Laplace("eight", "wrap", "laplacian", "uint8", 3, 3), "has the masks four, four_negated, diagonal"),
        (Laplace("four", "wrap", "sharpened", "uint8", 3, 3), "unsharpened, only"),
        (Laplace("four", "wrap", "laplacian", "int16", 3, 3), "has no int16"),
        (Laplace("four", "constant", "laplacian", "uint8", 3, 3, 1, 9), "no other constant border than 0"),
        (Laplace("four", "wrap", "laplacian", "float32", 2**15, 2**15), "at most 2147483647 bytes"),
        (Reduction("sum", "int32", (3,)), "not used for reductions"),
    ],
)
def test_what_it_lacks(backend: Backend, problem: Laplace | Reduction, reason: str) -> None:
    assert reason in (backend.unsupported(problem, LibraryVariant()) or "")


def test_its_error_is_ours(backend: Backend) -> None:
    with pytest.raises(BackendError, match="CV-CUDA, enqueueing the filter: NVCV_ERROR_INTERNAL"):
        backend.laplace(np.full((1, 1), 13, np.uint8))


def test_the_signatures_are_those_of_the_stubs() -> None:
    """Where its wheel is installed; it need not be importable, which takes a driver."""
    found = find_spec("cvcuda")
    stubs = Path(found.origin).with_name("__init__.pyi") if found and found.origin else None
    if stubs is None or not stubs.exists():
        pytest.skip("CV-CUDA is not installed: pip install cvcuda-cu13")
    tree = ast.parse(stubs.read_text("utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    names = [
        [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        for node in functions
    ]
    told = {(node.name, *each) for node, each in zip(functions, names, strict=True)}
    for fake in (fake_cvcuda.laplacian_into, fake_cvcuda.as_tensor, fake_cvcuda.as_stream):
        assert (fake.__name__, *inspect.signature(fake).parameters) in told
    (borders,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Border")
    assert all(border.name in ast.unparse(borders) for border in fake_cvcuda.Border)

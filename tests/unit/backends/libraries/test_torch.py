"""PyTorch's backend with a stand-in for PyTorch: what a record says, and the memory that PyTorch keeps."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Literal
from unittest.mock import MagicMock

import pytest

from backends.cuda import nvrtc
from harness.problems import Reduction
from harness.variants.axes import LibraryVariant
from tests.support.fake_cuda import FakeDriver

cuda_driver = pytest.importorskip("backends.cuda.driver", reason="pip install cuda-bindings")
_MODULE = "backends.libraries.torch"
_WIDENS = "widens the source into a copy first"


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module, imported with the stand-in, on a fake GPU."""
    for name in ("torch", "backends.libraries.torch_filters"):
        monkeypatch.setitem(sys.modules, name, MagicMock())
    monkeypatch.setattr(cuda_driver, "driver", FakeDriver())
    monkeypatch.setattr(nvrtc, "version", lambda: (13, 0))
    monkeypatch.delitem(sys.modules, _MODULE, raising=False)
    yield importlib.import_module(_MODULE)
    del sys.modules[_MODULE]


@pytest.mark.parametrize(
    ("op", "dtype", "accumulator", "note"),
    [
        ("sum", "uint8", "wide", _WIDENS),
        ("sum", "float32", "wide", _WIDENS),
        ("product", "int32", "wide", _WIDENS),
        ("count_nonzero", "int64", "wide", _WIDENS),
        ("sum", "float32", "element", ""),
        ("sum", "float64", "wide", ""),
        ("sum", "int64", "wide", ""),
        ("minmax", "uint8", "wide", ""),
        ("minmaxloc", "uint8", "wide", "three calls, aminmax, argmin and argmax"),
    ],
)
def test_a_record_tells_of_a_copy_that_is_wider(
    library: ModuleType, op: str, dtype: str, accumulator: Literal["wide", "element"], note: str
) -> None:
    variant = LibraryVariant(accumulator=accumulator)
    assert library._reductions(Reduction(op, dtype, (5,)), variant, []).note == note


def test_memory_goes_back_when_asked_and_at_close(library: ModuleType) -> None:
    empty = library.torch.cuda.empty_cache
    with library.TorchBackend.open(0) as backend:
        assert not empty.called
        backend.give_back_memory()
        assert empty.call_count == 1
        # A lost device refuses everything.
        empty.side_effect = RuntimeError
    assert empty.call_count == 2

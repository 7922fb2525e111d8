"""The filter that CuPy's backend calls, with NumPy and SciPy in CuPy's place, which have these functions."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
import scipy
import scipy.ndimage

from harness.problems import BORDERS, IMAGE_DTYPES, MASKS, OUTPUTS, Laplace

_MODULE = "backends.libraries.cupy_calls"
_VALUES = {"uint8": 200, "uint16": 40000, "int16": -1234, "float32": -0.375}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module, imported with these in CuPy's place."""
    cupyx = ModuleType("cupyx")
    for name, module in (
        ("cupy", np),
        ("cupyx", cupyx),
        ("cupyx.scipy", scipy),
        ("cupyx.scipy.ndimage", scipy.ndimage),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, _MODULE, raising=False)
    yield importlib.import_module(_MODULE)
    del sys.modules[_MODULE]


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@pytest.mark.parametrize("border", BORDERS)
def test_every_mask_and_output(calls: ModuleType, border: str, dtype: str, channels: int) -> None:
    """CuPy's filters do not saturate: the backend clips."""
    value = _VALUES[dtype] if border == "constant" else 0
    for mask in MASKS:
        for output in OUTPUTS:
            for height, width in ((1, 1), (5, 7)):
                problem = Laplace(mask, border, output, dtype, height, width, channels, value)
                source = problem.make_source(seed=3)
                (answer,) = calls.filters(problem, [problem.pack(source)]).each[0]()
                outcome = problem.verify(answer, source)
                assert outcome.ok, f"{problem.label}: {outcome.message}"


def test_what_a_record_says(calls: ModuleType) -> None:
    for dtype, told in (
        ("uint8", "correlate into int32, clip, cast: three kernels"),
        ("float32", "one kernel"),
    ):
        problem = Laplace("four", "wrap", "laplacian", dtype, 3, 3)
        note = calls.filters(problem, [problem.pack(problem.make_source(0))]).note
        assert note.endswith(told)

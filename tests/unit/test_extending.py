"""The worked examples of docs/extending.md do what they say."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from backends import REGISTRY, Entry, Unsupported, available, open_backend
from harness.problems.operations import OPS, Op
from harness.suites.expand import expand
from harness.suites.files import parse_suite

TEXT = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def example(language: str, having: str) -> str:
    """The one block of code of that language with these words."""
    (found,) = [text for name, text in FENCE.findall(TEXT) if name == language and having in text]
    return str(found)


def test_a_derived_reduction_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: dict[str, Op] = {}
    exec(example("python", 'OPS["spread"]'), {"OPS": rows, "Op": Op, "np": np})
    monkeypatch.setitem(OPS, "spread", rows["spread"])
    with open_backend("numpy") as backend:
        assert backend.reduce("spread", np.array([[3, -4], [7, 5]], np.int16)) == 11.0


def test_a_derived_reduction_takes_the_kernels_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(missing := available()["opencl"], str):
        pytest.skip(missing)
    rows: dict[str, Op] = {}
    exec(example("python", 'OPS["spread"]'), {"OPS": rows, "Op": Op, "np": np})
    monkeypatch.setitem(OPS, "spread", rows["spread"])
    with open_backend("opencl") as backend:
        assert backend.reduce("spread", np.arange(-50, 1000, dtype=np.int16)) == 1049.0


def test_a_backend_is_a_file_and_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: dict[str, Entry] = {}
    exec(example("python", 'REGISTRY["einsum"]'), {"REGISTRY": rows, "Entry": Entry})
    module = ModuleType(rows["einsum"].path.partition(":")[0])
    exec(example("python", "class EinsumBackend"), module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(REGISTRY, "einsum", rows["einsum"])
    with open_backend("einsum") as backend:
        assert backend.device.key == "einsum:0"
        assert backend.reduce("sum", np.arange(100, dtype=np.uint8)) == 4950
        with pytest.raises(Unsupported, match="einsum does not compute min"):
            backend.reduce("min", np.arange(100, dtype=np.uint8))


def test_a_suite_is_a_toml_file() -> None:
    suite = parse_suite("my.toml", example("toml", "title"))
    with open_backend("numpy") as backend:
        assert [case.problem.label for case in expand(suite, [backend.device])] == [
            "sum float32 3000x2000",
            "sum float64 3000x2000",
        ]


def test_what_the_rows_name_exists() -> None:
    root = Path(__file__).parents[2]
    paths = set(re.findall(r"`((?:harness|backends|reports|kernels_c[lu])/[\w/.]+)`", TEXT))
    assert len(paths) > 10
    assert not {path for path in paths if "NAME" not in path and not (root / path).exists()}
    for path in (path for path in paths if "NAME" in path):
        assert (root / path).parent.is_dir(), path

"""A run file of three records and a picture, for the tests of run files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.problems import Reduction
from harness.results.record import Case, Record, Samples
from harness.results.run_writer import RunWriter
from harness.variants.axes import LibraryVariant

ENVIRONMENT = {"suite": "smoke", "host": {"cpu": "Prozeßor"}}


def record(n: int, **fields: Any) -> Record:
    """The record of a case that ``n`` tells from others."""
    return Record(Case("fake", 0, Reduction("min", "int32", (n,)), LibraryVariant()), "ok", **fields)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run file of three records and a picture."""
    path = tmp_path / "new folder" / "run.jsonl"
    with RunWriter(path, ENVIRONMENT) as writer:
        writer.write(record(1, clocks={"queue": Samples((1e-6, 1.1e-6), 8)}))
        writer.write(record(2))
        writer.write_image({"title": "original", "png": "AAAA"})
        writer.write(record(3))
    return path

"""Suites that a test writes."""

from __future__ import annotations

from pathlib import Path

from harness.suites.files import load_suite
from harness.suites.schema import Suite


def written(tmp_path: Path, text: str) -> Suite:
    """The suite of this text and a title."""
    path = tmp_path / "mine.toml"
    path.write_text('title = "mine"\n' + text, encoding="utf-8")
    return load_suite(str(path))


def reductions(extra: str = "", dtypes: str = '"int32"') -> str:
    """A block of two operations at one size, as text."""
    return f'[[reduction]]\nops = ["min", "sum"]\ndtypes = [{dtypes}]\nshapes = [[100, 3]]\n{extra}\n'

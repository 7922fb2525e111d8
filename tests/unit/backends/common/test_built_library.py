"""Libraries that are kept on disk, and what cannot be loaded of them."""

from __future__ import annotations

import _ctypes
import shutil
from pathlib import Path

import pytest

from backends.common.built_library import built_library
from backends.errors import BackendError


def build(built: Path) -> None:
    """A library that is there already: Python's own for ctypes."""
    shutil.copyfile(_ctypes.__file__, built)


def test_what_cannot_be_loaded_is_built_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "new" / "kept.so"
    path.parent.mkdir()
    path.write_bytes(b"")
    assert built_library(path, build).PyInit__ctypes
    assert path.stat().st_size
    assert "is built anew" in caplog.text
    assert built_library(path, lambda _: pytest.fail("it is there")).PyInit__ctypes


def test_what_was_built_and_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    def no_library(built: Path) -> None:
        built.write_bytes(b"no library")

    with pytest.raises(BackendError, match=r"kept\.so was built, but cannot be loaded: "):
        built_library(tmp_path / "kept.so", no_library)

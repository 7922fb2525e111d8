"""Files that other processes read while they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.files import replacing


def test_a_file_is_replaced_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    for text in ("first", "second"):
        with replacing(path) as whole:
            whole.write_text(text[:2])
            assert not path.exists() or path.read_text() == "first"
            whole.write_text(text)
        assert path.read_text() == text
    assert list(path.parent.iterdir()) == [path]


def test_a_file_stays_as_it_was_where_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("first")
    with pytest.raises(TypeError), replacing(path) as whole:
        whole.write_bytes("half")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError), replacing(path):
        pass
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]

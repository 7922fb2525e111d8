"""Files that other processes read while they are written."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from pathlib import Path
from typing import NoReturn

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


@pytest.mark.parametrize("named", [False, True], ids=["by a write", "by what names the part"])
def test_an_error_of_the_disk_names_the_file(tmp_path: Path, named: bool) -> None:
    path = tmp_path / "file"
    path.write_text("first")
    told = re.escape(f"No space left on device: '{path}'")
    with pytest.raises(OSError, match=told) as error, replacing(path) as whole:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *([str(whole)] if named else []))
    assert error.value.filename == str(path)
    assert path.read_text() == "first"


def test_a_folder_that_cannot_be_written_to_is_told_by_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**where: object) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), f"{where['dir']}/tmpvcn2peag")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    with pytest.raises(PermissionError) as error, replacing(tmp_path / "file"):
        pass
    assert error.value.filename == str(tmp_path / "file")


def test_an_error_of_another_file_names_that(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error, replacing(tmp_path / "file"):
        (tmp_path / "missing").read_bytes()
    assert error.value.filename == str(tmp_path / "missing")


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    path, link = tmp_path / "folder" / "file", tmp_path / "link"
    link.symlink_to(path)
    with replacing(link) as whole:
        whole.write_text("text")
    assert link.is_symlink()
    assert path.read_text() == "text"

"""The folders of compilers' caches: what cannot be written to is replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends import available
from backends.common import caches
from harness.cli import doctor
from harness.results.runfile import load_run
from tests.support.command import Harness, harness, python

__all__ = ["harness"]

NO_HOME = "/proc/nohome"
"""Nobody can make it, not even root."""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home that can be written, and a folder of temporary files; none of the variables is set."""
    for variable in caches.CACHES:
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    caches.temporary_caches.cache_clear()
    yield tmp_path
    caches.temporary_caches.cache_clear()


def test_a_run_without_a_home_has_opencl(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(found := available()["opencl"], str):
        pytest.skip(found)
    for variable in caches.CACHES:
        monkeypatch.delenv(variable, raising=False)
    where = {"HOME": NO_HOME, "TMPDIR": str(harness.folder)}
    arguments = ("--backend", "opencl", "--run", "my.jsonl")
    done = python("-m", "harness", "run", str(harness.suite()), *arguments, **where)
    assert done.returncode == 0, done.stderr
    assert {record.status for record in load_run("my.jsonl").records} == {"ok"}


def test_pocl_without_a_cache_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = available()["opencl"]
    if isinstance(found, str) or {device.platform for device in found} != {"Portable Computing Language"}:
        pytest.skip(f"not PoCL alone is here: {found}")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    code = "from backends.opencl.device import all_devices; all_devices()"
    done = python("-c", code, POCL_CACHE_DIR=NO_HOME)
    assert "BackendUnavailable: no device on any platform" in done.stderr
    assert "what to do: set POCL_CACHE_DIR to a folder that can be written" in done.stderr


@pytest.mark.usefixtures("temporary")
def test_a_home_that_can_be_written_stays_as_it_is() -> None:
    assert caches.unusable() == {}
    assert not list(Path(os.environ["HOME"]).iterdir())
    assert {finding.status for finding in doctor._cache_folders()} == {"ok"}


@pytest.mark.parametrize(
    ("variables", "spoilt"),
    [
        ({"HOME": NO_HOME}, {"XDG_CACHE_HOME", "CUPY_CACHE_DIR"}),
        ({"XDG_CACHE_HOME": "relative"}, {"XDG_CACHE_HOME"}),
        ({"POCL_CACHE_DIR": NO_HOME}, {"POCL_CACHE_DIR"}),
        ({}, {"XDG_CACHE_HOME"}),
    ],
)
def test_what_cannot_be_written_is_replaced_and_told(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], spoilt: set[str]
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    if not variables:
        # As a folder that another user has made; root could write to that.
        (temporary / "home" / ".cache").mkdir()
        (temporary / "home" / ".cache" / "pocl").touch()
    findings = [finding for finding in doctor._cache_folders() if finding.status == "note"]
    assert {finding.remedy.split()[1] for finding in findings} == spoilt
    for variable in caches.CACHES:
        monkeypatch.setenv(variable, os.environ.get(variable, ""))
    assert set(caches.unusable()) == spoilt
    caches.use_writable_caches.__wrapped__()
    assert caches.unusable() == {}
    for variable in spoilt:
        assert Path(os.environ[variable]) == temporary / f"harness-caches-{os.getuid()}"
        assert f"{os.environ[variable]} is used" in findings[0].detail


def test_a_temporary_cache_that_others_can_write_to_is_not_taken(temporary: Path) -> None:
    known = temporary / f"harness-caches-{os.getuid()}"
    known.mkdir()
    known.chmod(0o777)
    assert caches.temporary_caches() != known
    assert caches.temporary_caches().stat().st_mode & 0o077 == 0

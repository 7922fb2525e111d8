"""What lies in the current folder is the user's: neither the command nor its processes import it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from harness.cli import doctor
from harness.runner.safe_path import leave_current_folder
from harness.runner.worker_process import Worker
from tests.support.command import SUITE

ROOT = Path(__file__).parents[2]
PACKAGES = ("harness", "backends", "reports", "kernels_cl", "kernels_cu")
TOLD = "TOLD"
"""Names the file to which :func:`installed` packages write where they were imported from."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder whose modules have the names of ours, of libraries and of Python's own."""
    path = tmp_path / "users"
    for package in ("backends", "harness", "reports"):
        (path / package).mkdir(parents=True)
        (path / package / "__init__.py").write_text(f"raise SystemExit('the user has {package}')")
    for module in ("json", "numpy", "datetime"):
        (path / f"{module}.py").write_text(f"raise SystemExit('the user has {module}')")
    (path / "tiny.toml").write_text(SUITE)
    monkeypatch.chdir(path)
    monkeypatch.setenv("HARNESS_LOCK_DIR", str(tmp_path / "locks"))
    return path


def installed(folder: Path) -> Path:
    """A folder that our packages are installed in; each process tells whence it imports them."""
    for package in PACKAGES:
        skipped = shutil.ignore_patterns("__pycache__", "examples", "generated")
        shutil.copytree(ROOT / package, folder / package, ignore=skipped)
    with (folder / "harness" / "__init__.py").open("a") as file:
        file.write(
            f"\nimport os\nwith open(os.environ[{TOLD!r}], 'a') as told:\n    told.write(__file__ + '\\n')\n"
        )
    return folder


def script() -> tuple[str, ...]:
    """What an installed console script does; like Python's own, it does not begin with the current folder."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    module, _, function = project["project"]["scripts"]["harness"].partition(":")
    return ("-P", "-c", f"import sys; from {module} import {function}; sys.exit({function}())")


OTHERS = os.environ.get("PYTHONPATH", "")
"""Where some systems have the packages that we need."""


def call(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A Python process in the current folder, with these environment variables besides."""
    command, environment = [sys.executable, *arguments], {**os.environ, **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


VERBS = (
    ("list", "backends"),
    # With the report that it writes.
    ("run", "tiny.toml", "--backend", "numpy", "--run", "my.jsonl"),
)


@pytest.mark.parametrize("path", ["{}:", ":{}"], ids=["here-last", "here-first"])
def test_the_script_imports_nothing_of_the_current_folder(folder: Path, tmp_path: Path, path: str) -> None:
    packages, told = installed(tmp_path / "packages"), tmp_path / "told.txt"
    if path.startswith(":"):
        # An empty place in PYTHONPATH is the current folder: Python itself then takes the user's package.
        shutil.rmtree(folder / "harness")
    for verb in VERBS:
        done = call(
            *script(),
            *verb,
            PYTHONPATH=path.format(os.pathsep.join(filter(None, [str(packages), OTHERS]))),
            TOLD=str(told),
        )
        assert done.returncode == 0, (verb, done.stdout, done.stderr)
    assert set(told.read_text().splitlines()) == {str(packages / "harness" / "__init__.py")}
    assert len(told.read_text().splitlines()) > len(VERBS)


def test_python_m_imports_nothing_of_the_current_folder(folder: Path, tmp_path: Path) -> None:
    # Which package -m names, Python itself decides.
    shutil.rmtree(folder / "harness")
    packages, told = installed(tmp_path / "packages"), tmp_path / "told.txt"
    for verb in VERBS:
        done = call(
            "-m",
            "harness",
            *verb,
            PYTHONPATH=os.pathsep.join(filter(None, [str(packages), OTHERS])),
            TOLD=str(told),
        )
        assert done.returncode == 0, (verb, done.stdout, done.stderr)
    assert set(told.read_text().splitlines()) == {str(packages / "harness" / "__init__.py")}


def test_python_m_in_a_checkout_needs_no_installation(folder: Path, tmp_path: Path) -> None:
    packages, told = installed(tmp_path / "packages"), tmp_path / "told.txt"
    os.chdir(packages)
    verb = ("run", str(folder / "tiny.toml"), "--backend", "numpy", "--run", str(tmp_path / "my.jsonl"))
    done = call("-m", "harness", *verb, TOLD=str(told))
    assert done.returncode == 0, done.stderr
    assert set(told.read_text().splitlines()) == {str(packages / "harness" / "__init__.py")}
    assert len(told.read_text().splitlines()) > 1


@pytest.mark.usefixtures("folder")
def test_a_worker_imports_nothing_of_the_current_folder() -> None:
    worker = Worker("numpy", 0, {})
    worker.wait_until_open()
    worker.finish()


def test_a_worker_imports_what_an_interactive_session_in_a_checkout_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages, told = installed(tmp_path / "packages"), tmp_path / "told.txt"
    monkeypatch.chdir(packages)
    code = (
        "from harness.runner.worker_process import Worker\n"
        "worker = Worker('numpy', 0, {}); worker.wait_until_open(); worker.finish()"
    )
    done = call("-c", code, TOLD=str(told))
    assert done.returncode == 0, done.stderr
    assert told.read_text().splitlines() == [str(packages / "harness" / "__init__.py")] * 2


def test_the_doctors_probes_import_nothing_of_the_current_folder(folder: Path) -> None:
    assert doctor._probe("numpy")["devices"][0]["error"] == ""
    done = doctor._python("-c", "import json, numpy; print(numpy.__file__)")
    assert not isinstance(done, str)
    assert done.returncode == 0, done.stderr
    assert str(folder) not in done.stdout


def test_a_current_folder_that_is_gone_is_no_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    paths = list(sys.path)
    monkeypatch.setattr(sys, "path", ["", *paths])
    leave_current_folder()
    assert sys.path == paths

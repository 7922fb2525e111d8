"""The command called in a test: in this process, in a folder of its own; and the tiny suite it is given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from skimage.io import imsave

from harness.cli import app
from harness.results.record import Record, Status
from harness.results.run_writer import Writer
from harness.runner import session
from harness.runner.plan import RunPlan

SUITE = """
title = "a tiny one"
[measure]
samples = 3
case_seconds = 0.05
controls = false
[[reduction]]
ops = ["minmax", "sum"]
dtypes = ["int32"]
shapes = [[50, 40]]
"""
LAPLACE = """
[[laplace]]
masks = ["four"]
borders = ["wrap"]
outputs = ["laplacian"]
dtypes = ["uint8"]
channels = [1]
sizes = [[64, 48]]
"""


class Outcome:
    """Exit code, standard output and standard error of one command."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


class Harness:
    """Calls the command in this process, in a folder of its own."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder, self._monkeypatch, self._capsys = folder, monkeypatch, capsys
        monkeypatch.chdir(folder)
        # Workers are started from here and must find the checkout.
        monkeypatch.setenv("PYTHONPATH", _search_path())
        monkeypatch.delenv("HARNESS_DEBUG", raising=False)
        # Other tests may be running on this machine.
        monkeypatch.setenv("HARNESS_LOCK_DIR", str(folder.parent / f"{folder.name}-locks"))
        # Nor is what another test found to be remembered here.
        monkeypatch.setenv("HARNESS_LIMITS_DIR", str(folder.parent / f"{folder.name}-limits"))

    def __call__(self, *arguments: object) -> Outcome:
        self._monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments)])
        self._capsys.readouterr()
        code = 0
        try:
            app.main()
        except SystemExit as end:
            code = int(end.code or 0)
        captured = self._capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    def suite(self, text: str = SUITE) -> Path:
        """A suite in the folder."""
        path = self.folder / "tiny.toml"
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Harness:
    """The command; import it into a test module by name."""
    return Harness(tmp_path, monkeypatch, capsys)


def photograph(path: Path, seed: int = 0) -> None:
    """Writes a small photograph of random pixels."""
    imsave(path, np.random.default_rng(seed).integers(0, 256, (30, 20, 3), dtype=np.uint8))


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A Python process that finds the checkout, with these environment variables besides."""
    environment = {**os.environ, "PYTHONPATH": _search_path(), **variables}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def _search_path() -> str:
    """PYTHONPATH with the checkout first, and whatever was on it: packages may be found there alone."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return os.pathsep.join(filter(None, paths))


def unmeasured(monkeypatch: pytest.MonkeyPatch, status: Status = "skipped") -> None:
    """Has runs write a record of that status for each case, and measure none."""

    def run_cases(plan: RunPlan, writer: Writer, *_: object) -> None:
        for case in plan.cases:
            writer.write(Record(case, status, "for speed"))

    monkeypatch.setattr(session, "run_cases", run_cases)

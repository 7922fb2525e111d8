"""The pytest-benchmark entry points from outside: a plain ``pytest`` and ``pytest --benchmark-only``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from backends import REGISTRY
from harness.results.runfile import load_run
from harness.runner.device_lock import FOLDER
from tests.conftest import BENCHMARKS, found
from tests.support.command import SUITE

ROOT = Path(__file__).parents[3]


def run_pytest(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """One pytest in a process of its own, from the top of the checkout, with locks of its own; it has the
    plugins that an installation gives it.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # Of an installation pytest has found those that it knew when it was installed.
    known = {entry.value for entry in entry_points(group="pytest11")}
    missing = set(project.get("entry-points", {}).get("pytest11", {}).values()) - known
    plugins = [word for plugin in ("no:cacheprovider", *missing) for word in ("-p", plugin)]
    command = [sys.executable, "-m", "pytest", *plugins, "-rs", *arguments]
    with tempfile.TemporaryDirectory() as locks:
        # Workers of xdist tell their children so, who would then measure nothing.
        outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
        environment = {**outside, FOLDER: locks}
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, env=environment
        )


def test_benchmark_only_measures_a_suite_and_the_report_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "benchmark.json"
    done = run_pytest(
        "--benchmark-only", "--suite", "smoke", "--backend", "numpy", "--benchmark-json", str(path)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    run = load_run(path)
    assert run.environment["suite"] == "smoke"
    assert "numpy" in {device["backend"] for device in run.environment["devices"]}
    assert [record.case.role for record in run.records].count("control") == 1
    assert len(run.records) == 9
    benchmarks = json.loads(path.read_text())["benchmarks"]
    for benchmark, record in zip(benchmarks, run.records, strict=True):
        assert record.status == "ok"
        seconds = record.clocks["queue"].seconds
        assert benchmark["stats"]["rounds"] == len(seconds)
        assert abs(benchmark["stats"]["min"] - min(seconds)) < 1e-12
        assert benchmark["extra_info"]["GB/s"] > 0
        assert benchmark["extra_info"]["variant"] == "library"
        assert benchmark["options"]["timer"] == "device_seconds"


@pytest.mark.parametrize("place", ["here", "elsewhere"])
def test_a_suite_of_ones_own(tmp_path: Path, place: str) -> None:
    """A file that exists is taken for a path of tests until the option before it is known."""
    suite = tmp_path / "mine.toml"
    suite.write_text(SUITE)
    # From the checkout the benchmarks are found, from elsewhere they are named.
    arguments = [str(BENCHMARKS)] if place == "elsewhere" else []
    done = run_pytest(
        *("--benchmark-only", "--suite", str(suite), "--backend", "numpy", *arguments),
        folder=tmp_path if place == "elsewhere" else ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_other_projects_may_have_options_of_the_same_names(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--backend')\n    parser.addoption('--device')\n"
    )
    (tmp_path / "test_other.py").write_text(
        "def test_other(pytestconfig):\n    assert pytestconfig.getoption('--backend') == 'metal'\n"
    )
    done = run_pytest("--backend", "metal", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_a_plain_run_says_how_to_ask_for_benchmarks() -> None:
    # All tests are found, but for those that take long to be.
    left_out = (f"--ignore=tests/{folder}" for folder in ("contract", "fuzz", "kernels", "unit"))
    done = run_pytest("tests", "-k", "test_case", *left_out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 skipped" in done.stdout
    assert "benchmarks run with --benchmark-only" in done.stdout


def test_a_missing_backend_is_skipped_with_its_reason() -> None:
    missing = {name: reason for name in REGISTRY if isinstance(reason := found()[name], str)}
    if not missing:
        pytest.skip("every backend is there")
    done = run_pytest("--benchmark-only", *(word for name in missing for word in ("--backend", name)))
    assert done.returncode == 0, done.stdout + done.stderr
    for reason in missing.values():
        assert reason[:60] in done.stdout.replace("\n", " ")


def test_mistakes_are_named() -> None:
    for arguments, message in (
        (("--backend", "metal"), "backend 'metal' is unknown"),
        (("--suite", "quik"), "did you mean 'quick'"),
        (("--device", "opencl:99"), "no device matches 'opencl:99'"),
        (("--suite", "smoke", "--benchmark-json=none/a.json"), "none/a.json: there is no folder none"),
    ):
        done = run_pytest("--benchmark-only", *arguments)
        assert message in done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        assert done.returncode == pytest.ExitCode.USAGE_ERROR

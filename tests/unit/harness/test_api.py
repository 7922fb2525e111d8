"""The Python interface: what it gives of recorded runs, what it measures, what it refuses."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import harness
from backends import available
from harness.results.record import Record
from harness.results.run_writer import RunWriter
from harness.results.runfile import load_run
from harness.suites.adhoc import Problems, adhoc_suite
from reports.dataset import frame
from reports.export import RECORD_COLUMNS
from reports.ratios import comparisons
from tests.support.command import python

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "reports" / "examples" / "h200-8192x8192.jsonl.xz"
TINY = {"op": "sum", "dtype": "int32", "shape": (50, 40), "backend": "numpy", "samples": 3, "processes": 1}


def test_importing_harness_imports_nothing_heavy() -> None:
    heavy = ["numpy", "pandas", "pydantic", "typer", "matplotlib", "scipy"]
    code = f"import sys, harness; print(dir(harness), [name for name in {heavy} if name in sys.modules])"
    told = python("-c", code).stdout
    assert told.strip().endswith("[]")
    assert "'compare'" in told
    assert "'load'" in told


def test_what_harness_has_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'harness' has no attribute 'laod'"):
        harness.laod  # type: ignore[attr-defined] # noqa: B018


def test_load_gives_a_row_a_record() -> None:
    table = harness.load(EXAMPLE)
    assert list(table.columns) == ["run", *RECORD_COLUMNS]
    whole = frame(load_run(EXAMPLE))
    pd.testing.assert_frame_equal(table[list(RECORD_COLUMNS)], whole[list(RECORD_COLUMNS)])
    assert set(table["run"]) == {str(EXAMPLE)}


def test_load_puts_runs_below_one_another() -> None:
    one = harness.load(str(EXAMPLE))
    both = harness.load([EXAMPLE, EXAMPLE])
    assert len(both) == 2 * len(one)
    assert both.index.is_unique


@pytest.mark.parametrize("runs", [[], "none.jsonl"])
def test_load_of_nothing_is_a_mistake(runs: list[str] | str) -> None:
    with pytest.raises(ValueError, match=r"no run to load|none\.jsonl cannot be read"):
        harness.load(runs)


def test_ratios_of_a_recorded_run_are_those_of_its_report() -> None:
    table = harness.compare(EXAMPLE, band=0.05)
    found = comparisons(frame(load_run(EXAMPLE)), 0.05)
    assert len(table) == sum(len(each.fastest) for each in found)
    first = table[table["second"] == "CUDA"]
    (reported,) = (each.fastest for each in found if each.second == "CUDA")
    assert first["ratio"].tolist() == reported["gross"].tolist()
    assert first["verdict"].tolist() == reported["verdict"].tolist()
    assert (first["first_seconds"] < 1).all()


def test_compare_measures_problems_and_keeps_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_LOCK_DIR", str(tmp_path / "locks"))
    told: list[str] = []
    table = harness.compare(**TINY, run=tmp_path / "my.jsonl", progress=told.append)  # type: ignore[arg-type]
    assert table.empty
    assert {"ratio", "low", "high", "verdict"} <= set(table.columns)
    kept = harness.load(tmp_path / "my.jsonl")
    assert set(kept["problem"]) == {"sum int32 50x40"}
    assert (kept["queue"] > 0).all()
    assert any(line.endswith("numpy:0 sum int32 50x40") for line in told)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "not none"),
        ({"suite": "smoke", "op": "sum"}, "not a suite and problems"),
        ({"op": "smu"}, "did you mean 'sum'"),
        ({"op": "sum", "shape": (0, 5)}, "--shape: "),
        ({"suite": "smkoe"}, "did you mean 'smoke'"),
        ({"op": "sum", "backend": "nunpy"}, "did you mean 'numpy'"),
        ({"runs": EXAMPLE, "backend": "numpy"}, "is measured already"),
        ({"runs": EXAMPLE, "band": -1.0}, "band"),
        ({"op": "sum", "samples": 0}, "samples: should be greater than or equal to 1, not 0"),
        ({"op": "sum", "samples": 2.5}, "samples: should be a valid integer"),
        ({"op": "sum", "processes": 1000}, "processes: should be less than or equal to 99, not 1000"),
        ({"op": "sum", "budget": float("nan")}, "budget: "),
        ({"op": "sum", "budget": "x"}, "budget: "),
        ({"op": "sum", "seed": -1}, "seed: "),
        ({"op": "sum", "shape": ()}, r"shape: should be text, as '3000x2000', or sizes, not \(\)"),
        ({"op": "sum", "shape": 5.5}, "shape: should be text"),
        ({"suite": ""}, "suite '' is unknown"),
        ({"suite": Path("no.toml")}, "no.toml: cannot be read"),
    ],
)
def test_a_mistake_is_a_value_error(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        harness.compare(**arguments)  # type: ignore[arg-type]


def test_what_no_run_file_may_hold_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "my.jsonl"
    with pytest.raises(ValueError, match=r"^samples: should be"):
        harness.compare(op="sum", shape="64x64", backend="numpy", samples=0, run=path)
    assert not path.exists()


@pytest.mark.parametrize("runs", [3, [3], b"run.jsonl"])
def test_what_is_no_path_is_a_type_error(runs: Any) -> None:
    for call in (harness.load, harness.compare):
        with pytest.raises(TypeError, match=r"a run is given by the path of its file, .* not "):
            call(runs)


def test_shapes_are_text_or_numbers_one_or_several(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Problems] = []

    def refuse(problems: Problems, _: object) -> tuple[str, str]:
        asked.append(problems)
        raise ValueError("seen")

    monkeypatch.setattr("harness.runner.plan.adhoc_suite", refuse)
    mixed: list[Any] = [(30, 20), "5"]
    shapes: list[Any] = ["30x20", (30, 20), ["30x20"], [(30, 20)], (np.int64(30), 20), np.array([30, 20])]
    for shape in shapes:
        with pytest.raises(ValueError, match="seen"):
            harness.compare(op="sum", shape=shape)
    with pytest.raises(ValueError, match="seen"):
        harness.compare(op="sum", shape=mixed)
    assert [tuple(each.shape) for each in asked] == [("30x20",)] * 6 + [("30x20", "5")]
    assert adhoc_suite(asked[-1])[0] == "sum-float32-30x20+5"


def test_a_failed_case_is_warned_of(tmp_path: Path) -> None:
    case = load_run(EXAMPLE).records[-1].case
    with RunWriter(tmp_path / "run.jsonl", {}) as writer:
        writer.write(Record(case, "wrong", "off by one"))
        writer.write_end(1.0)
    with pytest.warns(RuntimeWarning, match="1 cases have no ratio; the first: .*wrong: off by one"):
        assert harness.compare(tmp_path / "run.jsonl").empty


@pytest.mark.parametrize("read", [harness.load, harness.compare])
def test_what_a_file_lacks_is_warned_of(tmp_path: Path, read: Callable[[Path], pd.DataFrame]) -> None:
    with RunWriter(tmp_path / "run.jsonl", {"cases": 2}) as writer:
        writer.write(Record(load_run(EXAMPLE).records[-1].case, "skipped", "no such thing"))
    with pytest.warns(
        RuntimeWarning, match=r"run\.jsonl: the run was ended before its last case: 1 of 2"
    ) as told:
        read(tmp_path / "run.jsonl")
    assert told[0].filename == __file__


def test_the_example_of_the_documents_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if isinstance(why := available()["opencl"], str):
        pytest.skip(why)
    monkeypatch.setenv("HARNESS_LOCK_DIR", str(tmp_path / "locks"))
    monkeypatch.setenv("EXAMPLE_SHAPE", "64x48")
    monkeypatch.setenv("EXAMPLE_SECONDS", "1")
    done = runpy.run_path(str(ROOT / "docs" / "example.py"))
    assert len(done["ratios"]) == 4
    assert len(done["filtered"]) == 1
    assert (done["ratios"]["ratio"] > 0).all()
    assert "sum float32 64x48" in capsys.readouterr().out

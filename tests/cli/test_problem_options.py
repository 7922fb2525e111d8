"""Problems named by options in place of a suite: the suite that they make, what is refused, resuming."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from skimage.io import imsave

from harness.problems import Laplace, Reduction
from harness.results.runfile import load_run
from harness.suites.adhoc import Problems, adhoc_suite
from harness.suites.files import parse_suite
from harness.suites.schema import Suite
from harness.variants.axes import ReductionVariant
from harness.variants.ladders import LADDERS
from tests.support.command import Harness, harness

__all__ = ["harness"]

SHORT = ("--backend", "numpy", "--processes", 1, "--samples", 3, "--run", "my.jsonl")


def _suite(**options: tuple[str, ...]) -> Suite:
    return parse_suite(*adhoc_suite(Problems(**options)))  # type: ignore[arg-type]


def test_options_are_a_suite_of_all_combinations() -> None:
    suite = _suite(op=("sum", "min", "sum"), dtype=("float32", "uint8"), shape=("3000x2000",))
    assert suite.name == "sum+min-float32+uint8-3000x2000"
    (block,) = suite.reduction
    assert (block.ops, block.dtypes, block.shapes) == (["sum", "min"], ["float32", "uint8"], [[3000, 2000]])
    assert not suite.laplace


def test_a_name_of_many_values_is_short() -> None:
    assert _suite(op=("sum",), shape=("1", "2", "3", "4")).name == "sum-float32-1+3more"


def test_values_of_axes_are_combined_and_ladders_stand_beside() -> None:
    texts = ("group_size=64", "group_size=128", "finish=host", "modern", "default")
    (block,) = _suite(op=("sum",), variant=texts).reduction
    assert block.variants == [
        LADDERS["modern"].rungs,
        "default",
        *((ReductionVariant(group_size=size, finish="host"),) for size in (64, 128)),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("quick", "--op", "sum"), "the suite quick and --op: give a suite, or problems in its place"),
        (("--op", "smu"), "--op: op 'smu' is unknown"),
        (("--op", "smu"), "did you mean 'sum'?"),
        (("--op", "sum", "--dtype", "flaot32"), "did you mean 'float32'?"),
        (("--op", "sum", "--shape", "3000 x 2000"), "--shape: '3000 x 2000' is no shape"),
        (("--op", "sum", "--shape", "0x5"), "--shape: '0x5' is no shape; give numbers above 0"),
        (("--op", "sum", "--shape", "9" * 5000), "--shape: "),
        (("--op", "sum", "--cache", "warm"), "--cache: cache state 'warm' is unknown"),
        (("--op", "sum", "--variant", "modren"), "did you mean 'modern'?"),
        (("--op", "sum", "--variant", "group_size=63"), "--variant: group_size = 63: allowed are"),
        (("--op", "sum", "--border", "wrap"), "--border: a reduction has no such option"),
        (("--op", "sum", "--laplace", "four"), "--op and --laplace are two kinds of problem"),
        (("--dtype", "int8"), "--dtype: of which problem? give --op or --laplace, too"),
        (("--laplace", "four", "--output", "sharp"), "did you mean 'sharpened'?"),
        (("--laplace", "four", "--shape", "5"), "--shape: '5' is no size of an image; give width and height"),
        (("--laplace", "four", "--channels", "x"), "number of channels 'x' is unknown; allowed are 1, 3, 4"),
        (("--op", "sum", "--variant", "foo"), "or give an axis and its value, as in vector_width=4"),
        (("--op", "sum", "--variant", "groups=8,group_size=64"), "give each by a --variant of its own"),
        (("--op", "sum", "--variant", "groups="), "--variant 'groups=': give an axis and its value"),
        (("--op", "sum", "--variant", "kind=laplace"), "--variant: kind 'laplace' is unknown"),
        (("--op", "sum", "--variant", "kind=reduction"), "--variant: it names no axis"),
        (("--laplace", "four", "--channels", 2), "--channels: number of channels 2 is unknown"),
        (("--laplace", "four", "--image", "none.png"), "none.png: there is no such file"),
        (("--opp", "sum"), "--op"),
    ],
)
def test_a_mistake_names_the_option(harness: Harness, arguments: tuple[object, ...], message: str) -> None:
    shown = harness("run", *arguments, "--dry-run")
    assert (shown.code, shown.out) == (2, "")
    assert message in shown.err


def test_the_largest_source_is_skipped_and_its_limit_with_it(harness: Harness) -> None:
    options = ("--op", "sum", "--dtype", "float64", "--shape", 2**56, "--backend", "opencl")
    shown = harness("run", *options, "--dry-run")
    assert shown.code == 0, shown.err
    assert "0 cases to measure" in shown.out


def test_a_photograph_has_the_size(harness: Harness) -> None:
    imsave("photo.png", np.random.default_rng(1).integers(0, 256, (30, 20, 3), dtype=np.uint8))
    shown = harness("run", "--laplace", "four", "--border", "wrap", "--image", "photo.png", *SHORT)
    assert shown.code == 0, shown.err
    problems = {r.case.problem for r in load_run("my.jsonl").records if r.case.role == "compare"}
    assert problems == {Laplace("four", "wrap", "laplacian", "uint8", 30, 20, 1, 0.0)}
    refused = harness("run", "--laplace", "four", "--image", "photo.png", "--shape", "64x48", "--dry-run")
    assert refused.code == 2
    assert "--image: a photograph goes with --laplace, and has the shape itself" in refused.err


def test_a_run_of_options_is_resumed_from_anywhere(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ("--op", "sum", "--op", "min", "--dtype", "int32", "--shape", "50x40")
    shown = harness("run", *problem, *SHORT)
    assert shown.code == 0, shown.err
    whole = load_run("my.jsonl")
    assert whole.environment["suite"] == "sum+min-int32-50x40"
    assert Reduction("min", "int32", (50, 40)) in {record.case.problem for record in whole.records}
    path = Path("my.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    (harness.folder / "below").mkdir()
    monkeypatch.chdir(harness.folder / "below")
    shown = harness("run", "--resume", "../my.jsonl")
    assert shown.code == 0, shown.err
    assert len(load_run("../my.jsonl").records) == len(whole.records)


def test_a_run_of_options_with_another_text_is_not_the_same(harness: Harness) -> None:
    assert harness("run", "--op", "sum", "--dtype", "int32", "--shape", "50x40", *SHORT).code == 0
    path = Path("my.jsonl")
    first, *others = path.read_text(encoding="utf-8").splitlines(keepends=True)
    environment = json.loads(first)
    environment["request"]["text"] = environment["request"]["text"].replace("sum", "min")
    path.write_text(json.dumps(environment) + "\n" + "".join(others), encoding="utf-8")
    shown = harness("run", "--resume", "my.jsonl")
    assert shown.code == 2
    assert "reduction[0].ops was ['sum'], now ['min']" in shown.err


def test_a_run_has_a_file_named_after_its_problem(harness: Harness) -> None:
    shown = harness("run", "--op", "sum", "--shape", "50x40", *SHORT[:-2])
    assert shown.code == 0, shown.err
    assert list(Path("reports/generated").glob("sum-float32-50x40-*.jsonl"))


def test_the_band_of_a_run_is_that_of_its_table_and_report(harness: Harness) -> None:
    shown = harness("run", "--op", "sum", "--shape", "50x40", *SHORT, "--band", 0.07)
    assert shown.code == 0, shown.err
    assert "a band of 7 % around 1" in shown.out
    page = next(Path("reports/generated").glob("m*.html")).read_text(encoding="utf-8")
    assert "7 %" in page

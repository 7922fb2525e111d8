"""Suites: what ships is valid, and every mistake in the user's own is named with place and remedy."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import get_origin

import pytest

from harness.problems import MASKS
from harness.results.record import Record
from harness.results.run_writer import RunWriter
from harness.results.runfile import load_run
from harness.suites.expand import expand
from harness.suites.files import load_suite, suite_names
from harness.suites.schema import DEFAULT, PORTABLE, Changed, Suite, SuiteError
from harness.variants.axes import ReductionVariant, difference
from harness.variants.ladders import LADDERS
from tests.support.fake_backend import DEVICE

pytestmark = pytest.mark.smoke

REDUCTION = """
title = "mine"
[[reduction]]
ops = ["minmax"]
dtypes = ["int32"]
shapes = [[100, 3]]
"""


def _load(folder: Path, text: str) -> object:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return load_suite(str(path))


def _mistakes(folder: Path, text: str) -> str:
    with pytest.raises(SuiteError) as caught:
        _load(folder, text)
    return str(caught.value)


@pytest.mark.parametrize("name", suite_names())
def test_suite_that_ships_is_valid(name: str) -> None:
    suite = load_suite(name)
    assert suite.name == name
    assert suite.title
    assert suite.description


def test_the_promised_suites_are_there() -> None:
    assert {"quick", "full", "ladder", "smoke"} <= set(suite_names())


def test_full_covers_every_mask() -> None:
    assert set(load_suite("full").laplace[0].masks) == set(MASKS)


def test_own_suite_has_defaults(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(REDUCTION, encoding="utf-8")
    suite = load_suite(str(path))
    assert suite.name == "mine"
    assert suite.reduction[0].variants == [DEFAULT]
    assert suite.reduction[0].caches == ["hot"]
    assert suite.limits.measure


def test_variants_are_default_table_or_ladder(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    variants = 'variants = ["default", {vector_width = 4}, "modern", "portable"]'
    path.write_text(REDUCTION + variants, encoding="utf-8")
    default, table, ladder, portable = load_suite(str(path)).reduction[0].variants
    assert (default, portable) == (DEFAULT, PORTABLE)
    assert table == (ReductionVariant(vector_width=4),)
    assert ladder == LADDERS["modern"].rungs


def test_a_table_can_be_a_change_of_a_default(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    variants = 'variants = [{base = "portable", vector_width = 4, groups = 2}]'
    path.write_text(REDUCTION + variants, encoding="utf-8")
    assert load_suite(str(path)).reduction[0].variants == [
        Changed(PORTABLE, {"vector_width": 4, "groups": 2})
    ]


def test_sweep_keeps_the_axes_that_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(REDUCTION + "[limits.gpu]\ngroups = [3]", encoding="utf-8")
    sweep = load_suite(str(path)).limits.gpu
    assert sweep.groups == [3]
    assert sweep.vector_width == load_suite("quick").limits.gpu.vector_width


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('ops = ["maxx"]', ["reduction[1].ops[0]", "'maxx'", "count_nonzero", "did you mean 'max'"]),
        ('dtypes = ["int23"]', ["reduction[1].dtypes[0]", "'int23'", "uint8", "did you mean 'int32'"]),
        ('dtypes = ["int32", 3]', ["reduction[1].dtypes[1]", "dtype 3 is unknown", "uint8"]),
        ("shapes = [[0, 5]]", ["reduction[1].shapes[0][0]", "greater than 0", "not 0"]),
        ("shapes = [[]]", ["reduction[1].shapes[0]", "is empty"]),
        ("ops = []", ["reduction[1].ops", "is empty"]),
        ('variants = ["defualt"]', ["reduction[1].variants[0]", "'defualt'", "modern", "'default'"]),
        ('variants = ["laplace_steps"]', ["reduction[1].variants[0]", "'laplace_steps'", "modern"]),
        ("variants = [{vector_widht = 4}]", ["reduction[1].variants[0]", "'vector_widht'", "vector_width"]),
        (
            "variants = [{vector_width = 3}]",
            ["reduction[1].variants[0]", "vector_width = 3", "1, 2, 4, 8, 16"],
        ),
        ("variants = [{vector_width = 4.0}]", ["reduction[1].variants[0]", "vector_width = 4.0", "allowed"]),
        ('variants = [{kind = "laplace"}]', ["reduction[1].variants[0]", "kind 'laplace'", "reduction"]),
        ('variants = [{base = "dafault", groups = 2}]', ["variants[0]", "base 'dafault'", "mean 'default'"]),
        ('variants = [{base = "default"}]', ["reduction[1].variants[0]", "names no axis"]),
        (
            'variants = [{base = "default", groups = 0}]',
            ["reduction[1].variants[0]", "groups = 0", "allowed"],
        ),
        ("variants = [{}]", ["reduction[1].variants[0]", "names no axis", "as in vector_width=4"]),
        ('caches = ["warm"]', ["reduction[1].caches[0]", "'warm'", "hot, cold"]),
        ('only = "tpu"', ["reduction[1].only", "'cpu' or 'gpu'", "'tpu'"]),
        ("shpaes = [[1]]", ["reduction[1]", "'shpaes'", "did you mean 'shapes'"]),
    ],
)
def test_mistake_in_a_block_is_named(tmp_path: Path, line: str, expected: list[str]) -> None:
    key = line.partition(" ")[0]
    block = [text for text in REDUCTION.splitlines()[2:] if not text.startswith(key)]
    message = _mistakes(tmp_path, "\n".join([REDUCTION, *block, line]))
    assert message.startswith(f"{tmp_path / 'mine.toml'}: ")
    assert "\n" not in message
    for part in expected:
        assert part in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title = 'x'", ["nothing to run", "[[reduction]]"]),
        (REDUCTION.replace('title = "mine"', ""), ["title: is missing"]),
        *(
            (f"name = {name}\n{REDUCTION}", ["name: should be a name for files"])
            for name in (
                '""',
                '"../../evil"',
                '"/tmp/x"',
                '".hidden"',
                '"x\\u0000y"',
                '"a\\u001b[31m"',
                f'"{"x" * 101}"',
            )
        ),
        (REDUCTION + '[measure]\nsamples = "9"', ["measure.samples", "valid integer", "'9'"]),
        (REDUCTION + "[measure]\nsamples = true", ["measure.samples", "valid integer", "True"]),
        (REDUCTION + "[measure]\nsample = 9", ["measure: ", "'sample'", "did you mean 'samples'"]),
        (REDUCTION + "[limits.gpu]\ngroup_size = [100]", ["limits.gpu.group_size[0]", "100", "allowed"]),
        (REDUCTION + "[limits.gpu]\nwidth = [4]", ["limits.gpu: ", "'width'", "vector_width"]),
        (
            REDUCTION + "[[laplace]]\nsizes = [[1, 2, 3]]",
            ["laplace[0].sizes[0]", "[width, height]", "[1, 2, 3]"],
        ),
        (
            REDUCTION + "[[laplace]]\nchannels = [2]",
            ["laplace[0].channels[0]", "1, 3, 4", "laplace[0].masks: is mis"],
        ),
        ("title = \nx = 1", ["is not TOML", "line 1"]),
        (f"title = {'1' * 9999}", ["is not TOML", "integer"]),
        ("title = " + "[" * 99999, ["is not TOML", "nested too deeply"]),
        *(
            (f"{REDUCTION}[measure]\n{key} = {value}", [f"measure.{key}: should be", "not"])
            for key in ("case_seconds", "limit_s", "gpu_contexts_s", "further_processes_s")
            for value in ("inf", "nan", "-inf", "1e300", "-1.0")
        ),
        *(
            (f"{REDUCTION}[measure]\n{key} = {10**30}", [f"measure.{key}: should be less", "not"])
            for key in (
                "samples",
                "processes",
                "gpu_contexts",
                "gpu_processes",
                "gpu_launch_contexts",
                "further_processes",
                "reference_limit_bytes",
            )
        ),
        (
            'title = "x"\n[[bandwidth]]\ndirections = ["read"]\ndtypes = ["int8"]\nsource_bytes = [1'
            + "0" * 30
            + "]",
            ["bandwidth[0].source_bytes[0]: should be less"],
        ),
        (
            REDUCTION.replace("[[100, 3]]", str([[1] * 71])),
            ["reduction[0].shapes[0]: ", "71 axes", "at most"],
        ),
    ],
)
def test_mistake_elsewhere_is_named(tmp_path: Path, text: str, expected: list[str]) -> None:
    message = _mistakes(tmp_path, text)
    for part in expected:
        assert part in message


@pytest.mark.parametrize(
    "block", [name for name, field in Suite.model_fields.items() if get_origin(field.annotation) is list]
)
def test_one_table_in_place_of_several_is_told(tmp_path: Path, block: str) -> None:
    message = _mistakes(tmp_path, f"[{block}]\n")
    assert message.endswith(f"{block}: is one table; write [[{block}]], as there may be several")


def test_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SuiteError, match="not UTF-8"):
        load_suite(str(path))


@pytest.mark.parametrize("name", ["none.toml", "./none", "."])
def test_file_that_is_not_there(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SuiteError, match=r"cannot be read|is unknown"):
        load_suite(name)


@pytest.mark.parametrize("place", ["folder.toml", "fifo.toml", "/dev/zero", "/"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder.toml").mkdir()
    os.mkfifo(tmp_path / "fifo.toml")
    with pytest.raises(SuiteError, match="cannot be read: it is a folder, a pipe or a device"):
        load_suite(str(tmp_path / place))


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(SuiteError, match=r"'qiuck' is unknown; .*did you mean 'quick'\?"):
        load_suite("qiuck")


@pytest.mark.parametrize("name", list(LADDERS))
def test_a_rung_changes_one_axis(name: str) -> None:
    rungs = LADDERS[name].rungs
    assert len(rungs) > 2
    assert [len(difference(*pair)) for pair in pairwise(rungs)] == [1] * (len(rungs) - 1)


@pytest.mark.parametrize("name", list(LADDERS))
def test_labels_of_a_ladder_tell_its_rungs_apart(name: str) -> None:
    labels = LADDERS[name].labels
    assert len(labels) == len(LADDERS[name].rungs)
    assert len(set(labels)) == len(labels)
    assert all(" = " in label for label in labels[1:])


LAPLACE = """
title = "mine"
[[laplace]]
masks = ["four"]
outputs = ["laplacian"]
channels = [1]
sizes = [[9, 7]]
"""


@pytest.mark.parametrize(
    ("dtype", "value", "why"),
    [
        ("uint8", "300", "300.0 is no integer in uint8's range of 0 to 255"),
        ("uint8", "0.5", "0.5 is no integer"),
        ("uint16", "nan", "nan is no integer in uint16's range"),
        ("int16", "inf", "inf is no integer"),
        ("float32", "1e39", "1e+39 is outside float32's range"),
    ],
)
def test_a_border_value_that_cannot_be_is_refused_with_its_place(
    tmp_path: Path, dtype: str, value: str, why: str
) -> None:
    text = f'{LAPLACE}borders = ["wrap", "constant"]\ndtypes = ["{dtype}"]\nborder_value = {value}'
    message = _mistakes(tmp_path, text)
    assert message.startswith(f"{tmp_path / 'mine.toml'}: laplace[0]: border_value {why}")
    assert "give one that all dtypes hold" in message


@pytest.mark.parametrize(
    ("border", "dtype", "value"),
    [
        *product(("wrap",), ("uint8", "float32"), ("nan", "inf", "-inf", "300", "0.5", "1e39")),
        *product(("constant",), ("float32",), ("nan", "inf", "-inf", "300", "0.1")),
    ],
)
def test_a_border_value_that_is_ignored_or_fits_comes_back_from_the_run_file(
    tmp_path: Path, border: str, dtype: str, value: str
) -> None:
    text = f'{LAPLACE}borders = ["{border}"]\ndtypes = ["{dtype}"]\nborder_value = {value}'
    suite = _load(tmp_path, text)
    assert isinstance(suite, Suite)
    cases = expand(suite, [replace(DEVICE, backend="opencl")])
    path = tmp_path / "run.jsonl"
    with RunWriter(path, {}) as writer:
        for case in cases:
            writer.write(Record(case, "ok"))
    assert [record.case for record in load_run(path).records] == cases

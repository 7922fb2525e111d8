"""Bad input that Hypothesis makes up: one message and exit code 2, never a traceback or a partial file."""

from __future__ import annotations

import gzip
import json
import lzma
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.io import imsave

import reports
from harness.measure.photograph import ImageError, image_size, source_image
from harness.problems import Laplace, Reduction
from harness.results.record import Case, Record, Samples
from harness.results.run_writer import RunWriter
from harness.results.runfile import Run, load_run
from harness.suites.expand import expand, skip_reason
from harness.suites.files import load_suite, suite_names
from harness.suites.schema import Suite, SuiteError
from harness.variants.axes import LibraryVariant, ReductionVariant
from tests.support.command import LAPLACE, SUITE
from tests.support.fake_backend import DEVICE
from tests.support.html import HOSTILE, Page

MANY = settings(max_examples=150)


@contextmanager
def file_of(content: bytes, name: str = "given") -> Iterator[Path]:
    """A file of this content in a folder of its own; in the end nothing else may be there."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        yield path
        assert list(Path(folder).iterdir()) == [path]
        assert path.read_bytes() == content


ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        -1,
        10**30,
        1e308,
        float("nan"),
        "",
        "<b>",
        "\0",
        [],
        [[]],
        {},
        {"a": []},
        [None],
        "1e9",
    ]
)
"""Values of types and sizes that a field does not expect."""


def places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside nested lists and objects."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*at, key)
        yield from places(value, (*at, key))


def changed(data: Any, at: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    """A copy with ``change`` made to the container and key at a path."""
    copy = json.loads(json.dumps(data))
    inner = copy
    for key in at[:-1]:
        inner = inner[key]
    change(inner, at[-1])
    return copy


@st.composite
def mutants(draw: st.DrawFn, data: Any) -> Any:
    """The data with one value replaced by an odd one, left out, or under another key."""
    at = draw(st.sampled_from(list(places(data))))
    odd = draw(ODD)

    def overwrite(inner: Any, key: Any) -> None:
        inner[key] = odd

    def remove(inner: Any, key: Any) -> None:
        del inner[key]

    def rename(inner: Any, key: Any) -> None:
        inner[key if isinstance(inner, list) else f"{key}x"] = odd

    return changed(data, at, draw(st.sampled_from([overwrite, remove, rename])))


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content cut, with bytes changed, or with others put in."""
    at = draw(st.integers(0, len(content)))
    put = draw(
        st.one_of(st.binary(max_size=8), st.sampled_from([b"\n", b"{", b"\0" * 9, b"\xff", b"[[", b'"']))
    )
    take = draw(st.integers(0, 30))
    rest = b"" if draw(st.booleans()) and draw(st.booleans()) else content[at + take :]
    return content[:at] + put + rest


# --- suites ---


def load_or_refuse_suite(content: bytes) -> None:
    with file_of(content, "mine.toml") as path:
        try:
            suite = load_suite(str(path))
        except SuiteError as error:
            message = str(error)
        else:
            list_cases(suite)
            return
    assert str(path) in message


def list_cases(suite: Suite) -> None:
    """Whatever suite is let in, its cases can be listed."""
    devices = [replace(DEVICE, backend="opencl"), replace(DEVICE, backend="numpy", kind="cpu")]
    for case in expand(suite, devices):
        skip_reason(case, devices[case.backend == "numpy"], suite)


WHOLE = (SUITE + LAPLACE + "[limits.gpu]\ngroups = [3]\nvector_width = [4]\n").encode()


@MANY
@given(content=st.one_of(st.binary(max_size=200), damaged(WHOLE), st.text(max_size=99).map(str.encode)))
def test_suites(content: bytes) -> None:
    load_or_refuse_suite(content)


SHIPPED = {
    name: (Path(__file__).parents[2] / f"harness/suites/{name}.toml").read_bytes() for name in suite_names()
}


@pytest.mark.parametrize("name", list(SHIPPED))
@given(data=st.data())
def test_suites_that_ship_damaged(name: str, data: st.DataObject) -> None:
    load_or_refuse_suite(data.draw(damaged(SHIPPED[name])))


def toml(value: Any) -> str:
    """A value in TOML's notation."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return {"NaN": "nan", "null": '"null"'}.get(text := json.dumps(value), text)


TABLES = {
    "title": "fuzz",
    "measure": {"samples": 3, "case_seconds": 0.5, "limit_s": 9.0, "reference_limit_bytes": 4},
    "reduction": [{"ops": ["min"], "dtypes": ["int8"], "shapes": [[3, 4]], "caches": ["hot"],
                   "variants": ["default", {"vector_width": 4}, "modern"]}],
    "laplace": [{"masks": ["four"], "borders": ["constant"], "outputs": ["laplacian"], "dtypes": ["uint8"],
                 "channels": [1], "sizes": [[9, 7]], "border_value": 3.0,
                 "variants": [{"rows_per_item": 2}]}],
    "limits": {"measure": True, "gpu": {"groups": [8]}, "cpu": {"group_size": [1]}},
}  # fmt: skip


@MANY
@given(tables=mutants(TABLES))
def test_suites_with_odd_values(tables: dict[str, Any]) -> None:
    load_or_refuse_suite(
        "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in tables.items()).encode()
    )


# --- run files ---


@cache
def lines() -> tuple[dict[str, Any], ...]:
    """The lines of a run: machine, a measured reduction and filter, a failure, a picture."""
    clocks = {
        "queue": Samples((1e-6, 2e-6), 8, "note"),
        "launch": Samples((1e-7,)),
        "event": Samples((1e-6,)),
    }
    provenance: dict[str, Any] = {
        "launches": [{"kernel": "reduce", "num_groups": [4], "group_size": [64]}],
        "note": "",
    }
    problem = Laplace("four", "wrap", "laplacian", "uint8", 9, 8, 3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        device = {"backend": "opencl", "index": 0, "name": "GPU", "kind": "gpu", "physical": "0000:01:00.0"}
        with RunWriter(
            path, {"suite": "s", "command": "harness run", "devices": [device], "missing": {}}
        ) as writer:
            reduction = Case("opencl", 0, Reduction("min", "int32", (7,)), ReductionVariant())
            writer.write(Record(reduction, "ok", "", 0.0, 0.0, clocks, provenance))
            cold = Case("opencl", 0, problem, LibraryVariant(), "cold")
            writer.write(Record(cold, "ok", "", 0.0, 0.0, clocks, provenance))
            writer.write(Record(Case("cuda", 0, problem, LibraryVariant()), "failed", "it fell over"))
            writer.write_image(
                {"title": "original", "backend": "b", "device": "d", "caption": "c", "png": "AAAA"}
            )
        return tuple(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def content(of: tuple[dict[str, Any], ...]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in of).encode()


def load_or_refuse_run(given: bytes, render: bool = False) -> None:
    with file_of(given, "run.jsonl") as path:
        try:
            run = load_run(path)
        except ValueError as error:
            message = str(error)
        else:
            show(run, render)
            return
    assert str(path) in message


def show(run: Run, render: bool) -> None:
    """Whatever run is let in, a table and a report can be made of it."""
    reports.terminal_table(run)
    if render:
        reports.render(run, "fuzz")


@MANY
@given(data=st.data())
def test_run_files_damaged(data: st.DataObject) -> None:
    load_or_refuse_run(data.draw(st.one_of(st.binary(max_size=99), damaged(content(lines())))))


@settings(max_examples=50)
@given(data=st.data(), compress=st.sampled_from([gzip.compress, lzma.compress]))
def test_run_files_compressed_and_damaged(data: st.DataObject, compress: Callable[[bytes], bytes]) -> None:
    load_or_refuse_run(data.draw(damaged(compress(content(lines())))))


@settings(max_examples=40)
@given(data=st.data())
def test_run_files_with_odd_values(data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(lines()) - 1))
    mutant = data.draw(mutants(lines()[number]))
    load_or_refuse_run(content((*lines()[:number], mutant, *lines()[number + 1 :])), render=True)


def accepted(given: tuple[dict[str, Any], ...]) -> Run | None:
    """The run of these lines, if they are let in."""
    with file_of(content(given), "run.jsonl") as path:
        try:
            return load_run(path)
        except ValueError:
            return None


def test_hostile_text_in_every_field_is_inert() -> None:
    """Each text that may be any text is a hostile one, all of them in one run."""
    given, hostile = list(lines()), 0
    for number, line in enumerate(lines()):
        for at in places(line):
            if _at(line, at) == "AAAA" or not isinstance(_at(line, at), str):
                continue
            mutant = changed(given[number], at, lambda inner, key: inner.__setitem__(key, HOSTILE))
            candidate = (*given[:number], mutant, *given[number + 1 :])
            if accepted(candidate):
                given[number], hostile = mutant, hostile + 1
    run = accepted(tuple(given))
    assert run is not None
    assert hostile >= 15
    page = Page(reports.render(run, HOSTILE))
    assert page.values("type").count("application/gzip") == page.count("script") - 1
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]


def _at(data: Any, at: tuple[Any, ...]) -> Any:
    for key in at:
        data = data[key]
    return data


# --- images ---


@cache
def photograph(kind: str) -> bytes:
    """A small photograph as a file of this kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"photo.{kind}"
        imsave(path, np.random.default_rng(0).integers(0, 256, (9, 12, 3), np.uint8), check_contrast=False)
        return path.read_bytes()


@settings(max_examples=60)
@given(data=st.data(), kind=st.sampled_from(["png", "jpg", "tif", "npy", "svg"]))
def test_images(data: st.DataObject, kind: str) -> None:
    given = st.binary(max_size=99) if kind in ("npy", "svg") else damaged(photograph(kind))
    with file_of(data.draw(given), f"photo.{kind}") as path:
        try:
            height, width = image_size(path)
            if height * width < 10**6:
                source_image(Laplace("four", "wrap", "laplacian", "uint8", 5, 4), path)
        except ImageError as error:
            message = str(error)
        else:
            return
    assert str(path) in message

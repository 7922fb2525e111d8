"""``harness export`` and ``harness chart``: what other programs read of a run."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from PIL import Image

from harness.cli import exporting
from harness.results.run_writer import RunWriter
from harness.results.runfile import load_run
from reports.export import FORMATS, RECORD_COLUMNS
from tests.support.command import Harness, harness
from tests.support.report_data import gpu_run

__all__ = ["harness"]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A made-up run of both APIs and a library on one GPU, as a file."""
    run, path = gpu_run(), tmp_path_factory.mktemp("written") / "run.jsonl"
    with RunWriter(path, run.environment) as writer:
        for record in run.records:
            writer.write(record)
        writer.write_end(574.4)
    return path.read_bytes()


@pytest.fixture
def run_file(harness: Harness, written: bytes) -> Path:
    """That file in the test's folder."""
    path = harness.folder / "run.jsonl"
    path.write_bytes(written)
    return path


def test_csv_has_a_line_a_record(harness: Harness, run_file: Path) -> None:
    shown = harness("export", run_file, "--to", "csv")
    assert shown.code == 0, shown.err
    table = pd.read_csv(io.StringIO(shown.out))
    assert list(table.columns) == ["run", *RECORD_COLUMNS]
    assert len(table) == len(load_run(run_file).records)
    assert harness("export", run_file, "--to", "my.csv").code == 0
    assert Path("my.csv").read_text(encoding="utf-8") == shown.out


@pytest.mark.parametrize(("verb", "name"), [(("export",), "my.csv"), (("chart", "ratio"), "my.svg")])
def test_where_the_disk_is_full_the_file_before_stays(
    harness: Harness, run_file: Path, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...], name: str
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    Path(name).write_text("before")
    monkeypatch.setattr(Path, "replace", full)
    shown = harness(*verb, run_file, "--to", name)
    assert shown.code == 2
    assert shown.err == f"error: {name}: No space left on device; make room, or name another file\n"
    assert Path(name).read_text(encoding="utf-8") == "before"
    assert sorted(path.name for path in Path().iterdir()) == sorted([name, run_file.name])


def test_parquet_has_what_csv_has(harness: Harness, run_file: Path) -> None:
    pytest.importorskip("pyarrow")
    assert harness("export", run_file, "--to", "my.parquet").code == 0
    harness("export", run_file, "--to", "my.csv")
    found, expected = pd.read_parquet("my.parquet"), pd.read_csv("my.csv")
    assert list(found.columns) == list(expected.columns)
    assert found["queue"].tolist() == pytest.approx(expected["queue"].tolist(), nan_ok=True)


def test_parquet_without_its_package_names_the_extra(
    harness: Harness, run_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    shown = harness("export", run_file, "--to", "my.parquet")
    assert shown.code == 2
    assert "pip install '.[parquet]'" in shown.err
    assert not Path("my.parquet").exists()


def test_a_pytest_benchmark_file_is_one_for_it_and_for_us(harness: Harness, run_file: Path) -> None:
    assert harness("export", run_file, "--to", "my.json").code == 0
    timed = [record for record in load_run(run_file).records if record.status == "ok" and record.clocks]
    assert load_run("my.json").records == timed
    first, record = json.loads(Path("my.json").read_bytes())["benchmarks"][0], timed[0]
    assert first["stats"]["data"] == list(record.clocks["queue"].seconds)
    assert first["stats"]["rounds"] == len(record.clocks["queue"].seconds)
    command = [sys.executable, "-m", "pytest_benchmark", "compare", "my.json", "--columns=median"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert record.case.problem.label in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("export", "run.jsonl", "--to", "parqet"), "did you mean 'parquet'"),
        (("export", "run.jsonl", "--to", "my.xls"), "or a file that ends in .csv, .parquet, .json"),
        (("export", "none.jsonl", "--to", "csv"), "none.jsonl cannot be read"),
        (("export", "run.jsonl", "--to", "nowhere/my.csv"), "there is no folder nowhere; make it"),
        (("export", "run.jsonl", "--to", "run.jsonl/my.csv"), "there is no folder run.jsonl; make it"),
        (("chart", "raito", "run.jsonl", "--to", "r.svg"), "did you mean 'ratio'"),
        (("chart", "ratio", "run.jsonl", "--to", "r.pdf"), "ends in .svg or .png"),
        (("chart", "ratio", "run.jsonl", "--to", "nowhere/r.svg"), "there is no folder nowhere; make it"),
        (("chart", "ratio", "run.jsonl", "--to", "r.svg", "--sides", "opencl/cdua"), "did you mean"),
        (("chart", "ratio", "run.jsonl", "--to", "r.svg", "--device", "Voodoo"), "no ratios of Voodoo"),
        (("chart", "ratio", "run.jsonl", "--to", "r.svg", "--band", "-1"), "band"),
    ],
)
@pytest.mark.usefixtures("run_file")
def test_a_mistake_is_told(harness: Harness, arguments: tuple[str, ...], message: str) -> None:
    shown = harness(*arguments)
    assert (shown.code, shown.out) == (2, "")
    # A message about an argument stands in a box, folded.
    assert message in " ".join(shown.err.replace("\u2502", " ").split())


def test_standard_output_that_is_full_is_a_failure(run_file: Path) -> None:
    root = str(Path(__file__).parents[2])
    command = [sys.executable, "-m", "harness", "export", str(run_file), "--to", "csv"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=root, check=False)
    assert done.returncode == 1
    assert done.stderr == b"error: standard output cannot be written: No space left on device\n"


def test_the_ratio_chart_is_a_file_of_its_own(harness: Harness, run_file: Path) -> None:
    shown = harness("chart", "ratio", run_file, "--to", "ratio.svg")
    assert shown.code == 0, shown.err
    assert "ratio chart: ratio.svg: opencl/cuda, hot, NVIDIA H200" in shown.out
    assert "there is also opencl/library" in shown.err
    svg = Path("ratio.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    assert root.attrib["width"].endswith("pt")
    assert "currentColor" not in svg
    assert harness("chart", "ratio", run_file, "--to", "again.svg").code == 0
    assert Path("again.svg").read_text(encoding="utf-8") == svg


def test_the_ratio_chart_as_pixels_is_of_the_sides_asked_for(harness: Harness, run_file: Path) -> None:
    shown = harness("chart", "ratio", run_file, "--to", "ratio.png", "--sides", "cuda/library")
    assert shown.code == 0, shown.err
    assert "ratio.png: cuda/library" in shown.out
    with Image.open("ratio.png") as image:
        assert image.width > 2000
        assert image.convert("L").getpixel((0, 0)) == 255
        assert min(image.convert("L").tobytes()) < 20


def test_the_command_and_the_module_have_the_same_formats() -> None:
    assert list(FORMATS) == list(exporting._FORMATS)


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "{}", "--to", "csv"),
        ("chart", "ratio", "{}", "--to", "ratio.svg"),
        ("report", "{}"),
        ("compare", "{}", "{}"),
        ("repeat", "{}", "{}"),
        ("limits", "{}"),
        ("selftest", "{}"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_a_run_lacks_is_told_by_all_that_read_it(harness: Harness, arguments: tuple[str, ...]) -> None:
    run, path = gpu_run(), harness.folder / "ended.jsonl"
    with RunWriter(path, {**run.environment, "cases": len(run.records) + 2}) as writer:
        for record in run.records:
            writer.write(record)
    shown = harness(*(each.format(path) for each in arguments))
    assert f"note: {path}: the run was ended before its last case: " in shown.err
    assert "was ended" not in shown.out


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("run.json", ("export", "{}", "--to", "{}")),
        ("run.svg", ("chart", "ratio", "{}", "--to", "./{}")),
        ("index.html", ("report", "{}", "--report", ".")),
    ],
)
def test_a_run_is_not_replaced_by_what_is_made_of_it(
    harness: Harness, written: bytes, name: str, command: tuple[str, ...]
) -> None:
    Path(name).write_bytes(written)
    done = harness(*(word.format(name) for word in command))
    assert done.code == 2
    assert f"{name}: it is the run itself" in done.err or f"{name} is a run file, but" in done.err
    assert Path(name).read_bytes() == written


def test_a_picture_of_a_page_takes_no_run_s_place(harness: Harness, run_file: Path, written: bytes) -> None:
    pixels = io.BytesIO()
    Image.new("L", (2, 2)).save(pixels, "png")
    picture = {"title": "original", "png": b64encode(pixels.getvalue()).decode()}
    writer, _ = RunWriter.resume(run_file)
    with writer:
        writer.write_image(picture)
    in_the_way = run_file.with_name("run-original.png")
    in_the_way.write_bytes(written)
    done = harness("report", run_file, "--report", ".")
    assert done.code == 2, done.out
    assert "run-original.png is a run file, but a file of the report has this name" in done.err
    assert in_the_way.read_bytes() == written


def test_a_file_whose_name_is_no_utf8_is_exported(harness: Harness, written: bytes) -> None:
    name = os.fsdecode(b"b\xff.jsonl")
    Path(name).write_bytes(written)
    done = harness("export", name, "--to", "rows.csv")
    assert done.code == 0, done.err
    assert set(pd.read_csv("rows.csv")["run"]) == {"b?.jsonl"}


def test_a_run_without_ratios_has_no_chart_of_them(harness: Harness) -> None:
    with RunWriter("none.jsonl", {}) as writer:
        writer.write_end(1.0)
    done = harness("chart", "ratio", "none.jsonl", "--to", "none.svg")
    assert done.code == 2
    assert "none.jsonl has no ratios; give a run of two backends of one device" in done.err
    assert not Path("none.svg").exists()


def test_what_is_no_run_file_at_all_is_not_to_be_mended(harness: Harness) -> None:
    Path("read.md").write_text("# A title\n\ntext\n")
    done = harness("export", "read.md", "--to", "csv")
    assert done.code == 2
    assert "line 1 is not JSON" in done.err
    assert done.err.rstrip().endswith("give one that `harness run` wrote")

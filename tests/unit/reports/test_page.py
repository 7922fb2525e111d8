"""The report's page: any run makes one that is whole, inert and self-contained."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

import reports
from harness.problems import BORDERS, MASKS, OUTPUTS
from harness.results.ratio import VERDICTS
from harness.results.runfile import Run, RunWriter, load_run
from reports.page import page as page_of
from reports.svg import SENTINEL, inline
from tests.support.html import HOSTILE, Page
from tests.support.report_data import cpu_run, device, gpu_run, laplace, limit, png, record, reduction, run_of


@pytest.fixture(scope="module")
def gpu_page() -> str:
    """The page of a full synthetic run."""
    return reports.render(gpu_run(), "harness run quick")


def test_page_holds_every_part(gpu_page: str) -> None:
    page = Page(gpu_page)
    text = " ".join(page.text)
    for part in (
        "OpenCL's speed over that of CUDA",
        "580.0",
        "harness run quick",
        "1e9 bytes",
        "What the studies reported",
    ):
        assert part in text
    assert page.count("svg") == 5
    assert page.count("img") == 3
    numbers = {value for value in page.values("data-sort") if value != "nan"}
    assert len(numbers) > 400


def test_page_shows_interval_and_verdict_of_every_pair(gpu_page: str) -> None:
    page = Page(gpu_page)
    pairs = [
        attributes for name, attributes in page.elements if name == "tr" and "data-verdict" in attributes
    ]
    chips = [str(attributes.get("class")) for name, attributes in page.elements if name == "span"]
    assert len(pairs) > 100
    assert {"faster", "slower"} < {pair["data-verdict"] for pair in pairs} <= set(VERDICTS)
    assert {chip.removeprefix("chip ") for chip in chips if chip.startswith("chip ")} == set(VERDICTS)
    text = " ".join(page.text)
    assert re.search(r"\d\.\d\d to \d\.\d\d", text)
    assert "an equivalence band of 2\xa0%" in text
    assert "95 % confidence" in text


def test_page_needs_no_network(gpu_page: str) -> None:
    page = Page(gpu_page)
    references = page.values("src") + page.values("href") + page.values("xlink:href")
    assert all(reference.startswith(("#", "data:image/png;base64,")) for reference in references)
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\s\"'<>]+", gpu_page)) <= names
    assert not page.count("link")


def test_ids_are_unique_and_references_resolve() -> None:
    text = page_of([gpu_run(), cpu_run()], ["one", "two"])
    ids = Page(text).values("id")
    assert len(ids) == len(set(ids)) > 100
    used = set(re.findall(r"url\(#([^)]+)\)", text)) | {href[1:] for href in Page(text).values("href")}
    used |= {href[1:] for href in Page(text).values("xlink:href")}
    assert used <= set(ids)


def test_charts_take_the_colour_of_the_page(gpu_page: str) -> None:
    assert SENTINEL not in gpu_page
    charts = re.findall(r"<svg.*?</svg>", gpu_page, re.DOTALL)
    assert charts
    for chart in charts:
        ElementTree.fromstring(chart)
        assert "currentColor" in chart
        assert "<text" in chart


def test_the_script_is_the_one_that_the_policy_allows(gpu_page: str) -> None:
    page = Page(gpu_page)
    script = re.findall(r"<script>(.*?)</script>", gpu_page, re.DOTALL)
    assert len(script) == page.count("script") == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert any(f"script-src 'sha256-{digest}'" in content for content in page.values("content"))


def test_hostile_strings_are_inert() -> None:
    devices = tuple(
        device(name, name=HOSTILE) | {"details": {HOSTILE: HOSTILE}} for name in ("opencl", "cuda")
    )
    run = run_of(
        record("opencl", reduction(), 1e-6, note=HOSTILE),
        record("cuda", reduction(), 2e-6, location=HOSTILE),
        limit("read", reduction().source_bytes, 1e14),
        record("cuda", reduction("min"), status="skipped", reason=HOSTILE),
        record(f"{HOSTILE}$", laplace(), 1e-6),
        devices=devices, suite=HOSTILE, command=HOSTILE, commit=HOSTILE, missing={HOSTILE: HOSTILE},
        packages={HOSTILE: HOSTILE}, host={"cpu": HOSTILE}, started=HOSTILE, nvml=[{HOSTILE: HOSTILE}],
    )  # fmt: skip
    image = {"type": "image", "title": HOSTILE, "backend": HOSTILE, "device": HOSTILE, "caption": HOSTILE}
    images = [image | {"png": '"><script>alert(2)</script>'}, image | {"png": png("original")}]
    text = reports.render(replace(run, images=images), HOSTILE)
    page = Page(text)
    assert page.count("script") == 1
    assert "alert(" not in "".join(re.findall(r"<script>.*?</script>", text, re.DOTALL))
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert "\x1b" not in text
    assert "{{ 7*7 }}" in "".join(page.text)
    assert page.count("img") == 1
    text.encode("utf-8")
    assert page.count("svg") == 4


def test_hostile_strings_do_not_reach_the_terminal() -> None:
    run = run_of(record("[red]\x1b[31m", reduction(), 1e-6))
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(reports.terminal_table(run))
    text = console.export_text()
    assert "\x1b" not in text
    assert "[red]\ufffd" in text


@pytest.mark.parametrize(
    "run",
    [
        Run({}, [], []),
        run_of(),
        run_of(record("opencl", reduction(), 1e-6)),
        run_of(record("numpy", laplace(1), 1e-6)),
        run_of(record("opencl", reduction(), status="skipped", reason="no float64")),
        run_of(record("opencl", reduction(), math.nan), record("cuda", reduction(), 1e-6)),
        run_of(record("opencl", reduction(), 1e-9), record("cuda", reduction(), 1e3)),
        run_of(record("module:Fake", reduction(), 1e-6)),
    ],
    ids=[
        "nothing",
        "no records",
        "one",
        "one pixel",
        "only skipped",
        "not a number",
        "far apart",
        "unknown backend",
    ],
)
def test_any_run_makes_a_page(run: Run) -> None:
    page = Page(reports.render(run, "harness run"))
    assert page.count("main") == 1
    assert "How to read this" in " ".join(page.text)
    reports.terminal_table(run)


def test_only_skipped_says_that_nothing_was_measured() -> None:
    text = reports.render(run_of(record("cuda", reduction(), status="skipped", reason="no such device")), "x")
    assert "Nothing was measured." in text
    assert "no such device" in text


def test_a_thousand_records_and_many_operations() -> None:
    kinds = [(mask, border, output) for mask in MASKS for border in BORDERS for output in OUTPUTS]
    problems = [
        replace(laplace(side), mask=m, border=b, output=o)
        for m, b, o in kinds
        for side in (64, 128, 256, 512, 1024)
    ]
    run = run_of(
        *(
            record(name, p, 1e-6 + p.source_bytes / 1e12)
            for p in problems
            for name in ("opencl", "cuda", "cupy", "numpy")
        )
    )
    assert len(run.records) == 1000
    assert Page(reports.render(run, "x")).count("tr") > 1000


def test_report_is_written_and_replaced(tmp_path: Path) -> None:
    first = reports.write_report([run_of(record("opencl", reduction(), 1e-6))], tmp_path / "new" / "folder")
    assert first == tmp_path / "new" / "folder" / "index.html"
    before = first.read_text(encoding="utf-8")
    reports.write_report([run_of(suite="another suite")], first.parent)
    after = first.read_text(encoding="utf-8")
    assert "another suite" in after
    assert "another suite" not in before
    assert [file.name for file in first.parent.iterdir()] == ["index.html"]


def test_a_report_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = reports.write_report([run_of()], tmp_path)
    before = page.read_bytes()

    def refuse(_self: Path, _target: Path) -> Path:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        reports.write_report([run_of(suite="other")], tmp_path)
    assert page.read_bytes() == before
    assert list(tmp_path.iterdir()) == [page]


def test_a_report_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one run"):
        reports.write_report([], tmp_path)


def test_a_run_file_makes_the_same_page_as_the_run(tmp_path: Path) -> None:
    run = run_of(record("opencl", reduction(), 1e-6), record("cuda", laplace(), 1e-6, note="a note"))
    with RunWriter(tmp_path / "run.jsonl", run.environment) as writer:
        for each in run.records:
            writer.write(each)
    loaded = load_run(tmp_path / "run.jsonl")
    assert reports.render(loaded, "x") == reports.render(run, "x")


def test_terminal_table_gives_the_ratio_of_each_backend() -> None:
    run = run_of(record("opencl", reduction(), 8e-6), record("cuda", reduction(), 6e-6))
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(reports.terminal_table(run))
    lines = console.export_text().splitlines()
    (cuda,) = (line for line in lines if "cuda:0" in line)
    (opencl,) = (line for line in lines if "opencl:0" in line)
    assert re.search(r"\b6\.00\b.*\b0\.75\b.*\bslower\b", cuda)
    assert "0.75" not in opencl


def test_importing_reports_imports_nothing_heavy() -> None:
    code = "import sys, reports, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"pandas", "matplotlib", "seaborn", "jinja2", "numpy", "rich"}


def test_inline_renames_ids_and_references() -> None:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="1pt" '
        'height="1pt"><defs><path id="p"/></defs>'
        f'<use xlink:href="#p" clip-path="url(#p)" style="fill: {SENTINEL}"/></svg>'
    )
    done = inline(svg, "mine", "what it shows")
    assert 'id="mine-p"' in done
    assert 'xlink:href="#mine-p"' in done
    assert 'clip-path="url(#mine-p)"' in done
    assert 'style="fill: currentColor"' in done
    assert 'aria-label="what it shows"' in done

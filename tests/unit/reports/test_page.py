"""The report's page: any run makes one that is whole, inert and self-contained."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from rich.console import Console

import reports
from backends import REGISTRY
from harness.problems import BORDERS, MASKS, OUTPUTS, Bandwidth
from harness.results.ratio import VERDICTS
from harness.results.run_writer import RunWriter
from harness.results.runfile import Run, load_run
from reports.dataset import frame
from reports.page import page as page_of
from reports.ratios import comparisons
from reports.section import _missing
from reports.svg import SENTINEL, inline
from reports.terminal import conclusion
from tests.support.html import HOSTILE, Page, keys, tables
from tests.support.recorded import run_of as run_file
from tests.support.report_data import (
    BOTH,
    cpu_run,
    device,
    gpu_run,
    laplace,
    limit,
    png,
    record,
    reduction,
    run_of,
    with_blocks,
)  # fmt: skip


@pytest.fixture(scope="module")
def gpu_page() -> str:
    """The page of a full synthetic run."""
    return reports.render(gpu_run(), "harness run quick")


def test_page_holds_every_part(gpu_page: str) -> None:
    page = Page(gpu_page)
    text = " ".join(page.text)
    for part in (
        "OpenCL's speed over that of CUDA",
        "OpenCL is slower in",
        "580.0",
        "harness run quick",
        "1e9 bytes",
        "What the studies reported",
    ):
        assert part in text
    assert page.count("svg") > 20
    assert page.count("img") == 3
    drawn = tables(gpu_page)
    assert len(drawn["r0-all"]) == len(gpu_run().records)
    assert sum(map(len, drawn.values())) > 400


def test_page_shows_interval_and_verdict_of_every_pair(gpu_page: str) -> None:
    page = Page(gpu_page)
    pairs = tables(gpu_page)["r0-pairs0"]
    chips = [str(attributes.get("class")) for name, attributes in page.elements if name == "span"]
    cells = [str(attributes.get("class")) for name, attributes in page.elements if name == "td"]
    assert len(pairs) > 100
    assert {"faster", "slower"} < {pair[9] for pair in pairs} <= set(VERDICTS)
    assert {chip.removeprefix("chip ") for chip in chips if chip.startswith("chip ")} == set(VERDICTS)
    of_main = comparisons(frame(gpu_run()))[0].fastest
    assert sum(cell.startswith("v-") for cell in cells) >= len(of_main)
    assert all(re.fullmatch(r"[\d.,]+ to [\d.,]+", pair[8]) for pair in pairs)
    text = " ".join(page.text)
    assert "an equivalence band of 2\xa0%" in text
    assert "95 % confidence" in text


def test_a_page_says_what_its_run_lacks() -> None:
    run = cpu_run()
    run = replace(run, records=[record for record in run.records if record.status == "ok"])
    found = len(run.records)
    whole = "Every record was measured and verified."
    for about, told, is_whole in (
        ({"cases": found}, "", True),
        ({}, "", True),
        ({"cases": found + 2}, f"ended before its last case: 2 of {found + 2} have no record", False),
        ({"torn": True}, "The run file's last line was cut off and left out.", False),
    ):
        text = reports.render(replace(run, environment=run.environment | about), "harness run quick")
        shown = " ".join(" ".join(Page(text).text).split())
        assert (whole in shown) == is_whole
        assert told in shown
        assert is_whole or text.index('<p class="above">') < text.index('class="answer"')


def test_a_page_says_how_many_samples_were_taken_anew() -> None:
    whole = record("opencl", reduction(), 10e-6)
    clock = replace(whole.clocks["queue"], anew=2)
    run = run_of(replace(whole, clocks={"queue": clock}), record("opencl", laplace(), 1e-5))
    text = reports.render(run, "harness run quick")
    assert "Beside 6 samples 2 more were taken anew, as the host was interrupted in them." in text
    assert "taken anew" not in reports.render(run_of(whole), "harness run quick")


def test_page_needs_no_network(gpu_page: str) -> None:
    page = Page(gpu_page)
    references = page.values("src") + page.values("href") + page.values("xlink:href")
    assert all(reference.startswith(("#", "data:image/png;base64,")) for reference in references)
    assert not re.findall(r"https?://[^\s\"'<>]+", gpu_page)
    assert not page.count("link")


def test_ids_are_unique_and_references_resolve() -> None:
    text = page_of([gpu_run(), cpu_run()], ["one", "two"])
    ids = Page(text).values("id")
    assert len(ids) == len(set(ids)) > 20
    used = {href[1:].partition("?")[0] for href in Page(text).values("href")}
    assert {"r0-pairs0", "r0-all", "r1-pairs0"} < used <= set(ids)


def test_a_link_leads_to_its_case(gpu_page: str) -> None:
    links = [href.partition("?case=") for href in Page(gpu_page).values("href") if "?case=" in href]
    there = keys(gpu_page)
    assert len(links) > 200
    assert all(unquote(case) in there[name[1:]] for name, _, case in links)


def test_every_table_is_whole_without_a_script(gpu_page: str) -> None:
    plain = re.findall(r"<noscript><pre>(.*?)</pre></noscript>", gpu_page, re.DOTALL)
    drawn = list(tables(gpu_page).values())
    assert len(plain) == len(drawn)
    for text, rows in zip(plain, drawn, strict=True):
        lines = [html.unescape(line).split("\t") for line in text.splitlines()[1:]]
        assert [line[: len(row)] for line, row in zip(lines, rows, strict=True)] == [
            [" ".join(cell.split()) for cell in row] for row in rows
        ]


def test_a_page_of_the_recorded_runs_is_no_larger_than_it_may_be() -> None:
    assert len(reports.render(run_file("h200-quick"), "harness run quick").encode()) <= 1_250_000


def test_what_is_not_there_is_told_with_its_remedy_once() -> None:
    missing = {
        "cub": "cub: no device can be used; what to do: see nvidia-smi",
        "npp": "npp: NPP is missing",
        "gone": "gone: it was",
    }
    rows = _missing({"missing": missing})
    assert rows[0] == ("cub", "no device can be used", "see nvidia-smi")
    assert rows[1] == ("npp", "NPP is missing", REGISTRY["npp"].remedy)
    assert rows[2] == ("gone", "it was", "")


def test_charts_take_the_colour_of_the_page(gpu_page: str) -> None:
    charts = re.findall(r'<svg class="panel".*?</svg>', gpu_page, re.DOTALL)
    assert charts
    for chart in charts:
        ElementTree.fromstring(chart)
        assert not re.search(r"#[0-9a-f]{6}|rgb|style=", chart)
        assert "<text" in chart


def test_the_script_is_the_one_that_the_policy_allows(gpu_page: str) -> None:
    page = Page(gpu_page)
    script = re.findall(r"<script>(.*?)</script>", gpu_page, re.DOTALL)
    assert len(script) == 1
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
    assert len(re.findall(r"<script>", text)) == 1
    assert page.count("script") == 1 + len(tables(text))
    assert "alert(" not in "".join(re.findall(r"<script>.*?</script>", text, re.DOTALL))
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert "\x1b" not in text
    assert "{{ 7*7 }}" in "".join(page.text)
    assert page.count("img") == 1
    text.encode("utf-8")


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
    assert len(tables(reports.render(run, "x"))["r0-all"]) == 1000


def test_a_run_file_makes_the_same_page_as_the_run(tmp_path: Path) -> None:
    run = run_of(record("opencl", reduction(), 1e-6), record("cuda", laplace(), 1e-6, note="a note"))
    with RunWriter(tmp_path / "run.jsonl", run.environment) as writer:
        for each in run.records:
            writer.write(each)
        writer.write_end(574.4)
    loaded = load_run(tmp_path / "run.jsonl")
    page = reports.render(replace(loaded, path=None), "x")
    assert page == reports.render(replace(run, is_whole=True, seconds=574.4), "x")
    assert "2026-01-02, 9 min 34 s" in page


def test_terminal_table_gives_the_ratio_of_each_backend() -> None:
    run = run_of(record("opencl", reduction(), 8e-6), record("cuda", reduction(), 6e-6))
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(reports.terminal_table(run))
    lines = console.export_text().splitlines()
    (cuda,) = (line for line in lines if "cuda:0" in line)
    (opencl,) = (line for line in lines if "opencl:0" in line)
    assert re.search(r"\b6\.00\b.*\b0\.75\b.*\bslower\b", cuda)
    assert "0.75" not in opencl


def test_the_conclusion_is_the_headline_of_each_device() -> None:
    times = {"opencl": 8e-6, "cuda": 6e-6}
    sides = (with_blocks(record(name, reduction(), time), time, time) for name, time in times.items())
    (told,) = conclusion(run_of(*sides))
    assert told == "NVIDIA H200 (0000:3b:00.0): OpenCL is slower in 1 of 1 case, by up to 33.3 %."
    loud, _ = conclusion(run_of(record("numpy", reduction(), 8e-6), devices=(device("numpy"),)))
    assert loud.startswith("NEITHER OPENCL NOR CUDA RAN")
    assert "How to get opencl: " in loud
    skipped = replace(record("opencl", reduction()), status="skipped", reason="a source too large")
    for devices, of_cuda in (
        ((device("opencl"), device("numpy")), "How to get cuda: "),
        (BOTH, "cuda is here, and was not asked for: --backend cuda adds it"),
    ):
        loud, *_ = conclusion(run_of(record("numpy", reduction(), 8e-6), skipped, devices=devices))
        assert f"compares the two. opencl: a source too large; {of_cuda}" in loud
    limits = run_of(record("opencl", Bandwidth("copy", "uint32", 100), 8e-6, role="limit"))
    assert "NEITHER" not in " ".join(conclusion(limits))


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

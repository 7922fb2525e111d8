"""The studies' figures redone: from recorded runs, and from runs that lack this or that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.problems import Reduction
from harness.results.ratio import BAND, Side, compare
from harness.results.record import Record
from harness.results.runfile import Run
from harness.variants.axes import ReductionVariant, Variant, label
from harness.variants.ladders import LADDERS
from reports import format as write
from reports.dataset import frame
from reports.page import page
from reports.panels import SHAPES
from reports.published import published
from reports.rendering import template_text
from reports.saturation import series_of
from reports.studies import STUDIES, Chapter, chapters_of
from reports.studies.chapter import Shown, chapters
from reports.studies.jia2012 import STEPS
from tests.support.html import HOSTILE, Page
from tests.support.recorded import run_of as recorded
from tests.support.recorded import table, where
from tests.support.report_data import device, laplace, measured, reduction, run_of

GPU_NAME = "NVIDIA H200"
PROCESSOR: Any = {"name": "pthread-haswell", "physical": "cpu"}


def chapter(study: str, *runs: Run) -> Chapter:
    """The chapter of one study from runs."""
    (found,) = chapters_of([study], runs, list(map(frame, runs)), BAND)
    return found


def figure(of: Chapter, name: str) -> Shown:
    """One figure of a chapter by its name."""
    return next(each for each in of.figures if each.name == f"{of.name}-{name}")


@cache
def redone(study: str, name: str, *runs: str) -> Shown:
    """One figure of a study from recorded runs."""
    only = [each for each in STUDIES[study].figures if each.name == name]
    of = replace(STUDIES[study], figures=tuple(only))
    (found,) = chapters([of], list(map(recorded, runs)), list(map(table, runs)), BAND)
    return figure(found, name)


def redone_from(study: str, name: str, *runs: Run) -> Shown:
    """One figure of a study from runs that are not on the disk as they are."""
    return figure(chapter(study, *runs), name)


def lines(of: Shown) -> list[list[str]]:
    """The texts of the table behind a chart."""
    assert of.rows
    return [[cell.text for cell in line] for line in of.rows.lines]


def labels(of: Shown) -> list[str]:
    """What the panels of a chart say to those who cannot see them."""
    assert of.drawing
    return [re.findall(r'aria-label="([^"]*)"', panel.svg)[0] for panel in of.drawing.panels]


@cache
def ladders_alone() -> Run:
    """A run of the study's ladders without the other forms that its figures draw: part of a recorded one."""
    run = recorded("h200-yan2011")
    rungs = {rung for name in ("yan2011", "yan2011_image") for rung in LADDERS[name].rungs}
    kept = [record for record in run.records if record.case.variant in rungs]
    assert 0 < len(kept) < len(run.records)
    return replace(run, records=kept, path=Path("h200-ladders.jsonl.xz"))


def on_processor(*records: Record) -> Run:
    """A run of a machine without a GPU: PoCL and what else there is, on one processor."""
    devices = [
        device("opencl", **PROCESSOR) | {"kind": "cpu"},
        device("numpy", **PROCESSOR) | {"kind": "cpu", "platform": "NumPy"},
        device("opencv", **PROCESSOR) | {"kind": "cpu", "platform": "OpenCV"},
    ]
    return run_of(*records, devices=tuple(devices))


def pcl_on_processor() -> Run:
    """The ladder of pcl on PoCL, beside NumPy and OpenCV."""
    problem = Reduction("sum", "uint32", (16384,))
    rungs = [
        measured(8e-6 / 2**at, problem=problem, variant=rung) for at, rung in enumerate(LADDERS["pcl"].rungs)
    ]
    return on_processor(
        *rungs, measured(4e-6, "numpy", problem=problem), measured(1e-6, "opencv", problem=problem)
    )


def test_every_figure_of_yan2011_has_its_place() -> None:
    of = chapter("yan2011", recorded("h200-yan2011"))
    numbers = " ".join(each.number for each in of.figures)
    for number in (
        "Table 1",
        "Table 2",
        *(f"Figure {n}" for n in (3, 4, 5, 7, 8)),
        "9 and 10",
        "3 and 4",
        "5 and 6",
    ):
        assert number in numbers
    without = {each.number: each.place for each in of.figures if not each.drawing and each.place}
    assert without == {"Table 1": "not redone"}


def test_forms_that_a_run_lacks_are_told_with_their_suite() -> None:
    says = redone_from("yan2011", "figure-7", ladders_alone()).says
    assert says.endswith("not in the forms of the kernel that are drawn. harness run yan2011 measures it.")


def test_the_numbers_are_those_of_the_records() -> None:
    of = redone("yan2011", "figure-4", "h200-yan2011")
    rows = where(table("h200-yan2011"), problem="minmax uint8 2560x2560", purpose="compare")
    rows = where(rows, variant=label(ReductionVariant(vector_width=16)))
    us = {side: where(rows, backend=side)["queue"].iloc[0] * 1e6 for side in ("opencl", "cuda")}
    line = next(each for each in lines(of) if each[1:5] == ["minmax", "uint8", "2560x2560", "width 16"])
    assert line[5:7] == [f"{us['opencl']:.2f}", f"{us['cuda']:.2f}"]
    first, second = (
        Side(of_side["queue_blocks"].iloc[0], of_side["queue_error"].iloc[0])
        for of_side in (where(rows, backend=side) for side in ("opencl", "cuda"))
    )
    expected = compare(first, second, BAND, paired=True)
    assert (line[-3], line[-1]) == (f"{expected.value:.2f}", expected.verdict)


def test_the_sentence_counts_the_verdicts_of_the_data() -> None:
    """Vectors of 16 against single elements: of all types at the largest size, on each side."""
    says = redone("yan2011", "figure-4", "h200-yan2011").says
    rows = where(table("h200-yan2011"), size="2560x2560", purpose="compare", backend="opencl")
    times = [
        where(rows, variant=label(ReductionVariant(vector_width=width))).set_index("type")["queue"]
        for width in (1, 16)
    ]
    gains = times[0] / times[1]
    assert f"OpenCL faster in all {len(gains)} ({gains.min():.2f}x to {gains.max():.2f}x" in says
    assert "then faster (8.00x, ATI Radeon HD 5850, uint8, at least); here on NVIDIA H200: OpenCL" in says
    assert re.search(r"OpenCL against CUDA, kernel by kernel: same in \d+, faster in \d+", says)


def test_published_numbers_are_never_among_the_measured() -> None:
    of = redone("yan2011", "tables-5-6", "h200-yan2011")
    assert labels(of)[0].startswith("Tables 5 and 6, Published: NVIDIA Tesla C2050: OpenCV's CUDA = 1")
    assert all("Published" not in each for each in labels(of)[1:])
    assert of.drawing
    assert "stroke-dasharray" in of.drawing.panels[0].svg
    assert of.drawing.keys[-1].text == "hollow, dashed: published"
    assert of.printed
    assert not any("C2050" in cell for line in lines(of) for cell in line)
    times = published("yan2011_table5_c2050_time").set_index("implementation")["uint8"].astype(float)
    ratio = times["cuda"] / times["opencl_image"]
    assert "199.67 us, 30.56 GB/s; CUDA 242.14 us" in [line[3].text for line in of.printed.lines]
    assert f"then faster in all 13 (1.03x to {ratio:.2f}x, NVIDIA Tesla C2050)" not in of.says
    assert "then faster in all 13 (1.03x to 1.92x, NVIDIA Tesla C2050)" in of.says


def test_each_device_is_measured_by_its_own_bandwidth() -> None:
    of = redone("yan2011", "tables-3-4", "h200-yan2011")
    assert "then up to 88.8 % (ATI Radeon HD 5850, 2560x2560, int32)" in of.says
    best = max((line[8].split(" / ")[0] for line in lines(of)), key=float)
    assert f"OpenCL up to {best} %" in of.says
    assert len(lines(of)) == 21


def test_pcl_is_redone_but_for_the_processors_library() -> None:
    of = chapter("pcl", recorded("h200-pcl"))
    lost = {each.name.removeprefix("study-pcl-"): each.says for each in of.figures if each.place}
    assert list(lost) == ["figure-4"]
    assert "no CPU library" in lost["figure-4"]
    assert "harness run pcl" in lost["figure-4"]
    over_cuda = figure(of, "figure-5-cuda")
    assert "then faster (2.25x to 5.97x, NVIDIA Tesla K20M, by size)" in over_cuda.says
    assert over_cuda.drawing
    assert over_cuda.drawing.keys[-1].text == "hatched: published, NVIDIA Tesla K20M: 2.25 to 5.97"
    assert {line[3] for line in lines(over_cuda)} == {str(4**power) for power in range(5, 13)}


def test_copy_bandwidth_by_width_is_redone_from_its_suite() -> None:
    of = redone("jia2012", "figure-6", "h200-bandwidth")
    assert len(labels(of)) == 4
    rows = where(table("h200-bandwidth"), op="copy", backend="cuda", cache="cold", type="float32", width=4)
    assert [GPU_NAME, "CUDA", "cold", "float32", "4"] in [line[:5] for line in lines(of)]
    line = next(each for each in lines(of) if each[:5] == [GPU_NAME, "CUDA", "cold", "float32", "4"])
    assert line[5] == f"{rows['queue'].min() * 1e6:.2f}"


def test_several_runs_are_told_apart_where_a_figure_has_several() -> None:
    three = redone_from("yan2011", "figure-3", recorded("h200-yan2011"), ladders_alone())
    assert {line[0] for line in lines(three)} == {
        f"{GPU_NAME}, h200-{name}" for name in ("yan2011", "ladders")
    }
    alone = redone("pcl", "figure-7", "h200-pcl", "h200-bandwidth")
    assert {line[0] for line in lines(alone)} == {GPU_NAME}
    assert "here on NVIDIA H200, h200-yan2011: " in three.says
    assert "; here on NVIDIA H200, h200-ladders: " in three.says
    assert len(labels(three)) == 4


def test_a_run_with_one_form_alone_is_left_out_beside_one_that_compares() -> None:
    """modern begins with the buffer of yan2011, and has no image."""
    assert {line[0] for line in lines(redone("yan2011", "figure-3", "h200-yan2011", "h200-modern"))} == {
        GPU_NAME
    }
    alone = redone("yan2011", "figure-3", "h200-modern")
    assert {line[4] for line in lines(alone)} == {"Buffer"}
    assert alone.notes == (
        "Not in these runs: Image (harness run yan2011 measures them where a device can).",
    )


def test_two_runs_of_one_file_name_and_device_are_never_compared_with_each_other() -> None:
    problem = Reduction("sum", "uint32", (16384,))
    before, after = LADDERS["pcl"].rungs[1:3]
    first = run_of(measured(1e-6, problem=problem, variant=before))
    second = run_of(measured(2e-6, problem=problem, variant=after))
    seven = figure(
        chapter("pcl", *(replace(run, path=Path("run.jsonl")) for run in (first, second))), "figure-7"
    )
    assert "Global-Stride against Local-Stride: then no number was printed" in seven.says
    assert "OpenCL faster" not in seven.says
    assert "OpenCL slower" not in seven.says
    assert len({line[0] for line in lines(seven)}) == 2


def test_a_device_without_cuda_is_compared_with_what_it_has() -> None:
    of = chapter("pcl", pcl_on_processor())
    four = figure(of, "figure-4")
    assert "OpenCL over OpenCV on the processor faster" in four.says
    assert labels(four) == [f"Figure 4, {PROCESSOR['name']}: OpenCV on the processor = 1: " + four.title]
    over_cuda = figure(of, "figure-5-cuda")
    assert over_cuda.notes[-1].endswith("the fastest of numpy, opencv is 1, for want of a CUDA library.")
    seven = figure(of, "figure-7")
    assert "no CUDA; OpenCL against the fastest of numpy, opencv: slower" in seven.says
    assert any("has no CUDA: OpenCL is compared with" in note for note in seven.notes)
    assert [line[6] for line in lines(seven)] == ["–", "–"]
    assert not any(", CUDA" in each for each in labels(seven))


def test_the_recorded_run_of_a_processor_says_what_it_lacks() -> None:
    of = chapter("yan2011", recorded("cpu-libraries"))
    assert all(each.place for each in of.figures if each.number != "Table 2")
    assert "harness run yan2011 measures it" in figure(of, "figure-3").says


def test_the_speed_over_the_library_is_that_of_the_times() -> None:
    four = figure(chapter("pcl", pcl_on_processor()), "figure-4")
    ((*_, ours, library, theirs, ratio, _, verdict),) = lines(four)
    assert (ours, library, theirs) == ("0.12", "opencv", "1.00")
    assert (ratio.rstrip("†"), verdict) == ("8.00", "faster")


def test_a_run_without_a_figures_problems_says_which_suite_has_them() -> None:
    of = chapter("yan2011", run_of(measured(1e-6, problem=reduction("sum"))))
    for each in of.figures:
        if each.number not in ("Table 1", "Table 2"):
            assert each.says == "These runs lack its problems. harness run yan2011 measures it."
            assert each.drawing is None
    assert chapter("yan2011", run_of()).figures[1].says.endswith("here none.")


def test_series_that_no_run_has_are_named_with_their_suite() -> None:
    (note,) = redone_from("yan2011", "figure-5", ladders_alone()).notes
    assert note == (
        "Not in these runs: width 4, half store; width 16, half store "
        "(harness run yan2011 measures them where a device can)."
    )


def test_the_apis_and_the_verdicts_look_as_in_the_other_charts_of_the_page() -> None:
    shown = redone("jia2012", "table-1", "h200-jia2012").drawing
    steps = redone("jia2012", "steps", "h200-jia2012").drawing
    assert shown
    assert steps
    colours = {key.text: key.colour for key in (*shown.keys, *steps.keys)}
    numbers = series_of(["opencl", "cuda"])
    assert colours["OpenCL"] == f"var(--s{numbers['opencl']})"
    assert colours["CUDA"] == f"var(--s{numbers['cuda']})"
    style = template_text("report.css")
    assert f".v-faster {{ --hue: {colours['faster']}; }}" in style
    # The corners of a square and of a triangle, there and here.
    for name, key in zip(("opencl", "cuda"), shown.keys, strict=True):
        assert SHAPES[numbers[name]].count("L") == len(set(re.findall(r"[ML]([^MLZ]+)", key.path))) - 1


@pytest.mark.parametrize("study", ["jia2012", "pcl"])
def test_what_a_library_of_the_processor_takes_is_asked_for_on_the_processor(study: str) -> None:
    figures = {each.name: each for each in STUDIES[study].figures if each.base == "CPU library"}
    run = recorded(f"h200-{study}")
    run = replace(run, records=[each for each in run.records if each.case.backend in ("opencl", "cuda")])
    of = chapter(study, run)
    assert figures
    for name in figures:
        assert figure(of, name).says.endswith(f" harness run {study} --device cpu measures it.")


def test_every_rung_of_the_filter_is_a_series() -> None:
    """By itself: the chapter is of whatever rungs the ladder has."""
    images = (laplace(), laplace(channels=4))
    records = [
        measured(factor * 1e-5 / 2**place, side, problem=image, variant=rung)
        for image in images
        for side, factor in (("opencl", 1.0), ("cuda", 2.0))
        for place, rung in enumerate(_filter_ladder())
    ]
    npp = [measured(1e-5, "npp", problem=image) for image in images]
    devices = (device("opencl"), device("cuda"), device("npp") | {"platform": "CUDA"})
    of = chapter("jia2012", run_of(*records, *npp, devices=devices))
    one = figure(of, "table-1")
    assert {line[4] for line in lines(one)} == {series.name for series in STEPS}
    assert len(labels(one)) == 2
    last = 2 ** (len(STEPS) - 1)
    assert f"OpenCL faster in all 2 ({write.ratio(last)}x)" in one.says
    seven = figure(of, "figure-7")
    assert f"OpenCL over NPP faster in all 2 ({write.ratio(last)}x)" in seven.says
    assert f"CUDA over NPP faster in all 2 ({write.ratio(last / 2)}x)" in seven.says
    assert "then faster (1.12x to 4.47x, NVIDIA Tesla C1060 and C2050" in seven.says
    steps = figure(of, "steps")
    assert {line[-1] for line in lines(steps)} == {"faster"}


def test_nothing_stands_in_where_the_library_has_some_of_the_problems() -> None:
    """NPP has not every border: a chart with two libraries as 1 would compare what cannot be compared."""
    both, ours = laplace(), laplace(output="sharpened")
    devices = [device(name) | {"platform": "CUDA"} for name in ("cuda", "npp", "cupy")]
    cases = [measured(1e-6, side, problem=image) for image in (both, ours) for side in ("cuda", "cupy")]
    run = run_of(*cases, measured(4e-6, "npp", problem=both), devices=tuple(devices))
    seven = figure(chapter("jia2012", run), "figure-7")
    assert [line[6] for line in lines(seven)] == ["npp"]
    assert seven.notes == ()


def _filter_ladder() -> Iterator[Variant]:
    variants = {series.variant for series in STEPS}
    for ladder in LADDERS.values():
        if set(map(label, ladder.rungs)) == variants:
            yield from ladder.rungs


def test_the_page_has_the_chapters_that_were_asked_for() -> None:
    runs = [pcl_on_processor()]
    text = page(runs, ["harness run pcl"], BAND, ["pcl", "yan2011"])
    found = Page(text)
    ids = found.values("id")
    assert len(ids) == len(set(ids))
    references = {each[1:].partition("?")[0] for each in found.values("href") if each.startswith("#")}
    assert {"study-pcl", "study-yan2011", "study-pcl-figure-7"} <= references & set(ids)
    assert references <= set(ids)
    assert "study-jia2012" not in ids
    chart = re.search(r'<figure class="redone" id="study-pcl-figure-7">.*?</figure>', text, re.S)
    assert chart
    assert chart[0].count('class="chart"') == 1
    assert "<text" in chart[0]
    assert "<details>" in chart[0]
    assert "currentColor" in chart[0]
    without = page(runs, ["harness run pcl"])
    assert "study-" not in "".join(Page(without).values("id"))
    assert ".redone" not in without


def test_hostile_names_in_a_chapter_are_inert() -> None:
    problem = Reduction("sum", "uint32", (16384,))
    rungs = [
        measured(8e-6, side, problem=problem, variant=rung)
        for side in ("opencl", "cuda")
        for rung in LADDERS["pcl"].rungs
    ]
    devices = tuple(device(side, name=HOSTILE) for side in ("opencl", "cuda"))
    text = page([run_of(*rungs, devices=devices)], ["x"], BAND, ["pcl"])
    found = Page(text)
    assert found.values("type").count("application/gzip") == found.count("script") - 1
    assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
    assert "\x1b" not in text
    text.encode("utf-8")

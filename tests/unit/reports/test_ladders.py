"""The report of a ladder: which are found, the worth of each step, the chart by type or by size."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import reports
from backends import REGISTRY
from harness.problems import Reduction
from harness.results.record import Record
from harness.results.runfile import Run
from harness.variants.ladders import LADDERS
from reports.dataset import frame
from reports.ladders import changes, climbs, rungs_of, steps_table, waterfalls
from reports.panels import SHAPES
from reports.saturation import backend_legend, series_of
from tests.support.report_data import BOTH, device, limit, record, run_of

LADDER = LADDERS["tutorial"]
SIZES = (1024, 4096)
DEVICES = (*BOTH, device("cupy"))
TYPES = ("uint32", "float32", "int8")


def climbed(sizes: tuple[int, ...] = SIZES, types: tuple[str, ...] = ("uint32",)) -> Run:
    """A run of all rungs on two backends, each twice as fast as the one before, and of a library."""
    records: list[Record] = []
    for number, (size, dtype) in enumerate((size, dtype) for size in sizes for dtype in types):
        problem = Reduction("sum", dtype, (size,))
        base = 1e-6 * 10**number
        for place, rung in enumerate(LADDER.rungs):
            for backend, slower in (("opencl", 2.0), ("cuda", 1.0)):
                records.append(record(backend, problem, slower * base / 2**place, variant=rung))
        records.append(record("cupy", problem, base))
    return run_of(*records, devices=DEVICES)


def test_a_ladder_is_found_when_every_rung_was_asked_for() -> None:
    run = climbed()
    (climb,) = climbs(frame(run))
    assert climb.ladder is LADDER
    assert set(climb.rungs["step"]) == set(LADDER.labels)
    assert set(climb.libraries["step"]) == {"cupy"}
    missing = [one for one in run.records if one.case.variant != LADDER.rungs[1]]
    assert list(climbs(frame(run_of(*missing, devices=DEVICES)))) == []


def test_a_rung_that_cannot_run_is_left_out_of_the_climb() -> None:
    run = climbed()
    skipped = [
        record(one.case.backend, one.case.problem, variant=one.case.variant, status="skipped", reason="why")
        if one.case.variant == LADDER.rungs[1]
        else one
        for one in run.records
    ]
    (climb,) = climbs(frame(run_of(*skipped, devices=DEVICES)))
    assert set(climb.rungs["step"]) == {LADDER.labels[0], LADDER.labels[2]}
    gains = [[cell.text for cell in line.cells[3:]] for line in steps_table([climb]).lines]
    assert gains == [["2", "–", "–"], ["2", "4.00", "4.00"]] * 2


def test_a_first_rung_that_one_device_cannot_run_is_left_out_there() -> None:
    """A rung after it has nothing to be compared with, and the next one only that."""
    run = climbed()
    skipped = [
        record(one.case.backend, one.case.problem, variant=one.case.variant, status="skipped", reason="why")
        if (one.case.backend, one.case.variant) == ("opencl", LADDER.rungs[0])
        else one
        for one in run.records
    ]
    (climb,) = climbs(frame(run_of(*skipped, devices=DEVICES)))
    found = [[cell.text for cell in line.cells[2:]] for line in steps_table([climb]).lines]
    opencl = [["opencl:0", "2", "–", "–"], ["opencl:0", "2", "2.00", "–"]]
    cuda = [["cuda:0", "2", "–", "–"], ["cuda:0", "2", "2.00", "2.00"], ["cuda:0", "2", "2.00", "4.00"]]
    assert sorted(found) == sorted(opencl + cuda)
    assert "What each step brings" in reports.render(
        run_of(*skipped, devices=DEVICES), "harness run tutorial"
    )


def test_the_worth_of_each_step_is_the_mean_over_problems() -> None:
    (climb,) = climbs(frame(climbed()))
    lines = steps_table([climb]).lines
    assert [line.cells[1].text for line in lines] == list(LADDER.labels) * 2
    assert [line.cells[2].text for line in lines] == ["opencl:0"] * 3 + ["cuda:0"] * 3
    assert [[float(cell.text) for cell in line.cells[4:]] for line in lines[1:3]] == [[2, 2], [2, 4]]


def test_a_waterfall_a_problem_has_every_rung_of_both_and_the_limit() -> None:
    problem = Reduction("sum", "uint32", (SIZES[0],))
    run = climbed()
    bound = limit("read", problem.source_bytes, problem.source_bytes / 2e-7)
    (climb,) = climbs(frame(run_of(*run.records, bound, devices=DEVICES)))
    panels = waterfalls(climb)
    assert len(panels) == len(SIZES)
    panel = ElementTree.fromstring(panels[0])
    texts = [each.text for each in panel.iter("text")]
    assert [text for text in texts if text in ("base", *LADDER.labels)] == ["base", *LADDER.labels[1:]]
    assert len(list(panel.iter("rect"))) == 2 * len(LADDER.rungs)
    assert "limit: 0.20 us" in texts
    assert "cupy" not in panels[0], "libraries have a place of their own"


def test_a_gain_is_that_of_one_change() -> None:
    """Where the rung before failed on one problem, the two changes since are told as none."""
    run = climbed()
    failed = [
        record(one.case.backend, one.case.problem, variant=one.case.variant, status="failed", reason="why")
        if (one.case.problem.label, one.case.variant) == ("sum uint32 1024", LADDER.rungs[1])
        else one
        for one in run.records
    ]
    (climb,) = climbs(frame(run_of(*failed, devices=DEVICES)))
    assert [rung.gain for rung in rungs_of(climb, "sum uint32 1024")] == [None] * 4
    other = next(problem for problem in climb.rungs["problem"] if problem != "sum uint32 1024")
    assert [rung.gain is not None for rung in rungs_of(climb, other)] == [False] * 2 + [True] * 4


def test_a_bar_reaches_from_the_rung_before_to_its_own() -> None:
    (climb,) = climbs(frame(climbed(SIZES[:1])))
    bars = list(ElementTree.fromstring(waterfalls(climb)[0]).iter("rect"))
    ends = [(float(bar.attrib["x"]), float(bar.attrib["x"]) + float(bar.attrib["width"])) for bar in bars]
    for side in (0, 1):
        base, second, third = ends[side::2]
        assert base[1] == pytest.approx(second[1], abs=0.2)
        assert second[0] == pytest.approx(third[1], abs=0.2)


def test_what_a_rung_brought_has_its_interval() -> None:
    (climb,) = climbs(frame(climbed(SIZES[:1])))
    base, _, second, *_ = rungs_of(climb, "sum uint32 1024")
    assert base.gain is None
    assert base.told == "2.00 us"
    assert second.gain is not None
    assert second.gain.value == pytest.approx(2)
    assert second.gain.interval.low < 2 < second.gain.interval.high
    assert second.told.startswith("1.00 us, 2.0x (")


def test_what_a_rung_changes_in_the_source_is_told_of_both_dialects() -> None:
    (climb,) = climbs(frame(climbed()))
    found = {(change.dialect, change.step): change.diff for change in changes(climb)}
    assert set(found) == {(side, step) for side in ("opencl", "cuda") for step in LADDER.labels[1:]}
    assert "+#define VECTOR_WIDTH 4" in found["opencl", LADDER.labels[1]]


def test_the_page_shows_the_steps_of_a_ladder_alone() -> None:
    page = reports.render(climbed(), "harness run tutorial")
    assert "What each step brings" in page
    assert LADDER.about.partition("'")[0] in page
    assert "What each step brings" not in reports.render(run_of(), "harness run quick")


def test_no_two_backends_look_alike() -> None:
    """Of all that are registered; a backend of somebody else's is drawn beside them."""
    names = [*REGISTRY, "portable opencl", "portable cuda", "module:Other"]
    legend = backend_legend(names)
    looks = re.findall(r'<path d="([^"]+)" class="m (s\d)"', legend)
    assert len(set(looks)) == len({shape for shape, _ in looks}) == len(names) <= len(SHAPES)
    assert re.findall(r"</svg>([^<]+)<", legend) == names


def test_a_backend_looks_the_same_in_all_charts_whatever_stands_beside_it() -> None:
    names = ["portable opencl", "portable cuda", "opencl", "module:Other"]
    there = series_of(names)
    assert series_of(names[::-1]) == there
    assert {name: series_of([name])[name] for name in names} == there


def test_what_is_a_line_in_a_chart_is_one_in_its_legend() -> None:
    shown = backend_legend(["cuda"], [("measured limit", 0, "limit"), ("peak", 0, "peak")])
    assert re.findall(r'<path d="([^"]+)" class="([^"]+)"', shown)[1:] == [
        ("M-6 0H6", "limit"),
        ("M-6 0H6", "peak"),
    ]


def test_every_prefix_of_a_run_makes_a_page() -> None:
    """As a run that was ended leaves it: whatever rung or side is missing."""
    run = climbed(SIZES[:1])
    for count in range(len(run.records) + 1):
        page = reports.render(run_of(*run.records[:count], devices=DEVICES), "harness run tutorial")
        assert ("What each step brings" in page) == (count >= len(run.records) - 2)


def test_all_registered_libraries_at_once_have_a_place_on_the_page() -> None:
    libraries = [name for name, entry in REGISTRY.items() if entry.role == "library"]
    problem = Reduction("sum", "uint32", (SIZES[0],))
    beside = [record(name, problem, (2 + place) * 1e-6) for place, name in enumerate(libraries)]
    run = run_of(*climbed(SIZES[:1]).records, *beside, devices=(*BOTH, *map(device, libraries)))
    page = reports.render(run, "harness run tutorial")
    assert all(f"</svg>{name}</li>" in page for name in libraries)
    assert all(name not in panel for panel in waterfalls(*climbs(frame(run))) for name in libraries)

"""The report of a ladder: which are found, the worth of each step, the chart by type or by size."""

from __future__ import annotations

import pytest

import reports
from backends import REGISTRY
from harness.problems import Reduction
from harness.results.record import Record
from harness.results.runfile import Run
from harness.variants.ladders import LADDERS
from reports.dataset import frame
from reports.ladders import climbs, steps_chart, steps_table
from reports.looks import looks
from reports.svg import SENTINEL
from tests.support.report_data import BOTH, device, record, run_of

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
    assert [[float(cell.sort) for cell in line.cells[4:]] for line in lines[1:3]] == [[2, 2], [2, 4]]


@pytest.mark.parametrize(
    ("sizes", "types", "across"),
    [(SIZES, ("uint32",), SIZES), (SIZES, TYPES, TYPES), ((7,), ("int8",), ("int8",))],
)
def test_the_chart_is_by_what_there_is_more_of(
    sizes: tuple[int, ...], types: tuple[str, ...], across: tuple[object, ...]
) -> None:
    (climb,) = climbs(frame(climbed(sizes, types)))
    svg = steps_chart(climb, "mine")
    assert svg.startswith("<svg")
    assert SENTINEL not in svg
    for text in (*across, "opencl:0", "cuda:0", "cupy", "base", *LADDER.labels[1:]):
        assert str(text) in svg


def test_the_page_shows_the_steps_of_a_ladder_alone() -> None:
    page = reports.render(climbed(), "harness run tutorial")
    assert "What each step brings" in page
    assert LADDER.about.partition("'")[0] in page
    assert "What each step brings" not in reports.render(run_of(), "harness run quick")


def test_no_tick_is_written_in_mathtext() -> None:
    """matplotlib labels the minor ticks of a short logarithmic axis by itself, in a markup no page shows."""
    run = climbed(sizes=SIZES[:1])
    assert "mathdefault" not in reports.render(run, "harness run tutorial")


def test_no_two_backends_look_alike() -> None:
    """Of all that are registered; a backend of somebody else's is drawn beside them."""
    names, look = looks([*REGISTRY, "module:Other"])
    assert names == [*REGISTRY, "module:Other"]
    for what in ("palette", "markers"):
        assert len({look[what][name] for name in REGISTRY}) == len(REGISTRY), f"{what}: add one"
        assert "module:Other" in look[what]


def test_every_library_has_its_own_marker_beside_the_rungs() -> None:
    libraries = [name for name, entry in REGISTRY.items() if entry.role in ("library", "reference")]
    beside = [record(name, Reduction("sum", "uint32", (SIZES[0],)), 1e-6) for name in libraries]
    run = run_of(*climbed().records, *beside, devices=(*BOTH, *map(device, libraries)))
    (climb,) = climbs(frame(run))
    svg = steps_chart(climb, "mine")
    markers = looks(climb.libraries["step"])[1]["markers"]
    assert set(markers) == set(libraries)
    assert len(set(markers.values()) - {"o"}) == len(libraries)
    assert all(f">{name}<" in svg for name in libraries)

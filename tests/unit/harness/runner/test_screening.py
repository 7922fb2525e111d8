"""Candidates for a limit: all are measured briefly once, the fastest further, and these are remembered."""

from __future__ import annotations

import logging
import signal
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from harness.problems import Bandwidth, Reduction
from harness.results.record import Case, Record, Samples
from harness.results.run_writer import RunWriter
from harness.results.runfile import load_run
from harness.runner import screening
from harness.runner.known import Known
from harness.runner.run import Progress, run_cases
from harness.runner.screening import FOLDER_VARIABLE, MOST_REMEMBERED, WORTH, Screening
from harness.runner.signals import Ended
from harness.variants.axes import BandwidthVariant, LibraryVariant, label
from tests.support.fake_backend import DEVICE
from tests.support.fake_runs import asked, planned, run

VARIANTS = [BandwidthVariant(vector_width=4, groups=groups) for groups in (1, 2, 4, 8, 16)]
READ, COPY = (Bandwidth(direction, "uint32", 1000) for direction in ("read", "copy"))


def candidates(problem: Bandwidth = READ, cache: Literal["hot", "cold"] = "hot") -> list[Case]:
    return [Case("fake", 0, problem, variant, cache, "limit") for variant in VARIANTS]


def timed(case: Case, *microseconds: float) -> Record:
    return Record(case, "ok", clocks={"queue": Samples(tuple(us * 1e-6 for us in microseconds))})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "limits"))
    return tmp_path / "limits"


def screened(cases: list[Case], times: list[float], anew: bool = False) -> Screening:
    found = Screening(cases, [DEVICE], anew)
    for case, us in zip(cases, times, strict=True):
        if not found.is_out(case):
            found.add(timed(case, us, us, us))
    return found


def test_candidates_that_are_hardly_slower_than_the_fastest_are_measured_again() -> None:
    cases = candidates()
    found = Screening(cases)
    samples = [(100,), (100 * WORTH - 1,), (100 * WORTH + 1,), (200, 101, 200), (200,)]
    for case, times in zip(cases, samples, strict=True):
        assert found.is_brief(case)
        assert not any(map(found.is_out, cases)), "nobody is out before all were measured"
        found.add(timed(case, *times))
    # One good sample is enough: the others may have been disturbed.
    assert [found.is_out(case) for case in cases] == [False, False, True, False, True]
    assert not any(map(found.is_brief, cases))
    found.add(timed(cases[0], 300))
    assert not found.is_out(cases[0]), "who is out is settled once"


@pytest.mark.parametrize("failing", [False, True])
def test_of_those_that_are_not_out_the_fastest_in_two_rounds_go_on(failing: bool) -> None:
    cases = candidates()
    found = Screening(cases)
    for case in cases:
        found.add(timed(case, 100))
    # In the median of both rounds; one that fails in the second keeps nobody waiting.
    for case, us in zip(cases, (103, 101, 104, 102, 105), strict=True):
        assert not any(map(found.is_out, cases)), "nobody is out before all were measured again"
        found.add(Record(case, "failed", "lost") if failing and us == 101 else timed(case, us))
    out = [False, False, not failing, False, True]
    assert [found.is_out(case) for case in cases] == out
    found.add(timed(cases[0], 900))
    assert [found.is_out(case) for case in cases] == out, "they go on whatever comes"


def test_each_size_direction_cache_state_and_device_has_a_fastest_of_its_own() -> None:
    others = [replace(case, device=1) for case in candidates()]
    groups = [candidates(), candidates(COPY), candidates(cache="cold"), others]
    found = Screening([case for group in groups for case in group])
    for place, group in enumerate(groups):
        for number, case in enumerate(group):
            found.add(timed(case, 10 * (place + 1) * (1 + number)))
    assert [[found.is_out(case) for case in group] for group in groups] == [[False, *[True] * 4]] * 4


def test_what_failed_does_not_keep_the_others_waiting_and_what_is_compared_is_left_alone() -> None:
    cases = candidates()
    other = Case("fake", 0, Reduction("min", "int32", (9,)), LibraryVariant())
    found = Screening([*cases, other])
    for case in cases[:3]:
        found.add(Record(case, "failed", "no such kernel"))
    for case, us in zip(cases[3:], (10, 20), strict=True):
        found.add(timed(case, us))
    assert [found.is_out(case) for case in cases[3:]] == [False, True]
    assert (found.is_brief(other), found.is_out(other), found.told(other)) == (False, False, {})


def test_the_next_run_measures_the_fastest_alone(folder: Path) -> None:
    cases = candidates()
    first = screened(cases, [13.0, 10.0, 10.1, 10.2, 10.05])
    for case, us in zip(cases[1:], (10.0, 10.1, 10.2, 10.05), strict=True):
        first.add(timed(case, us))
    assert first.told(cases[1]) == {"sweep": "5 candidates in this run"}
    first.remember()
    second = Screening(cases, [DEVICE])
    assert [second.is_out(case) for case in cases] == [True, False, False, True, False]
    assert not any(map(second.is_brief, cases))
    assert second.told(cases[1])["sweep"].startswith(f"the fastest {MOST_REMEMBERED} of 5, found on 2")
    second.add(timed(cases[1], 10.0))
    second.remember()
    assert [Screening(cases, [DEVICE]).is_out(case) for case in cases] == [True, False, False, True, False]
    assert [path.suffix for path in folder.iterdir()] == [".json"]


def test_a_run_that_is_too_short_to_choose_leaves_the_choice_to_the_next() -> None:
    cases = candidates()
    screened(cases, [13.0, 10.0, 10.1, 10.2, 10.05]).remember()
    second = Screening(cases, [DEVICE])
    assert [second.is_out(case) for case in cases] == [True, False, False, False, False]
    for _ in range(2):
        for case, us in zip(cases[1:], (10.4, 10.1, 10.2, 10.05), strict=True):
            second.add(timed(case, us))
    second.remember()
    third = Screening(cases, [DEVICE])
    assert [third.is_out(case) for case in cases] == [True, True, False, False, False]
    assert third.told(cases[2])["sweep"].startswith(f"the fastest {MOST_REMEMBERED} of 5, found on 2")


@pytest.mark.parametrize(
    "change", ["driver", "name", "compute_units", "kernels", "rule", "sweep", "anew", "problem"]
)
def test_what_is_remembered_is_of_one_device_sweep_and_size(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = candidates()
    screened(cases, [1, 2, 3, 4, 5]).remember()
    others = {
        "driver": replace(DEVICE, driver="another"),
        "name": replace(DEVICE, name="another"),
        "compute_units": replace(DEVICE, compute_units=9),
    }
    device = others.get(change, DEVICE)
    if change == "kernels":
        monkeypatch.setattr(screening, "kernels_hash", lambda: "another")
    elif change == "rule":
        monkeypatch.setattr(screening, "plan", lambda *of: f"what another rule makes of {of}")
    elif change == "sweep":
        cases = [*cases, replace(cases[0], variant=replace(VARIANTS[0], groups=32))]
    elif change == "problem":
        cases = candidates(COPY)
    assert not any(map(Screening(cases, [device], anew=change == "anew").is_out, cases))


def test_a_sweep_anew_leaves_nothing_else_remembered() -> None:
    screened(candidates(COPY), [1, 2, 3, 4, 5]).remember()
    screened(candidates(), [5, 4, 3, 2, 1]).remember()
    assert any(map(Screening(candidates(COPY), [DEVICE]).is_out, candidates(COPY)))
    screened(candidates(), [1, 2, 3, 4, 5], anew=True).remember()
    found = Screening([*candidates(), *candidates(COPY)], [DEVICE])
    assert [found.is_out(case) for case in candidates()] == [False, *[True] * 4]
    assert not any(map(found.is_out, candidates(COPY)))


def test_an_unfinished_sweep_is_not_remembered_and_one_that_fails_now_is_forgotten() -> None:
    cases = candidates()
    found = Screening(cases, [DEVICE])
    found.add(timed(cases[0], 1.0))
    found.remember()
    assert not any(map(Screening(cases, [DEVICE]).is_out, cases))
    both = [*cases, *candidates(COPY)]
    screened(both, [1, 2, 3, 4, 5] * 2).remember()
    again = Screening(both, [DEVICE])
    again.add(Record(cases[0], "failed", "no such kernel"))
    again.add(timed(candidates(COPY)[0], 1.0))
    again.remember()
    found = Screening(both, [DEVICE])
    assert not any(map(found.is_out, cases))
    assert found.is_out(candidates(COPY)[1])


@pytest.mark.parametrize("anew", [False, True])
def test_what_a_run_has_not_come_to_stays_remembered(anew: bool) -> None:
    """It was interrupted in its second limit of three."""
    reads, copies, cold = candidates(), candidates(COPY), candidates(cache="cold")
    screened([*copies, *cold], [1, 2, 3, 4, 5] * 2).remember()
    found = Screening([*reads, *copies, *cold], [DEVICE], anew)
    for number, case in enumerate(reads):
        found.add(timed(case, 5.0 - number))
    if anew:
        found.add(timed(copies[0], 9.0))
    found.remember()
    again = Screening([*reads, *copies, *cold], [DEVICE])
    assert [again.is_out(case) for case in reads] == [*[True] * 4, False]
    assert [again.is_out(case) for case in copies] == [False, *[True] * 4]
    assert [again.is_out(case) for case in cold] == [False, *[True] * 4]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Ended(signal.SIGTERM), OSError("the disk is full")])
def test_what_an_interrupted_run_has_found_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    cases = [*candidates(), *candidates(COPY)]
    monkeypatch.setattr(screening, "WORTH", 99.0)

    def interrupt(step: Progress) -> None:
        if step.next == cases[7]:
            raise error

    with RunWriter(tmp_path / "run.jsonl", {}) as writer, pytest.raises(type(error)):
        run_cases(planned(cases, devices=(DEVICE,)), writer, interrupt)
    found = Screening(cases, [DEVICE])
    assert {case.problem for case in cases if found.is_brief(case)} == {COPY}


@pytest.mark.parametrize("damage", ["text", "unwritable"])
def test_a_file_that_is_of_no_use_costs_a_warning(
    folder: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    cases = candidates()
    screened(cases, [1, 2, 3, 4, 5]).remember()
    (file,) = folder.iterdir()
    if damage == "text":
        file.write_text('{"read uint32 1000 hot": 5}')
    else:
        file.unlink()
        folder.rmdir()
        folder.write_text("a file, no folder")
    with caplog.at_level(logging.WARNING):
        found = screened(cases, [1, 2, 3, 4, 5])
        found.remember()
    assert str(file) in caplog.text
    assert found.told(cases[0]) == {"sweep": "5 candidates in this run"}


def test_a_label_names_one_candidate() -> None:
    assert len({label(variant) for variant in VARIANTS}) == len(VARIANTS)
    hinted = [replace(VARIANTS[0], cache_hint=hint) for hint in ("none", "streaming", "resident")]
    assert len({label(variant) for variant in hinted}) == 3


def test_a_run_measures_those_that_are_out_once_and_briefly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = candidates()
    # On the fake device all are as fast: with this, all but those remembered are out.
    monkeypatch.setattr(screening, "WORTH", 0.0)
    shares = asked(monkeypatch)
    found = run(tmp_path, planned(cases, processes=2, case_seconds=0.4, devices=(DEVICE,)))
    assert [(trial.case, trial.process) for trial in found.trials] == [(case, 0) for case in cases]
    for share in shares:
        assert set(share) == {"queue", "launch"}
        assert share["queue"].seconds == pytest.approx(0.4 / 2 / 2 / 4)
    assert {record.provenance["sweep"] for record in found.records} == {"5 candidates in this run"}


def test_a_run_measures_those_that_are_not_out_in_every_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = candidates()
    monkeypatch.setattr(screening, "WORTH", 99.0)
    plan = planned(cases, processes=2, devices=(DEVICE,))
    assert len(run(tmp_path, plan).trials) == 2 * len(cases)
    (tmp_path / "again").mkdir()
    again = run(tmp_path / "again", plan)
    assert len(again.trials) == 2 * MOST_REMEMBERED
    assert {record.provenance["sweep"][:19] for record in again.records} == {"the fastest 3 of 5,"}
    # Those that are known to be slower have no record, and none is missed.
    assert len(again.records) < len(cases)
    assert not replace(again, environment={"cases": len(cases)}, is_whole=True).lacks


def test_where_a_process_has_several_contexts_the_fastest_have_four_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = candidates()
    monkeypatch.setattr(screening, "WORTH", 99.0)
    # Their times are never known well.
    monkeypatch.setattr(Known, "enough", lambda *_: set())
    plan = planned(cases, processes=2, gpu_contexts=9, contexts={"fake:0": 9}, devices=(DEVICE,))
    found = run(tmp_path, plan)
    blocks = [[trial.block for trial in found.trials if trial.case == case] for case in cases]
    lasting, given_up = [0, 1, 2, 3, 9, 10, 11, 12], [0, 1]
    assert sorted(blocks) == [given_up] * 2 + [lasting] * MOST_REMEMBERED


def test_a_resumed_run_knows_who_is_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = candidates()
    # On the fake device all are as fast: with this, all are out.
    monkeypatch.setattr(screening, "WORTH", 0.0)
    plan = planned(cases, processes=2, devices=(DEVICE,))
    run(tmp_path, plan)
    path = tmp_path / "run.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    writer, finished = RunWriter.resume(path)
    with writer:
        run_cases(plan, writer, finished=finished)
    assert [(trial.case, trial.process) for trial in load_run(path).trials] == [(case, 0) for case in cases]

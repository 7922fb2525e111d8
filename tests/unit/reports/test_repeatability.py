"""Do two runs tell the same: verdicts counted pair by pair, exit codes, bad input."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from harness.problems import OPS
from harness.results.record import Record
from harness.results.runfile import Run
from reports.repeatability import LEAST_EQUAL, repeated
from tests.support.command import Harness, harness
from tests.support.report_data import BOTH, GPU, device, measured, reduction, run_of, write

__all__ = ["harness"]


def sides(opencl: float, op: str = "minmax") -> tuple[Record, Record]:
    """A problem that CUDA takes a microsecond for, and OpenCL so many."""
    problem = reduction(op)
    return measured(opencl * 1e-6, problem=problem), measured(1e-6, "cuda", problem=problem)


def run(*opencl: float) -> Run:
    """A run of one operation after the other."""
    return run_of(*(record for each, op in zip(opencl, OPS, strict=False) for record in sides(each, op)))


def test_verdicts_are_matched_by_problem_whatever_their_order() -> None:
    records = [*sides(1, "sum"), *sides(2, "min")]
    (found,) = repeated(run_of(*records), run_of(*reversed(records)))
    assert (found.first, found.second, found.device) == ("OpenCL", "CUDA", "NVIDIA H200")
    assert [(pair.problem.split()[0], pair.a.verdict, pair.b.verdict) for pair in found.pairs] == [
        ("sum", "same", "same"),
        ("min", "slower", "slower"),
    ]
    assert (found.equal, found.share, found.contradicting, found.passed) == (2, 1.0, 0, True)


def test_verdicts_are_matched_by_cache_state() -> None:
    cold = [replace(record, case=replace(record.case, cache="cold")) for record in sides(2)]
    (found,) = repeated(run_of(*sides(1), *cold), run_of(*cold, *sides(1)))
    assert [(pair.cache, pair.a.verdict, pair.b.verdict) for pair in found.pairs] == [
        ("hot", "same", "same"),
        ("cold", "slower", "slower"),
    ]
    with pytest.raises(ValueError, match="no ratio in common"):
        repeated(run_of(*sides(1)), run_of(*cold))


def test_an_ambiguous_verdict_differs_and_contradicts_nothing() -> None:
    (found,) = repeated(run(1.0, 1.0), run(1.0, 1.02))
    assert [(pair.a.verdict, pair.b.verdict, pair.equal) for pair in found.pairs] == [
        ("same", "same", True),
        ("same", "ambiguous", False),
    ]
    assert (found.equal, found.share, found.contradicting, found.passed) == (1, 0.5, 0, False)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.5), (0.5, 1.0), (0.5, 1.5)])
def test_verdicts_that_cannot_both_be_true_contradict(a: float, b: float) -> None:
    (found,) = repeated(run(a), run(b))
    assert found.contradicting == 1


def test_one_in_twenty_may_differ() -> None:
    twenty = [replace(record, case=replace(record.case, problem=reduction("sum", side=side)))
              for side in range(64, 84) for record in sides(1.0, "sum")]  # fmt: skip
    other = [replace(each, clocks=sides(1.02)[0].clocks) if each is twenty[0] else each for each in twenty]
    (found,) = repeated(run_of(*twenty), run_of(*other))
    assert found.share == LEAST_EQUAL
    assert found.passed
    (found,) = repeated(run_of(*twenty[:38]), run_of(*other[:38]))
    assert not found.passed


def test_the_band_decides() -> None:
    assert repeated(run(1.0), run(1.1), 0.2)[0].passed
    assert not repeated(run(1.0), run(1.1), 0.02)[0].passed


def test_another_start_may_give_the_device_another_address() -> None:
    moved = tuple(device(name, physical="0000:99:00.0") for name in ("opencl", "cuda"))
    (found,) = repeated(run_of(*sides(1)), run_of(*sides(1), devices=moved))
    assert found.equal == 1


def test_two_devices_of_one_name_are_told_apart() -> None:
    devices = *BOTH, *(device(name, 1, physical=f"{GPU}1") for name in ("opencl", "cuda"))
    second = [replace(record, case=replace(record.case, device=1)) for record in sides(2)]
    both = run_of(*sides(1), *second, devices=devices)
    assert [[pair.a.verdict for pair in each.pairs] for each in repeated(both, both)] == [
        ["same"],
        ["slower"],
    ]


def test_a_device_that_only_one_run_has_takes_no_others_place() -> None:
    first, other = BOTH, tuple(device(name, 1, physical=f"{GPU}1") for name in ("opencl", "cuda"))
    second = [replace(record, case=replace(record.case, device=1)) for record in sides(2)]
    both, alone = (run_of(*of, *second, devices=(*first, *other)) for of in (sides(1), ()))
    for a, b in ((both, alone), (alone, both)):
        (found,) = repeated(a, b)
        assert [(pair.a.verdict, pair.b.verdict) for pair in found.pairs] == [("slower", "slower")]
    # At another address it is known by its name.
    named, moved = (
        tuple({**each, "name": "NVIDIA A100", "physical": physical} for each in other)
        for physical in (f"{GPU}1", f"{GPU}2")
    )
    (found,) = repeated(
        run_of(*sides(1), *second, devices=(*first, *named)), run_of(*second, devices=(*first, *moved))
    )
    assert (found.device, found.equal) == ("NVIDIA A100", 1)


@pytest.mark.parametrize(("ratio", "code"), [(1.0, 0), (1.02, 1), (2.0, 1)])
def test_the_command(harness: Harness, ratio: float, code: int) -> None:
    a = write(harness.folder / "a.jsonl", *sides(1.0))
    b = write(harness.folder / "b.jsonl", *sides(ratio))
    shown = harness("repeat", a, b)
    assert shown.code == code
    assert "OpenCL over CUDA" in shown.out
    assert ("too few" in shown.out, "not equal" in shown.out) == (bool(code), bool(code))
    plain = harness("repeat", a, b, "--json")
    assert plain.code == code
    (found,) = json.loads(plain.out)
    assert (found["verdicts"], found["equal"]) == (1, 1 - code)
    assert found["pairs"][0]["a"]["ratio"] == 1
    assert all(map(math.isfinite, found["pairs"][0]["b"]["interval"]))


def test_an_unknown_interval_is_null(harness: Harness) -> None:
    few = [replace(record, clocks={"queue": replace(clock, seconds=clock.seconds[:1], blocks=())})
           for record in sides(1) for clock in [record.clocks["queue"]]]  # fmt: skip
    path = write(harness.folder / "a.jsonl", *few)
    (found,) = json.loads(harness("repeat", path, path, "--json").out)
    assert found["pairs"][0]["a"] == {"ratio": 1.0, "interval": None, "verdict": "ambiguous"}


def test_other_machines_are_refused_and_can_be_forced(harness: Harness) -> None:
    a = write(harness.folder / "a.jsonl", *sides(1))
    elsewhere = tuple({**each, "name": "another GPU"} for each in BOTH)
    b = write(harness.folder / "b.jsonl", *sides(1), devices=elsewhere)
    refused = harness("repeat", a, b)
    assert (refused.code, refused.out) == (3, "")
    assert "differs: opencl:0 name" in refused.err
    assert harness("repeat", a, b, "--force").code == 0


@pytest.mark.parametrize(("options", "message"), [((), "no ratio in common"), (("--band", "-1"), "--band")])
def test_bad_input_is_exit_code_2(harness: Harness, options: tuple[str, ...], message: str) -> None:
    alone = write(harness.folder / "a.jsonl", sides(1)[0])
    shown = harness("repeat", alone, alone, *options)
    assert (shown.code, shown.out) == (2, "")
    assert message in shown.err
    assert "Traceback" not in shown.err


def test_hostile_names_are_inert(harness: Harness) -> None:
    hostile = "[red]\x1b[31m"
    named = tuple({**each, "name": hostile} for each in BOTH)
    a = write(harness.folder / "a.jsonl", *sides(1), devices=named)
    shown = harness("repeat", a, a)
    assert shown.code == 0
    assert "\x1b" not in shown.out + shown.err
    assert "[red]" in shown.out

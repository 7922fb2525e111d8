"""``harness selftest``: pairs that are the same, and whether it is noticed when verdicts are wrong."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.problems import Reduction
from harness.results.ratio import Interval
from harness.results.record import Case, Record, Samples
from harness.results.run_writer import RunWriter
from harness.results.runfile import Run
from harness.runner import selftest as module
from harness.runner import session
from harness.runner.plan import Request
from harness.runner.selftest import (
    FEWEST_TO_HALVE,
    SUITE,
    SelfTest,
    plan_selftest,
    selftest,
    selftest_of,
    verdict,
)
from harness.variants.axes import LibraryVariant
from tests.support.command import Harness, harness
from tests.support.fake_backend import DEVICE, DIARY, ENVIRONMENT, FakeBackend

__all__ = ["harness"]

DEVICES = [replace(DEVICE, backend="numpy")]
PLAN = replace(
    plan_selftest(DEVICES, Request(samples=6, processes=2)),
    classes={"numpy": f"{FakeBackend.__module__}:{FakeBackend.__name__}"},
)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(1.0, 1.0, "same"), (1.0, 1.1, "faster"), (1.1, 1.0, "slower")],
)
def test_verdicts_of_clear_samples(first: float, second: float, expected: str) -> None:
    sides = [Samples(tuple(value + i * 1e-4 for i in range(9)) * 3) for value in (first, second)]
    assert verdict(*sides) == expected


def test_verdict_of_noise_is_ambiguous() -> None:
    noise = (1.0, 2.0, 1.5, 1.2, 1.8, 1.1)
    assert verdict(Samples(noise), Samples(noise[::-1])) == "ambiguous"


def test_every_comparison_has_two_sides_from_every_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    diary = tmp_path_factory.mktemp("diary") / "diary"
    monkeypatch.setenv(DIARY, str(diary))
    seen: list[tuple[Samples, Samples]] = []

    def judged(first: Samples, second: Samples) -> str:
        seen.append((first, second))
        return "same"

    monkeypatch.setattr(module, "verdict", judged)
    told: list[str] = []
    (found,) = selftest(PLAN, 9, told.append)
    assert (found.comparisons, found.failure, found.passed) == (16, "", True)
    assert diary.read_text() == "opened\n" * 4
    assert told == ["numpy:0: process 1 of 2", "numpy:0: process 2 of 2"]
    for pair in seen:
        for clock in pair:
            assert set(clock.blocks) == {0, 1}
            assert all(second > 0 for second in clock.seconds)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("wrong", "as timing left it"),
        ("DeviceLost", "DeviceLost: an illegal address"),
        ("kill", "the worker was killed by SIGKILL"),
    ],
)
def test_a_device_that_fails_does_not_pass(monkeypatch: pytest.MonkeyPatch, fault: str, reason: str) -> None:
    monkeypatch.setenv(ENVIRONMENT, json.dumps({"sum": fault}))
    (found,) = selftest(PLAN, 1)
    assert reason in found.failure
    assert not found.passed


@pytest.mark.parametrize(
    ("verdicts", "passed"),
    [
        ({"same": 95, "faster": 3, "slower": 2}, True),
        ({"same": 94, "faster": 3, "slower": 3}, False),
        ({"ambiguous": 10}, True),
        ({}, False),
    ],
)
def test_more_than_one_in_twenty_is_too_many(verdicts: dict[str, int], passed: bool) -> None:
    assert SelfTest("cuda:0", Counter(verdicts)).passed == passed


def found(*tests: SelfTest) -> object:
    return lambda *_: iter(tests)


def test_the_command_shows_the_rate_and_fails_above_it(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = SelfTest("cuda:0", Counter(same=20)), SelfTest("opencl:0", Counter(same=9, slower=1))
    monkeypatch.setattr(session, "self_tests", found(good))
    shown = harness("selftest")
    assert shown.code == 0
    assert "passed" in shown.out
    assert shown.err == "cuda:0: 20 comparisons: 20 same, 0 ambiguous, 0 faster, 0 slower; 0.0% false\n"
    monkeypatch.setattr(session, "self_tests", found(good, bad))
    shown = harness("selftest", "--json")
    assert shown.code == 1
    rates = [(each["device"], each["false_positive_rate"], each["passed"]) for each in json.loads(shown.out)]
    assert rates == [("cuda:0", 0.0, True), ("opencl:0", 0.1, False)]


def test_the_command_on_a_device(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    small = SUITE.reduction[0].model_copy(update={"shapes": [[64, 64]], "ops": ["min"], "dtypes": ["int8"]})
    monkeypatch.setattr(module, "SUITE", SUITE.model_copy(update={"reduction": [small]}))
    shown = harness("selftest", "--backend", "numpy", "--comparisons", 1, "--processes", 1, "--json")
    (outcome,) = json.loads(shown.out)
    assert (outcome["device"], outcome["comparisons"], outcome["failure"]) == ("numpy:0", 1, "")
    told, counted = shown.err.splitlines()
    assert told == "numpy:0: process 1 of 1"
    assert counted.startswith("numpy:0: 1 comparisons: ")


def test_a_device_that_is_not_there_is_a_mistake(harness: Harness) -> None:
    shown = harness("selftest", "--device", "voodoo")
    assert shown.code == 2
    assert "no device matches 'voodoo'" in shown.err


def recorded(blocks: int, between: float, within: float = 1e-3) -> Run:
    """A run of two devices whose blocks differ, as contexts do."""
    rng = np.random.default_rng(blocks)
    records = []
    for backend in ("opencl", "cuda"):
        case = Case(backend, 0, Reduction("min", "int8", (64,)), LibraryVariant())
        of_blocks = np.exp(rng.normal(0, between, (blocks, 1)) + rng.normal(0, within, (blocks, 2)))
        seconds = tuple(float(value) for value in 1e-6 * of_blocks.reshape(-1))
        clock = Samples(seconds, blocks=tuple(block for block in range(blocks) for _ in range(2)))
        records += [
            Record(each, "ok", clocks={"queue": clock}) for each in (case, replace(case, role="limit"))
        ]
    return Run({}, records, [], Path("a.jsonl"))


@pytest.mark.parametrize(("blocks", "between"), [(FEWEST_TO_HALVE, 0.02), (60, 0.02), (60, 0.3)])
def test_the_halves_of_a_recorded_run_differ_seldom(blocks: int, between: float) -> None:
    tests = selftest_of(recorded(blocks, between), 300)
    assert [(test.device, test.comparisons) for test in tests] == [("opencl:0", 300), ("cuda:0", 300)]
    assert all(test.passed for test in tests)
    assert tests == selftest_of(recorded(blocks, between), 300)


def test_halves_whose_intervals_are_wrong_do_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.results.ratio.ratio_interval", lambda *_, **__: Interval(1.1, 1.2))
    (test, _) = selftest_of(recorded(FEWEST_TO_HALVE, 0.02), 40)
    assert (test.verdicts, test.passed) == ({"faster": 40}, False)


def test_the_command_on_recorded_runs(harness: Harness, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with RunWriter(path, {}) as writer:
        for record in recorded(FEWEST_TO_HALVE, 0.02).records:
            writer.write(record)
    shown = harness("selftest", path, "--comparisons", 10, "--json")
    assert (shown.code, [each["device"] for each in json.loads(shown.out)]) == (0, ["opencl:0", "cuda:0"])
    shown = harness("selftest", path, path, "--comparisons", 10, "--json")
    assert json.loads(shown.out)[-1]["device"] == "a.jsonl cuda:0"
    refused = harness("selftest", path, "--device", "gpu")
    assert (refused.code, "give only --comparisons" in refused.err) == (2, True)


def test_a_run_of_too_few_rounds_is_refused(harness: Harness, tmp_path: Path) -> None:
    path = tmp_path / "few.jsonl"
    with RunWriter(path, {}) as writer:
        writer.write(recorded(FEWEST_TO_HALVE - 1, 0.02).records[0])
    shown = harness("selftest", path)
    assert shown.code == 2
    assert f"in {FEWEST_TO_HALVE} rounds or more" in shown.err
    assert harness("selftest", tmp_path / "none.jsonl").code == 2

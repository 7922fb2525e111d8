"""``harness selftest``: pairs that are the same, and whether it is noticed when verdicts are wrong."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from harness import selftest as module
from harness import session
from harness.records import Clock
from harness.runner import RunOptions
from harness.selftest import SUITE, SelfTest, selftest, verdict
from tests.command import Harness, harness
from tests.fake_backend import DEVICE, DIARY, ENVIRONMENT, FakeBackend

__all__ = ["harness"]

OPTIONS = RunOptions(
    samples=6,
    case_seconds=0.1,
    processes=2,
    classes={"numpy": f"{FakeBackend.__module__}:{FakeBackend.__name__}"},
)
DEVICES = [replace(DEVICE, backend="numpy")]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(1.0, 1.0, "same"), (1.0, 1.1, "faster"), (1.1, 1.0, "slower")],
)
def test_verdicts_of_clear_samples(first: float, second: float, expected: str) -> None:
    sides = [Clock(tuple(value + i * 1e-4 for i in range(9)) * 3) for value in (first, second)]
    assert verdict(*sides) == expected


def test_verdict_of_noise_is_ambiguous() -> None:
    noise = (1.0, 2.0, 1.5, 1.2, 1.8, 1.1)
    assert verdict(Clock(noise), Clock(noise[::-1])) == "ambiguous"


def test_every_comparison_has_two_sides_from_every_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    diary = tmp_path_factory.mktemp("diary") / "diary"
    monkeypatch.setenv(DIARY, str(diary))
    seen: list[tuple[Clock, Clock]] = []

    def judged(first: Clock, second: Clock) -> str:
        seen.append((first, second))
        return "same"

    monkeypatch.setattr(module, "verdict", judged)
    told: list[str] = []
    (found,) = selftest(DEVICES, 9, OPTIONS, told.append)
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
        ("wrong", "after timing"),
        ("DeviceLost", "DeviceLost: an illegal address"),
        ("kill", "the worker was killed by SIGKILL"),
    ],
)
def test_a_device_that_fails_does_not_pass(monkeypatch: pytest.MonkeyPatch, fault: str, reason: str) -> None:
    monkeypatch.setenv(ENVIRONMENT, json.dumps({"sum": fault}))
    (found,) = selftest(DEVICES, 1, OPTIONS)
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

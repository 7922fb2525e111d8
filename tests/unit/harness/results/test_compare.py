"""Two runs compared: matching, verdicts, what keeps them from being compared, exit codes, bad input."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from harness.results.comparable import Difference, environment_differences
from harness.results.compare import RunComparison, compare
from harness.results.record import Record, Samples
from harness.results.runfile import Run
from tests.support.command import Harness, harness
from tests.support.report_data import (
    BOTH,
    GPU,
    REDUCTION,
    device,
    environment,
    limit,
    measured,
    reduction,
    run_of,
    write,
)

__all__ = ["harness"]

SENSORS = {"physical": GPU, "power_cap_watts": 700.0, "ecc": "on", "mig": "off", "sm_clock_max_mhz": 1980}
CPU = device("opencl", 0, "PoCL", "cpu") | {"kind": "cpu"}


def one(a: Record, b: Record) -> RunComparison:
    """The comparison of two runs of one record each."""
    return compare(run_of(a), run_of(b))


def differing(a: dict[str, Any], b: dict[str, Any]) -> dict[str, bool]:
    """What differs between two environments that OpenCL ran in, and whether it matters."""
    cases = [measured(1e-6).case]
    return {d.what: d.matters for d in environment_differences(environment(**a), environment(**b), cases)}


@pytest.mark.parametrize(
    ("b", "ratio", "verdict"),
    [(1e-6, 1.0, "same"), (0.8e-6, 1.25, "faster"), (1.25e-6, 0.8, "slower"), (1.02e-6, 0.98, "ambiguous")],
)
def test_ratio_is_the_speed_of_b_over_that_of_a(b: float, ratio: float, verdict: str) -> None:
    (pair,) = one(measured(1e-6), measured(b)).matched
    assert pair.ratio == pytest.approx(ratio, abs=5e-4)
    assert pair.interval.low < pair.ratio < pair.interval.high
    assert pair.verdict == verdict
    assert (pair.a, pair.b, pair.notes) == (1e-6, b, "")


def test_band_decides() -> None:
    runs = run_of(measured(1e-6)), run_of(measured(1.1e-6))
    assert [compare(*runs, band=band).matched[0].verdict for band in (0.02, 0.2)] == ["slower", "same"]


@pytest.mark.parametrize(
    "other",
    [
        measured(1e-6, "cuda"),
        measured(1e-6, index=1),
        measured(1e-6, cache="cold"),
        measured(1e-6, problem=reduction("sum")),
        measured(1e-6, variant=replace(REDUCTION, group_size=64)),
    ],
    ids=["backend", "device", "cache", "problem", "variant"],
)
def test_what_is_another_case_is_not_matched(other: Record) -> None:
    both = measured(1e-6, problem=reduction("max"))
    found = compare(run_of(both, measured(1e-6)), run_of(both, other))
    assert [pair.case for pair in found.matched] == [both.case]
    assert [(alone.case, alone.why) for alone in found.only_a] == [(measured(1e-6).case, "not in this run")]
    assert [alone.case for alone in found.only_b] == [other.case]
    assert found.counts == {"same": 1, "faster": 0, "slower": 0, "ambiguous": 0, "lost": 1}


def test_case_that_b_no_longer_measures_says_why() -> None:
    both = limit("read", 4096, 1e12)
    wrong = replace(measured(1e-6), status="wrong", reason="12 values differ")
    no_clock = replace(measured(1e-6, problem=reduction("sum")), clocks={"event": Samples((1e-6,) * 9)})
    a = run_of(both, measured(1e-6), measured(1e-6, problem=reduction("sum")))
    found = compare(a, run_of(both, wrong, no_clock))
    assert [alone.why for alone in found.only_a] == ["wrong: 12 values differ", "no queue time"]


def test_a_limit_that_the_other_run_knew_is_not_lost() -> None:
    both = measured(1e-6)
    swept, failed = limit("read", 4096, 1e12), replace(limit("read", 4096, 1e12), status="failed")
    for runs in ((run_of(both, swept), run_of(both)), (run_of(both), run_of(both, swept))):
        found = compare(*runs)
        assert (found.only_a, found.only_b) == ([], [])
    assert compare(run_of(both, swept), run_of(both, failed)).counts["lost"] == 1


def test_a_source_that_one_run_does_not_name_is_no_other() -> None:
    a, b = measured(1e-6, location="device"), measured(1e-6, location="device")
    a.provenance["source_hash"] = "1"
    (pair,) = one(a, b).matched
    assert not pair.notes


def test_of_a_case_measured_again_the_last_record_counts() -> None:
    (pair,) = compare(run_of(measured(1e-6), measured(2e-6)), run_of(measured(2e-6))).matched
    assert pair.verdict == "same"


def test_what_was_timed_otherwise_is_noted() -> None:
    a, b = measured(1e-6, location="device"), measured(1e-6, location="host", note="host-bound")
    a.provenance["source_hash"], b.provenance["source_hash"] = "1", "2"
    (pair,) = one(a, b).matched
    assert pair.notes == "B: host-bound; another kernel source; another place of the result"


def test_two_runs_without_a_common_case_are_refused() -> None:
    with pytest.raises(ValueError, match="no measured case in common"):
        one(measured(1e-6), measured(1e-6, "cuda"))
    with pytest.raises(ValueError, match="no measured case in common"):
        compare(Run({}, [], []), Run({}, [], []))


def test_as_json_it_is_strict_and_whole() -> None:
    two_samples = replace(measured(1e-6, problem=reduction("sum")), clocks={"queue": Samples((1e-6, 2e-6))})
    data = compare(run_of(measured(1e-6), two_samples), run_of(measured(2e-6), two_samples)).to_json()
    assert json.loads(json.dumps(data, allow_nan=False))["counts"] == data["counts"]
    assert [case["verdict"] for case in data["cases"]] == ["slower", "ambiguous"]
    assert data["cases"][0]["interval"] == pytest.approx([0.5, 0.5], abs=5e-3)
    assert data["cases"][1]["interval"] is None


def test_equal_environments_do_not_differ() -> None:
    assert differing({}, {}) == {}


@pytest.mark.parametrize(
    ("a", "b", "what"),
    [
        ({"devices": [device("opencl")]}, {"devices": [device("opencl", name="RTX")]}, "opencl:0 name"),
        (
            {"devices": [device("opencl")]},
            {"devices": [device("opencl") | {"driver": "1"}]},
            "opencl:0 driver",
        ),
        ({"packages": {"pyopencl": "1"}}, {"packages": {"pyopencl": "2"}}, "package pyopencl"),
        (
            {"devices": [device("opencl")], "nvml": [SENSORS]},
            {"devices": [device("opencl")], "nvml": [SENSORS | {"power_cap_watts": 400.0}]},
            f"GPU {GPU} power_cap_watts",
        ),
        (
            {"devices": [CPU], "host": {"cpu": "one"}},
            {"devices": [CPU], "host": {"cpu": "another"}},
            "host cpu",
        ),
    ],
)
def test_what_matters(a: dict[str, Any], b: dict[str, Any], what: str) -> None:
    assert differing(a, b) == {what: True}


@pytest.mark.parametrize(
    ("a", "b", "what"),
    [
        ({"commit": "1"}, {"commit": "2"}, "commit"),
        ({"packages": {"numpy": "1"}}, {"packages": {"numpy": "2"}}, "package numpy"),
        ({"packages": {}}, {"packages": {"cupy-cuda13x": "13"}}, "package cupy-cuda13x"),
        ({"host": {"cpu": "one"}}, {"host": {"cpu": "another"}}, "host cpu"),
        (
            {"options": {"samples": 9, "processes": 3}},
            {"options": {"samples": 9, "processes": 1, "budget": 60}},
            "option processes",
        ),
        (
            {"devices": [device("opencl")]},
            {"devices": [device("opencl", physical="0000:01:00.0")]},
            "opencl:0 physical",
        ),
    ],
)
def test_what_is_only_told(a: dict[str, Any], b: dict[str, Any], what: str) -> None:
    assert differing(a, b) == {what: False}


def test_devices_that_no_common_case_ran_on_do_not_count() -> None:
    a, b = (environment(device("opencl"), device("cuda", name=name)) for name in ("one", "another"))
    assert list(environment_differences(a, b, [measured(1e-6).case])) == []


def test_numpys_version_matters_where_numpy_was_measured() -> None:
    a, b = (environment(packages={"numpy": number}) for number in ("1", "2"))
    (found,) = environment_differences(a, b, [measured(1e-6, "numpy").case])
    assert found == Difference("package numpy", "1", "2", True)


@pytest.mark.parametrize("odd", [None, "text", 3, ["text"], {"a": 1}, [None]])
def test_environments_of_anybody_are_read(odd: Any) -> None:
    a = environment(devices=odd, host=odd, packages=odd, nvml=odd)
    assert all(
        isinstance(str(d), str) for d in environment_differences(a, environment(), [measured(1e-6).case])
    )


def test_exit_code_and_table(harness: Harness) -> None:
    a = write(harness.folder / "a.jsonl", measured(1e-6), measured(1e-6, problem=reduction("sum")))
    b = write(harness.folder / "b.jsonl", measured(2e-6), measured(1e-6, "cuda"))
    shown = harness("compare", a, b)
    assert shown.code == 0
    for text in (
        "0.50",
        "slower",
        "Measured only in A",
        "Measured only in B",
        "1 slower, 1 lost",
        "95 %",
        "2 %",
    ):
        assert text in shown.out
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("words", "code"),
    [([], 0), (["slower"], 1), (["faster"], 0), (["ambiguous"], 0), (["faster", "lost"], 1)],
)
def test_fail_on(harness: Harness, words: list[str], code: int) -> None:
    a = write(harness.folder / "a.jsonl", measured(1e-6), measured(1e-6, problem=reduction("sum")))
    b = write(harness.folder / "b.jsonl", measured(2e-6))
    options = [part for word in words for part in ("--fail-on", word)]
    assert harness("compare", a, b, *options).code == code
    shown = harness("compare", a, b, *options, "--json")
    assert shown.code == code
    assert json.loads(shown.out)["counts"]["slower"] == 1


def test_band_of_the_command(harness: Harness) -> None:
    a, b = (write(harness.folder / f"{s}.jsonl", measured(s)) for s in (1e-6, 1.1e-6))
    assert harness("compare", a, b, "--fail-on", "slower").code == 1
    assert harness("compare", a, b, "--fail-on", "slower", "--band", "0.2").code == 0


def test_other_machines_are_refused_and_can_be_forced(harness: Harness) -> None:
    a = write(harness.folder / "a.jsonl", measured(1e-6))
    elsewhere = tuple({**each, "name": "another GPU", "driver": "1.0"} for each in BOTH)
    b = write(harness.folder / "b.jsonl", measured(2e-6), devices=elsewhere, commit="another")
    refused = harness("compare", a, b, "--fail-on", "slower")
    assert (refused.code, refused.out) == (3, "")
    assert "differs: opencl:0 name: NVIDIA H200 in A, another GPU in B" in refused.err
    assert "differs: opencl:0 driver: 580.0 in A, 1.0 in B" in refused.err
    assert "note: commit: 0123456789abcdef in A, another in B" in refused.err
    assert "--force" in refused.err
    assert harness("compare", a, b, "--force").code == 0
    assert harness("compare", a, b, "--force", "--fail-on", "slower").code == 1


def test_what_is_only_told_keeps_nothing_from_comparison(harness: Harness) -> None:
    a = write(harness.folder / "a.jsonl", measured(1e-6))
    b = write(harness.folder / "b.jsonl", measured(1e-6), commit="another")
    shown = harness("compare", a, b, "--json")
    assert shown.code == 0
    assert "note: commit" in shown.err
    assert json.loads(shown.out)["differences"][0]["matters"] is False


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (None, [], "No such file"),
        (b"", [], "is not a run file"),
        (b"\xff\xfe\x00", [], "is not a run file"),
        (b"{]\n", [], "is not JSON"),
        (b'{"type": "environment", "format": 99}\n', [], "format 99"),
        (b'{"type": "environment", "format": 1}\n', [], "no measured case in common"),
        ("same", ["--band", "-1"], "'-1' is not a number from 0 to 0.5"),
        ("same", ["--band", "nan"], "'nan' is not a number"),
        ("same", ["--band", "5"], "'5' is not a number from 0 to 0.5"),
        ("same", ["--band", "wide"], "'--band': 'wide' is not a number"),
        ("same", ["--fail-on", "slow"], "slower"),
    ],
)
def test_bad_input_is_exit_code_2(
    harness: Harness, content: bytes | str | None, options: list[str], message: str
) -> None:
    a, b = write(harness.folder / "a.jsonl", measured(1e-6)), harness.folder / "b.jsonl"
    if content == "same":
        b = a
    elif isinstance(content, bytes):
        b.write_bytes(content)
    for runs in ((a, b), (b, a)):
        shown = harness("compare", *runs, *options)
        assert shown.code == 2
        assert message in shown.err
        assert shown.out == ""
        assert "Traceback" not in shown.err


def test_hostile_names_are_inert_and_numbers_far_apart_are_shown(harness: Harness) -> None:
    hostile = "[red]\x1b[31m"
    a = write(harness.folder / "a.jsonl", measured(1e-300, hostile), suite=hostile)
    b = write(harness.folder / "b.jsonl", measured(1e8, hostile, note=hostile))
    shown = harness("compare", a, b)
    assert shown.code == 0
    assert "\x1b" not in shown.out + shown.err
    assert "[red]" in shown.out
    assert math.isfinite(json.loads(harness("compare", a, b, "--json").out)["cases"][0]["b_seconds"])

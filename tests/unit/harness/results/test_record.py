"""Records to plain data and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.problems import Bandwidth, Empty, Laplace, Problem, Reduction
from harness.results.record import Case, Record, Samples
from harness.variants.axes import (
    BandwidthVariant,
    LaplaceVariant,
    LaunchVariant,
    LibraryVariant,
    ReductionVariant,
    Variant,
)

CASES: list[tuple[Problem, Variant]] = [
    (Reduction("minmax", "int32", (2560, 2560)), ReductionVariant(vector_width=4, groups=8)),
    (Reduction("sum", "float16", (7,)), LibraryVariant()),
    (Laplace("four", "constant", "sharpened", "uint8", 3, 5, 4, 7.0), LaplaceVariant(rows_per_item=8)),
    (Bandwidth("copy", "uint32", 100), BandwidthVariant()),
    (Empty((((4,), (256,)), ((2, 3), (8, 8)))), LaunchVariant()),
]


@pytest.mark.parametrize(("problem", "variant"), CASES, ids=[problem.label for problem, _ in CASES])
def test_a_record_survives_json(problem: Problem, variant: Variant) -> None:
    case = Case("opencl", 1, problem, variant, "cold", "limit")
    clocks = {"queue": Samples((1e-6, 2e-6), 400, "host-bound"), "event": Samples((3e-6,))}
    record = Record(case, "ok", "", 0.0, 1e-9, clocks, {"launches": [], "note": "n"})
    again = Record.from_json(json.loads(json.dumps(record.to_json())))
    assert again == record
    assert hash(again.case) == hash(case)


def whole() -> dict[str, Any]:
    data: dict[str, Any] = Record(
        Case("cuda", 0, Reduction("min", "int8", (3,)), LibraryVariant()), "ok"
    ).to_json()
    return data


@pytest.mark.parametrize("key", ["case", "status", "reason", "error", "tolerance", "clocks", "provenance"])
def test_a_missing_key_is_named(key: str) -> None:
    data = whole()
    del data[key]
    with pytest.raises(ValueError, match=key):
        Record.from_json(data)


@pytest.mark.parametrize("key", ["backend", "device", "problem", "variant", "cache", "role"])
def test_a_missing_key_of_the_case_is_named(key: str) -> None:
    data = whole()
    del data["case"][key]
    with pytest.raises(ValueError, match=key):
        Record.from_json(data)


@pytest.mark.parametrize(
    ("where", "value", "named"),
    [
        (("case", "problem", "op"), "median", "median"),
        (("case", "problem", "kind"), "sort", "sort"),
        (("case", "problem", "surplus"), 1, "surplus"),
        (("case", "variant", "kind"), "magic", "magic"),
        (("case", "variant", "surplus"), 1, "surplus"),
        (("clocks",), {"queue": {"seconds": ["x"], "calls": 1, "note": ""}}, "x"),
        (("clocks",), [], "clocks: should be a table"),
        (("case", "device"), "1", "case.device: should be a valid integer, not '1'"),
        (("case", "device"), True, "case.device: should be a valid integer, not True"),
        (("case", "cache"), "warm", "case.cache: should be 'hot' or 'cold', not 'warm'"),
        (("case", "variant"), {"kind": "reduction", "vector_width": 4.0}, "vector_width: .*not 4.0"),
        (("process",), 1.0, "process: should be a valid integer, not 1.0"),
        (("tolerance",), "0", "tolerance: should be a valid number, not '0'"),
        (("reason",), 5, "reason: should be a valid string, not 5"),
        (("status",), "done", "status: should be 'ok', .*, not 'done'"),
        (
            ("clocks",),
            {"queue": {"seconds": [1.0], "calls": 2.0, "note": ""}},
            "queue.calls: .*not 2.0",
        ),
    ],
)
def test_a_value_that_is_not_known_is_named(where: tuple[str, ...], value: Any, named: str) -> None:
    data = whole()
    place = data
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = value
    with pytest.raises(ValueError, match=named):
        Record.from_json(data)


def test_what_was_called_ledger_is_provenance() -> None:
    told = {
        "note": "a note",
        "launches": [{"kernel": "k", "num_groups": [4], "group_size": [64], "spills": 0}],
    }
    data = {**whole(), "ledger": told}
    assert data.pop("provenance") == {}
    record = Record.from_json(data)
    assert record.provenance["note"] == "a note"
    assert record.provenance["launches"][0]["spills"] == 0
    assert Record.from_json(record.to_json()) == record
    with pytest.raises(ValueError, match=r"ledger\.note: should be a valid string, not 5"):
        Record.from_json({**data, "ledger": {"note": 5}})


def test_before_a_process_had_several_blocks_it_was_one() -> None:
    data = {**whole(), "process": 3}
    del data["block"]
    assert Record.from_json(data).block == 3

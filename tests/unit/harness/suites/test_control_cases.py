"""The controls of a run: A/A and the empty kernel."""

from __future__ import annotations

from dataclasses import replace

from harness.problems import Bandwidth, Empty, Reduction
from harness.results.record import Case, Record, Samples
from harness.suites.control_cases import twins, with_controls
from harness.variants.axes import LibraryVariant
from tests.support.fake_backend import DEVICE

DEVICES = {(name, 0): replace(DEVICE, backend=name) for name in ("opencl", "cuda", "cupy")}


def case(backend: str, op: str = "min", **fields: object) -> Case:
    return replace(Case(backend, 0, Reduction(op, "int32", (10,)), LibraryVariant()), **fields)  # type: ignore[arg-type]


LIMIT = case("opencl", problem=Bandwidth("read", "uint32", 10), role="limit")
CASES = [
    LIMIT,
    case("opencl", "min"),
    case("cupy", "min"),
    *(case(b, "sum") for b, _ in DEVICES),
    case("cuda", "max"),
]


def controls(cases: list[Case], skipped: dict[Case, str] | None = None) -> list[Case]:
    return [each for each in with_controls(cases, DEVICES, skipped or {}) if each.role == "control"]


def test_each_device_has_a_twin_of_a_problem_that_all_run_and_own_kernels_an_empty_one() -> None:
    found = controls(CASES)
    assert found[2:] == [case(backend, "sum", role="control") for backend, _ in DEVICES]
    assert [each.backend for each in found[:2]] == ["opencl", "cuda"]
    assert {each.problem for each in found[:2]} == {Empty((((8,), (256,)),))}


def test_the_empty_kernels_are_first_in_each_context() -> None:
    assert [isinstance(each.problem, Empty) for each in with_controls(CASES, DEVICES, {})[:3]] == [
        True,
        True,
        False,
    ]


def test_the_twins_are_measured_beside_the_cases_they_repeat() -> None:
    found = with_controls(CASES, DEVICES, {})
    at = [i for i, each in enumerate(found) if each.problem == CASES[3].problem]
    assert at == list(range(at[0], at[0] + 6))
    assert [each for each in found if each.role != "control"] == CASES


def test_what_is_skipped_is_no_control() -> None:
    found = controls(CASES, {case("cuda", "sum"): "too large"})
    assert case("cuda", "sum", role="control") not in found
    assert case("cuda", "max", role="control") in found


def test_a_device_with_nothing_to_run_has_no_control() -> None:
    assert not controls([LIMIT])
    assert {each.backend for each in controls([case("cupy")])} == {"cupy"}


def test_only_one_variant_and_cache_state_is_repeated() -> None:
    cases = [case("cupy"), case("cupy", cache="cold")]
    assert controls(cases) == [case("cupy", role="control")]


def test_twins_are_found_among_the_records() -> None:
    records = [
        Record(each, "ok", clocks={"queue": Samples((1.0,))}) for each in with_controls(CASES, DEVICES, {})
    ]
    pairs = twins(records)
    assert [first.case.backend for first, _ in pairs] == ["opencl", "cuda", "cupy"]
    assert all(replace(second.case, role="compare") == first.case for first, second in pairs)
    assert not twins(record for record in records if record.case.role != "compare")

"""The sources of cases and their answers: how they are made, kept and shared."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from harness.devices import DeviceArray
from harness.measure.inputs import KEPT_SHARE
from harness.measure.measurer import Measurer
from harness.problems import MASKS, OPS, Laplace, Problem, Reduction
from harness.problems.base import Array
from harness.problems.comparison import compare
from harness.problems.dtypes import DTYPES
from harness.results.record import Case
from harness.variants.axes import LibraryVariant
from tests.support.fake_backend import FakeBackend, FakeClock
from tests.support.measuring import CASE, FOUR, measurer


def test_the_reference_is_computed_once_for_a_problem() -> None:
    measuring = measurer(FakeClock())
    data = measuring.inputs.data(CASE.problem)
    assert measuring.inputs.data(Reduction("max", "int32", (1000,))) is data
    other = measuring.inputs.data(Reduction("min", "int32", (1000,)))
    assert other.expected == np.iinfo(np.int32).min


def test_the_seed_makes_the_source() -> None:
    sources = [
        Measurer(FakeBackend(FakeClock()), seed=seed).inputs.data(CASE.problem).source for seed in (1, 1, 2)
    ]
    assert (sources[0] == sources[1]).all()
    assert (sources[0] != sources[2]).any()


def test_a_photograph_is_the_source_of_filters(tmp_path: Path) -> None:
    pixels = np.random.default_rng(4).integers(0, 256, (13, 17), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    measuring = Measurer(FakeBackend(FakeClock()), image=tmp_path / "photo.png")
    problem = Laplace("four", "wrap", "laplacian", "uint8", 13, 17)
    assert (measuring.inputs.data(problem).source == pixels).all()


@pytest.mark.parametrize(("memory", "count"), [(2**30, 9), (4 * 6000, 3), (100, 2)])
def test_cold_sources_pass_the_cache_as_far_as_memory_allows(
    monkeypatch: pytest.MonkeyPatch, memory: int, count: int
) -> None:
    measuring = measurer(FakeClock())
    monkeypatch.setattr(measuring.backend, "device", replace(measuring.backend.device, memory_bytes=memory))
    case = Case("fake", 0, Reduction("max", "int32", (500,)), LibraryVariant(), "cold")
    provenance = measuring.measure(case, FOUR).provenance
    assert provenance["sources"] == count
    assert bool(provenance["note"]) == (count < 9), "a cold case that stays in the cache must say so"


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 2, 30, 1000])
def test_a_source_with_another_answer(op: str, dtype: str, size: int) -> None:
    """Left beside it, the answer to the first source shows: added, or as the more extreme one."""
    if op == "mean" and size < 30:
        pytest.skip("the mean of two extremes of 64 bits is that of two values of the middle, rounded")
    problem = Reduction(op, dtype, (size,))
    first = problem.make_source(4)
    other = problem.unlike(first)
    assert (other.dtype, other.shape) == (first.dtype, first.shape)
    expected = problem.reference(other)
    assert not compare(problem.reference(first), expected, problem.tolerance(other)).ok
    nothing = problem.parts.of_nothing
    if nothing is not None and (first != nothing).any():
        left = np.concatenate([first, other])
        assert not compare(problem.reference(left), expected, problem.tolerance(left)).ok
    elif size > 1:
        for value, extreme in (("min", np.less), ("max", np.greater)):
            if value in op:
                assert extreme(getattr(first, value)(), getattr(other, value)())


@pytest.mark.parametrize(
    ("kept", "uploads"),
    [(10**6, 1), (4 * 1400, 2), (4 * 900, 3)],
    ids=["all stay", "one of two stays", "none stays"],
)
def test_what_was_uploaded_is_shared_as_far_as_it_may_stay(
    monkeypatch: pytest.MonkeyPatch, kept: int, uploads: int
) -> None:
    measuring = measurer(FakeClock())
    memory = int(kept / KEPT_SHARE)
    monkeypatch.setattr(measuring.backend, "device", replace(measuring.backend.device, memory_bytes=memory))
    sizes: list[int] = []
    upload = measuring.backend.upload

    def counted(host: Array) -> DeviceArray:
        # The source with another answer has less extreme values: it does not count here.
        if host.min() == np.iinfo(host.dtype).min:
            sizes.append(host.size)
        return upload(host)

    monkeypatch.setattr(measuring.backend, "upload", counted)
    other = replace(CASE, problem=Reduction("max", "int32", (500,)))
    for case in (CASE, CASE, other, CASE):
        assert measuring.measure(case, FOUR).status == "ok"
    assert sizes.count(1000) == uploads
    cold = replace(other, cache="cold", problem=Reduction("max", "int32", (501,)))
    measuring.measure(cold, FOUR)
    assert sizes.count(501) > 1


def test_the_source_used_longest_ago_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    measuring = measurer(FakeClock())
    memory = int(4 * 1300 / KEPT_SHARE)
    monkeypatch.setattr(measuring.backend, "device", replace(measuring.backend.device, memory_bytes=memory))
    first, second, third = (Reduction("max", "int32", (size,)) for size in (400, 401, 600))
    made = {problem: measuring.inputs.data(problem).source for problem in (first, second)}
    assert measuring.inputs.data(first).source is made[first]
    measuring.inputs.data(third)
    assert measuring.inputs.data(first).source is made[first]
    assert measuring.inputs.data(second).source is not made[second]


def test_the_library_gives_back_what_is_dropped_and_only_then(monkeypatch: pytest.MonkeyPatch) -> None:
    measuring = measurer(FakeClock())
    memory = int(4 * 1300 / KEPT_SHARE)
    monkeypatch.setattr(measuring.backend, "device", replace(measuring.backend.device, memory_bytes=memory))
    given: list[bool] = []
    monkeypatch.setattr(measuring.backend, "give_back_memory", lambda: given.append(True))
    found = []
    # 500 and its source with another answer stay, but go for 1000; 2000 goes when its case has ended.
    for size in (500, 500, 1000, 2000, 10, 10):
        measuring.measure(replace(CASE, problem=Reduction("max", "int32", (size,))), FOUR)
        found.append(bool(given))
        given.clear()
    assert found == [False, False, True, True, True, False]


def test_operations_that_take_the_same_source_share_it() -> None:
    measuring = measurer(FakeClock())
    found = {op: measuring.inputs.data(Reduction(op, "int32", (1000,))) for op in ("min", "max", "minmax")}
    assert len({id(data.source) for data in found.values()}) == 1
    assert found["min"].expected != found["max"].expected
    zeros = measuring.inputs.data(Reduction("count_nonzero", "int32", (1000,)))
    assert zeros.source is not found["min"].source


def test_problems_of_one_key_make_one_source() -> None:
    ops = [Reduction(op, dtype, (77,)) for op in OPS for dtype in ("uint8", "float32")]
    images = [Laplace(mask, "wrap", "sharpened", "uint8", 5, 7) for mask in MASKS]
    problems: list[Problem] = [*ops, *images]
    for first, second in combinations(problems, 2):
        if first.source_key == second.source_key:
            assert np.array_equal(first.pack(first.make_source(3)), second.pack(second.make_source(3)))

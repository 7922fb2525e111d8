"""The problems: references against literal numbers, sources, merging, tolerance, plain data."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from harness.explain import mistakes
from harness.problems import (
    DIRECTIONS,
    OPS,
    Bandwidth,
    Empty,
    Laplace,
    Problem,
    Reduction,
    stripes,
)
from harness.problems.base import MAX_AXES
from harness.problems.comparison import compare
from harness.problems.dtypes import DTYPES, dtype_of
from harness.problems.operations import sum_of
from harness.problems.sources import with_extremes, with_zeros
from tests.support.checks import key_of

PLAIN: TypeAdapter[Problem] = TypeAdapter(Problem)
PROBLEMS: list[Problem] = [
    Reduction("minmax", "uint8", (5, 7)),
    Reduction("sum", "float16", (3,)),
    Laplace("four", "constant", "sharpened", "int16", 4, 5, 3, -7.0),
    Bandwidth("read", "uint32", 12),
    Empty((((3,), (64,)), ((2, 5), (8, 4)))),
]

LARGE: list[Reduction | Bandwidth] = [
    *(Reduction(op, "float32", (2**21 + 130,)) for op in ("sum", "minmax", "product")),
    Reduction("count_nonzero", "uint8", (3, 2**20)),
    Bandwidth("read", "uint32", 3 * 2**20),
]


@pytest.mark.parametrize(
    ("op", "values", "dtype", "expected"),
    [
        ("min", [3, -1, 2], "int8", -1),
        ("max", [3, -1, 2], "int8", 3),
        ("minmax", [[4, 9], [250, 7]], "uint8", (4, 250)),
        ("sum", [255, 255, 255], "uint8", 765),
        ("sum", [-128, -128], "int8", -256),
        ("sum", [2**63, 1], "uint64", 2**63 + 1),
        ("sum", [0.5, 0.25, -1.0], "float32", -0.25),
        ("sum", [1e308, 1e308, -1e308], "float64", 1e308),
        ("product", [-3, 5, 7], "int8", -105),
        ("product", [2**32, 2**31, 3], "int64", -(2**63)),
        ("product", [2**63 + 1, 3], "uint64", 2**63 + 3),
        ("product", [0.5, 3.0, -1.5], "float16", -2.25),
        ("product", [1e308, 10.0, 1e-10], "float64", 1e299),
        ("count_nonzero", [0.0, -0.0, np.nan, 1e-45], "float32", 2),
    ],
)
def test_references_by_hand(op: str, values: Any, dtype: str, expected: Any) -> None:
    array = np.array(values, dtype)
    assert Reduction(op, dtype, array.shape).reference(array) == expected


@pytest.mark.parametrize(
    ("op", "value", "dtype", "expected"),
    [
        ("mean", 2**62, "int64", 2.0**62),
        ("mean", 2**63, "uint64", 2.0**63),
        ("mean", -(2**31), "int32", -(2.0**31)),
        ("norm_l1", -(2**63), "int64", 10 * 2.0**63),
        ("norm_l1", 2**63, "uint64", 10 * 2.0**63),
        ("norm_l1", -(2**31), "int32", 10 * 2**31),
    ],
)
def test_means_and_norms_do_not_overflow(op: str, value: int, dtype: str, expected: float) -> None:
    array = np.full(10, value, dtype)
    problem = Reduction(op, dtype, array.shape)
    assert problem.reference(array) == expected
    assert (problem.total == "float64") == ("64" in dtype)


def test_partial_products_that_overflow_tell_by_their_value_alone() -> None:
    problem = Reduction("product", "float64", (4,))
    partials = np.array([(np.inf,), (0.0,)], problem.partial_dtype)
    with warnings.catch_warnings(action="error"):
        assert math.isnan(problem.finish(partials))


def test_what_is_made_of_a_sum_has_a_total_that_holds_it() -> None:
    def total(op: str, dtype: str, size: int) -> str:
        return Reduction(op, dtype, (size,)).total

    for op in ("mean", "norm_l1"):
        assert [total(op, "int32", 2**32 - n) for n in (1, 0)] == ["int64", "float64"]
        assert [total(op, "uint32", 2**32 + n) for n in (1, 2)] == ["uint64", "float64"]
    assert [total("sum_squares", "int16", 2**33 - n) for n in (1, 0)] == ["int64", "float64"]
    assert [total("sum", dtype, 2**40) for dtype in ("int64", "uint32")] == ["int64", "uint64"], "as NumPy's"


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 2, 17, 4099])
def test_sources_of_reductions(op: str, dtype: str, size: int) -> None:
    problem = Reduction(op, dtype, (size,))
    source = problem.make_source(seed=1)
    assert (source.shape, source.dtype) == ((size,), np.dtype(dtype))
    assert np.array_equal(source, problem.make_source(seed=1))
    if size > 16:
        assert not np.array_equal(source, problem.make_source(seed=2))
        assert np.count_nonzero(source) > size * 0.8
        if OPS[op].source is with_zeros:
            assert np.count_nonzero(source) < size
        elif OPS[op].source is with_extremes:
            extremes = (-32, 31) if DTYPES[dtype].is_float else (np.iinfo(dtype).min, np.iinfo(dtype).max)
            assert (source.min(), source.max()) == extremes
            assert np.sum(source == extremes[0]) == np.sum(source == extremes[1]) == 1
    assert problem.source_bytes == problem.bytes_moved == source.nbytes
    assert problem.verify(problem.reference(source), source).ok


@pytest.mark.parametrize("problem", LARGE, ids=lambda problem: problem.label)
def test_large_sources_are_the_same_however_many_cores_make_them(
    problem: Reduction | Bandwidth, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no stripe of them is like another one."""
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(stripes, "usable_cores", lambda cores=cores: cores)
        source = problem.make_source(seed=6)
        found.append((source, problem.reference(source)))
    (alone, expected), (shared, also) = found
    assert np.array_equal(alone, shared)
    assert expected == also
    raw = alone.reshape(-1)
    beginnings = [raw[start : start + 99] for start in range(0, raw.size, 2**18)]
    assert len(beginnings) > 8
    assert all(not np.array_equal(one, other) for one, other in combinations(beginnings, 2))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_sums_of_float_sources_are_exact_in_any_order(dtype: str) -> None:
    source = Reduction("sum", dtype, (70001,)).make_source(seed=4).astype(np.float64)
    sums = {float(np.sum(source)), float(np.cumsum(source)[-1]), float(np.cumsum(np.sort(source))[-1])}
    assert len(sums) == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_element_left_out_is_found(dtype: str) -> None:
    for op in OPS:
        problem = Reduction(op, dtype, (257,))
        source = problem.make_source(seed=5)
        if OPS[op].of_nothing is not None:
            left_out = source[source != 0][:1]
            without = np.delete(source, np.flatnonzero(source)[0])
            assert left_out.size == 1
        else:
            extreme = {"max": source.argmax(), "norm_inf": np.abs(source.astype(np.longdouble)).argmax()}
            without = np.delete(source, extreme.get(op, source.argmin()))
        verification = problem.verify(problem.reference(without), source)
        assert not verification.ok, op
        assert verification.error > 0
        assert "expected" in verification.message


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_partial_result_keeps_an_element_in_a_register_of_its_kind(dtype: str) -> None:
    kept = Reduction("min", dtype, (9,)).partial_dtype["lowest"]
    element = np.dtype(dtype)
    assert (kept.kind, kept.itemsize) == (element.kind, max(4, element.itemsize))
    names = {"int32": "int", "uint32": "uint", "int64": "long", "uint64": "ulong", "float32": "float"}
    assert DTYPES[dtype].kept == names.get(kept.name, "double")


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_partial_results_merge_into_the_answer(op: str, dtype: str) -> None:
    problem = Reduction(op, dtype, (1000,))
    source = problem.make_source(seed=6)
    partials = np.zeros(4, problem.partial_dtype)
    for k, part in enumerate(np.array_split(source, 4)):
        if problem.parts.term:
            values: tuple[Any, ...] = (sum_of(part, problem.total, problem.parts.term),)
        else:
            answer = Reduction(problem.parts.kernel, dtype, part.shape).reference(part)
            values = answer if isinstance(answer, tuple) else (answer,)
        found = dict(zip(problem.parts.fields, values, strict=True))
        for place, name in problem.parts.places.items():
            found[place] += 250 * k
            if problem.is_keyed:
                kept = problem.element.kept_numpy.type(found[name])
                found[name] = key_of(kept, found.pop(place), problem.parts.combine[name] is np.maximum)
        for name, value in found.items():
            partials[k][name] = value
    assert problem.verify(problem.finish(partials), source).ok


def test_of_equal_partial_results_the_lowest_place_is_told() -> None:
    problem = Reduction("minmaxloc", "float64", (9,))
    assert not problem.is_keyed
    equal = [(2, 7, 5, 4), (2, 7, 3, 8), (2, 7, 6, 2)]
    assert problem.finish(np.array(equal, problem.partial_dtype)) == (2, 7, 3, 2)
    some_nan = [(np.nan, np.nan, 5, 6), (2, 7, 0, 1), (np.nan, np.nan, 3, 8)]
    assert problem.finish(np.array(some_nan, problem.partial_dtype))[2:] == (3, 6)


def test_tolerance_of_sums() -> None:
    problem = Reduction("sum", "float64", (3,))
    array = np.array([1.0, -2.0, 1.0])
    assert problem.tolerance(array) == 3 * 2**-53 * 4
    assert problem.tolerance(np.array([1.0, np.inf, 1.0])) == 0
    assert Reduction("max", "float64", (3,)).tolerance(array) == 0
    assert Reduction("sum", "int64", (3,)).tolerance(array.astype(int)) == 0


def test_tolerance_of_sums_in_the_type_of_the_elements() -> None:
    problem = Reduction("sum", "float32", (2**20,))
    array = problem.make_source(1)
    tolerance = problem.narrower_tolerance(problem.tolerance(array))
    assert tolerance == pytest.approx(21 * 2**-24 * np.abs(array.astype(float)).sum())
    # What float32 adds pairwise passes; what leaves an element in a hundred out does not.
    assert compare(array.sum(dtype=np.float32), problem.reference(array), tolerance).ok
    assert not compare(np.delete(array, np.s_[::100]).sum(), problem.reference(array), tolerance).ok
    assert problem.narrower(1.5, tolerance) == (1.5, problem.narrower_tolerance(tolerance))
    assert Reduction("sum", "float64", (9,)).narrower_accumulator == ""
    assert Reduction("max", "float32", (9,)).narrower_accumulator == ""


@pytest.mark.parametrize(
    ("dtype", "value", "narrow", "wrapped"),
    [
        ("uint8", 2**32 + 5, "uint32", 5),
        ("uint32", 2**33 - 1, "uint32", 2**32 - 1),
        ("int16", 2**31, "int32", -(2**31)),
        ("int32", -(2**32) - 7, "int32", -7),
        ("int8", -9, "int32", -9),
    ],
)
def test_narrow_sums_of_integers_wrap_at_32_bits(dtype: str, value: int, narrow: str, wrapped: int) -> None:
    problem = Reduction("sum", dtype, (9,))
    assert problem.narrower_accumulator == narrow
    answer, tolerance = problem.narrower(np.dtype(problem.total).type(value), 0.0)
    assert (answer, answer.dtype, tolerance) == (wrapped, problem.total, 0)
    for other in (
        Reduction("sum", "int64", (9,)),
        Reduction("sum", "float16", (9,)),
        Reduction("max", dtype, (9,)),
    ):
        assert other.narrower_accumulator == ""


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_bandwidth(direction: str, dtype: str) -> None:
    problem = Bandwidth(direction, dtype, 1003)
    source = problem.make_source(seed=11)
    assert (source.dtype, source.size) == (np.dtype(dtype), 1003)
    assert problem.bytes_moved == source.nbytes * (2 if direction == "copy" else 1)
    flipped = source.view(np.uint8).copy()
    flipped[500] ^= 0x10
    assert problem.verify(problem.reference(source), source).ok
    assert not problem.verify(problem.reference(flipped.view(dtype)), source).ok


def test_a_checksum_by_hand() -> None:
    words = np.array([0x01020304, 0x10203040, 0xFFFFFFFF], np.uint32)
    expected = 0x01020304 ^ 0x10203040 ^ 0xFFFFFFFF
    assert Bandwidth("read", "uint32", 3).reference(words) == expected
    assert Bandwidth("read", "uint32", 3).finish(words[::-1]) == expected
    # Four bytes a word, then the word folded: the same as byte by byte.
    assert Bandwidth("read", "uint8", 12).finish(words) == np.bitwise_xor.reduce(words.view(np.uint8))


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.label)
def test_plain_data_and_back(problem: Problem) -> None:
    again = PLAIN.validate_python(json.loads(json.dumps(PLAIN.dump_python(problem))))
    assert again == problem
    assert hash(again) == hash(problem)


def test_labels() -> None:
    assert [problem.label for problem in PROBLEMS] == [
        "minmax uint8 5x7",
        "sum float16 3",
        "sharpened four constant(-7) int16C3 5x4",
        "read uint32 12",
        "empty 3 groups of 64, 2x5 groups of 8x4",
    ]


GEOMETRIES: list[Any] = [
    None, 5, [], [[]], [[[1]]], [[[1], [1], [1]]], [[[1], []]], [[[0], [1]]], [[[1], [-1]]], [[[1.0], [1]]],
    [[[True], [1]]], [[[1] * 4, [1]]], [[[2**64], [1]]], [["1", "1"]],
]  # fmt: skip
"""None of these are launches."""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"kind": "sort"}, "kind 'sort' is unknown; allowed are reduction"),
        ({"kind": ["sort"]}, r"kind .* is unknown; allowed are reduction"),
        ({"op": "sum", "dtype": "int8", "shape": [1]}, "kind: is missing"),
        ({"kind": "reduction", "op": "sum"}, r"dtype: is missing; reduction\.shape: is missing"),
        (
            {"kind": "reduction", "op": "sum", "dtype": "int8", "shape": [1], "x": 1},
            "x: is unknown; leave it out",
        ),
        ({"kind": "reduction", "op": "median", "dtype": "int8", "shape": [1]}, "op 'median' is unknown"),
        ({"kind": "reduction", "op": "sum", "dtype": "int4", "shape": [1]}, "dtype 'int4' is unknown"),
        ({"kind": "bandwidth", "direction": "write", "dtype": "int8", "size": 1}, "direction 'write'"),
        (
            {"kind": "bandwidth", "direction": "copy", "dtype": "int8", "size": 0},
            "size: .* greater than or equal to 1, not 0",
        ),
        ({"kind": "bandwidth", "direction": "copy", "dtype": "int8", "size": 2**60}, "size: .* less than"),
        *(
            ({"kind": "reduction", "op": "min", "dtype": "int8", "shape": shape}, f"shape{said}")
            for shape, said in (
                (None, ": should be a valid tuple, not None"),
                ([None], r"\[0\]: should be a valid integer, not None"),
                ([9, -1], r"\[1\]: should be greater than or equal to 0, not -1"),
                ([True], r"\[0\]: should be a valid integer, not True"),
                ([4.0], r"\[0\]: should be a valid integer, not 4.0"),
                ([2**30, 2**30], r": .*\(1073741824, 1073741824\): more than 72057594037927936 elements"),
                ([0, 2**60], r": .*\(0, 1152921504606846976\): more than 72057594037927936 elements"),
                ([1] * 71, rf": .*\(1, .*\): 71 axes; NumPy has at most {MAX_AXES}"),
            )
        ),
        *(({"kind": "empty", "geometry": geometry}, r"empty\.geometry.*: ") for geometry in GEOMETRIES),
    ],
)
def test_bad_data_is_refused(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        PLAIN.validate_python(data)
    assert re.search(message, "; ".join(mistakes(caught.value)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Reduction("min", "int8", (4.0,)), "shape[0]: should be a valid integer, not 4.0"),  # type: ignore[arg-type]
        (lambda: Reduction("min", "int8", (True,)), "shape[0]: should be a valid integer, not True"),
        (lambda: Reduction("min", b"int8", (4,)), "dtype b'int8' is unknown; allowed are uint8"),  # type: ignore[arg-type]
        (lambda: Bandwidth("copy", "int8", size=4.0), "size: should be a valid integer, not 4.0"),  # type: ignore[arg-type]
        (lambda: Reduction("mni", "int8", (4,)), f"op 'mni' is unknown; allowed are {', '.join(OPS)}; did"),
        (lambda: Reduction("min", "int8", kind="laplace"),  # type: ignore[arg-type,call-arg]
         "shape: is missing; kind: should be 'reduction', not 'laplace'"),
        (lambda: Laplace("four", "wrap", "laplacian", "uint8", 0, 3.0, 2),  # type: ignore[arg-type]
         "height: should be greater than or equal to 1, not 0; width: should be a valid integer, not 3.0; "
         "channels: number of channels 2 is unknown; allowed are 1, 3, 4"),
        (lambda: Laplace("four", "wrap", "laplacian", "uint8", 2**40, 2**40), f"shape {(2**40, 2**40)}: "),
        (lambda: Empty(()), "geometry: is empty; at least one value is needed"),
    ],
)  # fmt: skip
def test_what_python_makes_is_checked_as_strictly(make: Callable[[], Problem], message: str) -> None:
    """In one line, by the names of the arguments."""
    with pytest.raises(ValueError, match=f"^{re.escape(message)}") as caught:
        make()
    assert "\n" not in str(caught.value)


def test_dtype_of() -> None:
    assert dtype_of(np.zeros(1, np.int16)).kernel == "short"
    assert dtype_of(np.zeros(1, ">i2")).kernel == "short"
    with pytest.raises(TypeError, match=r"complex64.*supported are uint8"):
        dtype_of(np.zeros(1, np.complex64))

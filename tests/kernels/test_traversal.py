"""Sources that are gone through back and forth: every second call from the end to the front."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backends import Backend
from harness.kernels import geometry
from harness.kernels.defaults import default_variant
from harness.kernels.geometry import turn_of
from harness.kernels.plan import Scalar, Turn
from harness.kernels.planner import plan
from harness.kernels.requirements import violations
from harness.problems import Bandwidth, Laplace, Problem, Reduction
from harness.suites.expand import expand
from harness.suites.files import load_suite
from harness.variants.axes import (
    PER_PROBLEM,
    BandwidthVariant,
    LaplaceVariant,
    ReductionVariant,
    Stride,
    Variant,
    variant_from_json,
)
from tests.support.machines import CPU, GPU, H200

CALLS = 3
"""One more than there are ways."""
SEGMENTS = ReductionVariant(traversal="segments", groups=1, group_size=1)
SHORT_SEGMENTS = st.sampled_from([1, 256, geometry.SEGMENT_BYTES])
"""What a grid reads of a short segment, at the most: small sources have more than seven only with few."""
BACK_AND_FORTH = ReductionVariant(traversal="back_and_forth", groups=1, group_size=1, loads_in_flight=4)


def answers(backend: Backend, problem: Problem, variant: Variant, host: Any) -> list[Any]:
    """What calls on one source answer, one after the other."""
    if reason := backend.unsupported(problem, variant):
        pytest.skip(reason)
    with backend.prepare(problem, variant, [backend.upload(problem.pack(host))]) as prepared:
        found = []
        for _ in range(CALLS):
            prepared.enqueue(0)
            found.append(prepared.result())
    return found


@pytest.mark.parametrize(
    "variant",
    [BACK_AND_FORTH, replace(BACK_AND_FORTH, loads_in_flight=1, groups=PER_PROBLEM)],
    ids=["an item's vectors", "the groups"],
)
def test_every_second_call_goes_backwards(own_backend: Backend, variant: ReductionVariant) -> None:
    """Behind a large number the one is lost, in front of it not."""
    host = np.array([1.0, 1e17, -1e17])
    problem = Reduction("sum", "float64", host.shape)
    back, forth, again = (float(each) for each in answers(own_backend, problem, variant, host))
    assert (back, forth, again) == (1.0, 0.0, 1.0)


@given(
    size=st.integers(1, 5000),
    stride=st.sampled_from(["global", "local"]),
    width=st.sampled_from([1, 4, 16]),
    loads=st.sampled_from([1, 2, 8]),
    groups=st.sampled_from([1, 3, "per_problem"]),
    group_size=st.sampled_from([1, 8, 64]),
    segment_bytes=SHORT_SEGMENTS,
)
# The last chunk is shorter than the others by several steps.
@example(size=5000, stride="local", width=1, loads=1, groups=3, group_size=1, segment_bytes=1)
def test_each_vector_is_read_once_either_way(
    own_backend: Backend,
    size: int,
    stride: Stride,
    width: int,
    loads: int,
    groups: Any,
    group_size: int,
    segment_bytes: int,
) -> None:
    axes: dict[str, Any] = {"stride": stride, "vector_width": width, "loads_in_flight": loads}
    axes |= {"groups": groups, "group_size": group_size, "traversal": "back_and_forth"}
    in_segments = {**axes, "traversal": "segments", "groups": 1 if groups == PER_PROBLEM else groups}
    for problem, variant in (
        (Reduction("sum", "uint32", (size,)), ReductionVariant(**axes)),
        (Reduction("sum", "uint32", (size,)), ReductionVariant(**in_segments)),
        (Bandwidth("read", "uint32", size), BandwidthVariant(**axes)),
        (Bandwidth("copy", "uint32", size), BandwidthVariant(**axes)),
    ):
        host = problem.make_source(size)
        with patch.object(geometry, "SEGMENT_BYTES", segment_bytes):
            for answer in answers(own_backend, problem, variant, host):
                assert problem.verify(answer, host).ok


@given(
    size=st.integers(1, 3000),
    loads=st.sampled_from([1, 2, 4]),
    width=st.sampled_from([1, 4]),
    segment_bytes=SHORT_SEGMENTS,
)
# All segments of one batch, two fewer, and a last segment that some work-items do not have.
@example(size=7 * 4, loads=4, width=1, segment_bytes=1)
@example(size=5 * 4, loads=4, width=1, segment_bytes=1)
@example(size=4 + 1, loads=4, width=1, segment_bytes=1)
def test_a_sum_of_floats_in_segments_is_the_same_in_each_call(
    own_backend: Backend, size: int, loads: Any, width: Any, segment_bytes: int
) -> None:
    problem = Reduction("sum", "float64", (size,))
    host = np.random.default_rng(size).normal(0, 1, size) * 10.0 ** (np.arange(size) % 9)
    variant = replace(SEGMENTS, loads_in_flight=loads, vector_width=width)
    with patch.object(geometry, "SEGMENT_BYTES", segment_bytes):
        found = answers(own_backend, problem, variant, host)
    assert problem.verify(found[0], host).ok
    assert [np.float64(each).tobytes() for each in found] == [np.float64(found[0]).tobytes()] * CALLS


@pytest.mark.parametrize(
    ("vectors", "loads", "segments", "of_each", "more"),
    [
        (0, 1, 1, 1, 0),
        (1, 1, 1, 1, 0),
        (16, 1, 2, 1, 0),
        (7 * 8, 1, 7, 1, 0),
        (33 * 8, 4, 5, 8, 0),
        # Eight work-items read 12 MiB of a short segment, at the most.
        (7 * 8 * 49152, 4, 7, 49152, 0),
        (20 * 8 * 49152 + 1, 4, 7, 49152, 13 * 49152 + 4),
    ],
)
def test_segments_are_whole_batches_of_loads_and_short_at_the_ends(
    vectors: int, loads: Any, segments: int, of_each: int, more: int
) -> None:
    axes: dict[str, Any] = {"vector_width": 4, "group_size": 8, "loads_in_flight": loads}
    variant = replace(SEGMENTS, **axes)
    expected = Turn(segments - 1), Scalar(segments, "uint32"), Scalar(of_each), Scalar(more)
    assert turn_of(Reduction("sum", "float64", (4 * vectors + 3,)), variant, 1) == expected
    if not more:
        local = replace(variant, stride="local")
        assert turn_of(Reduction("sum", "uint8", (3 * 4 * vectors + 3,)), local, 3) == expected


@pytest.mark.parametrize(
    ("groups", "group_size", "dialect", "expected"),
    [
        (5, 256, "vendor", 48),
        (2, 512, "vendor", 64),
        # So many run at a time without being told, so few can have, and so many always fit.
        (1, 256, "vendor", 0),
        (8, 512, "vendor", 0),
        (1, 1, "vendor", 0),
        (5, 256, "portable", 0),
    ],
)
def test_all_groups_that_read_segments_have_registers(
    groups: Any, group_size: Any, dialect: Any, expected: int
) -> None:
    problem = Reduction("sum", "float64", (4096, 4096))
    axes: dict[str, Any] = {"groups": groups, "group_size": group_size, "dialect": dialect}
    made = plan(problem, replace(SEGMENTS, **axes), H200.in_dialect(dialect))
    assert made.most_registers == made.macros["MOST_REGISTERS"] == expected
    forward = plan(problem, ReductionVariant(**axes), H200.in_dialect(dialect))
    assert forward.most_registers == forward.macros["MOST_REGISTERS"] == 0


@pytest.mark.parametrize(
    ("vectors", "stride", "groups", "farthest"),
    [
        (1, "global", 2, 0),
        (16, "global", 2, 0),
        (17, "global", 2, 16),
        (1000, "global", 2, 992),
        (17, "local", 2, 8),
        (1000, "local", 2, 496),
        (5, "local", 2, 0),
    ],
)
def test_the_farthest_vector(vectors: int, stride: Stride, groups: int, farthest: int) -> None:
    axes: dict[str, Any] = {"stride": stride, "groups": 1, "group_size": 8, "traversal": "back_and_forth"}
    variant = ReductionVariant(vector_width=4, **axes)
    problem = Reduction("max", "uint8", (4 * vectors + 3,))
    assert turn_of(problem, variant, groups) == (Turn(farthest),)
    assert turn_of(problem, ReductionVariant(), groups) == ()
    assert turn_of(problem, replace(variant, groups=PER_PROBLEM), 7) == (Turn(6),)


def test_a_filter_takes_the_tiles_of_a_group_so() -> None:
    problem = Laplace("four", "wrap", "laplacian", "uint8", 100, 320)
    variant = LaplaceVariant(groups=1, traversal="back_and_forth")
    made = plan(problem, variant, GPU)
    (turn,) = (each for each in made.launches[0].arguments if isinstance(each, Turn))
    # 10 tiles across, 13 down.
    assert turn.value % GPU.compute_units == 0
    assert 130 - GPU.compute_units <= turn.value < 130
    assert made.turns == 2


def test_groups_of_one_tile_each_go_back_and_forth_down_the_image() -> None:
    problem = Laplace("four", "wrap", "laplacian", "uint8", 100, 320)
    made = plan(problem, LaplaceVariant(traversal="back_and_forth"), GPU)
    (turn,) = (each for each in made.launches[0].arguments if isinstance(each, Turn))
    assert turn.value == made.launches[0].num_groups[1] - 1 == 12
    assert made.macros["ONE_PART_A_GROUP"] == 1


def test_what_cannot_go_backwards_says_why() -> None:
    reason = "traversal back_and_forth: the first of several equal values is found by reading forward"
    assert violations(BACK_AND_FORTH, Reduction("minmaxloc", "int32", (5000,)), GPU) == [reason]
    assert violations(SEGMENTS, Reduction("minmaxloc", "int32", (5000,)), GPU) == [
        reason.replace("back_and_forth", "segments")
    ]
    reason = "traversal segments: a group for each part reads it at once: there are no segments"
    at_once = replace(SEGMENTS, groups=PER_PROBLEM)
    assert violations(at_once, Reduction("sum", "float64", (5000,)), GPU) == [
        f"{reason}; give a number of groups"
    ]
    large = replace(SEGMENTS, group_size=1024)
    (reason,) = violations(
        large, Reduction("sum", "float64", (5000,)), replace(GPU, local_memory_bytes=2**15)
    )
    assert "a group needs 65536 bytes of local memory, the device has 32768" in reason
    # All but what tells a group that it is the last.
    large = replace(large, tree="quad", finish="last_group")
    (reason,) = violations(large, Reduction("max", "int32", (5000,)), replace(GPU, local_memory_bytes=2**15))
    assert reason == "a group needs 32772 bytes of local memory, the device has 32768"


@pytest.mark.parametrize(
    ("op", "dtype", "side", "vendor", "portable"),
    [
        ("max", "uint8", 4096, "forward", "forward"),
        ("max", "float64", 2560, "forward", "back_and_forth"),
        ("sum", "uint8", 8192, "back_and_forth", "back_and_forth"),
        ("minmax", "float64", 8192, "back_and_forth", "back_and_forth"),
        # So much that hardly a part of it stays.
        ("max", "uint8", 32768, "forward", "forward"),
        # The same in each call.
        ("sum", "float32", 3328, "forward", "forward"),
        ("sum", "float32", 4096, "forward", "segments"),
        ("sum", "float64", 3328, "segments", "segments"),
        ("norm_l1", "float64", 2560, "forward", "segments"),
        ("sum", "float64", 8192, "segments", "segments"),
        ("sum", "float64", 16384, "forward", "forward"),
        ("sum", "float16", 8192, "forward", "forward"),
        ("minmaxloc", "uint8", 8192, "forward", "forward"),
    ],
)
def test_defaults_past_the_cache(op: str, dtype: str, side: int, vendor: str, portable: str) -> None:
    problem = Reduction(op, dtype, (side, side))
    for dialect, expected in (("vendor", vendor), ("portable", portable)):
        variant = default_variant(problem, H200, dialect)  # type: ignore[arg-type]
        assert isinstance(variant, ReductionVariant)
        assert variant.traversal == expected
        assert violations(variant, problem, H200) == []
    for other in (GPU, CPU):
        of_other = default_variant(problem, other)
        assert isinstance(of_other, ReductionVariant)
        assert of_other.traversal == "forward"


@pytest.mark.parametrize(
    ("height", "vendor", "portable"),
    [
        (2048, "forward", "forward"),
        (2560, "forward", "back_and_forth"),
        (4096, "back_and_forth", "back_and_forth"),
        (55000, "back_and_forth", "back_and_forth"),
        # So much that hardly a part of it stays.
        (57000, "forward", "forward"),
    ],
)
def test_default_filters_past_the_cache(height: int, vendor: str, portable: str) -> None:
    problem = Laplace("four", "wrap", "laplacian", "uint8", height, 2560, 4)
    for dialect, expected in (("vendor", vendor), ("portable", portable)):
        variant = default_variant(problem, H200, dialect)  # type: ignore[arg-type]
        assert isinstance(variant, LaplaceVariant)
        assert variant.traversal == expected
        assert violations(variant, problem, H200) == []


def test_limits_go_back_and_forth_where_that_finds_more_in_the_cache(tmp_path: Any) -> None:
    path = tmp_path / "suite.toml"
    sizes = "[[1280, 1280], [8192, 8192]]"
    path.write_text(
        'title = "Both ways"\n[[reduction]]\nops = ["sum"]\ndtypes = ["uint8"]\n'
        f'shapes = {sizes}\ncaches = ["hot", "cold"]\n'
    )
    limits = [case for case in expand(load_suite(str(path)), [H200]) if case.role == "limit"]
    ways = {
        (case.problem.source_bytes, case.cache): {
            each.variant.traversal
            for each in limits
            if (each.problem, each.cache) == (case.problem, case.cache)
            and isinstance(each.variant, BandwidthVariant)
        }
        for case in limits
    }
    both = {"forward", "back_and_forth"}
    assert ways == {
        (1280 * 1280, "hot"): {"forward"},
        (1280 * 1280, "cold"): {"forward"},
        (8192 * 8192, "hot"): both,
        (8192 * 8192, "cold"): {"forward"},
    }


def test_a_recorded_variant_without_the_axis_goes_forward() -> None:
    read = variant_from_json({"kind": "bandwidth", "vector_width": 4})
    assert read == BandwidthVariant(vector_width=4, traversal="forward")

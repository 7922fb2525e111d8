"""Every variant of our own kernels computes the same: pairs of values of two axes, and every rung."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from backends import Backend
from harness.kernels.requirements import OPENCL_ELEMENTS, WIDER_BYTES
from harness.kernels.values import PACKED_OPS, WORD_BYTES
from harness.problems import (
    OPS,
    Array,
    Bandwidth,
    Laplace,
    Reduction,
)
from harness.problems import packed_key as keys
from harness.problems.dtypes import DTYPES, Dtype
from harness.variants.axes import (
    AXES,
    BandwidthVariant,
    CommandVariant,
    Compare,
    Dialect,
    Finish,
    LaplaceVariant,
    Packing,
    ReductionVariant,
    Stride,
    Variant,
    label,
)
from harness.variants.ladders import LADDERS
from tests.support.checks import (
    Point,
    check_laplace,
    check_reduction,
    require,
    skipping,
    spelled,
)
from tests.support.contract import sources_of
from tests.support.samples import BANDWIDTHS, LAPLACES, REDUCTIONS, TURNS, WIDER, turns_of, variant_of

RUNGS = [
    pytest.param(rung, id=f"{name}-{label(rung)}")
    for name, ladder in LADDERS.items()
    for rung in ladder.rungs
]


@pytest.mark.parametrize("point", [*REDUCTIONS, *WIDER], ids=spelled)
def test_reduction_variants(own_backend: Backend, point: Point) -> None:
    variant = variant_of("reduction", point)
    assert isinstance(variant, ReductionVariant)
    op, dtype = point["op"], point["dtype"]
    # An image has whole texels; a buffer has any number of elements.
    for size in (4, 132, 4096, 20012) if variant.storage == "image" else (1, 130, 4097, 20011):
        check_reduction(own_backend, op, Reduction(op, dtype, (size,)).make_source(size), variant)


@pytest.mark.parametrize("op", ["min", "max", "minmax", "minmaxloc"])
@pytest.mark.parametrize("dtype", [name for name, dtype in DTYPES.items() if dtype.is_float])
@pytest.mark.parametrize(
    ("compare", "dialect"), [("operator", "vendor"), ("builtin", "vendor"), ("builtin", "portable")]
)
@pytest.mark.parametrize("packing", ["scalar", "batched"])
def test_every_comparison_keeps_what_is_special(
    own_backend: Backend, packing: Packing, compare: Compare, dialect: Dialect, dtype: str, op: str
) -> None:
    """A NaN anywhere in vectors and in the rest after them; infinities, zeros and subnormals."""
    variant = ReductionVariant(
        vector_width=4,
        loads_in_flight=2,
        groups=1,
        group_size=8,
        compare=compare,
        packing=packing,
        dialect=dialect,
    )
    whole = Reduction(op, dtype, (131,)).make_source(5)
    for position in (0, 1, 3, 31, 32, 127, 128, 130):
        array = whole.copy()
        array[position] = np.nan
        array[position - 1] = -np.inf if position % 2 else np.inf
        check_reduction(own_backend, op, array, variant)
    # Of two that come late, the first is met in a batch without a number beyond the extremes so far.
    late = np.full(1031, 2, dtype)
    late[[700, 900]] = np.nan
    check_reduction(own_backend, op, late, variant)
    tiny = np.finfo(dtype).smallest_subnormal
    for few in ([-0.0, 0.0], [np.inf], [-np.inf, np.inf], [tiny, 0.0], [-tiny, tiny], [np.nan, -np.inf]):
        check_reduction(own_backend, op, np.array(few, dtype), variant)


@pytest.mark.parametrize(
    ("finish", "packing"),
    [(finish, "scalar") for finish in AXES["reduction"]["finish"]]
    + [("host", "batched"), ("host", "packed")],
)
@pytest.mark.parametrize("op", ["min", "max", "minmax", "minmaxloc"])
@pytest.mark.parametrize("dtype", ["int16", "float32"])
def test_an_extreme_is_one_of_the_elements(
    own_backend: Backend, dtype: str, op: str, finish: Finish, packing: Packing
) -> None:
    """All on one side of zero, and fewer vectors than work-items: what these start from is no answer, nor is
    what a call leaves to the next.
    """
    variant = ReductionVariant(
        vector_width=4, loads_in_flight=2, groups=3, group_size=8, finish=finish, packing=packing
    )
    problem = Reduction(op, dtype, (67,))
    require(own_backend, problem, variant)
    above = np.random.default_rng(8).integers(5, 99, problem.size).astype(dtype)
    arrays = [above, -above]
    sources = [own_backend.upload(problem.pack(array)) for array in arrays]
    with skipping(), own_backend.prepare(problem, variant, sources) as prepared:
        for call in (0, 1, 1, 0, 0):
            prepared.enqueue(call)
            outcome = problem.verify(prepared.result(), arrays[call])
            assert outcome.ok, outcome.message


@pytest.mark.parametrize(
    ("packing", "dialect"),
    [*((packing, "vendor") for packing in AXES["reduction"]["packing"]), ("packed", "portable")],
)
@pytest.mark.parametrize("stride", AXES["reduction"]["stride"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("has_keys", [True, False])
def test_ties_go_to_the_lowest_index(
    own_backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
    has_keys: bool,
    dtype: str,
    stride: Stride,
    packing: Packing,
    dialect: Dialect,
) -> None:
    """Few values, so that each is met in many vectors, work-items and groups; all the same; several NaN."""
    if not has_keys:
        # As of an array too large for them.
        monkeypatch.setattr(keys, "MAX_SIZE", 0)
    elif DTYPES[dtype].itemsize > keys.MAX_BYTES:
        pytest.skip(f"{dtype} leaves a key no room for a place")
    problem = Reduction("minmaxloc", dtype, (3001,))
    assert problem.is_keyed is has_keys
    variant = ReductionVariant(
        vector_width=4,
        loads_in_flight=2,
        groups=3,
        group_size=8,
        stride=stride,
        packing=packing,
        dialect=dialect,
    )
    require(own_backend, problem, variant)
    for array in tied(problem.element):
        check_reduction(own_backend, "minmaxloc", array, variant)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("compare", AXES["reduction"]["compare"])
@pytest.mark.parametrize("vector_width", [1, 2, 4, 16])
def test_a_processor_finds_places_as_gpus_do(
    own_backend: Backend, monkeypatch: pytest.MonkeyPatch, vector_width: int, compare: Compare, dtype: str
) -> None:
    """What GPUs compute in place of comparing whole vectors, where there is none."""
    if own_backend.device.sub_group_width > 1:
        pytest.skip(f"{own_backend.device.key} has sub-groups, so that all tests compute so")
    monkeypatch.setattr(own_backend, "device", replace(own_backend.device, sub_group_width=2))
    variant = ReductionVariant(
        vector_width=vector_width, loads_in_flight=2, groups=3, group_size=8, compare=compare
    )
    for array in tied(DTYPES[dtype]):
        check_reduction(own_backend, "minmaxloc", array, variant)


def tied(element: Dtype) -> list[Array]:
    """Arrays with each value in many places, also with NaN in some."""
    size, dtype = 3001, element.numpy
    rng, sign = np.random.default_rng(7), 1 if dtype.kind == "u" else -1
    few = (rng.integers(3, 6, size) * sign).astype(dtype)
    found: list[Array] = [few, few[::-1], few[:17], *(np.full(size, edge, dtype) for edge in edges(element))]
    if element.is_float:
        found.append(np.where(rng.random(size) < 0.5, 0.0, -0.0).astype(dtype))
    for count in (1, 2, 500) if element.is_float else ():
        found.append(few.copy())
        found[-1][rng.integers(0, size, count)] = np.nan
    return found


def edges(element: Dtype) -> tuple[float, ...]:
    """What a reduction starts from, and zero."""
    info = None if element.is_float else np.iinfo(element.name)
    return (0, info.min, info.max) if info else (-0.0, -np.inf, np.inf)


@pytest.mark.parametrize("op", PACKED_OPS)
@pytest.mark.parametrize(
    "dtype", [name for name, dtype in DTYPES.items() if not dtype.is_float and dtype.itemsize < WORD_BYTES]
)
@pytest.mark.parametrize("dialect", AXES["reduction"]["dialect"])
def test_every_element_of_a_word_counts(own_backend: Backend, dialect: Dialect, dtype: str, op: str) -> None:
    """One element unlike the others at each place of the words; nothing but extremes; many zeros."""
    variant = ReductionVariant(
        vector_width=8, loads_in_flight=2, group_size=2, groups=1, packing="packed", dialect=dialect
    )
    info, rng = np.iinfo(dtype), np.random.default_rng(6)
    for position in range(19):
        for others, one in ((0, 1), (info.max, info.min), (info.min, info.max), (1, 0), (0, info.min)):
            array = np.full(67, others, dtype)
            array[position] = one
            check_reduction(own_backend, op, array, variant)
    # Of 16 bits a work-item's sum outgrows 32.
    for array in (rng.integers(0, 3, 70001), np.full(270001, info.max), np.full(270001, info.min)):
        check_reduction(own_backend, op, array.astype(dtype), variant)


@pytest.mark.parametrize("op", ["minmaxloc", "sum_squares"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
@pytest.mark.parametrize("vector_width", [2, 4, 8, 16])
def test_portable_vectors(own_backend: Backend, vector_width: int, dtype: str, op: str) -> None:
    """Each element that a portable kernel takes out of words, with its sign and in its place."""
    variant = ReductionVariant(
        vector_width=vector_width, loads_in_flight=2, group_size=4, groups=1, dialect="portable"
    )
    for size in (3, 16, 131):
        check_reduction(own_backend, op, Reduction(op, dtype, (size,)).make_source(size), variant)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
def test_a_batch_holds_extremes(own_backend: Backend, dtype: str, op: str) -> None:
    """The longest batches of nothing but the lowest, the highest, and ones: what is too narrow overflows."""
    variant = ReductionVariant(
        vector_width=16, loads_in_flight=8, stride="local", groups=1, group_size=1, packing="batched"
    )
    info = np.iinfo(dtype)
    for value in (info.min, info.max, 1):
        check_reduction(own_backend, op, np.full(70001, value, dtype), variant)


@pytest.mark.parametrize("point", LAPLACES, ids=spelled)
def test_laplace_variants(own_backend: Backend, point: Point) -> None:
    variant = variant_of("laplace", point)
    parameters = {name: point[name] for name in ("mask", "border", "output", "dtype", "channels")}
    for height, width in ((1, 1), (3, 2), (37, 67), (70, 131)):
        problem = Laplace(height=height, width=width, **parameters)
        check_laplace(own_backend, problem, problem.make_source(width), variant)


@pytest.mark.parametrize("point", BANDWIDTHS, ids=spelled)
def test_bandwidth_variants(own_backend: Backend, point: Point) -> None:
    variant = variant_of("bandwidth", point)
    for size in (1, 3, 131, 70001):
        problem = Bandwidth(point["direction"], point["dtype"], size)
        require(own_backend, problem, variant)
        host = problem.make_source(size)
        with skipping():
            prepared = own_backend.prepare(problem, variant, [own_backend.upload(problem.pack(host))])
        with prepared:
            prepared.poison()
            prepared.enqueue(0)
            outcome = problem.verify(prepared.result(), host)
        assert outcome.ok, f"{problem.label}, {variant}: {outcome.message}"


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
@pytest.mark.parametrize("size", [1, 131, 70001])
def test_the_own_command_of_the_api_copies(own_backend: Backend, dtype: str, size: int) -> None:
    problem = Bandwidth("copy", dtype, size)
    require(own_backend, problem, CommandVariant())
    hosts, uploaded = sources_of(own_backend, problem, 2)
    with own_backend.prepare(problem, CommandVariant(), uploaded) as prepared:
        assert prepared.launches == ()
        for i in (1, 0, 1):
            prepared.poison()
            prepared.enqueue(i)
            own_backend.synchronize()
            assert np.array_equal(prepared.result(), problem.reference(hosts[i]))
        prepared.poison()
        seconds = prepared.event_seconds(0)
        assert seconds is None or 0 < seconds < 60
        prepared.enqueue(0)
        assert np.array_equal(prepared.result(), problem.reference(hosts[0]))


def test_no_command_of_the_api_reads(own_backend: Backend) -> None:
    reason = own_backend.unsupported(Bandwidth("read", "int32", 5), CommandVariant())
    assert reason == "a bandwidth problem takes a bandwidth variant, not a command one"


@pytest.mark.parametrize("rung", RUNGS)
def test_rungs(own_backend: Backend, rung: Variant) -> None:
    if isinstance(rung, ReductionVariant):
        for op, dtype in (("minmax", "int32"), ("minmax", "uint8"), ("sum", "float32")):
            check_reduction(own_backend, op, Reduction(op, dtype, (129, 156)).make_source(9), rung)
    elif isinstance(rung, LaplaceVariant):
        for dtype, channels in (("uint8", 1), ("uint8", 4), ("float32", 3)):
            problem = Laplace("four", "replicate", "sharpened", dtype, 45, 77, channels)
            check_laplace(own_backend, problem, problem.make_source(9), rung)
    else:
        assert isinstance(rung, BandwidthVariant)


@pytest.mark.parametrize("variant", TURNS, ids=label)
def test_groups_take_tiles_in_turn(own_backend: Backend, variant: LaplaceVariant) -> None:
    problem = turns_of(variant)
    check_laplace(own_backend, problem, problem.make_source(5), variant)


def test_every_axis_is_sampled() -> None:
    assert {point["tree"] for point in REDUCTIONS} == set(AXES["reduction"]["tree"])
    assert {point["group_size"] for point in REDUCTIONS} == set(AXES["reduction"]["group_size"])
    assert {point["border_code"] for point in LAPLACES} == set(AXES["laplace"]["border_code"])
    pairs = {(point["dtype"], point["vector_width"]) for point in [*REDUCTIONS, *WIDER]}
    assert pairs == {
        (name, width)
        for name, dtype in DTYPES.items()
        for width in AXES["reduction"]["vector_width"]
        if width <= OPENCL_ELEMENTS or (dtype.itemsize <= WIDER_BYTES and not dtype.is_float)
    }
    assert len(np.unique([spelled(point) for point in REDUCTIONS])) == len(REDUCTIONS)

"""What tests of the backends share: calls checked against the reference, samples of products of values."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from backends import Backend, Unsupported
from harness.problems import Array, Laplace, Problem, Reduction
from harness.variants.axes import Variant

Point = dict[str, Any]
Axes = Mapping[str, Sequence[Any]]
Pair = tuple[tuple[str, Any], ...]


def key_of(value: Any, place: int, is_highest: bool) -> np.uint64:
    """The key that a kernel makes of a value of 32 bits and its place; see
    :mod:`harness.problems.packed_key`.
    """
    if np.isnan(value):
        high = 2**32 - 1 if is_highest else 0
    elif value.dtype.kind == "f":
        bits = int(np.float32(0 if value == 0 else value).view(np.uint32))
        high = 2**32 - 1 - bits if bits >= 2**31 else bits + 2**31
    else:
        high = int(value) - int(np.iinfo(value.dtype).min)
    return np.uint64(high << 32 | (2**32 - 1 - place if is_highest else place))


def runs(backend: Backend, problem: Problem) -> bool:
    """Whether the backend runs ``problem`` by its default."""
    return backend.unsupported(problem, backend.default_variant(problem)) is None


def deviates(backend: Backend, problem: Reduction, array: Array) -> bool:
    """Whether a library says that it answers otherwise for values as in ``array``."""
    if not array.size:
        return False
    known_deviations = backend.known_deviations(problem)
    limits = np.finfo(problem.dtype) if problem.element.is_float else np.iinfo(problem.dtype)
    extremes = (-np.inf, limits.min, limits.max, np.inf)
    return (
        (bool({"nan", "nan_count"} & known_deviations) and bool(np.isnan(array).any()))
        or ("extreme" in known_deviations and array.min() == array.max() in extremes)
        or ("infinity" in known_deviations and bool(np.isinf(array).all()))
        or ("overflow" in known_deviations and bool((array == limits.min).sum() > 2**16))
    )


def has_one_answer(op: str, array: Array) -> bool:
    """Whether no order of multiplying floats overflows, or comes to 0, where another one does not."""
    if op != "product" or array.dtype.kind != "f":
        return True
    finite = np.abs(array[np.isfinite(array) & (array != 0)].astype(np.longdouble))
    return bool(np.abs(np.log2(finite)).sum() < 1000)


def require(backend: Backend, problem: Problem, variant: Variant | None = None) -> None:
    """Skips the test with the backend's own reason if it cannot run ``problem``."""
    reason = backend.unsupported(problem, variant or backend.default_variant(problem))
    if reason:
        pytest.skip(f"{backend.device.key}: {reason}")


@contextmanager
def skipping() -> Iterator[None]:
    """Skips the test where only building a kernel shows that the device cannot run it: too many registers."""
    try:
        yield
    except Unsupported as error:
        pytest.skip(str(error))


def check_reduction(backend: Backend, op: str, array: Array, variant: Variant | None = None) -> None:
    """``backend.reduce`` returns the reference's answer, in the documented types."""
    problem = Reduction(op, array.dtype.name, array.shape)
    require(backend, problem, variant)
    with skipping():
        answer = backend.reduce(op, array, variant)
    outcome = problem.verify(answer, array)
    is_right = outcome.ok or (deviates(backend, problem, array) and _may_be(backend, problem, array, answer))
    assert is_right, f"{problem.label}, {variant}: {outcome.message}"
    assert types_of(answer) == expected_types(problem), f"{problem.label}, {variant}"


def _may_be(backend: Backend, problem: Reduction, array: Array, answer: Any) -> bool:
    """Whether a library that departs for ``array`` may answer so: with elements, with 0 or the largest finite
    number where it says so, with anything where there is nothing but NaN. A count may leave out any of the
    NaN: a library that counts them in one of its loops leaves out those of the other. A sum that overflows is
    right in its lower 32 bits.
    """
    known_deviations = backend.known_deviations(problem)
    if "overflow" in known_deviations:
        return bool((int(answer) - int(array.sum(dtype=np.int64))) % 2**32 == 0)
    if "nan_count" in known_deviations:
        most = np.count_nonzero(array)
        return bool(most - np.count_nonzero(np.isnan(array)) <= answer <= most)
    values = answer[:2] if isinstance(answer, tuple) else (answer,)
    elements = np.abs(array) if problem.op == "norm_inf" else array
    numbers = elements[~np.isnan(elements)]
    if "extreme" in known_deviations and len(np.unique(numbers)) <= 1:
        return all(value == 0 or value in numbers for value in values)
    if "infinity" in known_deviations and (np.isinf(numbers).all() or numbers.size < elements.size):
        numbers = np.append(numbers, np.array([-1, 1], array.dtype) * np.finfo(array.dtype).max)
    return not numbers.size or all(np.isnan(value) or value in numbers for value in values)


def check_laplace(backend: Backend, problem: Laplace, image: Array, variant: Variant | None = None) -> None:
    """``backend.laplace`` returns the reference's image, in the source's shape and type."""
    require(backend, problem, variant)
    p = problem
    with skipping():
        answer = backend.laplace(image, p.mask, p.border, p.output, p.border_value, variant)
    assert answer.shape == image.shape
    assert answer.dtype == image.dtype
    outcome = problem.verify(answer.reshape(problem.shape), np.asarray(image).reshape(problem.shape))
    assert outcome.ok, f"{problem.label}, {variant}: {outcome.message}"


def types_of(answer: Any) -> tuple[type[Any], ...]:
    """The exact types of an answer's values."""
    return tuple(type(value) for value in answer) if isinstance(answer, tuple) else (type(answer),)


def expected_types(problem: Reduction) -> tuple[type[Any], ...]:
    """The types that the documentation of ``reduce`` promises."""
    element = np.dtype(problem.dtype)
    totals = {"i": np.int64, "u": np.uint64, "f": np.float64}
    promised: dict[str, tuple[type[Any], ...]] = {
        "min": (element.type,),
        "max": (element.type,),
        "minmax": (element.type, element.type),
        "minmaxloc": (element.type, element.type, int, int),
        "sum": (totals[element.kind],),
        "product": (totals[element.kind],),
        "count_nonzero": (int,),
        "mean": (np.float64,),
        "sum_squares": (totals["f" if element.itemsize >= 4 else element.kind],),
        "norm_l1": (totals["f" if element.itemsize == 8 else element.kind],),
        "norm_l2": (np.float64,),
        "norm_inf": (np.float64 if element.kind == "f" else int,),
    }
    return promised[problem.op]


def pairwise(values: Axes, valid: Callable[[Point], bool] = lambda _: True) -> list[Point]:
    """Few points of the product of ``values`` such that each pair of values of two axes is in one of them.

    Greedy, the same for the same input: every pair not yet met is put into points found before, which are
    mostly valid with it, and into random draws; the one that meets most new pairs is taken. Pairs that
    ``valid`` never lets through are left out.
    """
    draw = random.Random(0)
    names = list(values)
    wanted = {pair for a, b in itertools.combinations(names, 2) for pair in _product((a, b), values)}
    points: list[Point] = []
    for pair in sorted(wanted, key=repr):
        if pair not in wanted:
            continue
        fixed = dict(pair)
        known = (point | fixed for point in draw.sample(points, min(len(points), 30)))
        drawn = ({name: draw.choice(values[name]) for name in names} | fixed for _ in range(40))
        candidates = [*filter(valid, known), *itertools.islice(filter(valid, drawn), 10)]
        if candidates:
            best = max(candidates, key=lambda point: len(_pairs(point) & wanted))
            wanted -= _pairs(best)
            points.append(best)
    return points


def _product(names: tuple[str, str], values: Axes) -> list[Pair]:
    a, b = names
    return [((a, x), (b, y)) for x in values[a] for y in values[b]]


def _pairs(point: Point) -> set[Pair]:
    return set(itertools.combinations(point.items(), 2))


def spelled(point: Point) -> str:
    """A point as the id of a test."""
    return "-".join(str(value) for value in point.values())

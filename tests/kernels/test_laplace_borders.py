"""The Laplace kernels at the borders: every border code at awkward edges, padding, border values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends import Backend
from harness.kernels.laplace import plan
from harness.kernels.plan import Buffer, Source
from harness.problems import BORDERS, OUTPUTS, Laplace
from harness.variants.axes import AXES, BorderCode, LaplaceVariant, label
from harness.variants.ladders import LADDERS
from tests.support.checks import Point, pairwise, spelled
from tests.support.laplace import GPU, IMAGE, POINTS, check, edge_sizes, problem_of, variant_of

BORDER_CODES = AXES["laplace"]["border_code"]


@pytest.mark.parametrize("point", POINTS, ids=spelled)
def test_edges(own_backend: Backend, point: Point) -> None:
    value = {"uint8": 200, "uint16": 40000, "int16": -32768, "float32": -0.1}[point["dtype"]]
    for height, width in edge_sizes(point["vector_width"]):
        problem = problem_of(point, height, width, value)
        check(own_backend, problem, variant_of(point), problem.make_source(seed=width))


@pytest.mark.parametrize(
    "point",
    pairwise(
        {
            "kind": (
                ("uint8", "packed", 4),
                ("uint8", "packed", 16),
                ("uint8", "packed", 32),
                ("uint8", "symmetric", 32),
                ("uint16", "symmetric", 64),
                ("float32", "symmetric", 16),
            ),
            "channels": (1, 3, 4),
            "border": BORDERS,
            "mask": ("four", "eight_negated", "diagonal"),
            "output": OUTPUTS,
        }
    ),
    ids=spelled,
)
def test_ends_of_rows(own_backend: Backend, point: Point) -> None:
    """Rows of one vector and of several, that end with a vector, a pixel after it and inside it."""
    dtype, stencil, width = point["kind"]
    channels = point["channels"]
    variant = LaplaceVariant(border_code="peeled", stencil=stencil, vector_width=width, group_width=4)
    whole = -(-3 * width // channels)
    for pixels in (1, width // channels, whole, whole + 1, 2 * width - 1):
        parameters = {name: point[name] for name in ("mask", "border", "output")}
        problem = Laplace(
            dtype=dtype, height=3, width=pixels, channels=channels, border_value=7, **parameters
        )
        check(own_backend, problem, variant, problem.make_source(seed=pixels))


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("rung", LADDERS["jia2012"].rungs[:10], ids=label)
def test_borders_on_the_rungs_of_the_study(own_backend: Backend, rung: LaplaceVariant, border: str) -> None:
    problem = Laplace("eight", border, "laplacian", "uint8", 11, 43, 3, 9)
    check(own_backend, problem, rung, problem.make_source(seed=1))


def test_padding_is_part_of_the_call() -> None:
    planned = plan(replace(IMAGE, border="wrap"), LaplaceVariant(border_code="padded"), GPU)
    assert [launch.kernel for launch in planned.launches] == ["pad", "laplace"]
    assert planned.launches[0].arguments[0] == Source()
    assert planned.launches[1].arguments[0] == planned.launches[0].arguments[1] == Buffer("padded")
    assert planned.buffers["padded"] == (33 + 2) * (128 + 2 * 128)


@pytest.mark.parametrize("border_code", BORDER_CODES)
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 1e-40, -10 / 3])
def test_float_border_values(own_backend: Backend, border_code: BorderCode, value: float) -> None:
    problem = Laplace("eight", "constant", "laplacian", "float32", 9, 21, 1, value)
    variant = LaplaceVariant(border_code=border_code, vector_width=4)
    check(own_backend, problem, variant, problem.make_source(seed=1))


@pytest.mark.parametrize("border_code", BORDER_CODES)
def test_the_padding_is_never_read_as_pixels(own_backend: Backend, border_code: BorderCode) -> None:
    variant = LaplaceVariant(border_code=border_code, vector_width=16, rows_per_item=4)
    for border in BORDERS:
        problem = replace(IMAGE, border=border)
        image = problem.make_source(seed=1)
        packed = problem.pack(image)
        packed[:, problem.row_elements :] = 255
        with own_backend.prepare(problem, variant, [own_backend.upload(packed)]) as prepared:
            prepared.enqueue(0)
            assert problem.verify(prepared.result(), image).ok, border


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("uint8", 256),
        ("uint8", -1),
        ("uint8", 2.5),
        ("uint16", 65536),
        ("int16", -32769),
        ("uint8", float("nan")),
    ],
)
def test_a_border_value_must_fit_the_dtype(dtype: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"{value!r} is no integer in {dtype}'s range of -?\d+ to \d+"):
        replace(IMAGE, border="constant", dtype=dtype, border_value=value)
    replace(IMAGE, dtype=dtype, border_value=value)  # Other borders ignore it.


def test_a_finite_border_value_must_not_become_infinite() -> None:
    with pytest.raises(ValueError, match=r"1e\+39 is outside float32's range"):
        replace(IMAGE, border="constant", dtype="float32", border_value=1e39)

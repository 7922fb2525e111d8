"""What every backend refuses, with the value and the remedy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from backends import Backend, BackendUnavailable, DeviceInfo, Unsupported, open_backend
from harness.problems import Reduction
from harness.variants.axes import LaplaceVariant, ReductionVariant
from tests.conftest import found
from tests.support.contract import some_problem


@pytest.mark.parametrize("index", [-1, 10_000])
def test_a_device_out_of_range_is_refused(any_device: DeviceInfo, index: int) -> None:
    last = len(found()[any_device.backend]) - 1
    with pytest.raises(BackendUnavailable, match=rf"{index}.*{last}"):
        open_backend(any_device.backend, index)


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(ValueError, match=r"backend 'metal' is unknown; known are numpy, opencl"):
        open_backend("metal")


@pytest.mark.parametrize("device", ["0", None, 0.0, [0]])
def test_a_device_that_is_no_number_is_refused(device: Any) -> None:
    with pytest.raises(TypeError, match=re.escape(f"`harness devices`, not {device!r}")):
        open_backend("numpy", device)


@pytest.mark.parametrize("name", [["numpy"], None, 0])
def test_a_backend_that_is_no_name_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"backend {name!r} is unknown; known are numpy")):
        open_backend(name)


def test_an_unsupported_variant_is_refused_with_its_reason(any_backend: Backend) -> None:
    problem = Reduction("min", "int32", (5,))
    assert any_backend.unsupported(problem, LaplaceVariant())
    with pytest.raises(Unsupported, match=r"min int32 5: "):
        any_backend.prepare(problem, LaplaceVariant(), [])


def test_an_image_of_a_wrong_shape_is_refused(any_backend: Backend) -> None:
    for image, message in (
        (np.zeros(5, np.uint8), r"shape \(height, width\)"),
        (np.zeros((2, 2, 2), np.uint8), r"channels 2 is unknown; allowed are 1, 3, 4"),
        (np.zeros((0, 4), np.uint8), r"height: should be greater than or equal to 1, not 0"),
        (np.zeros((4, 4), np.int32), r"dtype of an image 'int32' is unknown; allowed are uint8"),
    ):
        with pytest.raises(ValueError, match=message):
            any_backend.laplace(image)
    for name in ("mask", "border", "output"):
        with pytest.raises(ValueError, match=rf"{name} 'x' is unknown; allowed are"):
            any_backend.laplace(np.zeros((4, 4), np.uint8), **{name: "x"})  # type: ignore[arg-type]


@pytest.mark.parametrize("variant", ["x", "", 0, {}, ReductionVariant])
def test_what_is_no_variant_is_refused(any_backend: Backend, variant: Any) -> None:
    problem = some_problem(any_backend)
    source = problem.make_source(0)
    for call in (
        lambda: any_backend.compute(problem, source, variant),
        lambda: any_backend.prepare(problem, variant, []),
        lambda: any_backend.reduce("sum", np.ones(3), variant),
        lambda: any_backend.laplace(np.ones((3, 3), np.uint8), variant=variant),
    ):
        with pytest.raises(TypeError, match=re.escape(f"from harness.variants.axes, not {variant!r}")):
            call()


def test_a_masked_array_is_refused_with_the_remedy(any_backend: Backend) -> None:
    image = np.ma.array(np.ones((3, 3), np.uint8), mask=np.eye(3, dtype=bool))
    remedy = r"mask would be lost; give array\.compressed\(\).*filled\(value\)"
    for call in (lambda: any_backend.reduce("sum", image), lambda: any_backend.laplace(image)):
        with pytest.raises(TypeError, match=remedy):
            call()


def test_a_border_value_that_is_no_number_is_refused(any_backend: Backend) -> None:
    value: Any
    for value in ("x", None, [1]):
        with pytest.raises(ValueError, match=re.escape(f"border_value {value!r} is no number")):
            any_backend.laplace(np.zeros((4, 4), np.uint8), border="constant", border_value=value)

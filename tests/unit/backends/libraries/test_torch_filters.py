"""PyTorch's two forms of the filter, where PyTorch is installed: on the processor, which needs no GPU."""

from __future__ import annotations

from typing import Any

import pytest

from harness.problems import BORDERS, MASKS, OUTPUTS, Laplace

torch = pytest.importorskip("torch", reason="pip install torch")
torch_filters = pytest.importorskip("backends.libraries.torch_filters")

_VALUES = {"uint8": 200, "uint16": 40000, "int16": -1234, "float32": -0.375}


def filtered(problem: Laplace) -> str:
    """What is wrong with PyTorch's answer; empty when it is right."""
    source = problem.make_source(seed=3)
    image = torch_filters.image_of(problem, torch.from_numpy(problem.pack(source)))
    answer = torch_filters.filtering(problem, torch.device("cpu"))(image)
    # The backend fills an answer with garbage through a view of it.
    assert answer.is_contiguous()
    return problem.verify(answer.view(problem.shape).numpy(), source).message


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", list(_VALUES))
@pytest.mark.parametrize("border", BORDERS)
def test_both_forms(monkeypatch: pytest.MonkeyPatch, border: str, dtype: str, channels: int) -> None:
    # What PyTorch compiles of the expression must be what the expression says; compiling takes seconds.
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    value = _VALUES[dtype] if border == "constant" else 0
    for mask in MASKS:
        for output in OUTPUTS:
            for height, width in ((1, 1), (2, 1), (5, 7)):
                problem = Laplace(mask, border, output, dtype, height, width, channels, value)
                assert torch_filters.lacks(problem) or not filtered(problem), problem.label


@pytest.mark.timeout(120)
def test_one_is_compiled_for_each_problem() -> None:
    """PyTorch gives up after eight sizes of one function."""
    for width in range(5, 15):
        assert not filtered(Laplace("four", "replicate", "laplacian", "uint8", 3, width))


def test_what_a_record_says() -> None:
    def note(**values: Any) -> str:
        return str(torch_filters.note(Laplace("four", output="laplacian", height=3, width=3, **values)))

    assert (
        note(border="wrap", dtype="uint16") == "an expression of slices in int32, clamped, by torch.compile"
    )
    assert note(border="constant", dtype="float32") == "conv2d, channels last, no TF32"
    assert note(border="wrap", dtype="float32").endswith(", behind torch.nn.functional.pad")


def test_what_it_lacks() -> None:
    problem = Laplace("four", "reflect_101", "laplacian", "float32", 1, 9)
    assert torch_filters.lacks(problem) == "PyTorch's padding reflects no side of one pixel"

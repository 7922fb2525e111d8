"""The Laplace filter in PyTorch: a convolution of float32, and of integers an expression that it compiles.

PyTorch convolves no integers on a GPU. Both forms are functions of an image, and run wherever it lies.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own abbreviation

from harness.problems import Laplace

_PADDING = {
    "constant": "constant",
    "replicate": "replicate",
    "reflect": "replicate",
    "reflect_101": "reflect",
}
"""OpenCV's borders by PyTorch's names: ``wrap`` is circular. One pixel outside, reflect is replicate."""

Filter = Callable[[Any], Any]
"""Of an image of shape (height, width, channels) the filtered one, contiguous, of the same shape and type."""


def filtering(problem: Laplace, device: Any) -> Filter:
    """What filters an image that lies on ``device``."""
    return _convolution(problem, device) if problem.element.is_float else _compiled(problem)


def note(problem: Laplace) -> str:
    """Which form it is, and what a reader must know of it."""
    if not problem.element.is_float:
        return "an expression of slices in int32, clamped, by torch.compile"
    own = problem.border == "constant" and problem.border_value == 0
    return "conv2d, channels last, no TF32" + ("" if own else ", behind torch.nn.functional.pad")


def image_of(problem: Laplace, packed: Any) -> Any:
    """The image in its packed rows, shape (height, width, channels), nothing copied."""
    shape = (problem.height, problem.width, problem.channels)
    return packed.as_strided(shape, (packed.stride(0), problem.channels, 1))


def lacks(problem: Laplace) -> str | None:
    """Why PyTorch cannot run this filter; None when it can."""
    sides = problem.height, problem.width
    if problem.element.is_float and problem.border == "reflect_101" and 1 in sides:
        return "PyTorch's padding reflects no side of one pixel"
    return None


def _convolution(problem: Laplace, device: Any) -> Filter:
    mask = torch.tensor(problem.weights, dtype=torch.float32, device=device)
    weights = mask.expand(problem.channels, 1, 3, 3)
    weights = weights.contiguous(memory_format=torch.channels_last)
    own = problem.border == "constant" and problem.border_value == 0
    mode = _PADDING.get(problem.border, "circular")
    value = {"value": problem.border_value} if mode == "constant" else {}

    def convolve(image: Any) -> Any:
        # Channels last is how the image lies: a view.
        planes = image.permute(2, 0, 1).unsqueeze(0)
        if not own:
            planes = F.pad(planes, (1, 1, 1, 1), mode=mode, **value)
            planes = planes.contiguous(memory_format=torch.channels_last)
        found = F.conv2d(planes, weights, padding=int(own), groups=problem.channels)
        return found.squeeze(0).permute(1, 2, 0).contiguous()

    return convolve


def _compiled(problem: Laplace) -> Filter:
    """The expression, compiled for these sizes when it is first called."""

    def expression(image: Any) -> Any:
        height, width = problem.height, problem.width
        padded = _bordered(image, problem).to(torch.int32)
        total = 0
        for dy, row in enumerate(problem.weights):
            for dx, weight in enumerate(row):
                if weight:
                    total = total + weight * padded[dy : dy + height, dx : dx + width]
        info = torch.iinfo(image.dtype)
        return total.clamp(info.min, info.max).to(image.dtype)  # type: ignore[attr-defined]

    # PyTorch keeps what it compiles by the function's code, and gives up after eight sizes of one.
    own = FunctionType(expression.__code__.replace(), expression.__globals__, closure=expression.__closure__)
    compiled: Filter = torch.compile(own, fullgraph=True, dynamic=False)
    return compiled


def _bordered(image: Any, problem: Laplace) -> Any:
    """The image with a pixel more on each side."""
    if problem.border == "constant":
        # In int32 already: Triton, which PyTorch compiles with, spoils a value outside whose sign bit is set
        # where it loads several elements of 8 or 16 bits at once (versions 3.4 to 3.8).
        return F.pad(image.to(torch.int32), (0, 0, 1, 1, 1, 1), value=int(problem.border_value))
    rows, columns = (_around(size, problem.border, image.device) for size in (problem.height, problem.width))
    return image[rows][:, columns]


def _around(size: int, border: str, device: Any) -> Any:
    """Which places along a side of this size stand before it, in it and behind it."""
    at = torch.arange(-1, size + 1, device=device)
    if border == "wrap":
        return at % size
    if border == "reflect_101":
        at = (size - 1) - (at.abs() - (size - 1)).abs()
    return at.clamp(0, size - 1)

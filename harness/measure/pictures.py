"""Small pictures of what the Laplace filter does, for the report."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from harness.measure.photograph import source_image
from harness.problems import OUTPUTS, Laplace, Problem
from harness.problems.base import Array

SIDE = 256
"""Largest height and width of a picture, in pixels."""


def pictures(problems: Iterable[Problem], photograph: Path | None) -> list[dict[str, str]]:
    """The middle of the photograph, and what the reference makes of it: its Laplacian, and sharpened. Of each
    output by the first problem of it; where there is none, by the first of the other.

    Plain data, as a run file's lines of images; none where no problem is a Laplace filter.
    """
    filters = [problem for problem in problems if isinstance(problem, Laplace)]
    found: dict[str, tuple[Laplace, Array]] = {}
    for output in OUTPUTS if filters else ():
        own = (problem for problem in filters if problem.output == output)
        problem = next(own, replace(filters[0], output=output))
        # One pixel more on each side, so that the border is not in the picture unless it is the image's.
        height, width = (min(side, SIDE + 2) for side in (problem.height, problem.width))
        middle = replace(problem, height=height, width=width)
        source = source_image(middle, photograph)
        found.setdefault("original", (problem, source))
        found[output] = problem, middle.reference(source)
    return [
        {"title": title, "backend": "reference", "caption": problem.label, "png": png(image)}
        for title, (problem, image) in found.items()
    ]


def png(image: Array) -> str:
    """The middle of an image as a base64 PNG of at most :data:`SIDE` x :data:`SIDE` pixels.

    Args:
        image: shape (height, width) or (height, width, 1, 3 or 4). Integers are scaled from their type's
            range to uint8, floats from 0..1. A fourth channel is dropped: it would be taken for transparency.
    """
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(_to_uint8(_middle(image))).save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


def _middle(image: Array) -> Array:
    top, left = (max(0, (side - SIDE) // 2) for side in image.shape[:2])
    middle = image[top : top + SIDE, left : left + SIDE]
    if middle.ndim == 3:
        middle = middle[:, :, 0] if middle.shape[2] == 1 else middle[:, :, :3]
    return middle


def _to_uint8(image: Array) -> Array:
    if image.dtype == np.uint8:
        return np.ascontiguousarray(image)
    if image.dtype.kind == "f":
        low, high = 0.0, 1.0
    else:
        info = np.iinfo(image.dtype)
        low, high = float(info.min), float(info.max)
    scaled = (np.nan_to_num(image.astype(np.float64)) - low) / (high - low)
    return np.ascontiguousarray(np.rint(np.clip(scaled, 0, 1) * 255).astype(np.uint8))

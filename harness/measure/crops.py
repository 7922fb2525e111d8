"""Small pictures of what a filter did, for the report."""

from __future__ import annotations

import base64
import io

import numpy as np

from harness.problems.base import Array

SIDE = 256
"""Largest height and width of a crop, in pixels."""


def png(image: Array) -> str:
    """The middle of an image as a base64 PNG of at most :data:`SIDE` x :data:`SIDE` pixels.

    Args:
        image: shape (height, width) or (height, width, 1, 3 or 4). Integers are scaled from their type's
        range to
            uint8, floats from 0..1. A fourth channel is dropped: it would be taken for transparency.
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

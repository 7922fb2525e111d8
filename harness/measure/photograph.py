"""The photograph that the Laplace filter is shown on: one that ships with scikit-image, or the user's own."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.problems import Laplace
from harness.problems.base import Array

_LUMINANCE = np.array([0.2126, 0.7152, 0.0722], np.float32)
"""Weights of red, green and blue (Rec. 709)."""

_MOST_BYTES = 2
"""Of an integer that spans the range of its type in a photograph; wider ones use a part of theirs."""


class ImageError(ValueError):
    """A file that is not a usable photograph; the message names it and says what is expected."""


def source_image(problem: Laplace, path: Path | None = None) -> Array:
    """A photograph as the problem's source: its size, channels and dtype.

    A photograph of another size is repeated as mirrored copies around its centre, so that it has no seams and
    its middle stays the middle; a smaller problem takes the middle. Integers span the range of their type,
    floats 0 to 1. A fourth channel is the luminance.

    Args:
        problem: what the image is for.
        path: the user's photograph; scikit-image's astronaut (NASA, public domain) when None.

    Raises:
        ImageError: if the file cannot be read as a photograph.
    """
    typed = _quantised(_with_channels(_photograph(path), problem.channels), problem.dtype)
    rows = _mirrored(problem.height, typed.shape[0])
    columns = _mirrored(problem.width, typed.shape[1])
    return np.ascontiguousarray(typed.take(rows, axis=0).take(columns, axis=1)).reshape(problem.shape)


def image_size(path: Path) -> tuple[int, int]:
    """(height, width) of a photograph.

    Raises:
        ImageError: if the file cannot be read as a photograph.
    """
    height, width, _ = _photograph(path).shape
    return height, width


@lru_cache(maxsize=1)
def _photograph(path: Path | None) -> Array:
    """Red, green and blue from 0 to 1, float32, shape (height, width, 3)."""
    if path is None:
        from skimage.data import astronaut

        return _as_rgb(astronaut(), "the default image")
    return _as_rgb(_read(path), str(path))


def _read(path: Path) -> Array:
    from PIL.Image import MAX_IMAGE_PIXELS, DecompressionBombError, DecompressionBombWarning

    if not path.is_file():
        what = "it is a folder, a pipe or a device" if path.exists() else "there is no such file"
        raise ImageError(f"image {path}: {what}; give a photograph's file")
    try:
        with warnings.catch_warnings():
            # Of half the pixels that are refused.
            warnings.simplefilter("ignore", DecompressionBombWarning)
            return _pixels(path)
    except DecompressionBombError as error:
        most = 2 * (MAX_IMAGE_PIXELS or 0)
        raise ImageError(f"image {path}: it has more than {most} pixels; give a smaller one") from error
    except ImageError:
        raise
    except Exception as error:
        # Each of the readers behind imread has error types of its own; whatever it is, this is no photograph.
        why = str(error).partition("\n")[0] or type(error).__name__
        raise ImageError(f"image {path}: cannot be read ({why}); PNG, JPEG and TIFF can") from error


def _pixels(path: Path) -> Array:
    """Grey or red, green and blue, with or without alpha, as the file has them; other colours converted."""
    from PIL import Image, ImageOps
    from skimage.io import imread

    head = _head(path)
    if head and head.kind in _FIRST_ALONE and head.images > 1:
        raise _several(str(path), head.images)
    if _has_other_colours(path, head):
        with Image.open(path) as opened:
            return np.asarray(ImageOps.exif_transpose(opened).convert("RGB"))
    try:
        pixels = np.asarray(imread(path))
    except Exception as error:
        if head:
            raise
        # In place of the names of the readers that were tried.
        raise ValueError("it is no image of a known kind") from error
    return _UPRIGHT[head.orientation if head else 1](pixels)


_UPRIGHT: dict[int, Callable[[Array], Array]] = {
    1: lambda pixels: pixels,
    2: np.fliplr,
    3: lambda pixels: np.rot90(pixels, 2),
    4: np.flipud,
    5: lambda pixels: pixels.swapaxes(0, 1),
    6: lambda pixels: np.rot90(pixels, -1),
    7: lambda pixels: np.rot90(pixels, 2).swapaxes(0, 1),
    8: np.rot90,
}
"""How a photograph is turned upright, by its Exif orientation: cameras keep rows as their sensor has them."""


_FIRST_ALONE = ("PNG", "WEBP", "AVIF")
"""Pillow's names of the kinds of which scikit-image would take the first of several images without a word.
Those of a JPEG are a camera's, of one photograph; those of other kinds come as a stack.
"""


class _Head(NamedTuple):
    """What the beginning of a file tells, by Pillow's names: its kind, its colours, how it is to be turned (a
    key of _UPRIGHT), and how many images it holds.
    """

    kind: str | None
    mode: str
    orientation: int
    images: int


def _head(path: Path) -> _Head | None:
    """None of a file that is no image that Pillow knows."""
    from PIL import ExifTags, Image, UnidentifiedImageError

    try:
        with Image.open(path) as opened:
            told = opened.getexif().get(ExifTags.Base.Orientation, 1)
            images = getattr(opened, "n_frames", 1)
            return _Head(opened.format, opened.mode, told if told in _UPRIGHT else 1, images)
    except UnidentifiedImageError:
        return None


def _has_other_colours(path: Path, head: _Head | None) -> bool:
    """Whether a file's numbers are ink, places in a palette, or grey counted from white, which scikit-image
    hands on as they are.
    """
    from tifffile import PHOTOMETRIC, TiffFile

    # As scikit-image chooses who reads a file.
    if path.name.lower().endswith((".tif", ".tiff")):
        with TiffFile(path) as tiff:
            return tiff.pages.first.photometric not in (PHOTOMETRIC.MINISBLACK, PHOTOMETRIC.RGB)
    return head is not None and head.mode == "CMYK"


def _several(name: str, images: int) -> ImageError:
    return ImageError(f"image {name}: it holds {images} images, as an animation does; save one of them")


def _as_rgb(raw: Array, name: str) -> Array:
    if raw.ndim == 4 and len(raw) > 1:
        raise _several(name, len(raw))
    # A GIF is an animation, though of one image.
    raw = raw[0] if raw.ndim == 4 and len(raw) else raw
    image = raw[:, :, None] if raw.ndim == 2 else raw
    if image.ndim != 3 or image.shape[2] not in (1, 2, 3, 4) or image.size == 0:
        raise ImageError(
            f"image {name}: its shape is {raw.shape}; (height, width) with 1 to 4 channels is expected"
        )
    colours = _unit_range(image, name)
    # Two channels are grey and alpha, four are colours and alpha.
    colours = colours[:, :, :1] if image.shape[2] < 3 else colours[:, :, :3]
    return np.ascontiguousarray(np.broadcast_to(colours, (*colours.shape[:2], 3)))


def _unit_range(image: Array, name: str) -> Array:
    if image.dtype.kind == "b":
        return image.astype(np.float32)
    if image.dtype.kind in "iu" and image.dtype.itemsize > _MOST_BYTES:
        raise ImageError(
            f"image {name}: its values are {image.dtype}; save it with 8 or 16 bits a channel, or as floats "
            "from 0 to 1, as which of so many is white is not known"
        )
    if image.dtype.kind in "iu":
        info = np.iinfo(image.dtype)
        return ((image.astype(np.float64) - info.min) / (info.max - info.min)).astype(np.float32)
    if image.dtype.kind != "f" or not np.isfinite(image).all():
        raise ImageError(f"image {name}: its values are {image.dtype} and not all finite numbers")
    low, high = min(0.0, float(image.min())), max(1.0, float(image.max()))
    return ((image - low) / (high - low)).astype(np.float32)


def _with_channels(rgb: Array, channels: int) -> Array:
    if channels == 3:
        return rgb
    luminance = (rgb @ _LUMINANCE)[:, :, None]
    return luminance if channels == 1 else np.concatenate([rgb, luminance], axis=2)


def _quantised(image: Array, dtype: str) -> Array:
    if np.dtype(dtype).kind == "f":
        return image.astype(dtype)
    info = np.iinfo(dtype)
    scaled = image.astype(np.float64) * (info.max - info.min) + info.min
    return np.clip(np.rint(scaled), info.min, info.max).astype(dtype)


def _mirrored(size: int, of: int) -> Array:
    """``size`` indices into a side of ``of`` pixels, centred on its middle, mirrored at every edge."""
    there_and_back = (np.arange(size) + (of - size) // 2) % (2 * of)
    return np.minimum(there_and_back, 2 * of - 1 - there_and_back)

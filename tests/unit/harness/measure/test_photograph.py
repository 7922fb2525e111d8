"""The photograph as a source: size, type, channels, no seams, and clear errors for what is no photograph."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import ExifTags, Image, ImageOps, features
from skimage.io import imsave
from tifffile import imwrite

from harness.measure import photograph
from harness.measure.photograph import ImageError, image_size, source_image
from harness.problems import IMAGE_DTYPES, Array, Laplace


def _problem(height: int, width: int, dtype: str = "uint8", channels: int = 1) -> Laplace:
    return Laplace("four", "wrap", "laplacian", dtype, height, width, channels)


def _saved(folder: Path, image: Array, name: str = "photo.png") -> Path:
    path = folder / name
    imsave(path, image, check_contrast=False)
    return path


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
def test_shape_dtype_and_range(dtype: str, channels: int) -> None:
    problem = _problem(700, 640, dtype, channels)
    image = source_image(problem)
    assert image.shape == problem.shape
    assert image.dtype == dtype
    assert image.flags.c_contiguous
    low, high = (0.0, 1.0) if dtype == "float32" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    assert image.min() == low
    assert image.max() == high
    assert len(np.unique(image)) > 200


def test_types_show_the_same_picture() -> None:
    exact = source_image(_problem(90, 80, "float32"))
    for dtype in ("uint8", "uint16", "int16"):
        info = np.iinfo(dtype)
        image = source_image(_problem(90, 80, dtype)).astype(np.float64)
        assert (
            np.abs((image - info.min) / (info.max - info.min) - exact).max()
            < 0.6 / (info.max - info.min) + 1e-6
        )


def test_fourth_channel_is_the_luminance() -> None:
    image = source_image(_problem(60, 50, "uint8", 4))
    assert np.array_equal(image[:, :, 3], source_image(_problem(60, 50, "uint8", 1)))
    assert np.array_equal(image[:, :, :3], source_image(_problem(60, 50, "uint8", 3)))


def test_photograph_of_the_problems_size_is_unchanged(tmp_path: Path) -> None:
    original = np.random.default_rng(0).integers(0, 256, (13, 17, 3), dtype=np.uint8)
    path = _saved(tmp_path, original)
    assert image_size(path) == (13, 17)
    assert np.array_equal(source_image(_problem(13, 17, "uint8", 3), path), original)


def test_larger_problem_gets_mirrored_copies_around_the_middle(tmp_path: Path) -> None:
    original = np.random.default_rng(0).integers(0, 256, (6, 8), dtype=np.uint8)
    image = source_image(_problem(16, 30), _saved(tmp_path, original))
    assert np.array_equal(image, np.pad(original, ((5, 5), (11, 11)), mode="symmetric"))


def test_smaller_problem_gets_the_middle(tmp_path: Path) -> None:
    original = np.random.default_rng(0).integers(0, 256, (10, 8), dtype=np.uint8)
    image = source_image(_problem(4, 2), _saved(tmp_path, original))
    assert np.array_equal(image, original[3:7, 3:5])


def test_sixteen_bits_stay_sixteen_bits(tmp_path: Path) -> None:
    original = np.arange(40_000, 40_060, dtype=np.uint16).reshape(6, 10)
    path = _saved(tmp_path, original, "photo.tif")
    assert np.array_equal(source_image(_problem(6, 10, "uint16"), path), original)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_any_number_of_channels_is_read(tmp_path: Path, channels: int) -> None:
    original = np.random.default_rng(0).integers(0, 256, (9, 7, channels), dtype=np.uint8)
    path = _saved(tmp_path, original[:, :, 0] if channels == 1 else original)
    image = source_image(_problem(9, 7, "uint8", 3), path)
    colours = np.repeat(original[:, :, :1], 3, axis=2) if channels < 3 else original[:, :, :3]
    assert np.array_equal(image, colours)


def test_floats_outside_the_unit_range_are_brought_into_it(tmp_path: Path) -> None:
    path = _saved(tmp_path, np.linspace(-3, 5, 30, dtype=np.float32).reshape(5, 6), "photo.tif")
    image = source_image(_problem(5, 6, "float32"), path)
    assert np.allclose(image.ravel(), np.linspace(0, 1, 30), atol=1e-6)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"nowhere\.png: there is no such file"):
        image_size(tmp_path / "nowhere.png")


def test_a_folder_is_told_from_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="it is a folder, a pipe or a device; give a photograph's file"):
        image_size(tmp_path)


def test_file_that_is_no_image_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.png"
    path.write_text("this is no photograph", encoding="utf-8")
    told = r"notes\.png: cannot be read \(it is no image of a known kind\); PNG, JPEG and TIFF can"
    with pytest.raises(ImageError, match=told):
        source_image(_problem(5, 5), path)


@pytest.mark.parametrize(
    ("mode", "name"),
    [
        ("CMYK", "photo.jpg"),
        ("CMYK", "photo.tif"),
        ("CMYK", "photo.TIFF"),
        ("YCbCr", "photo.jpg"),
        ("YCbCr", "photo.tif"),
        ("P", "photo.tif"),
        ("P", "photo.png"),
    ],
)
def test_other_colours_are_converted(tmp_path: Path, mode: str, name: str) -> None:
    red = Image.new("RGB", (9, 8), (204, 51, 0))
    red.convert(mode).save(tmp_path / name)
    try:
        Image.open(tmp_path / name).load()
    except OSError as error:
        pytest.skip(f"this Pillow cannot read {mode} of {name}: {error}")
    image = source_image(_problem(8, 9, "uint8", 3), tmp_path / name)
    assert np.abs(image.astype(int) - [204, 51, 0]).max() < 12


@pytest.mark.parametrize("orientation", [*range(1, 9), 9])
@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_photograph_is_turned_upright(tmp_path: Path, mode: str, orientation: int) -> None:
    rng = np.random.default_rng(2)
    coarse = Image.fromarray(rng.integers(0, 256, (3, 5, 3), np.uint8)).resize((40, 24)).convert(mode)
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    path = tmp_path / "turned.jpg"
    coarse.save(path, exif=exif, quality=100, subsampling=0)
    with Image.open(path) as opened:
        upright = np.asarray(ImageOps.exif_transpose(opened).convert("RGB"))
    assert image_size(path) == upright.shape[:2]
    height, width, _ = upright.shape
    found = source_image(Laplace("four", "wrap", "laplacian", "uint8", height, width, 3), path)
    assert found.astype(int) == pytest.approx(upright.reshape(found.shape).astype(int), abs=2)


def test_where_zero_is_white_it_stays_white(tmp_path: Path) -> None:
    original = np.arange(60, dtype=np.uint8).reshape(6, 10)
    imwrite(tmp_path / "photo.tif", original, photometric="miniswhite")
    assert np.array_equal(source_image(_problem(6, 10), tmp_path / "photo.tif"), 255 - original)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_integers_of_more_than_16_bits_are_refused(tmp_path: Path, dtype: str) -> None:
    path = tmp_path / "photo.tif"
    imwrite(path, np.arange(60, dtype=dtype).reshape(6, 10))
    with pytest.raises(ImageError, match=rf"photo\.tif: its values are {dtype}; .* 8 or 16 bits"):
        image_size(path)


def test_values_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    path = _saved(tmp_path, np.full((5, 5), np.nan, np.float32), "photo.tif")
    with pytest.raises(ImageError, match="not all finite"):
        image_size(path)


def test_stack_of_images_is_refused(tmp_path: Path) -> None:
    path = _saved(tmp_path, np.zeros((5, 6, 7, 3), np.uint8), "photo.tif")
    with pytest.raises(ImageError, match=r"photo\.tif: it holds 5 images"):
        image_size(path)


def test_a_stack_without_an_image_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _saved(tmp_path, np.zeros((6, 7), np.uint8), "photo.tif")
    monkeypatch.setattr(photograph, "_pixels", lambda _: np.zeros((0, 9, 12, 768)))
    with pytest.raises(ImageError, match=r"its shape is \(0, 9, 12, 768\)"):
        image_size(path)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(
    "kind",
    [
        "gif",
        "png",
        "webp",
        pytest.param(
            "avif",
            marks=pytest.mark.skipif(not features.check("avif"), reason="this Pillow knows no AVIF"),
        ),
    ],
)
def test_an_animation_is_refused(tmp_path: Path, kind: str, count: int) -> None:
    path = tmp_path / f"photo.{kind}"
    first, *others = (Image.new("RGB", (7, 6), (99 * each, 0, 0)) for each in range(count))
    first.save(path, save_all=True, append_images=others)
    if count == 1:
        assert image_size(path) == (6, 7)
    else:
        with pytest.raises(ImageError, match=rf"photo\.{kind}: it holds 3 images.*; save one of them"):
            image_size(path)


def test_of_a_cameras_two_images_the_first_is_the_photograph(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    photograph, preview = Image.new("RGB", (7, 6)), Image.new("RGB", (3, 2))
    photograph.save(path, "MPO", save_all=True, append_images=[preview])
    assert image_size(path) == (6, 7)


def test_a_photograph_of_very_many_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _saved(tmp_path, np.zeros((6, 7), np.uint8))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 20)
    with pytest.raises(ImageError, match=r"photo\.png: it has more than 40 pixels; give a smaller one"):
        image_size(path)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert image_size(path) == (6, 7)

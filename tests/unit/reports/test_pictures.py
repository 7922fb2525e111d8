"""The pictures of the Laplace filter: beside the page, and whether those who computed them agree."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import pytest

import reports
from harness.results.record import Record
from harness.results.runfile import Run
from reports.dataset import frame
from reports.pictures import Agreement, agreement, pictures
from tests.support.html import HOSTILE
from tests.support.report_data import laplace, png, record, reduction, run_of


def told(*records: Record) -> Agreement:
    """What a run of these records says of its filters."""
    found = agreement(frame(run_of(*records)))
    assert found
    return found


def off_by(error: float, backend: str = "cuda", dtype: str = "float32") -> Record:
    """A filter whose result is not the reference's, but near enough."""
    return replace(record(backend, laplace(dtype=dtype), 1e-6), error=error, tolerance=1e-5)


def test_who_agrees_bit_for_bit_is_told() -> None:
    found = told(record("opencl", laplace(), 1e-6), record("cuda", laplace(), 1e-6))
    assert found.holds
    assert found.told.startswith("All of opencl:0, cuda:0 agree bit for bit: in each of 2 cases")


@pytest.mark.parametrize(
    "bad",
    [
        record("cuda", laplace(64), status="wrong", reason="12 of 4096 values differ"),
        replace(record("cuda", laplace(64), 1e-6), error=None),
        off_by(1.0, dtype="uint8"),
    ],
    ids=["wrong", "not verified", "off by one"],
)
def test_one_result_that_is_not_the_references_breaks_it(bad: Record) -> None:
    found = told(record("opencl", laplace(), 1e-6), record("cuda", laplace(), 1e-6), bad)
    assert not found.holds
    assert "bit for bit" not in found.told
    assert found.told.startswith("cuda:0: ")


def test_what_was_not_computed_breaks_nothing() -> None:
    refused = record("cuda", laplace(64), status="skipped", reason="the library has no such border")
    assert told(record("opencl", laplace(), 1e-6), refused).holds


def test_of_floats_it_is_rounding_that_is_told() -> None:
    found = told(off_by(2e-6), record("opencl", laplace(dtype="float32"), 1e-6))
    assert not found.holds
    assert found.told == "Of 2 cases of floats 2 are within what rounding may differ, 1 of them equal."


def test_without_a_filter_nothing_is_told() -> None:
    assert agreement(frame(run_of(record("opencl", reduction(), 1e-6)))) is None
    assert agreement(frame(run_of(record("opencl", laplace(), status="failed", reason="no")))) is None


def image(title: str, problem: str, **changes: str) -> dict[str, str]:
    """A line of a run file."""
    return {
        "type": "image",
        "title": title,
        "backend": "reference",
        "caption": problem,
        "png": png(title),
    } | changes


def pictured(*images: dict[str, str]) -> Run:
    """A run of one filter on two devices, of which CUDA has another result in one of two cases."""
    records = (
        record("opencl", laplace(), 1e-6),
        record("cuda", laplace(), 1e-6),
        record("cuda", laplace(), status="wrong", reason="differs", cache="cold"),
    )
    return replace(run_of(*records), images=list(images))


def test_each_picture_says_who_computed_it() -> None:
    run = pictured(image("original", laplace().label), image("sharpened", laplace(output="sharpened").label))
    (group,) = pictures(run, frame(run)).values()
    assert [each.mark for each in group] == ["bit for bit: opencl:0", ""]


def test_the_pictures_lie_beside_the_page(tmp_path: Path) -> None:
    titles = ("original", "laplacian", "sharpened")
    run = pictured(*(image(title, laplace().label) for title in titles))
    at = reports.write_report([replace(run, path=Path("my.jsonl"))], tmp_path)
    files = {path.name: path.read_bytes() for path in tmp_path.glob("*.png")}
    assert files == {f"my-{title}.png": base64.b64decode(png(title)) for title in titles}
    assert "bit for bit: opencl:0" in at.read_text(encoding="utf-8")


def test_no_title_leads_out_of_the_folder(tmp_path: Path) -> None:
    hostile = (image("../../x", ""), image(HOSTILE, "", backend="../.."), image("a", "", png="AAAA"))
    folder = tmp_path / "a" / "b"
    reports.write_report([replace(pictured(*hostile), path=Path("my.jsonl"))], folder)
    assert len(list(folder.glob("my-*.png"))) == 2
    assert list(tmp_path.rglob("*.png")) == list(folder.glob("*.png"))

"""Documents are written anew from recorded runs: the figures change, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.figures import Figure
from tests.support.quoted import rewrite, written

TEXT = """# A title with 1.02

* It takes **1.02** to 3.4 us in
  OpenCL, and 5
* another item, of two
  short lines

| OpenCL | 3.1 |
"""


@pytest.mark.parametrize(
    ("sentence", "values", "old", "new"),
    [
        ("**{:.2f}** to {:.1f} us in OpenCL", [2.5, 77.123], "**1.02** to 3.4 us", "**2.50** to 77.1 us"),
        ("and {}", [12], "and 5", "and 12"),
        ("| OpenCL | {:.1f} |", [9], "| 3.1 |", "| 9.0 |"),
        ("in OpenCL, and {}", [5], "", ""),
    ],
)
def test_figures_are_written_where_the_sentence_stands(
    sentence: str, values: list[float], old: str, new: str
) -> None:
    assert written(TEXT, sentence, values) == TEXT.replace(old, new)


@pytest.mark.parametrize("sentence", ["takes {} seconds", "short {} OpenCL"])
def test_a_sentence_that_is_not_there_is_not_found(sentence: str) -> None:
    assert written(TEXT, sentence, [1]) is None


def test_only_paragraphs_that_change_are_wrapped_and_what_is_left_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT, encoding="utf-8")

    def none() -> list[float]:
        raise AssertionError("two of three")

    quoted: list[Figure] = [
        ("a.md", "**{:.2f}** to {:.1f} us in OpenCL", lambda: [1.02, 3.5]),
        ("a.md", "two {} lines", none),
        ("a.md", "three {} lines", lambda: [1]),
    ]
    changed, by_hand = rewrite(tmp_path, quoted)
    wrapped = TEXT.replace("3.4 us in\n  OpenCL", "3.5 us in OpenCL")
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == wrapped
    assert changed == ["a.md"]
    assert by_hand == [
        "a.md: no figures (AssertionError two of three): two {} lines",
        "a.md: no such sentence: three {} lines",
    ]
    assert rewrite(tmp_path, quoted[:1]) == ([], [])

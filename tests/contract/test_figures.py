"""The figures in the documents' sentences are those of the recorded runs, and there are no others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.support.quoted import FIGURES
from tests.support.recorded import ROOT, normalised


@pytest.mark.parametrize(("document", "sentence", "figures"), FIGURES)
def test_a_figure_in_a_sentence_is_the_recorded_one(
    document: str, sentence: str, figures: Callable[[], Sequence[Any]]
) -> None:
    assert sentence.format(*figures()) in normalised(document)


MEASURED = re.compile(
    r"(?<![\w.])\d+(?:\.\d+)?(?= (?:%|us\b|TB/s|times as|of the (?:read |copy )?limit))|\d+\.\d+(?!\.?\w)"
)
"""What reads as a measured figure: a number with a unit, or one with decimals."""
OF_NO_RUN = re.compile(
    r"Python 3\.11 to 3\.13|--band 0\.05"
    r"|(?:CUDA|Python|PoCL|LLVM|OpenCL C|OpenCV|driver|NPP|NVRTC|Triton) [\d.]+"
    r"|(?:of|the|its|where) 95 %|2 % (?:of|around) 1|within 2 %|a band of 3 %"
    r"|(?:than|above) (?:1|0\.5|5|10|95) %"
)
"""Versions, and what is set, not measured: the band, the confidence, when sampling ends."""
PROSE = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", *ROOT.glob("kernels_*/README.md")]


def prose(document: str) -> str:
    """The sentences of a document without code, headings and tables, which have tests of their own."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.M | re.S)
    text = re.sub(r"^(?:#|\|).*$", "", text, flags=re.M)
    return " ".join(re.sub(r"\]\([^)]*\)", "]", text).split())


@pytest.mark.parametrize("document", sorted(str(path.relative_to(ROOT)) for path in PROSE))
def test_a_sentence_with_a_figure_is_checked(document: str) -> None:
    text = prose(document)
    for of, sentence, _ in FIGURES:
        if of == document:
            plain = re.sub(r"\\\]\\\([^)]*\\\)", r"\\]", re.escape(sentence))
            text = re.sub(re.sub(r"\\\{[^}]*\\\}", r".{1,15}?", plain), " ", text)
    left = OF_NO_RUN.sub(" ", text)
    assert not [left[max(0, found.start() - 60) : found.end() + 20] for found in MEASURED.finditer(left)]

"""The studies' figures as they are listed: what each names is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import reading
from harness.results.ratio import BAND
from harness.suites.files import load_suite, suite_names
from harness.variants.axes import label
from reports.studies import STUDIES, chapters_of


def test_an_unknown_study_is_refused_with_the_list() -> None:
    with pytest.raises(ValueError, match="study 'yan' is unknown; allowed are yan2011, pcl, jia2012"):
        chapters_of(["yan"], [], [], BAND)
    assert tuple(STUDIES) == reading._STUDIES


def test_every_suite_that_a_figure_names_exists() -> None:
    named = {each.suite for study in STUDIES.values() for each in study.figures}
    assert named <= {"", *suite_names()}


def test_a_figures_suite_measures_every_form_that_it_draws() -> None:
    for study in STUDIES.values():
        for each in study.figures:
            wanted = {series.variant for series in each.series} - {""}
            suite = load_suite(each.suite or "smoke")
            choices = [choice for block in suite.reduction for choice in block.variants]
            choices += [choice for block in suite.laplace for choice in block.variants]
            named = [choice for choice in choices if isinstance(choice, tuple)]
            assert wanted <= {label(variant) for choice in named for variant in choice}, each.number


def test_the_documents_list_is_that_of_the_studies() -> None:
    text = (Path(__file__).parents[3] / "docs" / "studies.md").read_text(encoding="utf-8")
    for study in STUDIES.values():
        for each in study.figures:
            what = each.why_not or f"`harness run {each.suite}`"
            assert f"| {study.name} | {each.number} | {each.title} | {what} |" in text
    assert text.count("\n| ") == 1 + sum(len(study.figures) for study in STUDIES.values())

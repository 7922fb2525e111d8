"""The complete report is made by one command from the recorded runs: each run, each figure of each study."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reports.studies import STUDIES
from reports.tables import without_beaten
from tests.support.complete import command, names
from tests.support.html import Page, tables
from tests.support.recorded import ROOT, run_of, table

SUITES = {"yan2011", "pcl", "jia2012", "modern", "libraries", "quick"}
HERE = re.compile(r'<tr><td><a href="#(study-[^"]+)">.*?</td><td>.*?</td><td>(.*?)</td></tr>')


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The page, and the folder that it is in."""
    folder = tmp_path_factory.mktemp("complete")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("sys.argv", ["harness", *command(folder)])
        from harness.cli import app

        with pytest.raises(SystemExit) as end:
            app.main()
        assert not end.value.code
    (page,) = (path for path in folder.glob("*.html") if path.name != "index.html")
    return page.read_text(encoding="utf-8"), folder


def test_it_is_of_the_studies_and_of_both_kinds_of_device() -> None:
    suites = {Path(str(run_of(name).environment["suite"])).stem for name in names()}
    assert suites >= SUITES
    assert {name.partition("-")[0] for name in names()} == {"h200", "cpu"}


def test_each_run_and_each_figure_is_on_the_page(made: tuple[str, Path]) -> None:
    text, _ = made
    ids = set(Page(text).values("id"))
    assert {f"r{number}" for number in range(len(names()))} <= ids
    assert {f"study-{s.name}-{figure.name}" for s in STUDIES.values() for figure in s.figures} <= ids
    drawn = tables(text)
    for number, name in enumerate(names()):
        rows = table(name)
        beaten = len(rows) - len(without_beaten(rows))
        assert len(drawn[f"r{number}-all"]) == len(run_of(name).records) - beaten
        assert not beaten or f"{beaten} candidates for a limit that took longer" in text


def test_the_list_of_figures_says_where_each_is(made: tuple[str, Path]) -> None:
    """docs/studies.md, by figure: its anchor, or why it is not redone."""
    text, _ = made
    rows = [line.split(" | ") for line in (ROOT / "docs" / "studies.md").read_text().splitlines()]
    told = {(row[0].removeprefix("| "), row[1]): row[-1].removesuffix(" |") for row in rows if len(row) > 1}
    found = dict(HERE.findall(text))
    for study in STUDIES.values():
        for figure in study.figures:
            name = f"study-{study.name}-{figure.name}"
            here = re.sub(r"<[^>]*>", "", found[name])
            place = here.partition(".")[0] if here.startswith("not ") else f"`#{name}`"
            assert told[study.name, figure.number] == place

"""The recorded runs: each can be read, and the table beside them says where it comes from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.results.runfile import load_run
from harness.suites.schema import load_suite

FOLDER = Path(__file__).parents[2] / "reports" / "examples"
ROW = re.compile(r"^\| \[\S+\]\((?P<file>\S+)\) \| (?P<commit>[0-9a-f]{7}) \|", re.MULTILINE)
COMMITS = {row["file"]: row["commit"] for row in ROW.finditer((FOLDER / "README.md").read_text())}


def test_the_table_names_every_run_and_no_other() -> None:
    assert set(COMMITS) == {path.name for path in FOLDER.glob("*.jsonl.*")}


@pytest.mark.parametrize("name", COMMITS)
def test_a_recorded_run_is_what_the_table_says(name: str) -> None:
    run = load_run(FOLDER / name)
    assert run.environment["commit"].startswith(COMMITS[name])
    assert run.records
    assert not [record.case for record in run.records if record.status in ("failed", "wrong")]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.name)
def test_what_was_run_can_be_run_again(path: Path) -> None:
    assert load_suite(str(path)).title

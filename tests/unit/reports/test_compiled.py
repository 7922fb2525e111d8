"""What kernels take of GPUs on which they did not run, on the page."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from harness.results.file_content import MAX_BYTES
from reports.compiled import load, shown
from reports.page import page
from tests.support.html import Page, tables
from tests.support.report_data import cpu_run

KERNEL = {"problem": "min int8 9", "variant": "default", "kernel": "reduce"}
TAKEN = {
    **KERNEL, "registers": 1024, "scalar_registers": None, "spills": 3, "scalar_spills": 0, "stack_bytes": 16,
    "local_bytes": 2048, "waves": 8,
}  # fmt: skip


def file_of(folder: Path, *kernels: dict[str, Any], **changes: Any) -> Path:
    """What a compiler said, as the command prints it."""
    target = {"target": "gfx1", "wave": 32, "compiler": "Clang 1", "kernels": kernels}
    path = folder / "compiled.json"
    path.write_text(json.dumps({"targets": [target | changes]}))
    return path


def test_a_target_is_a_table_of_its_own(tmp_path: Path) -> None:
    (found,) = shown(load(file_of(tmp_path, TAKEN, {**KERNEL, "error": "no such type"})))
    assert found.title == "gfx1, waves of 32, by Clang 1; 1 with spills"
    rows = [[cell.text for cell in line.cells] for line in found.table.lines]
    assert rows[0] == ["min int8 9", "default", "reduce", "1,024", "-", "3", "0", "16", "2,048", "8"]
    assert rows[1] == ["min int8 9", "default", "reduce: no such type", *["-"] * 7]
    assert all(len(row) == len(found.table.headings) for row in rows)


def test_the_page_has_it_apart_from_what_ran(tmp_path: Path) -> None:
    told = load(file_of(tmp_path, TAKEN))
    text = page([cpu_run()], [""], compiled=[*told, *told])
    assert {"compiled", "compiled-1", "compiled-2"} <= set(Page(text).values("id"))
    assert "#compiled" in Page(text).values("href")
    assert tables(text)["compiled-1"][0][2] == "reduce"
    assert "compiled" not in Page(page([cpu_run()], [""])).values("id")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("# a document", "Invalid JSON"),
        ("{}", "targets: Field required"),
        ('{"targets": [{"target": "a", "wave": "b"}]}', "targets.0.wave: Input should be a valid integer"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"other\.json: .*give a file that `harness compile") as caught:
        load(path)
    assert fault in str(caught.value)


def test_what_has_no_end_or_never_begins_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "run.jsonl").touch()
    other = "is a folder, a pipe or a device, not a file"
    for path, why in (
        (pipe, other),
        (Path("/dev/zero"), other),
        (tmp_path, other),
        (tmp_path / "gone", "cannot be read: No such file or directory"),
    ):
        told = re.escape(f"{path} {why}; give a file that `harness compile --json` printed")
        with pytest.raises(ValueError, match=told):
            load(path)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MAX_BYTES, "10")
    with pytest.raises(ValueError, match="holds more than 10 bytes; give a file that `harness compile"):
        load(file_of(tmp_path, TAKEN))

"""The files of a report: a page a run, named by it, and the list of all pages in a folder."""

from __future__ import annotations

import hashlib
import html
import json
import math
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.results.run_lines import strict_json
from harness.results.runfile import Run, first_line
from reports import format as write

INDEX = "index.html"
_ABOUT = re.compile(r'<meta name="harness-page" content="([^"]*)">')
_MOST_OF_HEAD = 2**16
"""Characters at the beginning of a page in which it says what it is of."""
_ENDINGS = (".xz", ".gz", ".jsonl", ".json")
_LONGEST = 80
_MOST_NAMES = 3
"""Of more runs a page is named by the first, and how many others there are."""


def title_of(runs: Sequence[Run]) -> str:
    """What a page of these runs is called."""
    return "OpenCL against CUDA: " + ", ".join(names_of(runs))


def names_of(runs: Sequence[Run]) -> list[str]:
    """What a page's runs are called: those of one fleet by their folder."""
    folders = {run.path.parent.name if run.path and run.environment.get("fleet") else "" for run in runs}
    if len(folders) > 1 or "" in folders:
        return list(map(stem_of, runs))
    return [*folders] if len(runs) > 1 else [f"{folder}-{stem_of(runs[0])}" for folder in folders]


def stem_of(run: Run) -> str:
    """The name of a run: its file's without the endings, or its suite's and when it began."""
    if run.path:
        name = run.path.name
        for ending in _ENDINGS:
            name = name.removesuffix(ending)
        return name or "run"
    suite = Path(str(run.environment.get("suite") or "run")).stem
    return f"{suite} {str(run.environment.get('started') or '')[:10]}".strip()


def identity(runs: Sequence[Run]) -> str:
    """What tells one run's page from another's: a digest of what the run files begin with."""
    begun = [
        {key: value for key, value in run.environment.items() if key not in ("type", "torn")} for run in runs
    ]
    return hashlib.sha256(strict_json(begun).encode("utf-8", "replace")).hexdigest()[:16]


def page_path(runs: Sequence[Run], folder: Path) -> Path:
    """Where the page of these runs goes: its own file, never that of other runs of the same name."""
    names = names_of(runs)
    if len(names) > _MOST_NAMES:
        names = [names[0], f"{len(names) - 1}-more"]
    stem = re.sub(r"[^\w.+-]+", "-", "+".join(names)).strip("-.")[:_LONGEST] or "run"
    if stem == Path(INDEX).stem:
        stem = "run-index"
    mine, number = identity(runs), 1
    while True:
        path = folder / f"{stem}{f'-{number}' * (number > 1)}.html"
        if not path.exists() or (about(path) or {}).get("id") == mine:
            return path
        number += 1


class RunInTheWay(ValueError):
    """A file of a report would take the place of a run file; the message names it, and what to do."""


def require_no_run(path: Path) -> None:
    """Refuses to write a file of a report where a run is: nothing measured is lost.

    Raises:
        RunInTheWay: if the file is a run file.
    """
    if path.exists() and first_line(path) is not None:
        raise RunInTheWay(
            f"{path} is a run file, but a file of the report has this name; name another folder"
        )


def about(path: Path) -> dict[str, Any] | None:
    """What a page says that it is of; None of any other file."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            found = _ABOUT.search(file.read(_MOST_OF_HEAD))
        told = json.loads(html.unescape(found[1])) if found else None
    except (OSError, ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def replace(target: Path, text: str) -> None:
    """Writes a file in one step: who reads it meanwhile sees the old one or the new one, never a half."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".page-", suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        # mkstemp makes files that only their owner reads; a report is for others too.
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def listed(folder: Path) -> list[dict[str, Any]]:
    """The pages of a folder with what each says of itself, the newest run first."""
    found = []
    for path in sorted(folder.glob("*.html")):
        told = about(path)
        if told and path.name != INDEX:
            texts = {key: write.plain(told.get(key) or "") for key in _TEXTS}
            ratio = told.get("ratio")
            is_number = isinstance(ratio, int | float) and math.isfinite(ratio) and ratio > 0
            found.append({**texts, "file": path.name, "ratio": ratio if is_number else math.nan})
    return sorted(found, key=lambda each: (each["started"], each["file"]), reverse=True)


_TEXTS = ("title", "suite", "started", "device", "driver", "commit", "headline")


def histories(pages: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The pages with a ratio of OpenCL over CUDA by device and suite: where several are, oldest first."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for page in reversed(pages):
        if math.isfinite(page["ratio"]):
            groups.setdefault(f"{page['device']}, suite {page['suite']}", []).append(page)
    return {name: group for name, group in groups.items() if len(group) > 1}

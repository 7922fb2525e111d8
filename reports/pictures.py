"""The pictures of the Laplace filter, and what the verification says of those who computed it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from harness.files import replacing
from harness.results.runfile import Run
from reports import format as write
from reports.pages import require_no_run

_PNG = b"\x89PNG\r\n\x1a\n"
_LONGEST = 160
"""Letters of a file's name, without its ending."""
_EXACT = "exact"
"""What the column ``verification`` says of a result whose every value is the reference's."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: ``png`` in base64, empty where the run file holds none that can be read. ``mark``: who
    computed what is seen, bit for bit; empty where nobody did.
    """

    title: str
    caption: str
    png: str
    mark: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """What all filters of a run say together: whether every integer result is the reference's, bit for bit,
    and in words.
    """

    holds: bool
    told: str


def pictures(run: Run, table: pd.DataFrame) -> dict[str, list[Picture]]:
    """A run's pictures under what they are of, and whose; ``table``: the run's rows."""
    request = run.environment.get("request")
    photograph = request.get("image") if isinstance(request, Mapping) else None
    of = write.plain(Path(str(photograph)).name) if photograph else "a photograph"
    groups: dict[str, list[Picture]] = {}
    for image in run.images:
        title, caption = (write.plain(image.get(key) or "") for key in ("title", "caption"))
        shown = Picture(title, caption, _png(image), _mark(caption, table))
        maker = _maker(image)
        heading = f"The middle of {of}, by {'the reference' if maker == 'reference' else maker}"
        groups.setdefault(heading, []).append(shown)
    return groups


def _maker(image: Mapping[str, Any]) -> str:
    backend, device = (write.plain(image.get(key) or "") for key in ("backend", "device"))
    return (device if device.startswith(f"{backend}:") else f"{backend} {device}").strip()


def _png(image: Mapping[str, Any]) -> str:
    text = str(image.get("png") or "")
    try:
        return text if base64.b64decode(text, validate=True).startswith(_PNG) else ""
    except (binascii.Error, ValueError):
        return ""


def _mark(problem: str, table: pd.DataFrame) -> str:
    rows = _judged(table[table["problem"] == problem])
    bad = set(rows[(rows["verification"] != _EXACT) | _is_float(rows)]["device"])
    devices = [device for device in rows["device"].drop_duplicates() if device not in bad]
    return f"bit for bit: {', '.join(devices)}" if devices else ""


def agreement(table: pd.DataFrame) -> Agreement | None:
    """Whether every backend's filters give the reference's result; None where none was measured.

    By the verification of each case, before timing and after.
    """
    rows = _judged(table[table["kind"] == "laplace"])
    if rows.empty:
        return None
    integer, floating = rows[~_is_float(rows)], rows[_is_float(rows)]
    differs = integer[integer["verification"] != _EXACT]
    parts = []
    if len(integer) and differs.empty:
        parts.append(
            f"All of {_listed(integer)} agree bit for bit: in each of {len(integer)} cases of integers every "
            "pixel is the reference's, before timing and after."
        )
    for (device, found), group in differs.groupby(["device", "verification"], sort=False):
        parts.append(f"{device}: {found} in {_cases(len(group))} of {len(integer)} of integers.")
    if len(floating):
        good = floating[floating["status"] == "ok"]
        parts.append(
            f"Of {_cases(len(floating))} of floats {len(good)} are within what rounding may differ, "
            f"{int((good['verification'] == _EXACT).sum())} of them equal."
        )
    return Agreement(bool(len(integer)) and differs.empty, " ".join(parts))


def write_pictures(page: Path, runs: Sequence[Run]) -> list[Path]:
    """Writes the pictures of a page's runs as PNG files beside it, named by it; returns their paths."""
    there = [
        (f"r{number}", _maker(image), write.plain(image.get("title") or ""), png)
        for number, run in enumerate(runs)
        for image in run.images
        if (png := _png(image))
    ]
    runs_with, makers = ({each[part] for each in there} for part in (0, 1))
    written = []
    for run, maker, title, png in there:
        parts = (page.stem, run * (len(runs_with) > 1), maker * (len(makers) > 1), title)
        name = "-".join(filter(None, (re.sub(r"[^\w.+]+", "-", part).strip("-.") for part in parts)))
        path = page.with_name(f"{name[:_LONGEST]}.png")
        require_no_run(path)
        with replacing(path) as file:
            file.write_bytes(base64.b64decode(png))
        written.append(path)
    return written


def _listed(rows: pd.DataFrame) -> str:
    return ", ".join(rows["device"].drop_duplicates())


def _cases(count: int) -> str:
    return f"{count} case" if count == 1 else f"{count} cases"


def _judged(table: pd.DataFrame) -> pd.DataFrame:
    """The compared cases whose result was held against the reference's."""
    return table[(table["purpose"] == "compare") & table["status"].isin(["ok", "wrong"])]


def _is_float(rows: pd.DataFrame) -> pd.Series[bool]:
    return rows["type"].str.startswith("float").astype(bool)

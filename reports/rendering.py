"""The page's templates, and how they write tables."""

from __future__ import annotations

import base64
import gzip
import json
import re
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from reports import format as write
from reports.tables import Table

_MARKED = ("†", "‡", "!", "≈")
"""Texts that end so have a note, which is told where there is no script, too."""


@cache
def templates() -> Environment:
    """The environment that finds the templates and writes what they name."""
    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(template_text),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "plain": write.plain,
        "size": write.size,
        "ratio": write.ratio,
        "address": write.address,
        "commands": _commands,
        "data": _data,
        "rows": _rows,
    }
    return environment


def template_text(name: str) -> str:
    """The text of a file of ``reports/templates``."""
    return (resources.files("reports") / "templates" / name).read_text(encoding="utf-8")


def _commands(sentence: str) -> Markup:
    """A sentence for the terminal, where a command stands between back quotes."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(sentence))))


def _data(table: Table) -> Markup:
    """What the page's script needs of a table beside its lines of text (:func:`_rows`), as JSON in gzip and
    base64, a fifth of its length: how a cell looks, by what it sorts and its note, each of these once.
    """
    looks: dict[tuple[Any, ...], int] = {(): 0}
    titles: dict[str, int] = {"": 0}
    rows = []
    for line in table.lines:
        found = []
        for cell in line.cells:
            parts = [titles.setdefault(cell.title, len(titles)), cell.sort, cell.style, cell.chip]
            while parts and not parts[-1]:
                parts.pop()
            found.append(looks.setdefault(tuple(parts), len(looks)))
        rows.append([found, list(line.filters.values()), line.key, line.style])
    data = {
        "head": table.headings,
        "numeric": sorted(table.numeric),
        "filters": list(table.filters.items()),
        "titles": list(titles),
        "looks": list(looks),
        "rows": rows,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # Without the time of packing: one run has one page. Letters of base64 end no element.
    packed = gzip.compress(text.encode("utf-8", "replace"), mtime=0)
    return Markup(base64.b64encode(packed).decode())


def _rows(table: Table) -> str:
    """A table as lines of text, for who reads without scripts and for the page's own: columns between tabs,
    notes at the end.
    """
    lines = ["\t".join(text for text, _ in table.headings)]
    for line in table.lines:
        notes = [cell.title for cell in line.cells if cell.title and cell.text.endswith(_MARKED)]
        lines.append(
            "\t".join(" ".join(text.split()) for text in [*(cell.text for cell in line.cells), *notes])
        )
    return "\n".join(lines)

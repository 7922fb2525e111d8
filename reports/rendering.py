"""The page's templates, and how they write tables."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from reports import format as write
from reports.tables import Table

_TITLE = 2
"""The place of a cell's note among its parts."""
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
        "data": _data,
        "rows": _rows,
    }
    return environment


def template_text(name: str) -> str:
    """The text of a file of ``reports/templates``."""
    return (resources.files("reports") / "templates" / name).read_text(encoding="utf-8")


def _data(table: Table) -> Markup:
    """A table as JSON that the page's script draws: each note once, each cell once, a row a list of cells."""
    cells: dict[tuple[Any, ...], int] = {}
    rows = []
    for line in table.lines:
        found = []
        for cell in line.cells:
            parts: list[str] = [cell.text, cell.sort, cell.title, cell.style, cell.chip]
            while len(parts) > 1 and not parts[-1]:
                parts.pop()
            found.append(cells.setdefault(tuple(parts), len(cells)))
        rows.append([found, list(line.filters.values()), line.key, line.style])
    titles: dict[str, int] = {"": 0}
    listed = [
        [titles.setdefault(part, len(titles)) if at == _TITLE else part for at, part in enumerate(cell)]
        for cell in cells
    ]
    data = {
        "head": table.headings,
        "numeric": sorted(table.numeric),
        "filters": list(table.filters.items()),
        "titles": list(titles),
        "cells": listed,
        "rows": rows,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # Nothing in it can end the element that holds it.
    return Markup(text.replace("<", "\\u003c"))


def _rows(table: Table) -> str:
    """A table as lines of text, for who reads without scripts: columns between tabs, notes at the end."""
    lines = ["\t".join(text for text, _ in table.headings)]
    for line in table.lines:
        notes = [cell.title for cell in line.cells if cell.title and cell.text.endswith(_MARKED)]
        lines.append(
            "\t".join(" ".join(text.split()) for text in [*(cell.text for cell in line.cells), *notes])
        )
    return "\n".join(lines)

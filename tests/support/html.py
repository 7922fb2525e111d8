"""A page as a browser would read it, and a text that must not act in one."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from html.parser import HTMLParser
from typing import Any

HOSTILE = "<script>alert(1)</script>\"'--></svg>$\\frac{ {{ 7*7 }} \x1b[31m\ud800"


class Page(HTMLParser):
    """What a browser would find in a page: elements with attributes, ids, links, text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps the element."""
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Keeps the text."""
        self.text.append(data)

    def count(self, tag: str) -> int:
        """How many elements of a kind there are."""
        return sum(name == tag for name, _ in self.elements)

    def values(self, attribute: str) -> list[str]:
        """All values of an attribute."""
        return [attributes[attribute] or "" for _, attributes in self.elements if attribute in attributes]


def tables(text: str) -> dict[str, list[list[str]]]:
    """The tables that a page's script would draw, by id: the rows with the text of their cells."""
    drawn = {}
    for name, (data, plain) in _blocks(text).items():
        lines = [html.unescape(line).split("\t") for line in plain.split("\n")[1:]]
        drawn[name] = [line[: len(looks)] for line, (looks, *_) in zip(lines, data["rows"], strict=True)]
    return drawn


def keys(text: str) -> dict[str, set[str]]:
    """The names that the rows of a page's tables have in addresses, by the table's id."""
    return {name: {row[2] for row in data["rows"]} for name, (data, _) in _blocks(text).items()}


def _blocks(text: str) -> dict[str, tuple[dict[str, Any], str]]:
    """Of each table on a page, by id, what its script is told and its lines as text."""
    found = re.findall(
        r'<details class="data" id="([^"]+)".*?<script type="application/gzip">(.*?)</script>'
        r"\s*<noscript><pre>(.*?)</pre></noscript>",
        text,
        re.DOTALL,
    )
    return {name: (json.loads(gzip.decompress(base64.b64decode(data))), plain) for name, data, plain in found}

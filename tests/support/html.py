"""A page as a browser would read it, and a text that must not act in one."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

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
    found = re.findall(
        r'<details class="data" id="([^"]+)".*?<script type="application/json">(.*?)</script>',
        text,
        re.DOTALL,
    )
    drawn = {}
    for name, data in found:
        table = json.loads(data)
        drawn[name] = [[table["cells"][cell][0] for cell in row[0]] for row in table["rows"]]
    return drawn

"""Every figure that the documents quote, and the documents written anew from the runs: ``tox -e figures``.

A sentence that stands in no document, or whose figures cannot be had any more, is told: what it says has to
be written by hand.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from string import Formatter
from typing import Any

from tests.support import figures
from tests.support.figures import Figure
from tests.support.recorded import ROOT

WIDTH = 120
"""Of the documents' lines."""
_NUMBER = r"((?<![\d.])-?\d+(?:\.\d+)?(?!\.?\d))"
_WORDS = r"((?:(?!\n\s*\n|\.\s)[^|*]){1,999}?)"
"""What stands in a gap: a number, or words of one sentence."""
_BARE = "|", "#", "<", "!["
"""How lines begin that are not wrapped: tables, headings, pictures."""
_ITEM = re.compile(r"(\s*(?:[*-]|\d+\.) )?(\s*)")


def _every() -> Iterator[Figure]:
    for module in iter_modules(figures.__path__):
        topic = import_module(f"{figures.__name__}.{module.name}")
        yield from topic.SENTENCES
        yield from topic.ROWS


FIGURES: list[Figure] = list(_every())
"""Of all modules of :mod:`tests.support.figures`."""


def written(text: str, sentence: str, values: Sequence[Any]) -> str | None:
    """``text`` with these values in the gaps of ``sentence``, its lines as they were; None where no such
    sentence stands in it.
    """
    if sentence.format(*values) in " ".join(text.split()):
        return text
    pattern, found = "", []
    remaining = iter(values)
    for literal, field, spec, _ in Formatter().parse(sentence):
        pattern += re.sub(r"(?:\\\s)+", r"\\s+", re.escape(literal))
        if field is not None:
            value = values[int(field)] if field else next(remaining)
            pattern += _WORDS if isinstance(value, str) else _NUMBER
            found.append(format(value, spec or ""))
    # A row of a table may quote another in its middle.
    at_start = re.search(f"^{pattern}", text, re.MULTILINE)
    match = at_start or re.search(pattern, text)
    if match is None:
        return None
    for place, value in reversed(list(enumerate(found, 1))):
        if " ".join(match[place].split()) != value:
            text = text[: match.start(place)] + value + text[match.end(place) :]
    return text


def _paragraphs(text: str) -> list[str]:
    """The text in pieces: an item of a list and a run of other lines is one, a line that is not to be wrapped
    another.
    """
    pieces: list[str] = []
    fenced = joins = numbered = False
    for line in text.splitlines():
        fence = line.startswith("```")
        bare = fenced or fence or not line.strip() or line.startswith(_BARE)
        # "2. Next", the end of a sentence, may begin a line, too: only what begins so is a list.
        number = bool(re.match(r"\s*\d+\. ", line))
        numbered = number if not joins else numbered
        begins = bare or not joins or (number and numbered) or bool(re.match(r"\s*[*-] ", line))
        if begins:
            pieces.append(line)
        else:
            pieces[-1] += f"\n{line}"
        joins, fenced = not bare, fenced ^ fence
    return pieces


def _wrapped(piece: str) -> str:
    item = _ITEM.match(piece)
    assert item is not None
    first = item[0]
    return textwrap.fill(
        " ".join(piece[len(first) :].split()),
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )


def wrapped_where_changed(old: str, new: str) -> str:
    """``new`` with the paragraphs wrapped that ``old`` does not have; both have the same empty lines."""
    blocks = []
    for before, block in zip(old.split("\n\n"), new.split("\n\n"), strict=True):
        kept = _paragraphs(before)
        blocks.append(
            "\n".join(
                piece if piece in kept or piece.startswith(_BARE) else _wrapped(piece)
                for piece in _paragraphs(block)
            )
        )
    return "\n\n".join(blocks).rstrip("\n") + "\n"


def rewrite(root: Path, quoted: Sequence[Figure]) -> tuple[list[str], list[str]]:
    """Writes the documents below ``root`` anew: returns which changed, and what has to be written by hand."""
    names = dict.fromkeys(document for document, *_ in quoted)
    before = {name: (root / name).read_text(encoding="utf-8") for name in names}
    texts, by_hand = dict(before), []
    for document, sentence, values in quoted:
        try:
            found = written(texts[document], sentence, list(values()))
        except (AssertionError, ArithmeticError, LookupError, ValueError) as error:
            by_hand.append(f"{document}: no figures ({type(error).__name__} {error}): {sentence}")
            continue
        if found is None:
            by_hand.append(f"{document}: no such sentence: {sentence}")
        else:
            texts[document] = found
    changed = []
    for document, text in texts.items():
        if text != before[document]:
            new = wrapped_where_changed(before[document], text)
            (root / document).write_text(new, encoding="utf-8")
            changed.append(document)
    return changed, by_hand


def main() -> int:
    """Writes the project's own documents; returns the exit code, 1 where something is left to be written."""
    changed, by_hand = rewrite(ROOT, FIGURES)
    for document in changed:
        print(f"{document}: written anew")
    for line in by_hand:
        print(f"by hand: {line}", file=sys.stderr)
    return int(bool(by_hand))


if __name__ == "__main__":
    sys.exit(main())

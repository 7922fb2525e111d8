"""What the command line shows: tables on stdout, progress on stderr; plain ASCII where it is no terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from copy import copy
from typing import IO, Any, NamedTuple

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table

from reports.format import plain

_PLAIN_WIDTH = 1000
"""Columns of what is no terminal: nothing is wrapped or cut there, so that other programs can read it."""

_BORDERS = 3
"""Columns of the terminal that a table's column takes beside its cells: padding and a line."""
_WHOLE = "problem"
"""The heading of the column that is folded last."""
_LAST = ("variant", "interval", "note")
"""Headings of listings, in the order in which a narrow terminal does without."""

_ASCII = str.maketrans({"–": "-", "—": "-", "†": "*", "×": "x", "µ": "u", "μ": "u", "…": "..."})
"""What tables write beside ASCII, for where it may not be shown."""


def console(stream: IO[str] | None = None) -> Console:
    """A console on stdout, or on ``stream``. Colours only on a terminal and without NO_COLOR."""
    file = stream or sys.stdout
    return Console(file=file, width=None if file.isatty() else _PLAIN_WIDTH, highlight=False, soft_wrap=False)


def say(text: str) -> None:
    """A line on stdout, as it is: brackets are no markup."""
    console().print(text, markup=False)


def complain(text: str) -> None:
    """A message on stderr, without the control characters of what it tells of."""
    console(sys.stderr).print(plain(text), markup=False)


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table on stdout; a column of numbers is aligned to the right."""
    listed = [[str(cell) for cell in row] for row in rows]
    table = Table(title=title, title_justify="left")
    for index, name in enumerate(columns):
        numeric = bool(listed) and all(_is_number(row[index]) for row in listed)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in listed:
        table.add_row(*map(_escaped, row))
    print_table(table, last=_LAST)


def print_table(table: Table, spare: Sequence[str] = (), last: Sequence[str] = ()) -> None:
    """Any table on stdout, drawn in ASCII where that is no terminal.

    On a terminal that is too narrow for all of it, columns are left out until words need not be broken, and
    named below. Where a column has no room for a letter, that is said on stderr in place of the table.

    Args:
        table: whose columns ``spare`` and ``last`` name by their headings.
        spare: left out first, in this order, until all cells are whole.
        last: left out next, in this order, until all words are.
    """
    out = console()
    if out.is_terminal:
        shown, left_out = _fitted(table, spare, last, out)
        if _is_too_narrow(shown, out):
            complain(f"no room for the table in {out.width} columns; use a wider terminal, or --json")
            return
        out.print(shown)
        if left_out:
            more = "a wider terminal, or a file or pipe, shows more"
            out.print(f"No room for: {', '.join(left_out)}; {more}", markup=False)
        return
    table.box = box.ASCII
    with out.capture() as captured:
        out.print(table)
    sys.stdout.write(captured.get().translate(_ASCII))


def _fitted(table: Table, spare: Sequence[str], last: Sequence[str], out: Console) -> tuple[Table, list[str]]:
    """The table with the columns that there is room for, and the headings of the others."""
    columns = [_Needed(column, *_needs(column, out)) for column in table.columns]
    left_out: list[str] = []
    for names, whole in ((spare, True), (last, False)):
        for name in names:
            rest = [each for each in columns if each.column.header != name]
            if len(rest) < len(columns) and _room(columns, out, [whole] * len(columns)) < 0:
                columns = rest
                left_out.append(name)
    fitted = copy(table)
    fitted.columns = [each.column for each in columns]
    folded, kept = [False] * len(columns), [each.column.header == _WHOLE for each in columns]
    whole_cells = kept if _room(columns, out, kept) >= 0 else folded
    _set_widths(columns, whole_cells, _room(columns, out, whole_cells))
    return fitted, left_out


def _is_too_narrow(table: Table, out: Console) -> bool:
    """Whether a column would have no room for a letter, and its cells would be empty."""
    least = sum((_needs(each, out)[0] if each.no_wrap else 1) + _BORDERS for each in table.columns) + 1
    return out.width < least


class _Needed(NamedTuple):
    """A table's column, and the columns of the terminal that its longest word and its longest cell need."""

    column: Column
    word: int
    cell: int

    def least(self, whole: bool) -> int:
        """Where its cells are whole, or only their words."""
        return self.cell if whole else self.word


def _needs(column: Column, out: Console) -> tuple[int, int]:
    unbounded = out.options.update(max_width=_PLAIN_WIDTH)
    cells = [Measurement.get(out, unbounded, cell) for cell in (column.header, *column.cells)]
    longest = max(cell.maximum for cell in cells)
    return longest if column.no_wrap else max(cell.minimum for cell in cells), longest


def _room(columns: Sequence[_Needed], out: Console, whole: Sequence[bool]) -> int:
    """Columns of the terminal that are left over; below 0 they do not suffice."""
    needed = (each.least(is_whole) + _BORDERS for each, is_whole in zip(columns, whole, strict=True))
    return out.width - sum(needed) - 1


def _set_widths(columns: Sequence[_Needed], whole: Sequence[bool], room: int) -> None:
    """Gives every column what it needs, and an equal share of the rest to those that fold."""
    if room < 0:
        return  # Rich breaks words, as evenly as may be.
    least = [each.least(is_whole) for each, is_whole in zip(columns, whole, strict=True)]
    lacks = [each.cell - width for each, width in zip(columns, least, strict=True)]
    for done, index in enumerate(sorted(range(len(columns)), key=lacks.__getitem__)):
        more = min(lacks[index], room // (len(columns) - done))
        columns[index].column.width = least[index] + more
        room -= more


def show_json(data: Any) -> None:
    """Plain data on stdout as JSON, and nothing else."""
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=True) + "\n")


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace("-", "", 1).isdigit()


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)

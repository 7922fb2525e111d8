"""Our kernels beside each library by itself: how many times as fast, by size and cache state."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from harness.results import ratio
from harness.results.statistics import geometric_mean
from reports import format as write
from reports.dataset import measured, ordered_sizes
from reports.headline import KINDS
from reports.overview import Heat, HeatCell, link
from reports.ratios import SIDES, side_of, verdict_counts
from reports.tables import Cell, Line, Table, number_cell

HEADINGS = (
    ("device", "the hardware"),
    ("ours", "the API of our kernels"),
    ("library", ""),
    ("problems", "all of this kind that both measured"),
    ("cache", "hot or cold"),
    ("size", "shape of the array; width x height of an image"),
    ("cases", "how many; hover for those that carry a note"),
    ("speed", "how many times as fast as the library ours are, by queue: the geometric mean"),
    ("least", "where that is least; hover for the case"),
    ("verdicts", "on ours"),
)
ALL_SIZES = "all sizes"
_OF_CONTEXTS = 0.06
"""How far a case against itself came apart where each side had one context (reports/examples, h200-quick)."""

_KEYS = ["physical", "first_backend", "second_backend", "kind", "cache"]
_FILTERS = {"ours": "first_backend", "library": "second_backend", "cache": "cache"}


def library_table(pairs: pd.DataFrame) -> Table:
    """The pairs of :func:`reports.ratios.library_pairs` summed up: a line a size, the smallest first, then
    one of all sizes where there are several.
    """
    in_order = {key: pd.Categorical(pairs[key], pairs[key].drop_duplicates()) for key in _KEYS}
    groups = pairs.assign(**in_order).groupby(_KEYS, observed=True)
    lines = tuple(line for _, group in groups for line in _lines(group))
    filters = {shown: tuple(map(str, pairs[key].drop_duplicates())) for shown, key in _FILTERS.items()}
    return Table(HEADINGS, lines, frozenset((6, 7, 8)), filters)


def _lines(pairs: pd.DataFrame) -> Iterator[Line]:
    sizes = ordered_sizes(pairs)
    for size in sizes:
        yield _line(pairs[pairs["size"] == size], size)
    if len(sizes) > 1:
        yield _line(pairs, ALL_SIZES)


def _line(pairs: pd.DataFrame, size: str) -> Line:
    least = pairs.sort_values("gross", kind="stable").iloc[0]
    # All sizes come after each of them.
    elements = math.inf if size == ALL_SIZES else least["elements"]
    marked = int((pairs["marks"] != "").sum())
    title = f"{marked} of them with a note, such as a host-bound side" if marked else ""
    cells = (
        Cell(least["device_name"]),
        Cell(least["first_backend"]),
        Cell(least["second_backend"]),
        Cell(KINDS[least["kind"]]),
        Cell(least["cache"]),
        Cell(size, str(elements)),
        number_cell(len(pairs), "{:d}".format, title, "†" if marked else ""),
        number_cell(geometric_mean(pairs["gross"]), write.ratio),
        number_cell(least["gross"], write.ratio, f"{least['problem']}: {least['verdict']}"),
        Cell(", ".join(f"{count} {name}" for name, count in verdict_counts(pairs))),
    )
    return Line(cells, {shown: str(least[key]) for shown, key in _FILTERS.items()})


PICK_HEADINGS = (
    ("device", "the hardware"),
    ("problem", "operation; for images output, mask and border"),
    ("type", "element type; images with channels"),
    ("size", "shape of the array; width x height of an image"),
    ("cache", "hot or cold"),
    ("library", "the fastest that gives this result; two where either may be"),
    ("us", "queue"),
    ("of the limit", "its time over that of the measured limit"),
    ("of ours", "its time over that of our fastest kernel"),
    ("next", "the second fastest, and its time over that of the fastest"),
    ("mind", "what it is computed in, and what the library says of it"),
)


@dataclass(frozen=True, slots=True)
class Pick:
    """The fastest library for one problem on a ``device``: ``row`` and that of the ``next`` one, whether the
    two are a ``tie``, the seconds of our fastest kernel (NaN where none was measured), and what to ``mind``.
    """

    device: str
    row: Any
    next: Any
    tie: bool
    ours: float
    mind: str

    @property
    def name(self) -> str:
        """Which to take: either of two that chance alone tells apart."""
        return f"{self.row.backend} or {self.next.backend}" if self.tie else str(self.row.backend)

    @property
    def over_limit(self) -> float:
        """Its time over that of the measured limit; NaN where none was measured."""
        return 1 / self.row.share if self.row.share > 0 else math.nan


def picks(table: pd.DataFrame) -> list[Pick]:
    """One a problem and cache state that a library measured; the reference is none."""
    groups: dict[tuple[str, str, str], list[Any]] = {}
    names: dict[str, str] = {}
    # Plain rows: pandas is slow with a thousand small groups.
    row: Any
    for row in measured(table).itertuples(index=False):
        # Each API has its own name for a device: the one measured first stands for all.
        names.setdefault(row.physical, row.device_name)
        groups.setdefault((row.physical, row.problem, row.cache), []).append(row)
    found = []
    for (physical, _, _), of_problem in groups.items():
        group = sorted(of_problem, key=lambda row: (row.in_parts, row.queue))
        libraries: dict[str, Any] = {}
        for row in group:
            if row.role == "library":
                libraries.setdefault(row.backend, row)
        if libraries:
            own = (row.queue for row in group if row.role in (*SIDES["OpenCL"], *SIDES["CUDA"]))
            first, second = [*libraries.values(), None][:2]
            ours = float(next(own, math.nan))
            tie = second is not None and _is_tie(first, second)
            mind = _mind(first, second.backend if tie else "")
            found.append(Pick(names[physical], first, second, tie, ours, mind))
    return found


def _is_tie(first: Any, second: Any) -> bool:
    """Whether the second may be as fast: by the interval of their ratio; of a single context also where they
    are no farther apart than contexts are.
    """
    if first.in_parts != second.in_parts:
        return False
    alone = min(len(first.queue_blocks), len(second.queue_blocks)) < 2
    if alone and second.queue <= first.queue * (1 + _OF_CONTEXTS):
        return True
    found = ratio.compare(side_of(first._asdict()), side_of(second._asdict()), paired=True)
    return found.interval.low <= 1


def _mind(row: Any, tied: str = "") -> str:
    tie = f"tie with {tied}" if tied else ""
    computed = f"computed in {row.accumulator}" if row.accumulator not in ("", row.type) else ""
    calls = f"{row.calls} calls" if row.calls > 1 else ""
    return "; ".join(filter(None, (tie, computed, calls, row.remark, row.note)))


def pick_table(found: Sequence[Pick]) -> Table:
    """Which library to take, a line a problem and cache state."""
    filters = {
        "library": tuple(dict.fromkeys(pick.row.backend for pick in found)),
        "op": tuple(dict.fromkeys(pick.row.op for pick in found)),
        "dtype": tuple(dict.fromkeys(pick.row.type for pick in found)),
    }
    return Table(PICK_HEADINGS, tuple(map(_pick_line, found)), frozenset((6, 7, 8)), filters)


def _pick_line(pick: Pick) -> Line:
    row = pick.row
    other = f"{pick.next.backend} {write.ratio(pick.next.queue / row.queue)}" if pick.next else write.ABSENT
    cells = (
        Cell(pick.device),
        Cell(row.op, title=row.problem, style="wrap"),
        Cell(row.type),
        Cell(row.size, str(row.elements)),
        Cell(row.cache),
        Cell(pick.name),
        number_cell(row.queue, write.us, row.note, "†" if row.note else ""),
        number_cell(pick.over_limit, write.ratio),
        number_cell(row.queue / pick.ours, write.ratio),
        Cell(other),
        Cell(pick.mind, style="variant"),
    )
    filters = {"library": row.backend, "op": row.op, "dtype": row.type}
    return Line(cells, filters, key=f"{row.problem} {row.cache}")


def pick_heats(found: Sequence[Pick], table: str) -> list[Heat]:
    """The fastest library by operation and type (down) and size (across), a coloured table a cache state;
    ``table`` is the id of the table that the cells link to.
    """
    groups: dict[tuple[str, str, str], list[Pick]] = {}
    for pick in found:
        key = (pick.device, KINDS[pick.row.kind], pick.row.cache)
        groups.setdefault(key, []).append(pick)
    return [_pick_heat(", ".join(key), group, table) for key, group in groups.items()]


def _pick_heat(title: str, found: Sequence[Pick], table: str) -> Heat:
    sizes = sorted({(pick.row.elements, pick.row.size) for pick in found})
    rows: dict[str, dict[str, HeatCell]] = {}
    for pick in found:
        row = pick.row
        far = f" {write.ratio(pick.over_limit)}x" if math.isfinite(pick.over_limit) else ""
        told = f"{row.problem}: {pick.name}, {write.us(row.queue)} us{far and f', {far} the limit'}"
        cell = HeatCell(
            f"{pick.name}{far}",
            "†" if pick.mind else "",
            "",
            "; ".join(filter(None, (told, pick.mind))),
            link(table, f"{row.problem} {row.cache}"),
        )
        rows.setdefault(f"{row.op} {row.type}", {})[row.size] = cell
    columns = tuple(size for _, size in sizes)
    lines = tuple((name, tuple(cells.get(size) for size in columns)) for name, cells in rows.items())
    return Heat(title, columns, lines, Markup(""))

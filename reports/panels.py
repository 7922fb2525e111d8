"""The page's charts: small SVG panels with real text, which a style sheet colours and a narrow page stacks.

Importing seaborn alone takes longer than a page may take, so it draws only what is to be a file
(:mod:`reports.charts`). A series has a colour and a shape of its own; both come from its number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

WIDTH = 360
"""Of a panel, in its own units: about the pixels that it has on a telephone: its text stays legible."""

COLOURS = 10
"""How many colours the style sheet knows; shapes tell apart what shares one."""

LINES = ("limit", "peak")
"""Styles of what is no series but a line across a chart."""

_LETTER = 5.6
_BOTTOM, _TOP, _BARE, _RIGHT = 22, 22, 4, 10


def _polygon(corners: int, turn: float, inner: float = 1.0, hole: float = 0.0) -> str:
    """A path around the origin: a regular polygon, or a star whose inner corners are nearer; with a hole of
    its own form, so many times as large.
    """
    count = corners if inner == 1.0 else 2 * corners
    around = []
    for place in range(count):
        radius = 4.6 * (inner if place % 2 else 1.0)
        angle = 2 * math.pi * (place + turn) / count - math.pi / 2
        around.append((radius * math.cos(angle), radius * math.sin(angle)))
    # What runs the other way round is left out.
    outlines = [around, [(hole * x, hole * y) for x, y in reversed(around)]] if hole else [around]
    return "".join(f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in points)}Z" for points in outlines)


SHAPES = (
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0Z",
    _polygon(4, 0.5),
    _polygon(3, 0),
    _polygon(4, 0),
    _polygon(3, 1.5),
    _polygon(4, 0, 0.35),
    _polygon(3, 0.75),
    _polygon(5, 0),
    _polygon(3, 2.25),
    _polygon(4, 1, 0.35),
    _polygon(6, 0),
    _polygon(4, 0.5, hole=0.5),
    _polygon(3, 0, hole=0.5),
    _polygon(24, 0, hole=0.55),
    "M-4-4L4-4L-4 4L4 4Z",
    _polygon(4, 0, hole=0.5),
    "M-4-4L-4 4L4-4L4 4Z",
    "M-1.3-4.4H1.3V-1.3H4.4V1.3H1.3V4.4H-1.3V1.3H-4.4V-1.3H-1.3Z",
    *(_polygon(corners, 0, 0.45) for corners in range(5, 12)),
    *(_polygon(corners, 0, 0.7) for corners in range(3, 12)),
)
"""Paths of the marks, a series each."""
_SHAPE = "shape-"
"""What the ids of their elements on a page begin with (:func:`shapes`)."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One measured value: where it stands, what is said on hovering, and where the case is on the page."""

    x: float
    y: float
    series: int
    title: str
    low: float = math.nan
    high: float = math.nan
    href: str = ""
    style: str = ""


@dataclass
class Panel:
    """An SVG element to be: ``title`` above it, ``label`` for those who cannot see it."""

    title: str
    label: str
    height: float
    left: float = 44
    parts: list[str] = field(default_factory=list)

    @property
    def plot(self) -> tuple[float, float, float, float]:
        """Left, right, top and bottom of the plot."""
        return self.left, WIDTH - _RIGHT, _TOP if self.title else _BARE, self.height - _BOTTOM

    def text(self, x: float, y: float, text: str, style: str = "") -> None:
        """A text whose foot is at a place."""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{style}">{escape(text)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """A line."""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{style}"/>')

    def box(self, x: float, y: float, width: float, height: float, style: str, title: str = "") -> None:
        """A filled rectangle."""
        told = f"<title>{escape(title)}</title>" if title else ""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.8):.1f}" height="{height:.1f}" '
            f'class="{style}">{told}</rect>'
        )

    def mark(self, x: float, y: float, mark: Mark) -> None:
        """The shape of a mark's series, a link where the case has a place."""
        style = mark.style or f"s{mark.series % COLOURS}"
        drawn = (
            f'<use href="#{_SHAPE}{mark.series % len(SHAPES)}" transform="translate({x:.1f} {y:.1f})" '
            f'class="m {style}"><title>{escape(mark.title)}</title></use>'
        )
        if mark.href:
            drawn = f'<a href="{escape(mark.href)}" tabindex="-1">{drawn}</a>'
        self.parts.append(drawn)

    def path(self, points: Sequence[tuple[float, float]], style: str) -> None:
        """A line through points."""
        through = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.parts.append(f'<path d="M{through}" class="{style}"/>')

    def svg(self) -> Markup:
        """The element."""
        if self.title:
            self.text(0, 12, self.title, "t")
        return Markup(
            f'<svg class="panel" viewBox="0 0 {WIDTH} {self.height:.0f}" role="img" '
            f'aria-label="{escape(self.label)}">{"".join(self.parts)}</svg>'
        )


def shapes() -> Markup:
    """The shapes of all marks, once on a page: hundreds of marks refer to them."""
    drawn = "".join(f'<path id="{_SHAPE}{number}" d="{path}"/>' for number, path in enumerate(SHAPES))
    return Markup(f'<svg class="shapes" width="0" height="0" aria-hidden="true"><defs>{drawn}</defs></svg>')


def legend(entries: Iterable[tuple[str, int, str]]) -> Markup:
    """What the series are: name, number, and the style in place of the number's colour."""
    items = [
        f'<li><svg viewBox="-6 -6 12 12" aria-hidden="true">{_key(number, style)}</svg>{escape(name)}</li>'
        for name, number, style in entries
    ]
    return Markup(f'<ul class="legend">{"".join(items)}</ul>') if items else Markup("")


def _key(number: int, style: str) -> str:
    """What a legend shows of a series: its mark, or a line where the chart has one."""
    if style in LINES:
        return f'<path d="M-6 0H6" class="{style}"/>'
    return f'<path d="{SHAPES[number % len(SHAPES)]}" class="m {style or f"s{number % COLOURS}"}"/>'


def log_scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """From values to places; what is outside is put on the edge."""
    span = math.log(high / low)

    def place(value: float) -> float:
        return start + (end - start) * min(1.0, max(0.0, math.log(value / low) / span))

    return place


def ratio_ticks(values: Sequence[float]) -> list[float]:
    """Ticks that hold all values and 1: fine where they are close, powers of two or ten where they spread."""
    low, high = min([*values, 0.95]), max([*values, 1.05])
    fine = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5]
    coarse = [0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0]
    if fine[0] <= low and high <= min(fine[-1], 2.5 * low):
        ticks = fine
    elif coarse[0] <= low and high <= coarse[-1]:
        ticks = coarse
    else:
        base = 2 if high / low < 2**9 else 10
        # One power more at each end than needed: a logarithm of a power may be rounded either way.
        reach = range(math.floor(math.log(low, base)) - 1, math.ceil(math.log(high, base)) + 2)
        ticks = [float(base) ** power for power in reach]
    first = max(place for place, tick in enumerate(ticks) if tick <= low)
    last = min(place for place, tick in enumerate(ticks) if tick >= high)
    return ticks[first : last + 1]


def forest(
    title: str, label: str, rows: Sequence[tuple[str, Sequence[Mark]]], band: float, ticks: Sequence[float]
) -> Markup:
    """Ratios (``x``) with their intervals, a block of lines a row; the band around 1 is shaded."""
    line, gap = 5.5, 5
    letters = max((len(name) for name, _ in rows), default=0)
    panel = Panel(
        title,
        label,
        (_TOP if title else _BARE) + _BOTTOM + sum(line * len(marks) + gap for _, marks in rows),
        left=min(170.0, 8 + _LETTER * letters),
    )
    left, right, top, bottom = panel.plot
    at = log_scale(ticks[0], ticks[-1], left, right)
    panel.box(at(1 / (1 + band)), top, at(1 + band) - at(1 / (1 + band)), bottom - top, "band")
    _ticks(panel, [(at(tick), f"{tick:g}") for tick in ticks])
    panel.line(at(1), top, at(1), bottom, "one")
    y = top + gap / 2
    for name, marks in rows:
        panel.text(0, y + line * len(marks) / 2 + 3, name, "k")
        for mark in marks:
            y += line
            if math.isfinite(mark.low) and math.isfinite(mark.high):
                panel.line(at(mark.low), y - line / 2, at(mark.high), y - line / 2, f"i {mark.style}")
            if math.isfinite(mark.x) and mark.x > 0:
                panel.mark(at(mark.x), y - line / 2, mark)
        y += gap
    return panel.svg()


def _ticks(panel: Panel, places: Sequence[tuple[float, str]]) -> None:
    """Grid lines and their labels below the plot, without those that would run into the one before."""
    _, _, top, bottom = panel.plot
    end = -math.inf
    for x, text in places:
        panel.line(x, top, x, bottom, "g")
        half = _LETTER * len(text) / 2
        if x - half > end + 4:
            panel.text(x, bottom + 15, text, "x")
            end = x + half


def sized(
    title: str,
    label: str,
    marks: Sequence[Mark],
    lines: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    top_value: float,
    name: Callable[[float], str],
) -> Markup:
    """Values by size, which is logarithmic. ``lines`` are references: a style and points by size; each lies
    across the whole plot, which is that of the ``marks``.
    """
    panel = Panel(title, label, 210)
    left, right, top, bottom = panel.plot
    xs = sorted({mark.x for mark in marks})
    first, last = xs[0] / 1.3, xs[-1] * 1.3
    at = log_scale(first, last, left, right)

    def up(value: float) -> float:
        return bottom - (bottom - top) * min(1.0, max(0.0, value / top_value))

    _ticks(panel, [(at(x), name(x)) for x in xs])
    step = nice_step(top_value)
    for count in range(int(top_value / step) + 1):
        y = up(count * step)
        panel.line(left, y, right, y, "g")
        panel.text(left - 5, y + 4, f"{count * step:,g}", "y")
    for style, points in lines:
        nearest = min(points, key=lambda point: abs(math.log(point[0] ** 2 / (first * last))))
        inside = [point for point in points if first <= point[0] <= last] or [nearest]
        across = [(first, inside[0][1]), *inside, (last, inside[-1][1])]
        panel.path([(at(x), up(y)) for x, y in across], style)
    for mark in marks:
        panel.mark(at(mark.x), up(mark.y), mark)
    return panel.svg()


def nice_step(top: float) -> float:
    """The step of some four to eight ticks from 0 to ``top``: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(top / 4))
    return next(step * power for step in (1, 2, 5, 10) if top / (step * power) <= 8)

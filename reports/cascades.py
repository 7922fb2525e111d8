"""Efficiencies and performance portability as a table and as cascade plots.

These are of Sewall, Pennycook, Jacobsen, Deakin and McIntosh-Smith, "Interpreting and Visualizing Performance
Portability Metrics" (2020), as p3-analysis-library draws them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports import format as write
from reports.panels import COLOURS, WIDTH, Mark, Panel, legend
from reports.portability import FASTEST, Application, cascade, portability
from reports.saturation import series_of
from reports.tables import Cell, Line, Table, number_cell

_MOST_VARIANTS = 8
"""Of more variants those that are the most portable are drawn; the table has all."""
_LEFT, _RIGHT, _TOP, _BOTTOM, _ROW = 84, WIDTH - 46, 8, 150, 15
"""Of the plot, and the height of a line of letters below it."""


def portability_table(found: Sequence[Application]) -> Table:
    """A line a backend and variant: what it reaches on each device, and the harmonic mean."""
    platforms = list(dict.fromkeys(name for each in found for name in each.of_limit))
    headings = (
        ("backend", ""),
        ("variant", "of the kernel; the same everywhere, or the fastest for each problem and device"),
        ("problems", "that it computes on some device and that every device measured"),
        *(
            (f"{name}: % of limit", "harmonic mean over the problems; 0: not all ran; –: not asked for there")
            for name in platforms
        ),
        (
            "PP of the limit",
            "performance portability: the harmonic mean over the devices; 0: not on all; –: not known",
        ),
        *((f"{name}: % of the fastest", "likewise, of the fastest measured there") for name in platforms),
        ("PP of the fastest", "performance portability by application efficiency"),
        ("why zero or –", ""),
    )
    lines = tuple(_line(each) for each in found)
    count = 2 * len(platforms) + 2
    filters = {
        "kind": tuple(dict.fromkeys(each.group for each in found)),
        "backend": tuple(dict.fromkeys(each.backend for each in found)),
    }
    return Table(headings, lines, frozenset(range(2, 3 + count)), filters)


def _line(of: Application) -> Line:
    def cells(by: Mapping[str, float]) -> list[Cell]:
        shares = [number_cell(each, write.percent) for each in by.values()]
        return [*shares, number_cell(portability(list(by.values())), write.ratio)]

    return Line(
        (
            Cell(of.backend, title=of.group),
            Cell(of.variant, style="variant"),
            number_cell(of.problems, "{:d}".format),
            *cells(of.of_limit),
            *cells(of.of_best),
            Cell(of.why or write.ABSENT, style="variant"),
        ),
        {"kind": of.group, "backend": of.backend},
        key=f"{of.group} {of.name}",
    )


@dataclass(frozen=True, slots=True)
class Plot:
    """A cascade plot: its title, legend, the letters of the platforms, and the chart."""

    title: str
    legend: Markup
    platforms: tuple[tuple[str, str], ...]
    chart: Markup


def cascades(found: Sequence[Application]) -> list[Plot]:
    """Two a kind and cache state: the backends, and the variants that ran on every device."""
    groups: dict[str, list[Application]] = {}
    for each in found:
        groups.setdefault(each.group, []).append(each)
    plots = []
    for group, members in groups.items():
        backends = [each for each in members if each.variant == FASTEST]
        everywhere = [each for each in members if each.variant != FASTEST and not each.why]
        plots.append(
            _plot(f"{group}: backends, {FASTEST}", backends, series_of([b.backend for b in backends]))
        )
        if everywhere:
            shown = everywhere[:_MOST_VARIANTS]
            numbers = {each.name: place for place, each in enumerate(shown)}
            plots.append(_plot(f"{group}: one variant on every device", shown, numbers))
    return plots


def _plot(title: str, shown: Sequence[Application], numbers: Mapping[str, int]) -> Plot:
    # Of the limit where it is known everywhere, else of the fastest measured.
    by_limit = not any(
        math.isnan(value) and not math.isnan(each.of_best[name])
        for each in shown
        for name, value in each.of_limit.items()
    )
    of = "of the measured limit" if by_limit else "of the fastest measured"
    letters = {name: chr(ord("A") + place) for place, name in enumerate(shown[0].of_limit)}
    label = f"Cascade plot of efficiency and performance portability: {title}"
    panel = Panel("", label, _BOTTOM + _ROW * len(shown) + 30, left=_LEFT)
    places = [_LEFT + (_RIGHT - _LEFT) * (at + 0.5) / len(letters) for at in range(len(letters))]
    _draw_axes(panel, places)
    names = []
    for row, each in enumerate(shown):
        number = numbers[each.name]
        short = each.backend if each.variant == FASTEST else f"form {number + 1}"
        y = _BOTTOM + 20 + _ROW * (row + 1)
        panel.text(0, y, short, "k")
        reached = each.of_limit if by_limit else each.of_best
        steps = cascade(reached)
        if steps:
            _draw(panel, each.name, steps, number, places)
        told = [letters[platform] if share else write.ABSENT for platform, share, _ in steps]
        told += [write.ABSENT] * (len(places) - len(told))
        for x, text in zip(places, told, strict=True):
            panel.text(x, y, text, "x")
        panel.text(_RIGHT + 4, y, write.ratio(portability(list(reached.values()))), "k")
        names.append((each.name if short == each.backend else f"{short}: {each.name}", number, ""))
    about = tuple((letter, name) for name, letter in letters.items())
    return Plot(f"{title}, share {of}", legend(names), about, panel.svg())


def _draw_axes(panel: Panel, places: Sequence[float]) -> None:
    for share in (0, 0.25, 0.5, 0.75, 1):
        panel.line(_LEFT, _up(share), _RIGHT, _up(share), "g")
        panel.text(_LEFT - 5, _up(share) + 4, f"{share * 100:g} %", "y")
    for at, x in enumerate(places):
        panel.text(x, _BOTTOM + 14, f"{at + 1}", "x")
    panel.text(_RIGHT + 4, _BOTTOM + 14, "PP")


def _draw(
    panel: Panel, name: str, steps: Sequence[tuple[str, float, float]], number: int, places: Sequence[float]
) -> None:
    """The efficiencies and what they come to so far, a line each."""
    style = f"s{number % COLOURS}"
    # What is not known somewhere has fewer steps than there are places.
    alone = [(x, _up(share)) for x, (_, share, _) in zip(places, steps, strict=False)]
    so_far = [(x, _up(whole)) for x, (_, _, whole) in zip(places, steps, strict=False)]
    panel.path(alone, f"cascade solid {style}")
    panel.path(so_far, f"cascade dashed {style}")
    for (x, y), (platform, share, whole) in zip(alone, steps, strict=True):
        told = f"{name} on {platform}: {write.percent(share)} %, portability so far {whole:.2f}"
        panel.mark(x, y, Mark(x, share, number, told))


def _up(share: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * share

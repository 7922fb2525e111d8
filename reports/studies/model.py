"""What a study's figure is: a row of data, from which its chart, its table and its sentence are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Drawn = Literal["times", "shares", "relative", "climb", "steps", "widths", "devices", "nothing"]
"""times: time of a call by type or size. shares: of the device's own measured bandwidth. relative: speed over
that of a library. climb: time on every rung of a ladder. steps: OpenCL over CUDA on each. widths: bandwidth
by vector width. devices: a table of the devices alone. nothing: what cannot be redone."""

Across = Literal["type", "size", "width", "step"]
Base = Literal["", "CUDA library", "OpenCL library", "NPP", "CPU library"]
"""What is 1 in a relative figure; see :mod:`reports.studies.bases` for what stands in."""


@dataclass(frozen=True, slots=True)
class Cases:
    """The problems of a figure, by the columns of :class:`reports.dataset.Row`; an empty tuple takes all.

    ``largest``: of each device only the largest size that it measured.
    """

    kind: str
    ops: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    caches: tuple[str, ...] = ("hot",)
    largest: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """One series: its name and the label of its variant (:func:`harness.variants.axes.label`); without one
    the fastest form of each problem.

    ``drawn``: whether it is in the chart, or only what another is compared with.
    """

    name: str
    variant: str
    drawn: bool = True


@dataclass(frozen=True, slots=True)
class Then:
    """A published ratio of speeds, or a range of them: above 1 the first was faster. ``of`` says of what."""

    device: str
    of: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Against:
    """What a figure compares: the speed of each first series over that of its second, and what was printed.

    In a relative figure the second is what is 1, and ``pairs`` stays empty.
    """

    text: str
    pairs: tuple[tuple[str, str], ...] = ()
    then: Callable[[], list[Then]] = list


@dataclass(frozen=True, slots=True)
class Printed:
    """A published number as it is drawn: hollow, in a panel of its own. ``text`` is how it was printed."""

    panel: str
    x: str
    series: str
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure or table of a study. ``name`` is the anchor on the page, ``number`` what the study calls it.

    ``suite``: which measures it. ``printed``: its published numbers, where the study prints any. ``why_not``:
    why it, or a part of it, cannot be redone. ``libraries``: whether these stand beside the series.
    """

    name: str
    number: str
    title: str
    drawn: Drawn
    suite: str = ""
    cases: Cases = Cases("")
    across: Across = "type"
    series: tuple[Series, ...] = ()
    against: Against = Against("")
    base: Base = ""
    libraries: bool = False
    printed: Callable[[], list[Printed]] = list
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Study:
    """A study: where it was published, and its figures in their order."""

    name: str
    title: str
    source: str
    figures: tuple[Figure, ...]

"""What is 1 in a figure of relative speeds: a library, or what stands in where a device lacks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from reports.ratios import fastest_of
from reports.studies.model import Base
from reports.studies.places import Hit, Place

WANTED: Final = {
    "CUDA library": "a CUDA library",
    "OpenCL library": "an OpenCL library",
    "NPP": "NPP",
    "CPU library": "OpenCV on the processor",
}
"""What each base is called where it is missing."""


@dataclass(frozen=True)
class Chosen:
    """The row that is 1, how it is called, and whether it stands in for what was asked for."""

    row: pd.Series[Any]
    name: str
    stands_in: bool


@dataclass(frozen=True)
class Candidates:
    """The libraries that are 1 at a place, how they are called, and whether they stand in for others."""

    name: str
    rows: pd.DataFrame
    stands_in: bool

    def of(self, hit: Hit) -> Chosen | None:
        """The fastest of them on this case; None where none was measured on it."""
        rows = self.rows
        fitting = rows[(rows["problem"] == hit.row["problem"]) & (rows["cache"] == hit.row["cache"])]
        return Chosen(fastest_of(fitting), self.name, self.stands_in) if len(fitting) else None


def bases_of(hits: Sequence[Hit], base: Base) -> dict[str, Candidates]:
    """What is 1 at each place of these cases, by its key: the same for all of them, so that a chart has one.

    In place of NPP any CUDA library, and where a device has no CUDA library any library or reference measured
    there. A place where nothing else was measured on any of the cases is left out.
    """
    found: dict[str, Candidates] = {}
    problems: dict[str, set[str]] = {}
    for hit in hits:
        problems.setdefault(hit.at, set()).add(str(hit.row["problem"]))
    for key, place in {hit.at: hit.place for hit in hits}.items():
        for order, (name, rows) in enumerate(_candidates(place, base)):
            fitting = rows[rows["problem"].isin(problems[key])]
            if len(fitting):
                found[key] = Candidates(name or _listed(fitting), fitting, bool(order))
                break
    return found


def _candidates(place: Place, base: Base) -> list[tuple[str, pd.DataFrame]]:
    rows, host = place.rows, place.host
    libraries = rows[rows["role"] == "library"]
    through_cuda = libraries[libraries["is_cuda"]]
    of_cuda = ("the fastest CUDA library", through_cuda)
    anything = ("", rows[rows["role"].isin(["library", "reference"])])
    on_host = ("", host)
    if base == "CPU library":
        return [("OpenCV on the processor", host[host["backend"] == "opencv"]), on_host]
    if base == "OpenCL library":
        others = libraries[~libraries["is_cuda"] & ~libraries["backend"].isin(host["backend"])]
        return [("the fastest OpenCL library", others), *([] if place.has_cuda else [anything])]
    if base == "NPP":
        return [("NPP", libraries[libraries["backend"] == "npp"]), of_cuda, anything]
    return [of_cuda, anything]


def _listed(rows: pd.DataFrame) -> str:
    names = list(rows["backend"].drop_duplicates())
    return names[0] if len(names) == 1 else f"the fastest of {', '.join(names)}"

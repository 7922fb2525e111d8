"""The published studies' figures and tables, redone from recorded runs: a chapter a study, a row a figure.

Published numbers are never mixed with measured ones: they are hollow, in panels and tables of their own, and
normalised as the measured ones beside them are.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from harness.explain import unknown
from harness.results.runfile import Run
from reports.studies.chapter import Chapter, chapters
from reports.studies.jia2012 import STUDY as JIA2012
from reports.studies.model import Study
from reports.studies.pcl import STUDY as PCL
from reports.studies.yan2011 import STUDY as YAN2011

__all__ = ["STUDIES", "Chapter", "chapters_of"]

STUDIES: dict[str, Study] = {study.name: study for study in (YAN2011, PCL, JIA2012)}
"""Every study by the name that ``--study`` takes."""


def chapters_of(
    names: Sequence[str], runs: Sequence[Run], tables: Sequence[pd.DataFrame], band: float
) -> list[Chapter]:
    """The chapters of the named studies from all runs together; ``tables`` are the rows of the runs.

    Raises:
        ValueError: if there is no such study; it names those there are.
    """
    for name in names:
        if name not in STUDIES:
            raise ValueError(unknown("study", name, STUDIES))
    return chapters([STUDIES[name] for name in dict.fromkeys(names)], runs, tables, band)

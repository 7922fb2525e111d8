"""Takes the documents' pictures of reports of recorded runs, in headless Chromium:
``python -m tests.checkers.screenshots [FOLDER]``; without a folder in the places that the documents name.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from reports.page import page
from reports.studies import STUDIES
from tests.support.browser import BROWSER, DESK, MISSING, TELEPHONE, Browser
from tests.support.complete import names
from tests.support.recorded import ROOT, run_of

MOST_BYTES = 300_000
"""Of one picture: who clones the repository pays for it."""
_COLOURS = 256
_SCROLLED = """
document.documentElement.style.scrollBehavior = "auto";
setTimeout(() => document.getElementById("{at}").scrollIntoView(), 200);
return 0;
"""


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: its file, the runs whose page is seen, from which element on, and how."""

    file: str
    runs: Sequence[str]
    at: str = ""
    width: int = DESK
    height: int = 900
    dark: bool = False


COMPLETE = tuple(names())
SHOTS = (
    Shot("reports/examples/h200-quick.png", ("h200-quick",), height=1060),
    Shot("docs/report-narrow.png", ("h200-quick",), width=TELEPHONE, height=1100),
    Shot("docs/report-dark.png", ("h200-yan2011",), height=1500, dark=True),
    Shot("docs/complete-wide.png", COMPLETE, "study-yan2011-figure-3", height=1500),
    Shot("docs/complete-narrow.png", COMPLETE, "study-yan2011-tables-5-6", TELEPHONE, 1500),
    Shot("docs/complete-dark.png", COMPLETE, "study-jia2012-table-1", height=1500, dark=True),
)


def take(shot: Shot, text: str, to: Path) -> None:
    """Writes one picture of a page.

    Raises:
        ValueError: if the file would be larger than MOST_BYTES.
    """
    code = _SCROLLED.format(at=shot.at) if shot.at else "return 0"
    with tempfile.TemporaryDirectory() as folder:
        Browser(Path(folder), text).picture(to, code, "", shot.width, shot.height, shot.dark)
    with Image.open(to) as taken:
        few = taken.quantize(_COLOURS, dither=Image.Dither.NONE)
    few.save(to, optimize=True)
    if to.stat().st_size > MOST_BYTES:
        raise ValueError(f"{to} has {to.stat().st_size:,} bytes, at most {MOST_BYTES:,} are wanted")


def main(folder: Path = ROOT) -> int:
    """Takes all pictures; the exit code."""
    if BROWSER is None:
        sys.stderr.write(f"error: {MISSING}\n")
        return 1
    pages: dict[tuple[str, ...], str] = {}
    for shot in SHOTS:
        runs = tuple(shot.runs)
        if runs not in pages:
            studies = STUDIES if len(runs) > 1 else ()
            pages[runs] = page(list(map(run_of, runs)), [""] * len(runs), studies=list(studies))
        to = folder / shot.file
        to.parent.mkdir(parents=True, exist_ok=True)
        take(shot, pages[runs], to)
        sys.stdout.write(f"{to}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))

"""The complete report of the recorded runs, by the command of ``tox -e report``."""

from __future__ import annotations

import shlex
from configparser import ConfigParser
from pathlib import Path

from tests.support.recorded import ROOT

RUNS = "reports/examples/"


def command(folder: Path) -> list[str]:
    """The words behind ``harness``: the report goes into this folder, files are found from anywhere."""
    tox = ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    line = tox["testenv:report"]["commands"].replace("\\\n", " ")
    name, *words = shlex.split(line.replace("{posargs}", shlex.join(["--report", str(folder)])))
    assert name == "harness"
    return [str(ROOT / word) if word.startswith(RUNS) else word for word in words]


def names() -> list[str]:
    """The recorded runs that it is of, without endings."""
    return [Path(word).name.partition(".")[0] for word in command(Path()) if RUNS in word]

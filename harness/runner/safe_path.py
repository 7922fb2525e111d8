"""Where Python looks for modules: where our packages are and what is installed, not in the current folder.

The ``json.py``, ``backends/`` or ``reports/`` that lie there are the user's.
"""
# pathlib would be imported from the current folder before that is taken out.
# ruff: noqa: PTH100, PTH109, PTH120

from __future__ import annotations

import os
import sys

_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The folder that our packages lie in: a checkout, or where they are installed."""


def leave_current_folder() -> None:
    """Takes the current folder out of ``sys.path``, unless our packages lie there."""
    try:
        here = os.path.realpath(os.getcwd())
    except FileNotFoundError:  # It was removed.
        here = ""
    home = os.path.realpath(_HOME)
    places = [(path, os.path.realpath(path) if path else here) for path in sys.path]
    sys.path[:] = [path for path, real in places if real == home or real != here]


def python(*arguments: str) -> list[str]:
    """The command of a Python process that does not look into the current folder; see :func:`environment`."""
    return [sys.executable, "-P", *arguments]


def environment() -> dict[str, str]:
    """The environment of a Python process that imports the modules that this one does."""
    paths = [path for path in sys.path if path]
    # An interactive session in a checkout finds our packages in the current folder only.
    home = [] if _HOME in paths else [_HOME]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*home, *paths])}

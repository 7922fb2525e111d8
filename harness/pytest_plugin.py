"""The options of the benchmarks under pytest, known to it before it looks for tests.

Without this plugin they would be those of ``tests/conftest.py``, which pytest has not read yet when it takes
the file in ``--suite mine.toml`` for a path of tests, and then looks for its conftest beside that.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_CHECKOUT = Path(__file__).resolve().parent.parent


def add_options(parser: pytest.Parser) -> None:
    """``--backend``, ``--device`` and ``--suite``, as of ``harness run``, unless they are known already."""
    group = parser.getgroup("harness")
    if group.options:
        return
    group.addoption("--backend", action="append", metavar="NAME", help="only this backend; may be repeated")
    group.addoption(
        "--device", action="append", metavar="TEXT", help="only devices of this key, kind or name"
    )
    group.addoption(
        "--suite", default="quick", metavar="SUITE", help="the benchmarks' suite: a name or a TOML file"
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    """The same, in our checkout: another project's tests may have options of these names."""
    has_benchmarks = (_CHECKOUT / "tests" / "benchmarks").is_dir()
    if has_benchmarks and Path.cwd().is_relative_to(_CHECKOUT):
        add_options(parser)

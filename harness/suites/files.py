"""The suites that come with the harness and those in files: their text, read and checked."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from pydantic import ValidationError

from harness.explain import mistakes, unknown
from harness.suites.schema import Suite, SuiteError


def suite_names() -> list[str]:
    """The suites that come with the harness."""
    names = [entry.name for entry in _folder().iterdir()]
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def load_suite(name: str) -> Suite:
    """The suite of that name, or the one in the TOML file at that path.

    Raises:
        SuiteError: if there is none or it is not valid; names every mistake with its key and what is allowed.
    """
    return parse_suite(name, suite_text(name))


def is_path(name: str) -> bool:
    """Whether a suite is named by the path of its file, not as one that comes with the harness."""
    return name.endswith(".toml") or "/" in name


def suite_text(name: str) -> str:
    """The text of the suite of that name, or of the file at that path.

    Raises:
        SuiteError: if there is none, or it cannot be read.
    """
    if not is_path(name) and name not in suite_names():
        raise SuiteError(unknown("suite", name, suite_names()) + "; or the path of a .toml file")
    file: Traversable = Path(name) if is_path(name) else _folder().joinpath(f"{name}.toml")
    if isinstance(file, Path) and file.exists() and not file.is_file():
        raise SuiteError(f"{_where(name)}: cannot be read: it is a folder, a pipe or a device, not a file")
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        raise SuiteError(f"{_where(name)}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SuiteError(f"{_where(name)}: is not UTF-8 text: {error}") from error


def _where(name: str) -> str:
    return name if is_path(name) else f"suite {name}"


def _folder() -> Traversable:
    return files("harness").joinpath("suites")


def parse_suite(name: str, text: str) -> Suite:
    """The suite of that name, or path, and text.

    Raises:
        SuiteError: if it is not valid; names every mistake with its key and what is allowed.
    """
    where = _where(name)
    try:
        data = tomllib.loads(text)
    except ValueError as error:
        raise SuiteError(f"{where}: is not TOML: {error}") from error
    except RecursionError:
        raise SuiteError(f"{where}: is not TOML that can be read: it is nested too deeply") from None
    try:
        return Suite.model_validate({"name": Path(name).stem if is_path(name) else name, **data})
    except ValidationError as error:
        raise SuiteError("\n".join(f"{where}: {each}" for each in mistakes(error, Suite))) from None

"""The documents: their links lead somewhere, and what they name exists."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer

import harness
from backends import REGISTRY, Backend, open_backend
from harness.cli.app import app
from harness.cli.listing import CONTENTS
from harness.suites.files import is_path, suite_names

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "reports" / "examples"
README = ROOT / "README.md"
MOST_LINES = 130
DOCUMENTS = [
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
    EXAMPLES / "README.md",
    *sorted(ROOT.glob("kernels_*/README.md")),
]
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`]+)`")
RUN_FILE = re.compile(r"[\w-]+\.jsonl\.[gx]z")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
OPTION = re.compile(r"--[a-z][\w-]*")
OF_OTHERS = {
    "--benchmark-only": "pytest-benchmark",
    "--benchmark-json": "pytest-benchmark",
    "--suite": "the plugin for pytest",
    "--report-api-errors": "compute-sanitizer",
    "--editable": "pip",
    "--hostfile": "dask ssh",
    "--memory-limit": "dask worker",
    "--nthreads": "dask worker",
    "--nworkers": "dask worker",
    "--exclusive": "Slurm",
}
"""Options that documents name, and that are not of the command ``harness``, with whose they are."""


@cache
def whole() -> Any:
    """The command ``harness``."""
    return typer.main.get_command(app)


def commands() -> dict[str, Any]:
    """Its verbs, each a command."""
    return dict(whole().commands)


def options(command: Any) -> dict[str, Any]:
    """A verb's options, by each of their names."""
    return {name: parameter for parameter in command.params for name in parameter.opts if name[0] == "-"}


def code(document: Path) -> list[str]:
    """The pieces of code in a document: each line of the blocks that are for a shell, and what is quoted."""
    text = document.read_text(encoding="utf-8")
    lines = [line for name, block in FENCE.findall(text) if name == "sh" for line in block.splitlines()]
    return lines + [" ".join(piece.split()) for piece in INLINE.findall(FENCE.sub("", text))]


def words(line: str, first: str) -> Iterator[list[str]]:
    """The words after ``first`` of each command of a shell's line that has it, without the comment."""
    for part in re.split(r"\s(?:&&|\|)\s", line):
        if f"{first} " in part:
            lexer = shlex.shlex(part, posix=True, punctuation_chars=False)
            lexer.whitespace_split = True
            found = list(lexer)
            if first in found:
                yield found[found.index(first) + 1 :]


@cache
def tox_environments() -> set[str]:
    """The names of tox's environments: those of tox.ini, and the backends."""
    found = ConfigParser(interpolation=None)
    found.read(ROOT / "tox.ini", encoding="utf-8")
    names = {name.removeprefix("testenv:") for name in found.sections() if name.startswith("testenv:")}
    return names | set(REGISTRY)


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@each_document
def test_links_lead_to_files(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for link in LINK.findall(text):
        path, _, anchor = link.partition("#")
        if "://" in path:
            continue
        target = document.parent / path if path else document
        assert target.exists(), link
        if anchor:
            headings = HEADING.findall(target.read_text(encoding="utf-8"))
            assert anchor in map(slug, headings), link


@each_document
def test_the_run_files_named_exist(document: Path) -> None:
    for name in RUN_FILE.findall(document.read_text(encoding="utf-8")):
        assert (EXAMPLES / name).is_file(), name


@each_document
def test_the_verbs_and_options_named_exist(document: Path) -> None:
    for line in code(document):
        for given in words(line, "harness"):
            if given[0].startswith("-"):
                assert given[0] in options(whole()), line
                continue
            assert given[0] in commands(), line
            known = set(options(commands()[given[0]]))
            assert not {word for word in given[1:] if word.startswith("--")} - known, line
    anywhere = {name for command in (whole(), *commands().values()) for name in options(command)}
    named = {option for line in code(document) for option in OPTION.findall(line)}
    assert not named - anywhere - set(OF_OTHERS)


def values(given: list[str], option: str) -> list[str]:
    """What an option is given in a command."""
    return [value for name, value in pairwise(given) if name == option]


def first_argument(given: list[str], command: Any) -> str | None:
    """What is not an option of a command, nor an option's value."""
    known = options(command)
    rest = iter(given)
    for word in rest:
        if not word.startswith("-"):
            return word
        if not known[word].is_flag:
            next(rest)
    return None


@each_document
def test_the_suites_and_backends_named_exist(document: Path) -> None:
    for line in code(document):
        for verb, *given in words(line, "harness"):
            if verb == "run" and (suite := first_argument(given, commands()["run"])):
                assert suite in suite_names() or suite.isupper() or is_path(suite), line
                assert not suite.startswith("reports/") or (ROOT / suite).is_file(), line
            if verb == "list" and given and given[0].islower():
                assert given[0] in list(CONTENTS), line
            assert not {name for name in values(given, "--backend") if name.islower()} - set(REGISTRY), line
        for given in words(line, "pytest"):
            assert not set(values(given, "--backend")) - set(REGISTRY), line
            assert not set(values(given, "--suite")) - set(suite_names()), line


@each_document
def test_the_tox_environments_named_exist(document: Path) -> None:
    for line in code(document):
        for given in words(line, "tox"):
            named = [name for value in values(given, "-e") for name in value.split(",") if name.islower()]
            assert not set(named) - tox_environments(), line


def test_every_suite_is_told_of() -> None:
    text = "".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    assert not {name for name in suite_names() if f"`{name}`" not in text}


@pytest.mark.parametrize("package", ["harness", "backends", "reports"])
def test_a_package_says_that_it_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_the_interface_that_the_readme_calls_exists() -> None:
    (block,) = [text for name, text in FENCE.findall(README.read_text(encoding="utf-8")) if name == "python"]
    calls = [node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Call)]
    owners = {"harness": harness, "backend": Backend}
    functions = {
        ast.unparse(call.func): getattr(owners[call.func.value.id], call.func.attr)
        for call in calls
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    }
    functions["open_backend"] = open_backend
    assert set(functions) == {ast.unparse(call.func) for call in calls}
    for call in calls:
        signature = inspect.signature(functions[ast.unparse(call.func)])
        given = [keyword.arg for keyword in call.keywords]
        others = any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())
        assert others or set(given) <= set(signature.parameters), ast.unparse(call)

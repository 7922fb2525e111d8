"""The runner of planted changes (:mod:`tests.checkers.mutants`), on a project of one module and one test."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.checkers.mutants import ROOT, Mutant, Outcome, chosen, copied, examine, outcome_of, planted

MODULE = "def double(value):\n    return 2 * value\n"
TESTS = """
import time
import pytest
import module

def test_double():
    assert module.double(3) == 6

def test_nothing():
    module.double(3)

def test_forever():
    while module.double(3) != 6:
        time.sleep(0.1)

@pytest.mark.skip
def test_skipped():
    module.double(3)

def test_failing():
    assert module.double(3) == 7
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's folder."""
    # Its tests need none of them.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "module.py").write_text(MODULE)
    (folder / "test_module.py").write_text(TESTS)
    return folder


def mutant(
    name: str, new: str = "3 * value", tests: str = "-k test_double", old: str = "2 * value"
) -> Mutant:
    return Mutant(name=name, file="module.py", old=old, new=new, tests=f"test_module.py {tests}", breaks="it")


def test_each_outcome(project: Path) -> None:
    expected = {
        mutant("killed"): (Outcome.KILLED, "test_double: assert 9 == 6"),
        mutant("survived", tests="-k test_nothing"): (Outcome.SURVIVED, ""),
        mutant("no-syntax", "2 *"): (Outcome.ERROR, "exit code 2"),
        mutant("no-name", "twice * value"): (Outcome.ERROR, "does not run: NameError"),
        mutant("moved-on", old="2 + value"): (Outcome.ERROR, "occurs 0 times in module.py"),
        mutant("ambiguous", old="value"): (Outcome.ERROR, "occurs 2 times in module.py"),
        mutant("no-such-test", tests="-k test_triple"): (Outcome.ERROR, "exit code 5"),
        mutant("only-skipped", tests="-k test_skipped"): (Outcome.ERROR, "all of its tests were skipped"),
        mutant("fails-anyway", tests="-k test_failing"): (Outcome.ERROR, "unchanged its tests are: killed"),
    }
    told = []
    found = examine(list(expected), project, workers=4, tell=lambda name, _: told.append(name))
    assert {name: outcome.outcome for name, outcome in found.items()} == {
        each.name: outcome for each, (outcome, _) in expected.items()
    }
    for each, (_, why) in expected.items():
        assert why in found[each.name].why
    assert {name for name, outcome in found.items() if outcome.is_good} == {"killed"}
    assert set(found) < set(told), "each is told, and what is tried without a change"
    assert (project / "module.py").read_text() == MODULE


def test_what_does_not_end_is_ended(project: Path) -> None:
    (project / "module.py").write_text(MODULE.replace("2", "3"))
    assert outcome_of(project, "test_module.py -k test_forever", 1).outcome is Outcome.TIMED_OUT


def test_a_copy_has_what_is_kept_in_a_checkout(tmp_path: Path) -> None:
    for name in (
        "module.py",
        ".git/config",
        "venv/pyvenv.cfg",
        "package/__pycache__/module.pyc",
        "package/a.py",
    ):
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    copy = copied(tmp_path / "checkout", tmp_path / "copy")
    files = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    assert files == {"module.py", "package/a.py"}


def test_the_list_can_be_read() -> None:
    mutants = planted()
    assert len(mutants) >= 60
    assert chosen(mutants, ["reduce-*"]) == [each for each in mutants if each.name.startswith("reduce-")]
    with pytest.raises(ValueError, match="no mutant is named 'reduce-everything'"):
        chosen(mutants, ["reduce-*", "reduce-everything"])


@pytest.mark.parametrize("mutant", planted(), ids=lambda mutant: mutant.name)
def test_each_change_can_still_be_made(mutant: Mutant) -> None:
    """Its file has the text that it replaces, and its tests are where it says; whether they fail is seen by
    ``tox -e mutants``.
    """
    assert mutant.changed(ROOT) != (ROOT / mutant.file).read_text(encoding="utf-8")
    module = shlex.split(mutant.tests)[0].partition("::")[0]
    assert (ROOT / module).exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[mutant]", "Expected"),
        ("[[mutant]]\nname = 'a'\n", "file"),
        ("[[mutants]]\n", "mutants"),
        ("mutant = 3\n", "list"),
    ],
)
def test_a_list_that_is_none_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(ValueError, match=rf"a\.toml: (?s:.*){message}"):
        planted(tmp_path)


def test_a_name_belongs_to_one(tmp_path: Path) -> None:
    text = "[[mutant]]\nname = 'a'\nfile = 'f'\nold = 'o'\nnew = ''\ntests = 't'\nbreaks = 'b'\n"
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match="the name of two mutants: a"):
        planted(tmp_path)

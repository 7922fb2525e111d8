"""Signals that end a command in order."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.runner.signals import Ended, ended_by_signals

ROOT = Path(__file__).parents[4]
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Nothing of a test's stays; a signal that is not heeded does not end the tests."""
    before = {number: signal.signal(number, lambda *_: None) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ENDING)
def test_the_first_signal_ends_and_a_second_does_not_disturb(number: int) -> None:
    ended: list[int] = []

    def command() -> None:
        try:
            signal.raise_signal(number)
        finally:
            for each in ENDING:
                signal.raise_signal(each)
                ended.append(each)

    with pytest.raises(Ended) as caught, ended_by_signals():
        command()
    assert ended == list(ENDING)
    assert caught.value.code == 128 + number
    assert {signal.getsignal(each) for each in ENDING} == {signal.SIG_IGN}, "the process ends"


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), SystemExit(1)])
def test_what_fails_on_the_way_to_the_end_is_not_its_cause(error: BaseException) -> None:
    def command() -> None:
        try:
            signal.raise_signal(signal.SIGHUP)
        finally:
            raise error

    with pytest.raises(Ended) as caught, ended_by_signals():
        command()
    assert caught.value.code == 129
    assert caught.value.__cause__ is error


def test_an_error_without_a_signal_stays_one() -> None:
    handlers = {each: signal.getsignal(each) for each in ENDING}
    with pytest.raises(OSError, match="full"), ended_by_signals():
        raise OSError("full")
    assert {each: signal.getsignal(each) for each in ENDING} == handlers


def test_an_ignored_signal_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with ended_by_signals():
        signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_a_signal_while_python_ends_does_not_change_the_exit_code() -> None:
    code = (
        "import atexit, os, signal, harness.cli.app\n"
        "from harness.__main__ import main\n"
        "harness.cli.app.app = lambda: signal.raise_signal(signal.SIGHUP)\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGTERM)\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 128 + signal.SIGHUP, done.stderr


def test_ctrl_c_while_the_command_is_imported_ends_it_quietly() -> None:
    code = (
        "import signal, sys\n"
        "class Finder:\n"
        "    def find_spec(name, *_):\n"
        "        name == 'harness.cli.app' and signal.raise_signal(signal.SIGINT)\n"
        "from harness.__main__ import main\n"
        "sys.meta_path.insert(0, Finder)\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")

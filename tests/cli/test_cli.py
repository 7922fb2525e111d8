"""The command: what it prints where, its exit codes, and that it starts fast because it imports little."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import reports
from backends import REGISTRY
from harness import __version__
from harness.cli import doctor
from harness.cli.doctor import Finding
from harness.cli.listing import CONTENTS
from harness.results.run_writer import RunWriter
from harness.runner import planning
from tests.support.command import Harness, harness, python

__all__ = ["harness"]


def test_importing_the_command_imports_nothing_heavy() -> None:
    gpu_libraries = ["pyopencl", "pycuda", "cupy", "cuda", "pynvml"]
    heavy = ["numpy", "pandas", "matplotlib", "seaborn", "scipy", "skimage", "pydantic", *gpu_libraries]
    code = f"import sys, harness.cli.app; print([name for name in {heavy} if name in sys.modules])"
    assert python("-c", code).stdout.strip() == "[]"


def test_help_is_there_and_imports_nothing_heavy() -> None:
    code = (
        "import sys, harness.cli.app\nsys.argv = ['harness', '--help']\n"
        "try: harness.cli.app.main()\nexcept SystemExit as end: print('code', end.code, "
        "'numpy' in sys.modules)"
    )
    done = python("-c", code)
    assert done.stdout.strip().endswith("code 0 False")
    for verb in ("devices", "list", "run", "report", "compare", "repeat", "selftest", "doctor"):
        assert verb in done.stdout


@pytest.mark.parametrize("verb", ["run", "report", "compare", "source", "compile"])
def test_the_help_shows_no_value_for_a_flag_and_flows(verb: str) -> None:
    """Typer's own ``<bool>`` asks for a value that is not taken; its plain paragraphs keep our line ends."""
    shown = python("-m", "harness", verb, "--help", COLUMNS="100").stdout
    prose, _, tables = shown.partition("\u256d")
    assert "--help" in tables
    assert not [line for line in tables.splitlines() if "<bool>" in line and "--help " not in line]
    lines = [line.strip() for line in prose.partition("Usage:")[2].splitlines()[1:] if line.strip()]
    assert lines
    assert not [line for line in lines if len(line) < 60 and not line.endswith(".")]


def test_module_is_the_command() -> None:
    done = python("-m", "harness", "list", "backends", "--json")
    assert done.returncode == 0
    assert [row["name"] for row in json.loads(done.stdout)["backends"]] == list(REGISTRY)


def test_no_verb_shows_the_help(harness: Harness) -> None:
    shown = harness()
    assert shown.code == 2
    assert "doctor" in shown.out + shown.err


def test_names_beyond_the_locale_do_not_end_the_command() -> None:
    code = "import harness.cli.app as c, harness.cli.listing as k, sys\n"
    code += "k.CONTENTS['suites'] = lambda: [{'name': '\u7b97'}]\n"
    code += "sys.argv = ['harness', 'list', 'suites']\nc.main()"
    done = python("-c", code, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "\\u7b97" in done.stdout


def test_devices_as_json_are_all_of_them(harness: Harness) -> None:
    shown = harness("devices", "--json")
    data = json.loads(shown.out)
    assert shown.code == 0
    assert "numpy:0" in [device["key"] for device in data["devices"]]
    assert {device["backend"] for device in data["devices"]} | set(data["missing"]) == set(REGISTRY)


def test_devices_as_a_table_say_what_is_missing(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "available", lambda: {"cuda": "cuda: no libcuda; install the driver"})
    shown = harness("devices")
    assert shown.code == 0
    assert "not available: cuda: no libcuda; install the driver" in shown.out


@pytest.mark.parametrize("what", list(CONTENTS))
def test_list_in_both_forms(harness: Harness, what: str) -> None:
    rows = json.loads(harness("list", what, "--json").out)[what]
    table = harness("list", what).out
    assert rows
    for row in rows:
        assert row["name"] in table


def test_list_without_a_word_lists_everything(harness: Harness) -> None:
    assert set(json.loads(harness("list", "--json").out)) == set(CONTENTS)


def test_the_version_is_told(harness: Harness) -> None:
    shown = harness("--version")
    assert (shown.code, shown.out) == (0, f"harness {__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("rnu",), "'run'"),
        (("run", "--bakend", "numpy"), "--backend"),
        (("run", "--dveice", "cpu"), "--device"),
        (("list", "problms"), "'problems'"),
        (("compare", "a", "b", "--fail-on", "slwer"), "'slower'"),
    ],
)
def test_a_mistake_names_what_was_meant(harness: Harness, arguments: tuple[str, ...], meant: str) -> None:
    shown = harness(*arguments)
    assert (shown.code, shown.out) == (2, "")
    assert meant in shown.err


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("harness re", {"report", "repeat"}),
        ("harness run qu", {"quick"}),
        ("harness run --backend n", {name for name in REGISTRY if name[0] == "n"}),
        ("harness run --op su", {"sum", "sum_squares"}),
        ("harness run --variant group_size=6", {"group_size=64"}),
        ("harness run --bu", {"--budget"}),
        ("harness list su", {"suites"}),
    ],
)
def test_the_shell_completes(words: str, completed: set[str]) -> None:
    code = "import sys, harness.cli.app; sys.argv = ['harness']; harness.cli.app.main()"
    asked = {"_HARNESS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = python("-c", code, **asked)
    assert set(done.stdout.split()) == completed


def test_list_of_something_unknown(harness: Harness) -> None:
    shown = harness("list", "kernels")
    assert shown.code == 2
    assert "problems" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize(("status", "code"), [("ok", 0), ("note", 0), ("absent", 0), ("broken", 1)])
def test_doctors_exit_code(harness: Harness, monkeypatch: pytest.MonkeyPatch, status: Any, code: int) -> None:
    monkeypatch.setattr(doctor, "examine", lambda: iter([Finding("CUDA driver", status, "detail", "remedy")]))
    table, plain = harness("doctor"), harness("doctor", "--json")
    assert table.code == plain.code == code
    assert status in table.out
    assert "remedy" in table.out
    assert json.loads(plain.out) == [
        {"subject": "CUDA driver", "status": status, "detail": "detail", "remedy": "remedy"}
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "qiuck"], "did you mean 'quick'"),
        (["run", "none.toml"], "none.toml: cannot be read: No such file"),
        (["run", "--backend", "opnecl"], "backend 'opnecl' is unknown"),
        (["run", "--device", "Voodoo 2"], "no device matches 'Voodoo 2'"),
        (["run", "--image", "none.png"], "none.png: there is no such file"),
        (["run", "--samples", "0"], "--samples"),
        *(
            ([*verb, "none.jsonl"], "error: none.jsonl cannot be read: No such file or directory; give one")
            for verb in (["report"], ["compare", "none.jsonl"], ["repeat", "none.jsonl"], ["run", "--resume"])
        ),
        (["selftest", "none.jsonl"], "error: none.jsonl cannot be read: No such file or directory"),
        (["report", "/dev/zero"], "/dev/zero is a folder, a pipe or a device"),
        (["run", "--budget", "nan"], "--budget"),
        (["run", "--budget", "inf"], "--budget"),
        (["run", "--samples", "1" + "0" * 30], "--samples"),
        (["run", "--seed", "1" + "0" * 30], "--seed"),
        (["run", "--contexts", "-1"], "'--contexts': '-1' is not a whole number from 1 to 99"),
        (["run", "--processes", "two"], "'--processes': 'two' is not a whole number from 1 to 99"),
        (["run", "--budget", "0"], "'--budget': '0' is not a number from 1 to 604800"),
        (["run", "--cluster", "local", "--workers", "0"], "'0' is not a whole number of at least 1"),
        (["selftest", "--comparisons", "1" + "0" * 30], "--comparisons"),
        (["report"], "RUN"),
        (["report", "none.jsonl", "--study", "yan"], "study 'yan' is unknown; allowed are yan2011"),
    ],
)
def test_mistake_is_one_message_and_exit_code_2(harness: Harness, arguments: list[str], message: str) -> None:
    shown = harness(*arguments)
    assert shown.code == 2
    assert message in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""


def test_backend_that_is_missing_is_no_empty_success(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "available", lambda: {"cuda": "cuda: no libcuda; install the driver"})
    shown = harness("run", harness.suite(), "--backend", "cuda")
    assert shown.code == 2
    assert "not available: cuda: no libcuda; install the driver" in shown.err


def _broken() -> Any:
    raise RuntimeError("out of cheese")


def test_failure_is_one_message_and_exit_code_1(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "discover", _broken)
    shown = harness("devices")
    assert shown.code == 1
    assert shown.err.startswith("error: RuntimeError: out of cheese")
    assert "HARNESS_DEBUG=1" in shown.err
    assert "Traceback" not in shown.err


def test_debug_shows_the_traceback(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "discover", _broken)
    monkeypatch.setenv("HARNESS_DEBUG", "1")
    shown = harness("devices")
    assert shown.code == 1
    assert "Traceback" in shown.err


def test_the_command_and_the_modules_have_the_same_numbers() -> None:
    from harness.cli import options
    from harness.results import ratio
    from harness.suites import schema

    assert options.DEFAULT_BAND == ratio.BAND
    assert options.MOST_BAND == ratio.MOST_BAND
    assert (options.MOST_SAMPLES, options.MOST_SECONDS) == (schema.MOST_SAMPLES, schema.MOST_SECONDS)


def _shell(line: str) -> subprocess.CompletedProcess[str]:
    """A command of the shell, in which ``harness`` is the one of this checkout."""
    root = str(Path(__file__).parents[2])
    script = f'harness() {{ "{sys.executable}" -m harness "$@"; }}; {line}'
    command = ["sh", "-c", script]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=root, stdin=subprocess.DEVNULL
    )


CLOSED, FULL = "it is closed", "No space left on device"


@pytest.mark.parametrize(
    ("line", "stream", "why"),
    [
        ("harness list suites >&-", "output", CLOSED),
        ("harness list suites 2>&-", "error", CLOSED),
        ("harness list suites > /dev/full", "output", FULL),
        ("harness --help > /dev/full", "output", FULL),
        ("harness --version > /dev/full", "output", FULL),
        ("harness report x 2> /dev/full", "error", FULL),
        ("harness list suites --json > /dev/full", "output", FULL),
        ("harness list suites >&- 2>&-", "", ""),
        ("harness report x > /dev/full 2>&1", "", ""),
        ("HARNESS_DEBUG=1 harness list suites > /dev/full 2>&1", "", ""),
    ],
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_stream_that_cannot_be_written_is_named_on_the_other(
    line: str, stream: str, why: str, unbuffered: str
) -> None:
    done = _shell(f"export PYTHONUNBUFFERED={unbuffered}; {line}")
    assert done.returncode in (1, 2)
    told = f"error: standard {stream} cannot be written: {why}\n" if stream else ""
    assert done.stdout + done.stderr == told


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(("command", "code"), [("list --json", 0), ("--help", 0), ("report x 2>&1", 2)])
def test_a_reader_that_has_gone_changes_nothing(command: str, code: int, unbuffered: str) -> None:
    line = f"{{ sleep 0.5; harness {command}; echo $? >&3; }} | true"
    done = _shell(f"export PYTHONUNBUFFERED={unbuffered}; exec 3>&1; {line}")
    assert (done.stdout, done.stderr) == (f"{code}\n", "")


def test_a_lock_that_cannot_be_held_is_a_mistake(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_LOCK_DIR", str(harness.suite()))
    shown = harness("run", harness.suite(), "--backend", "numpy")
    assert shown.code == 2
    assert shown.err.startswith("error: the lock of a device, ")
    assert "HARNESS_LOCK_DIR is " in shown.err
    assert not list(harness.folder.rglob("*.jsonl"))


def test_a_message_has_no_control_characters(harness: Harness) -> None:
    shown = harness("report", "\x1b[31mnone.jsonl")
    assert shown.code == 2
    assert "\x1b" not in shown.err
    assert "[31mnone.jsonl cannot be read" in shown.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 99999, "line 1 is not JSON: it is nested too deeply"),
        ('{"benchmarks": [null]}', "benchmarks[0]: should be a table"),
        ('{"type": "environment", "format": 1, "nvml": 5}\n', "line 1: nvml"),
        ('{"type": "environment", "format": 1}\n{"type": "record", "case": []}\n', "line 2: case: should be"),
    ],
)
def test_a_stranger_s_file_is_refused_by_every_verb(harness: Harness, text: str, message: str) -> None:
    (harness.folder / "odd").write_text(text + "\n")
    for verb in (["report"], ["compare", "odd"], ["repeat", "odd"], ["selftest"], ["run", "--resume"]):
        shown = harness(*verb, "odd")
        assert (shown.code, shown.out) == (2, "")
        assert shown.err.startswith("error: odd")
        assert message in shown.err


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (ValueError("nothing of yours"), 1, "error: ValueError: nothing of yours"),
        (
            OSError(28, "No space left on device", "page/x.png"),
            2,
            "error: page: the page cannot be written: No space left on device; make room, or name another "
            "folder by --report\n",
        ),
    ],
)
def test_a_report_that_cannot_be_written_is_told(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int, told: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    run_file = harness.folder / "run.jsonl"
    RunWriter(run_file, {}).close()
    monkeypatch.setattr(reports, "write_report", fail)
    shown = harness("report", run_file, "--report", "page")
    assert shown.code == code
    assert told in shown.err


@pytest.mark.parametrize("folder", ["run.jsonl/below", "/proc/nowhere"])
def test_a_reports_folder_that_cannot_be_is_a_mistake(harness: Harness, folder: str) -> None:
    run_file = harness.folder / "run.jsonl"
    RunWriter(run_file, {}).close()
    shown = harness("report", run_file, "--report", folder)
    assert shown.code == 2
    assert folder in shown.err
    assert "Errno" not in shown.err

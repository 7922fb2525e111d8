"""Faults of real kernels, full disks, killed processes: each leaves a complete run with that case explained.

The kernels run on the CPU, where an endless loop or a stray write can do no harm but to their own process.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from backends import available
from harness.explain import going_on
from harness.problems import OPS, Reduction
from harness.results.record import Case, Record
from harness.results.run_writer import RunWriter
from harness.results.runfile import load_run
from harness.runner.run import run_cases
from harness.variants.axes import ReductionVariant
from tests.support.command import SUITE, Harness, harness, python
from tests.support.fake_runs import planned
from tests.support.faulty_backend import ENVIRONMENT

__all__ = ["harness"]

CLASSES = {"opencl": "tests.support.faulty_backend:FaultyBackend"}
FEW = [*list(OPS)[:5], list(OPS)[-1]]
"""Ops enough to measure before a fault, and after it."""


def cpu() -> int:
    """The number of an OpenCL device that is a processor; skips the test where there is none."""
    found = available()["opencl"]
    devices = [] if isinstance(found, str) else [device.index for device in found if device.kind == "cpu"]
    if not devices:
        pytest.skip(f"no OpenCL on a CPU here: {found}")
    return devices[0]


def run_with(
    folder: Path, monkeypatch: pytest.MonkeyPatch, limit_s: float = 60, **faults: str
) -> list[Record]:
    """The records of a reduction by few ops, some with faults; every case must be there, in order."""
    monkeypatch.setenv(ENVIRONMENT, json.dumps(faults))
    cases = [Case("opencl", cpu(), Reduction(op, "int32", (1000,)), ReductionVariant()) for op in FEW]
    with RunWriter(folder / "run.jsonl", {}) as writer:
        run_cases(planned(cases, limit_s=limit_s, classes=CLASSES), writer)
    records = load_run(folder / "run.jsonl").records
    assert [record.case for record in records] == cases
    return records


@pytest.mark.parametrize(
    ("fault", "status", "reasons"),
    [
        ("null", "failed", ["the worker was killed by SIGSEGV"]),
        ("syntax", "failed", ["BuildError: opencl:", "the kernel does not compile"]),
        ("memory", "failed", ["OutOfDeviceMemory: ", f"allocating {2**60} bytes"]),
        ("wrong", "wrong", ["before timing: result: got"]),
    ],
)
def test_a_kernels_fault_costs_its_case_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, status: str, reasons: list[str]
) -> None:
    by_op = dict(zip(FEW, run_with(tmp_path, monkeypatch, max=fault), strict=True))
    faulty = by_op.pop("max")
    assert faulty.status == status
    for reason in reasons:
        assert reason in faulty.reason
    assert len(faulty.reason.splitlines()) < 10
    assert faulty.clocks == {}
    assert {record.status for record in by_op.values()} == {"ok"}


def test_an_endless_kernel_is_ended_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_op = dict(zip(FEW, run_with(tmp_path, monkeypatch, limit_s=5, max="endless"), strict=True))
    assert (by_op["max"].status, by_op["max"].reason) == ("failed", "no answer within 5 s")
    assert {record.status for op, record in by_op.items() if op != "max"} == {"ok"}


def test_many_faults_in_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = dict(zip(FEW, ("null", "syntax", "null", "memory"), strict=False))
    records = run_with(tmp_path, monkeypatch, 60, **faults)
    assert [record.status for record in records] == ["failed"] * 4 + ["ok"] * (len(FEW) - 4)


def test_a_full_disk_is_told_and_costs_no_record(harness: Harness) -> None:
    """A limit on the size of a file stands for the disk's end: the next write fails in its middle."""
    arguments = ("run", str(harness.suite()), "--backend", "numpy", "--run")
    assert harness(*arguments, "to.jsonl").code == 0
    machine, first, second, _ = Path("to.jsonl").read_bytes().splitlines(keepends=True)
    done = _limited(len(machine + first) + len(second) // 2, *arguments, "my.jsonl")
    assert done.returncode == 1
    *_, told = done.stderr.splitlines()
    how = "make room, then `harness run --resume my.jsonl` goes on"
    assert told == f"error: my.jsonl cannot be written (File too large); {how}"
    path = Path("my.jsonl")
    written = load_run(path).records
    assert len(written) == 1
    assert load_run(path).environment["torn"] is True
    again = harness("run", "--resume", path)
    assert again.code == 0, again.err
    records = load_run(path).records
    assert records[: len(written)] == written
    assert [record.case.problem.label for record in records] == ["minmax int32 50x40", "sum int32 50x40"]


def _limited(nbytes: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command where no file can grow over ``nbytes``."""
    code = f"import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({nbytes}, -1))\n"
    # Python itself ignores SIGXFSZ: the write fails with EFBIG, as on a full disk it does with ENOSPC.
    code += "from harness.cli.app import main; sys.argv[0] = 'harness'; main()"
    # Python would keep the bytecode of what it imports cut off there, for all others.
    return python("-c", code, *arguments, PYTHONDONTWRITEBYTECODE="1")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_device_is_no_run_file(harness: Harness) -> None:
    shown = harness("run", harness.suite(), "--backend", "numpy", "--run", "/dev/full")
    assert shown.code == 2
    assert "/dev/full is a folder, a pipe or a device; name another file" in shown.err
    assert Path("/dev/full").exists()


def test_a_disk_without_room_for_the_first_line_keeps_no_file(harness: Harness) -> None:
    done = _limited(100, "run", str(harness.suite()), "--backend", "numpy", "--run", "my.jsonl")
    assert done.returncode == 2
    assert "my.jsonl cannot be written (File too large); make room, or name another file" in done.stderr
    assert "--resume" not in done.stderr
    assert not Path("my.jsonl").exists()


@contextmanager
def _begun(harness: Harness, path: Path, *before: str) -> Iterator[subprocess.Popen[str]]:
    """A run of every op that has measured the first; ``before`` is what the command is a command of."""
    suite = harness.suite(SUITE.replace('ops = ["minmax", "sum"]', f"ops = {json.dumps(list(OPS))}"))
    run = ["run", str(suite), "--backend", "numpy", "--run", str(path)]
    runner = subprocess.Popen(
        [*before, sys.executable, "-m", "harness", *run],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 2)
        yield runner
    finally:
        runner.kill()
        runner.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_told_to_end_says_how_to_go_on_and_leaves_nothing(
    harness: Harness, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    with _begun(harness, Path("my run.jsonl")) as runner:
        workers = psutil.Process(runner.pid).children(recursive=True)
        runner.send_signal(number)
        # Of two signals that wait at once, either may be the first that is heeded.
        _wait_until(lambda: runner.poll() is not None or not all(map(_is_alive, workers)))
        # A second one does not disturb the end.
        runner.send_signal(signal.SIGTERM)
        _, said = runner.communicate(timeout=60)
    assert runner.returncode == 128 + number
    assert said.endswith("stopped; `harness run --resume 'my run.jsonl'` goes on\n")
    assert "Traceback" not in said
    assert not any(worker.is_running() for worker in workers)
    assert not list(temporary.iterdir())
    assert harness("run", "--resume", "my run.jsonl").code == 0
    assert len(load_run("my run.jsonl").records) == len(OPS)


def test_how_to_go_on_is_told_in_the_words_of_tox(monkeypatch: pytest.MonkeyPatch) -> None:
    for environment, command in (
        ("compare-cuda", "python -m tox -e compare-cuda --"),
        ("test", "harness run"),
    ):
        monkeypatch.setenv("TOX_ENV_NAME", environment)
        assert going_on(Path("a b")) == f"`{command} --resume 'a b'` goes on"


def test_a_run_under_nohup_survives_the_terminals_end(harness: Harness) -> None:
    with _begun(harness, Path("my.jsonl"), "nohup") as runner:
        runner.send_signal(signal.SIGHUP)
        _, said = runner.communicate(timeout=120)
    assert runner.returncode == 0, said
    assert len(load_run("my.jsonl").records) == len(OPS)


def test_a_killed_runner_is_resumed(harness: Harness) -> None:
    path = Path("my.jsonl")
    with _begun(harness, path) as runner:
        _kill(runner)
    before = load_run(path).records
    assert 1 <= len(before) <= len(OPS)
    with path.open("ab") as file:
        file.write(b'{"type": "record", "case": {"backe')
    *ended, torn = load_run(path).lacks
    left = f"{len(OPS) - len(before)} of {len(OPS)} have no record (`harness run --resume my.jsonl` goes on)"
    assert ended == [f"the run was ended before its last case: {left}"] * (len(before) < len(OPS))
    assert torn == "the run file's last line was cut off and left out"
    shown = harness("run", "--resume", path)
    assert shown.code == 0, shown.err
    after = load_run(path)
    assert not after.lacks
    assert after.records[: len(before)] == before
    assert [record.case.problem.label for record in after.records] == [f"{op} int32 50x40" for op in OPS]


def _kill(runner: subprocess.Popen[str]) -> None:
    workers = psutil.Process(runner.pid).children()
    assert workers
    runner.kill()
    assert runner.wait() == -signal.SIGKILL
    _wait_until(lambda: not any(map(_is_alive, workers)))


def _is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        # An orphan that has ended and that nobody fetches is a zombie.
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _wait_until(true: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.02)

"""The lock on a device, between processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.runner import device_lock
from harness.runner.device_lock import FOLDER, DeviceBusy, LockUnusable, lock_path, locked

PCI = "0000:3b:00.0"
HOLD = """
import sys
from harness.runner.device_lock import locked
with locked({sys.argv[1]: ["cuda:0"]}, "harness run full"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    return tmp_path


@contextmanager
def holder(physical: str = PCI) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, physical],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    with process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def held(*physical: str) -> None:
    with locked({name: ["opencl:0", "cuda:0"] for name in physical}, "harness run quick"):
        pass


def test_a_second_process_is_refused_and_told_by_whom_and_what_to_do() -> None:
    with holder() as other:
        with pytest.raises(DeviceBusy) as caught:
            held(PCI)
        message = str(caught.value)
        assert f"{PCI} (opencl:0, cuda:0) is being measured by process {other.pid} since 2" in message
        assert "harness run full; wait until it has ended, or choose another with --device" in message


@pytest.mark.parametrize("signal", ["kill", "terminate"])
def test_the_lock_goes_with_its_holder_however_it_dies(signal: str) -> None:
    with holder() as other:
        getattr(other, signal)()
        other.wait()
        held(PCI)


def test_the_lock_is_free_after_use_even_by_an_error() -> None:
    with pytest.raises(ZeroDivisionError), locked({PCI: []}, "x"):
        _ = 1 // 0
    held(PCI)
    assert lock_path(PCI).read_bytes() == b""


def test_another_device_is_free() -> None:
    with holder():
        held("cpu")


def test_of_several_devices_all_are_locked_or_none() -> None:
    with holder("0000:ff:00.0"):
        with pytest.raises(DeviceBusy, match="0000:ff"):
            held(PCI, "0000:ff:00.0")
        with holder(PCI):
            pass


def test_a_holder_that_has_not_signed_yet_is_no_error() -> None:
    with holder():
        lock_path(PCI).write_bytes(b'{"pid"')
        with pytest.raises(DeviceBusy, match="began just now"):
            held(PCI)


def test_any_user_can_open_the_file_whatever_the_umask(folder: Path) -> None:
    before = os.umask(0o077)
    try:
        with locked({"cpu": ["numpy:0"]}, "harness run quick"):
            path = lock_path("cpu")
            assert path.parent == folder
            assert path.stat().st_mode & 0o777 == 0o666
            signed = json.loads(path.read_text())
    finally:
        os.umask(before)
    assert signed["pid"] == os.getpid()
    assert signed["command"] == "harness run quick"


def test_a_link_in_the_files_place_is_not_followed(folder: Path) -> None:
    victim = folder / "victim"
    victim.write_text("precious")
    lock_path(PCI).symlink_to(victim)
    with pytest.raises(OSError, match=PCI.replace(":", "-")):
        held(PCI)
    assert victim.read_text() == "precious"


def test_no_device_name_leaves_the_folder(folder: Path) -> None:
    assert lock_path("../../etc/x y").parent == folder


def test_the_lock_stays_with_a_worker_that_inherited_it() -> None:
    with locked({PCI: []}, "x") as files:
        worker = subprocess.Popen(["sleep", "60"], pass_fds=files)
    try:
        with pytest.raises(DeviceBusy):
            held(PCI)
    finally:
        worker.kill()
        worker.wait()
    held(PCI)


WORKER = """
import subprocess, sys
from harness.runner.device_lock import locked
with locked({sys.argv[1]: []}, "harness run full") as files:
    print(subprocess.Popen(["sleep", sys.argv[2]], pass_fds=files).pid, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(("lives_s", "is_refused"), [("0.5", False), ("60", True)])
def test_the_workers_of_a_killed_run_are_given_time_to_end(
    monkeypatch: pytest.MonkeyPatch, lives_s: str, is_refused: bool
) -> None:
    monkeypatch.setattr(device_lock, "ENDING_S", 0.2 if is_refused else 30)
    command = [sys.executable, "-c", WORKER, PCI, lives_s]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as runner:
        assert runner.stdout
        worker = int(runner.stdout.readline())
        runner.kill()
    if not is_refused:
        held(PCI)
        return
    try:
        with pytest.raises(DeviceBusy, match=f"process {runner.pid} since"):
            held(PCI)
    finally:
        os.kill(worker, signal.SIGKILL)


def test_children_do_not_inherit_the_lock() -> None:
    with locked({PCI: []}, "x"):
        child = subprocess.Popen(["sleep", "60"])
    try:
        held(PCI)
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("place", ["a file", "a file/below", "/proc/nowhere", "/dev/null/x", ""])
def test_a_folder_that_cannot_hold_locks_is_named_with_the_remedy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (folder / "a file").touch()
    named = str(folder / place) if place and not place.startswith("/") else place
    monkeypatch.setenv(FOLDER, named)
    with pytest.raises(LockUnusable) as caught:
        held(PCI)
    message = str(caught.value)
    assert FOLDER in message
    assert named in message
    assert "set it to" in message
    assert "Errno" not in message


def test_a_folder_that_is_not_there_is_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(folder / "new" / "locks"))
    held(PCI)
    assert lock_path(PCI).is_file()

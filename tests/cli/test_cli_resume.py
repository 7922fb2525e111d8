"""``harness run --resume``: what is gone on with, and what is refused."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from backends import available
from harness.results.record import Record
from harness.results.run_writer import RunWriter
from harness.results.runfile import load_run
from harness.runner import environment, planning, session
from harness.runner.device_lock import lock_path, locked
from harness.runner.plan import BUDGET_SAMPLES, Request, RunPlan
from tests.support.command import LAPLACE, SUITE, Harness, harness, photograph

__all__ = ["harness"]


def _killed(harness: Harness) -> Path:
    """A run file that has only the first of two cases, and half a line of the next."""
    path = Path("my.jsonl")
    plan = planning.plan_run(Request(str(harness.suite()), ("numpy",)))
    environment = planning.environment_of(plan, "harness run")
    with RunWriter(path, environment) as writer:
        writer.write(Record(plan.cases[0], "skipped", "for speed"))
    with path.open("a", encoding="utf-8") as file:
        file.write('{"type": "record", "case": {"backe')
    return path


def test_what_is_left_is_listed(harness: Harness) -> None:
    path = _killed(harness)
    shown = harness("run", "--resume", path, "--dry-run")
    assert shown.code == 0
    assert "minmax" not in shown.out
    assert shown.out.splitlines()[-1] == "1 case to measure, 0 skipped, 1 with a record already"
    packed = Path("my.jsonl.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    refused = harness("run", "--resume", packed, "--dry-run")
    assert refused.code == 2
    assert "only a plain run file can be resumed" in refused.err


def test_killed_run_is_resumed(harness: Harness) -> None:
    assert harness("run", harness.suite(), "--backend", "numpy", "--run", "my.jsonl").code == 0
    path = Path("my.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:2]) + lines[2][:40], encoding="utf-8")
    first = load_run(path).records
    shown = harness("run", "--resume", path)
    assert shown.code == 0, shown.err
    assert "[1/1] numpy:0 sum" in shown.err
    records = load_run(path).records
    assert records[:1] == first
    assert [record.case.problem.label for record in records] == ["minmax int32 50x40", "sum int32 50x40"]


def test_a_run_that_came_to_its_end_is_left_as_it_is(harness: Harness) -> None:
    path = Path("my.jsonl")
    done = harness("run", harness.suite(), "--backend", "numpy", "--run", path)
    assert done.code == 0, done.err
    before = path.read_bytes()
    assert harness("run", "--resume", path).code == 0
    assert path.read_bytes() == before


def test_a_budget_is_kept_for_a_resumed_run(harness: Harness) -> None:
    arguments = ("--backend", "numpy", "--budget", 2, "--run", "my.jsonl")
    assert harness("run", harness.suite(), *arguments).code == 0
    shown = harness("run", "--resume", "my.jsonl")
    assert shown.code == 0, shown.err
    assert load_run("my.jsonl").environment["options"]["budget"] == 2
    assert load_run("my.jsonl").environment["options"]["samples"] == BUDGET_SAMPLES


def _edited(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Changes the first line of a run file."""
    first, *others = path.read_text(encoding="utf-8").splitlines(keepends=True)
    environment = json.loads(first)
    edit(environment)
    path.write_text(json.dumps(environment) + "\n" + "".join(others), encoding="utf-8")


def _refused(harness: Harness, path: Path) -> str:
    """What is said of a run that is not resumed, and stays as it is."""
    before = path.read_bytes()
    shown = harness("run", "--resume", path)
    assert shown.code == 2
    assert path.read_bytes() == before
    return shown.err


@pytest.mark.parametrize("name", ["suite_content", "image_sha256", "kernels_sha256", "request", "options"])
def test_a_run_of_an_earlier_version_is_not_resumed_but_loads(harness: Harness, name: str) -> None:
    path = _killed(harness)
    _edited(path, lambda environment: environment.pop(name))
    assert len(load_run(path).records) == 1
    assert f"as runs of earlier versions ({name}: is missing); begin a new run" in _refused(harness, path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("samples = 3", "samples = 4", "the suite's measure.samples was 3, now 4"),
        ('"sum"', '"max"', "the suite's reduction[0].ops was ['minmax', 'sum'], now ['minmax', 'max']"),
        ("[[50, 40]]", "[[50, 41]]", "the suite's reduction[0].shapes was [[50, 40]], now [[50, 41]]"),
        ("[[reduction]]", "[limits]\nmeasure = false\n[[reduction]]", "limits.measure was absent, now False"),
    ],
)
def test_resume_of_a_changed_suite_is_refused(harness: Harness, old: str, new: str, told: str) -> None:
    path = _killed(harness)
    assert old in SUITE
    harness.suite(SUITE.replace(old, new))
    said = _refused(harness, path)
    assert told in said
    assert "have it as it was, or begin a new run" in said


def test_a_suite_that_only_reads_otherwise_is_no_other(harness: Harness) -> None:
    path = _killed(harness)
    harness.suite("# Mine.\n" + SUITE.replace("samples = 3", "samples   = 3"))
    assert harness("run", "--resume", path).code == 0


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda device: device.update(driver="0.9"), "numpy:0 was {name} (driver 0.9), now {now}"),
        (lambda device: device.update(name="Abacus"), "numpy:0 was Abacus (driver {driver}), now {now}"),
        (
            lambda device: device.update(index=1),
            "numpy:1 was {now}, now absent; numpy:0 was absent, now {now}",
        ),
    ],
)
def test_resume_on_other_devices_is_refused(
    harness: Harness, edit: Callable[[dict[str, Any]], None], told: str
) -> None:
    path = _killed(harness)
    (device,) = (each for each in load_run(path).environment["devices"] if each["backend"] == "numpy")

    def change(environment: dict[str, Any]) -> None:
        edit(next(each for each in environment["devices"] if each["backend"] == "numpy"))

    _edited(path, change)
    now = f"{device['name']} (driver {device['driver']})"
    assert told.format(now=now, **device) in _refused(harness, path)


def test_devices_of_backends_that_are_not_asked_for_may_change(harness: Harness) -> None:
    path = _killed(harness)
    other = {"backend": "cuda", "index": 0, "name": "Big GPU", "driver": "1"}
    _edited(path, lambda environment: environment["devices"].append(other))
    assert harness("run", "--resume", path).code == 0


@pytest.mark.parametrize(
    ("place", "was", "now", "refused"),
    [
        ("cpu", "GPU-a", "GPU-b", True),
        ("cpu", "GPU-a", "GPU-a", False),
        ("0000:01:00.0", "GPU-a", "GPU-b", False),
        ("cpu", "not available: Unknown Error", "GPU-b", False),
    ],
)
def test_resume_on_another_gpu_of_the_same_name_is_refused(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, place: str, was: str, now: str, refused: bool
) -> None:
    """That of the measured device, which is NumPy's here."""
    path = _killed(harness)
    _edited(path, lambda kept: kept.update(nvml=[{"physical": place, "uuid": was}]))
    monkeypatch.setattr(environment, "nvml", lambda: [{"physical": place, "uuid": now}])
    if refused:
        assert "the GPU at cpu was GPU-a, now GPU-b" in _refused(harness, path)
    else:
        assert harness("run", "--resume", path).code == 0


def test_resume_with_other_kernels_is_refused(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _killed(harness)
    monkeypatch.setattr(environment, "kernels_hash", lambda: "0" * 64)
    assert "the kernels (kernels_cl, kernels_cu) are others now" in _refused(harness, path)


def test_resume_at_another_commit_is_told(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _killed(harness)
    # None where the checkout is no repository.
    begun = load_run(path).environment["commit"] or "unknown"
    monkeypatch.setattr(environment, "commit", lambda: {"commit": "f" * 40, "dirty": True})
    shown = harness("run", "--resume", path)
    assert shown.code == 0
    assert f"note: begun at commit {begun}" in shown.err
    assert f"goes on at commit {'f' * 40} with changes; the kernels are the same" in shown.err


def test_resume_with_another_version_of_a_library_is_refused(harness: Harness) -> None:
    path = _killed(harness)
    _edited(path, lambda kept: kept["packages"].update(numpy="0.1", pillow="0.2"))
    refused = _refused(harness, path)
    assert f"numpy was 0.1, now {version('numpy')}" in refused
    assert "pillow" not in refused


def test_a_run_says_when_it_went_on(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _killed(harness)
    assert load_run(path).resumed == []
    monkeypatch.setattr(environment, "commit", lambda: {"commit": "f" * 40, "dirty": True})
    assert harness("run", "--resume", path, "--report", "page").code == 0
    (resumed,) = load_run(path).resumed
    assert (resumed["commit"], resumed["dirty"]) == ("f" * 40, True)
    assert resumed["packages"]["numpy"] == version("numpy")
    assert resumed["started"] >= load_run(path).environment["started"]
    assert f"resumed {resumed['started'][:10]} at commit {'f' * 12}" in Path("page/my.html").read_text(
        "utf-8"
    )
    kinds = [json.loads(line)["type"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert kinds == ["environment", "record", "resumed", "record", "end"]
    assert harness("run", "--resume", path).code == 0
    assert len(load_run(path).resumed) == 1, "nothing was left to do"


def test_records_that_the_suite_does_not_ask_for_are_not_mixed_with(harness: Harness) -> None:
    """As when what a device gets by default has changed, though the suite has not."""
    path = _killed(harness)
    first, record, torn = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(first + record.replace("[50, 40]", "[5, 4]") + torn, encoding="utf-8")
    assert "numpy:0 minmax int32 5x4 is no case of it now" in _refused(harness, path)


def test_a_run_is_resumed_from_another_folder(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    harness.suite(SUITE + LAPLACE)
    photograph(harness.folder / "photo.png")
    arguments = ("run", "tiny.toml", "--backend", "numpy", "--image", "photo.png", "--run", "my.jsonl")
    assert harness(*arguments).code == 0
    (harness.folder / "below").mkdir()
    monkeypatch.chdir(harness.folder / "below")
    shown = harness("run", "--resume", "../my.jsonl")
    assert shown.code == 0, shown.err


def test_resume_with_another_photograph_is_refused(harness: Harness) -> None:
    photo = harness.folder / "photo.png"
    photograph(photo)
    arguments = ("--backend", "numpy", "--image", photo, "--run", "my.jsonl")
    assert harness("run", harness.suite(SUITE + LAPLACE), *arguments).code == 0
    photograph(photo, seed=1)
    assert f"the photograph {photo} has another content now" in _refused(harness, Path("my.jsonl"))


def test_resuming_adds_no_picture_twice(harness: Harness) -> None:
    harness.suite(SUITE + LAPLACE.replace('["four"]', '["four", "eight"]'))
    assert harness("run", "tiny.toml", "--backend", "numpy", "--run", "my.jsonl").code == 0
    path = Path("my.jsonl")
    pictures = load_run(path).images
    assert len(pictures) == 3
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    assert harness("run", "--resume", path).code == 0
    assert len(load_run(path).records) == 4
    assert load_run(path).images == pictures


@pytest.mark.parametrize("is_resumed", [False, True])
def test_the_workers_of_a_run_hold_its_locks(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, is_resumed: bool
) -> None:
    path = _killed(harness) if is_resumed else Path("new.jsonl")
    held: list[bool] = []

    def run_cases(*arguments: Any) -> None:
        plan: RunPlan = arguments[0]
        held.extend(os.path.samestat(os.fstat(file), lock_path("cpu").stat()) for file in plan.held)

    monkeypatch.setattr(session, "run_cases", run_cases)
    new = (harness.suite(), "--backend", "numpy", "--run", path)
    harness("run", *(("--resume", path) if is_resumed else new))
    assert held == [True]


def test_a_resumed_run_of_a_busy_device_is_refused_and_left_as_it_is(harness: Harness) -> None:
    path = _killed(harness)
    before = path.read_bytes()
    with locked({"cpu": []}, "x"):
        assert harness("run", "--resume", path).code == 2
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("given", "named"),
    [(("--backend", "opencl"), "--backend"), (("quick",), "SUITE"), (("--seed", 1), "--seed")],
)
def test_resume_takes_no_other_options(harness: Harness, given: tuple[object, ...], named: str) -> None:
    """Not even what is the default: it is not what the run was made with."""
    shown = harness("run", *given, "--resume", _killed(harness))
    assert shown.code == 2
    assert f"give nothing else with --resume: no {named}\n" in shown.err


def test_resume_of_a_compressed_run_is_a_mistake(harness: Harness) -> None:
    path = Path("my.jsonl.gz")
    path.write_bytes(gzip.compress(_killed(harness).read_bytes()))
    assert "error: my.jsonl.gz is compressed" in _refused(harness, path)


def test_resume_of_something_else_is_refused(harness: Harness) -> None:
    Path("notes.jsonl").write_text("{}\n", encoding="utf-8")
    shown = harness("run", "--resume", "notes.jsonl")
    assert shown.code == 2
    assert "not a run file" in shown.err


def test_a_resumed_run_whose_backend_is_gone_says_why(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path("my.jsonl")
    plan = planning.plan_run(Request(str(harness.suite())))
    assert any(device.backend == "opencv" for device in plan.devices)
    RunWriter(path, planning.environment_of(plan, "harness run")).close()
    found = available()
    monkeypatch.setattr(planning, "available", lambda: {**found, "opencv": "opencv: wrong ELF class"})
    said = _refused(harness, path)
    assert ", now absent; " in said
    assert "; opencv: wrong ELF class; have it as it was" in said

"""Run files that a stranger may have written: refused with file, line and field, or read by all readers.

Every value of real lines is left out, doubled, renamed, or replaced by what does not belong there. Seeded:
the same files each time; HARNESS_FUZZ asks for another number of them.
"""

from __future__ import annotations

import copy
import json
import math
import os
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import reports
from harness.cli import render
from harness.devices import DeviceInfo
from harness.problems import Bandwidth, Empty
from harness.results.compare import compare, machine_differences
from harness.results.record import Case, Record
from harness.results.run_writer import RunWriter
from harness.results.runfile import Run, RunFileUnusable, load_run
from harness.runner import planning
from harness.runner.resuming import suite_content
from harness.runner.selftest import selftest_of
from harness.suites.files import suite_text
from harness.variants.axes import LaunchVariant, LibraryVariant
from harness.variants.ladders import LADDERS
from reports.page import page as page_of
from reports.repeatability import repeated
from tests.support.fake_backend import DEVICE
from tests.support.html import HOSTILE, Page
from tests.support.report_data import device, environment, laplace, limit, png, record, reduction, with_blocks

FILES = int(os.environ.get("HARNESS_FUZZ", "160"))
"""How many mutants of each kind of line."""
BATCH = 25
"""Mutants that were let in and are read together."""
EXAMPLES = Path(__file__).parents[2] / "reports" / "examples"

Line = dict[str, Any]
Path_ = tuple[Any, ...]

DEEP: Any = []
for _ in range(400):
    DEEP = [DEEP] if _ % 2 else {"a": DEEP}
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, -0.0, 0.5, 2**31, 2**63, 2**64, 10**30, -(10**30), 10**400, 5e-324,
    1e-300, 1e308, math.nan, math.inf, -math.inf, "", "x", "1", "nan", "<script>", "\0\x1b[31m", "\ud800",
    "$^{\\frac", "a" * 99999, "\N{SNOWMAN}" * 500, [], {}, [[]], [None], [1, "a"], [0] * 71, {"": ""},
    {"a": [{}]}, {"kind": "empty"}, DEEP,
)  # fmt: skip


def run_lines() -> list[Line]:
    """A run of every kind of line: machine, every problem, limits, controls, a failure, a picture."""
    many = [1e-5 * (1 + place / 1000) for place in range(16)]
    pair = [
        with_blocks(record(backend, reduction(), 1e-5), *(seconds * (1 + 0.1 * number) for seconds in many))
        for number, backend in enumerate(("opencl", "cuda"))
    ]
    empty = Case("opencl", 0, Empty((((264,), (256,)),)), LaunchVariant(), role="control")
    rungs = [record("cuda", reduction("min"), 2e-5, variant=rung) for rung in LADDERS["modern"].rungs]
    records = [
        *pair,
        replace(pair[0], case=replace(pair[0].case, role="control")),
        *(record(backend, laplace(640), 4e-6, launch=1e-6) for backend in ("opencl", "cuda", "numpy", "cub")),
        *(record("opencl", Bandwidth("copy", "uint8", 2**22), 4e-6), limit("read", 4 * 2560**2, 1e12)),
        limit("copy", 640**2, 1e12),
        with_blocks(Record(empty, "ok"), *many),
        Record(Case("cuda", 0, laplace(9), LibraryVariant(), "cold"), "failed", "it fell over"),
        *rungs,
    ]
    asked = {"suite": "smoke", "backends": ["opencl"], "devices": [], "image": None, "samples": 3, "seed": 1,
             "processes": 1, "contexts": None, "budget": None}  # fmt: skip
    options = {"samples": 3, "case_seconds": 0.5, "limit_s": 9.0, "processes": 1, "contexts": {"opencl:0": 2},
               "launch_contexts": 0, "budget": None}  # fmt: skip
    sensors = [{"name": "H200", "physical": "0000:3b:00.0", "power_cap_watts": 700.0, "ecc": "on"}]
    devices = [device(name) for name in ("opencl", "cuda")] + [device("numpy", 0, "EPYC", "cpu")]
    kept = {"suite_content": suite_content(suite_text("smoke")), "image_sha256": None, "kernels_sha256": "0"}
    machine = environment(
        *devices, request=asked, options=options, nvml=sensors, missing={"cupy": "gone"}, **kept
    )
    picture = {"type": "image", "title": "t", "backend": "opencl", "device": "opencl:0", "caption": "c",
               "png": png("original")}  # fmt: skip
    resumed = {"type": "resumed", "started": "2026-11-29T18:26:11+00:00", "commit": "f" * 40, "dirty": False,
               "host": {"cpu": "EPYC", "cores": 2}, "packages": {"numpy": "2.4"}}  # fmt: skip
    return [machine, *(whole(each).to_json() for each in records), resumed, picture]


def whole(original: Record) -> Record:
    """The record with every entry that a provenance may have."""
    launch = {
        "kernel": "k",
        "num_groups": [264],
        "group_size": [256],
        "local_bytes": 0,
        "registers": 32,
        "spills": 0,
    }
    provenance = {
        "launches": [launch], "kernels": [launch, launch], "source_hash": "abc", "build_options": ["-O3"],
        "accumulator": "int64", "submission": "in_order queue", "calls_per_result": 1, "bytes_moved": 9,
        "note": "a note", "sources": 1, "verified_after": True, "disagreement": "", "timing_seconds": 0.5,
        "wall_seconds": 0.6, "gate": "kernel", "transfers": 0, "no_kernel_clock": "none",
        "watch": [{"before": {"mhz": 1}, "after": {}}],
    }  # fmt: skip
    return replace(original, provenance={**provenance, **original.provenance})


@cache
def bases() -> dict[str, tuple[Line, ...]]:
    """Runs to mutate: a synthetic one, and one line of each kind of a recorded one."""
    recorded = load_lines(EXAMPLES / "h200-8192x8192.jsonl.xz")
    some = {_kind(line): line for line in recorded[1:]}
    return {"synthetic": tuple(run_lines()), "recorded": (recorded[0], *some.values())}


def _kind(line: Line) -> tuple[str, ...]:
    if "case" not in line:
        return (line["type"],)
    case = line["case"]
    return case["backend"], case["role"], case["cache"], case["problem"]["kind"]


def load_lines(path: Path) -> list[Line]:
    """The lines of a recorded run."""
    import lzma

    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def places(data: Any, at: Path_ = ()) -> Iterator[Path_]:
    """The path of every value inside nested lists and objects; of a long list of its first entries."""
    items = data.items() if isinstance(data, dict) else enumerate(data[:2]) if isinstance(data, list) else ()
    for key, value in items:
        yield (*at, key)
        yield from places(value, (*at, key))


def mutant(line: Line, rng: random.Random) -> Line:
    """The line with one value changed, or two."""
    changed = copy.deepcopy(line)
    for _ in range(rng.choice((1, 1, 1, 2))):
        at = rng.choice(list(places(changed)))
        inner = changed
        for key in at[:-1]:
            inner = inner[key]
        mutate(inner, at[-1], rng)
    return changed


def mutate(inner: Any, key: Any, rng: random.Random) -> None:
    """Changes the value of a list or an object at that key."""
    value = inner[key]
    match rng.randrange(6):
        case 0:
            del inner[key]
        case 1 if isinstance(inner, list):
            inner.extend([value] * rng.choice((1, 70)))
        case 1:
            inner[f"{key}x"] = inner.pop(key)
        case 2 if isinstance(value, (int, float)):
            inner[key] = rng.choice(
                (-value, value * 10**20, float(value), str(value), bool(value), value + 0.5)
            )
        case 3:
            inner[key] = rng.choice(([value], {"a": value}, [[value]], [value, value]))
        case _:
            inner[key] = rng.choice(ODD)


def write(path: Path, lines: Sequence[Line]) -> Path:
    """The lines as a run file."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def refused(path: Path, number: int) -> bool:
    """Whether the file is refused; it must then say where."""
    try:
        load_run(path)
    except ValueError as error:
        message = str(error)
        assert message.startswith(f"{path}, line {number}: ") or message.startswith(
            f"{path} is not a run file"
        ), message
        assert len(message) < 3000
        return True
    return False


def _compared(a: Run, b: Run) -> None:
    render.refuse_other_machines(machine_differences(a, b), force=True)
    found = compare(a, b)
    render.show_comparison(found)
    json.dumps(found.to_json(), allow_nan=False)


def _repeated(a: Run, b: Run) -> None:
    found = repeated(a, b)
    render.show_repeated(found, as_json=False)
    json.dumps([each.to_json() for each in found], allow_nan=False)


def read_by_all(path: Path, other: Run, folder: Path, resumes: bool = True) -> None:
    """What reads a run does so without an error; but a ValueError where two have nothing in common."""
    run = load_run(path)
    reports.write_report([run], folder)
    reports.terminal_table(run)
    for pair in ((run, other), (other, run)):
        for question in (_compared, _repeated):
            try:
                question(*pair)
            except ValueError as error:
                assert "in common" in str(error)  # noqa: PT017
    try:
        render.show_selftest(selftest_of(run, 20), as_json=False)
    except ValueError as error:
        assert str(path) in str(error)  # noqa: PT017
    if not resumes:
        with pytest.raises(RunFileUnusable, match="only a plain run file can be resumed"):
            planning.plan_resumed(path)
        return
    again = folder / "again.jsonl"
    shutil.copy(path, again)
    RunWriter.resume(again)[0].close()
    try:
        planning.plan_resumed(path)
    except ValueError as error:
        assert str(error)  # noqa: PT017


@pytest.fixture(autouse=True)
def known_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[DeviceInfo] = [replace(DEVICE, backend=name) for name in ("opencl", "cuda")]
    monkeypatch.setattr(planning, "discover", lambda: (found, {}))


KINDS = [(name, kind) for name in ("synthetic", "recorded") for kind in ("environment", "record")]


@pytest.mark.parametrize(("name", "kind"), [*KINDS, ("synthetic", "image")])
def test_mutants_are_refused_or_read(name: str, kind: str, tmp_path: Path) -> None:
    lines = list(bases()[name])
    chosen = [number for number, line in enumerate(lines) if line["type"] == kind]
    base = load_run(write(tmp_path / "base.jsonl", lines))
    rng = random.Random(f"{name} {kind}")
    let_in: list[tuple[int, Line]] = []
    path = tmp_path / "mutant.jsonl"
    for _ in range(FILES):
        number = rng.choice(chosen)
        changed = mutant(lines[number], rng)
        neighbour = [] if kind == "environment" else lines[:1]
        if not refused(write(path, [*neighbour, changed]), len(neighbour) + 1):
            let_in.append((number, changed))
    assert len(let_in) > FILES / 50
    # What is drawn takes its time: so many pages.
    size, pages = 1 if kind == "environment" else BATCH, FILES // 40
    for start in range(0, min(len(let_in), pages * size), size):
        batch = let_in[start : start + size]
        rest = [line for number, line in enumerate(lines) if number not in {place for place, _ in batch}]
        mutated = [line for _, line in batch]
        # A machine is line 1; a mutated record stands beside all that was not mutated.
        read_by_all(write(path, mutated + rest if kind == "environment" else rest + mutated), base, tmp_path)


def test_mutants_of_a_benchmark_file_are_refused_or_read(tmp_path: Path) -> None:
    machine, *records = (line for line in bases()["synthetic"] if line["type"] in ("environment", "record"))
    benchmarks = [{"name": "x", "stats": {}, "extra_info": {"record": line}} for line in records]
    document = {"machine_info": {"node": "x", "harness": machine}, "benchmarks": benchmarks, "version": "5"}
    base = load_run(write(tmp_path / "base.jsonl", bases()["synthetic"]))
    rng = random.Random("benchmark")
    around = [at for at in places({**document, "benchmarks": benchmarks[:2]}) if "record" not in at[:-1]]
    path, let_in = tmp_path / "benchmark.json", 0
    for _ in range(FILES):
        at = rng.choice(around)
        changed = copy.deepcopy(document)
        inner: Any = changed
        for key in at[:-1]:
            inner = inner[key]
        mutate(inner, at[-1], rng)
        path.write_text(json.dumps(changed), encoding="utf-8")
        try:
            load_run(path)
        except ValueError as error:
            assert str(error).startswith(str(path))  # noqa: PT017
            assert len(str(error)) < 3000  # noqa: PT017
            continue
        let_in += 1
        if let_in % 20 == 0:
            read_by_all(path, base, tmp_path, resumes=False)
    assert FILES / 50 < let_in < FILES


def test_text_of_a_stranger_is_inert_on_the_page(tmp_path: Path) -> None:
    """Each text that may be any text is a hostile one, all of them in one run, and so is the file's name."""
    lines, hostile = run_lines(), 0
    path = tmp_path / "<img src=x onerror=alert(3)>.jsonl"
    for number, line in enumerate(lines):
        for at in places(line):
            inner = line
            for key in at[:-1]:
                inner = inner[key]
            if isinstance(before := inner[at[-1]], str) and at[-1] != "png":
                inner[at[-1]] = HOSTILE
                neighbour = lines[:1] if number else []
                if is_refused := refused(write(path, [*neighbour, line]), len(neighbour) + 1):
                    inner[at[-1]] = before
                hostile += not is_refused
    assert hostile > 200
    run = load_run(write(path, lines))
    page = Page(page_of([run, run], [HOSTILE, HOSTILE]))
    scripts = [attributes.get("type") for tag, attributes in page.elements if tag == "script"]
    assert [kind for kind in scripts if kind != "application/gzip"] == [None]
    names = {name for _, attributes in page.elements for name in attributes}
    assert not {name for name in names if name.startswith("on")}
    assert "onerror=alert(3)" in " ".join(page.text)
    sources = [attributes["src"] or "" for tag, attributes in page.elements if tag == "img"]
    assert sources
    assert all(source.startswith("data:image/png;base64,iVBORw0KGgo") for source in sources)

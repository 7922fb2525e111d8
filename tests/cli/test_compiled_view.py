"""``harness compile``: what kernels take of a GPU that is not here."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from backends.common.resources import Resources
from backends.cuda import resources as ptxas
from backends.errors import BackendUnavailable, BuildError
from backends.opencl import clang
from harness.kernels.plan import PlannedLaunch
from harness.kernels.targets import Target
from harness.results.run_writer import RunWriter
from tests.support.command import Harness, harness
from tests.support.report_data import cpu_run

__all__ = ["harness"]


@pytest.fixture(autouse=True)
def _compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compilers that say of a kernel what its name and target are long."""

    def resources(source: str, target: Target, launches: Mapping[str, PlannedLaunch]) -> list[Resources]:
        spills = 3 * ("tree/naive" in source)
        return [Resources(name, 40, target.wave, spills, 0, 0, 64, 8) for name in launches]

    for module in (clang, ptxas):
        monkeypatch.setattr(module, "version", lambda: "a compiler 1.0")
        monkeypatch.setattr(module, "resources", resources)


def test_the_table_of_one_problem(harness: Harness) -> None:
    done = harness("compile", "--target", "gfx1100", "minmax", "int32")
    assert done.code == 0, done.err
    assert "gfx1100, waves of 32: compiled by a compiler 1.0, not run" in done.out
    assert "gfx1100, waves of 64: compiled by a compiler 1.0, not run" in done.out
    assert "| minmax int32 2560x2560 | portable default | reduce |" in done.out
    assert "with spills" in done.out
    alone = harness("compile", "--target", "gfx1100", "--wave", "64", "minmax", "int32")
    assert "waves of 32" not in alone.out


def test_the_same_as_json(harness: Harness) -> None:
    done = harness("compile", "--target", "sm_90", "--target", "gfx942", "minmax int32", "--json")
    assert done.code == 0, done.err
    nvidia, amd = json.loads(done.out)["targets"]
    assert (nvidia["target"], nvidia["wave"], amd["target"], amd["wave"]) == ("sm_90", 32, "gfx942", 64)
    assert amd["kernels"][0] == {
        "problem": "minmax int32 2560x2560",
        "variant": "default",
        "kernel": "reduce",
        "registers": 40,
        "scalar_registers": 64,
        "spills": 0,
        "scalar_spills": 0,
        "stack_bytes": 0,
        "local_bytes": 64,
        "waves": 8,
    }
    assert [row["spills"] for row in amd["kernels"] if row["variant"] == "pcl:0"] == [3, 3]


def test_a_report_has_what_was_compiled_beside_what_ran(harness: Harness) -> None:
    run = cpu_run()
    with RunWriter(harness.folder / "run.jsonl", run.environment) as writer:
        for record in run.records:
            writer.write(record)
    printed = harness("compile", "--target", "gfx1100", "minmax int32", "--json")
    (harness.folder / "gfx.json").write_text(printed.out)
    done = harness("report", "run.jsonl", "--compiled", "gfx.json", "--report", "there")
    assert done.code == 0, done.err
    (page,) = (harness.folder / "there").glob("run*.html")
    text = page.read_text(encoding="utf-8")
    for wave in (32, 64):
        assert f"gfx1100, waves of {wave}, by a compiler 1.0; " in text
    done = harness("report", "run.jsonl", "--compiled", "run.jsonl")
    assert done.code == 2
    assert "run.jsonl: Invalid JSON" in done.err


def test_what_does_not_compile_is_told_and_the_rest_goes_on(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clang, "resources", _refusing)
    done = harness("compile", "--target", "gfx942", "sum uint8")
    assert done.code == 1
    assert "sum uint8 2560x2560, default: it does not compile: b.cl:1: error: no such thing" in done.err
    assert "0 kernels, 0 with spills" in done.out


def _refusing(source: str, *_: object) -> list[Resources]:
    raise BuildError("it does not compile", source, "note: a\nb.cl:1: error: no such thing\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--target", "gfx943"), "did you mean 'gfx942'"),
        (("--target", "gfx942", "--wave", "32"), "gfx942 has waves of 64, not of 32"),
        (("--target", "gfx942", "--wave", "-1"), "'-1' is not a whole number of at least 0"),
        (("--target", "gfx942", "minmix"), "word 'minmix' is unknown"),
        ((), "Missing option '--target'"),
    ],
)
def test_mistakes(harness: Harness, arguments: tuple[str, ...], said: str) -> None:
    done = harness("compile", *arguments)
    assert done.code == 2
    assert said in done.err


def test_a_missing_compiler_is_one_line(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise BackendUnavailable("clang is not on PATH", clang.HOW_TO_GET)

    monkeypatch.setattr(clang, "version", missing)
    done = harness("compile", "--target", "gfx942", "sum")
    assert done.code == 1
    assert done.err.strip() == ("error: clang is not on PATH; what to do: apt-get install clang-19 libclc-19")

"""Kernels are compiled by several processes before a run measures."""

from __future__ import annotations

import errno
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from backends import REGISTRY, available, open_backend
from backends.common.kernel_backend import OwnKernelBackend
from harness.problems import Bandwidth, Laplace, Reduction
from harness.results.record import Case
from harness.runner import compiling
from harness.runner.compiling import compile_ahead
from harness.runner.plan import RunPlan
from harness.runner.run import Progress
from harness.variants.axes import CommandVariant, LibraryVariant, ReductionVariant
from tests.support.fake_backend import DEVICE, DIARY
from tests.support.fake_runs import CASES, CLASSES, faults, planned, run

OURS = [replace(case, backend=name) for case in CASES[:4] for name in ("opencl", "cuda")]
"""Four ops with kernels of ours in both APIs, on the fake device."""


@pytest.fixture(autouse=True)
def diary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the fake devices note; with cores and memory enough for four processes, however few the cases."""
    monkeypatch.setattr(compiling, "WORTH_S", 0)
    monkeypatch.setattr(compiling, "usable_cores", lambda: 4)
    monkeypatch.setattr(compiling, "HOST_BYTES", 1)
    path = tmp_path / "diary"
    monkeypatch.setenv(DIARY, str(path))
    path.touch()
    return path


def of_fakes(cases: list[Case], **options: Any) -> RunPlan:
    names = ("opencl", "cuda", "cub", "cupy", "npp", "torch")
    return planned(cases, classes=dict.fromkeys(names, CLASSES["fake"]), **options)


def compiled(path: Path) -> list[str]:
    return sorted(line for line in path.read_text().splitlines() if line.startswith("compiled"))


def told_of(plan: RunPlan) -> list[tuple[int, int]]:
    told: list[tuple[int, int]] = []
    compile_ahead(plan, plan.cases, lambda *state: told.append(state))
    return told


def test_each_kernel_is_compiled_once_before_anything_is_measured(tmp_path: Path, diary: Path) -> None:
    told: list[Progress] = []
    again = [replace(case, role="control", cache="cold") for case in OURS[:2]]
    found = run(tmp_path, of_fakes([*OURS, *again]), told)
    assert {record.status for record in found.records} == {"ok"}
    ops = [case.problem.op for case in CASES[:4]]  # type: ignore[union-attr]
    assert compiled(diary) == sorted(2 * [f"compiled {op}" for op in ops])
    # Four processes, and the two workers that measure.
    assert diary.read_text().splitlines().count("opened") == 6
    states = [(state.compiled, state.to_compile) for state in told if state.to_compile]
    assert (states[0], states[-1]) == ((0, 8), (8, 8))
    assert all(state.done == 0 for state in told[: len(states)])
    assert not any(state.to_compile for state in told[len(states) :])


def test_where_no_process_can_be_started_nothing_is_compiled_ahead(
    monkeypatch: pytest.MonkeyPatch, diary: Path
) -> None:
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert told_of(of_fakes(OURS)) == []
    assert diary.read_text() == ""


def refuse(*_: object, **__: object) -> None:
    """What the system answers that has no room for a further process."""
    raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")


def test_what_compiles_nothing_or_is_skipped_is_left_alone(diary: Path) -> None:
    library = [replace(case, backend="npp") for case in CASES[:4]]
    told_of(of_fakes([*library, *OURS], skipped={OURS[0]: "too large"}))
    assert compiled(diary) == sorted(f"compiled {case.problem.op}" for case in OURS[1:])  # type: ignore[union-attr]


def test_a_library_s_compiled_code_may_serve_many_cases(monkeypatch: pytest.MonkeyPatch, diary: Path) -> None:
    """All of CUB for a type is one compilation; CuPy compiles each function, and each is worth a process."""
    monkeypatch.setattr(compiling, "WORTH_S", 0.5)
    found = [replace(case, backend=name) for case in CASES[:4] for name in ("cub", "cupy")]
    told_of(of_fakes(found))
    ops = [case.problem.op for case in CASES[:4]]  # type: ignore[union-attr]
    assert compiled(diary) == sorted(f"compiled {op}" for op in [ops[0], *ops])


def test_pytorch_compiles_integer_filters_alone() -> None:
    compiles = REGISTRY["torch"].compiles
    assert compiles
    one, other, of_floats = (
        Laplace("four", "wrap", "laplacian", dtype, 5, 7, channels)
        for dtype, channels in (("uint8", 1), ("uint8", 3), ("float32", 1))
    )
    keys = [compiles.code(each, LibraryVariant()) for each in (one, other, of_floats, CASES[0].problem)]
    assert None not in keys[:2]
    assert keys[0] != keys[1]
    assert keys[2:] == [None, None]


def test_what_a_library_compiles_nothing_for_is_left_alone(diary: Path) -> None:
    """PyTorch's reductions beside kernels of ours."""
    told = told_of(of_fakes([*(replace(case, backend="torch") for case in CASES[:4]), *OURS]))
    assert told[-1] == (len(OURS), len(OURS))
    assert len(compiled(diary)) == len(OURS)


def processes(*cases: Case) -> list[str]:
    """The backends of the processes that compile these."""
    plan = of_fakes([*cases])
    return [name for name, _ in compiling._helpers(plan, compiling._by_device(plan, plan.cases))]


def test_what_compiles_longest_has_the_most_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """CuPy's kernels take longer than ours, but no device has more processes than cases."""
    cupy = [replace(case, backend="cupy") for case in CASES[:3]]
    assert processes(*cupy, *OURS) == ["cupy", "opencl", "cuda", "cupy"]
    monkeypatch.setattr(compiling, "usable_cores", lambda: 8)
    assert processes(*cupy, *OURS)[4:] == ["cupy", "opencl", "cuda", "opencl"]


def test_what_cannot_be_shared_counts_as_a_whole() -> None:
    """CUB's three types take two processes twice 17 s, longer than CuPy's thirty kernels take one."""
    types = [Reduction("min", dtype, (9,)) for dtype in ("uint8", "int32", "float32")]
    sizes = [Reduction("min", "uint8", (size,)) for size in range(9, 39)]
    cub = [Case("cub", 0, problem, LibraryVariant()) for problem in types]
    cupy = [Case("cupy", 0, problem, LibraryVariant()) for problem in sizes]
    assert processes(*cub, *cupy) == ["cub", "cupy", "cub", "cub"]


def test_each_device_has_a_process_however_long_others_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a worker would compile while the others wait to measure."""
    monkeypatch.setattr(compiling, "LEAST", 1)
    many = [replace(case, backend=name) for case in CASES[:4] for name in ("cub", "cupy")]
    assert set(processes(*many, *OURS)) == {"cub", "cupy", "opencl", "cuda"}


def test_cub_has_nothing_to_compile_for_filters() -> None:
    compiles = REGISTRY["cub"].compiles
    assert compiles
    assert compiles.code(Laplace("four", "wrap", "laplacian", "uint8", 5, 7, 1), LibraryVariant()) is None


@pytest.mark.parametrize("scarce", ["cores", "memory", "cases"])
def test_few_processes_are_none(monkeypatch: pytest.MonkeyPatch, diary: Path, scarce: str) -> None:
    """The workers compile beside each other anyway."""
    if scarce == "cores":
        monkeypatch.setattr(compiling, "usable_cores", lambda: 3)
    elif scarce == "memory":
        monkeypatch.setattr(compiling, "HOST_BYTES", psutil.virtual_memory().total)
    else:
        ours = REGISTRY["opencl"].compiles
        assert ours
        monkeypatch.setattr(compiling, "WORTH_S", 2 * ours.seconds + 0.01)
    assert told_of(of_fakes(OURS)) == []
    assert not diary.read_text()


def test_a_gpu_holds_as_many_contexts_as_fit(monkeypatch: pytest.MonkeyPatch, diary: Path) -> None:
    monkeypatch.setattr(compiling, "usable_cores", lambda: 16)
    monkeypatch.setattr(compiling, "LEAST", 1)
    one, other = (
        replace(DEVICE, backend=name, memory_bytes=3 * compiling.DEVICE_BYTES) for name in ("opencl", "cuda")
    )
    told_of(of_fakes(OURS, devices=[one, other]))
    assert diary.read_text().splitlines().count("opened") == 3, "OpenCL's and CUDA's of one GPU together"
    told_of(of_fakes(OURS, devices=[one, replace(other, physical="0000:01:00.0")]))
    assert diary.read_text().splitlines().count("opened") == 3 + 6


def test_a_process_that_dies_costs_nothing_but_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, diary: Path
) -> None:
    faults(monkeypatch, max="compiling kill")
    found = run(tmp_path, of_fakes(OURS))
    assert {record.status for record in found.records} == {"ok"}
    assert len(compiled(diary)) == len(OURS)


def test_what_does_not_compile_is_told_by_the_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, diary: Path
) -> None:
    faults(monkeypatch, max="BuildError")
    found = run(tmp_path, of_fakes(OURS))
    assert [record.status for record in found.records] == ["ok", "ok", "failed", "failed", *4 * ["ok"]]
    assert diary.read_text().splitlines().count("opened") == 6


def test_ctrl_c_ends_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    faults(monkeypatch, min="compiling hang")
    before = set(psutil.Process().children())

    def interrupt(*_: int) -> None:
        assert len(set(psutil.Process().children()) - before) >= 4
        raise KeyboardInterrupt

    plan = of_fakes(OURS)
    with pytest.raises(KeyboardInterrupt):
        compile_ahead(plan, plan.cases, interrupt)
    assert set(psutil.Process().children()) == before


def test_a_device_that_cannot_be_opened_is_told_by_the_measurement(
    monkeypatch: pytest.MonkeyPatch, diary: Path
) -> None:
    faults(monkeypatch, start="BackendUnavailable")
    assert told_of(of_fakes(OURS))[-1] == (0, 8)
    assert not compiled(diary)


def test_what_pocl_compiles_stays_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = available()["opencl"]
    if isinstance(devices, str):
        pytest.skip(devices)
    if not (pocl := [device for device in devices if "Portable" in device.platform]):
        pytest.skip("PoCL is not among the OpenCL platforms")
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "cache"))
    cases = [Case("opencl", pocl[0].index, case.problem, ReductionVariant()) for case in CASES[:4]]
    assert told_of(planned(cases, devices=pocl))[-1] == (4, 4)
    assert len(list((tmp_path / "cache").rglob("program.bc"))) >= 4


def test_what_is_compiled_need_not_be_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyopencl")
    with open_backend("opencl") as backend:
        assert isinstance(backend, OwnKernelBackend)
        built, build = [], backend._build

        def counted(source: str, options: tuple[str, ...]) -> object:
            built.append(source)
            return build(source, options)

        monkeypatch.setattr(backend, "_build", counted)
        problem = Reduction("min", "int32", (1000,))
        variant = backend.default_variant(problem)
        backend.compile(problem, variant)
        assert len(built) == 1
        assert backend.compute(problem, problem.make_source(1), variant) is not None
        assert len(built) == 1
        # The API's own copy has no kernel.
        backend.compile(Bandwidth("copy", "uint32", 1000), CommandVariant())
        assert len(built) == 1

"""Registers of OpenCL kernels, with and without the driver's own cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from backends import available, open_backend
from backends.common.disk_cache import DiskCache
from harness.problems import Reduction

if TYPE_CHECKING:
    import pyopencl as cl
else:
    cl = pytest.importorskip("pyopencl")

from backends.opencl import backend as opencl_backend
from backends.opencl import build_log
from backends.opencl.build_log import NV_VERBOSE, verbose_log

SAID = """
ptxas info    : Compiling entry function 'reduce' for 'sm_90'
ptxas info    : Function properties for reduce
    24 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 40 registers
"""
OPTIONS = ("-cl-std=CL1.2", NV_VERBOSE)


class Driver:
    """Builds programs as NVIDIA's driver does: of what it has built before it says nothing."""

    def __init__(self, driver_version: str = "580", speaks: bool = True) -> None:
        self.device = SimpleNamespace(name="H200", driver_version=driver_version)
        self.speaks = speaks
        self.built: list[str] = []

    def build(self, source: str, options: Sequence[str] = ()) -> Any:
        log = SAID if self.speaks and source not in self.built else "\n"
        self.built.append(source)
        context = SimpleNamespace(devices=[self.device])
        return SimpleNamespace(context=context, get_build_info=lambda *_: log)

    def log(self, source: str = "kernel", options: tuple[str, ...] = OPTIONS) -> str:
        return verbose_log(self.build(source), source, options, self.build)


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(build_log, "_logs", DiskCache("log", "", tmp_path))
    return tmp_path


def test_what_the_driver_has_kept_has_the_log_that_was_kept_too() -> None:
    driver = Driver()
    assert driver.log() == driver.log() == SAID
    assert driver.built == ["kernel", "kernel"]


def test_without_it_the_program_is_compiled_anew_once() -> None:
    driver = Driver()
    driver.build("kernel")
    assert driver.log() == driver.log() == SAID
    anew = [source for source in driver.built if source != "kernel"]
    assert len(anew) == 1
    assert anew[0].startswith("kernel\n__kernel void compiled_anew_")


@pytest.mark.parametrize("other", ["source", "options", "driver"])
def test_a_log_is_of_one_program(other: str) -> None:
    Driver().log()
    driver = Driver("581" if other == "driver" else "580", speaks=False)
    source = "another" if other == "source" else "kernel"
    assert driver.log(source, (*OPTIONS, "-g") if other == "options" else OPTIONS) == ""


def test_a_compiler_that_says_nothing_is_asked_once() -> None:
    driver = Driver(speaks=False)
    assert driver.log() == driver.log() == ""
    assert len(driver.built) == 3


def test_a_program_of_pyopencls_is_asked_in_its_words(logs: Path) -> None:
    """NVIDIA's compiler tells the registers; PoCL nothing, and compiles the other kernel beside it, too."""
    if isinstance(reason := available()["opencl"], str):
        pytest.skip(reason)
    with open_backend("opencl") as backend:
        assert isinstance(backend, opencl_backend.OpenClBackend)
        source = "__kernel void nothing(void) {}"
        options = backend.build_options()
        log = verbose_log(backend._compiled(source, options), source, options, backend._compiled)
        assert ("Used " in log) == (NV_VERBOSE in options)
    assert len(list(logs.iterdir())) == 1


def test_what_is_said_is_in_the_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(reason := available()["opencl"], str):
        pytest.skip(reason)
    backend_class = opencl_backend.OpenClBackend
    monkeypatch.setattr(backend_class, "build_options", lambda *_: OPTIONS)
    # Not by these options, which PoCL does not know.
    monkeypatch.setattr(
        backend_class, "_compiled", lambda self, source, _: cl.Program(self._context, source).build()
    )
    monkeypatch.setattr(opencl_backend, "verbose_log", lambda *_: SAID)
    problem = Reduction("min", "int32", (1000,))
    with open_backend("opencl") as backend:
        source = backend.upload(problem.pack(problem.make_source(1)))
        with backend.prepare(problem, backend.default_variant(problem), [source]) as prepared:
            found = {launch.kernel: (launch.registers, launch.spills) for launch in prepared.launches}
    assert found["reduce"] == (40, 24)

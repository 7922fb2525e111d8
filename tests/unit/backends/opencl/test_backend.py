"""Programs of the OpenCL backend in one context after the other, with PoCL in the place of a GPU's driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from backends import available, open_backend
from backends.errors import BuildError
from harness.devices import Array
from harness.problems import Reduction

if TYPE_CHECKING:
    import pyopencl as cl
else:
    cl = pytest.importorskip("pyopencl")

from backends.opencl import backend as opencl_backend
from backends.opencl.backend import OpenClBackend

SOURCE = "__kernel void twice(__global int *values) { values[get_global_id(0)] *= 2; }"


@pytest.fixture(autouse=True)
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that were built as such; nothing of another test is known."""
    if isinstance(reason := available()["opencl"], str):
        pytest.skip(reason)
    sources: list[str] = []
    real = OpenClBackend._compiled

    def noted(self: OpenClBackend, source: str, options: Sequence[str]) -> cl.Program:
        sources.append(source)
        return real(self, source, options)

    monkeypatch.setattr(OpenClBackend, "_compiled", noted)
    monkeypatch.setattr(opencl_backend, "_binaries", {})
    return sources


def contexts(count: int, kind: str) -> Iterator[OpenClBackend]:
    """The backend in one context after the other, on a device that says that it is of this kind."""
    for _ in range(count):
        with open_backend("opencl") as backend:
            assert isinstance(backend, OpenClBackend)
            backend.device = replace(backend.device, kind=kind)  # type: ignore[arg-type]
            yield backend


@pytest.mark.parametrize(("kind", "times"), [("gpu", 1), ("cpu", 3)])
def test_a_gpus_program_is_built_once_in_a_process(kind: str, times: int, built: list[str]) -> None:
    for backend in contexts(3, kind):
        program = backend.program(SOURCE).program
        values = backend.upload(np.arange(8, dtype=np.int32))
        kernel = cl.Kernel(program, "twice")
        kernel.set_args(values.handle)
        cl.enqueue_nd_range_kernel(backend._queue, kernel, (8,), None)
        found = np.empty(8, np.int32)
        cl.enqueue_copy(backend._queue, found, values.handle)
        assert found.tolist() == list(range(0, 16, 2))
    assert built == times * [SOURCE]


def test_what_the_compiler_said_is_known_in_each_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencl_backend, "NV_VERBOSE", opencl_backend.BUILD_OPTIONS[0])
    monkeypatch.setattr(opencl_backend, "verbose_log", lambda _, source, *__: f"of {source}")
    assert [backend.program(SOURCE).log for backend in contexts(2, "gpu")] == 2 * [f"of {SOURCE}"]


def test_other_options_are_another_program(built: list[str]) -> None:
    for backend, more in zip(contexts(2, "gpu"), ((), ("-DANOTHER",)), strict=True):
        backend._build(SOURCE, (*opencl_backend.BUILD_OPTIONS, *more))
    assert built == [SOURCE, SOURCE]


@pytest.mark.parametrize("codes", [[b"no program"], [b""], []])
def test_a_driver_without_binaries_builds_the_source(
    codes: list[bytes], built: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = OpenClBackend._built

    def without(self: OpenClBackend, source: str, options: tuple[str, ...]) -> opencl_backend.Built:
        fake = SimpleNamespace(get_info=lambda _: codes)
        return opencl_backend.Built(fake, real(self, source, options).log)  # type: ignore[arg-type]

    monkeypatch.setattr(OpenClBackend, "_built", without)
    for backend in contexts(2, "gpu"):
        backend.program(SOURCE)
    assert built == [SOURCE, SOURCE]
    assert ("does not take its own binary" in caplog.text) == (codes == [b"no program"])


def test_a_source_that_does_not_compile_fails_in_each_context(built: list[str]) -> None:
    for backend in contexts(2, "gpu"):
        with pytest.raises(BuildError, match="does not compile"):
            backend.program("no C at all")
    assert len(built) == 2


def test_reserved_memory_is_written_by_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_backend("opencl") as backend:
        assert isinstance(backend, OpenClBackend)
        monkeypatch.setattr(backend, "upload", lambda _: pytest.fail("it was sent"))
        kept = backend.reserve(4096)
        found = np.ones(4096, np.uint8)
        cl.enqueue_copy(backend._queue, found, kept.handle)
    assert kept.nbytes == 4096
    assert not found.any()


@pytest.mark.parametrize("nbytes", [4, 16, 20, 32, 4000])
def test_little_memory_is_filled_and_copied_to_the_rest(monkeypatch: pytest.MonkeyPatch, nbytes: int) -> None:
    monkeypatch.setattr(opencl_backend, "_MOST_FILLED", 16)
    fills = []
    fill = cl.enqueue_fill_buffer

    def noted(queue: cl.CommandQueue, handle: cl.Buffer, pattern: Array, offset: int, size: int) -> None:
        fills.append((offset, size))
        fill(queue, handle, pattern, offset, size)

    monkeypatch.setattr(cl, "enqueue_fill_buffer", noted)
    pattern = np.arange(4, dtype=np.uint8)
    with open_backend("opencl") as backend:
        assert isinstance(backend, OpenClBackend)
        handle = backend._allocate(nbytes)
        backend._fill(handle, nbytes, pattern.tobytes())
        found = np.zeros(nbytes, np.uint8)
        cl.enqueue_copy(backend._queue, found, handle)
    assert (found == np.resize(pattern, nbytes)).all()
    assert fills == [(0, min(nbytes, 16))]


def test_a_problem_is_right_in_each_context(built: list[str]) -> None:
    problem = Reduction("minmax", "int32", (1000,))
    source = problem.make_source(1)
    counts = []
    for backend in contexts(2, "gpu"):
        uploaded = backend.upload(problem.pack(source))
        with backend.prepare(problem, backend.default_variant(problem), [uploaded]) as prepared:
            prepared.enqueue(0)
            assert prepared.result() == problem.reference(source)
        counts.append(len(built))
    assert counts[0] == counts[1] > 0

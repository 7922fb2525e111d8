"""What a worker leaves behind when it opens its device anew, in this process."""

from __future__ import annotations

import gc
import io
import json
import weakref
from collections.abc import Iterator

import pytest

from backends import Backend, available, open_backend
from harness.measure.budget import every_clock, plain, primary_clock
from harness.measure.measurer import Measurer
from harness.problems import Reduction
from harness.results.record import Case
from harness.runner.worker_main import serve


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    """What a worker froze is this process's again."""
    yield
    gc.unfreeze()


def test_nothing_of_a_former_context_is_left() -> None:
    """A buffer or kernel that is still referred to would keep an OpenCL context open."""
    if isinstance(reason := available()["opencl"], str):
        pytest.skip(reason)
    problem = Reduction("minmax", "int32", (1000,))
    contexts: list[weakref.ref[object]] = []
    left: list[int] = []

    def opened() -> Backend:
        left.append(sum(context() is not None for context in contexts))
        backend = open_backend("opencl")
        contexts.append(weakref.ref(backend))
        contexts.append(weakref.ref(backend._context))  # type: ignore[attr-defined]
        return backend

    with open_backend("opencl") as backend:
        case = Case("opencl", 0, problem, backend.default_variant(problem)).to_json()
    shares = [plain(every_clock(3, 0.02)), plain(primary_clock(1, 0.02)), plain(primary_clock(1, 0.02))]
    asked = [line for share in shares for line in ({"case": case, "share": share}, {"renew": True})]
    answers = io.StringIO()
    serve(opened, Measurer, io.StringIO("\n".join(map(json.dumps, asked))), answers)
    told = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert [answer["record"]["status"] for answer in told if "record" in answer] == 3 * ["ok"]
    assert left == [0, 0, 0, 0]


def test_what_survives_a_context_is_not_looked_through_again() -> None:
    if isinstance(reason := available()["opencl"], str):
        pytest.skip(reason)
    frozen: list[int] = []

    def opened() -> Backend:
        frozen.append(gc.get_freeze_count())
        return open_backend("opencl")

    serve(opened, Measurer, io.StringIO('{"renew": true}\n{"renew": true}\n'), io.StringIO())
    assert frozen[0] == 0
    assert frozen[1] > 1000
    assert frozen[2] - frozen[1] < 100

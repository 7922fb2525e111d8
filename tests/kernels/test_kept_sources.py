"""Launches that have the cache keep a part of their source: on each backend with kernels of our own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from backends.base import Backend
from backends.common.kernel_backend import Bound, OwnKernelBackend, PreparedPlan
from backends.errors import Unsupported
from harness.devices import DeviceArray
from harness.kernels.plan import PlannedLaunch, Source
from harness.kernels.planner import plan
from harness.problems import Reduction

PROBLEM = Reduction("max", "int32", (1000,))


class Listener:
    """Sources of which nothing is kept; ``told``: what was asked for, and which launches were made."""

    def __init__(self, sources: Sequence[DeviceArray], share: float) -> None:
        self.told: list[Any] = [(len(sources), share)]

    def around(self, i: int, launch: Bound) -> Bound:
        def told() -> None:
            self.told.append(i)
            launch()

        return told

    def free(self) -> None:
        self.told.append("free")


def prepared(backend: OwnKernelBackend) -> PreparedPlan:
    sources = [backend.upload(PROBLEM.pack(PROBLEM.make_source(seed))) for seed in (1, 2)]
    planned = plan(PROBLEM, backend.default_variant(PROBLEM), backend.device)
    return PreparedPlan(backend, PROBLEM, replace(planned, kept=0.5), sources)


def test_each_launch_is_told_of_its_source(own_backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(own_backend, OwnKernelBackend)
    made: list[Listener] = []

    def keep(sources: Sequence[DeviceArray], share: float) -> Listener:
        made.append(Listener(sources, share))
        return made[-1]

    monkeypatch.setattr(own_backend, "_keep", keep)
    with prepared(own_backend) as ready:
        for i in (1, 0):
            ready.enqueue(i)
            assert PROBLEM.verify(ready.result(), PROBLEM.make_source((1, 2)[i])).ok
        launches = len(ready.launches)
        (listener,) = made
        told = listener.told[1:]
        assert told[:launches] == [1] * launches
        assert set(told[launches:]) <= {0, 1}
        assert told.count(0) >= launches
    assert listener.told[0] == (2, 0.5)
    assert listener.told.count("free") == 1
    assert listener.told[-1] == "free"


def test_what_loads_had_the_cache_keep_is_given_up_once_of_each_source(
    own_backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(own_backend, OwnKernelBackend)
    bind, made = own_backend._bind, []

    def noted(kernel: Any, launch: PlannedLaunch, arguments: Sequence[Any], submission: Any) -> Bound:
        bound = bind(kernel, launch, arguments, submission)

        def called() -> Any:
            made.append((launch.kernel, arguments[0]))
            return bound()

        return called

    monkeypatch.setattr(own_backend, "_bind", noted)
    # In place of the kernel that does it, which is PTX.
    planned = plan(PROBLEM, own_backend.default_variant(PROBLEM), own_backend.device)
    gives_up = PlannedLaunch("empty", (1,), (1,), (Source(),))
    planned = replace(planned, files=(*planned.files, "empty"), release=(gives_up,))
    sources = [own_backend.upload(PROBLEM.pack(PROBLEM.make_source(seed))) for seed in (1, 2)]
    with PreparedPlan(own_backend, PROBLEM, planned, sources) as ready:
        ready.enqueue(1)
        assert "empty" not in {kernel for kernel, _ in made}
    given_up = [source for kernel, source in made if kernel == "empty"]
    assert given_up == [source.handle for source in sources]
    ready.close()
    assert len(made) == len(ready.launches) + len(sources)


def test_opencl_has_no_way_to_tell(own_backend: Backend) -> None:
    assert isinstance(own_backend, OwnKernelBackend)
    if own_backend.name != "opencl":
        pytest.skip("CUDA's streams can be told")
    with pytest.raises(Unsupported, match="no queue of this API can be told what the cache is to keep"):
        prepared(own_backend)

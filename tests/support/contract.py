"""Problems that the contract tests put to every backend, their sources, and what is wrong with an answer."""

from __future__ import annotations

from typing import Any

import pytest

from backends import Backend
from harness.problems import Array, Bandwidth, Laplace, Problem, Reduction
from tests.support.checks import require, runs

PROBLEMS: list[Problem] = [
    Reduction("minmax", "int32", (70001,)),
    Reduction("sum", "uint8", (1000, 37)),
    Reduction("count_nonzero", "float32", (4097,)),
    Laplace("eight", "wrap", "laplacian", "uint8", 33, 70),
    Laplace("eight_negated", "replicate", "laplacian", "uint8", 33, 70),
    Laplace("four", "reflect_101", "sharpened", "float32", 19, 21, 3),
    Bandwidth("copy", "uint32", 4099),
]
all_problems = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.label)


def some_problem(backend: Backend) -> Problem:
    """One that the backend runs by its default."""
    for problem in PROBLEMS:
        if runs(backend, problem):
            return problem
    pytest.skip(f"{backend.device.key} runs none of the problems here")


def sources_of(backend: Backend, problem: Problem, count: int) -> tuple[list[Array], list[Any]]:
    """``count`` different sources, on the host and uploaded."""
    require(backend, problem)
    hosts = [problem.make_source(seed) for seed in range(count)]
    if isinstance(problem, Reduction):
        # The extremes are the same in every source, and the zeros about as many: set the sources apart.
        hosts = [(host / (seed + 1)).astype(problem.dtype) for seed, host in enumerate(hosts)]
        for seed, host in enumerate(hosts):
            host.flat[: seed * host.size // 8] = 0
    return hosts, [backend.upload(problem.pack(host)) for host in hosts]


def wrong(problem: Problem, answer: Any, host: Array) -> str:
    """What is wrong with ``answer`` for ``host``; empty when it is right."""
    return problem.verify(answer, host).message

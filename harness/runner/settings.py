"""How a run is measured: in how many processes and contexts, for how long, with what limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.measure.measurer import Share
from harness.problems import Empty
from harness.results.record import Case
from harness.runner.schedule import contexts_of

LAUNCH_SAMPLES = 3
"""Of the empty kernel in a context: with it every other time there is compared, so that none may be bad."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is measured.

    seed: of the random sources. samples, case_seconds: the most a clock's samples and a case's timing may be,
    shared by the blocks that measure it. processes: how many fresh ones measure each case. contexts: how many
    fresh contexts of a device, by its key, each of these has in turn; one where not given. launch_contexts:
    after each of several, so many more in which only the empty kernel is measured. contexts_s: seconds of the
    run within which they may begin another; without it at any time. budget: seconds for the whole run, those
    of contexts among them, in place of case_seconds. limit_s: seconds after which a case without an answer is
    ended; start_limit_s: the same for a worker's start. image: the photograph for Laplace problems.
    classes: ``module:Class`` of backends that are not in the registry, by name. held: open files that the
    workers keep open (:func:`harness.runner.device_lock.locked`).
    """

    seed: int = 1
    samples: int = 15
    case_seconds: float = 2.0
    processes: int = 1
    contexts: Mapping[str, int] = field(default_factory=dict)
    launch_contexts: int = 0
    contexts_s: float | None = None
    budget: float | None = None
    limit_s: float = 60.0
    start_limit_s: float = 120.0
    image: Path | None = None
    classes: Mapping[str, str] = field(default_factory=dict)
    held: tuple[int, ...] = ()

    def for_worker(self, shared: str | None = None, key: str = "") -> dict[str, Any]:
        """What one of the processes, on the device of that key, needs of it, as plain data
        (:class:`harness.measure.measurer.Measurer`).
        """
        return {
            "shifts": self.has_several(key),
            "seed": self.seed,
            "image": str(self.image.resolve()) if self.image else None,
            "shared": shared,
        }

    def has_several(self, key: str) -> bool:
        """Whether the device of that key has several contexts in a process: one in each block."""
        return self.contexts.get(key, 1) > 1

    def share(self, case: Case, primary_only: bool) -> Share:
        """What one of the blocks that measure a case has to do; a primary-only one shares it with all
        contexts.
        """
        if primary_only and isinstance(case.problem, Empty):
            return Share(LAUNCH_SAMPLES, self.case_seconds / self.processes, primary_only, self.samples)
        blocks = self.processes * (contexts_of(case, self.contexts) if primary_only else 1)
        return Share(-(-self.samples // blocks), self.case_seconds / blocks, primary_only, self.samples)

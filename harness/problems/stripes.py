"""Large arrays by stripes, which several threads work on: what is made of a stripe stays in the cache."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TypeVar

import numpy as np

from harness.cpuinfo import usable_cores

_Found = TypeVar("_Found")

STRIPE_BYTES = 2**20
"""Of the largest array that is made of a stripe. Threads seldom change turns over so many."""


def by_stripes(work: Callable[[int, int], _Found], length: int, step: int) -> list[_Found]:
    """What ``work`` gives for each stripe of ``step`` (the last may be shorter), from the first to the last.

    As many stripes at a time as the process has cores; ``work`` is to spend its time where NumPy lets other
    threads run. The caller's np.errstate counts in the threads, too.

    Args:
        work: takes where a stripe begins and where it ends, and raises what it likes.
        length: of all stripes together.
        step: at least 1.
    """
    starts = range(0, length, step)
    left, caught = iter(starts), np.geterr()

    def take() -> list[tuple[int, _Found]]:
        """Stripes until none is left: one thread takes many, as handing over each costs what some do."""
        with np.errstate(**caught):
            return [(start, work(start, min(start + step, length))) for start in left]

    cores = min(usable_cores(), len(starts))
    if cores <= 1:
        return [found for _, found in take()]
    with ThreadPoolExecutor(cores) as threads:
        begun = [threads.submit(take) for _ in range(cores)]
        found = dict(chain.from_iterable(each.result() for each in begun))
    return [found[start] for start in starts]

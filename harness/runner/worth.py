"""Which of two kinds of round tells more for its time: one of all cases that are open, or one of the empty
kernel alone.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from harness.results.launch_correction import Corrected


class Spread(NamedTuple):
    """How much one context of a case, and one of the empty kernel, leave unsure of its time: variances as
    shares of that time's square, and the contexts that there are of each.
    """

    own: float
    contexts: int
    launching: float
    launches: int

    @property
    def by_a_context(self) -> float:
        """By how much one more context of the case lowers the variance of its mean time."""
        return self.own / self.contexts**2

    @property
    def by_a_launch(self) -> float:
        """By how much one more context of the empty kernel does."""
        return self.launching / max(1, self.launches) ** 2


def spread_of(corrected: Corrected, launches: int) -> Spread | None:
    """The spread of a case with so many contexts of the empty kernel; None of fewer than two of its own."""
    medians = [statistics.median(block) for block in corrected.blocks]
    if len(medians) < 2:
        return None
    square = statistics.fmean(medians) ** 2
    own, launching = float(np.var(medians, ddof=1)) / square, corrected.error**2 * launches / square
    return Spread(own, len(medians), launching, launches)


def launches_pay(spreads: Sequence[Spread], launch_s: float, round_s: float) -> bool:
    """Whether a round of the empty kernel alone, of ``launch_s`` seconds, lowers the variances of the cases
    by more a second than one of ``round_s`` in which all of them are measured, and the empty kernel, too.
    """
    by_contexts = math.fsum(each.by_a_context for each in spreads)
    by_launches = math.fsum(each.by_a_launch for each in spreads)
    return by_launches * round_s >= (by_contexts + by_launches) * launch_s


@dataclass
class RoundSeconds:
    """What the last round of each kind took: of cases, and of the empty kernel alone."""

    _last: dict[bool, tuple[int, float]] = field(default_factory=dict)

    def add(self, of_launches: bool, number: int, seconds: float) -> None:
        """Takes note of one measurement of the round of that number."""
        last, so_far = self._last.get(of_launches, (number, 0.0))
        self._last[of_launches] = number, seconds + (so_far if last == number else 0.0)

    def of(self, of_launches: bool) -> float | None:
        """None before the first of its kind."""
        return self._last[of_launches][1] if of_launches in self._last else None

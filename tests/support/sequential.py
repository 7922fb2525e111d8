"""Verdicts of simulated runs that measure another context until a verdict is told: how often they are wrong,
as each context is one more look at the same data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from harness.results.ratio import BAND, Side, compare
from harness.results.stopping import ratio_is_told
from harness.runner.known import LEAST_ROUNDS

RUNS = 1000
"""Of one true ratio: the standard error of a share of 5 % is 0.7 points."""
MOST_CONTEXTS = 99
SCATTER = 0.011
"""Of a case's corrected time from context to context, relative: the median of `quick` on an H200."""
FROM_AN_EDGE = (0.0, 0.002, 0.005, 0.01, 0.02)
"""How far within the band the true ratio lies."""


@dataclass(frozen=True)
class Simulated:
    """Shares of the runs of one true ratio, and the contexts that they took in the mean."""

    covering: float
    wrong: float
    undecided: float
    contexts: float


@cache
def simulated(from_edge: float) -> Simulated:
    """Runs whose true ratio lies so far within the band, below 1; *slower* is the wrong verdict there."""
    true = (1 + from_edge) / (1 + BAND)
    chance = np.random.default_rng(7)
    covering, contexts = 0, 0
    verdicts: list[str] = []
    for _ in range(RUNS):
        noise = np.exp(chance.normal(0.0, SCATTER, (2, MOST_CONTEXTS)))
        first, second = (noise * [[1 / true], [1.0]]).tolist()
        count = LEAST_ROUNDS
        while count < MOST_CONTEXTS and not ratio_is_told(first[:count], second[:count], BAND):
            count += 1
        sides = [Side(tuple((time,) for time in side[:count])) for side in (first, second)]
        found = compare(sides[0], sides[1], paired=True)
        covering += found.interval.low <= true <= found.interval.high
        contexts += count
        verdicts.append(found.verdict)
    assert "faster" not in verdicts
    return Simulated(
        covering=covering / RUNS,
        wrong=verdicts.count("slower") / RUNS,
        undecided=verdicts.count("ambiguous") / RUNS,
        contexts=contexts / RUNS,
    )

"""What a worker is told of a trial: the clocks that it is to take, and how long each may sample."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from harness.results.record import Samples
from harness.results.stopping import NARROW, is_narrow, median_ranks

LONG_ENOUGH = 2e-3
"""Seconds that a slope must span, so that the host's jitter of a few microseconds is lost in it."""
ROUGHLY_ENOUGH = LONG_ENOUGH / 3
"""The same where the jitter need only be far less than what tells contexts, or candidates, apart."""
WARM_UP = 0.02
"""Seconds of calls before the first sample, so that the device has left its idle state."""
FAR = 0.1
"""A sample that differs from what is expected by this part does not count alone: the times of a kernel in
two contexts differ by less."""
AMONG = 3
"""Samples whose median one bad one leaves good."""
PATIENCE = 3
"""Times its seconds that a clock may take whose samples do not agree."""
BRIEF_SHARE = 0.25
"""The part of its seconds that a brief trial has."""
_PRIMARY = ("queue", "launch")
_WARM_ALREADY = 1e-3
"""Seconds of calls before the first sample where the device was at work just before: after another clock, in
a case that is only looked at, or one that was measured before.
"""


class Stop(StrEnum):
    """Why the sampling of a clock ended: its median is known well, one of the budget's ends was met, or as
    many samples were dropped as could be taken.
    """

    INTERVAL = "interval"
    SAMPLES = "samples"
    SECONDS = "seconds"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop sampling: once the interval of the median is narrower than ``width`` times the median, at
    ``samples``, or after ``seconds`` once ``least`` are there. A few samples that are not near their median
    (:func:`is_backed`) do not end it before PATIENCE times its seconds.

    ``warm_up`` is seconds of calls before the first sample. ``calls`` are those of a sample of the queue's
    clock, where they are known; else as many are found as last ``span`` seconds. ``expected`` is what a
    sample should be about, where that is known: one that is far from it counts only with two others beside
    it, as it may have been interrupted.
    """

    samples: int = 15
    seconds: float = 1.0
    least: int = 3
    warm_up: float = WARM_UP
    width: float = NARROW
    calls: int | None = None
    span: float = LONG_ENOUGH
    expected: float | None = None

    def doubts(self, taken: Sequence[float]) -> bool:
        """Whether one of these samples is far from what is expected, with too few beside it to count."""
        return bool(self.expected) and len(taken) < AMONG and any(map(self._is_far, taken))

    def stop(self, taken: Sequence[float], spent: float) -> Stop | None:
        """Whether the samples ``taken`` in ``spent`` seconds are enough, and why."""
        if self.doubts(taken):
            return None
        if is_narrow(taken, self.width):
            return Stop.INTERVAL
        is_known = is_backed(taken)
        if len(taken) >= self.samples and is_known:
            return Stop.SAMPLES
        is_over = spent > self.seconds * (1 if is_known else PATIENCE)
        return Stop.SECONDS if is_over and len(taken) >= min(self.least, self.samples) else None

    def _is_far(self, value: float) -> bool:
        assert self.expected
        return abs(value / self.expected - 1) > FAR

    def __post_init__(self) -> None:
        if self.samples < 1 or self.least < 1 or not self.seconds > 0:
            raise ValueError(f"{self}: samples and least must be at least 1 and seconds positive")


def is_backed(taken: Sequence[float]) -> bool:
    """Whether most samples are near their median, so that one that was interrupted is not it. Fewer than
    AMONG cannot tell, and of many the interval does.
    """
    if len(taken) < AMONG or median_ranks(len(taken)):
        return True
    middle = statistics.median(taken)
    return 2 * sum(abs(value - middle) <= FAR * middle for value in taken) > len(taken)


Share = Mapping[str, Budget]
"""What a worker is told of a trial: a budget for each clock that it is to take, by the clock's name."""


def every_clock(samples: int = 15, seconds: float = 2.0, samples_once: int | None = None) -> Share:
    """The share of a case's first trial: so many samples of the primary clock, and ``samples_once`` of the
    others, which no other trial takes. Half of the ``seconds`` are the primary clock's, which is the first
    and warms the device up for the others. An interruption may take all the seconds that another clock has:
    it still takes as many samples as one bad one is lost among.
    """
    other = Budget(samples_once or samples, seconds / 8, least=AMONG, warm_up=_WARM_ALREADY)
    return {
        "queue": Budget(samples, seconds / 2),
        **dict.fromkeys(("launch", "event", "round_trip", "kernel"), other),
    }


def primary_clock(samples: int = 15, seconds: float = 2.0) -> Share:
    """The share of a further trial: the primary clock and its launch cost, of each a sample at least."""
    queue = Budget(samples, seconds / 2, least=1, warm_up=_WARM_ALREADY)
    return {"queue": queue, "launch": replace(queue, seconds=seconds / 8)}


def brief(share: Share) -> Share:
    """The share of a trial that only tells whether its case is worth another one. As it takes the primary
    clock alone, its answer is verified once, after timing. Its samples and its warm-up are short, too: there
    are hundreds of them, one after the other.
    """
    return {
        name: replace(
            share[name],
            seconds=share[name].seconds * BRIEF_SHARE,
            span=ROUGHLY_ENOUGH,
            warm_up=_WARM_ALREADY,
        )
        for name in _PRIMARY
    }


def is_primary_only(share: Share) -> bool:
    """Whether only the primary clock is taken, and its launch cost."""
    return share.keys() <= set(_PRIMARY)


def informed(share: Share, found: Mapping[str, Samples]) -> Share:
    """The share of a trial that knows what another one ``found``, by the clocks' names."""
    one = is_primary_only(share)
    known = {name: found[name] for name in _PRIMARY if name in found and found[name].seconds}
    return {n: _informed(each, known[n], one) if n in known else each for n, each in share.items()}


def _informed(budget: Budget, found: Samples, one: bool) -> Budget:
    expected = statistics.median(found.seconds)
    calls = calls_of_one(found.calls, expected) if one else found.calls
    return replace(budget, calls=calls, expected=expected)


def plain(share: Share) -> dict[str, Any]:
    """The share as plain data, for another process."""
    return {name: asdict(budget) for name, budget in share.items()}


def calls_of_one(calls: int, seconds: float) -> int:
    """The calls of the one sample of a primary-only trial, where another took ``calls`` of so many
    ``seconds``.

    They are fewer than those: what the host's jitter adds to a single slope is still far less than contexts
    differ by, and the time is better spent on more of them.
    """
    return min(calls, max(1, math.ceil(ROUGHLY_ENOUGH / seconds)))

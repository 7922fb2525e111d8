"""Whether the host was interrupted while a sample of the queue's clock was taken from a GPU.

What a batch of calls costs once (to open the gate, and to notice that the last call has ended) hardly differs
from batch to batch. Where a sample implies another cost, one of its two batches was seen to begin or to end
late, and the slope between them is wrong: too small where that was the shorter batch, too large where it was
the longer one.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

MOST_IN_A_CLOCK = 6
"""Interrupted samples of a clock that are taken anew. With more, this is how the host is."""
REMEMBERED = 9
"""So many costs tell what is usual."""
_WRONG = 0.2
"""Part of itself by which a slope must be wrong for it: a GPU's calls take the same time within less."""


def is_interrupted(once: float, span: float, share: float, before: Sequence[float]) -> bool:
    """Whether a cost tells of an interruption that makes the slope wrong by a fifth or more.

    Args:
        once: what the sample says that a batch costs once, in seconds.
        span: the seconds between its two batches.
        share: the calls of the shorter batch, as a part of those between the two.
        before: what samples before it said; without any, only the impossible is an interruption.
    """
    if once < -_WRONG * share * span:
        # No cost is negative: the longer batch was seen to end late, or the shorter one to begin late.
        return True
    # The shorter batch was seen to end late.
    late = _WRONG * (1 + share) * abs(span)
    return bool(before) and once > statistics.median_low(before) + late

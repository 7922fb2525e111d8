"""Which measured limit a case is held against, and what it reaches of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from harness.results.ratio import ratio_interval
from harness.results.statistics import centre
from reports.row import Row

TOLERATED_EXCESS = 0.005
"""A bandwidth this much above the measured limit is an error of measurement, not a result."""

_LIMIT_SLACK_BYTES = 16
"""Sources that differ by less are of equal size: a limit kernel reads whole words."""

_LIMIT_DIRECTION = {"reduction": "read", "laplace": "copy"}


def limited(row: Row, limits: Sequence[Row]) -> Row:
    """The row with the limit that it is measured against and its share of it."""
    direction = _LIMIT_DIRECTION.get(row.kind)
    fitting = [
        limit
        for limit in limits
        if (limit.op, limit.physical, limit.cache) == (direction, row.physical, row.cache)
    ]
    if row.purpose != "compare" or not fitting or math.isnan(row.bytes_per_second):
        return row
    nearest = min(fitting, key=lambda limit: abs(math.log(limit.source_bytes / row.source_bytes)))
    same = [limit for limit in fitting if abs(limit.source_bytes - nearest.source_bytes) < _LIMIT_SLACK_BYTES]
    best = max((_beside(limit, row) for limit in lasting(same)), key=lambda limit: limit.bytes_per_second)
    share = row.bytes_per_second / best.bytes_per_second
    interval = ratio_interval(
        row.queue_blocks,
        best.queue_blocks,
        errors=(row.queue_error, best.queue_error),
        scatters=(row.queue_scatter, best.queue_scatter),
    ).scaled(row.bytes_moved / best.bytes_moved)
    is_exact = abs(best.source_bytes - row.source_bytes) < _LIMIT_SLACK_BYTES
    return replace(
        row,
        limit=best.bytes_per_second,
        limit_by=best.device,
        limit_bytes=best.source_bytes,
        limit_exact=is_exact,
        share=share,
        share_low=interval.low,
        share_high=interval.high,
        # Another size may have a lower limit, with nothing wrong.
        above_limit=is_exact and _is_above(row, same),
    )


def _beside(limit: Row, row: Row) -> Row:
    """The limit as a case on a processor saw it: in the processes of the case alone, where they share any. A
    host that others share may be slower for minutes, in which a limit was measured and a case was not.

    A GPU's contexts differ by chance and not by when they are: there all of them count.
    """
    if row.physical != "cpu":
        return limit
    named = zip(limit.queue_numbers, limit.queue_blocks, strict=True)
    shared = [block for number, block in named if number in row.queue_numbers]
    if not shared:
        return limit
    return replace(limit, queue_blocks=shared, bytes_per_second=limit.bytes_moved / centre(shared))


def lasting(candidates: Sequence[Row]) -> list[Row]:
    """The candidates, for a limit or a side's fastest, that more than half as many contexts measured as the
    one that most did. The others were given up, and may look faster than they are: the fewer the contexts,
    the more of the fastest time is luck.
    """
    most = max(len(limit.queue_blocks) for limit in candidates)
    return [limit for limit in candidates if 2 * len(limit.queue_blocks) > most]


def _is_above(row: Row, limits: Sequence[Row]) -> bool:
    """Whether a case beats the limits of its size beyond the noise: its slow quartile against the fastest of
    their fast ones, and of their contexts. A host that others share may be slow for tenths of a second at a
    time, so that a limit is fast in fewer of its contexts than one in four, and the case by luck in all.

    A limit includes the launch of the API that it was measured through. Where none was measured through that
    of the case, its launches may be faster, or none, as NumPy's: it is held against them net of their launch.
    """
    is_net = row.device not in {limit.device for limit in limits}
    shortest = min(_fast(limit) - (limit.launch if is_net and limit.launch > 0 else 0) for limit in limits)
    bound = limits[0].bytes_moved / shortest if shortest > 0 else math.inf
    return row.bytes_moved / row.queue_p75 > bound * (1 + TOLERATED_EXCESS)


def _fast(limit: Row) -> float:
    """The seconds of a limit where it is fast: its fast quartile, or those of its fastest context."""
    return min(limit.queue_p25, *(median(block) for block in limit.queue_blocks if block))

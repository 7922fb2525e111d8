"""A reduction's source as a matrix, for libraries whose functions run over rows and columns."""

from __future__ import annotations

import math
from functools import cache

from harness.problems import Reduction

SHORTEST_ROW = 2**7
"""Of a folded source, in elements."""


@cache
def folded(problem: Reduction) -> tuple[int, int]:
    """Rows and columns as which a source is read, whose columns are the problem's last axis. One row is
    folded into several, as square as can be, because such functions run one row by few threads; a length
    without a fitting divisor stays one row.
    """
    given = problem.shape[-1] if problem.shape else 1
    if 0 < given < problem.size:
        return problem.size // given, given
    fitting = (width for width in range(math.isqrt(given), SHORTEST_ROW - 1, -1) if given % width == 0)
    width = next(fitting, given)
    return (problem.size // width if width else 0), width

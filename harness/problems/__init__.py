"""What is computed: the problems, by kind."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harness.problems.bandwidth import DIRECTIONS, Bandwidth
from harness.problems.base import Array
from harness.problems.comparison import Verification
from harness.problems.empty import Empty
from harness.problems.laplace import BORDERS, IMAGE_DTYPES, MASKS, OUTPUTS, Laplace
from harness.problems.operations import OPS, MinMaxLoc
from harness.problems.reduction import Reduction

__all__ = [
    "BORDERS",
    "DIRECTIONS",
    "IMAGE_DTYPES",
    "MASKS",
    "OPS",
    "OUTPUTS",
    "Array",
    "Bandwidth",
    "Empty",
    "Laplace",
    "MinMaxLoc",
    "Problem",
    "Reduction",
    "Verification",
]

Problem = Annotated[Reduction | Laplace | Bandwidth | Empty, Field(discriminator="kind")]
"""What is computed; plain data names the ``kind``."""

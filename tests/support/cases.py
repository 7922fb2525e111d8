"""Cases of backends that there need not be."""

from __future__ import annotations

from harness.problems import Empty, Reduction
from harness.results.record import Case
from harness.variants.axes import LaunchVariant, LibraryVariant, ReductionVariant


def case(backend: str, op: str) -> Case:
    """Of a library, of ten integers."""
    return Case(backend, 0, Reduction(op, "int32", (10,)), LibraryVariant())


def of_variant(backend: str, variant: ReductionVariant) -> Case:
    """The minimum of ten integers."""
    return Case(backend, 0, Reduction("min", "int32", (10,)), variant)


def empty(backend: str) -> Case:
    """The control that tells what launching costs."""
    return Case(backend, 0, Empty((((8,), (256,)),)), LaunchVariant(), role="control")

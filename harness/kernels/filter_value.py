"""What a value of a filter's axis says beside its kernel file: what refuses it, what it adds to a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harness.devices import DeviceInfo
from harness.kernels.plan import Argument, PlannedLaunch
from harness.problems import Laplace
from harness.variants.axes import LaplaceVariant


@dataclass(frozen=True, slots=True)
class Part:
    """What a value adds to the plan of a filter.

    That is files before and behind its own, files that other kinds of kernels have, too, macros, buffers with
    what they hold first, launches before the filter's, arguments behind its others, and the source that it
    reads.
    """

    needed: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    macros: Mapping[str, str | int] = field(default_factory=dict)
    buffers: Mapping[str, int] = field(default_factory=dict)
    initial: Mapping[str, bytes] = field(default_factory=dict)
    before: tuple[PlannedLaunch, ...] = ()
    arguments: tuple[Argument, ...] = ()
    source: Argument | None = None


class FilterValue:
    """A value that every device and problem can have, beside every value of the other axes."""

    def violations(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Iterator[str]:
        """Why ``device`` cannot have this value in ``variant`` on ``problem``; nothing where it can."""
        return iter(())

    def part(self, variant: LaplaceVariant, problem: Laplace, device: DeviceInfo) -> Part:
        """What it adds to the plan."""
        return Part()

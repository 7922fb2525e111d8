"""Ladders: sequences of variants, each one change from the one before, so that a step's worth can be seen."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.variants import PER_PROBLEM, LaplaceVariant, ReductionVariant, Variant, difference, label


@dataclass(frozen=True, slots=True)
class Ladder:
    """A named sequence of variants of one kind; every rung differs from the one below in exactly one axis.

    ``about`` says what the ladder shows and ``source`` where its steps come from.
    """

    name: str
    about: str
    source: str
    rungs: tuple[Variant, ...]

    @property
    def kind(self) -> str:
        """Kind of the variants, and of the problems they fit: reduction or laplace."""
        return self.rungs[0].kind

    @property
    def labels(self) -> tuple[str, ...]:
        """One label a rung: the base in full, then what each rung changes, as in ``tree = sequential``."""
        return (label(self.rungs[0]), *map(_change, self.rungs, self.rungs[1:]))


def _change(before: Variant, after: Variant) -> str:
    return ", ".join(f"{axis} = {value}" for axis, value in difference(before, after).items())


def _reduction_steps() -> tuple[ReductionVariant, ...]:
    naive = ReductionVariant(groups=PER_PROBLEM, group_size=256, tree="naive", finish="relaunch")
    sequential = replace(naive, tree="sequential")
    vectors = replace(sequential, vector_width=4)
    fixed_groups = replace(vectors, groups=8)
    in_flight = replace(fixed_groups, loads_in_flight=4)
    on_host = replace(in_flight, finish="host")
    one_launch = replace(on_host, finish="last_group")
    return naive, sequential, vectors, fixed_groups, in_flight, on_host, one_launch


def _laplace_steps() -> tuple[LaplaceVariant, ...]:
    basic = LaplaceVariant(border_code="branches", group_width=32, group_height=8)
    select = replace(basic, border_code="select")
    mapped = replace(select, border_code="mapped")
    vectors = replace(mapped, vector_width=4)
    rows = replace(vectors, rows_per_item=8)
    in_flight = replace(rows, loads_in_flight=4)
    return basic, select, mapped, vectors, rows, in_flight


LADDERS: dict[str, Ladder] = {
    ladder.name: ladder
    for ladder in (
        Ladder(
            "reduction_steps",
            "from one element a work-item and a diverging tree to few groups with several loads in flight",
            "steps common to yan2011 and pcl",
            _reduction_steps(),
        ),
        Ladder(
            "laplace_steps",
            "from a pixel a work-item with branches at the border to vectors marching down rows",
            "jia2012, the steps that the kernels have so far",
            _laplace_steps(),
        ),
    )
}
"""Every ladder by the name that a suite uses. The studies' full ladders join here, one row each."""

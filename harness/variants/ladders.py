"""Ladders: sequences of variants, each one change from the one before, so that a step's worth can be seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

from harness.variants.axes import LaplaceVariant, ReductionVariant, Variant, difference, label

Rung = TypeVar("Rung", ReductionVariant, LaplaceVariant)


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


def _climb(base: Rung, *changes: tuple[str, Any]) -> tuple[Rung, ...]:
    """The base, then a rung for each change of one axis to a value."""
    rungs = [base]
    for axis, value in changes:
        rungs.append(replace(rungs[-1], **{axis: value}))
    return tuple(rungs)


LADDERS: dict[str, Ladder] = {
    ladder.name: ladder
    for ladder in (
        Ladder(
            "yan2011",
            "contiguous reads of a buffer, vectors, half store, few groups, finish on the host, built-in min",
            "yan2011, steps 1 to 5; the last rung is its group size for the Tesla C2050",
            _climb(
                ReductionVariant(),
                ("vector_width", 4),
                ("vector_width", 16),
                ("vector_width", 8),
                ("tree", "half_store"),
                ("groups", 2),
                ("finish", "atomic"),
                ("finish", "host"),
                ("compare", "builtin"),
                ("group_size", 512),
            ),
        ),
        Ladder(
            "yan2011_image",
            "the steps of yan2011 that an image can take: half store, few groups, the finishes, built-in min",
            "yan2011; an image stays at texels of four",
            _climb(
                ReductionVariant(storage="image", vector_width=4),
                ("tree", "half_store"),
                ("groups", 2),
                ("finish", "atomic"),
                ("finish", "host"),
                ("compare", "builtin"),
                ("group_size", 512),
            ),
        ),
        Ladder(
            "pcl",
            "strides inside a work-item, trees inside a group, finishes between groups",
            "pcl, its three levels in their order, groups of 256 throughout",
            _climb(
                ReductionVariant(stride="local", tree="naive"),
                ("groups", 4),
                ("stride", "global"),
                ("tree", "sequential"),
                ("tree", "unrolled"),
                ("finish", "host"),
                ("finish", "last_group"),
            ),
        ),
        Ladder(
            "tutorial",
            "vectors of four, then two of them added while they are loaded; the host adds the groups' sums",
            "tutorial; it keeps the vector in the tree, where our groups reduce single elements",
            _climb(ReductionVariant(finish="host"), ("vector_width", 4), ("loads_in_flight", 2)),
        ),
        Ladder(
            "modern",
            "from one element a work-item to loads in flight, one launch, local atomics and packed words",
            "this harness; the four-way tree is what yan2011 leaves for the future",
            _climb(
                ReductionVariant(tree="naive"),
                ("tree", "sequential"),
                ("tree", "quad"),
                ("tree", "sub_group"),
                ("vector_width", 4),
                ("vector_width", 16),
                ("groups", 8),
                ("loads_in_flight", 2),
                ("compare", "builtin"),
                ("finish", "host"),
                ("finish", "last_group"),
                ("finish", "flagged"),
                ("finish", "alternating"),
                # Not for sums of floats.
                ("tree", "local_atomics"),
                # Last, for only 8- and 16-bit integers can take it.
                ("packing", "packed"),
            ),
        ),
        Ladder(
            "dialects",
            "from portable text to what a vendor's compiler has: atomics, shuffles, hints, packed words",
            "this harness; the geometry is that of the ladder modern",
            _climb(
                ReductionVariant(
                    tree="quad",
                    vector_width=16,
                    groups=8,
                    loads_in_flight=2,
                    compare="builtin",
                    finish="flagged",
                    dialect="portable",
                ),
                ("dialect", "vendor"),
                ("tree", "sub_group"),
                ("cache_hint", "resident"),
                # Last, for only 8- and 16-bit integers can take it.
                ("packing", "packed"),
            ),
        ),
        Ladder(
            "jia2012",
            "from nine global reads a pixel to constant and local memory, no branches, vectors and unrolling",
            "jia2012, table 1, then this harness: symmetry, rows, 16-byte loads, pairs, the interior, "
            "half precision",
            _climb(
                LaplaceVariant(scheme="per_pixel", stencil="nine_terms", mask_memory="global"),
                ("mask_memory", "constant"),
                ("pixels", "local_tile"),
                # No branches, in the study's two ways.
                ("border_code", "padded"),
                ("border_code", "select"),
                # Loads of 4, then 16 results a work-item.
                ("vector_width", 4),
                ("border_code", "mapped"),
                ("rows_per_item", 4),
                ("stencil", "unrolled"),
                # What follows is not the study's.
                ("mask_memory", "inline"),
                ("stencil", "symmetric"),
                ("scheme", "march"),
                ("pixels", "global"),
                ("loads_in_flight", 4),
                ("vector_width", 16),
                # Last, for only bytes can take it; most of their items meet no border.
                ("stencil", "paired"),
                ("interior", "specialized"),
                ("stencil", "halves"),
            ),
        ),
        Ladder(
            "laplace_pixels",
            "where a pixel's neighbours are read: global memory, a tile in local memory, an image (texture)",
            "this harness; the filter of jia2012 with images in place of buffers",
            _climb(
                LaplaceVariant(
                    border_code="select", scheme="per_pixel", stencil="nine_terms", mask_memory="constant"
                ),
                ("pixels", "local_tile"),
                ("pixels", "image2d"),
            ),
        ),
        Ladder(
            "laplace_neighbours",
            "how a vector's neighbours come: one by one, beside a whole load, by aligned loads, by shuffles, "
            "from a tile that asynchronous copies bring into local memory",
            "this harness; groups of 64 across are whole sub-groups on every GPU",
            _climb(
                LaplaceVariant(
                    border_code="select",
                    vector_width=16,
                    rows_per_item=4,
                    loads_in_flight=4,
                    group_width=64,
                    group_height=4,
                ),
                ("border_code", "mapped"),
                ("pixels", "aligned"),
                ("pixels", "shuffle"),
                ("pixels", "async_tile"),
            ),
        ),
        Ladder(
            "laplace_sums",
            "how bytes are added: in pairs, in pairs in half precision, by the tensor cores",
            "this harness; the shape is that of the last rungs of jia2012",
            _climb(
                LaplaceVariant(
                    border_code="mapped",
                    stencil="paired",
                    interior="specialized",
                    vector_width=16,
                    rows_per_item=4,
                    loads_in_flight=4,
                ),
                ("stencil", "halves"),
                ("stencil", "matrix"),
            ),
        ),
        Ladder(
            "laplace_steps",
            "from one pixel a work-item with branches at the border to vectors in rows and packed sums",
            "this harness; a work-item keeps rows from the first step on, the study's steps are jia2012",
            _climb(
                LaplaceVariant(),
                ("border_code", "select"),
                ("border_code", "mapped"),
                ("vector_width", 4),
                ("rows_per_item", 8),
                ("loads_in_flight", 4),
                ("vector_width", 16),
                ("border_code", "peeled"),
                # Last, for only bytes can take it.
                ("stencil", "packed"),
            ),
        ),
    )
}
"""Every ladder by the name that a suite uses."""

"""The axes as data: fields, values, files, labels, JSON; ladders; what a device refuses."""

from __future__ import annotations

import itertools
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from harness.kernels.cache_hint import HINTS
from harness.kernels.filter_values import FILTER_VALUES
from harness.kernels.requirements import VALUES
from harness.kernels.values import PACKED_OPS
from harness.problems import OPS
from harness.variants.axes import (
    AXES,
    PER_PROBLEM,
    BandwidthVariant,
    CommandVariant,
    LaplaceVariant,
    LaunchVariant,
    LibraryVariant,
    ReductionVariant,
    Variant,
    difference,
    group_items,
    label,
    variant_from_json,
    variant_to_json,
)
from harness.variants.ladders import LADDERS

ROOT = Path(__file__).parents[2]
KINDS: list[Variant] = [
    ReductionVariant(),
    LaplaceVariant(),
    BandwidthVariant(),
    CommandVariant(),
    LaunchVariant(),
    LibraryVariant(),
]

SHARED = ("stride", "traversal", "cache_hint", "dialect")
"""The axes whose folder several kinds of kernels share."""


@pytest.mark.parametrize("variant", KINDS, ids=lambda variant: variant.kind)
def test_every_field_is_an_axis_and_its_default_a_value(variant: Variant) -> None:
    axes = AXES[variant.kind]
    assert [field.name for field in fields(variant)] == ["kind", *axes]
    for name, values in axes.items():
        assert getattr(variant, name) in values
        assert len(set(values)) == len(values)


@pytest.mark.parametrize("dialect", ["cl", "cu"])
def test_a_folder_is_an_axis_and_a_file_a_value(dialect: str) -> None:
    coded = {
        (kind, name)
        for kind, axes in AXES.items()
        for name, values in axes.items()
        # How a kernel is launched, or what a library calls, is no piece of one.
        if kind not in ("launch", "plain") and _is_code(values)
    }
    assert coded
    for kind, name in coded:
        folder = ROOT / f"kernels_{dialect}" / ("" if name in SHARED else kind) / name
        files = {path.stem for path in folder.glob(f"*.{dialect}")}
        # In a folder that is shared one kind may have values that others have not.
        kinds = AXES if name in SHARED else [kind]
        values = {value for each in kinds for value in AXES[each].get(name, ())}
        # What the stream is told is no piece either: the loads are those of another hint.
        pieces = {HINTS[value].file if name == "cache_hint" else value for value in values}
        assert files == pieces, f"{kind} {name}"
    kernels = {op.kernel for op in OPS.values()}
    folders = {
        "ops": kernels,
        "packing/scalar": kernels,
        "packing/packed": PACKED_OPS,
        "packing/batched": kernels,
    }
    for name, ops in folders.items():
        found = (ROOT / f"kernels_{dialect}" / "reduction" / name).glob(f"*.{dialect}")
        assert {path.stem for path in found} == set(ops), name


def test_each_value_has_one_row() -> None:
    for axis, rows in VALUES.items():
        assert set(rows) == set(AXES["reduction"][axis]), axis
    for axis, filters in FILTER_VALUES.items():
        assert set(filters) == set(AXES["laplace"][axis]), axis


def _is_code(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, str) for value in values)


def every_value() -> list[Variant]:
    """Each kind's default, and each value of each axis once."""
    found: list[Variant] = []
    for variant in KINDS:
        found.append(variant)
        for name, values in AXES[variant.kind].items():
            found += [replace(variant, **{name: v}) for v in values if v != getattr(variant, name)]
    return found


def test_labels_are_unique() -> None:
    labels = [(variant.kind, label(variant)) for variant in every_value()]
    assert len(set(labels)) == len(labels)


def test_plain_data_and_back() -> None:
    for variant in every_value():
        assert variant_from_json(variant_to_json(variant)) == variant
    assert variant_from_json({"kind": "reduction", "tree": "naive"}) == ReductionVariant(tree="naive")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, r"kind None is unknown; known are reduction, laplace, bandwidth, command, launch, plain"),
        ({"kind": "reduction", "trees": 1}, r"no axis 'trees'; its axes are storage, vector_width"),
        ({"kind": "reduction", "tree": "oak"}, r"tree = 'oak': allowed are naive, sequential"),
        ({"kind": "reduction", "vector_width": 3}, r"vector_width = 3: allowed are 1, 2, 4, 8, 16, 32, 64"),
        ({"kind": "reduction", "vector_width": True}, r"vector_width = True: allowed are 1, 2"),
        ({"kind": "reduction", "vector_width": 4.0}, r"vector_width = 4.0: allowed are 1, 2"),
        ({"kind": "reduction", "groups": 8.0}, r"groups = 8.0: allowed are per_problem, 1 to 64"),
        ({"kind": "reduction", "groups": 0}, r"groups = 0: allowed are per_problem, 1 to 64"),
        (
            {"kind": "plain", "tree": "naive"},
            r"a plain variant has no axis .tree.; its axes are accumulator$",
        ),
    ],
)
def test_bad_data_is_refused(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        variant_from_json(data)


@pytest.mark.parametrize(
    ("axis", "value", "allowed"),
    [
        ("tree", "oak", "'naive', 'sequential'"),
        ("vector_width", 3, "allowed are 1, 2, 4"),
        ("vector_width", 4.0, "allowed are 1, 2, 4"),
        ("loads_in_flight", True, "allowed are 1, 2, 4"),
        ("groups", 65, "allowed are per_problem, 1 to 64"),
        ("trees", "naive", "is unknown"),
    ],
)
def test_what_is_not_on_the_axes_cannot_be_made(axis: str, value: Any, allowed: str) -> None:
    with pytest.raises(ValueError, match=rf"^{axis}: .*{allowed}.*"):
        ReductionVariant(**{axis: value})
    with pytest.raises(ValueError, match=axis):
        replace(ReductionVariant(), **{axis: value})


def test_difference() -> None:
    before, after = ReductionVariant(), ReductionVariant(tree="naive", groups=8)
    assert difference(before, after) == {"groups": 8, "tree": "naive"}
    assert difference(before, before) == {}
    with pytest.raises(ValueError, match="different kinds"):
        difference(before, LaplaceVariant())


@pytest.mark.parametrize("name", LADDERS)
def test_a_rung_changes_one_axis(name: str) -> None:
    rungs = LADDERS[name].rungs
    assert len(rungs) >= 2
    for before, after in itertools.pairwise(rungs):
        assert len(difference(before, after)) == 1
        assert variant_from_json(variant_to_json(after)) == after


def test_group_items() -> None:
    assert group_items(ReductionVariant(group_size=64)) == 64
    assert group_items(LaplaceVariant(group_width=16, group_height=4)) == 64
    assert group_items(LibraryVariant()) == 1
    assert PER_PROBLEM in AXES["reduction"]["groups"]

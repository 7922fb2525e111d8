"""What the kernel folders' README files promise of each file is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.kernels.planner import plan
from harness.problems import Laplace, Reduction
from harness.variants.axes import LaplaceVariant, ReductionVariant
from tests.support.machines import GPU

ROOT = Path(__file__).parents[2]
README = (ROOT / "kernels_cu/README.md").read_text()
CONTRACTS = {
    row[1]: re.findall(r"`(\w+)`", row[2])
    for row in re.finditer(r"(?m)^\| `([\w/]+)` \|[^|]*\| (`.*`|one of three things.*) \|$", README)
}
ADDS_A_KERNEL = "reduction/finish/relaunch"
"""It follows another file of its folder, which defines the rest."""


def defined(text: str) -> set[str]:
    """The macros, types and functions that a kernel file defines."""
    macros = re.findall(r"(?m)^#define (\w+)", text)
    types = re.findall(r"(?m)^(?:\}|typedef .*?) ?(\w+_t);|^struct (\w+_t) ", text)
    functions = re.findall(r"(?m)^(?:[\w*]+(?:\(\w+\))?[ *]+)+(\w+)\(.*$", text)
    made = re.findall(r"(?m)^(?:REDUX|WIDE|REAL|INTO)\((\w+),", text)
    return {*macros, *(name for each in types for name in each if name), *functions, *made}


def files(place: str, dialect: str) -> list[Path]:
    """The files of a folder, or the one file of that name."""
    folder = ROOT / f"kernels_{dialect}" / place
    return sorted(folder.glob(f"*.{dialect}")) if folder.is_dir() else [folder.with_suffix(f".{dialect}")]


@pytest.mark.parametrize("dialect", ["cl", "cu"])
@pytest.mark.parametrize("place", CONTRACTS)
def test_each_file_defines_what_its_folder_promises(place: str, dialect: str) -> None:
    for path in files(place, dialect):
        if path.with_suffix("").as_posix().endswith(ADDS_A_KERNEL):
            continue
        missing = set(CONTRACTS[place]) - defined(path.read_text())
        assert not missing, path


def test_every_folder_and_file_of_a_plan_is_described_in_its_order() -> None:
    variant = ReductionVariant(tree="sub_group", finish="last_group", packing="batched")
    device = GPU
    places = list(CONTRACTS)
    for problem, made in (
        ("reduction", plan(Reduction("sum", "int32", (4097,)), variant, device)),
        ("laplace", plan(Laplace("four", "wrap", "laplacian", "uint8", 70, 333), LaplaceVariant(), device)),
    ):
        parents = [name.rpartition("/")[0] for name in made.files]
        described = [up if up in CONTRACTS else name for up, name in zip(parents, made.files, strict=True)]
        assert all(each in CONTRACTS for each in described), (problem, described)
        order = [places.index(each) for each in described]
        assert order == sorted(order), described


@pytest.mark.parametrize("dialect", ["cl", "cu"])
@pytest.mark.parametrize("name", ["reduction/reduce", "laplace/laplace"])
def test_a_main_file_begins_with_its_contract(name: str, dialect: str) -> None:
    text = (ROOT / f"kernels_{dialect}/{name}.{dialect}").read_text()
    head = re.match(r"(?://.*\n)+", text)
    assert head
    assert head[0].count("\n") <= 15
    folders = [
        place for place in CONTRACTS if place.startswith(name.partition("/")[0] + "/") and place != name
    ]
    folders += ["stride"] if name == "reduction/reduce" else []
    for place in folders:
        if place.startswith("reduction/packing/"):
            continue
        for used in CONTRACTS[place]:
            if re.search(rf"\b{used}\b", text.removeprefix(head[0])):
                assert re.search(rf"\b{used}\b", head[0]), (place, used)

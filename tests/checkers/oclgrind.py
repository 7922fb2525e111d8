"""Our OpenCL kernels under Oclgrind: ``tox -e oclgrind``.

Oclgrind is a simulator that reports invalid accesses, data races, reads of what nobody wrote and barriers
that not all work-items of a group reach. It comes with Linux distributions (Debian: ``apt-get install
oclgrind``). It takes a minute, so this file is named not to be among the functional tests.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from harness.variants.axes import ReductionVariant
from tests.checkers.calls import MARK, PLANTS, calls

OCLGRIND = shutil.which("oclgrind")

pytestmark = pytest.mark.skipif(OCLGRIND is None, reason="oclgrind is not on PATH (apt-get install oclgrind)")

OPTIONS = (
    "--data-races",
    "--uninitialized",
    "--num-threads",
    "1",
    "--max-errors",
    "100000",
    "--build-options",
    "-O0",
)
"""One thread, so that the reports have an order; all reports, for those about images are many. No
optimisation: Oclgrind 21.10 does not know all that the optimiser makes (llvm.experimental.noalias.scope.decl
of restrict), and its check of what is initialised crashes on some of the vectors."""

_IN_ORDER = (
    r"\n\s*At line \d+ \(column \d+\) of "
    r"kernels_cl/reduction/(ticket|atomics|finish/last_group|finish/atomic)\.cl:"
)

EXCEPTIONS: dict[str, str] = {
    rf"data race at global memory address(?s:.)*{_IN_ORDER}(?s:.)*{_IN_ORDER}": (
        "The last group reads what the others wrote, and resets their tickets, after each has taken its "
        "ticket by an atomic behind a fence. Oclgrind knows no order between groups, whatever the atomics."
    ),
    r"^[^\n]*(, image w4 | image2d)[^\n]*\n[^\n]*uninitialized value": (
        "What comes out of an image counts as uninitialised to Oclgrind, although the host wrote the source."
    ),
}
"""Reports that stand for no fault: a regular expression found in the report, and the reason."""

SKIPPED = (
    "tree sub_group: this API cannot move values inside a sub-group (warp) of this device",
    "pixels shuffle: this API cannot move values inside a sub-group (warp) of this device",
    "stencil halves: sums in half precision are PTX",
    "stencil matrix: products of matrices are PTX",
    "cache_hint streaming",
    "cache_hint resident",
    "cache_hint window",
    "most_registers",
    "load_order fenced: the fence is PTX",
    "a group needs 32772 bytes of local memory, the device has 32768",
)
"""How the reasons begin for what Oclgrind cannot run: it knows no sub-groups, no PTX and no caches, and has
local memory of 32 KiB."""

EXPECTED = {
    "race": "data race at local memory address",
    "divergence": "Work-group divergence detected",
    "overrun": "Invalid read of size 4 at global memory address",
    "unwritten": "depends on uninitialized value",
}
"""What is reported of a planted fault."""


WITH_TWO = ("naive", "flagged")
"""The tree and the finish that reduce twice in the same local memory."""


def checked(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The calls under Oclgrind."""
    command = [str(OCLGRIND), *OPTIONS, sys.executable, "-m", "tests.checkers.calls", "--backend", "opencl"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, timeout=900)


def reports(stderr: str) -> list[str]:
    """What the checker said: a text for each report, below the label of the call that it is about.

    Between reports are empty lines; those within one hold a tab.
    """
    found = []
    for part in re.split(rf"^{MARK}", stderr, flags=re.MULTILINE):
        name, _, said = part.partition("\n")
        blocks = [block.strip() for block in re.split(r"\n{2,}", said)]
        found += [f"{name}:\n{block}" for block in blocks if block]
    return found


def unexpected(stderr: str) -> list[str]:
    """The reports that no exception explains."""
    return [text for text in reports(stderr) if not any(re.search(known, text) for known in EXCEPTIONS)]


def test_every_call_is_clean() -> None:
    done = checked()
    assert done.stdout.startswith("Oclgrind: "), done.stdout + done.stderr
    assert unexpected(done.stderr) == []
    said = reports(done.stderr)
    for known in EXCEPTIONS:
        assert any(re.search(known, text) for text in said), f"nothing needs this exception any more: {known}"
    assert done.returncode == 0, done.stdout
    skipped = re.findall(r": skipped: .*?: (.*)", done.stdout)
    reasons = {reason for each in skipped for reason in each.split("; ")}
    assert [reason for reason in reasons if not reason.startswith(SKIPPED)] == []
    assert all(any(reason.startswith(known) for reason in reasons) for known in SKIPPED)
    assert f"{len(calls()) - len(skipped)} ok" in done.stdout


def test_two_trees_of_one_group_do_not_race() -> None:
    """In the flagged finish with a tree in local memory: one call, so that a planted change is seen in
    seconds.
    """
    flagged = [
        (call.variant.group_size, call.label)
        for call in calls()
        if isinstance(call.variant, ReductionVariant) and (call.variant.tree, call.variant.finish) == WITH_TWO
    ]
    size, call = max(flagged)
    assert size > 1
    done = checked("--only", call)
    assert "1 ok" in done.stdout
    assert unexpected(done.stderr) == []


@pytest.mark.parametrize("fault", PLANTS)
def test_a_planted_fault_is_reported(fault: str) -> None:
    assert any(EXPECTED[fault] in report for report in unexpected(checked("--plant", fault).stderr))


def test_reports_are_told_apart() -> None:
    text = f"{MARK}sum\n{MARK}min\n\nInvalid read\n\t\n\tKernel\n\t\n\nInvalid write\n{MARK}max\n"
    assert reports(text) == ["min:\nInvalid read\n\t\n\tKernel", "min:\nInvalid write"]

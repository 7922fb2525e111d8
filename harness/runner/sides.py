"""Who is compared with whom: the cases of a problem by device and dialect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backends import REGISTRY
from harness.problems import Empty
from harness.results.record import Case

_BASELINES = frozenset({"library", "reference"})


def is_compared(cases: Sequence[Case]) -> bool:
    """Whether there is a verdict on the problem of these cases."""
    compared = (case for case in cases if case.role == "compare" and not isinstance(case.problem, Empty))
    return len({case.device_key for case in compared}) > 1


def are_compared(one: Case, other: Case) -> bool:
    """Whether the report compares the sides of these cases: two devices, and portable kernels of OpenCL with
    CUDA's own text alone (:mod:`reports.ratios`), no other portable ones.
    """
    if one.device_key == other.device_key:
        return False
    portable = [case for case in (one, other) if _dialect(case) == "portable"]
    roles = {_role(case) for case in portable}, {_role(case) for case in (one, other) if case not in portable}
    return not portable or (len(portable) == 1 and "cuda" not in roles[0] and not roles[1] & _BASELINES)


def is_baseline(case: Case) -> bool:
    """Whether a case is of a library, or of the reference."""
    return _role(case) in _BASELINES


def is_ours_beside(case: Case, baseline: Case) -> bool:
    """Whether a case is of our kernels, and compared with that baseline."""
    return not is_baseline(case) and are_compared(case, baseline)


def sides_of(cases: Sequence[Case]) -> dict[tuple[str, str], list[Case]]:
    """The cases of one problem by device and dialect, without those that repeat another one."""
    sides: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        if case.role != "control" or twin_of(case) not in cases:
            sides.setdefault((case.device_key, _dialect(case)), []).append(case)
    return sides


def twin_of(case: Case) -> Case | None:
    """The case that a control repeats."""
    return replace(case, role="compare") if case.role == "control" else None


def _role(case: Case) -> str:
    return REGISTRY[case.backend].role if case.backend in REGISTRY else ""


def _dialect(case: Case) -> str:
    return getattr(case.variant, "dialect", "")

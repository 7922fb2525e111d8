"""Controls: what a run measures to show that it can be believed. They must come out as nothing.

A/A: one case of each device a second time, as if it were another backend; a difference between the two is the
run's own error. Empty: an empty kernel of one geometry through each API; what it takes is launching alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from backends import REGISTRY
from harness.devices import DeviceInfo
from harness.problems import Empty, Problem
from harness.results.record import Case, Record
from harness.variants.axes import LaunchVariant

GROUPS_PER_UNIT = 2
GROUP_SIZE = 256


def with_controls(
    cases: Sequence[Case], devices: Mapping[tuple[str, int], DeviceInfo], skipped: Mapping[Case, str]
) -> list[Case]:
    """The cases with their controls among them.

    The empty kernels are first: what is corrected with them (:mod:`harness.results.launch_correction`) is
    measured in contexts as fresh. The A/A case of each device follows the cases of its problem, the one that
    most devices run, so that it is measured beside its twin.
    """
    runnable = [case for case in cases if case.role == "compare" and case not in skipped]
    chosen: dict[tuple[str, int], Case] = {}
    for problem in _most_shared(runnable):
        for case in runnable:
            if case.problem == problem:
                chosen.setdefault((case.backend, case.device), case)
    after: dict[int, list[Case]] = {}
    for case in chosen.values():
        after.setdefault(_last_of_group(cases, case), []).append(replace(case, role="control"))
    beside = [each for i, case in enumerate(cases) for each in (case, *after.get(i, ()))]
    return [_empty(devices[key]) for key in chosen if _launches(devices[key])] + beside


def twins(records: Iterable[Record]) -> list[tuple[Record, Record]]:
    """The A/A pairs of a run: each control of a compared case after the record that it repeats."""
    listed = [record for record in records if record.case.role != "limit"]
    compared = {record.case: record for record in listed if record.case.role == "compare"}
    pairs = ((compared.get(replace(r.case, role="compare")), r) for r in listed if r.case.role == "control")
    return [(first, second) for first, second in pairs if first is not None]


def _most_shared(cases: Iterable[Case]) -> list[Problem]:
    """The problems, those first that most devices run; the first of the suite among equals."""
    where: dict[Problem, set[tuple[str, int]]] = {}
    for case in cases:
        where.setdefault(case.problem, set()).add((case.backend, case.device))
    return sorted(where, key=lambda problem: -len(where[problem]))


def _last_of_group(cases: Sequence[Case], twin: Case) -> int:
    """The index of the last case that is measured beside ``twin``."""
    return max(i for i, case in enumerate(cases) if (case.problem, case.cache) == (twin.problem, twin.cache))


def _launches(device: DeviceInfo) -> bool:
    """Whether the backend launches kernels of our own, and so an empty one."""
    return REGISTRY[device.backend].role in ("opencl", "cuda")


def _empty(device: DeviceInfo) -> Case:
    """The same for every API on one device."""
    groups = GROUPS_PER_UNIT * max(1, device.compute_units)
    geometry = ((groups,), (min(GROUP_SIZE, device.max_group_size),))
    return Case(device.backend, device.index, Empty((geometry,)), LaunchVariant(), role="control")

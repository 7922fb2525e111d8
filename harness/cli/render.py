"""What the verbs that measure or compare show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import typer

from backends import REGISTRY
from harness.cli.doctor import nvidia_present
from harness.cli.mistakes import NOT_COMPARABLE
from harness.cli.terminal import complain, say, show_json, show_table
from harness.results.comparable import Difference
from harness.results.compare import Matched, RunComparison
from harness.results.record import Case
from harness.results.runfile import Run
from harness.results.statistics import geometric_mean, usable
from harness.runner.plan import RunPlan
from harness.runner.selftest import MOST_FALSE, SelfTest
from harness.variants.axes import label
from reports import format as write
from reports.limits import Limit, limits_of
from reports.repeatability import LEAST_EQUAL, Repeated, Twice


def announce(plan: RunPlan) -> None:
    """Says on stderr which side the comparison will lack, and the plan's notes."""
    for note in plan.notes:
        complain(f"note: {note}")
    for name, reason in plan.missing.items():
        if REGISTRY[name].role == "opencl" and not plan.request.backends:
            complain(f"not available: {reason}")
    if "cuda" in plan.missing and nvidia_present():
        complain("An NVIDIA GPU is here but CUDA is not: `python -m tox -e compare-cuda` compares the two.")


def show_cases(plan: RunPlan, as_json: bool, recorded: Collection[Case]) -> None:
    """Lists the cases that would be measured, and the skipped ones with their reasons; not those that a run
    that was begun has ``recorded``.
    """
    cases = [case for case in plan.cases if case not in recorded]
    if as_json:
        show_json({"cases": [{**plain_case(case), "skipped": plan.skipped.get(case)} for case in cases]})
        return
    columns = ("device", "problem", "variant", "cache", "role", "skipped because")
    rows = [(*_row(case), plan.skipped.get(case, "")) for case in cases]
    show_table(f"Suite {plan.suite.name}", columns, rows)
    skipped = sum(case in plan.skipped for case in cases)
    already = f", {len(plan.cases) - len(cases)} with a record already" if recorded else ""
    left = len(cases) - skipped
    say(f"{left} {'case' if left == 1 else 'cases'} to measure, {skipped} skipped{already}")


def _row(case: Case) -> tuple[str, ...]:
    return case.device_key, case.problem.label, label(case.variant), case.cache, case.role


def plain_case(case: Case) -> dict[str, Any]:
    """A case as plain data, and its name."""
    return {"case": case.to_json(), "label": f"{case.problem.label} {label(case.variant)}".strip()}


_VERDICTS = ("same", "ambiguous", "faster", "slower")


def show_selftest(tests: Iterable[SelfTest], as_json: bool) -> bool:
    """Shows how often each device differed from itself; whether none did too often.

    Each device's line goes to stderr at once, as the next device takes minutes.
    """
    found = []
    for test in tests:
        complain(_told(test))
        found.append(test)
    if as_json:
        show_json([_plain(test) for test in found])
    else:
        columns = ("device", "comparisons", *_VERDICTS, "false positives", "outcome")
        show_table(f"Every device against itself (allowed: {MOST_FALSE:.0%})", columns, map(_test_row, found))
    return all(test.passed for test in found)


def _told(test: SelfTest) -> str:
    counts = ", ".join(f"{test.verdicts[verdict]} {verdict}" for verdict in _VERDICTS)
    told = test.failure or f"{test.comparisons} comparisons: {counts}; {test.false_rate:.1%} false"
    return write.plain(f"{test.device}: {told}")


def _test_row(test: SelfTest) -> tuple[object, ...]:
    outcome = test.failure or ("passed" if test.passed else "too many")
    counts = (test.verdicts[verdict] for verdict in _VERDICTS)
    return test.device, test.comparisons, *counts, f"{test.false_rate:.1%}", outcome


def _plain(test: SelfTest) -> dict[str, object]:
    return {
        "device": test.device,
        "comparisons": test.comparisons,
        "verdicts": dict(test.verdicts),
        "false_positive_rate": test.false_rate,
        "passed": test.passed,
        "failure": test.failure,
    }


def show_limits(runs: Sequence[Run], as_json: bool) -> bool:
    """Shows the limits that runs found; whether no case of theirs was wrong or failed, and there is one."""
    found = [limit for run in runs for limit in limits_of(run)]
    if as_json:
        show_json({"runs": [str(run.path) for run in runs], "limits": [asdict(limit) for limit in found]})
    else:
        columns = ("device", "direction", "MB", "cache", "GB/s", "us", "% of memory", "through", "kernel")
        show_table("The fastest that was measured", columns, map(_limit_row, found))
    if any(limit.memory_share for limit in found):
        complain("% of memory: of memory clock x bus width. Caches may give more.")
    for run in runs:
        complain(f"run file: {run.path}")
    counts = Counter(record.status for run in runs for record in run.records)
    if counts["wrong"] or counts["failed"]:
        complain(f"error: {counts['wrong']} wrong and {counts['failed']} failed cases")
    elif not found:
        complain("error: no limit was measured; a run has limits unless its suite says measure = false")
    return bool(found) and not (counts["wrong"] or counts["failed"])


def _limit_row(of: Limit) -> tuple[str, ...]:
    share = "" if of.memory_share is None else write.percent(of.memory_share)
    rate, seconds = write.gb_s(of.bytes_per_second), write.us(of.seconds)
    size = f"{of.source_bytes / 1e6:.1f}"
    return of.device, of.direction, size, of.cache, rate, seconds, share, of.through, of.kernel


def refuse_other_machines(differences: Sequence[Difference], force: bool) -> None:
    """Says what differs between the machines of two runs, and ends with exit code 3 if it matters: a ratio
    then says as much of the machines as of the cases.
    """
    for difference in differences:
        complain(write.plain(f"{'differs' if difference.matters else 'note'}: {difference}"))
    if any(difference.matters for difference in differences) and not force:
        complain("error: these runs are not comparable; --force compares them all the same")
        raise typer.Exit(NOT_COMPARABLE)


def show_comparison(found: RunComparison) -> None:
    """Shows the verdicts on the cases of both runs, the cases of one run only, and the counts."""
    case = ("device", "problem", "variant", "cache")
    notes = {
        note: number
        for number, note in enumerate(dict.fromkeys(p.notes for p in found.matched if p.notes), 1)
    }
    rows = [(*_compared(pair), notes.get(pair.notes, "")) for pair in found.matched]
    columns = (*case, "A us", "B us", "B over A", "interval", "verdict", "note")
    show_table("Speed of B over A, by the queue clock: above 1 B is faster", columns, rows)
    for note, number in notes.items():
        say(f"note {number}: {write.plain(note)}")
    for name, other, alone in (("A", "B", found.only_a), ("B", "A", found.only_b)):
        if alone:
            lost = [(*_shown(each.case), write.plain(each.why)) for each in alone]
            show_table(f"Measured only in {name}", (*case, f"in {other}"), lost)
    counts = ", ".join(f"{count} {name}" for name, count in found.counts.items() if count)
    ratios = [pair.ratio for pair in found.matched]
    mean = write.ratio(geometric_mean(ratios)) if usable(ratios) == ratios else "unknown"
    say(f"{len(found.matched)} compared: {counts}; geometric mean of B over A {mean}")
    say(f"Intervals of {found.confidence * 100:g} % confidence, equivalence band of {found.band * 100:g} %.")


def show_repeated(found: Sequence[Repeated], as_json: bool) -> bool:
    """Shows how many verdicts are the same in two runs, and those that are not; whether enough are."""
    if as_json:
        show_json([each.to_json() for each in found])
        return all(each.passed for each in found)
    counts = [
        (
            f"{each.first} over {each.second}",
            each.device,
            len(each.pairs),
            each.equal,
            f"{each.share:.1%}",
            each.contradicting,
            "passed" if each.passed else "too few",
        )
        for each in found
    ]
    columns = ("ratio", "device", "verdicts", "equal", "share", "contradicting", "outcome")
    show_table(f"Verdicts of two runs (asked: {LEAST_EQUAL:.0%} equal)", columns, counts)
    other = [
        (f"{each.first} over {each.second}", pair.problem, pair.cache, *_twice(pair))
        for each in found
        for pair in each.pairs
        if not pair.equal
    ]
    if other:
        told = ("ratio in A", "interval", "verdict", "ratio in B", "interval", "verdict")
        show_table("Verdicts that are not equal", ("ratio", "problem", "cache", *told), other)
    return all(each.passed for each in found)


def _twice(pair: Twice) -> Iterator[str]:
    for told in (pair.a, pair.b):
        yield from (
            write.ratio(told.ratio),
            write.interval(told.interval.low, told.interval.high),
            told.verdict,
        )


def _compared(pair: Matched) -> tuple[str, ...]:
    interval = write.interval(pair.interval.low, pair.interval.high)
    times = (write.us(pair.a), write.us(pair.b), write.ratio(pair.ratio))
    return (*_shown(pair.case), *times, interval, pair.verdict)


def _shown(case: Case) -> tuple[str, ...]:
    """Device, problem, variant and cache state of a case that comes from a file."""
    return tuple(map(write.plain, _row(case)[:4]))

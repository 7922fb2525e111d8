"""Does the harness find differences where there are none? Every device against itself, many times.

A comparison is made as in a run: the same case measured by two workers, side by side, in several fresh
processes each; or, of a run that has been recorded, by half of its rounds and by the other half. A verdict
that one is faster is false. Verdicts rest on 95 % intervals, so at most one in twenty may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from harness.devices import DeviceInfo
from harness.measure.budget import plain
from harness.measure.source_cache import shared_folder
from harness.results import ratio
from harness.results import statistics as stats
from harness.results.bootstrap import FEWEST_PAIRS
from harness.results.launch_correction import Launches
from harness.results.merge import merged_clock
from harness.results.ratio import Side
from harness.results.record import Case, Record, Samples
from harness.results.runfile import Run
from harness.results.statistics import Blocks
from harness.runner.plan import Request, RunPlan
from harness.runner.worker_process import Worker, WorkerFailed, finish_all
from harness.suites.expand import expand
from harness.suites.schema import Limits, Measure, ReductionBlock, Suite

FEWEST_TO_HALVE = 2 * FEWEST_PAIRS
"""Rounds of a case whose halves still are drawn in pairs."""
_SEED = 20111121
MOST_FALSE = 0.05
"""The rate of false verdicts above which the harness is not to be believed."""
SUITE = Suite(
    name="selftest",
    title="Every device against itself",
    reduction=[
        ReductionBlock(ops=["minmax", "sum"], dtypes=["int32", "float32"], shapes=[[2560, 2560], [640, 480]])
    ],
    limits=Limits(measure=False),
    # Timing takes, a side of a comparison, about as long as in a suite.
    measure=Measure(samples=15, case_seconds=0.5, processes=5),
)


@dataclass(frozen=True)
class SelfTest:
    """What comparing a device with itself gave: how often each verdict, or why it could not be done."""

    device: str
    verdicts: Counter[str] = field(default_factory=Counter)
    failure: str = ""

    @property
    def comparisons(self) -> int:
        """How many there were."""
        return self.verdicts.total()

    @property
    def false_rate(self) -> float:
        """The share of comparisons that found a difference, where there is none."""
        return (self.verdicts["faster"] + self.verdicts["slower"]) / max(1, self.comparisons)

    @property
    def passed(self) -> bool:
        """Whether there were comparisons and few enough false ones."""
        return not self.failure and self.comparisons > 0 and self.false_rate <= MOST_FALSE


def plan_selftest(devices: Sequence[DeviceInfo], request: Request) -> RunPlan:
    """Every case of :data:`SUITE` on each of these devices."""
    cases = [case for device in devices for case in expand(SUITE, [device])]
    return RunPlan(request, request.applied_to(SUITE), cases, devices=devices)


def selftest(
    plan: RunPlan, comparisons: int, progress: Callable[[str], None] = lambda _: None
) -> Iterator[SelfTest]:
    """Compares each device with itself at least so many times, one device after the other.

    Args:
        plan: of :func:`plan_selftest`; its processes and samples are those of one comparison.
        comparisons: a device; spread evenly over its cases.
        progress: is told what is done next.
    """
    for device in plan.devices:
        cases = [case for case in plan.cases if case.device_key == device.key]
        yield _device(device, cases, -(-comparisons // len(cases)), plan, progress)


def selftest_of(run: Run, comparisons: int) -> list[SelfTest]:
    """Compares each device of a recorded run with itself at least so many times: a case's rounds are split at
    random into two halves, each as one side of a ratio. Always the same halves of the same run.

    Raises:
        ValueError: if no case was measured in enough rounds.
    """
    sides: dict[str, list[Blocks]] = {}
    launches = Launches(run.records)
    for record in run.records:
        # What the rounds share of error both halves share, and no ratio of the two has it.
        blocks = launches.corrected(record.case.device_key, record.clocks.get("queue")).blocks
        if record.status == "ok" and record.case.role != "limit" and len(blocks) >= FEWEST_TO_HALVE:
            sides.setdefault(record.case.device_key, []).append(blocks)
    if not sides:
        raise ValueError(
            f"{run.path}: no case was measured in {FEWEST_TO_HALVE} rounds or more, and fewer are too few to "
            "halve; measure with more --processes or --contexts"
        )
    rng = np.random.default_rng(_SEED)
    found = []
    for device, cases in sides.items():
        each = -(-comparisons // len(cases))
        found.append(SelfTest(device, Counter(_halved(case, rng) for case in cases for _ in range(each))))
    return found


def _halved(blocks: Blocks, rng: np.random.Generator) -> str:
    """The verdict on one half of the rounds, drawn at random, against the other."""
    half = len(blocks) // 2
    drawn = [blocks[place] for place in rng.permutation(len(blocks))]
    return _verdict(drawn[:half], drawn[half : 2 * half])


def verdict(first: Samples, second: Samples) -> str:
    """What a run would say of the first side: same, faster, slower or ambiguous."""
    return _verdict(*(stats.blocks(clock.seconds, clock.blocks) for clock in (first, second)))


def _verdict(first: Blocks, second: Blocks) -> str:
    return ratio.compare(Side(first), Side(second), paired=True).verdict


def _device(
    device: DeviceInfo, cases: Sequence[Case], each: int, plan: RunPlan, progress: Callable[[str], None]
) -> SelfTest:
    parts: dict[tuple[Case, int, int], list[Samples]] = {}
    try:
        with shared_folder() as shared:
            processes = plan.suite.measure.processes
            for process in range(processes):
                progress(f"{device.key}: process {process + 1} of {processes}")
                for key, clock in _process(device, cases, each, plan, shared, process):
                    parts.setdefault(key, []).append(replace(clock, blocks=(process,) * len(clock.seconds)))
    except WorkerFailed as error:
        return SelfTest(device.key, failure=str(error))
    sides = {key: merged_clock(clocks) for key, clocks in parts.items()}
    pairs = ((sides[case, n, 0], sides[case, n, 1]) for case in cases for n in range(each))
    return SelfTest(device.key, Counter(verdict(*pair) for pair in pairs))


def _process(
    device: DeviceInfo, cases: Sequence[Case], each: int, plan: RunPlan, shared: str, process: int
) -> Iterator[tuple[tuple[Case, int, int], Samples]]:
    """The clocks that two fresh workers take, one a side, of each case as often as there are comparisons.

    With each its case, the number of its comparison, and its side.

    Raises:
        WorkerFailed: if one cannot be started, does not answer, or cannot measure a case.
    """
    name = plan.classes.get(device.backend, device.backend)
    workers: list[Worker] = []
    try:
        for _ in range(2):
            workers.append(Worker(name, device.index, plan.for_worker(shared), plan.held))
        for worker in workers:
            worker.wait_until_open()
        for case, number in product(cases, range(each)):
            # Being measured second may matter: each side is second equally often.
            first = (number + process) % 2
            for side in (first, 1 - first):
                yield (case, number, side), _clock(workers[side], case, plan)
        finish_all(workers)
    finally:
        for worker in workers:
            worker.kill()


def _clock(worker: Worker, case: Case, plan: RunPlan) -> Samples:
    request = {"case": case.to_json(), "share": plain(plan.share(case, primary_only=True))}
    answer = worker.ask(request, plan.suite.measure.limit_s)
    record = Record.from_json(answer["record"])
    if record.status != "ok":
        raise WorkerFailed(f"{case.problem.label}: {record.reason}")
    return record.clocks["queue"]

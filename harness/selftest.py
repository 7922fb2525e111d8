"""Does the harness find differences where there are none? Every device against itself, many times.

A comparison is made as in a run: the same case measured twice, side by side, in several fresh processes. A
verdict that one is faster is false. Verdicts rest on 95 % intervals, so at most one in twenty may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from tempfile import TemporaryDirectory

from backends.base import DeviceInfo
from harness import stats
from harness.cases import expand
from harness.merging import merged_clock
from harness.records import Case, Clock
from harness.runner import RunOptions
from harness.suite import Limits, ReductionBlock, Suite
from harness.workers import Worker, WorkerFailed

MOST_FALSE = 0.05
"""The rate of false verdicts above which the harness is not to be believed."""
SUITE = Suite(
    name="selftest",
    title="Every device against itself",
    reduction=[
        ReductionBlock(ops=["minmax", "sum"], dtypes=["int32", "float32"], shapes=[[1280, 1280], [640, 480]])
    ],
    limits=Limits(measure=False),
)
AT_ONCE = 5
"""Comparisons that a worker is asked for at a time, so that its answer stays within the limit of a case."""


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


def selftest(
    devices: Sequence[DeviceInfo],
    comparisons: int,
    options: RunOptions,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[SelfTest]:
    """Compares each device with itself at least so many times, one device after the other.

    Args:
        devices: which, by their backends.
        comparisons: a device; spread evenly over the cases of :data:`SUITE`.
        options: as of a run; its processes and samples are those of one comparison.
        progress: is told what is done next.
    """
    for device in devices:
        cases = expand(SUITE, [device])
        yield _device(device, cases, -(-comparisons // len(cases)), options, progress)


def verdict(first: Clock, second: Clock) -> str:
    """What a run would say of the first side: same, faster, slower or ambiguous."""
    one, other = (stats.blocks(clock.seconds, clock.blocks) for clock in (first, second))
    return stats.verdict(stats.ratio_interval(one, other))


def _device(
    device: DeviceInfo, cases: Sequence[Case], each: int, options: RunOptions, progress: Callable[[str], None]
) -> SelfTest:
    parts: dict[tuple[Case, int, int], list[Clock]] = {}
    try:
        with TemporaryDirectory(prefix="opencl-cuda-harness-") as answers:
            for process in range(options.processes):
                progress(f"{device.key}: process {process + 1} of {options.processes}")
                for (case, number), clock in _process(device, cases, each, options, answers):
                    # Whatever it does to a side to be the second, each side is now and then.
                    side = (number + process) % 2
                    mine = replace(clock, blocks=(process,) * len(clock.seconds))
                    parts.setdefault((case, number // 2, side), []).append(mine)
    except WorkerFailed as error:
        return SelfTest(device.key, failure=str(error))
    sides = {key: merged_clock(clocks) for key, clocks in parts.items()}
    pairs = ((sides[case, n, 0], sides[case, n, 1]) for case in cases for n in range(each))
    return SelfTest(device.key, Counter(verdict(*pair) for pair in pairs))


def _process(
    device: DeviceInfo, cases: Sequence[Case], each: int, options: RunOptions, answers: str
) -> Iterator[tuple[tuple[Case, int], Clock]]:
    """The clocks that one fresh worker takes: of each case two a comparison, numbered.

    Raises:
        WorkerFailed: if it cannot be started, does not answer, or cannot measure a case.
    """
    name = options.classes.get(device.backend, device.backend)
    worker = Worker(name, device.index, options.for_worker(answers), options.start_limit_s)
    try:
        for case in cases:
            for first in range(0, each, AT_ONCE):
                times = 2 * min(AT_ONCE, each - first)
                answer = worker.ask({"case": case.to_json(), "repeat": times}, options.limit_s)
                if "failed" in answer:
                    raise WorkerFailed(f"{case.problem.label}: {answer['failed']}")
                for i, clock in enumerate(answer["clocks"]):
                    yield (case, 2 * first + i), Clock.from_json(clock)
        worker.finish()
    finally:
        worker.kill()

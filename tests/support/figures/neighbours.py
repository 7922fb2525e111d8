"""What is said of runs on several GPUs of a host at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean

from tests.support.figures import Figure
from tests.support.figures.verdicts import AT_ONCE, scatter
from tests.support.recorded import OWN, agreeing, run_of

FLEET = "docs/fleet.md"
ALONE = "h200-quick-forward"


def in_a_fresh_context(run: str) -> float:
    """What the first case of OpenCL or CUDA in a context takes, in seconds, the context made with it."""

    def firsts() -> Iterator[float]:
        seen = set()
        for trial in run_of(run).trials:
            context = trial.case.backend, trial.process, trial.block
            if trial.case.backend in OWN and context not in seen:
                seen.add(context)
                yield float(trial.provenance["wall_seconds"])

    return mean(firsts())


def beside_others() -> list[float]:
    """Equal verdicts of the two runs of one host, of how many; the scatter of both, and of one alone on
    another host, in per cent; what a fresh context took in the three.
    """
    found = agreeing(*AT_ONCE)
    runs = *AT_ONCE, ALONE
    return [
        found.equal,
        len(found.pairs),
        *(100 * scatter(run) for run in runs),
        *map(in_a_fresh_context, runs),
    ]


SENTENCES: list[Figure] = [
    (
        FLEET,
        "tell the same in {} of {} verdicts. From context to context times differ by {:.1f} and {:.1f} % "
        "there, by {:.1f} % in [one that was alone](../reports/examples/h200-quick-forward.jsonl.xz) on such "
        "a host. But a fresh context took {:.2f} and {:.2f} s there, {:.2f} s alone:",
        beside_others,
    ),
]
ROWS: list[Figure] = []

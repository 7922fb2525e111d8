"""Whether clocks that timed the same work agree, given what each adds to it.

An empty kernel of the same geometry does no work: what a clock shows of it is its bias. A clock's bias can
hide behind work, the queue's launches behind the kernel that runs, so the work lies somewhere between the
clock's time less its bias and its time. Clocks whose bounds do not meet contradict each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from harness.results.record import Samples
from harness.results.statistics import usable

BIAS_OF = {"queue": "launch", "event": "launch_event", "kernel": "launch_kernel"}
"""The clocks that time the device, with the clock of the empty kernel for each."""

SLACK = 0.02
"""Share of a time by which two clocks may differ beyond their bounds."""


def disagreement(clocks: Mapping[str, Samples]) -> str:
    """Which clocks contradict each other beyond bias and noise, in words; empty where none do."""
    bounds = {name: _bounds(clocks, name) for name in BIAS_OF if name in clocks}
    known = {name: found for name, found in bounds.items() if found}
    found = []
    for (first, (low, high)), (second, (other_low, other_high)) in combinations(known.items(), 2):
        slack = 1 + SLACK
        if low > other_high * slack or other_low > high * slack:
            found.append(
                f"by the {first} clock the work takes {low * 1e6:.2f} to {high * 1e6:.2f} us, "
                f"by the {second} clock {other_low * 1e6:.2f} to {other_high * 1e6:.2f} us"
            )
    return "; ".join(found)


def _bounds(clocks: Mapping[str, Samples], name: str) -> tuple[float, float] | None:
    """Between which seconds a clock says the work lies, noise allowed for; None without a sample."""
    samples = usable(clocks[name].seconds)
    if not samples:
        return None
    short, long = _ends(samples)
    if name == "kernel" and BIAS_OF[name] not in clocks:
        # A kernel's own duration has hardly any bias; the others without an empty kernel bound nothing below.
        return short, long
    bias = usable(clocks[BIAS_OF[name]].seconds) if BIAS_OF[name] in clocks else []
    # A host's cost of enqueueing can hide the device's whole work, or show on top of it.
    weak = bool(clocks[name].note) and name != "kernel"
    return (max(0.0, short - _ends(bias)[1]) if bias and not weak else 0.0), long


def _ends(samples: list[float]) -> tuple[float, float]:
    """Most samples lie between: the first and the last tenth are left out."""
    low, high = np.percentile(samples, (10, 90))
    return float(low), float(high)

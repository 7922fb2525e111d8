"""When clocks of the same work contradict each other, given what each adds to it."""

from __future__ import annotations

import pytest

from harness.measure.clocks import HOST_BOUND
from harness.results.clock_agreement import disagreement
from harness.results.record import Samples


def clocks(**microseconds: float) -> dict[str, Samples]:
    """Clocks without noise."""
    return {name: Samples((us * 1e-6,) * 3) for name, us in microseconds.items()}


def test_the_clocks_of_the_design_agree_given_their_bias() -> None:
    """The same kernel at 2560x2560 on an H200: events 10.94, queue 6.26, kernel 5.50, launch 1.43."""
    measured = clocks(queue=6.26, launch=1.43, event=10.94, launch_event=5.9, kernel=5.50, launch_kernel=0.9)
    assert disagreement(measured) == ""


@pytest.mark.parametrize(
    ("measured", "both"),
    [
        (clocks(queue=80, launch=1, event=100, launch_event=5), "queue event"),
        (clocks(queue=100, launch=1, event=80, launch_event=5), "queue event"),
        (clocks(queue=80, launch=1, kernel=60, launch_kernel=1), "queue kernel"),
        (clocks(queue=80, kernel=90), "queue kernel"),
        (clocks(event=80, launch_event=3, kernel=90, launch_kernel=1), "event kernel"),
    ],
)
def test_more_than_the_bias_is_told(measured: dict[str, Samples], both: str) -> None:
    first, second = both.split()
    assert f"by the {first} clock" in disagreement(measured)
    assert f"by the {second} clock" in disagreement(measured)


@pytest.mark.parametrize(
    "measured",
    [
        {},
        clocks(queue=80),
        clocks(queue=80, launch=1, event=81.5, launch_event=1),
        # Nothing is known below a clock without an empty kernel.
        clocks(queue=80, event=200),
        # Enqueueing may take longer than the device does.
        {**clocks(event=20, launch_event=1, launch=1), "queue": Samples((90e-6,) * 3, 1, HOST_BOUND)},
        {**clocks(queue=80, launch=1), "event": Samples((float("nan"),))},
        # Noise: the quartiles reach each other.
        {**clocks(launch=1, event=100, launch_event=1), "queue": Samples((70e-6, 80e-6, 150e-6), 1)},
    ],
)
def test_what_bias_or_noise_explains_is_no_contradiction(measured: dict[str, Samples]) -> None:
    assert disagreement(measured) == ""

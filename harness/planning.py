"""From a problem, a variant and a device to the plan: one module a kind of problem makes it."""

from __future__ import annotations

from backends.devices import DeviceInfo
from harness import plan_bandwidth, plan_laplace, plan_reduction
from harness.plans import Plan
from harness.problems import Bandwidth, Empty, Laplace, Problem, Reduction
from harness.variants import BandwidthVariant, LaplaceVariant, LaunchVariant, ReductionVariant, Variant


def plan(problem: Problem, variant: Variant, device: DeviceInfo) -> Plan:
    """The plan of ``variant`` on ``problem``; :func:`harness.violations.violations` must be empty for them.

    Raises:
        TypeError: if the variant is not of the problem's kind.
    """
    if isinstance(problem, Reduction) and isinstance(variant, ReductionVariant):
        return plan_reduction.plan(problem, variant, device)
    if isinstance(problem, Laplace) and isinstance(variant, LaplaceVariant):
        return plan_laplace.plan(problem, variant, device)
    if isinstance(problem, Bandwidth) and isinstance(variant, BandwidthVariant):
        return plan_bandwidth.plan(problem, variant, device)
    if isinstance(problem, Empty) and isinstance(variant, LaunchVariant):
        return plan_bandwidth.plan_empty(problem, variant)
    raise TypeError(f"no plan for {variant!r} on {problem!r}")

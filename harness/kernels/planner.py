"""From a problem, a variant and a device to the plan: one module a kind of problem makes it."""

from __future__ import annotations

from harness.devices import DeviceInfo
from harness.kernels import bandwidth, laplace, reduction
from harness.kernels.cache_hint import HINTS, Hinted
from harness.kernels.plan import KernelPlan
from harness.problems import Bandwidth, Empty, Laplace, Problem, Reduction
from harness.variants.axes import (
    BandwidthVariant,
    CommandVariant,
    LaplaceVariant,
    LaunchVariant,
    ReductionVariant,
    Variant,
)


def plan(problem: Problem, variant: Variant, device: DeviceInfo) -> KernelPlan:
    """The plan of ``variant`` on ``problem``; :func:`harness.kernels.requirements.violations` must be empty
    for them.

    Raises:
        TypeError: if the variant is not of the problem's kind.
    """
    device = device.in_dialect(getattr(variant, "dialect", "vendor"))
    told = _plan(problem, variant, device)
    if isinstance(variant, Hinted):
        told = HINTS[variant.cache_hint].told(told, problem, variant, device)
    return told


def _plan(problem: Problem, variant: Variant, device: DeviceInfo) -> KernelPlan:
    """The plan without what a hint to the cache asks for beside the kernel."""
    if isinstance(problem, Reduction) and isinstance(variant, ReductionVariant):
        return reduction.plan(problem, variant, device)
    if isinstance(problem, Laplace) and isinstance(variant, LaplaceVariant):
        return laplace.plan(problem, variant, device)
    if isinstance(problem, Bandwidth) and isinstance(variant, BandwidthVariant):
        return bandwidth.plan(problem, variant, device)
    if isinstance(problem, Bandwidth) and isinstance(variant, CommandVariant):
        return bandwidth.plan_command(problem)
    if isinstance(problem, Empty) and isinstance(variant, LaunchVariant):
        return bandwidth.plan_empty(problem, variant)
    raise TypeError(f"no plan for {variant!r} on {problem!r}")

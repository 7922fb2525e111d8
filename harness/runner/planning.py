"""What a run is going to do: what is asked for on the devices there are, or what an earlier run left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from backends import REGISTRY
from harness.devices import DeviceInfo
from harness.explain import mistakes
from harness.measure.photograph import image_size
from harness.results.runfile import Run, first_line, load_begun
from harness.runner import resuming
from harness.runner.discovery import available
from harness.runner.environment import cpu_name, describe
from harness.runner.plan import Request, RunPlan
from harness.runner.schedule import LEAST_CASE_S
from harness.suites.control_cases import with_controls
from harness.suites.expand import expand, measured_by_default, skip_reason
from harness.suites.files import is_path, parse_suite, suite_text
from harness.suites.schema import Suite


def discover() -> tuple[list[DeviceInfo], dict[str, str]]:
    """All devices of all backends, and why a backend is not available, by its name."""
    found = available()
    devices = [device for entry in found.values() if not isinstance(entry, str) for device in entry]
    return devices, {name: entry for name, entry in found.items() if isinstance(entry, str)}


def plan_run(request: Request) -> RunPlan:
    """Expands what is asked for on the devices of this machine; see :func:`plan_on`."""
    return plan_on(request, *discover())


def plan_on(request: Request, devices: Sequence[DeviceInfo], missing: Mapping[str, str]) -> RunPlan:
    """Expands what is asked for on these devices; ``missing`` is why a backend is not available.

    Raises:
        ValueError: if the suite, a filter or the image is not valid, or if nothing is left to run.
    """
    suite, text = suite_of(request)
    size = image_size(request.photograph) if request.photograph else None
    require(request.backends, missing)
    measured = measured_by_default(devices, suite, request.backends, request.devices)
    cases = expand(suite, measured, request.backends, request.devices, size)
    if not cases:
        raise ValueError(
            f"suite {suite.name} has nothing to run here: no block of it is meant for the devices chosen"
        )
    by_key = {(device.backend, device.index): device for device in devices}
    reasons = {case: skip_reason(case, by_key[case.backend, case.device], suite) for case in cases}
    skipped = {case: reason for case, reason in reasons.items() if reason is not None}
    used = {(case.backend, case.device) for case in cases if case not in skipped}
    if suite.measure.controls:
        cases = with_controls(cases, by_key, skipped)
    contexts = _contexts((by_key[key] for key in used), suite.measure.gpu_contexts)
    notes = tuple(_of_short_budget(request.budget, len(cases) - len(skipped)))
    return RunPlan(request, suite, cases, skipped, contexts, text, devices, missing, notes)


def _of_short_budget(budget: float | None, cases: int) -> Iterator[str]:
    """A note where a budget is shorter than measuring each of so many cases once takes."""
    if budget and budget < (least := cases * LEAST_CASE_S):
        yield (
            f"--budget {budget:g} is short: each of {cases} cases is measured all the same, which takes "
            f"{least:.0f} s or more; leave out a --backend or a --device, or take a shorter suite"
        )


def suite_of(request: Request) -> tuple[Suite, str]:
    """The suite of a request, measured as that asks, and its text.

    Raises:
        ValueError: if it is not valid, or has no use for the request's photograph.
    """
    text = suite_text(request.suite) if request.text is None else request.text
    suite = request.applied_to(parse_suite(request.suite, text))
    if request.image and not suite.laplace:
        raise ValueError(
            f"--image {request.image}: suite {request.suite} has no Laplace block, which alone takes a "
            "photograph; leave --image out, or add a [[laplace]] block"
        )
    return suite, text


def _contexts(devices: Iterable[DeviceInfo], count: int) -> dict[str, int]:
    """The devices that have so many contexts a process: GPUs, through the two APIs that are compared."""
    return {
        device.key: count
        for device in devices
        if count > 1 and device.kind != "cpu" and REGISTRY[device.backend].role in ("opencl", "cuda")
    }


def require(backends: Sequence[str], missing: Mapping[str, str]) -> None:
    """Refuses a plan without a backend that was asked for by name."""
    reasons = [missing[name] for name in backends if name in missing]
    if reasons:
        raise ValueError(f"not available: {'; '.join(reasons)}")


def gone_since(folder: Path, plan: RunPlan) -> list[str]:
    """Messages on the backends that the last run in ``folder`` had and that are missing now; none if that run
    was made on another processor, or the folder cannot be read.
    """
    try:
        files = filter(Path.is_file, folder.glob("*.jsonl"))
        runs = sorted(files, key=lambda path: path.stat().st_mtime_ns, reverse=True)
    except OSError:
        # Whoever writes the run there says it better.
        return []
    found = ((path, first_line(path)) for path in runs)
    last = next(((path, line) for path, line in found if line and _is_of(line, cpu_name())), None)
    if last is None:
        return []
    path, line = last
    there = {device["backend"] for device in line["devices"]}
    return [
        f"{name} was there at the last run ({path}) and is not now: {reason}"
        for name, reason in plan.missing.items()
        if name in there and (not plan.request.backends or name in plan.request.backends)
    ]


def _is_of(line: Mapping[str, Any], cpu: str) -> bool:
    host = line.get("host")
    return isinstance(host, Mapping) and host.get("cpu") == cpu and bool(line.get("devices"))


def plan_resumed(path: Path) -> RunPlan:
    """The plan of the run in ``path``, as it was asked for.

    Raises:
        OSError: if the file cannot be read, or is not a plain one.
        ValueError: if it is no run file, or its suite, photograph, options, kernels or devices are not what
            they were.
    """
    return plan_further(load_begun(path), path, plan_run)


def plan_further(begun: Run, path: Path, planned: Callable[[Request], RunPlan]) -> RunPlan:
    """The plan of what a run that was begun, in ``path``, asked for, as ``planned`` makes it.

    Raises:
        ValueError: as :func:`plan_resumed`.
    """
    before = resuming.kept(path, begun.environment)
    plan = planned(_asked(path, before.request))
    now = resuming.kept(path, environment_of(plan, ""))
    changes = resuming.changes(*(_of_asked(each, plan.request.backends) for each in (before, now)))
    were = dict.fromkeys(str(device.get("backend")) for device in before.devices)
    changes += [plan.missing[name] for name in were if changes and name in plan.missing]
    if not changes:
        cases = set(plan.cases)
        strange = [trial.case for trial in begun.trials if trial.case not in cases]
        changes = [f"{case.device_key} {case.problem.label} is no case of it now" for case in strange[:1]]
    if changes:
        raise ValueError(
            f"{path} cannot be resumed: {'; '.join(changes)}; have it as it was, or begin a new run"
        )
    return replace(plan, notes=(*plan.notes, *resuming.notes(before, now)))


def _asked(path: Path, kept: Mapping[str, Any]) -> Request:
    try:
        return TypeAdapter(Request).validate_python(kept)
    except ValidationError as error:
        wrong = "; ".join(mistakes(error, resuming.Kept))
        raise ValueError(
            f"{path} does not say what was asked for: request.{wrong}; begin a new run"
        ) from None


def _of_asked(kept: resuming.Kept, backends: Sequence[str]) -> resuming.Kept:
    """With the devices of these backends alone; all when empty."""
    devices = [device for device in kept.devices if not backends or device.get("backend") in backends]
    return kept.model_copy(update={"devices": devices})


def environment_of(plan: RunPlan, command: str) -> dict[str, Any]:
    """The first line of a plan's run file."""
    return {
        **describe(plan.request.suite, command, plan.devices, plan.missing),
        "request": asdict(from_anywhere(plan.request)),
        "options": _options(plan),
        "cases": len(plan.cases),
        "suite_content": resuming.suite_content(plan.text),
        "image_sha256": resuming.image_hash(plan.request.photograph),
    }


def from_anywhere(request: Request) -> Request:
    """The request with absolute paths: the run may be resumed from another folder."""
    return replace(
        request,
        suite=str(Path(request.suite).absolute()) if is_path(request.suite) else request.suite,
        image=str(Path(request.image).absolute()) if request.image else None,
    )


def _options(plan: RunPlan) -> dict[str, Any]:
    return {
        **plan.suite.measure.model_dump(include={"samples", "case_seconds", "limit_s"}),
        "processes": plan.promised,
        "contexts": dict(plan.contexts),
        "launch_contexts": plan.launch_contexts,
        "budget": plan.request.budget,
    }
